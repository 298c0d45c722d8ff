"""Makes a link of every arXiv number on the pages and in docstrings that is not part of a link or of code already."""

from typing import Any

from docutils import nodes
from sphinx.transforms import SphinxTransform

from figures.core.papers import NUMBER

APART = (nodes.reference, nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.raw, nodes.title)


class LinkPapers(SphinxTransform):
    """Turns the numbers in plain text into references to the abstracts."""

    default_priority = 800

    def apply(self, **_options: Any) -> None:
        """Replace the texts of one page."""
        for text in list(self.document.findall(nodes.Text)):
            if NUMBER.search(text) and not _within(text, APART):
                text.parent.replace(text, linked(text))


def _within(node: Any, kinds: tuple[type, ...]) -> bool:
    while node is not None:
        if isinstance(node, (*kinds, nodes.Invisible, nodes.FixedTextElement)):
            return True
        node = node.parent
    return False


def linked(text: str) -> list[nodes.Node]:
    """Return text with references in place of arXiv numbers."""
    found: list[nodes.Node] = []
    end = 0
    for number in NUMBER.finditer(text):
        found.append(nodes.Text(text[end : number.start()]))
        found.append(nodes.reference("", number[0], refuri=f"https://arxiv.org/abs/{number[1]}", internal=False))
        end = number.end()
    return [node for node in (*found, nodes.Text(text[end:])) if node.astext()]


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.add_transform(LinkPapers)
    return {"parallel_read_safe": True}
