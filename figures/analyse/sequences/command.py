"""The analysis of a user's sequences: from the file to its tables and figure."""

import argparse
import os
from pathlib import Path

from figures.analyse.option_types import as_typed
from figures.analyse.reading.sequences import Sequences, read_sequences
from figures.analyse.results import write_results
from figures.analyse.sequences import SequenceAnalysis, analyse_sequences, as_experiment, report
from simulate.core import TaskError


def run(options: argparse.Namespace) -> None:
    """Reads, fits, writes and says. DataError where the file cannot be used."""
    sequences = read_sequences(
        options.file,
        alphabet=options.alphabet,
        unknown=options.unknown,
        header=options.header,
        columns=options.columns,
        skip_columns=options.skip_columns,
        most=options.max_sequences,
        seed=options.seed,
    )
    M, L = sequences.states.shape
    print(f"{options.file}: {M} sequences of {L} sites, {sequences.alphabet} ({' '.join(sequences.tokens[:30])})")
    print(*(f"{options.file}: {note}" for note in sequences.notes), sep="\n")
    name = result_name(options.file)
    try:
        analysis = _fitted(sequences, options, name)
    except (ValueError, MemoryError, TaskError) as error:
        raise as_typed(options.file, error, options) from None
    title = f"{Path(options.file.name.removesuffix('.gz')).stem}: {M} sequences, {L} sites"
    print(report(analysis, f"Pair model of {title}"), end="\n\n")
    print(*_written(analysis, title, options.output, f"analyse_{name}"), sep="\n")


def result_name(file: Path) -> str:
    """With the extension of an alignment, and with what it was read as for a table: no two results share a name."""
    name = Path(file.name.removesuffix(".gz"))
    return f"{name.stem}_sequences" if name.suffix.lower() in (".csv", ".tsv") else name.name


def _fitted(sequences: Sequences, options: argparse.Namespace, name: str) -> SequenceAnalysis:
    return analyse_sequences(
        sequences.states,
        sequences.tokens,
        gap=None if options.count_gaps else sequences.gap,
        columns=sequences.columns,
        identity=options.identity,
        reweight=options.reweight,
        l2=options.l2,
        field_l2=options.field_l2,
        test_fraction=options.test_fraction,
        min_separation=options.min_separation,
        seed=options.seed,
        n_jobs=options.jobs if options.jobs > 0 else os.cpu_count() or 1,
        progress=f"analyse {name}",
    )


def _written(analysis: SequenceAnalysis, title: str, output: Path, name: str) -> list[Path]:
    """Tables and figures."""
    import pandas as pd

    pairs = pd.DataFrame(
        {
            "rank": range(1, len(analysis.pairs) + 1),
            "i": [analysis.columns[pair.i] for pair in analysis.pairs],
            "j": [analysis.columns[pair.j] for pair in analysis.pairs],
            "letters": [analysis.letters(pair) for pair in analysis.pairs],
            "score": [pair.score for pair in analysis.pairs],
            "norm": [pair.norm for pair in analysis.pairs],
        }
    )
    return write_results(output, name, analysis.rows, as_experiment(title), {"pairs": pairs})
