"""Analyzes data from Python as the program does: a file, an array, a data frame, sequences or documents."""

import contextlib
import io
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from figures.analyse.command import kind_of, require_own_options
from figures.analyse.errors import DataError, OptionError
from figures.analyse.finished import NOTHING, finished
from figures.analyse.json_text import as_json
from figures.analyse.options import parsed
from figures.analyse.record import Analysis
from figures.analyse.steps import Steps, result_name
from figures.core import DataFrame
from theory.core import checks, foreign

Kind = Literal["matrix", "sequences", "text"]

NOT_HERE = {
    "output": "call save(folder) of what is returned",
    "estimate": "run the command `figures analyse FILE --estimate`",
    "json": "call to_json() of what is returned",
}


@dataclass(frozen=True, eq=False, repr=False)
class Analyzed:
    """The analysis of a user's data, with what the program would print and write of it.

    `analysis` is the record with all numbers, one of MatrixAnalysis, HoledResult, SequenceAnalysis and TextAnalysis,
    `title` says what was analyzed, and `notes` hold what was noticed as the data were read.
    """

    kind: str  # matrix, sequences or text
    title: str
    notes: tuple[str, ...]
    analysis: Any
    _steps: Steps[Any, Any] = field(repr=False)

    @cached_property
    def conclusions(self) -> list[str]:
        """What was found, in sentences."""
        return self._steps.conclusions(self.analysis)

    @property
    def rows(self) -> list[Any]:
        """The rows of the table that the figure shows."""
        return list(self._record.rows)

    @property
    def _record(self) -> Analysis:
        record: Analysis = getattr(self.analysis, "analysis", self.analysis)  # a table with holes has it within
        return record  # its type is declared

    @property
    def converged(self) -> bool:
        """Whether every solver and every fit on the way reached its tolerance."""
        return self._record.converged

    def report(self) -> str:
        """Return the report as the program prints it."""
        return self._steps.report(self.analysis, self.title)

    def to_frame(self) -> DataFrame:
        """Return the table as a data frame, one line for each point of the figure."""
        return self._record.to_frame()

    def to_json(self) -> str:
        """Return conclusions and numbers as JSON, the same as the program writes with `--json`; NaN becomes null."""
        return as_json(self.kind, self.title, [*self.notes], self.conclusions, self._record)

    def save(self, folder: str | Path, name: str = "data") -> list[Path]:
        """Write tables and figures `analyse_NAME...` into the folder, which is made, and return their paths."""
        output = Path(folder)
        try:
            output.mkdir(parents=True, exist_ok=True)
            with contextlib.redirect_stdout(io.StringIO()):  # the program says where the files of options went
                results = self._steps.results(self.analysis, self.title)
            written = [result.write(output, f"analyse_{name}{result.suffix}") for result in results]
        except OSError as error:
            raise ValueError(f"folder {str(output)!r} cannot be written to: {error.strerror or error}") from None
        except (DataError, OptionError) as error:
            raise ValueError(str(error)) from None
        return [path for paths in written for path in paths]

    def __repr__(self) -> str:
        return f"Analyzed({self.title}; {self.conclusions[0]})"

    def _repr_html_(self) -> str:
        said = "".join(f"<li>{escape(sentence)}</li>" for sentence in self.conclusions)
        return f"<p><b>{escape(self.title)}</b></p><ul>{said}</ul>"


def analyse(
    data: Any,
    kind: Kind | None = None,
    *,
    progress: bool = False,
    checkpoint: str | Path | None = None,
    **options: Any,
) -> Analyzed:
    """Analyze data as `python -m figures analyse` does, and return what was found instead of printing it.

    `data` is the path of a file or folder, a numpy array (rows are samples), a data frame of pandas or polars, or a
    list of texts: aligned sequences with kind="sequences", documents with kind="text". Other kinds of data are told by
    the name and the contents of a file; arrays and frames are matrices unless `kind` says otherwise. `options` are
    those of the program with underscores: `lams=[0.1, 1]`, `standardize=False`, `min_separation=1`. With `progress` the
    long steps show how far they are, on stderr.

    With `checkpoint`, a folder, what has been finished is kept in `.partial` of that folder until the analysis ends:
    the same call on the same data goes on from there after an interruption, to the same numbers. Nothing else is
    written unless `save` of the result is called, which also writes the files that options name (`impute`,
    `write_model`). ValueError, in the words of the program, where the data or an option cannot be used; there the data
    that have no file are called by the name `data`.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> common = rng.standard_normal((60, 1))
    >>> found = analyse(common + rng.standard_normal((60, 4)), repeats=2, jobs=1)
    >>> found.conclusions[0]
    'The matrix has 60 rows and 4 columns, 15 rows per column.'
    """
    for name, instead in NOT_HERE.items():
        if name in options:
            raise ValueError(f"{name} is an option of the command alone: here {instead}")
    if kind is not None:
        checks.choice("kind", kind, get_args(Kind))
    if checkpoint is not None and not (isinstance(checkpoint, str | Path) and str(checkpoint)):
        raise ValueError(f"checkpoint must be the path of a folder, got {checks.shown(checkpoint)}")
    _require_known(options)
    with tempfile.TemporaryDirectory() as folder:
        path, kind = _as_file(data, kind, Path(folder), options)
        argv = [
            str(path) if path.is_absolute() else f"./{path}",
            *_as_typed(options),
            *([f"--kind={kind}"] if kind else []),
        ]
        try:
            return _analyzed(argv, progress, None if checkpoint is None else Path(checkpoint))
        except (DataError, OptionError) as error:
            raise ValueError(str(error).replace(f"{folder}/", "")) from None


def _analyzed(argv: list[str], progress: bool, checkpoint: Path | None) -> Analyzed:
    typed, owners = parsed(argv)
    kind = typed.kind or kind_of(typed.file)
    require_own_options(typed, owners, kind)
    steps: Steps[Any, Any] = import_module(f"figures.analyse.{kind}.command").STEPS
    kept = NOTHING if checkpoint is None else finished(typed, f"analyse_{result_name(typed.file, kind)}", checkpoint)
    with contextlib.redirect_stdout(sys.stderr):  # what long steps announce, where they show how far they are
        found, title, notes = steps.found(typed, f"analyse {typed.file.stem}" if progress else None, kept)
    return Analyzed(kind, title, tuple(notes), found, steps)


def _require_known(options: Mapping[str, Any]) -> None:
    """Refuse a name that is no option; the command would take the beginning of one for it."""
    known = set(vars(parsed(["data"])[0])) - {"file", "kind", "typed", *NOT_HERE}
    for name in options:
        if name not in known:
            near = get_close_matches(name, known, 1)
            raise ValueError(f"{name} is no option of analyse" + (f": {near[0]} is one" if near else ""))


def _as_file(data: Any, kind: Kind | None, folder: Path, options: Mapping[str, Any]) -> tuple[Path, Kind | None]:
    """Return the path of the data, which are written to a file in `folder` where they have none, and their kind."""
    if isinstance(data, str | Path):
        return Path(data), kind
    texts = _listed_texts(data, kind)
    if texts is not None:
        if kind not in ("sequences", "text"):
            raise ValueError(
                "kind must say what a list of texts holds, 'sequences' (aligned ones) or 'text' (documents), got "
                f"{kind!r}"
            )
        return _texts(texts, kind, folder), kind
    # What is left out, or names groups, need not hold numbers; the program reads the other columns.
    chosen = any(options.get(name) is not None for name in ("columns", "skip_columns", "groups", "missing"))
    is_frame = (hasattr(data, "to_csv") or hasattr(data, "write_csv")) and hasattr(data, "columns")
    numbers = data
    if kind in (None, "matrix") and not (is_frame and chosen):
        numbers = foreign.plain("data", data, "real numbers", holes=True)
    if is_frame:
        path = folder / "data.csv"
        if hasattr(data, "write_csv") and numbers is data:
            data.write_csv(path)
        else:
            index = getattr(data, "index", None)
            frame = data if numbers is data else pd.DataFrame(numbers, columns=list(data.columns), index=index)
            frame = frame * 1 if frame.dtypes.map(pd.api.types.is_bool_dtype).all() else frame
            frame.to_csv(path, index=not _is_numbered(frame.index))
        return path, kind or "matrix"
    try:
        array = np.asarray(numbers)
    except ValueError:
        raise ValueError("data must have rows of one length, got rows of different lengths") from None
    if array.dtype == object or array.ndim != 2:
        raise ValueError(
            "data must be a path, a matrix of numbers (rows are samples), a data frame or a list of texts, got "
            f"{type(data).__name__} of the shape {array.shape} and the type {array.dtype}"
        )
    if array.dtype.kind in "US":
        raise ValueError("data must be numbers: for aligned sequences give a list of strings and kind='sequences'")
    if kind == "text":
        raise ValueError("data must be a list of texts, or a path, with kind='text', got an array of numbers")
    if kind == "sequences":
        if array.dtype.kind not in "iu":
            raise ValueError(f"data must be integers or strings with kind='sequences', got the type {array.dtype}")
        np.savetxt(folder / "data.csv", array, fmt="%d", delimiter=",")
        return folder / "data.csv", kind
    np.save(folder / "data.npy", array)
    return folder / "data.npy", kind or "matrix"


def _listed_texts(data: Any, kind: Kind | None) -> list[str] | None:
    """Return texts as a list of strings, also where they are listed letter by letter or word by word; else None."""
    listed = data.tolist() if isinstance(data, np.ndarray) and data.dtype.kind in "UO" else data
    if not isinstance(listed, Sequence) or isinstance(listed, str) or not listed:
        return None
    if all(isinstance(each, str) for each in listed):
        return [*listed]
    if kind in ("sequences", "text") and all(
        isinstance(each, list | tuple) and all(isinstance(part, str) for part in each) for each in listed
    ):
        return [("" if kind == "sequences" else " ").join(each) for each in listed]
    return None


def _is_numbered(index: Any) -> bool:
    return bool(np.array_equal(np.asarray(index), np.arange(len(index))))


def _texts(texts: list[str], kind: str, folder: Path) -> Path:
    if kind == "sequences":
        path = folder / "data.fasta"
        path.write_text("".join(f">{k + 1}\n{text}\n" for k, text in enumerate(texts)), encoding="utf-8")
    else:
        path = folder / "data.jsonl"
        path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
    return path


def _as_typed(options: Mapping[str, Any]) -> list[str]:
    """Return the options as they are typed in a shell."""
    typed = []
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        if value is True:
            typed.append(flag)
        elif value is False:
            typed += [] if name not in ("standardize", "reweight", "boltzmann") else [f"--no-{flag[2:]}"]
        elif value is not None:
            many = isinstance(value, list | tuple | np.ndarray)
            typed.append(f"{flag}={','.join(map(str, value)) if many else value}")
    return typed
