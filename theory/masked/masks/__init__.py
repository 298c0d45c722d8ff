"""Masking patterns: a random fraction of the coordinates, by finitely or infinitely many masks, and spans."""

from theory.masked.masks.curve import MaskCurve, mask_curve
from theory.masked.masks.random_masks import RandomMasksSolution, random_masks
from theory.masked.masks.span_mask import SpanMaskSolution, SpanWindowsSolution, span_mask, span_windows

__all__ = [
    "MaskCurve",
    "RandomMasksSolution",
    "SpanMaskSolution",
    "SpanWindowsSolution",
    "mask_curve",
    "random_masks",
    "span_mask",
    "span_windows",
]
