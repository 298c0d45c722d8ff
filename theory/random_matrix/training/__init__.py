"""Spikes in the joint predictor of masked regression along its training by gradient flow."""

from typing import TYPE_CHECKING

from theory.core.lazy import names_on_use

if TYPE_CHECKING:
    from theory.random_matrix.training.emergence import (
        DetectionTime,
        EmergenceTime,
        best_detection_time,
        emergence_time,
    )

__all__ = ["DetectionTime", "EmergenceTime", "best_detection_time", "emergence_time"]

# A type checker takes a module with these functions to have every name, and would let misspelled ones pass.
if not TYPE_CHECKING:
    __getattr__, __dir__ = names_on_use(__name__)
