"""Spiked cumulants: norms and thresholds beside scipy's routines, training beside scikit-learn."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import gammaln, logsumexp

from simulate.core import stream
from simulate.cumulants import ReluNetwork, enumerated_norm, labeled_samples, norm_statistics, train_network
from tests.benchmarks.machinery.jobs import Peer
from theory import cumulants
from theory.models import SpikedCumulant

SUBJECT = "spiked cumulants"
SIGNS, SPHERE = SpikedCumulant(400, 5.0), SpikedCumulant(400, 5.0, "sphere")
SHARE = 5 / 6  # of the latent variable, beta/(1 + beta)
DEGREE, WIDTH, STEPS = 60, 80, 1000


def log_f(overlap):
    """Logarithm of the overlap function of a latent variable of signs."""
    x = SHARE * abs(overlap)
    y = x / (1 - x * x)
    return -x * y + y + np.log1p(np.exp(-2 * y)) - math.log(2) - np.log1p(-x * x) / 2


def norm_by_scipy():
    """The binomial sum over the overlaps of two spikes of signs."""
    k = np.arange(401.0)
    log_binomial = gammaln(401) - gammaln(k + 1) - gammaln(401 - k)
    return logsumexp(log_binomial - 400 * math.log(2) + 850 * log_f((2 * k - 400) / 400))


def threshold_by_scipy():
    """The best overlap in the logarithm of its gap to one, where a blind search would end in the minimum at zero."""

    def ratio(log_gap):
        gap = math.exp(log_gap)
        cost = math.log(2) + (1 - gap / 2) * math.log1p(-gap / 2) + gap / 2 * math.log(gap / 2)
        return cost / float(log_f(1 - gap))

    return minimize_scalar(ratio, bounds=(-40, -0.5), method="bounded", options={"xatol": 1e-8}).fun


def test_norms(jobs):
    jobs.compare(
        "likelihood-ratio norm, signs, d = 400, n = 850",
        lambda: cumulants.likelihood_ratio_norm(SIGNS, 850).log_norm,
        {"scipy, the binomial sum in logarithms": norm_by_scipy},
        off=lambda ours, theirs: abs(theirs / ours - 1),
    )
    jobs.compare(
        "likelihood-ratio norm, sphere, d = 400, n = 850", lambda: cumulants.likelihood_ratio_norm(SPHERE, 850)
    )
    jobs.compare(
        f"low-degree norm, sphere, degree {DEGREE}", lambda: cumulants.low_degree_norm(SPHERE, 160_000, DEGREE)
    )


def test_thresholds(jobs):
    jobs.compare(
        "likelihood-ratio threshold, signs",
        lambda: cumulants.likelihood_ratio_threshold(SIGNS).gamma,
        {"scipy, bounded minimization": threshold_by_scipy},
        off=lambda ours, theirs: abs(theirs / ours - 1),
    )
    jobs.compare("likelihood-ratio threshold, sphere", lambda: cumulants.likelihood_ratio_threshold(SPHERE))


def test_simulated_norms(jobs):
    small, tiny = SpikedCumulant(20, 10.0), SpikedCumulant(6, 2.0)
    title = "norm statistics of a data set of 1600 samples, d = 20"
    jobs.compare(title, lambda: norm_statistics(small, 1600, 100, stream(0, "bench")), per=200.0)
    title = "enumerated norm of a data set of 4 samples, d = 6"
    jobs.compare(title, lambda: enumerated_norm(tiny, 4, 10_000, stream(0, "bench")), per=10_000.0)


def data():
    model, rng = SpikedCumulant(16, 10.0), stream(0, "bench")
    return labeled_samples(model, np.full(16, 0.25), 2048, rng)


def scikit_learn():
    """As many steps of the same size with MLPClassifier: 4096 samples make 16 steps an epoch."""
    from sklearn.neural_network import MLPClassifier

    X, y = data()
    sizes = {"batch_size": 256, "max_iter": STEPS // 16, "n_iter_no_change": STEPS}
    return lambda: MLPClassifier((WIDTH,), alpha=0, learning_rate_init=2e-3, **sizes).fit(X, y)


def test_training(jobs):
    X, y = data()
    start = ReluNetwork.random(WIDTH, 16, np.random.default_rng(0))
    jobs.compare(
        "training step of 256 samples, 80 hidden units",
        lambda: train_network(start, X, y, n_steps=STEPS, rng=np.random.default_rng(1)),
        {"scikit-learn, MLPClassifier": Peer(scikit_learn, made=True)},
        per=float(STEPS),
        limit="1 times",
    )


@pytest.mark.parametrize("prior", ["signs", "sphere"])
def test_growth_with_dimension(jobs, prior):
    def make(d):
        model = SpikedCumulant(d, 5.0, prior)
        return lambda: cumulants.likelihood_ratio_norm(model, 2 * d)

    jobs.grows(f"likelihood-ratio norm, {prior}, by d = n/2", (10**3, 10**4, 10**5), make, goal="power 1.1")
