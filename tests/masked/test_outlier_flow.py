"""The stars of the figure of outliers stand where theory lets the outliers leave the bulk."""

import pytest

from figures.masked.outlier_flow import POINTS, THRESHOLDS, model
from theory.random_matrix import threshold


@pytest.mark.parametrize("panel", THRESHOLDS)
def test_each_strength_is_its_threshold_at_the_sample_ratio_of_its_star(panel):
    method, lam, ratios = THRESHOLDS[panel]
    found = [
        threshold(model(method, lam, strength, alpha)).value for strength, alpha in zip(POINTS, ratios, strict=True)
    ]
    assert found == pytest.approx(list(POINTS), rel=0.02)
