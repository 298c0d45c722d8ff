"""Perceptrons with discrete or stochastic weights: entropy of solutions, capacity, loss, and local stability."""

__all__: list[str] = []
