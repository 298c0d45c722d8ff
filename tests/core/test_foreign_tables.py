"""Tables of pandas and polars, sparse matrices and text: what is taken as numbers, and the cure of what is not."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from simulate.masked import fit, fit_path, impute, population_covariance
from simulate.potts import pseudo_likelihood
from theory.core import checks, foreign

ROWS = np.random.default_rng(0).standard_normal((30, 3))
TABLE = pd.DataFrame(ROWS, columns=["age", "weight", "x"])
WHOLE = TABLE.mul(10).round().astype("Int64")
LETTERS = r"figures\.analyse\.read_alignment\(file\)\.sequences"


@pytest.mark.parametrize(
    "table",
    [
        TABLE,
        WHOLE,
        WHOLE.astype("Float64"),
        WHOLE.astype(object),
        TABLE.assign(weight=WHOLE["weight"]),
        TABLE.assign(age=pd.array([True, False] * 15, dtype="boolean")),
        TABLE.assign(age=[True, False] * 15),
        TABLE.astype(pd.SparseDtype(float)),
        TABLE.set_axis(["a", "a", "b"], axis=1),
    ],
)
def test_numbers_of_every_type_are_taken(table: pd.DataFrame) -> None:
    rows = np.column_stack([np.array(list(table.iloc[:, k]), dtype=float) for k in range(3)])
    for function in (lambda X: fit(X, 0.1).train_error, lambda X: fit_path(X, [0.1]).train_error):
        assert np.array_equal(function(table), function(rows))
    assert np.array_equal(population_covariance(table).matrix, population_covariance(rows).matrix)
    assert np.array_equal(checks.finite_array("X", table, 2), rows)


def test_colors_in_a_table_are_colors() -> None:
    states = np.random.default_rng(1).integers(3, size=(40, 3))
    for dtype in ("int64", "Int64", "UInt8", object):
        table = pd.DataFrame(states).astype(dtype)
        assert np.array_equal(checks.colors("states", table, 3), states)
        assert np.array_equal(pseudo_likelihood(table, 3).fields, pseudo_likelihood(states, 3).fields)
    assert checks.integer_array("sites", pd.array([1, 2], dtype="Int64")).tolist() == [1, 2]
    assert checks.real_array("y", pd.Series([1, 2], dtype="Int64")).tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("column", "what", "cure"),
    [
        (["m", "f"] * 15, "text", r"pandas.to_numeric\(X\['sex'\]\).*get_dummies\(X, columns=\['sex'\]"),
        (pd.Categorical(["m", "f"] * 15), "categories", r"get_dummies\(X, columns=\['sex'\].*X\['sex'\].cat.codes"),
        (pd.date_range("2020", periods=30), "dates", r"\(X\['sex'\] - X\['sex'\].min\(\)\).dt.total_seconds\(\)"),
        (pd.date_range("2020", periods=30, tz="UTC"), "dates", "total_seconds"),
        (pd.to_timedelta(range(30), unit="D"), "durations", r"X\['sex'\].dt.total_seconds\(\)"),
        (pd.period_range("2020", periods=30, freq="D"), r"the type period\[D\]", "leave it out"),
        (pd.array([1, None] * 15, dtype="Int64"), "15 missing entries of the type Int64", r"X\['sex'\].fillna"),
        (pd.array([True, None] * 15, dtype="boolean"), "15 missing entries of the type boolean", "impute"),
    ],
)
def test_what_is_no_number_is_refused_with_its_column_and_its_cure(column: object, what: str, cure: str) -> None:
    table = TABLE.assign(sex=column)
    for function in (lambda X: fit(X, 0.1), lambda X: fit_path(X, [0.1]), lambda X: checks.finite_array("X", X, 2)):
        with pytest.raises(ValueError, match=f"^X must hold real numbers, got {what} in column 'sex': .*{cure}"):
            function(table)


def test_cures_that_messages_name_work() -> None:
    table = TABLE.assign(sex=["m", "f"] * 15, day=pd.date_range("2020", periods=30))
    table["kind"] = table["sex"].astype("category")
    table["kind"] = table["kind"].cat.codes
    table["day"] = (table["day"] - table["day"].min()).dt.total_seconds()
    assert fit(pd.get_dummies(table, columns=["sex"], dtype=float), 0.1).d == 7
    durations = table.assign(day=pd.to_timedelta(range(30), unit="D")).drop(columns="sex")
    durations["day"] = durations["day"].dt.total_seconds()
    assert fit(durations, 0.1).d == 5


def test_all_columns_that_are_no_numbers_are_named() -> None:
    table = TABLE.assign(sex=["m", "f"] * 15, day=pd.date_range("2020", periods=30))
    with pytest.raises(ValueError, match=r"text in column 'sex'.*; so it is with 1 more: 'day'$"):
        fit(table, 0.1)
    with pytest.raises(ValueError, match=r"so it is with 7 more: 'b', 'c', 'd', 'e', 'f' \.\.\.$"):
        fit(pd.DataFrame({name: ["x"] for name in "abcdefgh"}), 0.1)


def test_missing_entries_are_holes_where_holes_are_allowed() -> None:
    with_holes, of_pandas = TABLE.copy(), WHOLE.copy().astype("Float64")
    with_holes.loc[:] = WHOLE.astype(float).to_numpy()
    with_holes.iloc[2, 1] = np.nan
    of_pandas.iloc[2, 1] = pd.NA
    assert np.array_equal(impute(of_pandas).table, impute(with_holes.to_numpy()).table)
    with pytest.raises(ValueError, match=r"X must hold real numbers, got text in column 'sex'"):
        impute(TABLE.assign(sex="m"))


def test_a_number_that_is_not_finite_is_told_with_the_name_of_its_column() -> None:
    table = TABLE.copy()
    table.iloc[4, 1] = np.nan
    with pytest.raises(ValueError, match=r"X must be finite, got nan at row 4, column 1 \('weight'\)$"):
        fit(table, 0.1)
    with pytest.raises(ValueError, match=r"X must be finite, got nan at index \(4, 1\) \('weight'\)$"):
        checks.finite_array("X", table, 2)
    with pytest.raises(ValueError, match=r"got inf at row 4, column 1 \('weight'\)$"):
        impute(table.replace(np.nan, np.inf))
    with pytest.raises(ValueError, match=r"got nan at row 4, column 1$"):
        fit(table.to_numpy(), 0.1)


@pytest.mark.parametrize("sparse", [sp.csr_array(ROWS), sp.csc_matrix(ROWS), sp.coo_array(ROWS)])
def test_sparse_matrices_are_refused_with_the_size_of_a_dense_one(sparse: object) -> None:
    for function in (lambda X: fit(X, 0.1), lambda X: fit_path(X, [0.1]), impute, lambda X: checks.real_array("X", X)):
        with pytest.raises(ValueError, match=r"X must be a dense array of real numbers, got a sparse .*\.toarray\(\)"):
            function(sparse)
    with pytest.raises(ValueError, match="states must be a dense array of integers, got a sparse"):
        pseudo_likelihood(sparse, 3)


@pytest.mark.parametrize(
    "text", [["ACD", "AAC"], [list("ACD"), list("AAC")], np.array([["A", "C"]], dtype=object), pd.DataFrame([["A"]])]
)
def test_letters_are_refused_with_what_makes_integers_of_them(text: object) -> None:
    with pytest.raises(ValueError, match=f"^states must (be|hold) integers.*: letters become integers by {LETTERS}"):
        pseudo_likelihood(text, 3)


def test_text_as_numbers_is_refused_with_both_cures() -> None:
    for function in (lambda X: fit(X, 0.1), impute, lambda X: checks.real_array("X", X)):
        with pytest.raises(ValueError, match=r"got dtype <U3: text that holds numbers .*\.astype\(float\); letters"):
            function([["1.5", "2.5"], ["1.0", "0.5"]])


def test_what_is_no_table_passes_as_it_is() -> None:
    for value in (ROWS, [1, 2], 3.0, "text", None, object()):
        assert foreign.plain("X", value, "real numbers") is value
    assert foreign.labelled(ROWS, 0) == ""
    assert foreign.labelled(TABLE, 7) == ""


def test_tables_of_polars() -> None:
    pl = pytest.importorskip("polars")
    table = pl.DataFrame(ROWS, schema=["age", "weight", "x"])
    mixed = table.with_columns(pl.Series("b", [True, False] * 15), pl.Series("n", range(30)))
    assert np.array_equal(fit(table, 0.1).train_error, fit(ROWS, 0.1).train_error)
    assert fit(mixed, 0.1).d == 5
    states = np.random.default_rng(1).integers(3, size=(40, 3))
    assert np.array_equal(checks.colors("states", pl.DataFrame(states), 3), states)
    day = pl.Series("day", pd.date_range("2020", periods=30).to_numpy())
    for column, what, cure in (
        (pl.lit("m"), "text", r"X.to_dummies\('sex'\).*X\['sex'\].cast\(float\)"),
        (pl.lit("m").cast(pl.Categorical), "categories", "to_dummies"),
        (day, "dates", r"X\['sex'\].dt.epoch\('s'\)"),
        (day - day.min(), "durations", r"X\['sex'\].dt.total_seconds\(\)"),
        (pl.Series([1, None] * 15), "15 missing entries of the type Int64", r"X\['sex'\].fill_null"),
        (pl.Series([[1]] * 30), "the type List", "leave it out"),
    ):
        with pytest.raises(ValueError, match=f"X must hold real numbers, got {what} in column 'sex': .*{cure}"):
            fit(table.with_columns(column.alias("sex")), 0.1)
    assert fit(table.with_columns(day.dt.epoch("s")), 0.1).d == 4
    holed = ROWS.copy()
    holed[2, 1] = np.nan
    missing = pl.DataFrame(holed, schema=["age", "weight", "x"]).fill_nan(None)
    assert np.array_equal(impute(missing).table, impute(holed).table)
    with pytest.raises(ValueError, match=r"got a polars LazyFrame: \.collect\(\) makes one of it"):
        fit(table.lazy(), 0.1)
