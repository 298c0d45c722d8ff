"""Measurements that could refute the theory: `core` holds streams, estimates and sweeps, other packages one subject."""
