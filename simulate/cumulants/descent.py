"""Networks trained as in the authors' code of arXiv:2312.14922: plain descent, one sample a step, with weight decay."""

import numpy as np
from numpy.typing import NDArray

from simulate.core import DivergenceError
from simulate.core.kernels import cached_njit
from simulate.cumulants.classification import labeled_samples
from simulate.cumulants.samples import draw_spike, require_memory
from theory.core import Array, Count, NonNegative, Positive, checked
from theory.models import SpikedCumulant

TEST_SAMPLES = 5000  # of each class
LOOKS = 40  # how often at most the test samples are classified along a training


@checked
def descended_accuracy(
    model: SpikedCumulant,
    n: Count,
    rng: np.random.Generator,
    *,
    width: Count | None = None,
    rate: Positive = 2e-3,
    decay: NonNegative = 2e-3,
    n_epochs: Count = 200,
) -> float:
    """Measure the best test accuracy along the training of a two-layer ReLU network by plain descent: one replicate.

    The network has `width` hidden units (by default 5 d) and two outputs, of which the larger one is the predicted
    class; it minimizes half the squared distance of the outputs from the one-hot class. Weights and biases begin
    uniform in +-1/sqrt(inputs of the layer). Each step takes one sample, and subtracts `rate` times the gradient plus
    `decay` times the weights. In each of `n_epochs` epochs the `n` samples of each class come in random order. The
    accuracy on 5000 new samples of each class is taken up to 40 times at equal intervals; the largest is returned,
    which lies above 1/2 by about 0.01 for a network that has learned nothing. The rate, the decay, the epochs, the
    start and the single samples are those of the authors' code.

    DivergenceError where weights leave the range of floating-point numbers.
    """
    d = model.size
    m = width or 5 * d
    require_memory("width", m, d)
    spike = draw_spike(model, rng)
    X, y = labeled_samples(model, spike, n, rng)
    tests, signs = labeled_samples(model, spike, TEST_SAMPLES, rng)
    W, b = (rng.uniform(-1, 1, shape) / np.sqrt(d) for shape in ((m, d), m))
    A, c = (rng.uniform(-1, 1, shape) / np.sqrt(m) for shape in ((2, m), 2))
    best, every = 0.0, -(-n_epochs // LOOKS)
    for epoch in range(1, n_epochs + 1):
        _epoch(W, b, A, c, X, y, rng.permutation(len(X)), rate, decay)
        if not all(np.isfinite(part).all() for part in (W, b, A, c)):
            raise DivergenceError(f"training left the floating-point numbers in epoch {epoch} at the rate {rate:g}")
        if epoch % every == 0 or epoch == n_epochs:
            best = max(best, _accuracy(W, b, A, c, tests, signs))
    return best


def _accuracy(W: Array, b: Array, A: Array, c: Array, X: Array, y: Array) -> float:
    # The larger output wins, which is decided by their difference.
    with np.errstate(over="ignore", invalid="ignore"):  # of weights that grow without bound, but are not there yet
        outputs = np.maximum(X @ W.T + b, 0) @ (A[1] - A[0]) + c[1] - c[0]
        return float(np.mean(outputs * y > 0))


@cached_njit()
def _epoch(
    W: Array, b: Array, A: Array, c: Array, X: Array, y: Array, order: NDArray[np.int64], rate: float, decay: float
) -> None:
    """Take one step for each sample, in place. W: (m, d), b: (m,), A: (2, m), c: (2,), X: (n, d), y: +-1 (n,)."""
    m, d = W.shape
    hidden = np.empty(m)
    kept = 1 - rate * decay
    for i in order:
        x = X[i]
        first, second = c[0], c[1]
        for k in range(m):
            h = b[k]
            for j in range(d):
                h += W[k, j] * x[j]
            hidden[k] = max(h, 0.0)
            first += A[0, k] * hidden[k]
            second += A[1, k] * hidden[k]
        # Class 1 is the spiked one; the loss is half of the squared distance, a mean over two outputs.
        first -= 1.0 if y[i] < 0 else 0.0
        second -= 1.0 if y[i] > 0 else 0.0
        for k in range(m):
            pull = rate * (first * A[0, k] + second * A[1, k]) if hidden[k] > 0 else 0.0
            A[0, k] = kept * A[0, k] - rate * first * hidden[k]
            A[1, k] = kept * A[1, k] - rate * second * hidden[k]
            b[k] = kept * b[k] - pull
            for j in range(d):
                W[k, j] = kept * W[k, j] - pull * x[j]
        c[0] = kept * c[0] - rate * first
        c[1] = kept * c[1] - rate * second
