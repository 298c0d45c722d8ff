"""The rooted-tree text itself: a sieve that writes it, counts of words, and predictors of hidden words."""

__all__: list[str] = []
