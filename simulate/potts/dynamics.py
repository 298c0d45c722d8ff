"""Advances independent chains of a Potts model, by the kernel that fits its couplings."""

from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from simulate.potts.kernels.samplers import DenseChains, GroupChains, LatticeChains, ProductChains
from theory.core import Array, checked
from theory.models import DensePottsModel, ManyBodyPottsModel, Potts, PottsModel, SquareLatticePotts

Method = Literal["heat_bath", "metropolis", "colored"]


class Dynamics(Protocol):
    """Chains that are advanced together; no number depends on how many threads do it."""

    betas: NDArray[np.float64]  # (n_chains,), may be changed between runs

    @property
    def states(self) -> NDArray[np.int16]:
        """A copy of the present states, (n_chains, L)."""

    @property
    def acceptance(self) -> float:
        """The share of accepted proposals, 1.0 for the heat bath."""

    def run(self, n_sweeps: int) -> None:
        """Advance every chain by `n_sweeps` sweeps of L updates."""

    def scores(self) -> NDArray[np.float64]:
        """Return the scores S(s) of the present states, (n_chains,)."""

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """Return copies of all arrays that are needed to go on with the same numbers."""

    def restore(self, snapshot: dict[str, NDArray[Any]]) -> None:
        """Go back to the moment of `snapshot`."""


@checked
def make_dynamics(
    model: Potts,
    n_chains: int,
    rng: np.random.Generator,
    *,
    method: Method = "heat_bath",
    betas: Array | None = None,
    start: NDArray[np.integer[Any]] | None = None,
    n_threads: int = 1,
) -> Dynamics:
    """Make `n_chains` independent Markov chains of `model`, to be advanced sweep by sweep.

    The chains are in the states `start` (n_chains, L), or in random ones if it is None. `betas`, one number or
    (n_chains,), replaces the inverse temperature of the model. `method` says how the color of one site is updated:

    - "heat_bath" draws it from its conditional law given all other sites.
    - "metropolis" proposes another color and accepts it with probability min(1, ratio of weights). With two colors it
      proposes either, because always proposing the other one would let a free site alternate for ever.
    - "colored" is the heat bath, one class of sites that do not interact after the other, so that threads can share the
      sites of few chains. With dense couplings every class is one site, and "colored" is "heat_bath".

    Sites are updated in a fixed order. Therefore P is stationary, but detailed balance holds for single updates only.
    Local scores of dense couplings are added up in single precision, those of sparse and many-body models in double.
    The numbers depend on `rng`, not on `n_threads`. Raises ValueError for bad arguments, and where couplings and fields
    are too large for single precision.

    >>> from theory.models import SquareLatticePotts
    >>> chains = make_dynamics(SquareLatticePotts(4, 4, n_colors=3), 10, np.random.default_rng(0))
    >>> chains.run(5)
    >>> chains.states.shape, chains.scores().shape
    ((10, 16), (10,))
    """
    options: dict[str, Any] = {"betas": betas, "start": start, "n_threads": n_threads}
    options["metropolis"] = method == "metropolis"
    if isinstance(model, SquareLatticePotts):
        # The kernel of the lattice goes through even sites before odd ones, and so serves "colored" too.
        if method != "metropolis":
            return LatticeChains(model, n_chains, rng, **options)
        model = model.pair_model
    if isinstance(model, DensePottsModel):
        return DenseChains(model, n_chains, rng, **options)
    if isinstance(model, PottsModel) and _products_pay(model):
        return ProductChains(model, n_chains, rng, **options)
    if isinstance(model, PottsModel | ManyBodyPottsModel):
        return GroupChains(model, n_chains, rng, colored=method == "colored", **options)
    raise ValueError(f"model must be a Potts record of theory.models, got {type(model).__name__}")


def _products_pay(model: PottsModel) -> bool:
    """Say whether counts of neighbors are faster than lists of them.

    The two sides are the nanoseconds that an update took with either, fitted to measurements with 64 chains.
    """
    degree, C = model.density * (model.n_sites - 1), model.n_colors
    return bool(25 + 7 * C + model.n_sites / 4 < 15 + 2.5 * C + degree * (6 + 0.4 * C))
