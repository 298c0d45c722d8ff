"""Experiments on topic models: a file with a line `EXPERIMENT = ...` is a figure with its table."""
