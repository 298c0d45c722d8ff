"""Least squares for the value matrix: against numpy position by position, and theory at finite document length."""

import numpy as np
import pytest
from scipy import sparse

from simulate.core import Estimate, stream
from simulate.topics import fit_value_matrix, mask_documents, sample_topic_documents
from simulate.topics.value_matrix import NormalEquations
from theory.models.topics import Masking, TopicMixture, TopicModel

MODEL = TopicModel(n_topics=4, words_per_topic=3, topics_per_document=2)
MASKING = Masking(selected=0.3, kept=0.2, randomized=0.2)


def positions(masked):
    """One row a selected position: its input and its one-hot target."""
    share = masked.visible / masked.visible.sum(axis=1, keepdims=True)
    rows = np.repeat(np.arange(len(masked.times)), masked.times)
    return share[masked.document[rows]], np.eye(share.shape[1])[masked.target[rows]]


def by_numpy(X, Y, bias, ridge):
    """W (D, D) and b by numpy's lstsq, the ridge as further rows."""
    n, D = X.shape
    penalty, zeros = np.sqrt(n * ridge) * np.eye(D), np.zeros((D, D))
    if bias == "free":
        x, y = X.mean(axis=0), Y.mean(axis=0)
        W = np.linalg.lstsq(np.vstack([X - x, penalty]), np.vstack([Y - y, zeros]), rcond=1e-7)[0].T
        return W, y - W @ x
    if bias == "none":
        return np.linalg.lstsq(np.vstack([X, penalty]), np.vstack([Y, zeros]), rcond=1e-7)[0].T, np.zeros(D)
    X = np.column_stack([X, np.ones(n)])
    penalty, zeros = np.sqrt(n * ridge) * np.eye(D + 1), np.zeros((D + 1, D))
    W = np.linalg.lstsq(np.vstack([X, penalty]), np.vstack([Y, zeros]), rcond=1e-7)[0].T
    return W[:, :-1], W[:, -1]


@pytest.mark.parametrize("bias", ["free", "none", "decayed"])
@pytest.mark.parametrize("ridge", [0.0, 0.01])
@pytest.mark.parametrize("n_documents", [6, 200])  # fewer inputs than tokens: least norm decides
def test_fit_is_that_of_numpy(bias, ridge, n_documents):
    rng = stream(0, "lstsq", n_documents)
    masked = mask_documents(sample_topic_documents(MODEL, n_documents, rng, length=20), MASKING, rng)
    equations = NormalEquations(MODEL.n_tokens)
    equations.add(masked)
    fit = equations.solve(bias=bias, ridge=ridge)
    X, Y = positions(masked)
    W, b = by_numpy(X, Y, bias, ridge)
    assert np.allclose(fit.matrix, W, atol=1e-8)
    assert np.allclose(fit.bias, b, atol=1e-9)
    assert fit.loss == pytest.approx(((X @ W.T + b - Y) ** 2).sum(axis=1).mean(), abs=1e-9)
    assert fit.n_selected == len(X)


def test_blocks_and_sparse_products_give_the_same_sums(monkeypatch):
    rng = stream(0, "blocks")
    masked = [mask_documents(sample_topic_documents(MODEL, 5, rng), MASKING, rng) for _ in range(2)]
    dense, sparsely = NormalEquations(MODEL.n_tokens), NormalEquations(MODEL.n_tokens)
    for block in masked:
        dense.add(block)
    monkeypatch.setattr("simulate.topics.value_matrix.SPARSE_BELOW", 2.0)
    for block in masked:
        sparsely.add(block)
    rows = [positions(block) for block in masked]
    X, Y = (np.vstack(part) for part in zip(*rows, strict=True))
    for equations in (dense, sparsely):
        assert np.allclose(equations.power, X.T @ X)
        assert np.allclose(equations.cross, Y.T @ X)
        assert np.allclose(equations.inputs, X.sum(axis=0))
        assert np.allclose(equations.targets, Y.sum(axis=0))


def test_documents_come_in_blocks(monkeypatch):
    """One document at a time is another draw of the same law, of as many positions."""
    counts = sample_topic_documents(MODEL, 40, stream(0, "counts"), length=30).counts
    every = Masking(selected=1, kept=1, randomized=0)
    whole = fit_value_matrix(counts, every, stream(0), draws=2)
    monkeypatch.setattr("simulate.topics.value_matrix.BLOCK_ENTRIES", 1)
    single = fit_value_matrix(sparse.csr_array(counts), every, stream(0), draws=2)
    assert whole.n_selected == single.n_selected == 2 * 40 * 30
    assert np.allclose(whole.matrix, single.matrix)


@pytest.mark.parametrize("length", [10, 40])
def test_finite_documents_follow_the_theory(agrees, length):
    """Different-topic entries are subtracted: they depend on directions that the words' sum leaves undetermined."""
    from theory.topics import finite_length_loss, finite_length_value_matrix

    topic = np.arange(12) // 3
    same, diagonal = topic[:, None] == topic, np.eye(12, dtype=bool)
    found = []
    for replicate in range(28):
        rng = stream(0, "finite", length, replicate)
        fit = fit_value_matrix(sample_topic_documents(MODEL, 8000, rng, length=length), MASKING, rng)
        W = fit.matrix[1:, 1:]
        different = W[~same].mean()
        found.append((W[diagonal].mean() - different, W[same & ~diagonal].mean() - different, fit.loss))
    exact = finite_length_value_matrix(MODEL, MASKING, length)
    diagonal, same, loss = (Estimate.of(column) for column in np.transpose(found))
    agrees(diagonal, exact.diagonal - exact.different, resolves=0.05)
    agrees(same, exact.same - exact.different, resolves=0.05)
    agrees(loss, finite_length_loss(MODEL, MASKING, length), resolves=0.01)


def test_documents_of_dirichlet_shares_and_many_lengths_follow_the_theory(agrees):
    from theory.topics import finite_length_loss, finite_length_value_matrix

    mixture = TopicMixture.dirichlet(n_topics=MODEL.n_topics, words_per_topic=3, concentration=0.1)
    topic = np.arange(12) // 3
    same, diagonal = topic[:, None] == topic, np.eye(12, dtype=bool)
    found = []
    for replicate in range(28):
        rng = stream(0, "dirichlet", replicate)
        documents = sample_topic_documents(MODEL, 6000, rng, length=(2, 40), concentration=0.1)
        fit = fit_value_matrix(documents, MASKING, rng)
        W = fit.matrix[1:, 1:]
        different = W[~same].mean()
        found.append((W[diagonal].mean() - different, W[same & ~diagonal].mean() - different, fit.loss))
    exact = finite_length_value_matrix(mixture, MASKING, (2, 40))
    diagonal, same, loss = (Estimate.of(column) for column in np.transpose(found))
    agrees(diagonal, exact.diagonal - exact.different, resolves=0.05)
    agrees(same, exact.same - exact.different, resolves=0.05)
    agrees(loss, finite_length_loss(mixture, MASKING, (2, 40)), resolves=0.01)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bias": "both"}, "bias must be"),
        ({"ridge": -1}, "ridge must lie in"),
        ({"draws": 0}, "draws must be"),
        ({"masking": Masking(selected=1e-12)}, "no position was selected"),
    ],
)
def test_bad_fits_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        fit_value_matrix(np.ones((2, 3)), **{"masking": MASKING, "rng": stream(0), **options})
