"""Tables of the logits of any masked model at a few sites of a sequence, all others clamped, for `order_fractions`."""

from collections.abc import Callable, Iterator
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from theory.core import Array, AtLeast, Count, checked, checks
from theory.nets.orders import MAX_NUMBERS

Tokens = NDArray[np.int64]
Network = Callable[[Tokens, int], Any]

# Far above what the order of summation changes in half precision, and far below what dropout does.
MAX_REPEATED_DIFFERENCE = 0.01


@checked
def logits_table(
    network: Callable[[Any, int], Any],
    sequence: Any,
    sites: Any,
    tokens: Any,
    *,
    mask_token: Annotated[int, AtLeast(-1)],
    batch_size: Count = 256,
) -> Array:
    """Tabulate the logits of a masked model at K sites of one sequence, in all contexts of these K sites.

    `network(sequences, site)` is any function: it gets integers (n, length), copies of `sequence` in which `site` holds
    `mask_token`, and returns logits (n, V) of that site, as an array of numpy or anything that numpy converts. The K
    `sites` are places in `sequence`, counted from 0. Each of them runs through its C `tokens`, integers (C,) for all
    sites or (K, C) for each its own, while all other sites keep what `sequence` has there. The table (K, C^(K-1), C)
    holds the logits of these tokens at each of the sites, the other K - 1 in the order of `sites` and the first of them
    changing slowest: what `order_fractions` takes. Columns of other tokens are left out, which conditions on the site
    having one of the C tokens. Source: no formula; the numbers are those that `network` returns.

    This makes K C^(K-1) predictions, in batches of at most `batch_size` sequences. The table may hold 2^24 numbers
    (128 MiB), which K C^K must not exceed: 19 sites of 2 tokens, 5 of 20. Batches of long sequences are made smaller,
    so that a batch holds no more than that either, unless one sequence does.

    ValueError for a larger table, for sites that are repeated or outside the sequence, for tokens that are repeated or
    have no column in the logits, for logits that are not finite or of another shape, and for a network that, asked
    again, gives other logits by more than 1 % of the largest, as one does whose dropout is switched on. What the
    network itself raises is passed on.

    >>> couplings = np.array([[0, 1, 0.5], [1, 0, 0], [0.5, 0, 0]])
    >>> def network(sequences, site):  # the logits of a Potts model with two colors that attract their equals
    ...     return np.einsum("j,njc->nc", couplings[site], np.eye(2)[sequences])
    >>> table = logits_table(network, [0, 1, 1], sites=[0, 1], tokens=[0, 1], mask_token=0)
    >>> table[0]  # site 0 between tokens 0 and 1 of site 1, and token 1 of site 2, which is clamped
    array([[1. , 0.5],
           [0. , 1.5]])
    """
    start = np.array(checks.integer_array("sequence", sequence), dtype=np.int64)
    if start.ndim != 1 or start.size == 0:
        raise ValueError(f"sequence must be integers (length,), got shape {start.shape}")
    places = _places(sites, len(start))
    choices = _choices(tokens, len(places))
    K, C = choices.shape
    if K * C**K > MAX_NUMBERS:
        raise ValueError(
            f"sites must be fewer, or tokens: {K} sites with {C} tokens have a table of {K} * {C}^{K} numbers, "
            f"and K C^K must be at most {MAX_NUMBERS}"
        )
    at_once = min(batch_size, max(1, MAX_NUMBERS // len(start)))
    table = np.empty((K, C ** (K - 1), C))
    for k, site in enumerate(places):
        for first, sequences in _contexts(start, places, choices, k, mask_token, at_once):
            logits = _logits(network, sequences, site, choices[k])
            if k == first == 0:
                _require_repeatable(network, sequences, site, choices[k], logits)
            table[k, first : first + len(sequences)] = logits
    return table


def _places(sites: Any, length: int) -> list[int]:
    """Return the sites as a list of different places below `length`."""
    array = checks.integer_array("sites", sites)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"sites must be integers (K,), at least one, got shape {array.shape}")
    for site in array.tolist():
        if not 0 <= site < length:
            raise ValueError(f"sites must be from 0 to {length - 1}, places in the sequence, got {site}")
    if len(set(array.tolist())) < array.size:
        raise ValueError(f"sites must differ from each other, got {checks.shown(array.tolist())}")
    return [int(site) for site in array]


def _choices(tokens: Any, n_sites: int) -> Tokens:
    """Return the tokens that each site takes, (K, C)."""
    array = checks.integer_array("tokens", tokens)
    if array.ndim not in (1, 2) or array.shape[-1] < 2 or (array.ndim == 2 and len(array) != n_sites):
        raise ValueError(
            f"tokens must be integers (C,), at least two, or ({n_sites}, C) for the {n_sites} sites, "
            f"got shape {array.shape}"
        )
    if array.min() < 0 or array.max() > checks.MAX_INDEX:
        raise ValueError(f"tokens must be columns of the logits, from 0 on, got {array.min()} to {array.max()}")
    choices = np.broadcast_to(array, (n_sites, array.shape[-1])).astype(np.int64)
    for row in choices:
        if len(np.unique(row)) < len(row):
            raise ValueError(f"tokens must differ from each other, got {checks.shown(row.tolist())}")
    return choices


def _contexts(
    start: Tokens, places: list[int], choices: Tokens, k: int, mask_token: int, at_once: int
) -> Iterator[tuple[int, Tokens]]:
    """Yield batches of the contexts of site k, each with the number of its first one; no more is kept at a time."""
    K, C = choices.shape
    others = [j for j in range(K) if j != k]
    for first in range(0, C ** (K - 1), at_once):
        numbers = np.arange(first, min(first + at_once, C ** (K - 1)))
        sequences = np.tile(start, (len(numbers), 1))
        sequences[:, places[k]] = mask_token
        for power, j in enumerate(reversed(others)):  # the last of the others changes fastest
            sequences[:, places[j]] = choices[j][numbers // C**power % C]
        yield first, sequences


def _logits(network: Network, sequences: Tokens, site: int, tokens: Tokens) -> Array:
    """Return the logits (n, C) of these tokens at `site`, or raise ValueError for what the network returned."""
    returned = network(sequences.copy(), site)  # a network may write into what it gets
    try:
        found = np.asarray(returned)
    except Exception as failed:  # tensors of torch that need a gradient, are on a device, or in bfloat16
        raise ValueError(
            f"network must return logits that numpy converts, got {type(returned).__name__} ({failed}); "
            "of torch return logits.detach().float().cpu().numpy()"
        ) from None
    logits = checks.real_array("network", found)
    if logits.ndim != 2 or len(logits) != len(sequences) or logits.shape[1] <= tokens.max():
        raise ValueError(
            f"network must return logits ({len(sequences)}, V) of one site with V > {tokens.max()}, the largest of "
            f"the tokens, got shape {logits.shape}"
        )
    chosen = logits[:, tokens]
    if not np.isfinite(chosen).all():
        context, column = (int(i) for i in np.argwhere(~np.isfinite(chosen))[0])
        raise ValueError(
            f"network must return finite logits, got {chosen[context, column]} for token {tokens[column]} at site "
            f"{site}; tokens that it forbids cannot be compared"
        )
    return chosen


def _require_repeatable(network: Network, sequences: Tokens, site: int, tokens: Tokens, logits: Array) -> None:
    """Raise ValueError where other company in a batch, or another call, changes the logits of a sequence.

    The second half of the first batch is asked again, in reversed order: that differs for dropout, for normalization
    over the batch, and for an axis of sequences that was mixed up with another.
    """
    half = slice(len(sequences) // 2, None)
    again = _logits(network, sequences[half][::-1], site, tokens)[::-1]
    difference, largest = float(abs(again - logits[half]).max()), float(abs(logits).max())
    if difference > MAX_REPEATED_DIFFERENCE * largest:
        raise ValueError(
            f"network must give a sequence the same logits whenever it is asked, got ones that differ by "
            f"{difference:.3g}, the largest being {largest:.3g}; switch dropout off (torch: model.eval())"
        )
