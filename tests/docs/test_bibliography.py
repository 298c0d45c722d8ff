"""The papers: every number that is cited has one entry in docs/papers.bib, and the map leads to the papers."""

import re
from pathlib import Path

import pytest

from figures.core.papers import NUMBER, linked, map_of_papers, render_markdown, render_text

ROOT = Path(__file__).resolve().parents[2]
BIBLIOGRAPHY = ROOT / "docs" / "papers.bib"
LEFT_OUT = {"figures/output", "docs/_build"}
CASES = ("full text", "authors' code and data", "abstract only")


def entries_of(text):
    """The fields of every entry by its key, for entries of one field a line as in this file."""
    found = re.findall(r"^@(\w+)\{([\w-]+),\n(.*?)^\}$", text, re.DOTALL | re.MULTILINE)
    assert len(found) == text.count("@"), "an entry has another form"
    fields = {}
    for kind, key, body in found:
        assert key not in fields, f"{key} stands twice"
        lines = body.splitlines()
        pairs = [re.fullmatch(r"  (\w+) = \{(.+)\},", line) for line in lines]
        assert all(pairs), (key, [line for line, pair in zip(lines, pairs, strict=True) if not pair])
        fields[key] = {"kind": kind} | {pair[1]: pair[2] for pair in pairs}
        assert len(fields[key]) == len(lines) + 1, f"{key} has a field twice"
    return fields


ENTRIES = entries_of(BIBLIOGRAPHY.read_text(encoding="utf-8"))


def cited():
    """Every arXiv number in the sources and pages, this test and the bibliography itself left out."""
    found = {}
    for folder in ("theory", "simulate", "figures", "docs", "tests"):
        for path in (ROOT / folder).rglob("*"):
            name = path.relative_to(ROOT).as_posix()
            skipped = path == Path(__file__).resolve() or any(name.startswith(f"{one}/") for one in LEFT_OUT)
            if path.suffix in (".py", ".md") and not skipped:
                for number in NUMBER.findall(path.read_text(encoding="utf-8")):
                    found.setdefault(number, name)
    for path in ROOT.glob("*.md"):
        for number in NUMBER.findall(path.read_text(encoding="utf-8")):
            found.setdefault(number, path.name)
    return found


def test_every_cited_paper_has_an_entry_and_every_entry_is_cited():
    numbers = [entry["eprint"] for entry in ENTRIES.values()]
    assert len(set(numbers)) == len(numbers)
    places = cited()
    assert {number: places[number] for number in set(places) - set(numbers)} == {}
    assert set(numbers) - set(places) == set()


@pytest.mark.parametrize("key", ENTRIES)
def test_an_entry_says_what_a_citation_needs(key):
    entry = ENTRIES[key]
    assert {"title", "author", "year", "eprint", "archivePrefix"} <= set(entry)
    assert entry["archivePrefix"] == "arXiv"
    assert re.fullmatch(r"(19|20)\d\d", entry["year"])
    assert all("," in author for author in entry["author"].split(" and ")), "family name, given names"
    assert {"article": "journal", "inproceedings": "booktitle", "misc": "eprint"}[entry["kind"]] in entry
    assert re.fullmatch(r"10\.\d{4,9}/\S+", entry.get("doi", "10.1000/none"))
    assert entry["title"].count("{") == entry["title"].count("}")


def test_what_is_no_entry_is_noticed():
    with pytest.raises(AssertionError):
        entries_of("@misc{a,\n  title = {One}\n}\n")
    with pytest.raises(AssertionError):
        entries_of("@misc{a,\n  title = {One},\n}\n\n@misc{a,\n  title = {Two},\n}\n")


def test_the_map_leads_to_the_papers_and_the_terminal_shows_plain_text():
    entries = map_of_papers()
    table, listed = render_markdown(entries), render_text(entries)
    assert "https://" not in listed
    assert "| [arXiv:2601.23208](https://arxiv.org/abs/2601.23208) (errors) |" in table
    for text in (table, (ROOT / "figures" / "gallery" / "README.md").read_text(encoding="utf-8")):
        links = re.findall(r"\[arXiv:([^]]+)\]\(https://arxiv\.org/abs/([^)]+)\)", text)
        assert links
        assert all(shown == target for shown, target in links)
        assert len(links) == len(NUMBER.findall(text))


def test_links_of_both_forms_of_numbers():
    assert linked("arXiv:math/0403022, after arXiv:1103.2221.") == (
        "[arXiv:math/0403022](https://arxiv.org/abs/math/0403022), after "
        "[arXiv:1103.2221](https://arxiv.org/abs/1103.2221)."
    )
    assert linked("arXiv:1, arXiv:2410") == "arXiv:1, arXiv:2410"


def test_the_page_says_what_was_read_of_every_paper_in_the_map():
    page = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8").partition("<!-- generated")[0]
    rows = re.findall(
        r"^\| \[arXiv:([\d.]+)\]\(https://arxiv\.org/abs/([\d.]+)\) \| ([^|]+) \| [^|]+ \|$", page, re.MULTILINE
    )
    assert all(shown == target and case in CASES for shown, target, case in rows)
    assert sorted(shown for shown, _, _ in rows) == sorted(set(NUMBER.findall(" ".join(map_of_papers()))))
    assert all(f"**{case.capitalize()}**" in page for case in CASES)


def test_the_paper_of_masked_regression_is_cited_where_it_appeared():
    entry = next(one for one in ENTRIES.values() if one["eprint"] == "2601.23208")
    assert (entry["volume"], entry["pages"], entry["year"]) == ("306", "169180--169209", "2026")
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert all(part in citation for part in ("conference-paper", "volume: 306", "start: 169180", "end: 169209"))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "PMLR 306" in readme
    title = entry["title"].strip("{}")
    assert title in citation
    assert title in readme
