"""The map of papers: read from what experiments declare, printed and written."""

import pytest

from figures.core.discover import find_experiments, load
from figures.core.papers import declared_papers, map_of_papers, render_markdown, render_text

DECLARED = """
EXPERIMENT = Experiment(title="a", compute=f, papers={"arXiv:1, Fig. 2": "It agrees " "within 1 %.", "arXiv:0": "No."})
"""


def test_the_map_is_ordered_by_paper_and_names_the_command(tmp_path):
    path = tmp_path / "peak.py"
    path.write_text(DECLARED, encoding="utf-8")
    entries = map_of_papers({"peak": path})
    assert list(entries.items()) == [
        ("arXiv:0", [("peak", "No.")]),
        ("arXiv:1, Fig. 2", [("peak", "It agrees within 1 %.")]),
    ]
    assert "make figures/output/peak.pdf" in render_text(entries)
    assert "| arXiv:0 | [`peak`](peak.png) | No. |" in render_markdown(entries)


@pytest.mark.parametrize("papers", ["PAPERS", '{"arXiv:1": 2}', '{"arXiv:1": f"{x}"}', '["arXiv:1"]'])
def test_a_declaration_that_cannot_be_read_as_text_is_refused(tmp_path, papers):
    path = tmp_path / "peak.py"
    path.write_text(f"EXPERIMENT = Experiment(papers={papers})", encoding="utf-8")
    with pytest.raises(ValueError, match=r"papers of .*peak.py must be a dictionary of plain strings"):
        declared_papers(path)


def test_without_a_declaration_the_map_says_so(tmp_path):
    path = tmp_path / "peak.py"
    path.write_text("EXPERIMENT = Experiment(title='a')", encoding="utf-8")
    assert render_text(map_of_papers({"peak": path})) == "no experiment names a paper"


def test_what_is_read_as_text_is_what_the_experiments_hold():
    shown = {name: path for name, path in find_experiments().items() if declared_papers(path)}
    assert shown
    assert {name: dict(load(path).papers) for name, path in shown.items()} == {
        name: declared_papers(path) for name, path in shown.items()
    }
