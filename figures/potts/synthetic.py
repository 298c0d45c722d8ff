"""Makes up an RNA family with known interactions. `python -m figures.potts.synthetic` samples its alignment anew."""

from pathlib import Path

import numpy as np

from simulate.core import stream
from theory.models import PottsModel
from theory.models.potts import random_color_couplings, random_graph, zero_sum_blocks

ALIGNMENT = Path(__file__).with_name("data") / "synthetic.fasta"
LETTERS = "ACGU"
BETA = 0.7
N_SITES, N_SEQUENCES = 40, 1000
DEGREE = 3.0  # mean number of sites that a site interacts with


def synthetic_model() -> PottsModel:
    """Make a random graph of couplings J_ij U_ab between four letters, with random fields."""
    rng = stream(0, "synthetic alignment")
    graph = random_graph(N_SITES, DEGREE, rng)
    fields = 0.5 * rng.standard_normal((N_SITES, len(LETTERS)))
    return PottsModel(graph, zero_sum_blocks(random_color_couplings(len(LETTERS), rng)), fields, BETA)


def main() -> None:
    """Write equilibrium samples of the model as FASTA."""
    from simulate.potts import sample

    states = sample(synthetic_model(), N_SEQUENCES, seed=0).states
    rows = np.array(list(LETTERS))[states]
    ALIGNMENT.parent.mkdir(exist_ok=True)
    ALIGNMENT.write_text("".join(f">s{k}\n{''.join(row)}\n" for k, row in enumerate(rows, start=1)), encoding="ascii")


if __name__ == "__main__":
    main()
