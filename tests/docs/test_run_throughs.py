"""The run-throughs of own data: the commands run, write the files that the pages list, and say what the pages say."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from figures.core.rows import COLUMNS

ROOT = Path(__file__).resolve().parents[2]
NUMBERS = {  # what the pages say of the example, as the command prints it
    "own_matrix": (
        "error of a column is 0.4871 on average",
        "With twice as many rows theory expects 0.472(25)",
        "best stopped at time 4.2",
        "it is 0.5012 beside 0.5001: neither is better as far as one can tell (+0.21(44) %)",
    ),
    "dependent_rows": (
        "correlation 0.801(25) at lag 1",
        "GCV reports an error of 0.3931 and leave-one-out 0.3930(96)",
        "is about 0.6134 (corrected), and 0.681(47) (5 blocks with gaps of 11 rows",
        "200 rows are worth about 58 independent ones for the regressions, and about 23 for the means",
        "GCV would have chosen lam = 0.031, with a corrected error that is 6.4 % above",
    ),
    "missing_entries": ("expected to be off by 0.569(36) of", "error of 0.567(38), found was 0.566(38)", "(p = 0.12)"),
    "own_alignment": (
        "800  20     1.2204(75)  1.3270(57)   0.1066(51)",
        "61 of 780 pairs score above",
        "62 of 780 pairs have a q-value of at most 0.1",
        "The effective depth Meff/L is 25",
    ),
    "own_text": ("topic 5 (", "There are 300 documents with 60 different words"),
}


def command_of(text):
    """The file and the options of the first command that a page shows."""
    data, options = re.search(r"\$ make analyse DATA=(\S+)(?: OPTIONS=\"([^\"]*)\")?", text).groups()
    return data, shlex.split(options or "")


@pytest.mark.slow
@pytest.mark.parametrize("name", NUMBERS)
def test_a_run_through_does_what_it_says(name, tmp_path):
    text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    data, options = command_of(text)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    file = ROOT / data
    if not file.exists():
        example = re.search(r"## The example.*?```python\n(.*?)```", text, re.DOTALL)[1]
        subprocess.run([sys.executable, "-c", example], cwd=tmp_path, env=environment, check=True)
        file = tmp_path / data
    results = tmp_path / "results"
    command = [sys.executable, "-m", "figures", "analyse", file, *options, "--output", results, "--jobs", "2"]
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    for said in NUMBERS[name]:
        assert said in re.sub(r"\n  +", " ", ran.stdout)
    listed = set()
    for files, columns in re.findall(r"^\| (`analyse_[^|]+) \| (.*?) \| ", text, re.MULTILINE):
        named = re.findall(r"`([^`]+)`", files)
        listed.update(named)
        for one in named:
            if columns.strip():
                wanted = COLUMNS if "tables.md" in columns else columns.strip("` ").split(",")
                assert list(pd.read_csv(results / one).columns) == list(wanted), one
    assert listed == {path.name for path in results.iterdir()}
