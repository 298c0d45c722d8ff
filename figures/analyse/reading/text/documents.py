"""Documents in words: a folder of .txt files, a file with one a line, a column of a table, a key of JSON lines."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

from figures.analyse.errors import DataError
from figures.analyse.reading.opening import extension
from figures.analyse.reading.text.decode import decoded, lines_of
from figures.analyse.wording import shown

Named = Iterator[tuple[str, str]]  # the name of a document in messages, and its text
USUAL = ("text", "content", "body", "document", "abstract", "article", "message", "review", "comment")
EMPTY = ("NaN", "NA", "N/A", "null", "None")  # programs write these for a cell without text
LONGEST_NAME = 5  # words of the name of a column
MAX_CELL_CHARACTERS = 2**31 - 1  # characters of a cell: the csv module's own limit is 131072


def text_files(path: Path) -> list[Path]:
    """List every .txt file in the folder and below, by name. DataError where there is none."""
    files = sorted(
        file
        for file in path.rglob("*")
        if file.name.lower().endswith((".txt", ".txt.gz")) and not file.name.startswith(".") and file.is_file()
    )
    if not files:
        raise DataError(
            path,
            "holds no .txt file; a folder is read as documents, each a .txt file; for a table name the file itself",
        )
    return files


def folder_documents(path: Path, encoding: str | None) -> Named:
    """Yield every .txt file in the folder and below, by name."""
    for file in text_files(path):
        yield str(file.relative_to(path)), decoded(file, encoding)


def line_documents(path: Path, encoding: str | None) -> Named:
    """Yield every line that is not blank."""
    for number, line in enumerate(lines_of(decoded(path, encoding)), start=1):
        if line.strip():
            yield f"line {number}", line


def table_documents(path: Path, encoding: str | None, column: str | None) -> Named:
    """Yield the cells of one column of a table.

    Without a name or a number it is the column that is called text, content, ... A table of texts without a header is
    read where a number says which column it is, or where there is only one.
    """
    whole = decoded(path, encoding)
    text = whole.lstrip("\r\n")
    above = len(lines_of(whole[: len(whole) - len(text)])) - 1  # blank lines
    delimiter = _delimiter(path, text)
    before = csv.field_size_limit(MAX_CELL_CHARACTERS)
    try:
        rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        names = [cell or "" for cell in rows.fieldnames or []]
        if _are_texts(names) and (len(names) == 1 or _is_number(column, names)):
            names = [f"column {k}" for k in range(1, len(names) + 1)]
            column = column or "1"
            rows = csv.DictReader(io.StringIO(text, newline=""), names, delimiter=delimiter, strict=True)
        name = _chosen(path, names, column)
        if names.count(name) > 1:
            raise DataError(path, f"has {names.count(name)} columns called {shown(name)}; give each a name of its own")
        while True:
            started = above + rows.line_num + 1
            try:
                cells = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                raise DataError(path, f"the row from line {started} on cannot be read ({_reason(error)})") from None
            number = above + rows.line_num
            if cells.get(name) is None:
                raise DataError(
                    path, f"line {number} has no cell in the column {shown(name)}; quote cells with {delimiter!r}"
                )
            if None in cells:
                raise DataError(
                    path, f"line {number} has more cells than the header; quote texts that hold a {delimiter!r}"
                )
            yield f"line {number}", "" if cells[name].strip() in EMPTY else cells[name]
    except csv.Error as error:
        raise DataError(path, f"cannot be read as a table ({_reason(error)})") from None
    finally:
        csv.field_size_limit(before)


def json_documents(path: Path, encoding: str | None, key: str | None) -> Named:
    """Yield the texts of JSON lines: each is an object that holds a text, or the text itself."""
    for number, line in enumerate(lines_of(decoded(path, encoding)), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(path, f"line {number} is not JSON ({error}); each line holds one document") from None
        if isinstance(value, dict):
            key = key or _chosen(path, list(value), None)
            if key not in value or not isinstance(value[key], str | None):
                raise DataError(path, f"line {number} has no text under {shown(key)}; say which by --text-column")
            value = value[key]
        if not isinstance(value, str | None):
            raise DataError(path, f"line {number} is neither an object nor a text")
        yield f"line {number}", value or ""  # null: there is no text


def _delimiter(path: Path, text: str) -> str:
    """Return what parts the cells of the first line; in a .tsv that is a tab, whatever signs its texts have."""
    first = text.partition("\n")[0]
    if extension(path) == ".tsv" and ("\t" in first or not set(",;") & set(first)):
        return "\t"
    return max(",;\t", key=first.count)


def _are_texts(cells: list[str]) -> bool:
    """Say whether a first row holds a text itself, not the names of columns: a cell of many words."""
    return any(len(cell.split()) > LONGEST_NAME for cell in cells)


def _is_number(column: str | None, names: list[str]) -> bool:
    return column is not None and column.isascii() and column.isdigit() and 1 <= int(column) <= len(names)


def _reason(error: csv.Error) -> str:
    """Word an error of the csv module; a quote that is never closed takes every row below into its cell."""
    return "a quote is never closed" if str(error) == "unexpected end of data" else f"{error}; check its quotes"


def _chosen(path: Path, names: list[str], column: str | None) -> str:
    stripped = {name.strip(): name for name in names}
    if column is not None:
        if column in stripped:
            return stripped[column]
        if _is_number(column, names):
            return names[int(column) - 1]
        raise DataError(path, f"--text-column {column}: there is none of this name, but {_listed(names)}")
    usual = [name for name in USUAL for own in stripped if own.lower() == name]
    if usual:
        return next(name for own, name in stripped.items() if own.lower() == usual[0])
    if _are_texts(names):
        raise DataError(
            path,
            f"the first row holds a text, {shown(max(names, key=len))}, and no names of columns; say by its number "
            "which column holds the texts, as in --text-column 1, or write a row of names above",
        )
    raise DataError(path, f"which column holds the text? Say it by --text-column; there are {_listed(names)}")


def _listed(names: list[str]) -> str:
    return ", ".join(shown(name) for name in names[:10]) + (", ..." if len(names) > 10 else "") or "no columns"
