"""Measures masking patterns: masks are drawn, and every coordinate's or span's own regression is solved."""

from typing import TYPE_CHECKING

from simulate.masked.masks.random_masks import (
    MaskedInputsFit,
    coordinate_errors,
    fit_expected_masks,
    fit_masks,
    masked_test_error,
)
from simulate.masked.masks.span_mask import fit_span, span_errors
from theory.core.former import former
from theory.models import RandomMasks, SpanMask, SpanWindows

__all__ = [
    "MaskedInputsFit",
    "RandomMasks",
    "SpanMask",
    "SpanWindows",
    "coordinate_errors",
    "fit_expected_masks",
    "fit_masks",
    "fit_span",
    "masked_test_error",
    "span_errors",
]

# A type checker takes a module with this function to have every name, and would let misspelled ones pass.
if not TYPE_CHECKING:
    __getattr__ = former(__name__)
