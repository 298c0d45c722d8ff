"""What tests of users' files share: a way to write them, and analyses without pictures."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _outlined(outlined):
    """No test of users' files looks at the fonts of a PDF."""


@pytest.fixture
def undrawn(monkeypatch):
    """Let figures be empty files, for tests that look at none: to draw them is most of an analysis."""
    monkeypatch.setattr("figures.core.plot.draw_figure", lambda *_: [Path(path).touch() for path in _[2:]])


@pytest.fixture
def write(tmp_path):
    """Write text or bytes to a file of that name."""

    def written(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written
