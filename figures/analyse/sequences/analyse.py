"""Analyzes aligned sequences."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from figures.analyse.finished import LEARNING, NOTHING, Finished
from figures.analyse.sequences import table
from figures.analyse.sequences.clones import make_clones, require_supported
from figures.analyse.sequences.evidence import default_separation, judged, noise_tasks
from figures.analyse.sequences.generation import generated, learner, pair_clone
from figures.analyse.sequences.independent_sites import checked_variation, color_frequencies
from figures.analyse.sequences.needs import ANNOUNCED_SECONDS, planned_work
from figures.analyse.sequences.plan import FIELD_PENALTY, affordable_jobs, training_sizes
from figures.analyse.sequences.record import SequenceAnalysis, label
from figures.analyse.sequences.residuals import SHORT_SITES
from figures.analyse.sequences.reweighting import Reweighting, reweighted
from figures.analyse.sequences.run_fits import in_processes
from figures.analyse.sequences.scores import ranked_pairs
from figures.analyse.sequences.split import Split, split_clusters
from figures.analyse.sequences.tasks import Settings, as_estimates, learning_task, map_task, pair_fit
from figures.analyse.sequences.tuning import tuned
from figures.analyse.sequences.whole_fit import WholeFit, keep_fit, kept_fit, model_of_all_sites
from figures.analyse.splits import Sweep, checked_sizes
from figures.analyse.wording import paragraphs
from simulate.core import Task, stream
from theory.core import Array, checks

# Tolerance of the fits whose losses are stated: 3e-3 changes no loss of a protein family by more than 2 % of its bar.
LEARNING_TOL = 1e-2


def analyse_sequences(
    states: Any,
    tokens: Sequence[str],
    *,
    gap: int | None = None,
    columns: Sequence[int] | NDArray[np.int64] | None = None,
    identity: float = 0.8,
    reweight: bool | None = None,
    l2: float | None = None,
    field_l2: float = FIELD_PENALTY,
    test_fraction: float = 0.2,
    min_separation: int | None = None,
    protein: bool | None = None,
    sizes: Sequence[int] | None = None,
    clones: int | None = None,
    generate: int | None = None,
    boltzmann: bool | None = None,
    max_iter: int = 150,
    tol: float = 3e-3,
    seed: int = 0,
    n_jobs: int = 1,
    progress: str | None = None,
    say: Callable[[str], None] = print,
    run: Sweep | None = None,
    kept: Finished = NOTHING,
    with_fit: bool = False,
) -> SequenceAnalysis:
    """Pair model of sequences (M, L) of colors, each standing for one of `tokens`, by weighted pseudo-likelihood.

    A sequence counts as one over the number of those at `identity` to it (`reweight` None: unless they are very many,
    which `say` reports). `l2` |J_ij|^2, each pair once, and `field_l2` |h|^2 are subtracted from the log-likelihood
    summed over the effective number of sequences; `l2` None is chosen within the training sequences. `test_fraction`
    of the weight is held out, in whole clusters of similar sequences, and models of `sizes` of the others are tested.
    The map is of the model of all sequences, without the color `gap`; its pairs are ranked from `min_separation` sites
    apart (None: 4 for a `protein`, which None tells by its letters, otherwise 1), by their scores, or of short
    sequences by their residual dependence, and compared with those of permuted columns. Where `progress` labels a bar,
    `say` tells before a long run which fits are to come. `clones` are made of the orders 1 to that number (see
    `simulate.nets.clone`), that of order 2 by Boltzmann learning unless `boltzmann` is False. `generate` new sequences
    are drawn from the pair model, by Boltzmann learning where `boltzmann` is True. `run` carries out the tasks in the
    place of `simulate.core.sweep`. Finished fits, and how far Boltzmann learning has come, are `kept`, where a later
    call goes on from them. `with_fit` keeps the couplings of the fit for the map in the result. The result does not
    depend on `n_jobs`.

    Sites that are the same in all sequences are predicted alone, and are in no pair.

    ValueError for fewer than 10 sequences, or where all are equal, for states that are no colors, and for options out
    of range.
    """
    colors = np.ascontiguousarray(checks.colors("states", states, len(tokens)), dtype=np.uint8)
    varying = checked_variation(colors)
    L, n_varying = colors.shape[1], int(varying.sum())
    _require_penalties(l2, field_l2)
    apart = default_separation(tuple(tokens), L, protein) if min_separation is None else min_separation
    separation = int(checks.dimension(apart, name="min_separation"))
    if separation >= L:
        raise ValueError(f"min_separation must be below the number of sites {L}, got {min_separation}")
    own = reweighted(colors, identity, reweight, max(1, n_jobs), progress, say)
    require_supported(clones, colors, len(tokens), own.weights)
    split = split_clusters(own.clusters, own.weights, test_fraction, stream(seed, "held-out sequences"))
    most = len(split.training)
    own_sizes = training_sizes(most) if sizes is None else checked_sizes(sizes, most, "sequences")
    settings = Settings(len(tokens), own.identity, l2 or 0.0, field_l2, max_iter, tol)
    jobs = affordable_jobs(n_varying, len(tokens), n_jobs)
    work = None
    if progress is not None and run is None:
        work = planned_work(colors, len(tokens), float(own.weights.sum()), own_sizes, l2 is None, n_jobs)
        if work.total > ANNOUNCED_SECONDS:
            say(paragraphs([work.announcement()]))
    choice: tuple[str, ...] = ()
    samples = generate is not None and not boltzmann
    fit = None
    with (
        _file_of_fit(kept, with_fit or samples) as path,
        nullcontext(run) if run else in_processes(jobs, progress, work, kept.folder, kept.digest) as carry_out,
    ):
        if l2 is None and n_varying > 1:
            rng = stream(seed, "validation")
            settings, note = tuned(colors, own, split.training, settings, n_varying, rng, carry_out, max(1, n_jobs))
            choice = (note,)
        values: dict[str, Any] = carry_out(
            [
                *_tasks(colors, own, split, own_sizes, gap, settings, seed, path),
                *noise_tasks(colors, own.weights, gap, settings, separation, seed),
            ]
        )
        if path is not None and n_varying > 1:
            fit = kept_fit(path) or _fitted_again(path, colors[:, varying], own.weights, settings)
    losses = [as_estimates(values[f"training/{n}"]) for n in own_sizes]
    scores, norms, first, second, depend, by_chance, *signed, _ = values["map"]
    favored = np.stack([first, second], axis=2).astype(int)
    every = ranked_pairs(scores, norms, favored, 1, varying, depend if L <= SHORT_SITES else None)
    pairs = [pair for pair in every if pair.j - pair.i >= separation]
    noise = [value for key, value in values.items() if key.startswith("noise/")]
    evidence = judged(noise, scores, varying, pairs, separation, by_chance, np.array(signed) if signed else None)
    places = np.arange(1, L + 1) if columns is None else np.asarray(columns)
    pair, alone, gain = zip(*losses, strict=True)
    stopped = _stopped(values, max_iter)
    threads, n_colors = max(1, n_jobs), max(2, len(tokens))
    learn = learner(colors, n_colors, own.weights, seed, threads, progress, kept.file(LEARNING))
    second = None if boltzmann is False else lambda: pair_clone(colors, n_colors, own.weights, learn(), seed, threads)
    made, unmade = make_clones(colors, len(tokens), own.weights, clones, settings.l2, field_l2, seed, second)
    new, ungenerated = None, tuple[str, ...]()
    if generate is not None:
        source = learn if boltzmann else None
        penalties = settings.l2, settings.field_l2
        model = model_of_all_sites(fit, colors, own.weights, n_colors, *penalties) if samples else None
        new, ungenerated = generated(
            colors, own.weights, own.clusters, n_colors, model, generate, source, seed, threads
        )
    return SequenceAnalysis(
        n_sequences=len(colors),
        n_sites=L,
        tokens=tuple(tokens),
        columns=places,
        effective_number=float(own.weights.sum()),
        n_clusters=own.n_clusters,
        identity=own.identity,
        sizes=own_sizes,
        held_out=len(split.held_out),
        pair_loss=pair,
        independent_loss=alone,
        gain=gain,
        scores=scores,
        norms=norms,
        pairs=pairs,
        min_separation=separation,
        is_default_separation=min_separation is None,
        nearer=[pair for pair in every if pair.j - pair.i < separation],
        evidence=evidence,
        weights=own.weights,
        clusters=own.clusters,
        commonest=color_frequencies(colors, own.weights, len(tokens)).argmax(axis=1),
        clones=made,
        settings=settings,
        generation=new,
        whole_fit=fit if with_fit else None,
        rows=[
            *table.learning_rows(own_sizes, pair, alone, len(tokens), L),
            *table.map_rows(scores),
            *table.ranked_rows([label(places, p) for p in pairs[:L]], [p.strength for p in pairs[:L]], L),
            *table.noise_rows(evidence.limit, min(L, len(pairs))),
        ],
        notes=(*own.notes, *_short(own, L), *choice, *stopped, *unmade, *ungenerated),
        converged=not (stopped or unmade or ungenerated),
    )


def _short(own: Reweighting, n_sites: int) -> tuple[str, ...]:
    """Note where similar sequences that share their weight are so many that short ones may be similar by chance."""
    M, effective = len(own.weights), float(own.weights.sum())
    if own.identity is None or n_sites > SHORT_SITES or effective > M / 2:
        return ()
    return (
        f"{M} sequences count as {effective:.0f}, but sequences of {n_sites} sites also agree by chance, or by the "
        "interactions that are looked for; if they are independent of each other say --no-reweight, so that each "
        "counts as one",
    )


def _require_penalties(l2: float | None, field_l2: float) -> None:
    """Refuse penalties that would leave infinite couplings or fields. ValueError with what is allowed."""
    checks.non_negative("field_l2", field_l2)
    if l2 is not None and not l2 > 0:
        raise ValueError(
            f"l2 must be above 0, got {l2:g}: without a penalty the couplings of letters that never occur together "
            "would be infinite"
        )


def _tasks(
    colors: NDArray[np.uint8],
    own: Reweighting,
    split: Split,
    sizes: Sequence[int],
    gap: int | None,
    settings: Settings,
    seed: int,
    keep: Path | None,
) -> list[Task]:
    """Return the fits as tasks, the longest first, so that no core is idle at the end; that of all is kept."""
    held = split.held_out
    test = (colors[held], own.weights[held], own.clusters[held])
    rough = replace(settings, tol=max(settings.tol, LEARNING_TOL))
    fits = [Task(f"training/{n}", learning_task, (colors[split.training[:n]], *test, rough)) for n in reversed(sizes)]
    return [Task("map", map_task, (colors, own.weights, gap, settings, seed, keep)), *fits]


@contextmanager
def _file_of_fit(kept: Finished, wanted: bool) -> Iterator[Path | None]:
    """Yield the file that the fit of all sequences is to be kept in: a temporary one where nothing else is kept."""
    if not wanted:
        yield None
    elif (path := kept.file("fit")) is not None:
        yield path
    else:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder) / "fit.npz"


def _fitted_again(path: Path, states: NDArray[np.uint8], weights: Array, settings: Settings) -> WholeFit | None:
    """Fit all sequences where the file of the fit is gone, though the task that wrote it has ended."""
    keep_fit(path, pair_fit(np.ascontiguousarray(states), weights, settings))
    return kept_fit(path)


def _stopped(values: dict[str, Any], max_iter: int) -> tuple[str, ...]:
    """Name the fits that were stopped early: their numbers stand, but are not those of the optimum."""
    early = [key for key, value in values.items() if not np.ravel(value)[-1]]
    if not early:
        return ()
    names = {"map": "of all sequences", "training": "of the learning curve", "noise": "to permuted columns"}
    kinds = [names[key.split("/")[0]] for key in early]
    counts = ", ".join(f"{kinds.count(name)} {name}" for name in names.values() if name in kinds)
    return (
        f"{len(early)} of {len(values)} fits were stopped after {max_iter} steps, before they had quite settled "
        f"({counts}): their numbers are not quite those of the best model; a stronger penalty (--l2) lets them settle",
    )
