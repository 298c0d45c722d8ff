"""Plumbing that knows no physics: arrays, checks of arguments, results, errors, tables, compiled kernels, blocks."""
