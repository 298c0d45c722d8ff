"""Every snippet of the README runs, and prints what stands below it."""

import contextlib
import io
import re
from pathlib import Path

import pytest

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```\n(?:```text\n(.*?)```)?", README, re.DOTALL)


@pytest.mark.parametrize(("code", "printed"), SNIPPETS, ids=range(len(SNIPPETS)))
def test_snippet(code, printed):
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(code, "README.md", "exec"), {"__name__": "readme"})
    assert output.getvalue() == printed


def test_every_picture_of_the_gallery_is_there_and_small():
    folder = Path(__file__).parents[1]
    shown = re.findall(r"\((figures/gallery/\w+\.png)\)", README)
    experiments = {
        path.stem for path in folder.glob("figures/*/*.py") if "\nEXPERIMENT = " in path.read_text(encoding="utf-8")
    }
    assert {Path(name).stem for name in shown} == experiments
    for name in shown:
        assert (folder / name).stat().st_size <= 60_000


def test_every_make_target_that_is_named_exists():
    makefile = (Path(__file__).parents[1] / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"(?:`|\$ )make ([a-z]+)(?![\w/])", README))
    assert {"figures", "test", "tables", "analyse"} <= named
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    assert named <= targets, named - targets
