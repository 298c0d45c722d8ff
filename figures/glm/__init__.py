"""Experiments on generalized linear models: a file with a line `EXPERIMENT = ...` is a figure with its table."""
