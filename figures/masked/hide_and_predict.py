"""The idea in four pictures: hide a coordinate, predict it from the others, collect the coefficients, see the error."""

from typing import Any

import numpy as np
from numpy.random import Generator

from figures.core import Axes, Context, Curve, DataFrame, Experiment, Panel, row
from simulate.core import Estimate, Task, extrapolate, replicate_tasks, stream
from simulate.masked import fit, mean_test_error, predictor_eigenvalues, sample
from theory import masked, random_matrix
from theory.models import AR1, MaskedRidge

CORRELATION, SHOWN, HIDDEN = 0.7, (7, 12), 7  # rows and columns of the table that is shown, the column that is hidden
ALPHA, LAM, WIDTH, BINS = 2.0, 0.1, 24, 26
HIDE, PREDICTOR, SPECTRUM, ERROR = (
    "hide one coordinate of each sample",
    "predict it: one row per coordinate",
    "eigenvalues of the joint predictor",
    "error of the hidden coordinate",
)
LAMS = {r"$\lambda = 0.001$": 1e-3, r"$\lambda = 1$": 1.0}
ENTRIES, DENSITY, FITTED = "_entries", "theory", "fitted predictors"
ALPHAS, POINTS = np.geomspace(0.25, 4, 61), (0.25, 0.5, 0.75, 1.0, 1.5, 2.5, 4.0)


def compute(context: Context) -> list[dict[str, Any]]:
    covariance, rng = AR1(WIDTH, CORRELATION), stream(0, "hide and predict")
    X = sample(covariance, round(ALPHA * WIDTH), rng)
    fitted = fit(X, LAM)
    table = X[: SHOWN[0], : SHOWN[1]]
    rows = [row(ENTRIES, k, panel=HIDE, measured=value) for k, value in enumerate(table.ravel())]
    rows += [row(ENTRIES, k, panel=PREDICTOR, measured=value) for k, value in enumerate(fitted.predictor.ravel())]
    return rows + spectrum(context, context.size(150)) + errors(context, context.size(60))


def histogram(model: MaskedRidge, d: int, bins: np.ndarray, rng: Generator) -> np.ndarray:
    """Return the density of the eigenvalues of one fitted predictor in every bin."""
    return np.asarray(np.histogram(predictor_eigenvalues(model, d, rng), bins)[0] / (d * np.diff(bins)))


def spectrum(context: Context, d: int) -> list[dict[str, Any]]:
    """Return the line of the density of eigenvalues, and the mean histogram of predictors that were fitted."""
    model = MaskedRidge(AR1(d, CORRELATION), ALPHA, LAM)
    law = random_matrix.predictor_law(model)
    low, high = law.edges[0, 0], law.edges[-1, 1]
    line = np.linspace(low, high, 200)
    bins = np.linspace(low, high, BINS + 1)
    draws = [stream(0, "hide and predict", "spectrum", r) for r in range(context.replicates(12))]
    tasks = [Task(f"spectrum/{r}", histogram, (model, d, bins, rng)) for r, rng in enumerate(draws)]
    values = context.sweep(tasks)
    drawn = np.array([values[task.key] for task in tasks])
    predicted, centers = np.diff(law.cumulative(bins)) / np.diff(bins), (bins[1:] + bins[:-1]) / 2
    rows = [row(DENSITY, a, panel=SPECTRUM, theory=y) for a, y in zip(line, law.density(line), strict=True)]
    estimates = map(Estimate.of, drawn.T)
    return rows + [
        row(FITTED, a, panel=SPECTRUM, theory=y, d=d, estimate=estimate, judged=False)
        for a, y, estimate in zip(centers, predicted, estimates, strict=True)
    ]


def errors(context: Context, d: int) -> list[dict[str, Any]]:
    """Return the learning curves of a small and a large ridge with simulated points."""
    rows, chain = [], AR1(np.inf, CORRELATION)
    for label, lam in LAMS.items():
        found = masked.learning_curve(chain, context.thin(ALPHAS), lam)
        rows += [
            row(label, alpha, panel=ERROR, theory=error)
            for alpha, error in zip(found.alphas, found.mean_test_error.ravel(), strict=True)
        ]
        for alpha in context.thin(POINTS):
            model = MaskedRidge(chain, alpha, lam)
            sizes = [
                list(replicate_tasks(mean_test_error, model, n, context.replicates(24), seed=0, names=(label, alpha)))
                for n in (d, 2 * d)
            ]
            values = context.sweep(task for tasks in sizes for task in tasks)
            small, large = (Estimate.of(np.array([values[task.key] for task in tasks])) for tasks in sizes)
            limit, theory = extrapolate(small, large), masked.solve(model).mean_test_error
            rows.append(row(label, alpha, panel=ERROR, theory=theory, d=np.inf, estimate=limit))
    return rows


def draw(axes: Axes, rows: DataFrame) -> None:
    """Draw the table and the predictor as images in place of curves."""
    title = axes.get_title()
    if title in (SPECTRUM, ERROR):
        return
    shape = SHOWN if title == HIDE else (WIDTH, WIDTH)
    values = rows.sort_values("x")["simulation"].to_numpy(dtype=float).reshape(shape)
    axes.clear()
    axes.set(title=title, xticks=[], yticks=[])
    limit = float(np.abs(values).max())
    if title == HIDE:
        values = values.copy()
        values[:, HIDDEN] = np.nan
    axes.imshow(values, cmap="RdBu_r", vmin=-limit, vmax=limit, interpolation="nearest", aspect="auto")
    if title == HIDE:
        axes.set(xlabel="coordinates", ylabel="samples")
        for k in range(shape[0]):
            axes.text(HIDDEN, k, "?", ha="center", va="center")
    else:
        axes.set(xlabel="from coordinate", ylabel="coefficients that predict coordinate")
        axes.set_aspect("equal")


EXPERIMENT = Experiment(
    title="Hide a coordinate and predict it from the others: the error peaks at $n = d$",
    compute=compute,
    panels=[
        Panel(title=HIDE),
        Panel(title=PREDICTOR),
        Panel(
            title=SPECTRUM,
            curves={DENSITY: Curve(color="black", style="-"), FITTED: Curve(color="0.35", marker="D")},
            xlabel="eigenvalue",
            ylabel="density",
            ylim=(0, 2.2),
        ),
        Panel(
            title=ERROR,
            xlabel=r"samples per coordinate $n/d$",
            ylabel="mean squared error",
            xscale="log",
            yscale="log",
        ),
    ],
    draw=draw,
    figsize=(7.0, 5.0),
    unjudged="the histogram of a finite d differs from the limit by terms of order 1/d",
    caption="Hiding a coordinate and predicting it from the others has an error that peaks where there are as many "
    "samples as coordinates, although no label is noisy. (a) Seven samples of a Gaussian chain, whose neighbors have "
    "the correlation 0.7; each coordinate is hidden in turn. (b) Ridge regression predicts it from the others; row k "
    "of the joint predictor holds the coefficients for coordinate k (n = 2d, ridge 0.1, d = 24). Red is positive and "
    "blue negative. (c) Its eigenvalues at d = 150: the line is theory, markers are fitted predictors. (d) The error "
    "on new samples: lines are theory, markers simulations at d = 60 and 120, extrapolated. A larger ridge removes "
    "the peak.",
)
