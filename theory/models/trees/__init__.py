"""Records of the text of rooted trees: a planar tree, and a stretch of numbers that is read as text."""

from typing import TYPE_CHECKING

from theory.core.lazy import names_on_use

if TYPE_CHECKING:
    from theory.models.trees.number_text import NumberText
    from theory.models.trees.tree import RootedTree

__all__ = ["NumberText", "RootedTree"]

# A type checker takes a module with these functions to have every name, and would let misspelled ones pass.
if not TYPE_CHECKING:
    __getattr__, __dir__ = names_on_use(__name__)
