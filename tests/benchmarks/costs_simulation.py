"""Jobs of simulations for the page "What it costs", beside those of `tests.benchmarks.costs`."""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from simulate import cumulants, feedforward, glm, masked, nets, perceptron, potts, topics, trees
from tests.benchmarks.machinery.job import C, F, G, Job, K, M, N, P, R, S, T, doubled, labeled, rng, sequences, table
from theory.models import (
    AR1,
    BinaryNetwork,
    Cluster,
    DensePottsModel,
    DiscretePerceptron,
    FactoredStack,
    GeneralizedLinearModel,
    MaskedRidge,
    Masking,
    Modes,
    NarrowNetwork,
    NestedFeatures,
    NumberText,
    PottsModel,
    RandomFeatures,
    SpikedCumulant,
    SpikedData,
    TopicModel,
)


class _Huber:
    """A loss of one's own."""

    name = "Huber"

    def value(self, t: np.ndarray) -> np.ndarray:
        return np.where(abs(t) < 1, t * t / 2, abs(t) - 0.5)

    def derivative(self, t: np.ndarray) -> np.ndarray:
        return np.clip(t, -1, 1)


def _fitted(n: int, p: int, loss: Any) -> Callable[[], Any]:
    X, y = labeled(n, p)
    if loss == "poisson":
        y = rng().poisson(np.exp(X[:, 0])).astype(float)
    argument = "margin" if isinstance(loss, str) else "residual"
    return lambda: glm.fit(X, y, loss, 1.0, argument=argument)


def _coupled(n: int, p: int) -> Callable[[], Any]:
    X, y = labeled(n, p)
    return lambda: glm.fit_coupled(X, y, np.arange(n) % 2, "logistic", 1.0, coupling=1.0)


def _site(n: int, p: int) -> Callable[[], Any]:
    X, colors = table(n, p), rng().integers(4, size=n)
    conditionals = np.full((100, 4), 0.25)
    return lambda: glm.fit_masked_site(X, colors, 0.1, test_inputs=X[:100], conditionals=conditionals)


def _posterior(p: int) -> Callable[[], Any]:
    modes = Modes([1.0], [[1.0]], [[[1.0]]])
    teacher = Cluster(labels="linear", teacher_signal=0, noise=0.1)
    problem = GeneralizedLinearModel(modes=modes, clusters=[teacher], alpha=2.0, loss="square", lam=0.1)
    return lambda: glm.posterior_message_passing(replace(problem, signals="signs"), p, rng())


def _dense(L: int, q: int) -> DensePottsModel:
    J, U = np.triu(rng().standard_normal((L, L)) / np.sqrt(L), 1), rng().standard_normal((q, q))
    return DensePottsModel.of(PottsModel(J + J.T, (U + U.T) / 2, beta=0.3))


def _spiked(d: int) -> SpikedData:
    return SpikedData(AR1(d, 0.6), np.full(d, d**-0.5), strength=8.0, alpha=1.0, lam=0.1)


def _documents(count: int) -> Any:
    model = TopicModel(n_topics=10, words_per_topic=20, topics_per_document=2)
    return topics.sample_topic_documents(model, count, rng(), length=100)


def _numbered(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = labeled(n, p)
    return X, (y > 0).astype(int)


def _text(count: int) -> Any:
    return trees.read_text(NumberText(count))


JOBS = (
    Job(M, "simulate.masked.fit_training_path, 20 times, n = 2 d", "columns d", doubled(100),
        lambda d: (lambda X: lambda: masked.fit_training_path(X, np.geomspace(0.1, 100, 20)))(table(2 * d, d))),
    Job(M, "simulate.masked.one_pass, 200 columns", "rows n", doubled(500),
        lambda n: (lambda X: lambda: masked.one_pass(X, 0.3))(table(n, 200))),
    Job(M, "simulate.masked.mean_test_error, one replicate, n = 2 d", "coordinates d", doubled(100),
        lambda d: lambda: masked.mean_test_error(MaskedRidge(AR1(d, 0.6), 2.0, 0.1), d, rng())),
    Job(M, "simulate.masked.diagnose_rows, 20 columns", "rows n", doubled(250),
        lambda n: (lambda X: lambda: masked.diagnose_rows(X, 0.1, rng()))(table(n, 20))),
    Job(M, "simulate.masked.row_autocorrelation, 3 lags, 50 columns", "rows n", doubled(250),
        lambda n: (lambda X: lambda: masked.row_autocorrelation(X, 3, rng()))(table(n, 50))),
    Job(M, "simulate.masked.autoregressive_rows, 50 columns", "rows n", doubled(250),
        lambda n: (lambda X: lambda: masked.autoregressive_rows(X, rng()))(table(n, 50))),
    Job(M, "simulate.masked.row_heterogeneity, 50 columns", "rows n", doubled(250),
        lambda n: (lambda X: lambda: masked.row_heterogeneity(X, 0.1, rng()))(table(n, 50))),
    Job(M, "simulate.masked.blocked_error, 5 folds, 100 columns", "rows n", doubled(5000),
        lambda n: (lambda X: lambda: masked.blocked_error(X, 0.1, folds=5, gap=1))(table(n, 100))),
    Job(M, "simulate.masked.window_errors, 10 windows, 3 ridges, 50 columns", "rows n", doubled(500),
        lambda n: (lambda X: lambda: masked.window_errors(X, n // 2, lams=[0.01, 0.1, 1.0], windows=10))(
            table(n, 50))),
    Job(M, "simulate.masked.holes_depend_on_values, 40 columns", "rows n", doubled(500),
        lambda n: (lambda X, seen: lambda: masked.holes_depend_on_values(X, seen, rng()))(
            table(n, 40), rng().random((n, 40)) > 0.1)),
    Job(M, "simulate.masked.imputation_error, own rows, 2 ridges, 10 columns", "rows n", doubled(2500),
        lambda n: (lambda X, seen: lambda: masked.imputation_error(X, seen, lams=[0.1, 1.0], method="own_rows"))(
            table(n, 10), rng().random((n, 10)) > 0.1)),
    Job(R, "simulate.masked.top_overlap, n = d", "coordinates d", doubled(200),
        lambda d: lambda: masked.top_overlap(_spiked(d), d, rng())),
    Job(R, "simulate.masked.symmetric_outlier, n = d", "coordinates d", doubled(200),
        lambda d: lambda: masked.symmetric_outlier(_spiked(d), d, rng())),
    Job(R, "simulate.masked.predictor_eigenvalues, n = 2 d", "coordinates d", doubled(150),
        lambda d: lambda: masked.predictor_eigenvalues(MaskedRidge(AR1(d, 0.6), 2.0, 0.1), d, rng())),
    Job(R, "simulate.masked.needed_strengths, n = d", "coordinates d", doubled(50),
        lambda d: lambda: masked.needed_strengths([_spiked(d)], 0.5, d, rng(), "reported")),
    Job(G, "simulate.glm.fit, Poisson loss, 50 features", "samples n", doubled(10_000),
        lambda n: _fitted(n, 50, "poisson")),
    Job(G, "simulate.glm.fit, Huber loss of one's own, n = 2 p", "features p", doubled(250),
        lambda p: _fitted(2 * p, p, _Huber())),
    Job(G, "simulate.glm.fit, hinge loss, 20 features", "samples n", doubled(12_500),
        lambda n: _fitted(n, 20, "hinge")),
    Job(G, "simulate.glm.fit_coupled, two learners, logistic loss, n = 2 p", "features p", doubled(200),
        lambda p: _coupled(2 * p, p)),
    Job(G, "simulate.glm.fit_masked_site, 4 colors, 50 inputs", "samples n", doubled(4000), lambda n: _site(n, 50)),
    Job(G, "simulate.glm.measure(RandomFeatures(...)), one replicate", "inputs d", doubled(100),
        lambda d: lambda: glm.measure(
            RandomFeatures(activation="tanh", samples_per_input=3.0, features_per_input=1.5, lam=0.1), d, rng())),
    Job(G, "simulate.glm.posterior_message_passing, binary teacher", "weights p", doubled(250), _posterior),
    Job(G, "simulate.glm.train, a network with one hidden layer, 1000 samples", "inputs d", doubled(25),
        lambda d: (lambda network, X: lambda: glm.train(network, X, np.sign(X[:, 0])))(
            glm.random_network(d, d, rng()), table(1000, d))),
    Job(P, "simulate.potts.sample, 4 colors, 1000 samples", "sites L", doubled(8),
        lambda L: (lambda model: lambda: potts.sample(model, 1000, seed=0))(_dense(L, 4))),
    Job(P, "simulate.potts.boltzmann_learning, 20 steps of 256 chains, 4 colors, 1000 sequences", "sites L", doubled(3),
        lambda L: (lambda states: lambda: potts.boltzmann_learning(
            states, 4, rng=rng(), n_chains=256, n_checked=1024, max_iter=20, check=False))(
            sequences(1000, L, 4))),
    Job(P, "simulate.potts.train, 10 steps of 256, 21 colors", "sites L", doubled(10),
        lambda L: (lambda states: lambda: potts.train(
            potts.AttentionLayer.random(L, 21, 0.1, rng()), states, states[:100], n_steps=10, rng=rng()))(
                sequences(1000, L, 21))),
    Job(P, "simulate.potts.standard_errors, 2000 sequences, 4 colors", "sites L", doubled(2),
        lambda L: (lambda states: (lambda fit: lambda: potts.standard_errors(fit, states))(
            potts.pseudo_likelihood(states, 4)))(sequences(2000, L, 4))),
    Job(P, "simulate.potts.fit_contrasts, 4 colors, 1000 sequences", "sites L", doubled(25),
        lambda L: (lambda states: lambda: potts.fit_contrasts(states, 4, 0.1))(sequences(1000, L, 4))),
    Job(P, "simulate.potts.masked_loss, 21 colors, 2000 sequences", "sites L", doubled(5),
        lambda L: (lambda model, states: lambda: potts.masked_loss(model, states))(
            _dense(L, 21), sequences(2000, L, 21))),
    Job(N, "simulate.nets.stack_gradient, 2 layers, 10 colors, 400 contexts", "sites L", doubled(15),
        lambda L: (lambda contexts: lambda: nets.stack_gradient(FactoredStack.random(2, L, 10, 0.8, rng()), contexts))(
            nets.sampled_contexts(sequences(max(400 // L, 2), L, 10), 10))),
    Job(N, "simulate.nets.gradient_flow, 2 layers, 2 colors", "sites L", doubled(2),
        lambda L: (lambda contexts: lambda: nets.gradient_flow(
            FactoredStack.deterministic(2, L, 2, 0.3), contexts, stop_loss=0.3, max_time=10.0))(
                nets.sampled_contexts(sequences(50, L, 2), 2))),
    Job(N, "simulate.nets.train_on_population, 100 steps, 2 layers, 4 colors, 100 sequences", "sites L", doubled(5),
        lambda L: (lambda contexts: lambda: nets.train_on_population(
            FactoredStack.random(2, L, 4, 0.8, rng()), contexts, n_steps=100, rate=0.1))(
                nets.sampled_contexts(sequences(100, L, 4), 4))),
    Job(N, "simulate.nets.clone, order 2, 2 colors, 1000 sequences", "sites L", doubled(3),
        lambda L: (lambda states: lambda: nets.clone(states, 2, order=2, seed=0, n_samples=1000, check=False))(
            sequences(1000, L, 2))),
    Job(N, "simulate.nets.marginal_mismatches, 4 colors, 1000 sequences", "sites L", doubled(5),
        lambda L: (lambda states: lambda: nets.marginal_mismatches(states, states[:500], 4))(sequences(1000, L, 4))),
    Job(N, "simulate.nets.spectral_estimate, 10 colors, 1000 sequences", "sites L", doubled(20),
        lambda L: (lambda states: lambda: nets.spectral_estimate(states, 10))(sequences(1000, L, 10))),
    Job(T, "simulate.topics.fit_value_matrix, 200 words", "documents", doubled(250),
        lambda count: (lambda documents: lambda: topics.fit_value_matrix(
            documents, Masking(selected=0.15, kept=0.1, randomized=0.1), rng()))(_documents(count).counts)),
    Job(T, "simulate.topics.mask_documents, 200 words", "documents", doubled(1000),
        lambda count: (lambda documents: lambda: topics.mask_documents(
            documents, Masking(selected=0.15, kept=0.1, randomized=0.1), rng()))(_documents(count).counts)),
    Job(T, "simulate.topics.sample_topic_documents, 200 words, 100 tokens each", "documents", doubled(2500),
        lambda count: lambda: _documents(count)),
    Job(T, "simulate.topics.population_batch, 5 words of a topic, 2 topics of a document", "topics", doubled(3),
        lambda count: lambda: topics.population_batch(
            TopicModel(n_topics=count, words_per_topic=5, topics_per_document=2), Masking())),
    Job(S, "simulate.perceptron.entropy_profile, binary weights, 20 instances, two counts", "weight vectors 2^N",
        doubled(2**18),
        lambda size: (lambda d: lambda: perceptron.entropy_profile((-1.0, 1.0), [2, 4], d, rng(), instances=20))(
            size.bit_length() - 1)),
    Job(S, "simulate.perceptron.pair_entropies, binary weights, 20 instances", "weight vectors 2^N", doubled(2**12),
        lambda size: lambda: perceptron.pair_entropies(
            DiscretePerceptron(levels=(-1.0, 1.0), alpha=0.4), size.bit_length() - 1, rng(), instances=20)),
    Job(S, "simulate.perceptron.zero_entropy_capacity, binary weights", "weight vectors 2^N", doubled(2**20),
        lambda size: lambda: perceptron.zero_entropy_capacity((-1.0, 1.0), size.bit_length() - 1, rng())),
    Job(S, "simulate.perceptron.descend_stochastic_weights", "weights", doubled(301),
        lambda size: lambda: perceptron.descend_stochastic_weights(0.4, size | 1, rng())),
    Job(S, "simulate.perceptron.train_two_layers, 100 inputs, 50 hidden units, 5 epochs", "samples", doubled(250),
        lambda n: (lambda X, y: lambda: perceptron.train_two_layers(
            X, y, X[:100], y[:100], 50, rng(), epochs=5))(*_numbered(n, 100))),
    Job(F, "simulate.feedforward.fit_narrow, 4 units", "inputs", doubled(25),
        lambda size: lambda: feedforward.fit_narrow(
            NarrowNetwork(activation="erf", alpha=2.0, noise=0.1), size, 4, rng(), lam=0.5, check=False)),
    Job(F, "simulate.feedforward.sample_version_space, 4 units, 100 sweeps", "inputs", doubled(5),
        lambda size: lambda: feedforward.sample_version_space(
            NarrowNetwork(alpha=2.0, activation="relu", labels="sign"), size, 4, rng(), n_sweeps=100)),
    Job(F, "simulate.feedforward.decay, 10 layers", "width", doubled(250),
        lambda width: lambda: feedforward.decay(
            BinaryNetwork(mean_variance=0.9, bias_variance=0.1), width, 10, rng(), variance=0.2)),
    Job(F, "simulate.feedforward.field_statistics, 10 layers", "width", doubled(250),
        lambda width: lambda: feedforward.field_statistics(
            BinaryNetwork(mean_variance=0.9, bias_variance=0.1), width, 10, rng(), variance=1.0, correlation=0.2)),
    Job(F, "simulate.feedforward.stochastic_activations, 10 layers, 10 draws", "width", doubled(100),
        lambda width: lambda: feedforward.stochastic_activations(
            BinaryNetwork(mean_variance=0.9, bias_variance=0.1), width, 10, 10, rng())),
    Job(F, "simulate.feedforward.frozen_risks, 3 ridges", "features", doubled(100),
        lambda d: lambda: feedforward.frozen_risks(
            NestedFeatures(dimensions=(d, d // 4), kept_powers=(1, 0.7), noise=0.1), d, [0.1, 1.0, 10.0], rng())),
    Job(F, "simulate.feedforward.warm_start_risks, 3 ridges", "features", doubled(100),
        lambda d: lambda: feedforward.warm_start_risks(
            NestedFeatures(dimensions=(d, d // 4), kept_powers=(1, 0.7), noise=0.1), d, 0.5, [0.1, 1.0, 10.0], rng())),
    Job(F, "simulate.feedforward.train_multilayer, 200 steps, width 50, 1000 samples", "inputs", doubled(25),
        lambda d: (lambda X, y: lambda: feedforward.train_multilayer(
            feedforward.Multilayer.random((d, 50, 50, 1), rng()), X, y, rng(), n_steps=200))(*labeled(1000, d))),
    Job(C, "simulate.cumulants.random_features_accuracy, width 100, n = 10 d", "dimensions d", doubled(25),
        lambda d: lambda: cumulants.random_features_accuracy(SpikedCumulant(d, 10.0), 10 * d, rng(), width=100)),
    Job(C, "simulate.cumulants.network_accuracy, width 50, 500 steps, n = 1000", "dimensions d", doubled(10),
        lambda d: lambda: cumulants.network_accuracy(SpikedCumulant(d, 10.0), 1000, rng(), width=50, n_steps=500)),
    Job(C, "simulate.cumulants.descended_accuracy, width 50, 20 epochs, n = 500", "dimensions d", doubled(10),
        lambda d: lambda: cumulants.descended_accuracy(SpikedCumulant(d, 10.0), 500, rng(), width=50, n_epochs=20)),
    Job(C, "simulate.cumulants.enumerated_norm, 1000 repeats, d = 6", "samples n", doubled(10),
        lambda n: lambda: cumulants.enumerated_norm(SpikedCumulant(6, 2.0), n, 1000, rng())),
    Job(K, "simulate.trees.read_text", "numbers", doubled(1_000_000), lambda count: lambda: _text(count)),
    Job(K, "simulate.trees.ngram_counts, 3 words", "numbers", doubled(1_000_000),
        lambda count: (lambda text: lambda: trees.ngram_counts(text, 3))(_text(count))),
    Job(K, "simulate.trees.prediction_loss, two neighbors", "numbers", doubled(250_000),
        lambda count: (lambda text: lambda: trees.prediction_loss(text, offsets=[-1, 1]))(_text(count))),
    Job(K, "simulate.trees.write_corpus", "numbers", doubled(50_000),
        lambda count: (lambda folder: lambda: trees.write_corpus(NumberText(count), folder / "corpus.txt"))(
            Path(tempfile.mkdtemp(prefix="corpus")))),
)  # fmt: skip
