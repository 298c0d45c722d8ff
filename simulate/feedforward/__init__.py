"""Measurements on feed-forward networks: Hamiltonian Monte Carlo, wide binary networks, transfer."""

from simulate.feedforward.narrow import NarrowSample, narrow_risk, sample_narrow

__all__ = ["NarrowSample", "narrow_risk", "sample_narrow"]
