"""The jobs of the page "What it costs": each public solver and simulation at four sizes, each twice the one before.

A job prepares its input for a size and returns the call that is measured. Everything else is held fixed, at values that
the text of the job names.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from simulate import cumulants as simulated_cumulants
from simulate import feedforward as simulated_feedforward
from simulate import glm as simulated_glm
from simulate import masked as simulated_masked
from simulate import nets as simulated_nets
from simulate import perceptron as simulated_perceptron
from simulate import potts as simulated_potts
from simulate import topics as simulated_topics
from simulate import trees as simulated_trees
from tests.benchmarks import costs_simulation, costs_theory
from tests.benchmarks.machinery.job import (
    C,
    F,
    G,
    Job,
    K,
    M,
    N,
    P,
    R,
    S,
    T,
    doubled,
    harmonic,
    labeled,
    rng,
    scaled,
    sequences,
    table,
)
from theory import cumulants, feedforward, glm, masked, nets, perceptron, potts, random_matrix, trees
from theory.models import (
    AR1,
    DensePottsModel,
    DiscretePerceptron,
    FactoredStack,
    Flow,
    GaussianCovariateModel,
    GivenSpectrum,
    Lasso,
    MaskedRidge,
    MaskedTraining,
    Masking,
    MissingEntries,
    NarrowNetwork,
    NumberText,
    PottsModel,
    RandomMasks,
    SpikedCumulant,
    SpikedData,
    StochasticPerceptron,
    TopicModel,
    equally_spaced_levels,
)
from theory.models.potts import ContrastPopulation, random_graph


def _fit(n: int, d: int) -> Callable[[], Any]:
    X = table(n, d)
    return lambda: simulated_masked.fit(X, 0.1)


def _leave_one_out(n: int, d: int) -> Callable[[], Any]:
    found = simulated_masked.fit(table(n, d), 0.1)
    return lambda: sum(len(left_out) for _, left_out in found.residual_blocks())


def _holes(n: int, d: int) -> Callable[[], Any]:
    X = simulated_masked.sample(AR1(d, 0.6), n, rng())
    holed, _ = simulated_masked.with_holes(X, 0.1, rng())
    return lambda: simulated_masked.impute(holed)


def _covariate(p: int) -> Callable[[], Any]:
    covariance = scaled(p).matrix
    options = {"signal": covariance[0], "power": 2.0, "alpha": 1.0, "lam": 0.1}
    return lambda: glm.solve(GaussianCovariateModel(covariance=covariance, **options))


def _logistic(n: int, p: int, loss: str = "logistic") -> Callable[[], Any]:
    X, y = labeled(n, p)
    return lambda: simulated_glm.fit(X, y, loss, 1.0)


def _lasso(n: int, p: int) -> Callable[[], Any]:
    X, y = labeled(n, p)
    return lambda: simulated_glm.fit_penalized(X, y, "square", Lasso(1.0))


def _multiclass(n: int, p: int) -> Callable[[], Any]:
    X = table(n, p)
    classes = np.argmax(X[:, :4] + rng().standard_normal((n, 4)), axis=1)
    return lambda: simulated_glm.fit_multiclass(X, classes, 4, "softmax", 1.0)


def _dense_potts(L: int, q: int) -> DensePottsModel:
    J = np.triu(rng().standard_normal((L, L)) / np.sqrt(L), 1)
    U = rng().standard_normal((q, q))
    return DensePottsModel.of(PottsModel(J + J.T, (U + U.T) / 2))


def _sparse_potts(L: int, q: int) -> PottsModel:
    U = rng().standard_normal((q, q))
    return PottsModel(random_graph(L, 3.0, rng()), (U + U.T) / 2)


def _sweeps(model: Any, chains: int) -> Callable[[], Any]:
    dynamics = simulated_potts.make_dynamics(model, chains, rng())
    return lambda: dynamics.run(10)


def _pairs(M: int, L: int, q: int) -> Callable[[], Any]:
    states = sequences(M, L, q)
    return lambda: simulated_potts.pseudo_likelihood(states, q, max_iter=10, check=False)


def _weights(M: int, L: int, q: int) -> Callable[[], Any]:
    states = sequences(M, L, q)
    return lambda: simulated_potts.sequence_weights(states)


def _mean_field(M: int, L: int, q: int) -> Callable[[], Any]:
    states = sequences(M, L, q)
    return lambda: simulated_potts.mean_field(states, q)


def _factored(M: int, L: int, q: int) -> Callable[[], Any]:
    states = sequences(M, L, q)
    return lambda: simulated_potts.factored_attention(states, q, max_iter=10, check=False, restarts=1)


def _stack(n_layers: int, L: int, M: int) -> Callable[[], Any]:
    states = sequences(M, L, 10)
    stack = FactoredStack.random(n_layers, L, 10, 0.8, rng())
    options = {"n_steps": 10, "rate": 0.1, "record": [10]}
    return lambda: simulated_nets.train_on_sequences(stack, states, states[:10], rng=rng(), **options)


def _lda(n_documents: int, n_topics: int) -> Callable[[], Any]:
    model = TopicModel(n_topics=10, words_per_topic=50, topics_per_document=2)
    documents = simulated_topics.sample_topic_documents(model, n_documents, rng(), length=100)
    options = {"sweeps": 20, "chains": 1}
    return lambda: simulated_topics.gibbs_lda(documents.counts, n_topics, rng(), **options)


def _attention_layer(words_per_topic: int) -> Callable[[], Any]:
    model = TopicModel(n_topics=10, words_per_topic=words_per_topic, topics_per_document=2)
    options = {"rate": 0.003, "loss": "squared_mean", "concentration": 0.1, "record_every": 20}
    training = simulated_topics.Training(steps=20, **options)
    return lambda: simulated_topics.train_single_layer(model, Masking(), training, rng())


def _solutions(size: int) -> Callable[[], Any]:
    patterns = table(16, size.bit_length() - 1)
    return lambda: simulated_perceptron.solution_counts((-1, 1), patterns)


def _states(size: int) -> Callable[[], Any]:
    model = _dense_potts(size.bit_length() - 1, 2)
    return lambda: potts.enumerate_states(model)


def _relu_network(n: int, d: int) -> Callable[[], Any]:
    X, y = simulated_cumulants.labeled_samples(SpikedCumulant(d, 10.0), np.full(d, d**-0.5), n, rng())
    return lambda: simulated_cumulants.fit_random_features(X, y, X[:50], y[:50], 100, 0.1, rng())


ALPHAS = np.geomspace(0.2, 5, 30)
_COMMON = (
    Job(M, "theory.masked.solve(MaskedRidge(...)), a dense covariance", "coordinates d", doubled(250),
        lambda d: lambda: masked.solve(MaskedRidge(scaled(d), alpha=2.0, lam=0.1))),
    Job(M, "theory.masked.learning_curve, 30 sample ratios", "coordinates d", doubled(200),
        lambda d: lambda: masked.learning_curve(scaled(d), ALPHAS, [0.1])),
    Job(M, "theory.masked.optimal_ridge", "coordinates d", doubled(200),
        lambda d: lambda: masked.optimal_ridge(scaled(d), 1.0)),
    Job(M, "theory.masked.solve(RandomMasks(...)), 5 masks", "coordinates d", doubled(100),
        lambda d: lambda: masked.solve(RandomMasks(scaled(d), alpha=2.0, lam=0.1, mask_rate=0.15, n_masks=5))),
    Job(M, "theory.masked.solve(MissingEntries(...)), own rows", "coordinates d", doubled(100),
        lambda d: lambda: masked.solve(
            MissingEntries(scaled(d), alpha=2.0, lam=0.6, missing_rates=0.2, method="own_rows", rows="complete"))),
    Job(M, "theory.masked.solve(MaskedTraining(...)), gradient flow", "coordinates d", doubled(200),
        lambda d: lambda: masked.solve(MaskedTraining(scaled(d), alpha=1.0, training=Flow(5.0)))),
    Job(M, "simulate.masked.sample, 1000 coordinates", "rows n", doubled(1000),
        lambda n: lambda: simulated_masked.sample(AR1(1000, 0.6), n, rng())),
    Job(M, "simulate.masked.fit, 100 columns", "rows n", doubled(25_000), lambda n: _fit(n, 100)),
    Job(M, "simulate.masked.fit, n = 2 d", "columns d", doubled(250), lambda d: _fit(2 * d, d)),
    Job(M, "simulate.masked.fit, n = d/2", "columns d", doubled(250), lambda d: _fit(d // 2, d)),
    Job(M, "leave-one-out residuals of a fit, 100 columns", "rows n", doubled(25_000),
        lambda n: _leave_one_out(n, 100)),
    Job(M, "simulate.masked.fit_path, 50 ridges, n = 2 d", "columns d", doubled(250),
        lambda d: (lambda X: lambda: simulated_masked.fit_path(X, np.geomspace(1e-3, 10, 50)))(table(2 * d, d))),
    Job(M, "simulate.masked.fit_training, gradient flow, n = 2 d", "columns d", doubled(250),
        lambda d: (lambda X: lambda: simulated_masked.fit_training(X, Flow(5.0)))(table(2 * d, d))),
    Job(M, "simulate.masked.impute, a tenth of holes, 40 columns", "rows n", doubled(1000), lambda n: _holes(n, 40)),
    Job(M, "simulate.masked.impute, a tenth of holes, 400 rows", "columns d", doubled(25), lambda d: _holes(400, d)),
    Job(R, "theory.random_matrix.covariance_law(...).density, 1000 points", "atoms", doubled(250),
        lambda count: (lambda law: lambda: law().density(np.linspace(0.1, 20, 1000)))(
            lambda: random_matrix.covariance_law(
                GivenSpectrum(rng().uniform(0.1, 10, count), np.full(count, 1 / count)), 2.0))),
    Job(R, "theory.random_matrix.predictor_law, a dense covariance", "coordinates d", doubled(20),
        lambda d: lambda: random_matrix.predictor_law(MaskedRidge(scaled(d), alpha=2.0, lam=0.1))),
    Job(R, "theory.random_matrix.outlier, dense noise", "coordinates d", doubled(100),
        lambda d: lambda: random_matrix.outlier(
            SpikedData(scaled(d), np.full(d, d**-0.5), alpha=1.0, lam=0.1, strength=8.0))),
    Job(R, "simulate.masked.covariance_eigenvalues, n = 2 d", "coordinates d", doubled(250),
        lambda d: lambda: simulated_masked.covariance_eigenvalues(MaskedRidge(AR1(d, 0.6), 2.0, 0.1), d, rng())),
    Job(G, "theory.glm.solve, logistic loss", "modes p", doubled(50_000),
        lambda p: (lambda problem: lambda: glm.solve(problem))(harmonic(p))),
    Job(G, "theory.glm.solve(GaussianCovariateModel(...)), a new covariance", "features p", doubled(200), _covariate),
    Job(G, "theory.glm.learning_curve, 30 sample ratios", "modes p", doubled(1000),
        lambda p: (lambda problem: lambda: glm.learning_curve(problem, ALPHAS))(harmonic(p))),
    Job(G, "simulate.glm.fit, logistic loss, 50 features", "samples n", doubled(12_500), lambda n: _logistic(n, 50)),
    Job(G, "simulate.glm.fit, logistic loss, n = 2 p", "features p", doubled(250), lambda p: _logistic(2 * p, p)),
    Job(G, "simulate.glm.fit, hinge loss, n = 2 p", "features p", doubled(100), lambda p: _logistic(2 * p, p, "hinge")),
    Job(G, "simulate.glm.fit_multiclass, 4 classes, 50 features", "samples n", doubled(1000),
        lambda n: _multiclass(n, 50)),
    Job(G, "simulate.glm.fit_penalized, lasso, n = 2 p", "features p", doubled(200), lambda p: _lasso(2 * p, p)),
    Job(G, "simulate.glm.message_passing, 20 steps", "modes p", doubled(250),
        lambda p: (lambda problem: lambda: simulated_glm.message_passing(problem, p, rng()))(harmonic(p))),
    Job(P, "theory.potts.enumerate_states, 2 colors", "states 2^L", doubled(2**16), _states),
    Job(P, "theory.potts.torus, as long as wide, 2 colors", "states 2^width", doubled(2**9),
        lambda size: lambda: potts.torus(size.bit_length() - 1, size.bit_length() - 1, 2, 0.8)),
    Job(P, "theory.potts.contrast_regression, a new population, 4 colors", "sites L", doubled(10),
        lambda L: (lambda states: lambda: potts.contrast_regression(
            ContrastPopulation.from_states(states, 4), 2.0, 0.1))(sequences(5000, L, 4))),
    Job(P, "ten sweeps, dense couplings, 21 colors, 1000 chains", "sites L", doubled(25),
        lambda L: _sweeps(_dense_potts(L, 21), 1000)),
    Job(P, "ten sweeps, three neighbors a site, 21 colors, 1000 chains", "sites L", doubled(50),
        lambda L: _sweeps(_sparse_potts(L, 21), 1000)),
    Job(P, "ten sweeps, dense couplings, 50 sites, 21 colors", "chains", doubled(1000),
        lambda chains: _sweeps(_dense_potts(50, 21), chains)),
    Job(P, "simulate.potts.pseudo_likelihood, 10 steps, 20 sites, 21 colors", "sequences M", doubled(2500),
        lambda size: _pairs(size, 20, 21)),
    Job(P, "simulate.potts.pseudo_likelihood, 10 steps, 2000 sequences, 4 colors", "sites L", doubled(20),
        lambda L: _pairs(2000, L, 4)),
    Job(P, "simulate.potts.pseudo_likelihood, 10 steps, 2000 sequences, 20 sites", "colors q", doubled(4),
        lambda q: _pairs(2000, 20, q)),
    Job(P, "simulate.potts.mean_field, 2000 sequences, 21 colors", "sites L", doubled(10),
        lambda L: _mean_field(2000, L, 21)),
    Job(P, "simulate.potts.factored_attention, 10 steps, 20 sites, 21 colors", "sequences M", doubled(500),
        lambda size: _factored(size, 20, 21)),
    Job(P, "simulate.potts.sequence_weights, 100 sites", "sequences M", doubled(2000),
        lambda size: _weights(size, 100, 21)),
    Job(N, "theory.nets.token_flow", "tokens L", doubled(200),
        lambda L: lambda: nets.token_flow(AR1(L, 0.6), 0, np.eye(L), np.ones(L))),
    Job(N, "simulate.nets.train_on_sequences, 10 steps of 256, 2 layers, 10 colors", "sites L", doubled(15),
        lambda L: _stack(2, L, 2560)),
    Job(T, "simulate.topics.gibbs_lda, one chain, 20 sweeps, 20 topics", "tokens/100", doubled(500),
        lambda count: _lda(count, 20)),
    Job(T, "simulate.topics.gibbs_lda, one chain, 20 sweeps, 10^5 tokens", "topics", doubled(20),
        lambda count: _lda(1000, count)),
    Job(T, "simulate.topics.train_single_layer, 20 steps, 10 topics", "words of a topic", doubled(5),
        _attention_layer),
    Job(S, "theory.perceptron.zero_entropy_capacity", "levels", doubled(17),
        lambda count: lambda: perceptron.zero_entropy_capacity(equally_spaced_levels(count))),
    Job(S, "theory.perceptron.stochastic_saddle_point", "inverse temperature", doubled(10),
        lambda beta: lambda: perceptron.stochastic_saddle_point(
            StochasticPerceptron(alpha=0.55, squared_norm=0.7, beta=float(beta)), check=False)),
    Job(S, "simulate.perceptron.solution_counts, 16 patterns", "weight vectors 2^N", doubled(2**24), _solutions),
    Job(S, "simulate.perceptron.sample_stochastic_weights, no doublings", "weights", doubled(50),
        lambda size: lambda: simulated_perceptron.sample_stochastic_weights(
            StochasticPerceptron(alpha=0.55, squared_norm=0.6, beta=5.0), size, rng(), max_doublings=0, check=False)),
    Job(S, "simulate.perceptron.search_with_copies, 200 sweeps", "weights", doubled(1001),
        lambda size: lambda: simulated_perceptron.search_with_copies(
            DiscretePerceptron(levels=(-1, 1), alpha=0.6), size | 1, rng(), n_sweeps=200)),
    Job(F, "theory.feedforward.bayes_curve, tanh", "sample ratios", doubled(50),
        lambda count: lambda: feedforward.bayes_curve(np.tanh, np.linspace(0.5, 6, count), noise=0.05)),
    Job(F, "simulate.feedforward.sample_narrow, 4 units", "inputs", doubled(25),
        lambda size: lambda: simulated_feedforward.sample_narrow(
            NarrowNetwork(activation="erf", alpha=2.0, noise=0.1), size, 4, rng(), check=False)),
    Job(C, "theory.cumulants.likelihood_ratio_norm, n = 2 d", "dimensions d", doubled(100_000),
        lambda d: lambda: cumulants.likelihood_ratio_norm(SpikedCumulant(d, 5.0), 2 * d)),
    Job(C, "theory.cumulants.low_degree_norm, d = 400", "degree", doubled(50),
        lambda degree: lambda: cumulants.low_degree_norm(SpikedCumulant(400, 5.0), 160_000, degree)),
    Job(C, "simulate.cumulants.norm_statistics, 100 repeats, d = 20", "samples n", doubled(400),
        lambda n: lambda: simulated_cumulants.norm_statistics(SpikedCumulant(20, 10.0), n, 100, rng())),
    Job(K, "simulate.trees.count_words", "numbers", doubled(2_000_000),
        lambda count: lambda: simulated_trees.count_words(NumberText(count))),
    Job(K, "simulate.trees.markov_loss, order 1", "numbers", doubled(1_000_000),
        lambda count: (lambda text: lambda: simulated_trees.markov_loss(text, 1))(
            simulated_trees.read_text(NumberText(count)))),
    Job(K, "theory.trees.word_of, number by number", "numbers", doubled(2000),
        lambda count: lambda: [trees.word_of(n) for n in range(10**6, 10**6 + count)]),
)  # fmt: skip
JOBS = (*_COMMON, *costs_theory.JOBS, *costs_simulation.JOBS)


def _fit_of_a_million() -> Callable[[], Any]:
    """The table comes in blocks of 20,000 rows that are drawn anew in each pass, as those of a file are read."""

    def blocks() -> Any:
        draws = rng()
        return (draws.standard_normal((20_000, 200)) for _ in range(50))

    return lambda: simulated_masked.fit(blocks, 0.1)


def _large_lda() -> Callable[[], Any]:
    model = TopicModel(n_topics=100, words_per_topic=50, topics_per_document=2)
    documents = simulated_topics.sample_topic_documents(model, 10_000, rng(), length=100)
    options = {"sweeps": 100, "chains": 1}
    return lambda: simulated_topics.gibbs_lda(documents.counts, 100, rng(), **options)


def _large_pairs() -> Callable[[], Any]:
    states = sequences(36_690, 82, 21)
    return lambda: simulated_potts.pseudo_likelihood(states, 21, check=False)


LARGE = {
    "simulate.masked.fit of a million rows by 200 columns, in memory (1.6 GB)": lambda: _fit(1_000_000, 200),
    "the same in blocks of 20,000 rows, drawn anew in each pass": _fit_of_a_million,
    "simulate.potts.pseudo_likelihood of 36,690 synthetic sequences by 82 sites, 21 colors": _large_pairs,
    "simulate.topics.gibbs_lda of 10^6 tokens, 5000 words, 100 topics, one chain, 100 sweeps": _large_lda,
}
