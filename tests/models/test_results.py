"""Everything that carries evidence is a `Result`, which prints on one short line and keeps its evidence last."""

import dataclasses
import importlib
import inspect
import math
import pkgutil

import numpy as np
import pytest

import simulate
import theory
from simulate.masked import fit, fit_path
from simulate.potts import pseudo_likelihood, sample
from theory import glm, masked, potts, random_matrix, topics
from theory.core.results import Result
from theory.glm import classification
from theory.models import (
    AR1,
    MaskedRidge,
    MissingEntries,
    PottsModel,
    RandomMasks,
    SpanMask,
    SpikedData,
    TeacherMixture,
)

EVIDENCE = ["residual", "iterations", "converged"]
INTERNAL = {"Minimum", "Point"}  # what a minimizer and the equations of random masks tell the functions beside them


def classes():
    for wing in (theory, simulate):
        for found in pkgutil.walk_packages(wing.__path__, f"{wing.__name__}."):
            if not found.name.endswith("__main__"):
                module = importlib.import_module(found.name)
                yield from (
                    one for _, one in inspect.getmembers(module, inspect.isclass) if one.__module__ == found.name
                )


def test_every_class_with_evidence_is_a_result():
    with_evidence = {
        one
        for one in classes()
        if dataclasses.is_dataclass(one) and "converged" in {field.name for field in dataclasses.fields(one)}
    }
    assert len(with_evidence) > 40
    strangers = {one.__name__ for one in with_evidence if not issubclass(one, Result)}
    assert strangers == INTERNAL


CHAIN = AR1(30, 0.5)
TOPICS = topics.TopicModel(n_topics=5, words_per_topic=4, topics_per_document=2)
MASKING = topics.Masking(selected=0.15, kept=0.1, randomized=0.1)
MIXTURE = glm.gaussian_mixture(variances=0.5, alpha=1.0, lam=0.1)
PAIRS = PottsModel(site_couplings=np.ones((4, 4)) - np.eye(4), color_couplings=np.eye(3), beta=0.2)
SPIKE = SpikedData(CHAIN, None, strength=9.0, alpha=2.0, lam=0.1)
ROWS = np.random.default_rng(0).standard_normal((60, 5))

MADE = {
    "masked.solve": lambda: masked.solve(MaskedRidge(CHAIN, alpha=2.0, lam=0.1)),
    "masked.learning_curve": lambda: masked.learning_curve(CHAIN, alphas=np.linspace(0.5, 2, 7), lams=[0.1, 1.0]),
    "masked.replica": lambda: masked.replica(MaskedRidge(CHAIN, alpha=2.0, lam=0.1)),
    "masked.optimal_ridge": lambda: masked.optimal_ridge(CHAIN, alpha=2.0),
    "masked.peak_height": lambda: masked.peak_height(CHAIN, 1e-6),
    "masked.solve of random masks": lambda: masked.solve(RandomMasks(CHAIN, 2.0, 0.1, 0.2)),
    "masked.mask_curve": lambda: masked.mask_curve(CHAIN, [1.0, 2.0], 0.1, [0.1, 0.2]),
    "masked.solve of missing entries": lambda: masked.solve(MissingEntries(CHAIN, 2.0, 2.0, 0.2, "pairwise")),
    "masked.oracle_error": lambda: masked.oracle_error(CHAIN, 0.2),
    "masked.solve of a span": lambda: masked.solve(SpanMask(CHAIN, 2.0, 0.1, range(3, 9))),
    "random_matrix.effective_ridge": lambda: random_matrix.effective_ridge(CHAIN, 2.0, 0.1),
    "random_matrix.covariance_law": lambda: random_matrix.covariance_law(CHAIN, 2.0),
    "random_matrix.threshold": lambda: random_matrix.threshold(SPIKE),
    "random_matrix.outlier": lambda: random_matrix.outlier(SPIKE),
    "random_matrix.spike_outliers": lambda: random_matrix.spike_outliers(
        CHAIN, np.eye(30)[:6], strengths=np.full(6, 20.0), alpha=2.0, method="pca"
    ),
    "glm.solve": lambda: glm.solve(MIXTURE),
    "glm.learning_curve": lambda: glm.learning_curve(MIXTURE, alphas=[0.5, 1.0]),
    "glm.optimal_ridge": lambda: glm.optimal_ridge(MIXTURE),
    "glm.ridge_slopes": lambda: glm.ridge_slopes(glm.solve(MIXTURE)),
    "glm.bayes_optimal_sign": lambda: glm.bayes_optimal_sign(2.0),
    "glm.fairness_table": lambda: glm.fairness_table(glm.solve(TeacherMixture(group_fraction=0.3, alpha=2.0, lam=0.1))),
    "classification.optimal_ridge": lambda: classification.optimal_ridge(MIXTURE, bounds=(0.05, 0.5)),
    "classification.star_floors": lambda: classification.star_floors(3, 0.3),
    "potts.enumerate_states": lambda: potts.enumerate_states(PAIRS),
    "potts.maximum_entropy_clone": lambda: potts.maximum_entropy_clone(PAIRS, 2),
    "potts.k_body_floor": lambda: potts.k_body_floor(PAIRS, 2),
    "potts.ring": lambda: potts.ring(math.inf, np.eye(3)),
    "potts.curie_weiss": lambda: potts.curie_weiss(3, 3.0),
    "potts.cylinder": lambda: potts.cylinder(3, 3, 0.5),
    "topics.stage1_flow": lambda: topics.stage1_flow(TOPICS, MASKING, np.linspace(0, 9, 10)),
    "topics.stage2_optimum": lambda: topics.stage2_optimum(TOPICS, MASKING),
    "topics.escape_rate": lambda: topics.escape_rate(TOPICS, MASKING),
    "simulate.masked.fit": lambda: fit(ROWS, lam=0.1),
    "simulate.masked.fit_path": lambda: fit_path(ROWS, [0.1, 1.0]),
    "simulate.potts.sample": lambda: sample(PAIRS, n_samples=100, seed=1),
    "simulate.potts.pseudo_likelihood": lambda: pseudo_likelihood(
        np.random.default_rng(0).integers(0, 3, (200, 4)), n_colors=3, l2=0.1
    ),
}


@pytest.mark.parametrize("name", MADE)
def test_a_result_prints_on_one_short_line_with_its_evidence_last(name):
    made = MADE[name]()
    assert isinstance(made, Result)
    shown = repr(made)
    assert "\n" not in shown
    assert len(shown) < 1000
    if type(made).__repr__ is not Result.__repr__:  # some have a shorter text of their own
        return
    stated = [one for one in EVIDENCE if f", {one}=" in shown]
    assert stated == [one for one in EVIDENCE if one != "iterations" or made.iterations is not None]
    places = [shown.rindex(f", {one}=") for one in stated]
    assert places == sorted(places)
    assert not shown[places[0] :].count("(")  # nothing but numbers comes after


def test_a_table_has_the_numbers_first_and_the_evidence_last():
    point = glm.bayes_optimal_sign(2.0).to_frame()
    assert list(point.columns) == ["q", "test_error", "replicon", *EVIDENCE]
    assert random_matrix.threshold(SPIKE).to_frame().columns[0] == "value"
