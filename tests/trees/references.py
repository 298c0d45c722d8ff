"""Second routes to words and losses: factorization by sympy, and counting in plain loops."""

from collections import Counter, defaultdict
from math import log2

import sympy


def word_by_sympy(n):
    return "".join(f"({word_by_sympy(a)})" for _, a in sorted(sympy.factorint(n).items()))


def losses(words, first, offsets, modulus, where="blocks", block=1000, every=5):
    """(bits, accuracy, held-out bits, held-out accuracy, unseen) of the definition of `prediction_loss`, in loops."""
    low, high = max(0, *(-k for k in (0, *offsets))), len(words) - max(0, 0, *offsets)
    levels = [(0, 1)] + ([(0, modulus)] if modulus > 1 else []) + [(k, modulus) for k in range(1, len(offsets) + 1)]
    ranks = {word: rank for rank, word in enumerate(ordered_vocabulary(words))}

    def context(i, level):
        n_offsets, M = level
        return ((first + i) % M, *(words[i + k] for k in offsets[:n_offsets]))

    def counted(places, level):
        table = defaultdict(Counter)
        for i in places:
            table[context(i, level)][words[i]] += 1
        return table

    def best(table):
        return max(table.items(), key=lambda item: (item[1], -ranks[item[0]]))[0]

    every_place = range(low, high)
    held_out = [i for i in every_place if (first + i) // block % every == every - 1]
    if where == "end":
        held_out = [i for i in every_place if i >= len(words) * (1 - 1 / every)]
    out = set(held_out)
    whole = counted(every_place, levels[-1])
    n = len(every_place)
    bits = -sum(c * log2(c / sum(own.values())) for own in whole.values() for c in own.values()) / n
    accuracy = sum(max(own.values()) for own in whole.values()) / n
    tables = [counted([i for i in every_place if i not in out], level) for level in levels]
    total = right = unseen = 0
    for i in held_out:
        share, guess = 1 / len(ranks), None
        for level, table in zip(levels, tables, strict=True):
            own = table.get(context(i, level))
            if own:
                share = (own[words[i]] + len(own) * share) / (sum(own.values()) + len(own))
                guess = best(own)
        total -= log2(share)
        right += guess == words[i]
        unseen += not own
    return bits, accuracy, total / len(held_out), right / len(held_out), unseen / len(held_out)


def ordered_vocabulary(words):
    """The most frequent first; of equal counts the shorter, then the one that closes earlier."""
    counts = Counter(words)
    return sorted(counts, key=lambda word: (-counts[word], len(word), word.replace(")", " ")))
