"""Rows of a matrix that depend on each other: found, split into blocks, corrected, and doubted."""
