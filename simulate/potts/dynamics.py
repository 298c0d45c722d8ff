"""Many independent chains of one model, advanced by the kernel that fits its couplings."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from simulate.potts.kernels.samplers import DenseChains, GroupChains, LatticeChains, ProductChains
from theory.models import DensePottsModel, ManyBodyPottsModel, Potts, PottsModel, SquareLatticePotts, checks

METHODS = ("heat_bath", "metropolis", "colored")


class Dynamics(Protocol):
    """Chains that are advanced together; no number depends on how many threads do it."""

    betas: NDArray[np.float64]  # (n_chains,), may be changed between runs

    @property
    def states(self) -> NDArray[np.int16]:
        """A copy of the present states, (n_chains, L)."""

    @property
    def acceptance(self) -> float:
        """Share of accepted proposals; 1.0 for the heat bath."""

    def run(self, n_sweeps: int) -> None:
        """Advances every chain by `n_sweeps` sweeps of L updates."""

    def scores(self) -> NDArray[np.float64]:
        """S(s) of the present states, (n_chains,)."""

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """All that is needed to go on with the same numbers."""

    def restore(self, snapshot: dict[str, NDArray[Any]]) -> None:
        """To the moment of `snapshot`."""


def make_dynamics(
    model: Potts,
    n_chains: int,
    rng: np.random.Generator,
    *,
    method: str = "heat_bath",
    betas: Any = None,
    start: Any = None,
    n_threads: int = 1,
) -> Dynamics:
    """Chains of `model` in the states `start` (n_chains, L), default: random colors.

    `method`: "heat_bath" draws a color from its conditional, "metropolis" proposes another color, "colored" is the heat
    bath by classes of sites that do not interact, which threads share where there are fewer chains than threads. Sites
    are updated in a fixed order: P is stationary, detailed balance holds for single updates only. With dense couplings
    every class is one site, and "colored" is "heat_bath". `betas` (n_chains,) replaces the model's inverse temperature.
    Fields of dense couplings are added up in single precision, those of sparse and many-body models in double.
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    options: dict[str, Any] = {"betas": betas, "start": start, "n_threads": n_threads}
    options["metropolis"] = method == "metropolis"
    if isinstance(model, SquareLatticePotts):
        if method != "metropolis":
            return LatticeChains(model, n_chains, rng, **options)
        model = model.pair_model
    if isinstance(model, DensePottsModel):
        return DenseChains(model, n_chains, rng, **options)
    if isinstance(model, PottsModel) and _products_pay(model):
        return ProductChains(model, n_chains, rng, **options)
    if isinstance(model, PottsModel | ManyBodyPottsModel):
        return GroupChains(model, n_chains, rng, colored=method == "colored", **options)
    raise ValueError(
        f"model must be a Potts record of theory.models, got {type(checks.record('model', model, Potts)).__name__}"
    )


def _products_pay(model: PottsModel) -> bool:
    """Whether counts of neighbors beat their list, by the nanoseconds that an update took of either (64 chains)."""
    degree, C = model.density * (model.n_sites - 1), model.n_colors
    return bool(25 + 7 * C + model.n_sites / 4 < 15 + 2.5 * C + degree * (6 + 0.4 * C))
