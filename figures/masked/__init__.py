"""Experiments on masked regression: a file with a line `EXPERIMENT = ...` is a figure with its table."""
