"""Measurements that could refute the theory: streams, estimates and sweeps in `core`, then one room for each subject."""
