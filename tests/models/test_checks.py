"""What counts as a number, a size and an array, in every argument alike; and records where records are wanted."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from simulate.masked import fit, sample
from theory import masked, random_matrix
from theory.core import checks
from theory.models import AR1, Diagonal, Empirical, Isotropic, MaskedRidge, Spiked

COVARIANCE = AR1(4, 0.5)


@pytest.mark.parametrize("value", [0.5, np.float32(0.5), np.array(0.5), np.array(1), Fraction(1, 2), 10**20])
def test_numbers(value):
    assert checks.real("x", value) == float(value)


@pytest.mark.parametrize(
    "value", ["0.5", True, np.True_, 0.5j, np.complex128(0.5), [0.5], np.array([0.5]), None, 10**400]
)
def test_what_is_no_number(value):
    with pytest.raises(ValueError, match="x must be a real number, got"):
        checks.real("x", value)


@pytest.mark.parametrize("value", [3, 3.0, np.int64(3), np.float32(3), np.array(3), np.array(3.0)])
def test_sizes(value):
    size = checks.dimension(value)
    assert size == 3
    assert type(size) is int
    assert checks.dimension(np.array(np.inf), infinite=True) == np.inf


@pytest.mark.parametrize("value", ["3", True, np.True_, np.array(True), 3j, np.array([3]), None, np.nan])
def test_what_is_no_size(value):
    with pytest.raises(ValueError, match="d must be an integer, got"):
        checks.dimension(value)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Empirical(np.array([[1, 0.5j], [-0.5j, 1]])), "matrix"),
        (lambda: Diagonal([1.0, 1 + 1j]), "variances"),
        (lambda: Diagonal([True, True]), "variances"),
        (lambda: Diagonal(["1.0", "2.0"]), "variances"),
        (lambda: Spiked(COVARIANCE, np.array([1j, 0, 0, 0]), 1.0), "directions"),
        (lambda: Spiked(COVARIANCE, np.eye(4)[0], 1 + 1j), "strengths"),
        (lambda: masked.learning_curve(COVARIANCE, [1 + 1j], [0.1]), "alphas"),
        (lambda: masked.learning_curve(COVARIANCE, [1.0], [0.1j]), "lams"),
    ],
)
def test_complex_truth_and_text_are_no_real_arrays(make, name):
    with pytest.raises(ValueError, match=f"{name} must be an array of real numbers, got (dtype|complex)"):
        make()


def test_hidden_cells_are_not_data():
    with pytest.raises(ValueError, match="X must have no masked entries, got 1 of them"):
        Empirical.from_data(np.ma.masked_array(np.eye(3), mask=np.eye(3, k=1) * [0, 1, 0]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: masked.solve(COVARIANCE),
            r"model must be a record of theory.models \(MaskedRidge, .* or MissingEntries\), got AR1",
        ),
        (lambda: masked.predictor(COVARIANCE), "model must be a record"),
        (lambda: masked.replica(COVARIANCE), "model must be a record"),
        (lambda: masked.teacher_student(COVARIANCE), r"model must be .* \(TeacherStudent\), got AR1"),
        (
            lambda: masked.ridgeless(np.eye(3), 0.5),
            r"covariance must be .* \(Covariance or MaskedRegression\), got an array of shape",
        ),
        (lambda: masked.peak_height(np.eye(3), 0.5), "covariance must be a record"),
        (lambda: masked.optimal_ridge(np.eye(3), 0.5), "covariance must be a record"),
        (lambda: masked.learning_curve(np.eye(3), [0.5], [0.1]), "covariance must be a record"),
        (lambda: masked.conditional_variances(np.eye(3)), "covariance must be a record"),
        (lambda: random_matrix.effective_ridge(np.eye(3), 1.0, 0.1), "covariance must be a record"),
        (lambda: random_matrix.degrees_of_freedom(np.eye(3), 0.1), "covariance must be a record"),
        (lambda: sample(np.eye(3), 5, np.random.default_rng(0)), "covariance must be a record"),
        (lambda: sample(COVARIANCE, 5, 0), "rng must be a Generator as from numpy.random.default_rng.*got int"),
        (lambda: masked.replica(MaskedRidge(COVARIANCE, 1.0, 0.1), coordinate=1.5), "coordinate must be an integer"),
        (lambda: masked.replica(MaskedRidge(Isotropic(3), 1.0, 0.1), coordinate="1"), "coordinate must be an integer"),
    ],
)
def test_records_and_coordinates_are_checked_at_the_door(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_arrays_with_none_are_no_numbers():
    """Numpy would make NaN of it."""
    for wrong in (None, [None], [1.0, None]):
        with pytest.raises(ValueError, match="x must be an array of real numbers"):
            checks.real_array("x", wrong)


class Hostile:
    """Has no number, and may not even be compared."""

    def __eq__(self, other):
        raise RuntimeError("no")

    def __repr__(self):
        return "hostile"


def cells(*entries):
    array = np.empty((1, len(entries)), dtype=object)
    array[0] = [*entries]
    return array


@pytest.mark.parametrize(
    ("check", "given", "got"),
    [
        (checks.real_array, cells(1.0, None), r"None at index \(0, 1\): fill or drop it, then .astype\(float\) makes"),
        (checks.real_array, cells(math.nan, pd.NA), r"<NA> at index \(0, 1\): fill or drop it, then"),
        (
            checks.real_array,
            cells(1.0, Hostile()),
            r"hostile at index \(0, 1\): replace it, then .astype\(float\) makes",
        ),
        (checks.real_array, cells(1.0, np.ones(1)), r"array\(\[1.\]\) at index \(0, 1\): replace it"),
        (checks.real_array, cells(1.0, 1j), r"1j at index \(0, 1\): replace it"),
        (checks.real_array, cells(1.0, "x"), r"'x' at index \(0, 1\): text that holds numbers becomes numbers by"),
        (checks.integer_array, cells(1, math.nan), r"nan at index \(0, 1\): fill or drop it, then .astype\(int\)"),
        (checks.integer_array, cells(1, 1.5), r"1.5 at index \(0, 1\): replace it, then .astype\(int\) makes integers"),
        (checks.integer_array, cells(1, True), r"True at index \(0, 1\): replace it"),
        (checks.integer_array, cells(1, "A"), r"'A' at index \(0, 1\): letters become integers by"),
        (
            checks.bool_array,
            cells(True, 1),
            r"1 at index \(0, 1\): replace it, then .astype\(bool\) makes truth values",
        ),
        (lambda name, value: checks.colors(name, value, 3), cells(1, None), r"None at index \(0, 1\): fill or drop it"),
        (fit, cells(1.0, None), r"None at index \(0, 1\): fill or drop it, then .astype\(float\) makes"),
    ],
)
def test_arrays_of_objects_are_refused_with_the_first_stranger_and_a_cure(check, given, got):
    with pytest.raises(ValueError, match=rf"^X must .*, got dtype object with {got}"):
        check(*(("X", given) if check is not fit else (given, 0.1)))


def test_objects_that_are_what_is_wanted_are_converted_or_refused_with_what_converts_them():
    numbers = cells(1, 2.0, Fraction(1, 2), True)
    assert checks.real_array("X", numbers).tolist() == [[1.0, 2.0, 0.5, 1.0]]
    for check, given, kind, entries in (
        (checks.integer_array, cells(1, np.int8(2), 3.0), int, "integers"),
        (checks.bool_array, cells(True, np.False_), bool, "truth values"),
        (checks.integer_array, cells(), int, "integers"),
    ):
        cure = rf"got dtype object: .astype\({kind.__name__}\) makes {entries} of the array$"
        with pytest.raises(ValueError, match=f"X must be an array of {entries}, {cure}"):
            check("X", given)
        assert check("X", given.astype(kind)).shape == given.shape


def test_the_last_axis_is_told():
    assert checks.last_axis("x", [[1, 2]], 2).tolist() == [[1.0, 2.0]]
    for wrong, message in (
        (1.0, r"x must have shape \(..., 2\), got \(\)"),
        ([1.0, np.inf], "x must be finite, got inf"),
    ):
        with pytest.raises(ValueError, match=message):
            checks.last_axis("x", wrong, 2)
    assert np.isinf(checks.last_axis("x", [1.0, np.inf], 2, finite=False)[1])


def test_a_shape_is_told_with_where_it_comes_from():
    array = np.zeros((2, 3))
    assert checks.shaped("x", array, (2, 3)) is array
    with pytest.raises(ValueError, match=r"x must have shape \(3,\), as columns of y, got \(2, 3\)"):
        checks.shaped("x", array, (3,), ", as columns of y")
