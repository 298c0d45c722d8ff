"""The pair model of all sequences, as the fit for the map found it: kept in a file for what needs its couplings too."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from figures.analyse.sequences.independent_sites import (
    color_frequencies,
    effective_field_penalties,
    penalized_log_frequencies,
    varying_sites,
)
from theory.core import Array
from theory.core.atomic_write import atomic_write
from theory.models import DensePottsModel
from theory.models.potts import centered


@dataclass(frozen=True, eq=False)
class WholeFit:
    """Couplings (v, v, C, C) and fields (v, C) of the v sites that vary, with the evidence of their fit."""

    couplings: Array = field(repr=False)
    fields: Array = field(repr=False)
    residual: float
    iterations: int
    converged: bool


def keep_fit(path: Path, fit: Any) -> None:
    """Write a fit of the pair model into a file, its couplings J_ij with i < j alone."""
    i, j = np.triu_indices(len(fit.fields), 1)
    evidence = np.array([fit.residual, fit.iterations, fit.converged], float)
    with atomic_write(path) as temporary, temporary.open("wb") as file:
        np.savez(file, couplings=fit.couplings[i, j], fields=fit.fields, evidence=evidence)


def kept_fit(path: Path) -> WholeFit | None:
    """Return the fit that a file holds, bit for bit; None where there is no such file."""
    if not path.is_file():
        return None
    with np.load(path, allow_pickle=False) as file:
        upper, fields, (residual, iterations, converged) = file["couplings"], file["fields"], file["evidence"]
    v, C = fields.shape
    i, j = np.triu_indices(v, 1)
    couplings = np.zeros((v, v, C, C))
    couplings[i, j], couplings[j, i] = upper, upper.transpose(0, 2, 1)
    return WholeFit(couplings, fields, float(residual), int(iterations), bool(converged))


def model_of_all_sites(
    fit: WholeFit | None, states: NDArray[np.uint8], weights: Array, n_colors: int, l2: float, field_l2: float
) -> DensePottsModel:
    """Return the pair model of all L sites: of those that vary as it was fitted, of the others without couplings.

    The fields of constant sites are those of sites alone. `fit` is None where fewer than two sites vary.
    """
    varying, C = varying_sites(states), max(2, n_colors)
    fields = centered(site_log_frequencies(states, weights, n_colors, l2, field_l2))
    couplings = np.zeros((len(varying), len(varying), C, C))
    if fit is not None:
        places = np.flatnonzero(varying)
        couplings[places[:, None], places], fields[places] = fit.couplings, fit.fields
    return DensePottsModel(couplings, fields)


def site_log_frequencies(states: NDArray[np.uint8], weights: Array, n_colors: int, l2: float, field_l2: float) -> Array:
    """Return log p_i(a) of sites alone (L, C), shrunk as they are in the pair model."""
    frequencies = color_frequencies(states, weights, max(2, n_colors))
    penalties = effective_field_penalties(frequencies, varying_sites(states), l2, field_l2)
    return penalized_log_frequencies(frequencies, penalties / weights.sum())
