"""Experiments on the text of rooted trees that the natural numbers spell."""
