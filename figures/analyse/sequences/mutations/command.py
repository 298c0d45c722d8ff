"""What the options --write-model, --mutations and --measured do: checks before the work, results after it."""

import argparse
from dataclasses import replace
from pathlib import Path

from figures.analyse.errors import DataError, OptionError
from figures.analyse.options_of_models import ONLY_SCORES
from figures.analyse.reading.sequences import Sequences
from figures.analyse.sequences.models.files import write_model
from figures.analyse.sequences.models.fitted import fitted_model, require_model_file
from figures.analyse.sequences.mutations.compare import compare_mutations
from figures.analyse.sequences.mutations.figure import mutation_experiment, mutation_rows
from figures.analyse.sequences.mutations.measured import Measured, read_mutations
from figures.analyse.sequences.mutations.record import Wanted
from figures.analyse.sequences.mutations.report import mutation_sentences
from figures.analyse.sequences.mutations.scores import GAP, family_mutations
from figures.analyse.sequences.record import SequenceAnalysis
from figures.analyse.steps import TableAndFigure
from figures.analyse.wording import printable, say
from theory.core import DataFrame


def wanted(options: argparse.Namespace, sequences: Sequences) -> Wanted | None:
    """Check the options before any work, and read the measured values; None where nothing is wanted.

    OptionError or DataError where they cannot be met.
    """
    require_model_file(options.write_model, sequences.tokens)
    if options.mutations is None:
        if options.measured is not None:
            raise OptionError("--measured names a column of the FILE of --mutations FILE; give that too")
        return None if options.write_model is None else Wanted(options.write_model)
    if options.reference is None:
        raise OptionError(
            "--mutations are those of one sequence of the file: name it with --reference NAME, or --reference 1 for "
            "the first one"
        )
    measured: Measured | None = None
    if options.mutations != ONLY_SCORES:
        measured = read_mutations(options.mutations, options.measured)
    elif options.measured is not None:
        raise OptionError("--measured names a column of a FILE of measured values: say --mutations FILE")
    return Wanted(options.write_model, mutations=True, measured=measured, path=options.mutations)


def with_model(
    analysis: SequenceAnalysis, sequences: Sequences, options: argparse.Namespace, asked: Wanted | None
) -> SequenceAnalysis:
    """Return the analysis with its model and what it says of mutations, where they are wanted."""
    if asked is None:
        return analysis
    is_binary = asked.target is not None and asked.target.suffix.lower() != ".dat"
    model = fitted_model(sequences, analysis, pair_frequencies=is_binary)
    if not asked.mutations:
        return replace(analysis, model=model, asked=asked)
    scores, comparison = family_mutations(model), None
    if not len(scores):
        raise OptionError(
            "--mutations has no letter of --reference to change: it has gaps only where sites are analyzed"
        )
    if asked.measured is not None:
        try:
            comparison = compare_mutations(scores, asked.measured, seed=options.seed)
        except ValueError as error:
            reason = str(error).removeprefix("measured ")
            raise DataError(Path(asked.path), reason) from None
    return replace(analysis, model=model, asked=replace(asked, scores=scores, comparison=comparison))


def model_sentences(analysis: SequenceAnalysis) -> list[str]:
    """Say what is written of the model, and what it says of mutations; nothing where nothing is wanted."""
    asked, model = analysis.asked, analysis.model
    if asked is None or model is None:
        return []
    found = []
    if asked.target is not None:
        found.append(
            "Model: couplings and fields of the pair model of all sequences are written to "
            f"{printable(asked.target)}, in the zero-sum gauge; the letters are {''.join(model.alphabet)}, in this "
            f"order{', and a gap is a letter' if GAP in model.alphabet else ''}."
        )
    if asked.scores is not None and analysis.reference is not None:
        found += mutation_sentences(asked.scores, asked.comparison, analysis.reference.name)
    return found


def model_results(analysis: SequenceAnalysis, title: str) -> list[TableAndFigure]:
    """Write the model where it is wanted, and return the table and the maps of mutations. DataError if it cannot be."""
    asked = analysis.asked
    if asked is None or analysis.model is None:
        return []
    if asked.target is not None:
        try:
            say(printable(write_model(asked.target, analysis.model)))
        except OSError as error:
            raise DataError(asked.target, f"cannot be written to ({error.strerror or error})") from None
        except ValueError as error:
            raise OptionError(f"--write-model {printable(asked.target)}: {error}") from None
    if asked.scores is None:
        return []
    experiment = mutation_experiment(f"Mutations, {title}")
    return [TableAndFigure(mutation_rows(asked.scores), experiment, {}, "_mutation_map")]


def mutation_frames(analysis: SequenceAnalysis) -> dict[str, DataFrame]:
    """Return the table of all substitutions by the end of its name, with measured values where there are any."""
    asked = analysis.asked
    if asked is None or asked.scores is None:
        return {}
    frame = asked.scores.to_frame()
    if asked.comparison is not None:
        frame["measured"] = asked.comparison.values
    return {"mutations": frame}
