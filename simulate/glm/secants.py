"""Steps of a quasi-Newton method: an approximate matrix, improved by how the gradient has changed along past moves."""

from collections.abc import Callable, Sequence

from theory.core import Array

Move = tuple[Array, Array]  # of the coordinates, and by how much it has changed the gradient


def secant_step(gradient: Array, moves: Sequence[Move], solved: Callable[[Array], Array]) -> Array:
    """Return minus the gradient times the inverse of the matrix that agrees with all moves, the last one exactly.

    `solved` multiplies by the inverse of the matrix without them. The updates are those of Broyden, Fletcher, Goldfarb
    and Shanno, in the two loops of Nocedal (1980).
    """
    step, sizes = -gradient, []
    for move, change in reversed(moves):
        sizes.append(float(move @ step) / float(move @ change))
        step -= sizes[-1] * change
    step = solved(step)
    for (move, change), size in zip(moves, reversed(sizes), strict=True):
        step += (size - float(change @ step) / float(move @ change)) * move
    return step
