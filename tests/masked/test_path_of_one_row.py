"""A single row at every ridge and size that is accepted: nothing is NaN, and the rest is refused with its range."""

import numpy as np
import pytest

from simulate.masked import fit_path

LAMS = [0.0, 1e-300, 1e-100, 1e-9, 1.0, 1e9, 1e100]
FIELDS = ("effective_ridge", "train_error", "gcv_error", "mean_train_error", "mean_gcv_error", "mean_loo_error")
ROWS = {
    "zero": np.zeros,
    "constant": lambda d: np.full(d, -3.7),
    "one coordinate": lambda d: np.eye(d)[0],
    "integers": lambda d: np.arange(d) - 1,
    "least size": lambda d: np.full(d, 1e-50),
    "largest size": lambda d: np.full(d, 1e50),
    "all sizes": lambda d: np.geomspace(1e-50, 1e50, d),
    "drawn": lambda d: np.random.default_rng(d).standard_normal(d),
}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("d", [1, 2, 7, 40])
def test_nothing_is_nan(name, d):
    row = np.asarray(ROWS[name](d))[None]
    for lams in ([lam] for lam in LAMS):
        path = fit_path(row, lams)
        for field in FIELDS:
            values = np.asarray(getattr(path, field), float)
            assert np.isfinite(values).all(), (lams, field)
            assert (values >= 0).all(), (lams, field)
        assert np.isfinite(path.loo_residuals(0)).all()
        assert np.isfinite(path.residual_pair(0, row)).all()
        assert np.isfinite(path.predictor(0)).all()
        assert np.isfinite(path.test_error(0, row)).all()
    together = fit_path(row, LAMS)
    assert "nan" not in repr(together)
    assert 0 <= together.best("loo") < len(LAMS)
    for field in FIELDS:
        assert np.isfinite(np.asarray(getattr(together, field), float)).all(), field
    np.testing.assert_allclose(together.loo_residuals(3)[0], row[0], rtol=1e-9, atol=1e-15 * abs(row).max())


@pytest.mark.parametrize(
    ("size", "lams", "message"),
    [
        (1.0, [1e200], r"lams\[0\] must lie in \[0, 1e\+100\], got .*1e\+200"),
        (1.0, [1.0, np.inf], r"lams.* must"),
        (1e-60, [1.0], "X must have columns of size 1e-50 to 1e"),
        (1e60, [0.0], "X must have columns of size 1e-50 to 1e"),
        (np.nan, [1.0], "X must"),
    ],
)
@pytest.mark.parametrize("d", [1, 5])
def test_what_lies_beyond_is_refused(size, lams, message, d):
    with pytest.raises(ValueError, match=message):
        fit_path(np.full((1, d), size), lams)
