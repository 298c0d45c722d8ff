"""How alike two sets of features of the same samples are: kernel alignment, canonical correlations, Procrustes."""

from typing import Annotated

import numpy as np

from simulate.feedforward.multilayer import Numbers
from theory.core import Array, Within, checked, checks

KeptShare = Annotated[float, Within(0.0, 1.0, closed=(False, True))]


@checked
def linear_alignment(first: Numbers, second: Numbers) -> float:
    """Compute the linear centered kernel alignment of two sets of features (samples, neurons) of the same samples.

    With centered columns it is |A'B|_F^2/(|A'A|_F |B'B|_F): one for features that agree up to a rotation and a factor,
    and of the order of the number of neurons over that of samples for independent ones (S. Kornblith et al.,
    arXiv:1905.00414). ValueError for shapes that do not fit, and for features that do not vary.

    >>> features = np.random.default_rng(0).standard_normal((500, 4))
    >>> round(linear_alignment(features, 3 * features[:, ::-1] + 1), 12)
    1.0
    """
    X, Y = _centered_pair(first, second)
    return float(np.sum((X.T @ Y) ** 2) / (np.linalg.norm(X.T @ X) * np.linalg.norm(Y.T @ Y)))


@checked
def canonical_similarity(first: Numbers, second: Numbers, *, kept: KeptShare = 0.99) -> float:
    """Compute the mean canonical correlation of two sets of features (samples, neurons) of the same samples.

    Of each set the fewest principal directions are taken that hold the share `kept` of its variance. The canonical
    correlations of what is left are the singular values of U'V with U and V orthonormal bases of the columns of both;
    their mean runs over the smaller of the two numbers of directions (SVCCA, M. Raghu et al., arXiv:1706.05806). It is
    one for features that agree up to an invertible linear map of directions of nearly all variance, a wider class than
    that of `linear_alignment`, as small directions count as much as large ones. Independent features of k and l
    directions have about sqrt(max(k, l)/samples), which is no longer small with few samples. ValueError as there, and
    for a share outside (0, 1].

    >>> features = np.random.default_rng(0).standard_normal((500, 4))
    >>> mixed = features @ [[1, 2, 0, 0], [0, 1, 3, 0], [0, 0, 1, 1], [1, 0, 0, 1]]
    >>> round(canonical_similarity(features, mixed, kept=1.0), 12), round(linear_alignment(features, mixed), 3) < 0.95
    (1.0, True)
    """
    bases = [_principal(features, kept) for features in _centered_pair(first, second)]
    correlations = np.linalg.svd(bases[0].T @ bases[1], compute_uv=False)
    return float(np.mean(np.minimum(correlations, 1.0)))


@checked
def procrustes_similarity(first: Numbers, second: Numbers) -> float:
    """Compute how well a rotation turns one set of features (samples, neurons) into the other: 1 - distance^2/2.

    With centered columns and |A|_F = |B|_F = 1 the distance is the least |A - B R|_F over rotations R (and reflections;
    a narrower set is filled up with zeros), and 1 - distance^2/2 is the nuclear norm |A'B|_*, the sum of the singular
    values. It is one for features that agree up to a rotation and a factor, as for `linear_alignment`, but small
    directions count in proportion to their size and not to its square. ValueError as there.

    >>> features = np.random.default_rng(0).standard_normal((500, 4))
    >>> round(procrustes_similarity(features, -2 * features[:, ::-1] + 1), 12)
    1.0
    """
    X, Y = _centered_pair(first, second)
    size = float(np.linalg.norm(X) * np.linalg.norm(Y))
    return min(float(np.linalg.svd(X.T @ Y, compute_uv=False).sum()) / size, 1.0)


def _principal(features: Array, kept: float) -> Array:
    """Return an orthonormal basis (samples, directions) of the fewest principal directions with a share of variance."""
    basis, sizes, _ = np.linalg.svd(features, full_matrices=False)
    shares = np.cumsum(sizes**2) / np.sum(sizes**2)
    rank = int(np.sum(sizes > max(features.shape) * np.finfo(float).eps * sizes[0]))
    # A share of one is reached by rounding before or after the last direction, of which the rank decides.
    count = rank if kept == 1 else int(np.searchsorted(shares, kept)) + 1
    return np.asarray(basis[:, : min(count, rank)])


def _centered_pair(first: Numbers, second: Numbers) -> list[Array]:
    A, B = (checks.finite_array(name, value, 2) for name, value in (("first", first), ("second", second)))
    if len(A) != len(B):
        raise ValueError(f"second must have the {len(A)} samples of first, got {len(B)}")
    scaled = []
    for name, features in (("first", A), ("second", B)):
        top = abs(features).max()
        centered = features / top if top > 0 else np.array(features)
        centered = centered - centered.mean(axis=0)
        if np.linalg.norm(centered) < 1e-12:
            raise ValueError(f"{name} must vary from sample to sample, got constant features")
        scaled.append(centered)
    return scaled
