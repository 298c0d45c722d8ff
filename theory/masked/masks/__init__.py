"""Masking patterns: a random fraction of the coordinates, by finitely or infinitely many masks, and spans."""

from typing import TYPE_CHECKING

from theory.core.lazy import names_on_use

if TYPE_CHECKING:
    from theory.masked.masks.curve import MaskCurve, mask_curve
    from theory.masked.masks.fixed_task import OptimalMaskRate, optimal_mask_rate
    from theory.masked.masks.random_masks import RandomMasksSolution
    from theory.masked.masks.span_mask import SpanMaskSolution, SpanWindowsSolution

__all__ = [
    "MaskCurve",
    "OptimalMaskRate",
    "RandomMasksSolution",
    "SpanMaskSolution",
    "SpanWindowsSolution",
    "mask_curve",
    "optimal_mask_rate",
]

# A type checker takes a module with these functions to have every name, and would let misspelled ones pass.
if not TYPE_CHECKING:
    __getattr__, __dir__ = names_on_use(__name__)
