"""Defines the steps of python -m figures analyse for sequences."""

import argparse
import os
from dataclasses import replace

from figures.analyse.finished import Finished
from figures.analyse.reading.sequences import Sequences, read_sequences
from figures.analyse.sequences.analyse import analyse_sequences
from figures.analyse.sequences.clones import clone_files, clones_frame
from figures.analyse.sequences.exports import exchange_files, weights_frame
from figures.analyse.sequences.figure import as_experiment
from figures.analyse.sequences.generation import generation_frame, generation_results, sequence_file
from figures.analyse.sequences.mutations.command import model_results, mutation_frames, wanted, with_model
from figures.analyse.sequences.needs import needs
from figures.analyse.sequences.numbering.chosen import chosen_contacts, chosen_reference
from figures.analyse.sequences.numbering.sites import sites_frame
from figures.analyse.sequences.pairs.gaps import without_gaps
from figures.analyse.sequences.pairs.tables import contact_rows, numbering_rows, site_frames
from figures.analyse.sequences.record import SequenceAnalysis
from figures.analyse.sequences.reference import record_names
from figures.analyse.sequences.report import report, summary
from figures.analyse.sequences.table import pairs_frame
from figures.analyse.steps import Steps, TableAndFigure

N_LISTED_TOKENS = 30  # tokens that a note names


def _read(options: argparse.Namespace) -> Sequences:
    found = read_sequences(
        options.file,
        alphabet=options.alphabet,
        unknown=options.unknown,
        header=options.header,
        columns=options.columns,
        skip_columns=options.skip_columns,
        most=options.max_sequences,
        seed=options.seed,
    )
    return without_gaps(found, options.max_gaps_sequence, options.max_gaps_column)


def _notes(sequences: Sequences, _options: argparse.Namespace) -> list[str]:
    M, L = sequences.states.shape
    tokens = " ".join(sequences.tokens[:N_LISTED_TOKENS]) + (" ..." if len(sequences.tokens) > N_LISTED_TOKENS else "")
    return [f"{M} sequences of {L} sites, {sequences.alphabet} ({tokens})", *sequences.notes]


def _analyse(sequences: Sequences, options: argparse.Namespace, label: str | None, kept: Finished) -> SequenceAnalysis:
    # Read before the long work, since their names may be wrong.
    asked = wanted(options, sequences)
    reference = chosen_reference(sequences, options)
    contacts = chosen_contacts(sequences, reference, options)
    found = analyse_sequences(
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
        protein=sequences.alphabet == "protein",
        clones=options.clones,
        generate=options.generate,
        boltzmann=options.boltzmann,
        seed=options.seed,
        n_jobs=options.jobs if options.jobs > 0 else os.cpu_count() or 1,
        progress=label,
        say=print if label is not None else lambda _: None,
        kept=kept,
        with_fit=asked is not None,
    )
    said = () if reference is None else reference.notes
    found = replace(
        found,
        reference=reference,
        names=tuple(record_names(sequences)),
        sites=sites_frame(sequences, found.weights, found.commonest, reference),
        contacts=contacts,
        notes=(*found.notes, *said),
        rows=[*found.rows, *numbering_rows(found.columns), *contact_rows(contacts, found.min_separation)],
    )
    return with_model(found, sequences, options, asked)


def _results(analysis: SequenceAnalysis, title: str) -> list[TableAndFigure]:
    frames = {"pairs": pairs_frame(analysis), "weights": weights_frame(analysis, analysis.names)}
    frames |= site_frames(analysis) | mutation_frames(analysis)
    if analysis.clones:
        frames["clones"] = clones_frame(analysis.clones)
    files = exchange_files(analysis) | clone_files(analysis.clones, analysis.tokens)
    if analysis.generation is not None:
        frames["generation"] = generation_frame(analysis.generation)
        files |= sequence_file(analysis.generation, analysis.tokens)
    return [
        TableAndFigure(analysis.rows, as_experiment(title, is_short=analysis.evidence.is_short), frames, files=files),
        *model_results(analysis, title),
        *generation_results(analysis.generation, title),
    ]


STEPS = Steps(
    kind="sequences",
    read=_read,
    notes=_notes,
    analyse=_analyse,
    title=lambda analysis: f"{analysis.n_sequences} sequences, {analysis.n_sites} sites",
    report=lambda analysis, title: report(analysis, f"Pair model of {title}"),
    results=_results,
    conclusions=summary,
    needs=lambda options: needs(_read(options), options),
)
