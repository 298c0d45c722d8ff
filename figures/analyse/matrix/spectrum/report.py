"""Reports the spectra to the user, in words and in a text table."""

import numpy as np

from figures.analyse.matrix.spectrum.directions import Directions
from figures.analyse.matrix.spectrum.record import (
    CORRELATION,
    COVARIANCE,
    MASKED,
    MatrixSpectrum,
    MethodSpectrum,
    NoiseBulk,
)
from figures.analyse.wording import WIDTH, counted, paragraphs
from figures.core.render import render
from theory.core.arrays import Array

HEADER = ["matrix", "largest", "noise part ends at", "outliers", "independent columns at", "outliers", "permuted"]
CAPTION = (
    "An end is the edge of the bulk + a margin that noise exceeds in 1 % of samples (Tracy-Widom). Outliers are the "
    "eigenvalues beyond it. The noise part is what a few directions leave of the variances; independent columns have "
    "all of them. Permuted is the largest eigenvalue after every column is permuted by itself."
)
LISTED, NAMED = 4, 4  # so many directions are named, and so many columns of each


def spectrum_table(spectrum: MatrixSpectrum, width: int = WIDTH) -> str:
    """Write the largest eigenvalues and the limits of noise as a table, with what the limits assume."""
    title = f"Largest eigenvalues, and where those of noise end: n = {spectrum.n}, lam = {spectrum.lam:.2g}"
    cells = [_cells(method) for method in spectrum.methods]
    shown = render(HEADER, cells, title, paragraphs([CAPTION], width), "text")
    return f"{shown}\n\n{paragraphs([_assumptions(spectrum)], width)}"


def spectrum_sentences(found: Directions | str, spectrum: MatrixSpectrum | str) -> list[str]:
    """Say which count of directions to use, what the directions are, and where the limits do not hold.

    A string in the place of the spectrum says why there is none.
    """
    if isinstance(spectrum, str):
        return [spectrum]
    written = [] if isinstance(found, str) or not found.labels else [_written(found)]
    return [which_count(spectrum), *_directions(spectrum), *_warnings(spectrum), *written]


def spectrum_report(spectrum: MatrixSpectrum | str, width: int = WIDTH) -> str:
    """Write the spectra as sentences and a table, or the one line that says why there are none."""
    words = paragraphs(spectrum_sentences("", spectrum), width)
    return words if isinstance(spectrum, str) else f"{words}\n\n{spectrum_table(spectrum, width)}"


def which_count(spectrum: MatrixSpectrum) -> str:
    """Say how many directions to count on, by which of the three matrices, and why."""
    counts = {method.method: method.outliers for method in spectrum.methods}
    others = f"{counts[MASKED]} of masked regression and {counts[COVARIANCE]} of the covariance"
    return (
        f"Count {counts[CORRELATION]} as the number of directions that stand out of noise, by the correlation matrix: "
        f"its limit does not depend on units, nor on the ridge ({others} stand out; masked regression is for which "
        "columns predict each other, and weighs directions by that)."
    )


def _written(found: Directions) -> str:
    return (
        f"The files that end in _loadings.csv and _scores.csv have the {counted(len(found.labels), 'direction')} of "
        f"all three matrices, in {found.units}; the largest loading of each is positive."
    )


def _cells(method: MethodSpectrum) -> list[str]:
    eigenvalues = method.eigenvalues
    ends = [text for bulk in (method.noise, method.independent) for text in (_end(bulk), str(bulk.above(eigenvalues)))]
    return [method.method, f"{eigenvalues[-1]:.4g}", *ends, f"{method.permuted[-1]:.4g}"]


def _end(bulk: NoiseBulk) -> str:
    return f"{bulk.high:.4g} + {bulk.high_margin:.2g}"


def _assumptions(spectrum: MatrixSpectrum) -> str:
    removed = spectrum.noise.removed
    return (
        "These limits assume rows that are independent and close to Gaussian, and columns that share a few directions "
        "and are otherwise independent, each with a variance of its own; the noise part is what is left of the "
        f"variances without {removed} direction{'s' * (removed != 1)}. Correlations that are spread over many "
        "directions, such as those of neighboring pixels or times, all count as outliers under this assumption."
    )


def _warnings(spectrum: MatrixSpectrum) -> list[str]:
    warnings = []
    if not spectrum.noise.settled:
        warnings.append(
            "The assumption does not hold here: when the directions are removed, more and more appear in what is left. "
            "The noise part is that of the first round, and the number of outliers depends on this choice."
        )
    heavy = [one.method for one in spectrum.methods if one.independent.above(one.permuted)]
    if heavy:
        warnings.append(
            f"The permuted columns exceed the limit of independent columns ({', '.join(heavy)}). This happens by "
            "chance in 1 % of samples; otherwise some columns have rare large values, for which the limits are too low."
        )
    return warnings


def _directions(spectrum: MatrixSpectrum) -> list[str]:
    masked, pca = spectrum[MASKED], spectrum[COVARIANCE]
    left = masked.outliers_left
    lines = [
        f"{counted(left, 'eigenvalue')} of masked regression {'lie' if left > 1 else 'lies'} below those of the noise "
        "part: some combinations of columns vary less than noise would, such as differences of columns that move "
        "together."
    ]
    if masked.outliers == 0:
        return [*(lines * (left > 0)), "No direction of masked regression stands out of the noise."]
    leading = masked.leading(masked.outliers)
    overlaps = leading @ pca.leading(max(masked.outliers, pca.outliers)).T
    described = [
        f"Direction {i + 1} of masked regression (eigenvalue {masked.eigenvalues[-1 - i]:.3g}) is mostly "
        f"{_largest(leading[i], spectrum.names)}; it is {_compared(overlaps[i], i)}."
        for i in range(min(LISTED, masked.outliers))
    ]
    return [*(lines * (left > 0)), *described, _shared(masked, pca)]


def _largest(direction: Array, names: tuple[str, ...]) -> str:
    """Name the columns with the largest share in a direction, signed so that the first is positive."""
    order = np.argsort(-abs(direction), kind="stable")[:NAMED]
    signed = direction * np.sign(direction[order[0]])
    return ", ".join(f"{names[k]} ({signed[k]:+.2f})" for k in order)


def _compared(overlaps: Array, i: int) -> str:
    best = int(np.argmax(abs(overlaps)))
    text = f"{counted(round(_degrees(overlaps[i])), 'degree')} from direction {i + 1} of PCA"
    return text if best == i else f"{text}, {_degrees(overlaps[best]):.0f} from its direction {best + 1}"


def _degrees(cosine: float) -> float:
    return float(np.degrees(np.arccos(min(1.0, abs(cosine)))))


def _shared(masked: MethodSpectrum, pca: MethodSpectrum) -> str:
    overlap, count = subspace_overlap(masked, pca)
    return (
        f"The {count} leading directions of masked regression and those of PCA span spaces that share "
        f"{100 * overlap:.0f} % (by chance {100 * count / len(masked.eigenvalues):.0f} %)."
        if count > 1
        else f"The leading directions of masked regression and of PCA have a squared overlap of {overlap:.3f}."
    )


def subspace_overlap(masked: MethodSpectrum, pca: MethodSpectrum) -> tuple[float, int]:
    """Return the overlap tr P_1 P_2 / count of the leading directions of both methods, and their count.

    P_1 and P_2 project on the `count` leading directions of each; count is the smaller number of outliers, at least 1.
    The overlap of random directions is count/d.
    """
    count = max(1, min(masked.outliers, pca.outliers))
    bases = [np.linalg.qr(one.leading(count).T)[0] for one in (masked, pca)]
    return float(np.sum((bases[0].T @ bases[1]) ** 2) / count), count
