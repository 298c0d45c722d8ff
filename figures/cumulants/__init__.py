"""Experiments on a direction hidden in higher cumulants."""
