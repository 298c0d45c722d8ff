"""The site itself: it is built without a warning, and none of its links and anchors is missing."""

from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest


class Page(HTMLParser):
    """The links of a page, the places that links may lead to, and what it loads."""

    def __init__(self, text):
        super().__init__()
        self.links, self.places, self.loaded = [], {""}, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self.places |= {named[key] for key in ("id", "name") if named.get(key)}
        if tag == "a" and "href" in named:
            self.links.append(named["href"])
        if tag in ("script", "img", "link") and (named.get("src") or named.get("rel") == "stylesheet"):
            self.loaded.append(named.get("src") or named["href"])


def missing(folder):
    """Every link of the pages in `folder` that leads to no file or to no place in it."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")}
    found = []
    for path, page in pages.items():
        for link in [*page.links, *page.loaded]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = unquote(parts.fragment)
            if not target.exists() or (place and target in pages and place not in pages[target].places):
                found.append(f"{path.name}: {link}")
    return found


@pytest.mark.slow
def test_the_site_is_whole(site):
    made = site
    assert len(list(made.rglob("*.html"))) > 30
    assert missing(made) == []
    notebook = (made / "from_a_table.html").read_text(encoding="utf-8")
    assert "1. Take a ridge of 0." in notebook, "the notebook is executed, and its page shows what it prints"
    assert any(source.startswith("_images/") for source in Page(notebook).loaded), "its figure is on the page"
    linked = Page((made / "closed_forms.html").read_text(encoding="utf-8")).links
    assert "https://arxiv.org/abs/2601.23208" in linked, "a number in plain text leads to its paper"
    docstrings = Page((made / "api" / "masked.html").read_text(encoding="utf-8")).links
    assert "https://arxiv.org/abs/2601.23208" in docstrings
    equations = (made / "results" / "number_of_masks.html").read_text(encoding="utf-8")
    loaded = Page(equations).loaded
    assert any(source.split("?")[0].endswith("_static/tex-svg.js") for source in loaded)
    outside = [source for page in made.rglob("*.html") for source in Page(page.read_text()).loaded if "//" in source]
    assert outside == [], "a page that is read without a network must load nothing from it"


def test_a_missing_place_is_noticed(tmp_path):
    (tmp_path / "a.html").write_text('<a href="b.html#here">1</a><a href="b.html#gone">2</a><a href="c.html">3</a>')
    (tmp_path / "b.html").write_text('<h1 id="here">b</h1><img src="no.png"><a href="https://x.y">out</a>')
    assert sorted(missing(tmp_path)) == ["a.html: b.html#gone", "a.html: c.html", "b.html: no.png"]
