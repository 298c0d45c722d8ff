"""The natural numbers written as rooted trees: exact densities, moments and limits of prediction of a text."""

__all__: list[str] = []
