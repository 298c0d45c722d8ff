"""Measures masking patterns: masks are drawn, and every coordinate's or span's own regression is solved."""

from simulate.masked.masks.random_masks import (
    MaskedInputsFit,
    coordinate_errors,
    fit_expected_masks,
    fit_masks,
    masked_test_error,
)
from simulate.masked.masks.span_mask import fit_span, span_errors
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
