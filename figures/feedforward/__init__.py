"""Experiments on feed-forward networks: narrow, binary at initialization, and transferred."""
