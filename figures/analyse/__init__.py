"""Analyses of users' own files: readers, and what is measured and predicted for matrices, sequences and text."""
