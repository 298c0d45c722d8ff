"""Measurements on feed-forward networks: Hamiltonian Monte Carlo, wide binary networks, transfer."""

__all__: list[str] = []
