"""Records of feed-forward networks."""

from theory.models.feedforward.narrow import NarrowNetwork

__all__ = ["NarrowNetwork"]
