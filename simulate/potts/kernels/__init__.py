"""Holds the compiled kernels of the samplers, and the chains that they advance."""
