"""Measurements on perceptrons with discrete or stochastic weights: enumeration, Gibbs sampling, descent."""

__all__: list[str] = []
