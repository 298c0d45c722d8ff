"""Spikes in the joint predictor of masked regression along its training by gradient flow."""

from theory.random_matrix.training.emergence import DetectionTime, EmergenceTime, best_detection_time, emergence_time

__all__ = ["DetectionTime", "EmergenceTime", "best_detection_time", "emergence_time"]
