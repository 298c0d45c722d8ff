"""Writes pair models in the formats that other programs read, and reads them back; the ending says which format."""

from pathlib import Path
from typing import Any

from figures.analyse.errors import DataError
from figures.analyse.sequences.models import adabmdca_file, npz_file, params_file
from figures.analyse.sequences.models.alignment import Alignment
from figures.analyse.sequences.models.record import Fitted, SequenceModel, family_model
from theory.core.atomic_write import atomic_write
from theory.models import DensePottsModel

FORMATS = {".params": params_file, ".dat": adabmdca_file, ".npz": npz_file}
ENDINGS = ".params (plmc, EVcouplings), .dat (adabmDCA) or .npz (numpy)"


def checked_format(path: Path) -> str:
    """Return the ending of a file of a model. ValueError, with the endings that there are, for another one."""
    if path.suffix.lower() not in FORMATS:
        raise ValueError(f"path must end in {ENDINGS}, got {path.name!r}")
    return path.suffix.lower()


def write_model(
    path: Path | str,
    model: SequenceModel | Fitted | DensePottsModel,
    alignment: Alignment | None = None,
    **known: Any,
) -> Path:
    """Write couplings and fields into a file that other programs read, and return its path.

    The ending of the name says the format: .params is version 2 of plmc's binary file, in single precision, which
    EVcouplings 0.2 reads (`CouplingsModel`); .dat is the text of adabmDCA, with the shortest decimals that give the
    same double-precision numbers; .npz holds the arrays of `SequenceModel` in double precision. A fit, or a model, is
    put together with its alignment by `family_model`, which takes the other arguments (`weights`, `identity`,
    `reference`, ...), and is written in the zero-sum gauge; a `SequenceModel` is written as it is.

    An earlier file is replaced as a whole or kept. ValueError for another ending, letters that a format cannot hold,
    and what a .params file needs and is not known: frequencies and weights. OSError where the file cannot be made.
    """
    path = Path(path)
    written = FORMATS[checked_format(path)]
    if not isinstance(model, SequenceModel):
        if alignment is None:
            raise ValueError("alignment must be given with a fit or a model: letters, weights and frequencies are its")
        with_pairs = {"pair_frequencies": True, **known} if written is not adabmdca_file else known
        model = family_model(model, alignment, **with_pairs)
    elif alignment is not None or known:
        raise ValueError("alignment and what belongs to it must not be given with a SequenceModel, which has its own")
    with atomic_write(path) as temporary:
        written.write(temporary, model)
    return path


def read_model(path: Path | str) -> SequenceModel:
    """Read a pair model from a file of plmc (.params), adabmDCA (.dat) or `write_model` (.npz).

    What a file does not hold is None, and the gauge is told by the sums of couplings and fields. DataError, with the
    place, for a file that is not there, of another kind, cut off, longer than its sizes say, or with numbers that are
    not finite.

    >>> import tempfile
    >>> from simulate.potts import pseudo_likelihood
    >>> family = Alignment([[0, 0], [1, 1], [0, 0], [1, 1], [0, 1], [1, 0]], "AC")
    >>> fit = pseudo_likelihood(family.sequences, 2, l2=0.01)
    >>> again = read_model(write_model(Path(tempfile.mkdtemp()) / "family.npz", fit, family))
    >>> again.alphabet, bool((again.couplings == fit.couplings).all())
    (('A', 'C'), True)
    """
    path = Path(path)
    try:
        found: SequenceModel = FORMATS[checked_format(path)].read(path)
    except IsADirectoryError:
        raise DataError(path, "is a folder; give the name of a file") from None
    except FileNotFoundError:
        raise DataError(path, "no such file; check the name and the folder you are in") from None
    except ValueError as error:
        raise DataError(path, str(error)) from None
    return found
