"""The parts of the pages that are made from the code: what they hold, and that plain text stays what it looks like."""

import importlib
import importlib.util
import inspect
import pkgutil
import re
import sys
import types
from pathlib import Path
from typing import Any

import pytest

import simulate
import theory
from figures.core import Experiment
from figures.core.discover import find_experiments, load
from figures.core.rows import COLUMNS

DOCS = Path(__file__).resolve().parents[2] / "docs"
RESULTS = sorted(page for page in (DOCS / "results").glob("*.md") if page.name != "index.md")
SECTIONS = ("Statement", "Derivation in words", "Figure", "Table", "Nearest prior work", "What is not shown")


def extension(name):
    if str(DOCS / "_ext") not in sys.path:
        sys.path.append(str(DOCS / "_ext"))  # for what one extension takes from another
    spec = importlib.util.spec_from_file_location(name, DOCS / "_ext" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


parts, plain, kept = extension("generated_parts"), extension("plain_docstrings"), extension("committed_parts")


@pytest.mark.parametrize("page", RESULTS, ids=lambda page: page.stem)
def test_a_page_on_a_result_has_every_section(page):
    text = page.read_text(encoding="utf-8")
    assert tuple(re.findall(r"^## (.+)$", text, re.MULTILINE)) == SECTIONS
    assert "../../figures/gallery/" in text
    assert "make figures/output/" in text
    assert "```text\n" in text


def test_every_public_package_is_in_the_reference():
    packages = {
        f"{wing.__name__}.{found.name}"
        for wing in (theory, simulate)
        for found in pkgutil.iter_modules(wing.__path__)
        if hasattr(importlib.import_module(f"{wing.__name__}.{found.name}"), "__all__")
    }
    plumbing = {"theory.core"}  # what its functions are for is writing others
    assert packages - plumbing <= set(parts.documented())


def test_every_public_name_has_one_place_in_the_reference():
    places = {}
    for package in parts.documented():
        listed = re.findall(r"\.\. auto(?:function|class|exception|data):: ([\w.]+)", parts.reference(package))
        for name in (name for name in listed if "." not in name):  # the others are only returned
            places.setdefault(id(getattr(importlib.import_module(package), name)), []).append(f"{package}.{name}")
    twice = [found for found in places.values() if len({one.rpartition(".")[0] for one in found}) > 1]
    assert not twice
    for package in parts.documented():
        module = importlib.import_module(package)
        for name in getattr(module, "__all__", ()):
            one = getattr(module, name)
            assert id(one) in places or isinstance(one, types.ModuleType) or one is Any, f"{package}.{name}"


def test_every_class_that_is_returned_is_in_the_reference():
    shown = "\n".join(map(parts.reference, parts.documented())).split()
    names = {f"{one.__module__}.{one.__qualname__}" for one in parts.returned()}
    assert names <= set(shown)
    fits = {"full.PseudoLikelihoodFit", "factored_fit.FactoredFit", "gaussian.MeanFieldFit", "held_out.MaskedLoss"}
    assert {f"simulate.potts.inference.{name}" for name in fits} <= names
    assert len(names) > 20
    for package in parts.documented():  # what a function returns by its own annotation, without the rest
        module = importlib.import_module(package)
        for name in getattr(module, "__all__", ()):
            one = getattr(getattr(module, name), "__annotations__", {}).get("return")
            if inspect.isclass(one) and one.__module__.split(".")[0] in ("theory", "simulate", "figures"):
                assert one in parts.returned() or one.__name__ in shown, f"{package}.{name} returns {one}"


def test_the_gallery_shows_every_experiment_with_its_caption():
    page = parts.gallery("")
    for name, path in find_experiments().items():
        assert f"\n### {name}\n" in page
        assert parts.finding_first(parts.linked(parts.escaped(parts.caption(name, load(path))))) in page
        assert f"[figures/{path.parent.name}/{name}.py](../figures/{path.parent.name}/{name}.py)" in page
        assert f"[{name}](#{name})" in page
    headings = re.findall(r"^## (.+)$", page, re.MULTILINE)
    assert headings[0] == "Masked regression"


def test_pages_keep_what_is_generated():
    """Readers of the repository see the gallery, the map of papers and the limits as the code states them now."""
    stale = ", ".join(page.name for page in kept.stale(parts))
    assert not stale, f"{stale} of docs/ must be written anew: run {kept.COMMAND}"
    text = (DOCS / "papers.md").read_text(encoding="utf-8")
    assert text.count("<!-- generated: papers -->\n\n| published |") == text.count("|\n\n<!-- end: papers -->") == 1
    assert kept.written(text.replace("[transfer]", "[trans]"), parts) == text


def test_what_is_generated_does_not_depend_on_a_run(monkeypatch, tmp_path):
    page = parts.gallery("")
    for ending in ("csv", "pdf"):
        (tmp_path / f"transfer.{ending}").write_text("x")
    monkeypatch.setattr(parts, "OUTPUT", tmp_path)
    assert parts.gallery("") == page
    site = parts.gallery("", site=True)
    assert "[PDF](../figures/output/transfer.pdf), [CSV](../figures/output/transfer.csv)" in site
    assert site.count("[PDF]") == 1
    assert "[![transfer](../figures/gallery/transfer.png)](#transfer)" in site


def test_captions_state_the_numbers_that_are_declared():
    given = {"curves": {"a": lambda x: x}, "theory": float, "title": "t", "caption": "At {sizes}, {replicates} times."}
    assert parts.caption("toy", Experiment(d=30, replicates=7, **given)) == "At 30 and 60, 7 times."
    assert parts.caption("toy", Experiment(d=(10, 30), extrapolate=False, **given)) == "At 10 and 30, 40 times."


def test_captions_of_experiments_that_compute_their_rows_have_the_number_they_ask_for():
    counted = {
        name: path
        for name, path in find_experiments().items()
        if "{replicates}" in load(path).caption and load(path).compute is not None
    }
    assert "ordering" in counted
    for name, path in counted.items():
        asked = set(re.findall(r"context\.replicates\((\w+)\)", path.read_text(encoding="utf-8")))
        assert len(asked) == 1, name
        before, after = load(path).caption.split("{replicates}")
        assert parts.caption(name, load(path)) == f"{before}{int(asked.pop())}{after}"
    assert "simulations at p = 80 and 160," in parts.caption("mixtures", load(find_experiments()["mixtures"]))


def test_the_map_of_papers_leads_to_the_gallery():
    page = parts.papers("")
    assert "| published | counterpart here | do they agree? |" in page
    assert "make figures/output" not in page
    assert "[norm_growth](gallery.md#norm_growth)" in page
    assert "| [arXiv:2410.19637](https://arxiv.org/abs/2410.19637), Fig. 2 (another network) |" in page


def test_limits_are_collected_from_pages_and_captions():
    page = parts.limits("")
    assert "From [this page](perceptron.md#where-not-to-trust-it)." in page
    assert "(results/rows_and_cross_validation.md)" in page
    assert "(rows.md#where-not-to-trust-it)" in page
    assert "- [transfer](gallery.md#transfer): " in page


def test_every_mark_belongs_to_a_part():
    marks = [found[0] for page in DOCS.rglob("*.md") for found in parts.MARK.findall(page.read_text(encoding="utf-8"))]
    assert set(marks) == set(parts.PARTS)
    for page in DOCS.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        assert len(re.findall("<!-- generated", text)) == len(parts.MARK.findall(text)), page


def test_every_column_of_a_table_is_explained():
    assert re.findall(r"^\| `(\w+)` \| \w", parts.columns(""), re.MULTILINE) == list(COLUMNS)


def test_plain_text_is_shown_as_it_is():
    assert parts.escaped(r"p_m and A* < 2, $a_b^2$ | 1") == r"p\_m and A\* \< 2, $a_b^2$ \| 1"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("The law of |x_i|, see `solve`.", [r"The law of \|x\_i\|, see :py:obj:`solve`.", ""]),
        ("One `a b` of\ntwo lines.", ["One ``a b`` of two lines.", ""]),
        ("Its `d`th part.", [r"Its \ :py:obj:`d`\ th part.", ""]),
        ("**A rule.** It holds.", [r"\ **A rule.**\  It holds.", ""]),
        ("    E = m c^2.", [".. math::", "", "    E = m c^{2}.", ""]),
        ("    one two\n    three", ["::", "", "    one two", "    three", ""]),
        ('    print("a_b")', ["::", "", '    print("a_b")', ""]),
        (">>> f(1)\n2", [">>> f(1)", "2", ""]),
        ("- one\n  and more\n- two", ["- one and more", "", "- two", "", ""]),
    ],
)
def test_docstrings_are_plain_text(text, lines):
    assert plain.as_markup(text) == lines


@pytest.mark.parametrize(
    ("plain_text", "latex"),
    [
        ("dA_kl/dt = -2 b_k", r"\mathrm{d}A_{kl}/\mathrm{d}t = -2 b_{k}"),
        ("sum_(p_1 < p_k) p_i^-a", r"\sum _{p_{1} < p_{k}} p_{i}^{-a}"),
        ("Qhat q1 for A*_ij", r"\hat{Q} q_{1} \text{ for } A^{*}_{ij}"),
        ("||L||^2 >= sqrt(2 (a + b))", r"\Vert L\Vert ^{2} \ge  \sqrt{2 (a + b)}"),
        ("x > `margin`,   q", r"x > \mathtt{margin}, \quad q"),
    ],
)
def test_formulas_of_docstrings_are_typeset(plain_text, latex):
    typeset = extension("typeset")
    assert typeset.latex(plain_text) == latex
    assert typeset.displayed([plain_text, "  + q"]) == rf"\begin{{aligned}} & {latex} \\ & \quad + q \end{{aligned}}"


def test_signatures_are_short():
    array = "ndarray[tuple[Any, ...], dtype[float64]]"
    shown = plain.shortened(None, "", "", None, None, f"(x: {array}, _factors: Some, n: int)", array)
    assert shown == ("(x: ndarray[float64], n: int)", "ndarray[float64]")
    assert plain.shortened(None, "", "", None, None, None, None) == (None, None)
