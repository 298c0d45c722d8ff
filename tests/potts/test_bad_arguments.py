"""Every wrong value in every argument of the theory and inference of Potts models is refused by name."""

from functools import cache

import numpy as np
import pytest

import simulate.potts
from simulate.potts.inference import weights
from tests.bad_arguments import Example, assert_all_refused
from theory import potts
from theory.models import AR1
from theory.models import potts as records
from theory.numerics import ConvergenceError

J = np.array([[0.0, 0.5, -0.3], [0.5, 0.0, 0.8], [-0.3, 0.8, 0.0]])
MODEL = records.PottsModel(J, np.eye(2))
STATES = np.random.default_rng(3).integers(0, 2, (30, 3))
POPULATION = records.ContrastPopulation(AR1(4, 0.5), 2)
SYMMETRIC = np.array([[1.0, 0.5], [0.5, -1.0]])
LAYER = simulate.potts.AttentionLayer(J, np.eye(2))
INTERACTION = records.Interaction([[0, 1, 2]], [0.5], np.ones((2, 2, 2)))
RNG = np.random.default_rng(0)


def example(function, **keywords):
    return Example(function, keywords)


THEORY = {
    "complexity_gain": example(potts.complexity_gain, model=MODEL, fields=True),
    "contrast_regression": example(potts.contrast_regression, population=POPULATION, alpha=2.0, lam=0.1),
    "curie_weiss": example(potts.curie_weiss, n_colors=3, beta=2.5),
    "curie_weiss_critical_beta": example(potts.curie_weiss_critical_beta, n_colors=3),
    "curie_weiss_jump": example(potts.curie_weiss_jump, n_colors=3),
    "curie_weiss_latent_heat": example(potts.curie_weiss_latent_heat, n_colors=3),
    "curie_weiss_spinodals": example(potts.curie_weiss_spinodals, n_colors=3),
    "cylinder": example(potts.cylinder, circumference=3, n_colors=2, beta=0.5, tol=1e-10),
    "enumerate_states": example(potts.enumerate_states, model=MODEL, max_states=100),
    "excess_loss_coefficient": example(
        potts.excess_loss_coefficient, model=MODEL, parameterization="factored", fields=True
    ),
    "finite_curie_weiss": example(potts.finite_curie_weiss, n_sites=5, n_colors=3, beta=1.0),
    "heteroskedasticity": example(
        potts.heteroskedasticity, population=POPULATION, states=np.zeros((3, 4), int), weights=np.ones(3)
    ),
    "k_body_floor": example(potts.k_body_floor, model=MODEL, order=2, symmetric=False, tol=1e-12, max_iter=100),
    "masked_clone": example(potts.masked_clone, model=MODEL, order=2, tol=1e-12, max_iter=100),
    "masked_loss_floor": example(potts.masked_loss_floor, model=MODEL),
    "masked_loss_floors_by_site": example(potts.masked_loss_floors_by_site, model=MODEL),
    "maximum_entropy_clone": example(
        potts.maximum_entropy_clone, original=MODEL, order=2, tol=1e-10, max_iter=1000, check=True
    ),
    "onsager_energy": example(potts.onsager_energy, beta=0.5),
    "recovery_error_coefficient": example(
        potts.recovery_error_coefficient, model=MODEL, parameterization="symmetric", fields=True
    ),
    "ridgeless_contrast_regression": example(potts.ridgeless_contrast_regression, population=POPULATION, alpha=2.0),
    "ring": example(potts.ring, n_sites=5, color_couplings=np.eye(2), beta=1.0, periodic=True),
    "ring_contrasts": example(potts.ring_contrasts, n_sites=5, color_couplings=np.eye(3), beta=1.0),
    "ring_correlation": example(potts.ring_correlation, n_colors=3, beta=1.0),
    "ring_test_error": example(potts.ring_test_error, n_colors=3, beta=1.0, alpha=2.0, lam=0.1),
    "square_lattice_critical_beta": example(potts.square_lattice_critical_beta, n_colors=3),
    "square_lattice_critical_energy": example(potts.square_lattice_critical_energy, n_colors=3),
    "torus": example(potts.torus, rows=2, columns=3, n_colors=2, beta=0.5),
}

RECORDS = {
    "ContrastPopulation": example(records.ContrastPopulation, covariance=AR1(4, 0.5), n_colors=2, mean=np.zeros(4)),
    "ContrastPopulation.from_states": example(
        records.ContrastPopulation.from_states, states=STATES, n_colors=2, weights=np.ones(30)
    ),
    "DensePottsModel": example(
        records.DensePottsModel,
        couplings=records.DensePottsModel.of(MODEL).couplings,
        fields=np.zeros((3, 2)),
        beta=1.0,
    ),
    "DensePottsModel.of": example(records.DensePottsModel.of, model=MODEL),
    "Interaction": example(records.Interaction, sites=[[0, 1]], strengths=[0.5], colors=SYMMETRIC),
    "ManyBodyPottsModel": example(
        records.ManyBodyPottsModel, n_sites=3, interactions=[INTERACTION], fields=np.zeros((3, 2)), beta=1.0
    ),
    "PottsModel": example(
        records.PottsModel, site_couplings=J, color_couplings=SYMMETRIC, fields=np.zeros((3, 2)), beta=1.0
    ),
    "PottsModel.from_edges": example(
        records.PottsModel.from_edges,
        n_sites=3,
        edges=[[0, 1], [1, 2]],
        strengths=[0.5, 1.0],
        color_couplings=SYMMETRIC,
        fields=np.zeros((3, 2)),
        beta=1.0,
    ),
    "PottsModel.score": example(MODEL.score, states=STATES),
    "PottsModel.log_conditionals": example(MODEL.log_conditionals, states=STATES),
    "SquareLatticePotts": example(records.SquareLatticePotts, rows=2, columns=3, n_colors=2, beta=1.0),
    "color_gauge": example(records.color_gauge, model=MODEL, shift=[0.5, 1.0]),
    "complete_graph": example(records.complete_graph, n_sites=3),
    "contrasts": example(records.contrasts, states=STATES, n_colors=2),
    "curie_weiss": example(records.curie_weiss, n_sites=3, n_colors=2, beta=1.0),
    "helmert": example(records.helmert, n_colors=3),
    "mutation_scores": example(records.mutation_scores, model=MODEL, states=STATES[0]),
    "random_color_couplings": example(records.random_color_couplings, n_colors=3, rng=RNG),
    "random_graph": example(records.random_graph, n_sites=5, mean_degree=2.0, rng=RNG),
    "rescaled": example(records.rescaled, model=MODEL, factor=2.0),
    "ring_graph": example(records.ring_graph, n_sites=4),
    "shifted": example(records.shifted, model=MODEL, constant=1.0),
    "torus_graph": example(records.torus_graph, rows=2, columns=3),
    "zero_sum": example(records.zero_sum, model=MODEL),
    "zero_sum_blocks": example(records.zero_sum_blocks, blocks=np.ones((2, 3, 3))),
}

INFERENCE = {
    "AttentionLayer": example(simulate.potts.AttentionLayer, attention=J, values=np.eye(2), fields=np.zeros((3, 2))),
    "AttentionLayer.random": example(simulate.potts.AttentionLayer.random, n_sites=3, n_colors=2, scale=1.0, rng=RNG),
    "factored_attention": example(
        simulate.potts.factored_attention,
        states=STATES,
        n_colors=2,
        fields=True,
        l2=0.01,
        field_l2=0.01,
        weights=np.ones(30),
        start="kronecker",
        restarts=0,
        seed=0,
        max_iter=10,
        tol=1e-3,
        n_threads=1,
        check=False,
    ),
    "fit_contrasts": example(simulate.potts.fit_contrasts, states=STATES, n_colors=2, lam=0.1, mean=np.zeros(3)),
    "fit_gaussian": example(simulate.potts.fit_gaussian, population=POPULATION, n=20, lam=0.1, rng=RNG),
    "loss_and_gradient": example(
        simulate.potts.loss_and_gradient, layer=LAYER, states=STATES[:4], sites=np.array([0, 1, 2, 0])
    ),
    "masked_inputs": example(simulate.potts.masked_inputs, states=STATES, n_colors=2, site=1),
    "masked_language_model_loss": example(simulate.potts.masked_language_model_loss, layer=LAYER, states=STATES),
    "masked_loss": example(simulate.potts.masked_loss, model=MODEL, states=STATES, weights=np.ones(30)),
    "matched_scale": example(simulate.potts.matched_scale, A=J, V=np.eye(2), model=MODEL, fields=True),
    "mean_field": example(simulate.potts.mean_field, states=STATES, n_colors=2, pseudocount=0.5, weights=np.ones(30)),
    "pseudo_likelihood": example(
        simulate.potts.pseudo_likelihood,
        states=STATES,
        n_colors=2,
        l2=0.01,
        field_l2=0.01,
        weights=np.ones(30),
        symmetric=True,
        gauge="zero_sum",
        tol=1e-3,
        max_iter=200,
        n_threads=1,
        memory_limit=1e9,
        check=False,
    ),
    "recovery_error": example(simulate.potts.recovery_error, A=J, V=np.eye(2), model=MODEL, fields=True),
    "sequence_weights": example(
        simulate.potts.sequence_weights, states=STATES, identity=0.8, n_threads=1, progress=None
    ),
    "similarity": example(weights.similarity, states=STATES, identity=0.8, n_threads=1, progress=None),
    "site_independent": example(
        simulate.potts.site_independent, states=STATES, n_colors=2, pseudocount=0.5, weights=np.ones(30)
    ),
    "train": example(
        simulate.potts.train,
        layer=LAYER,
        states=STATES,
        test_states=STATES,
        n_steps=3,
        rng=RNG,
        record=[0, 3],
        batch_size=4,
        learning_rate=0.01,
        optimizer="adam",
        masks="every",
        fields=True,
    ),
}


@cache
def fitted():
    """A fit, for which kernels are compiled: by a test that needs it, not by every process that reads this file."""
    return simulate.potts.pseudo_likelihood(STATES, 2)


def inference():
    fit = fitted()
    return INFERENCE | {
        "full_recovery_error": example(simulate.potts.full_recovery_error, couplings=fit.couplings, model=MODEL),
        "standard_errors": example(
            simulate.potts.standard_errors, fit=fit, states=STATES, weights=np.ones(30), method="joint"
        ),
    }


EXAMPLES = {"theory": lambda: THEORY, "records": lambda: RECORDS, "inference": inference}


@pytest.mark.parametrize("room", EXAMPLES)
def test_bad_arguments_are_refused_by_name(room):
    assert_all_refused(EXAMPLES[room](), n=150, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("room", EXAMPLES)
def test_many_bad_arguments_are_refused_by_name(room):
    assert_all_refused(EXAMPLES[room](), n=10_000, seed=1)


def test_every_public_function_has_an_example():
    covered = {each.function.__name__ for each in THEORY.values()}
    assert {name for name in potts.__all__ if name[0].islower()} <= covered
    covered = {each.function.__name__ for each in RECORDS.values()}
    assert {name for name in records.__all__ if name[0].islower()} - {"centered", "identifiable_colors"} <= covered
    assert {name for name in simulate.potts.inference.__all__ if name[0].islower()} <= set(inference())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: simulate.potts.full_recovery_error(1e200 * fitted().couplings, MODEL), "couplings must be at most"),
        (lambda: simulate.potts.full_recovery_error(np.ones((3, 3, 2, 1)), MODEL), "couplings must have shape"),
        (lambda: simulate.potts.recovery_error(1e200 * J, np.eye(2), MODEL), "A must be at most"),
        (
            lambda: simulate.potts.recovery_error(J, np.eye(2), records.PottsModel(J, np.eye(2), beta=1e-200)),
            "model must have couplings from 1e-30 to",
        ),
        (lambda: records.zero_sum_blocks(np.full((2, 2), 1e308)), "blocks must be finite and at most"),
        (lambda: records.zero_sum_blocks(np.array([[1.0, np.inf], [0.0, 1.0]])), "blocks must be finite and at most"),
        (lambda: records.ContrastPopulation.from_states(np.ones((5, 3), int), 2), "states must let every site vary"),
    ],
)
def test_extremes_are_refused_by_the_name_of_the_argument(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_what_memory_cannot_hold_is_refused_before_it_is_made():
    with pytest.raises(MemoryError, match="a model of 30000000000000000 sites needs"):
        records.PottsModel.from_edges(3 * 10**16, [[0, 1]], 1.0, np.eye(2))
    with pytest.raises(MemoryError, match="one-hot inputs of 20000000000000000 colors need"):
        simulate.potts.masked_inputs(STATES, 2 * 10**16, 1)


def test_a_loss_beyond_the_range_of_exponentials_is_shown():
    loss = simulate.potts.masked_loss(records.PottsModel(J, np.eye(2), beta=1e200), STATES)
    assert loss.perplexity == np.inf
    assert "perplexity=inf" in repr(loss)


def test_couplings_whose_squares_overflow_have_no_finite_sample_law():
    with pytest.raises((ConvergenceError, ValueError)):
        potts.complexity_gain(records.PottsModel(1e200 * J, np.eye(2)))
