"""Defines the steps of python -m figures analyse for text."""

import argparse
from typing import Any

from figures.analyse.errors import DataError, OptionError
from figures.analyse.finished import Finished
from figures.analyse.reading.text import Corpus, read_corpus, read_vectors
from figures.analyse.reading.text.encoder import missing_encoder, pretrained, word_reader
from figures.analyse.steps import Steps, TableAndFigure
from figures.analyse.text.analyse import analyse_corpus
from figures.analyse.text.figure import as_experiment
from figures.analyse.text.needs import require_memory_for, text_needs
from figures.analyse.text.record import TextAnalysis
from figures.analyse.text.report import report, summary
from figures.analyse.text.table import contrast_frame, topics_frame


def _read(options: argparse.Namespace) -> Corpus:
    missing = missing_encoder() if options.encoder else None
    if missing:
        raise OptionError(f"--encoder: {missing}")
    require_memory_for(options)
    corpus = read_corpus(
        options.file,
        encoding=options.encoding,
        stop_words=options.stop_words,
        min_documents=options.min_documents,
        max_words=options.max_words,
        text_column=options.text_column,
        drop_empty=options.drop_empty,
    )
    if corpus.n_documents < 2:
        raise DataError(
            options.file,
            "holds one document; topics are found from words that are together in some documents and not in others: "
            "put each document on a line of its own, or into a file of its own in a folder",
        )
    return corpus


def _analyse(corpus: Corpus, options: argparse.Namespace, label: str | None, kept: Finished) -> TextAnalysis:
    own: dict[str, Any] = {}
    if options.vectors is not None:
        own["vectors"], own["known"] = read_vectors(options.vectors, corpus.words)
    if options.encoder:
        own["reader"] = word_reader(corpus.words, *pretrained())
    return analyse_corpus(
        corpus.counts,
        corpus.words,
        topics=options.topics,
        thresholds=options.thresholds,
        sweeps=options.sweeps,
        permutations=options.permutations,
        split=options.split,
        seed=options.seed,
        progress=label,
        kept=kept,
        **own,
    )


def _results(analysis: TextAnalysis, title: str) -> list[TableAndFigure]:
    frames = {"topics": topics_frame(analysis), "contrast": contrast_frame(analysis.comparisons)}
    return [TableAndFigure(analysis.rows, as_experiment(title), frames)]


STEPS = Steps(
    kind="text",
    read=_read,
    notes=lambda corpus, _options: list(corpus.notes),
    analyse=_analyse,
    title=lambda analysis: f"{analysis.n_documents} documents, {analysis.n_words} words",
    report=lambda analysis, title: report(analysis, f"Topics of {title}"),
    results=_results,
    conclusions=summary,
    needs=text_needs,
)
