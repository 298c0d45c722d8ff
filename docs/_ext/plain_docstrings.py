"""Shows the project's docstrings, which are plain text, on the pages of the reference.

The docstrings are written to be read in a terminal: an underscore, a star or a bar in them is what it looks like and no
markup. What is understood is what a reader sees too: paragraphs, indented blocks, lists, `names`, examples, and
formulas in indented blocks.
"""

import re
import textwrap
from collections.abc import Iterator
from typing import Any

from typeset import displayed, is_formula

ITEM = re.compile(r"(?:[-*]|\d+\.) ")
NAME = re.compile(r"(?<!`)`([^`\n]+)`(?!`)|\*\*([^*]+)\*\*")
ARRAY = re.compile(r"ndarray\[tuple\[Any, \.\.\.\], dtype\[(\w+(?:\[\w+\])?)\]\]")
PRIVATE = re.compile(r"([(,] ?)_\w+: [\w.| ]+(?:\[[\w., \[\]]*?\])?(?: = [^,()]+(?:\([^()]*\))?)?, ")
DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")


def as_markup(text: str) -> list[str]:
    """Return a docstring as lines of reStructuredText, in which every sign but those of names and examples is text."""
    lines: list[str] = []
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        lines += [*_block(block), ""]
    return lines


def _block(block: str) -> Iterator[str]:
    lines = block.split("\n")
    if block.lstrip().startswith(">>>"):
        yield from textwrap.dedent(block).split("\n")
    elif lines[0].startswith("    ") and is_formula(block):
        yield from (".. math::", "", f"    {displayed(textwrap.dedent(block).splitlines())}")
    elif lines[0].startswith("    "):
        yield from ("::", "", *(f"    {line}" for line in textwrap.dedent(block).split("\n")))
    else:
        for part in _parts(lines):
            marker = ITEM.match(part)
            start = marker.end() if marker else 0
            yield (part[:start].replace("* ", "- ") if marker else "") + _escaped(part[start:])
            if marker:
                yield ""


def _parts(lines: list[str]) -> list[str]:
    """Join the lines of a paragraph, and those of each item of a list."""
    parts: list[str] = []
    for line in map(str.strip, lines):
        if parts and not re.match(r"[-*] ", line):
            parts[-1] += f" {line}"
        else:
            parts.append(line)
    return parts


def _escaped(text: str) -> str:
    """Keep what a reader sees: names in backquotes become links where they are public, all other signs are text."""
    pieces, end = [], 0
    for found in NAME.finditer(text):
        pieces += [_plain(text[end : found.start()]), _named(found)]
        end = found.end()
    return "".join([*pieces, _plain(text[end:])])


def _named(found: re.Match[str]) -> str:
    name, strong = found.groups()
    if strong:
        return rf"\ **{_plain(strong)}**\ "
    shown = f":py:obj:`{name}`" if DOTTED.fullmatch(name) else f"``{name.strip()}``"
    return shown if _apart(found) else rf"\ {shown}\ "


def _apart(found: re.Match[str]) -> bool:
    """Tell whether blanks or stops stand around the match, as inline markup needs it."""
    before, after = found.string[: found.start()][-1:], found.string[found.end() :][:1]
    return (not before or before in " (") and (not after or after in " ,.;:)")


def _plain(text: str) -> str:
    return re.sub(r"([\\*|_`])", r"\\\1", text)


def process(_app: Any, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    """Replace the lines of one docstring in place."""
    lines[:] = as_markup("\n".join(lines))


def shortened(
    _app: Any, _what: str, _name: str, _object: Any, _options: Any, arguments: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """Return a signature in which arrays are called arrays, without the private fields of records."""
    shown = arguments and PRIVATE.sub(r"\1", arguments)
    return shown and ARRAY.sub(r"ndarray[\1]", shown), returned and ARRAY.sub(r"ndarray[\1]", returned)


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.connect("autodoc-process-docstring", process)
    app.connect("autodoc-process-signature", shortened)
    return {"parallel_read_safe": True}
