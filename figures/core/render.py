"""Writes a table of strings as text, markdown, latex or csv."""

import csv
import io
import re
import textwrap
from collections.abc import Callable

from pylatexenc.latex2text import LatexNodes2Text
from pylatexenc.latexencode import unicode_to_latex

Cells = list[list[str]]
MATHEMATICS = re.compile(r"(\$[^$]*\$)")
WIDTH = 100  # width of the title and the summary of a text table
LONG_TABLE_LINES = 40  # lines from which on a table in LaTeX is broken over pages
PLAIN = {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "∞": r"$\infty$"}
_unicode = LatexNodes2Text(math_mode="text", strict_latex_spaces="except-in-equations")


def render(header: list[str], cells: Cells, title: str, summary: str, style: str) -> str:
    """Write a table with its title and a summary in one of the STYLES; ValueError for another one.

    All strings are written as they are, since they may be names that a user gave; but LaTeX takes what stands between
    dollars as mathematics, and needs the packages booktabs and longtable. `plain` and `wrapped` prepare for a text
    table what holds mathematics.
    """
    if style not in STYLES:
        raise ValueError(f"format must be one of {', '.join(STYLES)}, got {style!r}")
    return STYLES[style](header, cells, title, summary)


def plain(text: str) -> str:
    r"""Write the mathematics between dollars with Unicode characters, as text files and metadata need it.

    >>> plain(r"100 % at $\lambda_1 = 0.1$")
    '100 % at λ_1 = 0.1'
    """
    parts = MATHEMATICS.split(text)  # those at odd places are mathematics
    return "".join(_in_unicode(part) if place % 2 else part for place, part in enumerate(parts))


def _in_unicode(mathematics: str) -> str:
    """Write one piece between dollars with Unicode characters; a space before a command is kept as one."""
    return str(_unicode.latex_to_text(mathematics.replace(" \\", "~\\"))).replace("\N{NO-BREAK SPACE}", " ").strip()


def wrapped(text: str) -> str:
    """Break text, with its mathematics in Unicode, into lines of at most WIDTH characters."""
    return textwrap.fill(plain(text), WIDTH, break_long_words=False, break_on_hyphens=False)


def _text(header: list[str], cells: Cells, title: str, summary: str) -> str:
    widths = [max(map(len, column)) for column in zip(header, *cells, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in [header, *cells]
    ]
    rule = "  ".join("-" * width for width in widths)
    return "\n".join(line.rstrip() for line in (title, "", lines[0], rule, *lines[1:], "", summary))


def _markdown(header: list[str], cells: Cells, title: str, summary: str) -> str:
    def line(cells: list[str]) -> str:
        return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"

    return "\n".join((f"**{title}**", "", line(header), "|" + "---|" * len(header), *map(line, cells), "", summary))


def _latex(header: list[str], cells: Cells, title: str, summary: str) -> str:
    """Write for the packages booktabs and longtable, and leave what stands between dollars as it is."""

    def line(cells: list[str]) -> str:
        return " & ".join(map(_escaped, cells)) + r" \\"

    caption = rf"\caption{{{_escaped(title.rstrip('.'))}. {_escaped(summary.rstrip('.'))}.}}"
    columns, body = "l" * len(header), (r"\midrule", *map(line, cells), r"\bottomrule")
    if len(cells) > LONG_TABLE_LINES:
        top = (rf"\begin{{longtable}}{{{columns}}}", caption + r" \\", r"\toprule", line(header), r"\midrule")
        head = (r"\endfirsthead", r"\toprule", line(header), r"\midrule", r"\endhead")
        return "\n".join((*top, *head, *body[1:], r"\end{longtable}"))
    top = (r"\begin{table}", caption, rf"\begin{{tabular}}{{{columns}}}", r"\toprule", line(header))
    return "\n".join((*top, *body, r"\end{tabular}", r"\end{table}"))


def _escaped(text: str) -> str:
    parts = MATHEMATICS.split(text)  # those at odd places are mathematics
    return "".join(part if place % 2 else _encoded(part) for place, part in enumerate(parts))


def _encoded(text: str) -> str:
    """Escape what LaTeX takes for commands, and write other than ASCII characters as commands."""
    pieces = re.split("([<>|∞])", text)
    return "".join(PLAIN.get(piece) or str(unicode_to_latex(piece)) for piece in pieces)


def _csv(header: list[str], cells: Cells, _title: str, _summary: str) -> str:
    """Write the cells alone, since a title and a summary are not CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *cells])
    return text.getvalue().rstrip("\n")


STYLES: dict[str, Callable[[list[str], Cells, str, str], str]] = {
    "text": _text,
    "markdown": _markdown,
    "latex": _latex,
    "csv": _csv,
}
