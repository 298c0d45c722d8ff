"""The symmetric root of a matrix: its square, and that it asks nothing of the choice of eigenvectors."""

import numpy as np

from simulate.core.roots import symmetric_root


def test_its_square_is_the_matrix_and_any_eigenvectors_give_it():
    rng = np.random.default_rng(0)
    frame, _ = np.linalg.qr(rng.standard_normal((6, 6)))
    values = np.array([-1e-17, 0.5, 0.5, 0.5, 2.0, 3.0])  # rounding of zero, and three equal ones
    root = symmetric_root(values, frame)
    np.testing.assert_allclose(root @ root, (frame * values) @ frame.T, atol=1e-14)
    np.testing.assert_allclose(root, root.T, atol=1e-14)
    other = frame * [1, 1, 1, 1, -1, -1]
    turn, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    other[:, 1:4] = frame[:, 1:4] @ turn
    np.testing.assert_allclose(symmetric_root(values, other), root, atol=1e-14)
