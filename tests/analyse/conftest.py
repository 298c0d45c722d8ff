"""What tests of users' files share: a way to write them."""

import pytest


@pytest.fixture(autouse=True)
def _outlined(outlined):
    """No test of users' files looks at the fonts of a PDF."""


@pytest.fixture
def write(tmp_path):
    """Write text or bytes to a file of that name."""

    def written(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written
