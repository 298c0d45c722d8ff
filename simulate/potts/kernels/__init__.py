"""Compiled kernels of the samplers, and the chains they advance."""
