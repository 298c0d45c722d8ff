"""The strongest pairs of sites are compared with those that are known to interact."""

from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from figures.analyse.sequences.table import RANKED, noise_rows, ranked_rows
from figures.core import row
from figures.potts.known_pairs import CHANCE, FOUND, KNOWN, draw_known, known_rows, read_structure
from figures.potts.rna_family import STRUCTURE

COMPLEMENTARY = {"AU", "UA", "GC", "CG", "GU", "UG"}


def test_the_structure_of_the_riboswitch_pairs_complementary_letters():
    paired = read_structure(STRUCTURE, np.arange(1, 108))
    pairs = np.argwhere(np.triu(paired))
    letters = STRUCTURE.read_text(encoding="utf-8").split()[-2]
    assert len(letters) == len(paired) == 107
    assert len(pairs) == 27
    assert (paired == paired.T).all()
    assert paired.sum(axis=1).max() == 1

    def complementary(shift):
        return sum(letters[i] + letters[j - shift] in COMPLEMENTARY for i, j in pairs)

    assert complementary(0) >= 25
    assert complementary(1) < 15  # a structure at the wrong columns would show


def test_a_structure_is_read_at_the_columns_that_are_asked_for(tmp_path):
    file = tmp_path / "structure.txt"
    file.write_text("# a hairpin\nGGAAACC\n((...))\n", encoding="utf-8")
    columns = np.array([1, 2, 4, 7])
    expected = np.zeros((4, 4), dtype=bool)
    expected[0, 3] = expected[3, 0] = True  # columns 2 and 6 are paired, but 6 is not asked for
    np.testing.assert_array_equal(read_structure(file, columns), expected)
    with pytest.raises(ValueError, match=r"columns must be at most 7, the length of structure\.txt, got 8"):
        read_structure(file, np.array([1, 8]))


def test_precision_is_the_share_of_known_pairs_among_the_strongest_that_are_far_enough_apart():
    scores, known = np.zeros((5, 5)), np.zeros((5, 5), dtype=bool)
    for (i, j), score in {(0, 1): 9, (0, 2): 5, (1, 4): 4, (0, 4): 3, (2, 4): 2}.items():
        scores[i, j] = scores[j, i] = score
    for i, j in [(0, 2), (0, 4), (0, 1)]:
        known[i, j] = known[j, i] = True
    rows = known_rows(SimpleNamespace(n_sites=5, scores=scores), known, apart=2)
    assert [(r["x"], r["theory"]) for r in rows if r["curve"] == KNOWN] == [(1, 2), (1, 3), (1, 5)]
    found = [(r["x"], r["simulation"]) for r in rows if r["curve"] == FOUND]
    assert found == [(1, 1.0), (2, 0.5), (3, pytest.approx(2 / 3)), (4, 0.5)]  # the pair of neighbors is not ranked
    assert {r["theory"] for r in rows if r["curve"] == CHANCE} == {2 / 6}
    assert not any(
        r["panel"] == "precision" for r in known_rows(SimpleNamespace(n_sites=5, scores=scores), known[:] & 0)
    )


def test_pairs_are_apart_along_the_chain_and_sites_that_are_not_in_it_are_not_ranked():
    scores, known = np.zeros((5, 5)), np.zeros((5, 5), dtype=bool)
    for (i, j), score in {(0, 1): 9, (0, 2): 8, (1, 3): 7, (0, 4): 6, (1, 4): 5, (3, 4): 4}.items():
        scores[i, j] = scores[j, i] = score
    for i, j in [(0, 4), (0, 2)]:
        known[i, j] = known[j, i] = True
    numbers = np.array([1, 2, 0, 3, 4])  # the chain has a gap at the third site
    rows = known_rows(SimpleNamespace(n_sites=5, scores=scores), known, apart=2, numbers=numbers, listed=(1, 2, 9))
    found = [(r["x"], r["simulation"]) for r in rows if r["curve"] == FOUND]
    assert found == [(1, 1.0), (2, 0.5)]  # of (0, 4), (1, 4), (0, 3): the stronger (1, 3) are neighbors in the chain
    assert [r["x"] for r in rows if r["curve"] == f"_{FOUND}"] == [1, 2]
    assert {r["theory"] for r in rows if r["curve"] == CHANCE} == {1 / 3}


def test_among_the_strongest_pairs_those_that_are_known_are_filled_in_the_panel_and_in_the_list():
    ranked = ranked_rows(["3-9", "1-5", "2-7"], [3.0, 2.0, 1.0], 9)
    known = [row(KNOWN, rank, panel=RANKED, measured=score, d=9) for rank, score in ((1, 3.0), (3, 1.0))]
    figure, axes = plt.subplots()
    draw_known(axes, pd.DataFrame([*ranked, *noise_rows(0.5, 3), *known]), "contacts")
    (text,) = axes.texts
    pairs = [pair.replace("-", "\N{EN DASH}") for pair in ("3-9", "1-5", "2-7")]
    assert text.get_text().split("\n") == [
        "filled: contacts",
        "the strongest:",
        *(f"{pair} {mark}" for pair, mark in zip(pairs, "●○●", strict=True)),
    ]
    filled = axes.lines[-1]
    assert filled.get_xydata().tolist() == [[1, 3.0], [3, 1.0]]
    assert filled.get_markerfacecolor() == axes.lines[0].get_color()
    assert axes.lines[0].get_markerfacecolor() == "white"
    plt.close(figure)
