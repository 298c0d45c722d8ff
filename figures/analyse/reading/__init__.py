"""Readers of users' files: what is in a file is said aloud, and what is wrong with it in one line."""
