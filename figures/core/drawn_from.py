"""Ties each picture of the gallery to the table and the declaration that it was drawn from, by digests in a file.

A declaration is the file of the experiment with the files of its own folder that it imports. What is not drawn is left
out of its digest: docstrings, comments on lines of their own, spaces, and the sentences of a caption.
"""

import ast
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from theory.core.atomic_write import atomic_write

NAME = "drawn_from.txt"
HEAD = "# picture: SHA-256 of the picture, of the table and of the declaration that it was drawn from; made with it\n"
NOT_DRAWN = ("caption", "papers", "unjudged", "skip", "table_points")
DIGEST_DIGITS = 16  # digits of a digest


class Drawn(NamedTuple):
    """The digests of a picture, of the table it was drawn from, and of the declaration of both."""

    picture: str
    table: str
    declaration: str


def read_drawn(gallery: Path) -> dict[str, Drawn]:
    """Return what each picture of the gallery was drawn from, by the name of its experiment."""
    file = gallery / NAME
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    return {line.split(":")[0]: Drawn(*line.split(":")[1].split()) for line in lines if not line.startswith("#")}


def note_drawn(gallery: Path, experiment: Path, table: Path) -> None:
    """Note what the picture of the experiment, which is declared in this file, was drawn from."""
    picture = gallery / f"{experiment.stem}.png"
    digests = Drawn(digest(picture.read_bytes()), digest(table.read_bytes()), declaration_digest(experiment))
    known = {name: drawn for name, drawn in read_drawn(gallery).items() if (gallery / f"{name}.png").is_file()}
    known[experiment.stem] = digests
    with atomic_write(gallery / NAME) as temporary:
        lines = (f"{name}: {' '.join(drawn)}\n" for name, drawn in sorted(known.items()))
        temporary.write_text(HEAD + "".join(lines), encoding="utf-8")


def out_of_date(gallery: Path, experiment: Path) -> str | None:
    """Say why the picture of an experiment in the gallery is old, or None where it is not."""
    name, known = experiment.stem, read_drawn(gallery)
    picture = gallery / f"{name}.png"
    if not picture.is_file():
        return f"{name} has no picture"
    if name not in known:
        return f"{name} is not in {NAME}"
    if known[name].picture != digest(picture.read_bytes()):
        return f"{name}.png is not the picture that was drawn"
    if known[name].declaration != declaration_digest(experiment):
        return f"the declaration of {name} has changed since its picture was drawn"
    return None


def declaration_digest(experiment: Path) -> str:
    """Compute the digest of what is drawn by the file of an experiment and by those of its folder that it imports."""
    texts: dict[Path, str] = {}
    pending = [experiment]
    while pending:
        file = pending.pop()
        if file not in texts:
            source = file.read_text(encoding="utf-8")
            tree = ast.parse(source)
            texts[file] = f"{file.name}\n{_drawn_text(source, tree)}"
            pending += _beside(experiment.parent, tree)
    return digest("\n".join(texts[file] for file in sorted(texts)).encode())


def _beside(folder: Path, tree: ast.Module) -> Iterator[Path]:
    """Yield the modules of the folder that are imported by their names or of which names are imported."""
    package = f"figures.{folder.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[:2] == package.split("."):
            names = [alias.name for alias in node.names] if node.module == package else [node.module.split(".")[-1]]
            yield from (file for name in names if (file := folder / f"{name}.py").is_file())


def _drawn_text(source: str, tree: ast.Module) -> str:
    lines = source.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    text = bytearray(source.encode())
    for node in _left_out(tree):
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0  # ast.parse gives both
        first, last = starts[node.lineno - 1] + node.col_offset, starts[end_line - 1] + end_column
        text[first:last] = b" " * (last - first)
    code = [line for line in text.decode().splitlines() if not line.lstrip().startswith("#")]
    return "".join("".join(code).split())


def _left_out(tree: ast.Module) -> Iterator[ast.expr | ast.keyword]:
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg in NOT_DRAWN:
            yield node
        elif isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            first = node.body[0]
            assert isinstance(first, ast.Expr)
            yield first.value


def digest(content: bytes) -> str:
    """Return the first digits of the SHA-256."""
    return hashlib.sha256(content).hexdigest()[:DIGEST_DIGITS]
