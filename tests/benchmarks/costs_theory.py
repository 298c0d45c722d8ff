"""Jobs of theory for the page "What it costs", beside those of `tests.benchmarks.costs`."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tests.benchmarks.machinery.job import (
    F,
    G,
    Job,
    M,
    N,
    P,
    R,
    S,
    T,
    chain,
    doubled,
    harmonic,
    rng,
    scaled,
    sequences,
)
from theory import feedforward, glm, masked, nets, perceptron, potts, random_matrix, topics
from theory.models import (
    BernoulliGauss,
    Cluster,
    CovarianceOperator,
    Diagonal,
    DiscretePerceptron,
    FactoredStack,
    Flow,
    GeneralizedLinearModel,
    Lasso,
    Logit,
    MaskedRidge,
    MaskedTraining,
    Masking,
    Modes,
    MulticlassMixture,
    PointScales,
    RandomFeatures,
    SpanMask,
    SpanWindows,
    SparsePrecision,
    SpikedData,
    TeacherStudent,
    TopicModel,
    equally_spaced_levels,
)
from theory.models.potts import ContrastPopulation, PottsModel

TIMES = np.geomspace(0.1, 100, 20)


def _ridge(d: int) -> MaskedRidge:
    return MaskedRidge(scaled(d), alpha=2.0, lam=0.1)


def _neighbors(d: int) -> MaskedRidge:
    """A covariance of which only products with vectors are known: each coordinate with its two neighbors."""

    def product(V: np.ndarray) -> np.ndarray:
        return V + 0.4 * (np.roll(V, 1, axis=0) + np.roll(V, -1, axis=0))

    return MaskedRidge(CovarianceOperator(d, product, np.ones(d)), alpha=2.0, lam=0.1)


def _spiked(d: int, **options: Any) -> SpikedData:
    return SpikedData(scaled(d), np.full(d, d**-0.5), **{"alpha": 1.0, "lam": 0.1, "strength": 8.0, **options})


def _delocalized(d: int, **options: Any) -> SpikedData:
    """A spike spread over independent noise of as many variances as coordinates."""
    return SpikedData(Diagonal(np.linspace(0.5, 2, d)), **{"alpha": 1.0, "lam": 0.1, "strength": 8.0, **options})


def _classes(count: int) -> Callable[[], Any]:
    """Clusters of one covariance, with means of about unit length and unlike shares."""
    draws = np.random.default_rng(count)
    directions, shares = draws.standard_normal((count, 2 * count)) / np.sqrt(2 * count), 1 + draws.random(count)
    modes = Modes([1.0], [[0.4]], (directions @ directions.T)[:, :, None])
    options = {"probabilities": tuple(shares / shares.sum()), "alpha": 1.0, "lam": 0.1}
    return lambda: glm.solve(MulticlassMixture(modes=modes, loss="softmax", **options))


def _signs(p: int) -> GeneralizedLinearModel:
    """A teacher of sparse entries in inputs of unequal variance, labels by a logit."""
    om = 1 / np.sqrt(np.arange(1, p + 1.0))
    modes = Modes(np.full(p, 1 / p), om[None], (0.25 * om**2 / p)[None, None])
    teacher = Cluster(labels=Logit(), teacher_signal=0, teacher_variance=float(0.25 * om.mean()))
    return GeneralizedLinearModel(
        modes=modes, clusters=[teacher], alpha=3.0, loss="logistic", lam=0.1, signals=BernoulliGauss(0.25)
    )


def _sparse(p: int) -> GeneralizedLinearModel:
    om = 1 / np.sqrt(np.arange(1, p + 1.0))
    modes = Modes(np.full(p, 1 / p), om[None], (0.25 * om**2 / p)[None, None])
    teacher = Cluster(labels="linear", teacher_signal=0, teacher_variance=float(0.25 * om.mean()), noise=0.1)
    return GeneralizedLinearModel(
        modes=modes, clusters=[teacher], alpha=2.0, loss="square", penalty=Lasso(0.3), signals=BernoulliGauss(0.25)
    )


def _potts(L: int, q: int, beta: float = 0.3) -> PottsModel:
    draws = rng()
    J, U = np.triu(draws.standard_normal((L, L)) / np.sqrt(L), 1), draws.standard_normal((q, q))
    return PottsModel(J + J.T, (U + U.T) / 2, beta=beta)


def _topics(words: int) -> dict[str, Any]:
    return {
        "model": TopicModel(n_topics=10, words_per_topic=words, topics_per_document=2),
        "masking": Masking(selected=0.15, kept=0.1, randomized=0.1),
    }


JOBS = (
    Job(M, "theory.masked.conditional_variances", "coordinates d", doubled(250),
        lambda d: lambda: masked.conditional_variances(scaled(d))),
    Job(M, "theory.masked.ridgeless", "coordinates d", doubled(100),
        lambda d: lambda: masked.ridgeless(scaled(d), 0.5)),
    Job(M, "theory.masked.peak_height", "coordinates d", doubled(100),
        lambda d: lambda: masked.peak_height(scaled(d), 1e-6)),
    Job(M, "theory.masked.predictor", "coordinates d", doubled(100), lambda d: lambda: masked.predictor(_ridge(d))),
    Job(M, "theory.masked.replica, one coordinate", "coordinates d", doubled(100),
        lambda d: lambda: masked.replica(_ridge(d), 1)),
    Job(M, "theory.masked.estimate, products with a sparse matrix", "coordinates d", doubled(1000),
        lambda d: lambda: masked.estimate(_neighbors(d), rng())),
    Job(M, "theory.masked.solve(MaskedRidge(...)), a sparse precision", "coordinates d", doubled(25_000),
        lambda d: lambda: masked.solve(MaskedRidge(SparsePrecision(chain(d)), alpha=2.0, lam=0.1))),
    Job(M, "theory.masked.solve(MaskedRidge(...)), unlike rows", "coordinates d", doubled(100),
        lambda d: lambda: masked.solve(replace(_ridge(d), row_scales=PointScales([0.5, 1.5])))),
    Job(M, "theory.masked.solve(SpanMask(...)), a span of 5", "coordinates d", doubled(100),
        lambda d: lambda: masked.solve(SpanMask(scaled(d), 2.0, 0.1, tuple(range(5))))),
    Job(M, "theory.masked.solve(SpanWindows(...)), windows of 5", "coordinates d", doubled(50),
        lambda d: lambda: masked.solve(SpanWindows(scaled(d), 2.0, 0.1, 5))),
    Job(M, "theory.masked.mask_curve, 3 rates, 5 masks", "coordinates d", doubled(50),
        lambda d: lambda: masked.mask_curve(scaled(d), [2.0], 0.1, [0.1, 0.2, 0.3], 5)),
    Job(M, "theory.masked.optimal_mask_rate, 2 masks", "coordinates d", doubled(15),
        lambda d: lambda: masked.optimal_mask_rate(scaled(d), 2.0, 0.1, task_rate=0.2, n_masks=2)),
    Job(M, "theory.masked.oracle_error, 20 patterns", "coordinates d", doubled(50),
        lambda d: lambda: masked.oracle_error(scaled(d), 0.2, patterns=20)),
    Job(M, "theory.masked.best_time", "coordinates d", doubled(50),
        lambda d: lambda: masked.best_time(scaled(d), 1.0, lam=0.01)),
    Job(M, "theory.masked.training_curve, 20 times", "coordinates d", doubled(100),
        lambda d: lambda: masked.training_curve(scaled(d), 1.0, TIMES)),
    Job(M, "theory.masked.trained_learning_curve, 10 sample ratios", "coordinates d", doubled(100),
        lambda d: lambda: masked.trained_learning_curve(scaled(d), np.geomspace(0.2, 5, 10), Flow(5.0))),
    Job(M, "theory.masked.training_predictor, gradient flow", "coordinates d", doubled(100),
        lambda d: lambda: masked.training_predictor(MaskedTraining(scaled(d), alpha=1.0, training=Flow(5.0)))),
    Job(M, "theory.masked.teacher_student", "coordinates d", doubled(100),
        lambda d: lambda: masked.teacher_student(TeacherStudent(scaled(d), 2.0, 0.1))),
    Job(R, "theory.random_matrix.effective_ridge, a dense covariance", "coordinates d", doubled(100),
        lambda d: lambda: random_matrix.effective_ridge(scaled(d), 2.0, 0.1)),
    Job(R, "theory.random_matrix.correlation_law(...).density, 1000 points", "coordinates d", doubled(100),
        lambda d: lambda: random_matrix.correlation_law(scaled(d), 2.0).density(np.linspace(0.05, 8, 1000))),
    Job(R, "theory.random_matrix.threshold, dense noise", "coordinates d", doubled(100),
        lambda d: lambda: random_matrix.threshold(_spiked(d))),
    Job(R, "theory.random_matrix.spike_outliers, dense noise, three spikes", "coordinates d", doubled(100),
        lambda d: lambda: random_matrix.spike_outliers(
            scaled(d), np.eye(d)[:3], strengths=[8.0, 6.0, 4.0], alpha=1.0, method="pca")),
    Job(R, "theory.random_matrix.symmetric_outlier, independent noise", "variances", doubled(10),
        lambda d: lambda: random_matrix.symmetric_outlier(_delocalized(d))),
    Job(R, "theory.random_matrix.optimal_ridge, dense noise", "coordinates d", doubled(15),
        lambda d: lambda: random_matrix.optimal_ridge(_spiked(d, lam=None))),
    Job(R, "theory.random_matrix.emergence_time, independent noise", "variances", doubled(5),
        lambda d: lambda: random_matrix.emergence_time(_delocalized(d, lam=None))),
    Job(R, "theory.random_matrix.best_detection_time, independent noise", "variances", doubled(3),
        lambda d: lambda: random_matrix.best_detection_time(_delocalized(d, strength=None, lam=None))),
    Job(G, "theory.glm.solve(MulticlassMixture(...)), softmax loss, unlike clusters", "classes K", (4, 8, 12, 16),
        _classes),
    Job(G, "theory.glm.solve(RandomFeatures(...)), tanh", "calls", doubled(1),
        lambda count: lambda: [glm.solve(RandomFeatures(activation="tanh", samples_per_input=3.0,
            features_per_input=1.5, lam=0.1 * (k + 1), loss="logistic")) for k in range(count)]),
    Job(G, "theory.glm.optimal_ridge, logistic loss", "modes p", doubled(1000),
        lambda p: (lambda problem: lambda: glm.optimal_ridge(problem))(harmonic(p))),
    Job(G, "theory.glm.ridge_slopes, logistic loss, with its saddle point", "modes p", doubled(50_000),
        lambda p: (lambda problem: lambda: glm.ridge_slopes(glm.solve(problem)))(harmonic(p))),
    Job(G, "theory.glm.bayes_optimal, labels by a logit", "modes p", doubled(1000),
        lambda p: (lambda problem: lambda: glm.bayes_optimal(problem))(replace(_signs(p), signals="gaussian"))),
    Job(G, "theory.glm.bayes_optimal_signal, sparse entries, labels by a logit", "modes p", doubled(2),
        lambda p: (lambda problem: lambda: glm.bayes_optimal_signal(problem))(_signs(p))),
    Job(G, "theory.glm.optimal_strength, lasso", "modes p", doubled(25),
        lambda p: (lambda problem: lambda: glm.optimal_strength(problem))(_sparse(p))),
    Job(P, "theory.potts.complexity_gain, 2 colors", "states 2^L", doubled(2**7),
        lambda size: lambda: potts.complexity_gain(_potts(size.bit_length() - 1, 2))),
    Job(P, "theory.potts.excess_loss_coefficient, factored, 2 colors", "states 2^L", doubled(2**7),
        lambda size: lambda: potts.excess_loss_coefficient(_potts(size.bit_length() - 1, 2), "factored")),
    Job(P, "theory.potts.recovery_error_coefficient, factored, 2 colors", "states 2^L", doubled(2**7),
        lambda size: lambda: potts.recovery_error_coefficient(_potts(size.bit_length() - 1, 2), "factored")),
    Job(P, "theory.potts.k_body_floor, order 2, 2 colors", "states 2^L", doubled(2**6),
        lambda size: lambda: potts.k_body_floor(_potts(size.bit_length() - 1, 2), 2)),
    Job(P, "theory.potts.masked_clone, order 2, 2 colors", "states 2^L", doubled(2**6),
        lambda size: lambda: potts.masked_clone(_potts(size.bit_length() - 1, 2), 2)),
    Job(P, "theory.potts.maximum_entropy_clone, order 2, 2 colors", "states 2^L", doubled(2**6),
        lambda size: lambda: potts.maximum_entropy_clone(_potts(size.bit_length() - 1, 2), 2)),
    Job(P, "theory.potts.masked_loss_floor, 2 colors", "states 2^L", doubled(2**13),
        lambda size: lambda: potts.masked_loss_floor(_potts(size.bit_length() - 1, 2))),
    Job(P, "theory.potts.heteroskedasticity, 5000 sequences, 4 colors", "sites L", doubled(10),
        lambda L: (lambda states: lambda: potts.heteroskedasticity(
            ContrastPopulation.from_states(states, 4), states))(sequences(5000, L, 4))),
    Job(P, "theory.potts.ridgeless_contrast_regression, a new population, 4 colors", "sites L", doubled(10),
        lambda L: (lambda states: lambda: potts.ridgeless_contrast_regression(
            ContrastPopulation.from_states(states, 4), 2.0))(sequences(5000, L, 4))),
    Job(N, "theory.nets.factored_floor, 2 colors, one start", "states 2^L", doubled(2**5),
        lambda size: lambda: nets.factored_floor(_potts(size.bit_length() - 1, 2), rng(), n_starts=1)),
    Job(N, "theory.nets.escape_time, 2 layers, 2 colors", "sites L", doubled(2),
        lambda L: lambda: nets.escape_time(_potts(L, 2), FactoredStack.deterministic(2, L, 2))),
    Job(N, "theory.nets.structureless_gain, 2 layers, 2 colors, 200 samples, one draw and start", "sites L", doubled(3),
        lambda L: lambda: nets.structureless_gain(L, 2, 2, 200, rng(), n_draws=1, n_starts=1)),
    Job(N, "theory.nets.truncated_conditional_loss, order 2, 2 colors", "states 2^L", doubled(2**8),
        lambda size: lambda: nets.truncated_conditional_loss(_potts(size.bit_length() - 1, 2), 2)),
    Job(T, "theory.topics.population_loss", "words of a topic", doubled(5),
        lambda words: (lambda size: lambda: topics.population_loss(
            **_topics(words), logits=np.eye(size), matrix=np.eye(size)))(10 * words + 1)),
    Job(S, "theory.perceptron.entropy_curve, 10 ratios", "levels", doubled(9),
        lambda count: lambda: perceptron.entropy_curve(equally_spaced_levels(count), np.linspace(0.1, 1.0, 10))),
    Job(S, "theory.perceptron.solution_entropy", "levels", doubled(17),
        lambda count: lambda: perceptron.solution_entropy(
            DiscretePerceptron(levels=equally_spaced_levels(count), alpha=0.4))),
    Job(S, "theory.perceptron.copy_entropy, binary weights, overlap .8", "copies", doubled(2),
        lambda count: lambda: perceptron.copy_entropy(
            DiscretePerceptron(levels=(-1.0, 1.0), alpha=0.4), overlap=0.8, copies=count)),
    Job(F, "theory.feedforward.specialization, erf", "hidden units", doubled(6),
        lambda count: lambda: feedforward.specialization("erf", noise=0.1, hidden_units=count)),
)  # fmt: skip
