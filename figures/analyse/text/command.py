"""The analysis of a user's text: from the files to its tables and figure."""

import argparse
from pathlib import Path
from typing import Any

from figures.analyse.option_types import as_typed
from figures.analyse.reading.text import Corpus, read_corpus, read_vectors
from figures.analyse.results import write_results
from figures.analyse.text.analyse import analyse_corpus
from figures.analyse.text.figure import as_experiment
from figures.analyse.text.record import TextAnalysis
from figures.analyse.text.report import report
from figures.analyse.text.table import contrast_frame


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
        raise as_typed(options.file, error, options) from None
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


def _written(analysis: TextAnalysis, title: str, output: Path, name: str) -> list[Path]:
    """Tables and figures."""
    import pandas as pd

    topics = pd.DataFrame(
        {
            "topic": range(1, len(analysis.topics) + 1),
            "share": analysis.shares,
            "words": [" ".join(words) for words in analysis.topics],
        }
    )
    frames = {"topics": topics, "contrast": contrast_frame(analysis.comparisons)}
    return write_results(output, name, analysis.rows, as_experiment(title), frames)
