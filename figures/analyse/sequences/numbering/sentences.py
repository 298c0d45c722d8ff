"""Says by which numbers the sites are called, in the list, in the files and in the map."""

import numpy as np

from figures.analyse.sequences.record import SequenceAnalysis


def numbers_of_sites(analysis: SequenceAnalysis) -> list[str]:
    """Say which of the three numbers of a site stands where, if two of them differ."""
    same = np.array_equal(analysis.columns, np.arange(1, analysis.n_sites + 1))
    if same and analysis.reference is None:
        return []
    which = "In the list below, the figure and the tables a site is called by its column in the file, from 1"
    residue = ", with its residue beside it" if analysis.reference is not None else ""
    index = (
        "its index, the row that it has in the matrices, is the same number"
        if same
        else f"its index from 1 to {analysis.n_sites} without the columns that were left out, which is its row in the "
        "matrices, is another number"
    )
    listed = " (_sites.csv lists all of them)" if analysis.sites is not None else ""
    return [f"{which}{residue}; {index}{listed}."]
