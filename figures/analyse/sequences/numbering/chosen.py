"""Reads what the user's options say of residues and contacts, before the long work, and refuses what does not fit."""

import argparse

from figures.analyse.errors import OptionError
from figures.analyse.reading.sequences import Sequences
from figures.analyse.sequences.pairs.contacts import Contacts, read_contacts
from figures.analyse.sequences.reference import GAP_NUMBER, Reference, first_letters, read_reference
from figures.analyse.wording import say


def chosen_reference(sequences: Sequences, options: argparse.Namespace) -> Reference | None:
    """Return the residues of the sequence that --reference names, and say which ones; None without that option.

    OptionError for options that number residues of a sequence that is not named.
    """
    if options.reference is None:
        for name in ("first_residue", "reference_sequence"):
            if getattr(options, name) is not None:
                what = "is a number of" if name == "first_residue" else "is the full sequence of"
                raise OptionError(
                    f"--{name.replace('_', '-')} {what} the sequence that --reference names; say which one, as in "
                    "--reference 1 for the first of the file"
                )
        return None
    full = options.reference_sequence
    reference = read_reference(sequences, options.reference, options.alphabet, options.first_residue, full)
    start = f"{first_letters(reference.letters)}..., of which the first is number {_first(reference)}"
    say(
        f"sites are also numbered by the residues of {reference.name} ({start})",
        *(f"note: {note}" for note in reference.notes),
    )
    return reference


def _first(reference: Reference) -> int:
    return int(reference.numbers[reference.numbers != GAP_NUMBER][:1].sum())


def chosen_contacts(sequences: Sequences, reference: Reference | None, options: argparse.Namespace) -> Contacts | None:
    """Return the contacts that --contacts names, and say which ones; None without that option."""
    if options.contacts is None:
        if options.chain is not None:
            raise OptionError("--chain is a chain of the structure that --contacts names; say which file")
        return None
    found = read_contacts(options.contacts, sequences.columns, reference, options.chain)
    say(f"pairs are compared with the contacts of {found.source}", *(f"note: {note}" for note in found.notes))
    return found
