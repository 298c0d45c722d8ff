"""Records of the text of rooted trees: a planar tree, and a stretch of numbers that is read as text."""

from theory.models.trees.number_text import NumberText
from theory.models.trees.tree import RootedTree

__all__ = ["NumberText", "RootedTree"]
