"""Mixtures at the settings of arXiv:2106.03791 against the numbers that its authors store with their code.

They are from the repository IdePHICS/GaussMixtureProject at commit 8a1e1e7: curves of two clusters +-mu with |mu| = 1
from K2mix/data/theory (the file names' "rho" is the share of the inputs that have the variance delta1, "prob" that of
the label 1), and the error rates of three orthonormal clusters that multiK/how_to.ipynb prints, which are averages over
3e6 draws. The training loss of hinge loss is left out: it is E (1 - V - omega)_+ = sqrt(q) (phi(A) + A Phi(A)) with
A = (1 - m - V)/sqrt(q), and the authors' hinge_loss.py returns it without the factor sqrt(q).

The file of square loss with an l1 penalty has one weight for each entry of mu, whose entries are normal.

A few rows stand here. All rows are compared where the variable PUBLISHED names a folder with mixtures_theory.csv and
mixtures_simulation.csv, which hold the authors' tables with the name of each file in the column `file`.
"""

import csv
import math
import os
import re
from pathlib import Path

import numpy as np
import pytest

from simulate.core import Estimate
from theory import glm
from theory.models import Cluster, GeneralizedLinearModel, Lasso, Modes, MulticlassMixture

RIDGE = "ridge_rho=0.5_delta1=0.1_delta2=0.5_lamb=0.01_prob=0.5"
HINGE = "hinge_l2_rho=0.8_delta1=0.5_delta2=0.1_lamb=0.1_prob=0.5"
LOGISTIC = "logistic_l2_rho=1_delta1=0.5_delta2=0.1_lamb=0.01_prob=0.5"
LASSO = "lasso_rho=0.5_delta1=0.1_delta2=0.5_lamb=0.01_prob=0.5"
COLUMNS = ("sample_complexity", "test_error", "train_loss", "V", "q", "m")
STORED = {
    RIDGE: (
        (0.0710204081633, 0.248036864202, 0.000465449074445, 27.0690427315, 0.0785198927924, 0.190736191662),
        (0.986326530612, 0.0936834659763, 0.00841689527073, 3.95341903239, 0.376580619434, 0.809056743206),
        (3.0, 0.02430690712, 0.0476739054587, 0.479017160963, 0.186659200484, 0.85196841397),
    ),
    HINGE: (
        (0.0710204081633, 0.295379315193, 4.93199734328e-28, 3.85963539825, 0.0737186959546, 0.14600197921),
        (0.986326530612, 0.129121975894, 0.00562838344163, 1.85114722262, 0.697090855372, 0.943919603896),
        (3.0, 0.076545230111, 0.0323314949756, 1.03031713979, 1.18150678146, 1.55295607748),
    ),
    LOGISTIC: (
        (0.167368421053, 0.247799905307, 0.0519327680182, 44.4451956146, 1.21384890884, 0.750763582217),
        (0.954210526316, 0.154687300178, 0.0455577901016, 28.753321848, 5.57026320737, 2.39916587019),
        (3.0, 0.131023374707, 0.0585880758938, 13.3353939137, 14.0208949626, 4.19964852018),
    ),
}
STORED_LASSO = (
    (0.0710204081633, 0.419118103791, 0.000574295235526, 30.953914692, 0.419828906861, 0.132277432805),
    (0.986326530612, 0.130097699039, 0.00547546048609, 6.23467840236, 0.544577688686, 0.830885321793),
    (3, 0.024691851577, 0.047653844648, 0.485089149745, 0.188986397657, 0.854350635784),
)
# Number of the sample ratio in linspace(0.2, 10, 100), with the training and the test error that are printed for it.
THREE = {
    0: (0.0, 0.537745),
    8: (0.0, 0.590736),
    11: (0.001808, 0.5281006666666667),
    18: (0.05383066666666669, 0.44035366666666675),
    28: (0.11369000000000007, 0.38367933333333337),
    48: (0.16872566666666666, 0.33600566666666676),
    99: (0.21183833333333335, 0.2964066666666667),
}
DRAWS = 3e6


def model_of(name, alpha):
    """Return the mixture that the name of a file of the authors describes."""
    share, first, second, lam, probability = map(float, re.findall(r"=([0-9.]+)", name))
    loss = {"ridge": "square"}.get(name.split("_")[0], name.split("_")[0])
    return glm.gaussian_mixture(
        1.0,
        [first, second] if share < 1 else [first],
        weights=[share, 1 - share] if share < 1 else [1.0],
        probability=probability,
        alpha=alpha,
        lam=lam,
        loss=loss,
    )


def assert_as_stored(name, row):
    found = glm.solve(model_of(name, row["sample_complexity"]))
    stored = [row[key] for key in ("test_error", "V", "q", "m")]
    assert (found.test_error, found.V[0], found.q[0], found.r[0]) == pytest.approx(stored, rel=1e-8)
    if name != HINGE:
        assert found.train_loss == pytest.approx(row["train_loss"], rel=1e-8)


@pytest.mark.parametrize("name", STORED)
def test_stored_rows(name):
    for row in STORED[name]:
        assert_as_stored(name, dict(zip(COLUMNS, row, strict=True)))


def test_the_stored_training_loss_of_hinge_lacks_a_factor():
    for row in STORED[HINGE][1:]:
        stored = dict(zip(COLUMNS, row, strict=True))
        found = glm.solve(model_of(HINGE, stored["sample_complexity"]))
        assert found.train_loss == pytest.approx(math.sqrt(stored["q"]) * stored["train_loss"], rel=1e-8)


def lasso(alpha):
    """Return the two clusters of the file with an l1 penalty: means of normal entries, learned by a lasso."""
    clusters = [Cluster(probability=0.5, labels="cluster", label=y, mean_signal=0, mean_sign=y) for y in (1, -1)]
    modes = Modes([0.5, 0.5], [[0.1, 0.5]], [[[0.5, 0.5]]])
    common = {"loss": "square", "bias": True, "penalty": Lasso(0.01), "signals": "gaussian"}
    return GeneralizedLinearModel(modes=modes, clusters=clusters, alpha=alpha, **common)


def assert_lasso_as_stored(row):
    found = glm.solve(lasso(row["sample_complexity"]))
    stored = [row[key] for key in ("test_error", "train_loss", "V", "q", "m")]
    numbers = (found.test_error, found.train_loss, found.V[0], found.q[0], found.r[0])
    assert numbers == pytest.approx(stored, rel=1e-8)
    assert found.bias[0] == pytest.approx(0, abs=1e-12)


def test_stored_rows_of_a_lasso():
    for row in STORED_LASSO:
        assert_lasso_as_stored(dict(zip(COLUMNS, row, strict=True)))


def three(number):
    return MulticlassMixture(
        modes=Modes([1.0], [[0.5]], np.eye(3)[:, :, None]),
        probabilities=(1 / 3,) * 3,
        alpha=float(np.linspace(0.2, 10, 100)[number]),
        lam=0.001,
    )


@pytest.mark.parametrize("number", THREE)
def test_printed_errors_of_three_classes(number):
    """They agree within four standard errors of the authors' draws."""
    point = glm.solve(three(number))
    for found, printed in zip((point.train_error, point.test_error), THREE[number], strict=True):
        assert found == pytest.approx(printed, abs=4 * math.sqrt(max(found * (1 - found), 1e-7) / DRAWS))


def published(name):
    folder = os.environ.get("PUBLISHED")
    if not folder:
        pytest.skip(f"set PUBLISHED to the folder that holds {name}")
    with (Path(folder) / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", STORED)
def test_all_stored_rows(name):
    rows = [row for row in published("mixtures_theory.csv") if row["file"] == name]
    assert len(rows) == (20 if name == LOGISTIC else 50)
    for row in rows:
        assert_as_stored(name, {key: float(row[key]) for key in COLUMNS})


def test_all_stored_rows_of_a_lasso():
    rows = [row for row in published("mixtures_theory.csv") if row["file"] == LASSO]
    assert len(rows) == 50
    for row in rows:
        assert_lasso_as_stored({key: float(row[key]) for key in COLUMNS})


@pytest.mark.parametrize("name", STORED)
def test_all_simulations_of_the_authors(name):
    """Ten seeds of 500 (hinge: 1000) inputs and 1000 test samples each; the last column is the spread of the seeds."""
    rows = [row for row in published("mixtures_simulation.csv") if row["file"] == f"sim_{name}"]
    assert len(rows) == 10
    scores = []
    for row in rows:
        predicted = glm.solve(model_of(name, float(row["sample_complexity"])))
        measured = Estimate(float(row["test_error"]), float(row["test_error_std"]) / math.sqrt(9), 10)
        scores.append((measured.mean - predicted.test_error) / measured.stderr)
    assert math.sqrt(np.mean(np.square(scores))) < 2
    assert np.max(np.abs(scores)) < 5
