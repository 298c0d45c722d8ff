"""Draws the scores of all substitutions as two maps, of the pair model and of sites alone."""

import numpy as np

from figures.analyse.sequences.mutations.scores import Mutations
from figures.core import Axes, DataFrame, Experiment, Panel, Row, row

PAIR, SITE = "pair model", "sites alone"
PALEST_PERCENTILE = 95  # percentile of the sizes of the scores: a few extreme ones would leave the rest white
LETTERS_BY_KIND = "GAVLIMCFYWPSTNQHKRDE"  # amino acids that resemble each other stand side by side


def mutation_rows(mutations: Mutations) -> list[Row]:
    """Return a row for each substitution and model: the curve is the mutant letter, x the number of the residue."""
    both = ((PAIR, mutations.pair_scores), (SITE, mutations.site_scores))
    return [
        row(letter, int(number), panel=title, measured=float(score))
        for title, scores in both
        for letter, number, score in zip(mutations.mutants, mutations.numbers, scores, strict=True)
    ]


def mutation_experiment(title: str) -> Experiment:
    """Describe the two maps of `mutation_rows`."""
    panels = tuple(Panel(title=each, xlabel="residue", ylabel="mutant letter") for each in (PAIR, SITE))
    return Experiment(title=title, panels=panels, draw=_draw)


def _draw(axes: Axes, rows: DataFrame) -> None:
    """Draw one map: blue is likelier than the reference and red less likely; its own letters are gray."""
    title, labels = axes.get_title(), (axes.get_xlabel(), axes.get_ylabel())
    letters = _ordered(set(rows["curve"]))
    numbers = np.arange(int(rows["x"].min()), int(rows["x"].max()) + 1)
    scores = np.full((len(letters), len(numbers)), np.nan)
    places = {letter: k for k, letter in enumerate(letters)}
    rows_of = rows["curve"].map(places).to_numpy(dtype=int)
    scores[rows_of, rows["x"].to_numpy(dtype=int) - numbers[0]] = rows["simulation"].to_numpy(dtype=float)
    top = max(float(np.nanpercentile(abs(scores), PALEST_PERCENTILE)), 1e-12)
    axes.clear()
    axes.set_facecolor("0.75")
    extent = (numbers[0] - 0.5, numbers[-1] + 0.5, len(letters) - 0.5, -0.5)
    image = axes.imshow(scores, cmap="RdBu", vmin=-top, vmax=top, extent=extent, aspect="auto", interpolation="nearest")
    axes.set_yticks(range(len(letters)), letters, fontsize=6)
    axes.set(title=title, xlabel=labels[0], ylabel=labels[1])
    axes.grid(visible=False)
    axes.figure.colorbar(image, cax=axes.inset_axes((1.02, 0.0, 0.03, 1.0)), extend="both", label="score")


def _ordered(letters: set[str]) -> list[str]:
    """Return the letters, those of proteins by their kind."""
    return sorted(
        letters, key=lambda letter: (LETTERS_BY_KIND.find(letter) if letters <= set(LETTERS_BY_KIND) else 0, letter)
    )
