"""Copies of rows, names of rows, all faults at once, loadings and scores, Matrix Market files, and counts."""

import numpy as np
import pytest
from scipy.io import mmwrite
from scipy.sparse import coo_array

from figures.analyse.errors import DataError
from figures.analyse.matrix import admitted, analyse_matrix, matrix_spectrum, report
from figures.analyse.matrix.copies import find_copies
from figures.analyse.matrix.counts import counts_notes
from figures.analyse.matrix.spectrum import directions_of
from figures.analyse.reading.matrix import read_matrix, table_shape
from simulate.core import stream


def noise(n=80, d=6):
    return stream(0, "noise").standard_normal((n, d))


def test_noise_beside_its_copy_explains_nothing():
    once = analyse_matrix(noise(), repeats=4)
    copied = analyse_matrix(np.vstack([noise(), noise().round(3)]), repeats=4)
    assert copied.n == 80
    assert copied.explained.mean() == pytest.approx(once.explained.mean(), rel=1e-9)
    together = analyse_matrix(np.vstack([noise(), noise()]), repeats=4, copies="together")
    assert together.n == 160
    assert together.column_error.mean() == pytest.approx(once.column_error.mean(), rel=0.03)
    assert "80 rows are copies of other ones" in " ".join(report(copied, "").split())


@pytest.mark.parametrize("digits", [1, 2, 4])
def test_rounded_rows_are_copies_and_answers_to_questions_are_not(digits):
    X = noise(120, 8)
    found = find_copies(np.vstack([X, X[:30].round(digits)]))
    np.testing.assert_array_equal(found.copies, np.arange(120, 150))
    np.testing.assert_array_equal(found.of[120:], np.arange(30))
    assert not len(find_copies(stream(0, "answers").integers(0, 3, (300, 5)).astype(float)).copies)
    counts = stream(0, "counts").poisson(9.0, (60, 20)).astype(float)
    assert len(find_copies(np.vstack([counts, counts[:4]])).copies) == 4


def test_scores_times_loadings_are_the_rows():
    X = noise() * np.arange(1, 7) + 5
    found = directions_of(matrix_spectrum(X, [f"x{k}" for k in range(6)], 0.3), admitted(X), count=6)
    for method in range(3):
        own = slice(6 * method, 6 * method + 6)
        np.testing.assert_allclose(found.scores[:, own] @ found.loadings[:, own].T, X - X.mean(axis=0), atol=1e-8)
    assert (found.loadings.max(axis=0) == abs(found.loadings).max(axis=0)).all()


def test_names_and_all_faults_are_read(write):
    text = "who,a,b\n" + "".join(f"p{k},{k * k},{k}.5\n" for k in range(5))
    matrix = read_matrix(write("t.csv", text))
    assert matrix.row_names == ("p0", "p1", "p2", "p3", "p4")
    assert matrix.names == ("a", "b")
    with pytest.raises(DataError, match=r"has 2 faults: \(1\) row 2, column 2 .*\(2\) row 4 has 2 cells"):
        read_matrix(write("u.csv", text.replace("p0,0", "p0,x").replace("p2,4,2.5", "p2,4")))


def test_matrix_market_round_trip(tmp_path):
    X = stream(0, "counts").poisson(0.7, (30, 5)).astype(float)
    mmwrite(tmp_path / "x.mtx", coo_array(X))
    np.testing.assert_array_equal(read_matrix(tmp_path / "x.mtx").data.all_rows(), X)
    assert table_shape(tmp_path / "x.mtx", columns="2-3").columns == 2
    (tmp_path / "s.mtx").write_text("%%MatrixMarket matrix coordinate real symmetric\n3 3 1\n1 1 5\n")
    with pytest.raises(DataError, match="symmetric matrix"):
        read_matrix(tmp_path / "s.mtx")


def test_counts_are_remarked():
    X = stream(0, "counts").poisson(np.exp(np.arange(6) / 2 - 1), (90, 6)).astype(float)
    assert "are zeros, as counts are" in counts_notes(admitted(X))[0]
    assert not counts_notes(admitted(noise()))
