"""The optimal attention between 10 topics of 10 words in the second stage of training, beside scipy's minimizers."""

import math

import pytest
from scipy.optimize import minimize, minimize_scalar

from tests.topics.routes import MODEL, STANDARD
from theory import topics
from theory.topics.stage2_terms import Setting, stage2_terms

SUBJECT = "topics, theory"


def by_scipy(mask_weight):
    """The best logarithm of the own topic's weight, to scipy's own tolerance."""
    terms = stage2_terms(Setting(MODEL, STANDARD, "free", "all"))
    if mask_weight == "free":
        found = minimize(lambda x: terms.loss(math.exp(x[0]), x[1]), (1.0, 0.5), bounds=((0, 6), (0, None)))
        return math.exp(found.x[0])
    loss = lambda log_A: terms.loss(math.exp(log_A), mask_weight)  # noqa: E731
    return math.exp(minimize_scalar(loss, bounds=(0, 6), method="bounded").x)


@pytest.mark.parametrize("mask_weight", [1.0, 0.0, "free"])
def test_stage2_optimum(jobs, mask_weight):
    jobs.compare(
        f"optimum of the second stage, mask weight {mask_weight}",
        lambda: topics.stage2_optimum(MODEL, STANDARD, mask_weight=mask_weight).topic_weight,
        {"scipy, on the closed form": lambda: by_scipy(mask_weight)},
        off=lambda ours, theirs: abs(theirs / ours - 1),
        goal="1 ms",
    )
