"""Alignments that the project does not ship: they are read from the folder that ALIGNMENTS names."""

import os
from pathlib import Path


def alignment(name: str) -> Path:
    """Where the file is, if it is there."""
    return Path(os.environ.get("ALIGNMENTS") or ".") / name


def missing(name: str) -> str | None:
    """The reason why an experiment on it is skipped, or None."""
    if not os.environ.get("ALIGNMENTS"):
        return f"set ALIGNMENTS to the folder that holds {name}"
    return None if alignment(name).is_file() else f"{alignment(name)} is not there; ALIGNMENTS names its folder"
