"""Writes a table of strings as text, markdown, latex or csv."""

import csv
import io
import re
from collections.abc import Callable

Cells = list[list[str]]
LATEX = {"&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_", "|": r"\textbar{}"}
LATEX |= {"^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}"}


def render(header: list[str], cells: Cells, title: str, summary: str, style: str) -> str:
    """Writes a table with its title and a line of summary in one of the STYLES; ValueError for another one."""
    if style not in STYLES:
        raise ValueError(f"format must be one of {', '.join(STYLES)}, got {style!r}")
    return STYLES[style](header, cells, title, summary)


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
    """Writes for booktabs, and leaves what stands between dollars as it is."""

    def line(cells: list[str]) -> str:
        return " & ".join(map(_escaped, cells)) + r" \\"

    top = (r"\begin{table}", rf"\caption{{{_escaped(title.rstrip('.'))}: {_escaped(summary)}.}}")
    body = (rf"\begin{{tabular}}{{{'l' * len(header)}}}", r"\toprule", line(header), r"\midrule", *map(line, cells))
    return "\n".join((*top, *body, r"\bottomrule", r"\end{tabular}", r"\end{table}"))


def _escaped(text: str) -> str:
    parts = re.split(r"(\$[^$]*\$)", text)
    return "".join(p if p.startswith("$") else re.sub(r"[&%#_|^~<>]", lambda m: LATEX[m[0]], p) for p in parts)


def _csv(header: list[str], cells: Cells, _title: str, _summary: str) -> str:
    """Writes the cells alone, since a title and a summary are not CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *cells])
    return text.getvalue().rstrip("\n")


STYLES: dict[str, Callable[[list[str], Cells, str, str], str]] = {
    "text": _text,
    "markdown": _markdown,
    "latex": _latex,
    "csv": _csv,
}
