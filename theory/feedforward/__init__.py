"""Feed-forward networks: narrow ones that specialize, binary ones at initialization, and the best depth of transfer."""

__all__: list[str] = []
