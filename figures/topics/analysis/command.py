"""The analysis of a user's text: from the files to its tables and figure."""

import argparse
from pathlib import Path
from typing import Any

from figures.core.scratch import moved_into_place
from figures.reading import Corpus, DataError, read_corpus
from figures.reading.text import read_vectors
from figures.topics.analysis.analyse import analyse_corpus
from figures.topics.analysis.figure import as_experiment
from figures.topics.analysis.record import TextAnalysis
from figures.topics.analysis.report import report
from figures.topics.analysis.table import contrast_frame


def run(options: argparse.Namespace) -> None:
    """Reads, fits, writes and says. DataError where a file or an option cannot be used."""
    corpus = read_corpus(
        options.file,
        encoding=options.encoding,
        stop_words=options.stop_words,
        min_documents=options.min_documents,
        max_words=options.max_words,
        text_column=options.text_column,
        drop_empty=options.drop_empty,
    )
    print(*(f"{options.file}: {note}" for note in corpus.notes), sep="\n")
    name = result_name(options.file)
    try:
        analysis = _fitted(corpus, options, name)
    except (ValueError, MemoryError) as error:
        raise DataError(options.file, _as_typed(str(error), options)) from None
    title = f"{name}: {analysis.n_documents} documents, {analysis.n_words} words"
    print(report(analysis, f"Topics of {title}"), end="\n\n")
    print(*_written(analysis, title, options.output, f"analyse_{name}"), sep="\n")


def result_name(file: Path) -> str:
    """Of the file or folder; of a table also what it was read as: no two results share a name."""
    name = Path(file.resolve().name.removesuffix(".gz"))
    return f"{name.stem}_text" if name.suffix.lower() in (".csv", ".tsv") else name.name


def _fitted(corpus: Corpus, options: argparse.Namespace, name: str) -> TextAnalysis:
    own: dict[str, Any] = {}
    if options.vectors is not None:
        own["vectors"], own["known"] = read_vectors(options.vectors, corpus.words)
    return analyse_corpus(
        corpus.counts,
        corpus.words,
        topics=options.topics,
        thresholds=options.thresholds,
        sweeps=options.sweeps,
        permutations=options.permutations,
        split=options.split,
        seed=options.seed,
        progress=f"analyse {name}",
        **own,
    )


def _as_typed(message: str, options: argparse.Namespace) -> str:
    """An error that begins with the name of an option names it as it is typed."""
    name, _, rest = message.partition(" ")
    return f"--{name} {rest}" if name in vars(options) else message


def _written(analysis: TextAnalysis, title: str, output: Path, name: str) -> list[Path]:
    """Tables and figures. Each is written beside its place and moved there: an earlier result is kept or replaced."""
    import pandas as pd

    from figures.core.plot import draw_figure
    from figures.core.table import read_csv, write_csv

    table = output / f"{name}.csv"
    topics = pd.DataFrame(
        {
            "topic": range(1, len(analysis.topics) + 1),
            "share": analysis.shares,
            "words": [" ".join(words) for words in analysis.topics],
        }
    )
    others = {
        output / f"{name}_topics.csv": topics,
        output / f"{name}_contrast.csv": contrast_frame(analysis.comparisons),
    }
    figures = [output / f"{name}.{suffix}" for suffix in ("pdf", "png")]
    try:
        write_csv(analysis.rows, table)
        for path, frame in others.items():
            with moved_into_place(path) as scratch:
                frame.to_csv(scratch, index=False)
        draw_figure(as_experiment(analysis, title.replace("$", r"\$")), read_csv(table), *figures)
    except OSError as error:
        raise DataError(output, f"cannot be written to ({error.strerror or error})") from None
    return [table, *others, *figures]
