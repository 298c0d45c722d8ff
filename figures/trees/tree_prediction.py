"""A hidden word of the text of numbers is predicted from its neighbors, or from the remainder of the number itself."""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from figures.core import Axes, Context, DataFrame, Experiment, Panel, Row, row
from figures.core.names import write_name
from figures.trees.all_numbers import counts_up_to
from simulate.core import Task
from simulate.trees import TreeText, prediction_loss, read_text
from theory.models import NumberText

NUMBERS = {"draft": 10**4, "default": 10**7, "paper": 3 * 10**7}
NEIGHBORS, ORACLE, RANKS = "words around the hidden one", "oracle: $n$ modulo $M$", "frequency against rank"
BEFORE = {k: tuple(range(-1, -k - 1, -1)) for k in range(6)}
AROUND = {0: (), 2: (-1, 1), 4: (-1, 1, -2, 2)}
MODULI = (1, 2, 4, 12, 36, 180, 900, 6_300, 44_100)
LEVELS = (4, 36, 900)  # moduli of the oracles that are drawn beside the neighbors
SIDES = {"before": BEFORE, "both sides": AROUND}
PLUG_IN, HELD_OUT = "plug-in", "held out"
ORACLES = {f"oracle, $M = {M}$": f"oracle: $n$ modulo {M}" for M in LEVELS}
LOOKS = {"before": ("o", ":"), "both sides": ("D", "--")}
SHADES = ("0.6", "0.35", "black")  # of the largest numbers counted, in their order
ENDS: tuple[dict[str, Any], ...] = (
    {"offset": (-9.0, -2.0), "across": "right"},
    {"offset": (-7.0, 0.0), "across": "right"},
    {"offset": (-9.0, 2.0), "across": "right"},
)  # where the names of these stand


@cache
def text_up_to(n_numbers: int) -> TreeText:
    return read_text(NumberText(n_numbers))


def losses(n_numbers: int, offsets: tuple[int, ...], modulus: int) -> NDArray[np.float64]:
    """Return the plug-in and the held-out loss in bits, and the numbers of words that they are means over."""
    found = prediction_loss(text_up_to(n_numbers), offsets, modulus)
    return np.array([found.bits, found.held_out_bits, found.n_targets, found.n_held_out])


def compute(context: Context) -> list[Row]:
    n_numbers, rows = NUMBERS[context.quality], []
    plan = {(k, 1) for places in SIDES.values() for k in places.values()} | {((), M) for M in MODULI}
    found = context.sweep(Task(f"{k}/{M}", losses, (n_numbers, k, M)) for k, M in sorted(plan))
    for side, places in SIDES.items():
        for place, how in enumerate((PLUG_IN, HELD_OUT)):
            for length, offsets in places.items():
                own = np.asarray(found[f"{offsets}/1"])
                rows.append(row(f"{side}, {how}", length, panel=NEIGHBORS, d=n_numbers, measured=float(own[place])))
    for M in LEVELS:
        level = float(np.asarray(found[f"()/{M}"])[1])
        rows += [row(f"oracle, $M = {M}$", x, panel=NEIGHBORS, measured=level) for x in (0, max(BEFORE))]
    for place, how in enumerate((PLUG_IN, HELD_OUT)):
        for M in MODULI:
            own = np.asarray(found[f"()/{M}"])
            rows.append(row(how, M, panel=ORACLE, d=n_numbers, measured=float(own[place])))
    for n in (10**4, 10**6, 10**7)[: 1 if context.is_draft else 3]:
        shares = counts_up_to(n).frequencies
        ranks = np.unique(np.geomspace(1, len(shares), 60).round().astype(int)).tolist()
        rows += [row(f"$N = 10^{len(str(n)) - 1}$", r, panel=RANKS, measured=shares[r - 1]) for r in ranks]
    return rows


def draw(axes: Axes, rows: DataFrame) -> None:
    """Draw what was counted with one hue for each kind of loss and one marker for each kind of context."""
    panel, labels = rows["panel"].iloc[0], {"xlabel": axes.get_xlabel(), "ylabel": axes.get_ylabel()}
    scales: dict[str, Any] = {"xscale": axes.get_xscale(), "yscale": axes.get_yscale()}
    if panel != RANKS:
        scales["ylim"] = axes.get_ylim()
    axes.clear()
    axes.set(title=panel, **labels, **scales)
    for k, name in enumerate(map(str, rows["curve"].drop_duplicates())):
        own = rows[rows["curve"] == name]
        x, y = own["x"].to_numpy(), own["simulation"].to_numpy()
        if panel == RANKS:
            axes.plot(x, y, "-", color=SHADES[k])
            write_name(axes, name, (x[-1], y[-1]), color=SHADES[k], **ENDS[k])
        elif name in ORACLES:
            axes.plot(x, y, "--", color="0.4", linewidth=0.8)
            write_name(axes, ORACLES[name], (x[0], y[0]), (0.0, -2.0), color="0.4", along="top")
        else:
            axes.plot(x, y, label=name, **look(name))
    if axes.get_legend_handles_labels()[1]:
        axes.legend()


def look(name: str) -> dict[str, Any]:
    """Return hue and filling by the kind of loss, and marker and dash by the context."""
    color = "C0" if PLUG_IN in name else "C1"
    marker, line = next((look for side, look in LOOKS.items() if name.startswith(side)), ("s", ":"))
    top = {"markerfacecolor": "none", "zorder": 3} if PLUG_IN in name else {}  # rings around the disks of the others
    return {"color": color, "marker": marker, "linestyle": line, "linewidth": 0.7, **top}


EXPERIMENT = Experiment(
    title="Counts of five words predict held-out rooted-tree text no better than $n$ modulo 4",
    compute=compute,
    panels=(
        Panel(title=NEIGHBORS, xlabel="words that are known", ylabel="loss (bits per word)", ylim=(1.7, 4.0)),
        Panel(title=ORACLE, xlabel="modulus $M$", ylabel="loss (bits per word)", xscale="log", ylim=(1.7, 4.0)),
        Panel(title=RANKS, xlabel="rank", ylabel="share of words", xscale="log", yscale="log"),
    ),
    draw=draw,
    caption="Counts of up to five words of context predict held-out words no better than knowing the number "
    "modulo 4; with longer contexts they only remember. The losses are those of predictors that count how often "
    "each word follows a context, on all numbers up to 10^7. Plug-in losses are measured on the words that were "
    "counted, held-out ones on every fifth block of a thousand; the true loss lies between. (a) The context is "
    "the words before the hidden one, or as many on both sides; horizontal lines are oracles. (b) Oracles against "
    "M: they gain most from 4 and 9. (c) The shares of words by rank fall faster than a power. Nothing is "
    "sampled: no bars.",
    papers={
        "arXiv:2512.01870 (prediction)": "The paper was read in summaries only. Contexts are counted as they say; the "
        "held-out losses, which are added here, show how much of a long context is only remembered.",
    },
)
