"""Writes the page beside each figure: its caption with the numbers of the run, what its table says, and its sources."""

import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from figures.core.experiment import Curve, Experiment, Panel
from figures.core.report import summary
from figures.core.rows import RUN
from figures.core.scores import COVERAGE

SENTENCES = re.compile(r"(?<=[.?!]) (?=[A-Z(])")  # what stands between two sentences
HIDDEN = 0.01  # of the span of a panel: replicates that are nearer to their mean lie under its marker
REPLICATES_IN_CODE = re.compile(r"\bcontext\.replicates\((\d+)\)")  # as written in the file of an experiment


def caption_of(experiment: Experiment, rows: pd.DataFrame) -> str:
    """Return the caption of the experiment for this table, and a sentence on the replicates behind it.

    {sizes} and {replicates} in the declared caption stand for the sizes that were simulated, all but the extrapolated
    one, and for the numbers of replicates of a point, which depend on the quality of the run.
    """
    measured = rows[rows["replicates"].notna() & rows["stderr"].notna()]
    sizes = listed(measured.loc[np.isfinite(measured["size"]), "size"])
    replicates = listed(measured["replicates"])
    text = experiment.caption.replace("{sizes}", sizes).replace("{replicates}", replicates)
    if measured.empty or not experiment.bars:
        return text
    places = ["panel", "curve", "x", "size"]
    runs = pd.MultiIndex.from_frame(rows.loc[rows["kind"] == RUN, places])
    few = pd.MultiIndex.from_frame(measured[places]).isin(runs)
    said = []
    if not few.all():
        either = listed(measured.loc[~few, "replicates"], "or")
        said.append(
            f"Bars have a coverage of {100 * COVERAGE:.0f} % by {_law(experiment)} for independent replicates, of "
            f"which each marker has {either}."
        )
    if few.any():
        either = listed(measured.loc[few, "replicates"], "or")
        said.append(_on_single_replicates(experiment, rows, either))
    return " ".join([text, *said]).lstrip()


def _on_single_replicates(experiment: Experiment, rows: pd.DataFrame, number: str) -> str:
    """Say as what the replicates of markers with `number` of them are drawn: runs as lines, others as dots.

    Dots that all lie within the marker of their mean are not to be seen, and are not spoken of as if they were.
    """
    single = rows[rows["kind"] == RUN]
    dots = single[single["group"] == ""]
    drawn = ["thin lines"] if len(dots) < len(single) else []
    if _seen(experiment, rows, dots):
        drawn.append("small dots")
    if not drawn:
        return f"Each of these markers is the mean of {number} replicates, which lie within it."
    return f"{' and '.join(drawn).capitalize()} are single replicates, of which a marker has {number}."


def _seen(experiment: Experiment, rows: pd.DataFrame, dots: pd.DataFrame) -> bool:
    """Return whether any dot is farther from the mean of its marker than HIDDEN of what its panel spans."""
    for panel in experiment.resolved_panels():
        here = dots[dots["panel"] == panel.title]
        if here.empty:
            continue
        numbers = rows.loc[rows["panel"] == panel.title, ["theory", "simulation"]]
        shown = numbers.where(numbers > 0).map(np.log) if panel.yscale == "log" else numbers  # which shows no zeros
        span = shown.max().max() - shown.min().min()
        height = shown.loc[here.index, "simulation"]
        mean = height.groupby([here[name] for name in ("curve", "x", "size")]).transform("mean")
        if ((height - mean).abs() > HIDDEN * span).any():
            return True
    return False


def _law(experiment: Experiment) -> str:
    """Return the law by which bars are drawn, where shares of successes have another one than means."""
    curves = [curve for panel in experiment.resolved_panels() for _, curve in panel.resolved_curves()]
    shares = any(curve.average == "share" for curve in curves)
    return "Student's law (shares: by Wilson's interval)" if shares else "Student's law"


def finding_first(caption: str) -> str:
    """Return a caption with its first sentence, which says what the figure shows, in bold letters of markdown.

    >>> finding_first("The peak is finite. Lines are theory.")
    '**The peak is finite.** Lines are theory.'
    """
    first, *rest = SENTENCES.split(caption, maxsplit=1)
    return " ".join([f"**{first}**", *rest]) if first else caption


def declared_caption(experiment: Experiment, source: str = "") -> str:
    """Return the caption without a run, with the numbers that the declaration fixes for the default quality.

    Where an experiment computes its rows itself, the number of replicates is the N of `context.replicates(N)` in the
    text of its file, which is the `source`.
    """
    asked = {float(number) for number in REPLICATES_IN_CODE.findall(source)}
    panels = experiment.resolved_panels()
    curves = [curve for panel in panels for _, curve in panel.resolved_curves()]
    both: list[Panel | Curve] = [*panels, *curves]
    sizes = {size for one in both for size in _sizes(one)}
    replicates = asked or {one.replicates for one in both if one.replicates is not None}
    return experiment.caption.replace("{sizes}", listed(sizes)).replace("{replicates}", listed(replicates))


def _sizes(declared: Panel | Curve) -> tuple[int, ...]:
    if not isinstance(declared.d, int):
        return declared.d or ()
    return (declared.d, 2 * declared.d) if declared.extrapolate else (declared.d,)


def page_of(experiment: Experiment, rows: pd.DataFrame, source: Path, quality: str) -> str:
    """Return the page in markdown, which names the figure by the file `source` that declares it."""
    name = source.stem
    file = f"figures/{source.parent.name}/{source.name}"
    facts = [
        f"Table: {name}.csv. {summary(rows, experiment)}.",
        f"Declared in {file}; made by {command(name)} (quality: {quality}).",
        *(f"Published counterpart: {figure}. {sentence}" for figure, sentence in experiment.papers.items()),
    ]
    listed = "\n".join(f"- {fact}" for fact in facts)
    return (
        f"# {experiment.title}\n\n![{name}]({name}.png)\n\n{finding_first(caption_of(experiment, rows))}\n\n{listed}\n"
    )


def command(name: str) -> str:
    """Return the command that makes the figure."""
    return f"make figures/output/{name}.pdf"


def listed(values: Iterable[float], last: str = "and") -> str:
    """Return the different numbers in words, as "20, 40 and 80" or, with `last` "or", "20, 40 or 80"."""
    numbers = [f"{value:g}" for value in sorted(set(values))]
    if len(numbers) > 4:
        return f"{numbers[0]} to {numbers[-1]}"
    return f" {last} ".join(part for part in (", ".join(numbers[:-1]), *numbers[-1:]) if part)
