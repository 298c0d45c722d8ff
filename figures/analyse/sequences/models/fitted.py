"""The pair model of all sequences of an analysis, from the fit that its map shows."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from figures.analyse.errors import OptionError
from figures.analyse.reading.sequences import Sequences
from figures.analyse.sequences.models.alignment import alignment_of
from figures.analyse.sequences.models.files import ENDINGS, checked_format
from figures.analyse.sequences.models.record import SequenceModel, family_model
from figures.analyse.sequences.record import SequenceAnalysis
from figures.analyse.sequences.whole_fit import model_of_all_sites
from figures.analyse.wording import printable
from theory.models import DensePottsModel


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


def fitted_model(sequences: Sequences, analysis: SequenceAnalysis, *, pair_frequencies: bool = False) -> SequenceModel:
    """Return the pair model of all sequences that the map of the analysis shows, in the zero-sum gauge.

    Sites that are constant have no couplings; their fields are those of sites alone.
    """
    settings, fit = analysis.settings, analysis.whole_fit
    assert settings is not None  # every analysis has some
    own = sequences.states, analysis.weights, settings.n_colors, settings.l2, settings.field_l2
    evidence = (0.0, None, True) if fit is None else (fit.residual, fit.iterations, fit.converged)
    return family_model(
        _Fit(model_of_all_sites(fit, *own), *evidence),
        alignment_of(sequences),
        weights=analysis.weights,
        identity=analysis.identity,
        reference=analysis.reference,
        l2=settings.l2,
        field_l2=settings.field_l2,
        pair_frequencies=pair_frequencies,
    )
