"""Says how much memory and time the analysis of an alignment needs: which fits are to come, and how long each takes."""

import argparse
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from figures.analyse.needs import Needs
from figures.analyse.reading.sequences import Sequences
from figures.analyse.sequences.evidence import n_permutations
from figures.analyse.sequences.independent_sites import checked_variation, varying_sites
from figures.analyse.sequences.learning_time import generation_seconds, learning_sentence
from figures.analyse.sequences.plan import TUNING_SEQUENCES, VALIDATION, affordable_jobs, training_sizes
from figures.analyse.sequences.reweighting import MAX_COMPARED_SEQUENCES
from figures.analyse.sequences.tasks import States
from figures.analyse.wording import counted, duration, size
from simulate.core import stream
from simulate.potts import pseudo_likelihood
from simulate.potts.inference.memory import peak_bytes
from simulate.potts.inference.weights import comparison_seconds, similarity

# Bytes that were measured with small alignments: of code that all processes share, of this process while it fits and
# after it has drawn the figure, of each process that fits beside it, and of those that look after them.
SHARED, FITTING, DRAWN, WORKER, WATCHING = 157e6, 173e6, 200e6, 98e6, 28e6
PAIR = 2500  # bytes of a pair of sites in the tables
COPIES, WORKER_COPIES = 8, 3  # of the alignment, a byte a letter
START, START_WORKERS = 4.0, 2.0  # s until all code is loaded, and until the other processes have loaded theirs

# How often the objective is evaluated in one fit, or in all fits of the search for the penalty. The first evaluation of
# a fit is not counted, since it only counts pairs of colors; the number of a noise fit includes the time of its scores.
EVALUATIONS = {"penalty": 24, "map": 17, "training": 9, "noise": 5}
PROBE = (64, 1500)  # sequences on which an evaluation is timed
PROBE_STEPS = 2  # steps of each timed fit
MOST_COMPARED = 5000  # sequences that are compared to estimate their effective number
ANNOUNCED_SECONDS = 20.0  # s from which a run is announced


@dataclass(frozen=True)
class Work:
    """The fits of an analysis, how long each takes on an idle core, by its key, and how many run at a time."""

    seconds: Mapping[str, float]
    jobs: int
    memory: float  # bytes, of all processes together

    @property
    def total(self) -> float:
        """The seconds until the analysis has ended, on idle cores."""
        side_by_side = [value for key, value in self.seconds.items() if key != "penalty"]
        searched = self.seconds.get("penalty", 0.0) / (1 + (self.jobs - 1) / 2)  # threads help half of the time
        fits = max(*side_by_side, sum(side_by_side) / self.jobs)
        return START + (START_WORKERS if self.jobs > 1 else 0.0) + searched + fits

    def __str__(self) -> str:
        kinds = [key.split("/")[0] for key in self.seconds]
        search = "2 to 4 fits of the pair model to choose the penalty of its couplings, " if "penalty" in kinds else ""
        return (
            f"{search}1 fit to all sequences for the scores of pairs, {kinds.count('training')} to fewer sequences to "
            f"see how well others are predicted, and {kinds.count('noise')} to columns that were shuffled to see how "
            "high noise scores"
        )

    def announcement(self) -> str:
        """Return one sentence that says what is to come and how long it takes, for the start of a long run."""
        together = f", {self.jobs} fits at a time" if self.jobs > 1 else ""
        return (
            f"To come are {self}. This takes about {duration(self.total)}{together}, more on a busy machine, and about "
            f"{size(self.memory)} of memory."
        )


def planned_work(
    states: States, n_colors: int, effective_number: float, sizes: Sequence[int], tunes: bool, n_jobs: int
) -> Work:
    """Return the fits to sequences (M, L), of which `sizes` are trained on, that count as `effective_number`.

    The time of an evaluation is measured on a few of them; `tunes` says whether the penalty is to be chosen.
    """
    M, n_sites = states.shape
    varying = np.ascontiguousarray(states[:, varying_sites(states)])
    L = varying.shape[1]
    jobs = affordable_jobs(L, n_colors, n_jobs)
    each, per_sequence = _pace(varying, n_colors) if L > 1 else (0.0, 0.0)

    def seconds(kind: str, n: float) -> float:
        return EVALUATIONS[kind] * (each + per_sequence * n)

    search = {"penalty": seconds("penalty", (1 - VALIDATION) * min(TUNING_SEQUENCES, max(sizes)))}
    return Work(
        {
            **(search if tunes and L > 1 else {}),
            "map": seconds("map", M),
            **{f"training/{n}": seconds("training", n) for n in sizes},
            **{
                f"noise/{r}": seconds("noise", min(M, effective_number))
                for r in range(n_permutations(effective_number, n_sites))
            },
        },
        jobs,
        memory_bytes(M, n_sites, L, n_colors, jobs),
    )


def memory_bytes(n_sequences: int, n_sites: int, n_varying: int, n_colors: int, jobs: int) -> float:
    """Return the most bytes that an analysis holds at a time, in all its processes, with `jobs` fits at a time.

    It is reached while fits run, or where these are small when the figure is drawn.
    """
    letters, fit = float(n_sequences) * n_sites, peak_bytes(n_varying, n_colors, symmetric=True)
    tables = PAIR * n_sites**2 / 2
    workers = 0.0 if jobs == 1 else WATCHING + jobs * (WORKER + WORKER_COPIES * letters)
    return SHARED + COPIES * letters + workers + max(FITTING + jobs * fit, DRAWN + tables)


def _pace(states: States, n_colors: int) -> tuple[float, float]:
    """Return the seconds of an evaluation of the objective: one part of them always, and one for each sequence."""
    few, many = (states[: min(n, len(states))] for n in PROBE)
    pseudo_likelihood(states[:2, :2], n_colors, max_iter=1, check=False)  # loads what is compiled
    short, long = (_seconds_of_evaluation(part, n_colors) for part in (few, many))
    per_sequence = max(0.0, long - short) / max(1, len(many) - len(few))
    return max(0.0, short - per_sequence * len(few)), per_sequence or long / len(many)


def _seconds_of_evaluation(states: States, n_colors: int) -> float:
    start = time.process_time()
    fit = pseudo_likelihood(states, n_colors, l2=1.0, max_iter=PROBE_STEPS, tol=1e-12, check=False)
    return (time.process_time() - start) / max(1, fit.evaluations - 1)


def needs(sequences: Sequences, options: argparse.Namespace) -> Needs:
    """Return memory and time of the analysis of sequences that were read, without fitting more than a few of them."""
    states = np.ascontiguousarray(sequences.states, dtype=np.uint8)
    checked_variation(states)  # what no analysis takes needs no estimate
    M, L = states.shape
    n_jobs = options.jobs if options.jobs > 0 else os.cpu_count() or 1
    compares = options.reweight or (options.reweight is None and M <= MAX_COMPARED_SEQUENCES)
    effective = _effective_number(states, options.identity, options.seed) if compares else float(M)
    sizes = training_sizes(max(2, round((1 - options.test_fraction) * M)))
    work = planned_work(states, len(sequences.tokens), effective, sizes, options.l2 is None, n_jobs)
    seconds = work.total + (comparison_seconds(states, n_threads=n_jobs) if compares else 0.0)
    learning = generation_seconds(options, L, max(2, len(sequences.tokens)))
    seconds += learning / n_jobs
    clones = " The clones take time of their own, which is not known beforehand." if options.clones else ""
    clones += learning_sentence(learning / n_jobs)
    basis = (
        f"It holds {counted(M, 'sequence')} of {L} sites, which count as about {effective:.0f}. To come are {work}, "
        f"{work.jobs} at a time. The memory is known to about a quarter, the time to a factor of two where nothing "
        f"else runs on this machine.{clones}"
    )
    return Needs(work.memory, seconds, basis)


def _effective_number(states: States, identity: float, seed: int) -> float:
    """Return the effective number of sequences; of many it is that of a part, scaled up, which is not too small."""
    M = len(states)
    if M <= MOST_COMPARED:
        return similarity(states, identity).effective_number
    part = stream(seed, "compared sequences").choice(M, MOST_COMPARED, replace=False)
    return similarity(states[part], identity).effective_number * M / MOST_COMPARED
