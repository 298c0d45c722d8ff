"""Prepares finished pages for reading: pictures that enlarge and load late, and excerpts in search without a network.

A page that is opened from a folder may not read other pages, as the search of Sphinx does for its excerpts. The texts
of all pages are therefore written to one script, which only the page of the search loads.
"""

import json
import re
import struct
from pathlib import Path
from typing import Any

from docutils import nodes

IMAGE = re.compile(r'(<a\b[^>]*>\s*)?<img\b([^>]*?)\ssrc="([^"]*_images/([^"/]+\.png))"([^>]*?)/?>')
TEXTS = "page_texts.js"


def repository_links(root: Path) -> dict[str, Any]:
    """Return the settings of the theme that link to the repository and its tracker; none where no address is stated.

    The address is the `repository-code` of CITATION.cff; issues are at the address of the same name below it.
    """
    stated = re.search(
        r'^repository-code: *"?([^"\s]+?)/?"?$', (root / "CITATION.cff").read_text("utf-8"), re.MULTILINE
    )
    if stated is None:
        return {}
    links = {"Repository": stated[1], "Report a problem": f"{stated[1]}/issues"}
    icons = [{"name": name, "url": url, "html": name, "class": "repository-link"} for name, url in links.items()]
    return {"source_repository": f"{stated[1]}/", "footer_icons": icons}


def size_of_png(file: Path) -> tuple[int, int]:
    """Return width and height in pixels, which the header of a PNG states."""
    width, height = struct.unpack(">II", file.read_bytes()[16:24])
    return int(width), int(height)


def with_pictures(body: str, files: dict[str, Path]) -> str:
    """Return a page whose pictures state their sizes, load when they are near, and lead to themselves.

    A picture within a link keeps that link.
    """

    def shown(found: re.Match[str]) -> str:
        link, before, address, name, after = found.groups()
        size = ""
        if name in files and "width" not in before + after:
            size = ' width="{}" height="{}"'.format(*size_of_png(files[name]))
        image = f'<img{before} src="{address}"{after.rstrip()} loading="lazy"{size}>'
        return f"{link}{image}" if link else f'<a class="enlarge" href="{address}">{image}</a>'

    return IMAGE.sub(shown, body)


def prepare(app: Any, _page: str, _template: str, context: dict[str, Any], _doctree: Any) -> None:
    """Change the body of one page."""
    files = {name: Path(app.srcdir) / source for source, (_, name) in app.env.images.items()}
    if "body" in context:
        context["body"] = with_pictures(context["body"], {name: file for name, file in files.items() if file.is_file()})


def text_of(doctree: nodes.document) -> str:
    """Return the words of a page, without what is not shown, in one line."""
    hidden = (nodes.comment, nodes.raw, nodes.system_message, nodes.math_block)
    for node in list(doctree.findall(lambda one: isinstance(one, hidden))):
        node.parent.remove(node)
    return " ".join(doctree.astext().split())


def write_texts(app: Any, failure: Exception | None) -> None:
    """Write the texts of all pages beside the pages that were built."""
    if failure is not None or app.builder.format != "html":
        return
    texts = {name: text_of(app.env.get_doctree(name)) for name in sorted(app.env.found_docs)}
    script = f"const PAGE_TEXTS = {json.dumps(texts, ensure_ascii=False)};\n".replace("</", "<\\/")
    (Path(app.outdir) / "_static" / TEXTS).write_text(script, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.connect("html-page-context", prepare)
    app.connect("build-finished", write_texts)
    return {"parallel_read_safe": True}
