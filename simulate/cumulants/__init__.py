"""Measurements on data with a spiked cumulant: samples, the power of tests, networks against random features."""

__all__: list[str] = []
