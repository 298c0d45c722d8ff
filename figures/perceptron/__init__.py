"""Experiments on perceptrons with discrete or stochastic weights."""
