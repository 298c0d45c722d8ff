"""Eigenvalues and eigenvectors of a covariance matrix whose columns may be in different units.

A dense eigensolver is accurate to rounding of the largest eigenvalue. Where one column is measured in kilometers and
another in micrometers, that rounding is larger than everything the small columns have to say. What the entries of the
matrix do determine is the matrix of correlations C, to rounding, and the standard deviations s: Sigma = diag(s) C
diag(s). From the eigenvectors W and eigenvalues c of C, Sigma = G G^T with G = diag(s) W sqrt(c), an orthonormal matrix
between two diagonal ones, whose singular values a one-sided Jacobi method gives to high relative accuracy (Demmel and
Veselic, SIAM J. Matrix Anal. Appl. 13, 1204 (1992); LAPACK's dgejsv).
"""

import numpy as np
from scipy.linalg import lapack

from theory.core.arrays import Array

SAME_UNIT_RATIO = 4.0  # ratio of variances up to which all columns count as being in the same unit
# Ratio of variances up to which a plain eigensolver keeps 12 digits of a well conditioned matrix.
PLAIN_SOLVER_RATIO = 1e4
ZERO_EIGENVALUE = 1e-150  # eigenvalue that stands for an exact zero of C, so that one formula serves all modes


def eigenmodes(matrix: Array) -> tuple[Array, Array]:
    """Decompose a positive semi-definite matrix (d, d): ascending eigenvalues (d,), and eigenvectors in columns.

    Eigenvalues that rounding leaves of exact zeros are zero. Which ones these are is judged on the matrix of
    correlations, so that the rank does not depend on the units of the columns.
    """
    eigenvalues, eigenvectors = np.linalg.eigh(matrix)
    eigenvalues = without_rounding(eigenvalues)
    variances = np.diagonal(matrix)
    present = variances > 0
    if not present.any():
        return eigenvalues, eigenvectors
    spread = np.log(variances.max()) - np.log(variances[present].min())  # the ratio itself may overflow
    if spread <= np.log(SAME_UNIT_RATIO) or (spread <= np.log(PLAIN_SOLVER_RATIO) and eigenvalues[0] > 0):
        return eigenvalues, eigenvectors
    scales = np.sqrt(variances[present])
    values, vectors = np.linalg.eigh(correlations(matrix[np.ix_(present, present)]))
    if values[0] < -rounding(values):
        # The entries carry an error of the largest variance, and not of their own: so do the eigenvalues.
        return eigenvalues, eigenvectors
    found, modes = scaled_modes(scales, without_rounding(values), vectors)
    absent = len(matrix) - len(found)
    everything = np.zeros((len(matrix), len(matrix)))
    everything[~present, :absent] = np.eye(absent)  # a column without variance is a mode of its own
    everything[present, absent:] = modes
    return np.concatenate([np.zeros(absent), found]), everything


def scaled_modes(scales: Array, eigenvalues: Array, eigenvectors: Array) -> tuple[Array, Array]:
    """Decompose diag(scales) W diag(eigenvalues) W^T diag(scales) for orthonormal W, to high relative accuracy.

    Small components of the eigenvectors are accurate too: with G = V S U^T the eigenvectors are both G U / S and
    G^-T U S, of which the first loses no digits for the coordinates of scales below the singular value, and the second
    none above it.
    """
    largest = scales.max()
    own = scales[:, None] / largest
    roots = np.sqrt(np.where(eigenvalues > 0, eigenvalues, ZERO_EIGENVALUE))
    # Options: accuracy for a matrix scaled on both sides; no left vectors, right vectors; no range restriction, no
    # transposition, perturbation of denormalized numbers.
    singular, _, right, work, _, failure = lapack.dgejsv(
        own * (eigenvectors * roots), joba=2, jobu=3, jobv=0, jobr=0, jobt=0, jobp=1
    )
    if failure:
        raise np.linalg.LinAlgError(f"the Jacobi method for singular values did not converge (LAPACK: {failure})")
    singular = singular * (work[0] / work[1])
    direct = own * ((eigenvectors * roots) @ right) / singular
    inverse = ((eigenvectors / roots) @ right) * singular / own
    modes = np.where(own > singular, inverse, direct)
    found = (singular * largest) ** 2
    found[len(found) - np.count_nonzero(eigenvalues == 0) :] = 0.0  # they are in descending order
    return found[::-1], modes[:, ::-1]


def correlations(matrix: Array) -> Array:
    """Divide a covariance matrix of positive variances by its standard deviations: unit diagonal, (d, d)."""
    scales = np.sqrt(np.diagonal(matrix))
    found = matrix / scales / scales[:, None]
    np.fill_diagonal(found, 1.0)
    return np.asarray(found)


def rounding(eigenvalues: Array) -> float:
    """Return the size of what rounding leaves of zero eigenvalues of a matrix (d, d), from all its eigenvalues (d,)."""
    return float(len(eigenvalues) * np.finfo(float).eps * abs(eigenvalues).max())


def without_rounding(eigenvalues: Array) -> Array:
    """Put eigenvalues (d,) of a semi-definite matrix that are rounding of exact zeros to zero.

    Otherwise the rank of the matrix, and with it the limit lam -> 0, would be decided by rounding.
    """
    return np.where(eigenvalues > rounding(eigenvalues), eigenvalues, 0.0)


def haar_basis(size: int, seed: int) -> Array:
    """Draw orthonormal vectors in columns (size, size) from the Haar measure; a seed always gives the same ones."""
    noise = np.random.default_rng(seed).standard_normal((size, size))
    q, r = np.linalg.qr(noise)
    return np.asarray(q * np.sign(np.diagonal(r)))  # the signs make the law Haar
