"""A valid and fast call of every public method of the classes that users get."""

import functools
import math

import numpy as np
from scipy.special import erf, expit

import simulate.cumulants
import simulate.feedforward
import simulate.glm
import simulate.masked
import simulate.nets
import simulate.perceptron
import simulate.potts
import simulate.topics
import simulate.trees
import theory.cumulants
import theory.feedforward
import theory.glm
import theory.masked
import theory.nets
import theory.potts
import theory.random_matrix
import theory.topics
from simulate.core import Estimate, GeometricMean, Share
from simulate.core.diagnostics import diagnose
from simulate.feedforward.binary import Layer
from simulate.feedforward.narrow_task import Task
from simulate.nets.stack_gradient import Batch, Weights
from tests.bad_arguments import Example
from theory import models
from theory.core import checks

RNG = np.random.default_rng(0)
X = RNG.standard_normal((12, 3))
Y = np.where(X[:, 0] >= 0, 1.0, -1.0)
J = np.array([[0.0, 0.5, -0.3], [0.5, 0.0, 0.8], [-0.3, 0.8, 0.0]])
STATES = np.random.default_rng(3).integers(0, 2, (30, 3))
PAIRS = models.PottsModel(J, np.eye(2))
TRIPLET = models.ManyBodyPottsModel(3, [models.Interaction([[0, 1, 2]], [0.5], np.ones((2, 2, 2)))])
STACK = models.FactoredStack.deterministic(1, 3, 2)
TOPICS = (
    models.TopicModel(n_topics=3, words_per_topic=2, topics_per_document=2),
    models.Masking(selected=0.5, kept=0.3, randomized=0.2),
)
HALVES, LARGE = {"weights": [0.5, 0.5]}, {"kappa": 0.5}


def call(function, **keywords):
    """An example under the name "Class.method" of what it calls, which must not return NaN."""

    @functools.wraps(function)
    def without_nan(*arguments, **options):
        result = function(*arguments, **options)
        if isinstance(result, np.ndarray | float) and np.isnan(result).any():
            raise FloatingPointError("the result is NaN")
        return result

    return function.__qualname__, Example(without_nan, keywords)


def read(method):
    """A method whose result is read to its end, since blocks of rows are checked when they are asked for."""
    return functools.wraps(method)(lambda *arguments, **keywords: list(method(*arguments, **keywords)))


def few_sweeps(run):
    """A run of chains that leaves out what is right but takes hours, which compiled code would not interrupt."""

    @functools.wraps(run)
    def bounded(n_sweeps):
        longer = isinstance(n_sweeps, int | float | np.number) and 50 < n_sweeps <= checks.MAX_INDEX
        return None if longer else run(n_sweeps)

    return bounded


def blocks():
    """The rows of X in two blocks that are not in memory."""
    return simulate.masked.row_blocks(lambda: iter((X[:5], X[5:])))


def of_records():
    latent, signs = models.AtomicLatent, models.AtomicLatent.signs()
    spectrum = models.Spectrum(np.array([1.0, 2.0]), np.array([0.5, 0.5]), np.array([[0.5, 0.5], [0.2, 0.8]]))
    low_rank = models.DiagonalPlusLowRank(np.ones(3), np.eye(3)[:, :1])
    moments = {"Psi": np.eye(2), "Phi": np.eye(2), "Omega": np.eye(2), "teacher": [1.0, 1.0]}
    ridge = {"alpha": 2.0, "lam": 0.1}
    task = models.HiddenManifold.random(4, 3, RNG)
    return [
        call(latent.diluted_signs, probability=0.5),
        call(signs.hermite_moment, order=4),
        call(signs.normalized_moments, order=4),
        call(models.SpikedCumulant(4, 2.0).norm_statistic, squared_norms=[1.0, 4.0]),
        call(models.AR1(4, 0.5).resized, d=6),
        call(models.Diagonal([1.0, 2.0]).resized, d=4),
        call(models.Scaled(models.AR1(2, 0.5), np.ones(2)).resized, d=4),
        call(models.Empirical(np.eye(2)).resized, d=2),
        call(models.Empirical.from_data, X=X, center=True),
        call(models.Spiked(models.AR1(2, 0.5), [1.0, 0.0], 1.0).resized, d=2),
        call(low_rank.resized, d=3),
        call(low_rank.resolvent_diagonals, **LARGE),
        call(models.SparsePrecision(2 * np.eye(3)).resolvent_diagonals, **LARGE),
        call(models.CovarianceOperator(3, lambda V: 2 * V, 2 * np.ones(3)).times, vectors=np.eye(3)),
        call(models.CovarianceOperator(3, lambda V: V, np.ones(3)).resized, d=3),
        call(spectrum.coordinate_mean, values=np.ones(2)),
        call(spectrum.mean, values=np.ones((4, 2))),
        call(spectrum.diagonal, values=np.ones(2)),
        call(models.AR1Rows(4, 0.5).autocovariances, count=3),
        call(models.AR1Rows(4, 0.5).effective_share, alpha=2.0),
        call(models.AR1Rows(4, 0.5).effective_rows, alpha=2.0),
        call(models.AR1Rows(4, 0.5).next_row, steps=2),
        call(models.AR1Rows(4, 0.5).resized, n=3),
        call(models.LongMemoryRows(4, 0.2).autocovariances, count=3),
        call(models.SubjectRows([2, 2], 0.5).further_row, group=1),
        call(models.Autocovariance([1.0, 0.4]).autocovariances, count=3),
        call(models.Autocovariance.rescaled, values=[2.0, 0.4], n=3),
        call(models.GivenRows.rescaled, covariances=2 * np.eye(2)),
        call(models.GivenRows(np.eye(2)).resized, n=2),
        call(models.IndependentRows().resized, n=4),
        call(models.PointScales.rescaled, values=[1.0, 2.0], weights=[0.75, 0.25]),
        call(models.GaussianCovariateModel.from_blocks, **moments, **ridge, loss="square"),
        call(models.GaussianCovariateModel.from_data, features=X, targets=X[:, 0], **ridge),
        call(models.GaussianMixture.opposite, mean_power=1.0, variances=[1.0, 2.0], **HALVES, probability=0.5, **ridge),
        call(models.Modes.of_eigenbasis, eigenvalues=np.ones(3), vectors=np.eye(3), signals=np.ones((1, 3))),
        call(models.Modes.of_matrix, covariance=np.eye(3)),
        call(models.HiddenManifold.random, n_inputs=4, n_latent=3, rng=RNG),
        call(task.correlated, feature_correlation=0.5, teacher_correlation=0.2, rng=RNG),
        call(models.TopicMixture.dirichlet, n_topics=3, words_per_topic=2, concentration=0.1),
        call(models.RootedTree.of_number, n=60),
        call(models.FactoredStack.random, n_layers=2, n_sites=3, n_colors=2, scale=0.5, rng=RNG),
        call(models.FactoredStack.deterministic, n_layers=2, n_sites=3, n_colors=2, scale=0.5),
        call(STACK.scaled, factor=0.5),
        call(STACK.logits, inputs=np.zeros((4, 3, 2))),
    ]


def of_potts():
    edges = {"edges": [[0, 1], [1, 2]], "strengths": [0.5, 1.0]}
    layer = simulate.potts.AttentionLayer(J, np.eye(2))
    fit = simulate.potts.fit_contrasts(STATES, 2, 0.1)
    factored = simulate.potts.factored_attention(STATES, 2)
    exact = theory.potts.enumerate_states(PAIRS)
    excess = theory.potts.excess_loss_coefficient(PAIRS, "full")
    ring = theory.potts.ring(5, np.eye(2))
    dynamics = simulate.potts.make_dynamics(PAIRS, 2, RNG)
    tempered = simulate.potts.TemperedDynamics(PAIRS, 2, RNG, betas=[0.5, 1.0])
    seen = {"energy": diagnose(np.sin(np.arange(60.0) ** 2).reshape(3, 20))}
    evidence = {"states": STATES, "scores": X[:, 0], "n_chains": 3, "thin": 1, "burn_in": 1, "acceptance": 1.0}
    evidence |= {"betas": np.zeros(0), "swap_rates": np.zeros(0), "effective_sample_size": 9.0}
    return [
        call(PAIRS.checked_states, states=STATES),
        call(PAIRS.score, states=STATES),
        call(PAIRS.local_scores, states=STATES),
        call(PAIRS.conditionals, states=STATES),
        call(PAIRS.log_conditionals, states=STATES),
        call(PAIRS.at, beta=0.5),
        call(TRIPLET.at, beta=0.5),
        call(models.SquareLatticePotts(2, 2, 2).at, beta=0.5),
        call(models.DensePottsModel.of(PAIRS).at, beta=0.5),
        call(models.DensePottsModel.of, model=PAIRS),
        call(models.PottsModel.from_edges, n_sites=3, **edges, color_couplings=np.eye(2), beta=1.0),
        call(models.ContrastPopulation.from_states, states=STATES, n_colors=2, weights=np.ones(30)),
        call(simulate.potts.AttentionLayer.random, n_sites=3, n_colors=2, scale=0.5, rng=RNG),
        call(layer.logits, inputs=np.zeros((4, 3, 2))),
        call(simulate.potts.Chains.of, reason="", diagnoses=seen, sweeps=60, **evidence),
        call(fit.test_error, target=STATES),
        call(fit.mean_test_error, target=STATES),
        call(factored.logits, states=STATES),
        call(factored.log_conditionals, states=STATES),
        call(factored.conditionals, states=STATES),
        call(factored.masked_loss, states=STATES, weights=np.ones(30)),
        call(exact.mean, observable=np.ones(len(exact.states))),
        call(exact.marginals, sites=[0, 2]),
        call(excess.masked_loss, n_samples=[10, 20]),
        call(excess.recovery_error, n_samples=[10, 20]),
        call(ring.pair, i=0, j=2),
        call(ring.correlation, distance=2),
        call(few_sweeps(dynamics.run), n_sweeps=1),
        call(dynamics.restore, snapshot=dynamics.snapshot()),
        call(few_sweeps(tempered.run), n_sweeps=1),
        call(tempered.restore, snapshot=tempered.snapshot()),
    ]


def of_random_matrices():
    law = theory.random_matrix.covariance_law(models.AR1(math.inf, 0.5), 2.0)
    moments = theory.random_matrix.ridge_moments(models.AR1(4, 0.5).spectrum, np.array([0.5]))
    fit = simulate.masked.fit(X, 0.1)
    path = simulate.masked.fit_path(X, [0.1, 1.0])
    trained = simulate.masked.fit_training(X, models.Flow(1.0), 0.1)
    times = simulate.masked.fit_training_path(X, [0.5, 1.0])
    table = np.random.default_rng(4).standard_normal((20, 3))
    found = simulate.masked.autoregressive_rows(table)
    groups = simulate.masked.row_autocorrelation(table, 1, np.random.default_rng(0), np.arange(20) // 2)
    rows = blocks()
    series = models.AR1Rows(12, 0.5)
    point = theory.masked.solve(models.MaskedRidge(models.AR1(4, 0.5), 3.0, 0.1, row_dependence=series))
    seen = np.arange(36).reshape(12, 3) % 7 > 0
    imputed = simulate.masked.impute(X, seen, lam=0.5)
    dependence = simulate.masked.holes_depend_on_values(X, seen, np.random.default_rng(0))
    errors = simulate.masked.imputation_error(X, seen, [1.0, 2.0])
    return [
        call(point.near_error, covariances=np.full(12, 0.1), variance=1.0),
        call(point.kriged_error, covariances=np.full(12, 0.1), variance=1.0),
        call(point.next_row_error, steps=2),
        call(point.fold_error, folds=3, gap=1),
        call(point.corrected_error, row_dependence=series),
        call(law.density, x=[0.5, 1.0]),
        call(law.cumulative, x=[0.5, 1.0]),
        call(law.quantiles, p=[0.2, 0.5]),
        call(law.positions, d=5),
        call(law.stieltjes, z=[1.0 + 1.0j]),
        call(law.mean, power=2),
        call(moments.above_df1, alpha=np.array([2.0])),
        call(moments.above_df2, alpha=np.array([2.0])),
        call(fit.test_error, target=X),
        call(fit.mean_test_error, target=X),
        call(trained.test_error, target=X),
        call(trained.mean_test_error, target=X),
        call(times.predictor, i=1),
        call(times.test_error, i=1, target=X),
        call(times.mean_test_errors, target=X),
        call(times.best),
        call(times.loo_residuals, i=1, rows=X),
        call(times.at, times=[0.3]),
        call(path.loo_residuals, i=1),
        call(path.residual_pair, i=1, rows=X),
        call(path.predictor, i=1),
        call(path.test_error, i=1, target=X),
        call(path.mean_test_errors, target=X),
        call(path.best, by="loo"),
        call(path.corrected_error, row_dependence=models.AR1Rows(12, 0.5), centered=True),
        call(fit.corrected_error, row_dependence=models.AR1Rows(12, 0.5), centered=False),
        call(found.dependence, n=5),
        call(groups.dependence, level=0.9),
        call(simulate.masked.window_errors(table[np.arange(30) % 20], 20, [0.1]).medians),
        call(imputed.fill, X=X, seen=seen),
        call(dependence.strongest, count=3),
        call(errors.best),
        call(simulate.masked.RowBlocks.of_array, name="X", X=X, known=None),
        call(read(rows.numbered), start=2),
        call(rows.moments_of_parts, part=np.arange(12) % 2, count=2),
        call(rows.take, rows=np.array([1, 6])),
        call(read(rows.mapped), change=lambda start, block: block + start, known=None),
        call(read(rows.centered), standardize=True),
        call(read(rows.columns), chosen=[0, 2]),
        call(read(rows.rows), chosen=np.arange(12) % 2 == 0, known=None),
        call(rows.moments.with_rows, other=blocks().moments),
    ]


def of_networks_and_topics():
    rate = theory.nets.plateau_rate(PAIRS)
    plateau = theory.nets.factored_floor(PAIRS, np.random.default_rng(0), n_starts=2)
    skip = models.FactoredStack.deterministic(2, 3, 2, skip=True)
    found = simulate.nets.spectral_estimate(STATES, 2)
    training = simulate.topics.Training(steps=2, rate=0.1, batch_size=3, length=(5, 8), evaluated=4, record_every=1)
    run = simulate.topics.train_single_layer(*TOPICS, training, RNG)
    text = simulate.trees.read_text(models.NumberText(5100))
    network = simulate.feedforward.Multilayer.random((3, 4, 1), RNG)
    transfer = models.NetworkTransfer(n_inputs=3, width=4, layer_overlaps=(1.0, 0.5))
    teacher = simulate.feedforward.draw_teachers(transfer, RNG)[0]
    return [
        call(rate.amplitude, stack=STACK),
        call(rate.escape_time, stack=STACK, gain=0.1),
        call(theory.nets.escape_time(PAIRS, models.FactoredStack.deterministic(2, 3, 2), tol=1e-3).time, scale=0.5),
        call(theory.nets.lower_layers(PAIRS, skip, plateau.layer).time, scale=0.5),
        call(found.attention_overlap, site_couplings=J),
        call(found.values_overlap, color_couplings=np.eye(2)),
        call(theory.topics.escape_rate(*TOPICS).onset, initial_scale=0.01),
        call(run.column, name="loss"),
        call(text.words, start=1, stop=5),
        call(text.vocabulary.count, word="()"),
        call(text.vocabulary.depth_share, depth=1),
        call(text.vocabulary.pattern_share, pattern=""),
        call(simulate.feedforward.Multilayer.random, sizes=(3, 4, 1), rng=RNG, variance=1.0),
        call(network.hidden, inputs=X, depth=1),
        call(network.outputs, inputs=X),
        call(network.error, inputs=X, labels=Y),
        call(teacher.labels, inputs=X),
        call(teacher.samples, n_samples=5, rng=RNG),
        call(theory.feedforward.activation_kernel("erf").kernel, q=0.5),
    ]


def of_inner_rooms():
    """Of classes that rooms keep to themselves, and that are found by looking into their files."""
    functions = erf, lambda x: np.exp(-(x**2))
    task = {"sizes": (4, 2, 5), "beta": None, "lam": 1.0, "functions": functions, "rng": RNG}
    weights = Weights.of(STACK)
    return [
        call(Layer.random, network=models.BinaryNetwork(mean_variance=0.9, bias_variance=0.1), width=5, rng=RNG),
        call(Task.draw, model=models.NarrowNetwork(activation="erf", alpha=2.0, noise=0.1), **task),
        call(Weights.of, stack=STACK),
        call(weights.like, flat=weights.flat),
        call(Batch.of, contexts=simulate.nets.sampled_contexts(STATES, 2)),
        call(Batch.of_sequences, states=STATES, sites=np.zeros(30, int), n_colors=2),
    ]


def of_classification():
    test = theory.cumulants.norm_test(models.SpikedCumulant(4, 2.0), 50)
    shares = simulate.cumulants.NormStatistics(5, np.arange(4.0), np.arange(4.0))
    relu = simulate.cumulants.ReluNetwork(np.eye(3), np.zeros(3), np.ones(3), 0.5)
    network = simulate.glm.random_network(5, 3, RNG)
    features = models.RandomFeatures(activation="tanh", samples_per_input=3.0, features_per_input=1.5, lam=0.1)
    task = simulate.glm.FeatureTask(features, 4, RNG)
    group = simulate.glm.Group(share=1.0, covariance=np.eye(3), mean=np.zeros(3), teacher=np.ones(3))
    loss = theory.glm.ConvexMargin(lambda t: np.logaddexp(0, -t), derivative=lambda t: -expit(-t), kinks=(1,))
    noise = models.Additive(lambda e: np.exp(-(np.minimum(abs(e), 40) ** 2)) / math.sqrt(math.pi))
    point = theory.glm.solve(theory.glm.gaussian_mixture(alpha=1.0, lam=0.1))
    t, fields = np.linspace(-2, 2, 5), {"t": np.linspace(-2, 2, 5), "prox": np.linspace(-1, 3, 5), "V": 0.5}
    return [
        call(test.power, level=0.05),
        call(test.corrected_power, level=0.05),
        call(test.corrected_level, level=0.05),
        call(shares.level, threshold=1.0),
        call(shares.power, threshold=1.0),
        call(simulate.cumulants.ReluNetwork.random, width=3, d=4, rng=RNG),
        call(relu.output, X=X),
        call(relu.accuracy, X=X, y=Y),
        call(network.output, X=X),
        call(network.gradient, X=X, y=Y),
        call(task.draw, n=5, rng=RNG),
        call(task.error, weights=np.ones(6), n=50, rng=RNG),
        call(simulate.glm.fit(X, Y, "square", 0.1).fields, X=X, learners=0),
        call(simulate.glm.fit_multiclass(X, np.arange(12) % 3, 3, "square", 0.1).fields, X=X),
        call(group.times_covariance, vectors=X),
        call(models.Logit(0.5).probability, y=1, nu=t),
        call(models.Probit(0.5).probability, y=1, nu=t),
        call(models.Flips(0.1, 0.2).probability, y=-1, nu=t),
        call(models.Poisson().probability, y=2, nu=t),
        call(noise.probability, y=0.3, nu=t),
        call(noise.of_noise, e=t),
        call(models.LabelChannel(models.Logit(0.5).probability).probability, y=1, nu=t),
        call(point.calibration, fields=t, learner=0),
        call(models.Lasso(0.3).scaled, factor=2.0),
        call(models.Modes.of_coordinates, variances=np.ones(2), signals=np.ones((1, 2))),
        call(loss.value, t=t),
        call(loss.prox, t=t, V=0.5),
        call(loss.force, **fields),
        call(loss.slope, _t=t, _prox=t, _V=0.5),
        call(loss.breakpoints, V=0.5),
        call(Estimate.of, values=[1.0, 2.0, 4.0]),
        call(Estimate(1.0, 0.1, 10).z, predicted=0.5),
        call(Estimate(1.0, 0.1, 10).interval, coverage=0.9),
        call(GeometricMean.of, values=[1.0, 2.0, 4.0]),
        call(GeometricMean(1.0, 0.1, 10).interval, coverage=0.9),
        call(GeometricMean(1.0, 0.1, 10).z, predicted=0.5),
        call(Share.of, values=[1, 0, 1]),
        call(Share(0.5, 0.1, 10).interval, coverage=0.9),
    ]


def of_perceptrons():
    network = simulate.perceptron.TwoLayerNetwork(np.full((3, 4), 0.5), np.full((4, 2), -0.5))
    return [
        call(network.scores, inputs=X),
        call(network.error, inputs=X, labels=np.arange(12) % 2),
        call(network.sampled, rng=RNG),
    ]


def examples() -> dict[str, Example]:
    """One call of each method, by "Class.method"."""
    lists = (
        of_records(),
        of_potts(),
        of_random_matrices(),
        of_networks_and_topics(),
        of_classification(),
        of_perceptrons(),
        of_inner_rooms(),
    )
    return dict(one for each in lists for one in each)
