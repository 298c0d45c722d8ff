"""Every snippet of the README and of the pages runs, and prints what stands below it; every link leads somewhere."""

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from theory.command_line import main

FOLDER = Path(__file__).resolve().parents[1]
GALLERY = FOLDER / "figures" / "gallery"
README = (FOLDER / "README.md").read_text(encoding="utf-8")
SNIPPET = re.compile(r"```python\n(.*?)```\n(?:```text\n(.*?)```)?", re.DOTALL)
SNIPPETS = SNIPPET.findall(README)
DOCS = FOLDER / "docs"
PAGES = [page for page in sorted(DOCS.rglob("*.md")) if "_build" not in page.parts]
ON_PAGES = [(page, *found) for page in PAGES for found in SNIPPET.findall(page.read_text(encoding="utf-8"))]
EXPERIMENTS = {
    path.stem for path in (FOLDER / "figures").glob("*/*.py") if "\nEXPERIMENT = " in path.read_text(encoding="utf-8")
}


def asked_in(page):
    """What a page asks `python -m theory`."""
    return re.findall(r"python -m theory ([\w.= -]+)", page.read_text(encoding="utf-8"))


def run(code, name):
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(code, name, "exec"), {"__name__": "snippet"})
    return output.getvalue()


@pytest.mark.parametrize(("code", "printed"), SNIPPETS, ids=range(len(SNIPPETS)))
def test_snippet(code, printed):
    assert run(code, "README.md") == printed


# Eight seconds: fits with a loss of one's own, for which solver and fits have tests of their own.
LONG = "ConvexMargin(np.abs"


@pytest.mark.parametrize(
    ("page", "code", "printed"),
    [pytest.param(*found, id=found[0].stem, marks=[pytest.mark.slow] * (LONG in found[1])) for found in ON_PAGES],
)
def test_snippet_of_a_page(page, code, printed, tmp_path, monkeypatch):
    """Some snippets write the file that their page goes on with."""
    monkeypatch.chdir(tmp_path)
    assert run(code, page.name) == printed


@pytest.mark.parametrize("page", [FOLDER / "README.md", *PAGES], ids=lambda page: page.relative_to(FOLDER).as_posix())
def test_links_lead_somewhere(page):
    """Every file that is linked exists, and every place in it is one of its headings."""
    for target in links_of(page.read_text(encoding="utf-8")):
        assert leads_somewhere(page, target), target


def test_a_link_to_nowhere_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A page\n\n[one](other.md) [two](#a-page) [three](#another) [out](https://a.b)", encoding="utf-8")
    assert [leads_somewhere(page, target) for target in links_of(page.read_text())] == [False, True, False]


def links_of(text):
    return re.findall(r"\]\((?!https?:)([^)#]*(?:#[^)]*)?)\)", text)


def leads_somewhere(page, target):
    file, _, anchor = target.partition("#")
    linked = (page.parent / file).resolve() if file else page
    if not linked.exists() or not anchor:
        return linked.exists()
    if linked == DOCS / "gallery.md":  # its headings are made from the experiments
        return anchor in EXPERIMENTS
    headings = re.findall(r"^#+ (.+)$", linked.read_text(encoding="utf-8"), re.MULTILINE)
    return anchor in {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("index", ["README.md", "index.md", "results/index.md"])  # that of api/ is generated
def test_every_page_is_listed(index):
    path = DOCS / index
    listed = {(path.parent / target.partition("#")[0]).resolve() for target in links_of(path.read_text())}
    pages = {page for page in PAGES if page.parent == path.parent and page.name not in ("README.md", "index.md")}
    assert pages - listed == set()


ASKED = sorted({words for page in [FOLDER / "README.md", *PAGES] for words in asked_in(page)})


@pytest.mark.parametrize("words", ASKED)
def test_questions_from_the_shell_are_answered(words, capsys):
    assert main(words.split()) == 0
    assert capsys.readouterr().out


def test_the_readme_is_an_entrance():
    assert README.count("\n") <= 120


def test_every_picture_of_the_gallery_is_there_and_small():
    """Nothing is asked of an experiment that has no picture yet: `make gallery` draws it."""
    page = (GALLERY / "README.md").read_text(encoding="utf-8")
    on_page = re.findall(r"!\[\w+\]\((\w+)\.png\) \[`\w+`\]\(\.\./(\w+/\w+\.py)\): (.+?) \|", page)
    drawn = {path.stem for path in GALLERY.glob("*.png")}
    assert {name for name, _, _ in on_page} == drawn, "the page lacks a picture or shows a lost one: make gallery"
    assert len(on_page) == len(drawn)
    for name, file, sentence in on_page:
        declared = (FOLDER / "figures" / file).read_text(encoding="utf-8")
        assert "\nEXPERIMENT = " in declared
        assert Path(file).stem == name
        assert sentence
        assert (GALLERY / f"{name}.png").stat().st_size <= 60_000
    in_readme = re.findall(r"\(figures/gallery/(\w+)\.png\)", README)
    assert set(in_readme) <= drawn
    assert "(figures/gallery/README.md)" in README


def test_every_make_target_that_is_named_exists():
    makefile = (FOLDER / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"(?:`|\$ )make ([a-z]+)(?![\w/])", README))
    assert {"figures", "test", "tables", "analyse"} <= named
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    assert named <= targets, named - targets


def test_the_recipe_for_an_experiment_is_all_there_is_to_do(tmp_path):
    """Follow it literally in a copy: one new file, and everything that looks at experiments accepts it."""
    recipe = next(code for _, code, _ in ON_PAGES if "EXPERIMENT = Experiment(" in code)
    ignored = shutil.ignore_patterns("*.nb[ci]", "output", "_build")  # compiled sources stay compiled
    for name in ("theory", "simulate", "figures", "tests/core"):
        shutil.copytree(FOLDER / name, tmp_path / name, ignore=ignored)
    shutil.copytree(DOCS, tmp_path / "docs", ignore=ignored)
    for name in ("README.md", "Makefile", "setup.cfg", "tests/conftest.py", "tests/test_readme.py"):
        shutil.copy(FOLDER / name, tmp_path / name)
    (tmp_path / "figures" / "masked" / "from_the_recipe.py").write_text(recipe, encoding="utf-8")
    tests = ["tests/test_readme.py", "tests/core/test_every_experiment.py"]
    chosen = "picture_of_the_gallery or make_target or from_the_recipe"
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests, "-k", chosen],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout
    assert "3 passed" in result.stdout
