"""The map of papers: which experiment is the counterpart of which published figure, and whether the two agree."""

import ast
import re
import textwrap
from collections.abc import Mapping
from pathlib import Path

from figures.core.discover import find_experiments

Entries = dict[str, list[tuple[str, str]]]
NUMBER = re.compile(r"arXiv:(\d{4}\.\d{4,5}|[a-z-]+/\d{7})")


def declared_papers(path: Path) -> dict[str, str]:
    """Return what an experiment's file declares as `papers`: sentences by the figures of papers that they are about.

    The file is read as text, so that the map of all experiments imports none of them. ValueError where the declaration
    is anything else than a dictionary of plain strings.
    """
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.keyword) and node.arg == "papers":
            try:
                found = ast.literal_eval(node.value)
            except ValueError:
                found = None
            if not isinstance(found, dict) or not all(isinstance(text, str) for item in found.items() for text in item):
                raise ValueError(f"papers of {path} must be a dictionary of plain strings")
            return found
    return {}


def map_of_papers(experiments: Mapping[str, Path] | None = None) -> Entries:
    """Return the experiments that belong to each published figure, each with its sentence, in the order of papers."""
    found: Entries = {}
    for name, path in sorted((find_experiments() if experiments is None else experiments).items()):
        for figure, sentence in declared_papers(path).items():
            found.setdefault(figure, []).append((name, sentence))
    return dict(sorted(found.items()))


def render_text(entries: Entries) -> str:
    """Return the map for a terminal: a published figure, then the commands that make its counterparts."""
    lines = []
    for figure, counterparts in entries.items():
        lines.append(figure)
        for name, sentence in counterparts:
            indent = " " * 8
            wrapped = textwrap.fill(sentence, 100, initial_indent=indent, subsequent_indent=indent)
            lines += [f"    make figures/output/{name}.pdf", wrapped]
    return "\n".join(lines) or "no experiment names a paper"


def linked(text: str) -> str:
    """Return markdown whose arXiv numbers lead to the abstracts of their papers."""
    return NUMBER.sub(r"[\g<0>](https://arxiv.org/abs/\1)", text)


def render_markdown(entries: Entries) -> str:
    """Return the map as a table in markdown, with links to the papers."""
    rows = [
        linked(f"| {figure} | [`{name}`]({name}.png) | {sentence.replace('|', chr(92) + '|')} |")
        for figure, counterparts in entries.items()
        for name, sentence in counterparts
    ]
    return "\n".join(["| published | counterpart | do they agree? |", "|---|---|---|", *rows])
