"""Runs the steps from a user's file to its results, the same for every kind of data.

A kind says how each step is done (its own `command.py`); here they are put in order, and failures are worded.
"""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Generic, TypeVar

from figures.analyse.errors import DataError, OptionError, as_typed
from figures.analyse.finished import NOTHING, Finished, finished
from figures.analyse.json_text import as_json
from figures.analyse.needs import Needs
from figures.analyse.reading.matrix.formats import FORMATS as MATRICES
from figures.analyse.reading.opening import extension, plain_name
from figures.analyse.reading.sequences.formats import FORMATS
from figures.analyse.wording import printable, say
from figures.core import DataFrame, Experiment, Row
from figures.core.plain_text import escaped, safe_frame
from simulate.core import CheckpointError, TaskError
from theory.core.atomic_write import atomic_write

EXTENSIONS = {
    "matrix": tuple(MATRICES),
    "sequences": tuple(suffix for suffixes in FORMATS.values() for suffix in suffixes),
    "text": (".txt", ".ldac", ".jsonl", ".ndjson", ".mtx"),
}

Data = TypeVar("Data")
Analysis = TypeVar("Analysis")


@dataclass(frozen=True)
class TableAndFigure:
    """One table with its figure, and further tables and files of text.

    They become the files NAME.csv, NAME.pdf, NAME.png, NAME_KEY.csv of `frames`, and NAME_END of `files`.
    """

    rows: list[Row]
    experiment: Experiment
    frames: Mapping[str, DataFrame]
    suffix: str = ""  # of NAME
    files: Mapping[str, str] = field(default_factory=dict)

    def write(self, output: Path, name: str) -> list[Path]:
        """Write the files of this result, called `name`, into the folder `output`, and return their paths.

        Each is written beside its place and moved there, so that an earlier result is kept or replaced as a whole. The
        title is the user's own: its dollars are shown, and are no mathematics. No name in them is a formula of a
        spreadsheet or moves a terminal. DataError where a file cannot be made.
        """
        from figures.core.plot import draw_figure
        from figures.core.table import read_csv, write_csv

        table = output / f"{name}.csv"
        others = {output / f"{name}_{key}.csv": frame for key, frame in self.frames.items()}
        texts = {output / f"{name}_{end}": content for end, content in self.files.items()}
        figures = [output / f"{name}.{suffix}" for suffix in ("pdf", "png")]
        shown = replace(self.experiment, title=self.experiment.title.replace("$", r"\$"))
        try:
            write_csv(self.rows, table)
            for path, frame in others.items():
                with atomic_write(path) as temporary:
                    safe_frame(frame).to_csv(temporary, index=False)
            for path, content in texts.items():
                with atomic_write(path) as temporary:
                    temporary.write_text(escaped(content), encoding="utf-8")
            draw_figure(shown, read_csv(table), *figures)
        except OSError as error:
            raise DataError(output, f"cannot be written to ({error.strerror or error})") from None
        return [table, *others, *texts, *figures]


@dataclass(frozen=True)
class Steps(Generic[Data, Analysis]):
    """How one kind of data is read, analyzed and reported."""

    kind: str
    read: Callable[[argparse.Namespace], Data]
    notes: Callable[[Data, argparse.Namespace], list[str]]  # sentences on what was read
    # The text labels the progress (None: no word), and finished tasks are kept where the last argument says.
    analyse: Callable[[Data, argparse.Namespace, str | None, Finished], Analysis]
    title: Callable[[Analysis], str]  # what was analyzed, and its size, without the name of the file
    report: Callable[[Analysis, str], str]
    results: Callable[[Analysis, str], list[TableAndFigure]]
    conclusions: Callable[[Analysis], list[str]]  # what was found, in sentences
    needs: Callable[[argparse.Namespace], Needs] | None = None  # memory and time, from as little of the file as will do

    def run(self, options: argparse.Namespace) -> None:
        """Read, analyze, report and write; where the user asks for an estimate say what that would need, and stop.

        DataError or OptionError where the file or an option cannot be used.
        """
        if options.estimate:
            if self.needs is None:
                raise OptionError(f"--estimate is not known for {self.kind}")
            try:
                needs = self.needs(options)
            except ValueError as error:
                raise as_typed(options.file, error, options) from None
            say(needs.text(options.file))
            return
        name = result_name(options.file, self.kind)
        kept = finished(options, f"analyse_{name}")
        analysis, title, notes = self.found(options, f"analyse {name}", kept, said=True)
        say(self.report(analysis, title), end="\n\n")
        for result in self.results(analysis, title):
            say(*map(printable, result.write(options.output, f"analyse_{name}{result.suffix}")))
        if options.json:
            record = getattr(analysis, "analysis", analysis)  # of a table with holes
            path = options.output / f"analyse_{name}.json"
            text = as_json(self.kind, title, notes, self.conclusions(analysis), record)
            try:
                with atomic_write(path) as temporary:
                    temporary.write_text(text, encoding="utf-8")
            except OSError as error:
                raise DataError(path, f"cannot be written to ({error.strerror or error})") from None
            say(printable(path))

    def found(
        self, options: argparse.Namespace, label: str | None, kept: Finished = NOTHING, *, said: bool = False
    ) -> tuple[Analysis, str, list[str]]:
        """Read and analyze; return what was found, its title, and what was noticed, which is printed where `said`.

        Finished tasks are kept as `kept` says until all are, so that an interrupted analysis can go on from them.
        DataError or OptionError where the file or an option cannot be used.
        """
        data = self.read(options)
        place = options.output if kept.folder is None else kept.folder.parents[1]
        try:
            notes, earlier = self.notes(data, options), kept.said()
            kept.tidy()
            if said:
                say(*(f"{printable(options.file)}: {note}" for note in [*notes, *([earlier] if earlier else [])]))
            analysis = self.analyse(data, options, label, kept)
            kept.discard()
        except (ValueError, MemoryError, TaskError) as error:
            if isinstance(error, ValueError):  # the same analysis would fail again; memory may suffice another time
                kept.discard()
            raise as_typed(options.file, error, options) from None
        except OSError as error:  # what is finished cannot be kept
            if kept is NOTHING:
                raise
            kept.discard()
            raise DataError(place, f"cannot be written to ({error.strerror or error})") from None
        except CheckpointError as error:  # as are the states of long runs
            kept.discard()
            why = getattr(error.__cause__, "strerror", None) or error
            raise DataError(place, f"cannot be written to ({why})") from None
        title = f"{printable(Path(plain_name(_named(options.file))))}: {self.title(analysis)}"
        return analysis, title, notes


def result_name(file: Path, kind: str) -> str:
    """Return what the results of a file are called, so that no two files or kinds of one folder share a name.

    The name of the file, without .csv, which the results have too, and with the kind where the extension does not say
    it: x.csv gives x, x.tsv x.tsv, x.csv read as text x.csv_text, and a folder x x_text.
    """
    file = _named(file)
    name = printable(Path(plain_name(file)))
    if extension(file) not in EXTENSIONS[kind] or file.is_dir():
        return f"{name}_{kind}"
    return name[: -len(".csv")] if extension(file) == ".csv" else name


def _named(file: Path) -> Path:
    """Return the file by a name of its own: that of the folder for "." and "..", but that of a link, not its target."""
    return file if file.name not in ("", "..") else file.resolve()
