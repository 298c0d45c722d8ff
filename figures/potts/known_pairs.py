"""Compares the strongest pairs of sites with the pairs that are known to interact, in the map and by precision."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from figures.analyse.sequences import SequenceAnalysis, decorate
from figures.analyse.sequences.table import MAP, NOISE, RANKED
from figures.core import Axes, Curve, DataFrame, Panel, Row, row
from figures.core.names import write_name

MANY = 100  # known pairs: circles around more are drawn small
SMALL, ROOM = 3.0, 7.0  # size of markers among the strongest pairs, and how much longer than these the axis is
KNOWN_COLOR = "C3"  # the first that has no other meaning in a figure of sequences
PRECISION, FOUND, CHANCE, KNOWN = "precision", "among the strongest", "by chance", "known"


def precision_panel() -> Panel:
    """Describe the axes of the shares of known pairs, in black, since its curves stand in no other panel."""
    curves = {
        FOUND: Curve(model=None, color=6, style="-"),
        f"_{FOUND}": Curve(model=None, color=6, marker="s"),
        CHANCE: Curve(model=None, color=6, style=":"),
    }
    return Panel(title=PRECISION, curves=curves, xlabel="strongest pairs", ylabel="share of known pairs")


def known_rows(
    analysis: SequenceAnalysis,
    known: NDArray[np.bool_],
    *,
    apart: int = 1,
    numbers: NDArray[np.int64] | None = None,
    listed: Sequence[int] = (),
) -> list[Row]:
    """Return the circles of the map and the precision, for a symmetric matrix (L, L) of the pairs that are known.

    The precision is the share of known pairs among the n strongest ones of those that are at least `apart` apart along
    the chain, for n up to twice the number of known pairs; beside it stands the share that chance would give. `numbers`
    (L,) are the places of the sites in the chain, 1 to L where None; a site of number 0 is not in it, and in no ranked
    pair. The table lists the precision for the n of `listed`, or for shares and multiples of the number of known pairs.
    """
    i, j = np.nonzero(np.triu(known))
    circles = [
        row(KNOWN, a + 1, panel=MAP, theory=b + 1, d=analysis.n_sites, reference=True)
        for a, b in zip(i.tolist(), j.tolist(), strict=True)
    ]
    places = np.arange(1, analysis.n_sites + 1) if numbers is None else numbers
    in_chain = (places[:, None] > 0) & (places > 0)
    ranked = np.nonzero(np.triu(in_chain & (abs(places[:, None] - places) >= apart)))
    order = np.argsort(-analysis.scores[ranked], kind="stable")
    hits = known[ranked][order]
    n_known = int(hits.sum())
    ranks = np.arange(1, min(2 * n_known, len(hits)) + 1)
    precision = np.cumsum(hits)[: len(ranks)] / ranks
    found = [row(FOUND, n, panel=PRECISION, measured=share) for n, share in zip(ranks.tolist(), precision, strict=True)]
    chosen = {n for n in listed if n <= len(ranks)} or {n_known // 4, n_known // 2, n_known, len(ranks)}
    marks = sorted(chosen - {0})
    squares = [row(f"_{FOUND}", n, panel=PRECISION, measured=precision[n - 1], d=analysis.n_sites) for n in marks]
    chance = [row(CHANCE, n, panel=PRECISION, theory=hits.mean(), reference=True) for n in (1, len(ranks)) if marks]
    return [*circles, *found, *squares, *chance]


def known_among_strongest(analysis: SequenceAnalysis, known: NDArray[np.bool_]) -> list[Row]:
    """Return those of the strongest pairs that are known, whose markers are filled, for a matrix (L, L) of these."""
    shown = [entry for entry in analysis.rows if entry["panel"] == RANKED and entry["curve"] != NOISE]
    return [
        row(KNOWN, entry["x"], panel=RANKED, measured=entry["simulation"], d=analysis.n_sites)
        for entry, pair in zip(shown, analysis.pairs, strict=False)
        if known[pair.i, pair.j]
    ]


def draw_known(axes: Axes, rows: DataFrame, label: str) -> None:
    """Draw the shares in their panel, and mark the known pairs, called `label`, in the map and among the strongest."""
    if len(rows) and rows["panel"].iloc[0] == PRECISION:
        axes.set_ylim(0, 1.03)
        for name, said, along in ((FOUND, "among the\nstrongest", "center"), (CHANCE, CHANCE, "bottom")):
            last = rows[rows["curve"] == name].iloc[-1:]
            for x, y in zip(last["x"], last["simulation"].fillna(last["theory"]), strict=True):
                write_name(axes, said, (x, y), (6.0, 2.0 * (name == CHANCE)), along=along)  # clear of the axis
        axes.legend().remove()
        return
    is_known = rows["curve"] == KNOWN
    known = rows[is_known]
    if len(rows) and rows["panel"].iloc[0] == RANKED:
        decorate(axes, rows[~is_known])
        _fill_known(axes, known, label)
        return
    decorate(axes, rows)
    if len(known):
        size, width = (2, 0.4) if len(known) > MANY else (4, 0.6)
        ring: dict[str, Any] = {
            "color": KNOWN_COLOR,
            "markerfacecolor": "none",
            "markersize": size,
            "markeredgewidth": width,
        }
        axes.plot(known["theory"], known["x"], "o", **ring, label=label)
        axes.legend(loc="upper right")  # on circles, so that the layout moves it below: it would hide scores elsewhere


def _fill_known(axes: Axes, known: DataFrame, label: str) -> None:
    """Fill the markers of the strongest pairs that are known, also beside their names, where circles are explained."""
    (pairs, *_), (listed, *_) = axes.lines, axes.texts
    pairs.set(markersize=SMALL, markeredgewidth=0.6)
    axes.plot(known["x"], known["simulation"], "o", color=pairs.get_color(), markersize=SMALL)
    title, *names = listed.get_text().split("\n")
    ranks = set(known["x"])
    filled = ["\N{BLACK CIRCLE}" if rank in ranks else "\N{WHITE CIRCLE}" for rank in range(1, len(names) + 1)]
    marked = [f"{name} {circle}" for name, circle in zip(names, filled, strict=True)]
    listed.set_text("\n".join([f"filled: {label}", title, *marked] if names else [title]))
    last, top = np.asarray(pairs.get_xydata(), dtype=float).max(axis=0)
    axes.set_xscale("log")  # so that the first are told from each other
    axes.set_xlim(0.8, ROOM * last)  # beside them stand their names
    axes.set_ylim(0, 1.1 * top)


def read_structure(file: Path, columns: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Read base pairs from the last line of a file, in brackets, and return which of these columns are paired.

    Columns are counted from 1, and those of the alignment that the structure belongs to: ValueError for a later one.
    """
    structure = file.read_text(encoding="utf-8").split()[-1]
    if columns.max() > len(structure):
        raise ValueError(f"columns must be at most {len(structure)}, the length of {file.name}, got {columns.max()}")
    paired = np.zeros((len(structure), len(structure)), dtype=bool)
    opened: list[int] = []
    for site, bracket in enumerate(structure):
        if bracket == "(":
            opened.append(site)
        elif bracket == ")":
            partner = opened.pop()
            paired[partner, site] = paired[site, partner] = True
    return paired[np.ix_(columns - 1, columns - 1)]
