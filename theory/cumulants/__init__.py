"""A direction hidden in higher cumulants: likelihood-ratio and low-degree norms, and the power of one test."""

__all__: list[str] = []
