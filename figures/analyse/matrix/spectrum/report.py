"""The spectra in words and in a text table."""

import numpy as np

from figures.analyse.matrix.spectrum.record import COVARIANCE, MASKED, MatrixSpectrum, MethodSpectrum, NoiseBulk
from figures.analyse.wording import WIDTH, paragraphs
from figures.core.render import render
from theory.models.arrays import Array

HEADER = ["matrix", "largest", "noise part ends at", "outliers", "independent columns at", "outliers", "permuted"]
LISTED, NAMED = 4, 4  # directions, and columns of each


def spectrum_report(spectrum: MatrixSpectrum | str, width: int = WIDTH) -> str:
    """Table and sentences; the one line that says why there is no spectrum."""
    if isinstance(spectrum, str):
        return spectrum
    title = f"Eigenvalues that noise does not have: n = {spectrum.n}, lam = {spectrum.lam:.2g}"
    caption = (
        "ends: edge + margin that noise exceeds in 1% of samples (Tracy-Widom, proportional to n^(-2/3)); "
        "permuted: largest eigenvalue after every column is permuted by itself"
    )
    cells = [_cells(method) for method in spectrum.methods]
    lines = (_assumptions(spectrum), *_warnings(spectrum), *_directions(spectrum))
    return "\n".join((render(HEADER, cells, title, caption, "text"), "", paragraphs(lines, width)))


def _cells(method: MethodSpectrum) -> list[str]:
    eigenvalues = method.eigenvalues
    ends = [text for bulk in (method.noise, method.independent) for text in (_end(bulk), str(bulk.above(eigenvalues)))]
    return [method.method, f"{eigenvalues[-1]:.4g}", *ends, f"{method.permuted[-1]:.4g}"]


def _end(bulk: NoiseBulk) -> str:
    return f"{bulk.high:.4g} + {bulk.high_margin:.2g}"


def _assumptions(spectrum: MatrixSpectrum) -> str:
    removed = spectrum.noise.removed
    return (
        "assumed: rows that are independent and close to Gaussian, and columns that share a few directions and are "
        "otherwise independent, each with a variance of its own; the noise part is what is left of the variances "
        f"without {removed} direction{'s' * (removed != 1)}. Correlations that are spread over many directions "
        "(neighboring pixels, times) are outliers too under this assumption, all of them"
    )


def _warnings(spectrum: MatrixSpectrum) -> list[str]:
    warnings = []
    if not spectrum.noise.settled:
        warnings.append(
            "the assumption does not hold: with the directions removed, ever more appear in what is left. The noise "
            "part is that of the first round, and the number of outliers depends on this choice"
        )
    heavy = [one.method for one in spectrum.methods if one.independent.above(one.permuted)]
    if heavy:
        warnings.append(
            f"permuted columns exceed the limit of independent ones ({', '.join(heavy)}): happens by chance in 1% of "
            "samples, otherwise a sign of columns with rare large values, for which the limits are too low"
        )
    return warnings


def _directions(spectrum: MatrixSpectrum) -> list[str]:
    masked, pca = spectrum[MASKED], spectrum[COVARIANCE]
    left = masked.outliers_left
    lines = [
        f"{left} eigenvalues of masked regression lie left of the noise part: combinations of columns "
        "that vary less than noise would, such as differences of columns that move together"
    ]
    if masked.outliers == 0:
        return [*(lines * (left > 0)), "no direction of masked regression stands out of the noise"]
    leading = masked.leading(masked.outliers)
    overlaps = leading @ pca.leading(max(masked.outliers, pca.outliers)).T
    described = [
        f"direction {i + 1} of masked regression (eigenvalue {masked.eigenvalues[-1 - i]:.3g}): "
        f"{_largest(leading[i], spectrum.names)}; {_compared(overlaps[i], i)}"
        for i in range(min(LISTED, masked.outliers))
    ]
    return [*(lines * (left > 0)), *described, _shared(masked, pca)]


def _largest(direction: Array, names: tuple[str, ...]) -> str:
    """Its largest columns, signed so that the first is positive."""
    order = np.argsort(-abs(direction), kind="stable")[:NAMED]
    signed = direction * np.sign(direction[order[0]])
    return ", ".join(f"{names[k]} ({signed[k]:+.2f})" for k in order)


def _compared(overlaps: Array, i: int) -> str:
    best = int(np.argmax(abs(overlaps)))
    text = f"{_degrees(overlaps[i]):.0f} degrees from direction {i + 1} of PCA"
    return text if best == i else f"{text}, {_degrees(overlaps[best]):.0f} from its direction {best + 1}"


def _degrees(cosine: float) -> float:
    return float(np.degrees(np.arccos(min(1.0, abs(cosine)))))


def _shared(masked: MethodSpectrum, pca: MethodSpectrum) -> str:
    overlap, count = subspace_overlap(masked, pca)
    return (
        f"the {count} leading directions of masked regression and of PCA span spaces that share {100 * overlap:.0f}% "
        f"(chance: {100 * count / len(masked.eigenvalues):.0f}%)"
        if count > 1
        else f"the leading directions of masked regression and of PCA have squared overlap {overlap:.3f}"
    )


def subspace_overlap(masked: MethodSpectrum, pca: MethodSpectrum) -> tuple[float, int]:
    """tr P_1 P_2/count of the leading `count` directions, count the smaller number of outliers, at least 1."""
    count = max(1, min(masked.outliers, pca.outliers))
    bases = [np.linalg.qr(one.leading(count).T)[0] for one in (masked, pca)]
    return float(np.sum((bases[0].T @ bases[1]) ** 2) / count), count
