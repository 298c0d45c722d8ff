"""Holds the compiled kernels of Gibbs sampling for topics."""
