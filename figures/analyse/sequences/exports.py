"""Writes what other programs for contacts read: the pairs of EVcouplings, the matrices of CCMpred, and weights."""

from collections.abc import Sequence
from io import StringIO

import numpy as np

from figures.analyse.sequences.record import SequenceAnalysis
from figures.analyse.sequences.reference import GAP_NUMBER
from theory.core import Array, DataFrame


def exchange_files(analysis: SequenceAnalysis) -> dict[str, str]:
    """Return the contents of the files for other programs, by the end of their names.

    ECs.txt has a line for each pair of varying sites at any separation, the strongest first, in the six columns that
    plmc writes and EVcouplings reads, separated by blanks and without a header: i A_i j A_j fn cn. i and j are residues
    of the reference sequence with its letters A, or, without one, columns with their most frequent letters; pairs with
    a gap of the reference are left out. fn is the Frobenius norm of the couplings, cn the norm with the average-product
    correction. It is written where every token is one letter. ccmpred.mat and ccmpred_raw.mat are matrices (L, L) over
    the sites, separated by blanks: the scores with that correction, as CCMpred writes them, and without, as CCMpred -A.
    """
    files = {"ccmpred.mat": _matrix(analysis.scores), "ccmpred_raw.mat": _matrix(analysis.norms)}
    if all(len(token) == 1 and not token.isspace() for token in analysis.tokens):
        files["ECs.txt"] = _couplings(analysis)
    return files


def _couplings(analysis: SequenceAnalysis) -> str:
    numbers, letters = _numbering(analysis)
    every = sorted([*analysis.pairs, *analysis.nearer], key=lambda pair: -pair.score)
    lines = [
        f"{numbers[p.i]} {letters[p.i]} {numbers[p.j]} {letters[p.j]} {p.norm:.6g} {p.score:.6g}"
        for p in every
        if GAP_NUMBER not in (numbers[p.i], numbers[p.j])
    ]
    return "".join(f"{line}\n" for line in lines)


def _numbering(analysis: SequenceAnalysis) -> tuple[Sequence[int], Sequence[str]]:
    """Return the numbers and letters of the sites: of the reference, or else columns and their commonest letters."""
    if analysis.reference is not None:
        return analysis.reference.numbers.tolist(), analysis.reference.letters
    return analysis.columns.tolist(), [analysis.tokens[a] for a in analysis.commonest]


def _matrix(values: Array) -> str:
    text = StringIO()
    np.savetxt(text, values, fmt="%.6g")
    return text.getvalue()


def weights_frame(analysis: SequenceAnalysis, names: Sequence[str]) -> DataFrame:
    """Return a table with one line for each sequence: its number among those analyzed, name, weight, and cluster.

    The name is left out where `names` is empty.
    """
    from pandas import DataFrame

    M = analysis.n_sequences
    columns = {"sequence": np.arange(1, M + 1), "name": list(names), "weight": analysis.weights}
    if not names:
        del columns["name"]
    return DataFrame({**columns, "cluster": analysis.clusters + 1})
