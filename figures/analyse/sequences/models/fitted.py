"""The pair model of all sequences of an analysis, fitted once more to be kept: the map has its scores only."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from figures.analyse.errors import OptionError
from figures.analyse.reading.sequences import Sequences
from figures.analyse.sequences.independent_sites import (
    color_frequencies,
    effective_field_penalties,
    penalized_log_frequencies,
    varying_sites,
)
from figures.analyse.sequences.models.alignment import alignment_of
from figures.analyse.sequences.models.files import ENDINGS, checked_format
from figures.analyse.sequences.models.record import SequenceModel, family_model
from figures.analyse.sequences.record import SequenceAnalysis
from figures.analyse.sequences.tasks import Settings, pair_fit
from figures.analyse.wording import printable
from theory.core import Array
from theory.models import DensePottsModel
from theory.models.potts import centered


@dataclass(frozen=True, eq=False)
class _Fit:
    """A model of all sites, with the evidence of the fit of those that vary."""

    model: DensePottsModel
    residual: float
    iterations: int | None
    converged: bool


def require_model_file(target: Path | None, tokens: Sequence[str]) -> None:
    """Refuse, before any work, a file of a model that cannot be written. OptionError with what is wrong."""
    if target is None:
        return
    named = f"--write-model {printable(target)}"
    try:
        ending = checked_format(target)
    except ValueError:
        raise OptionError(f"{named} must end in {ENDINGS}") from None
    if target.is_dir():
        raise OptionError(f"{named} is a folder; give the name of a file")
    if not target.parent.is_dir():
        raise OptionError(f"{named} cannot be written to (there is no folder {printable(target.parent)})")
    if ending != ".npz" and not all(len(token) == 1 and token.isascii() and token.isprintable() for token in tokens):
        raise OptionError(f"{named} is in a format for letters, and these sequences have longer tokens; write .npz")
    try:
        with tempfile.TemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        raise OptionError(f"{named} cannot be written to ({error.strerror or error}); choose another folder") from None


def fitted_model(
    sequences: Sequences, analysis: SequenceAnalysis, *, n_threads: int = 1, pair_frequencies: bool = False
) -> SequenceModel:
    """Return the pair model of all sequences with the penalties of the analysis, in the zero-sum gauge.

    Sites that are constant have no couplings; their fields are those of sites alone.
    """
    settings = analysis.settings
    assert settings is not None  # every analysis has some
    states, weights = sequences.states, analysis.weights
    varying = varying_sites(states)
    C = max(2, settings.n_colors)
    fields = centered(site_log_frequencies(states, weights, settings))
    couplings = np.zeros((len(varying), len(varying), C, C))
    residual, iterations, converged = 0.0, None, True
    if varying.sum() > 1:
        own = np.ascontiguousarray(states[:, varying])
        fit = pair_fit(own, weights, replace(settings, n_threads=n_threads))
        places = np.flatnonzero(varying)
        couplings[places[:, None], places], fields[places] = fit.couplings, fit.fields
        residual, iterations, converged = fit.residual, fit.iterations, fit.converged
    return family_model(
        _Fit(DensePottsModel(couplings, fields), residual, iterations, converged),
        alignment_of(sequences),
        weights=weights,
        identity=analysis.identity,
        reference=analysis.reference,
        l2=settings.l2,
        field_l2=settings.field_l2,
        pair_frequencies=pair_frequencies,
    )


def site_log_frequencies(states: NDArray[np.uint8], weights: Array, settings: Settings) -> Array:
    """Return log p_i(a) of sites alone (L, C), shrunk as they are in the pair model."""
    frequencies = color_frequencies(states, weights, max(2, settings.n_colors))
    penalties = effective_field_penalties(frequencies, varying_sites(states), settings.l2, settings.field_l2)
    return penalized_log_frequencies(frequencies, penalties / weights.sum())
