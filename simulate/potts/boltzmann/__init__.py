"""Boltzmann learning: the most probable pair model of sequences, found with chains that sample it while it changes."""

from simulate.potts.boltzmann.agreement import Agreement, covariance_agreement
from simulate.potts.boltzmann.fit import BoltzmannFit, boltzmann_learning

__all__ = ["Agreement", "BoltzmannFit", "boltzmann_learning", "covariance_agreement"]
