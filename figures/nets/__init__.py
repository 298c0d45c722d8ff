"""Experiments on attention networks trained on Potts data: what is learned when, and from how many samples."""
