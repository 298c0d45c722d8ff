"""Experiments on factored stacks and other networks that learn Potts data."""
