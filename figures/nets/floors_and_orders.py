"""What figures of training on the exact four-body population share: its floors and the names of orders."""

from figures.nets.four_body import four_body_model
from theory.potts import enumerate_states, k_body_floor

LOSS = "masked loss"  # title of the panel of losses; the others show orders
SEEN = ("no other site", "1 other", "2 others", "3 others", "4 others")
FLOORS = {1: "sites alone", 2: "2-body floor", 3: "3-body floor", 4: "4-body floor (Bayes)"}


def floors() -> dict[str, float]:
    """The least losses of predictions with interactions of at most k bodies, by name."""
    exact = enumerate_states(four_body_model())
    return {name: k_body_floor(exact, k).loss for k, name in FLOORS.items()}
