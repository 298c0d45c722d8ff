"""Measurements that could refute the theory: streams, estimates and sweeps in `core`, then a room for each subject."""
