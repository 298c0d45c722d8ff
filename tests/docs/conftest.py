"""The site, which several tests look at."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NEEDED = ("sphinx", "furo", "myst_nb", "sphinx-mathjax-offline")


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The folder of the site, which is built once for all tests of a process."""
    if not all(map(importlib.util.find_spec, NEEDED)):
        pytest.skip("needs pip install -e '.[docs]'")
    folder = tmp_path_factory.mktemp("site")
    made = folder / "html"
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-E", "-b", "html", "-d"]
    result = subprocess.run(
        [*command, folder / "doctrees", ROOT / "docs", made], cwd=ROOT, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    assert not result.stderr
    return made
