"""Finds rows of a table that are copies of each other, and sees to it that no number counts them as independent."""

from figures.analyse.matrix.copies.find import CopiedRows, find_copies
from figures.analyse.matrix.copies.once import CopyChoice, TakenOnce, taken_once
from figures.analyse.matrix.copies.report import copies_frame, copies_said

__all__ = ["CopiedRows", "CopyChoice", "TakenOnce", "copies_frame", "copies_said", "find_copies", "taken_once"]
