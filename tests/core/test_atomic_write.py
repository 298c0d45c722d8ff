"""Files that are whole or not there."""

import pytest

from theory.core.atomic_write import atomic_write


def write_half(file):
    file.write_text("half")
    raise ZeroDivisionError


def test_an_error_leaves_the_earlier_file_and_names_it(tmp_path):
    path = tmp_path / "x.csv"
    with atomic_write(path) as temporary:
        temporary.write_text("whole")
        assert temporary.suffix == ".csv"
    with pytest.raises(FileNotFoundError) as failed, atomic_write(path) as temporary:
        temporary.read_text()  # nothing was written to it
    assert failed.value.filename == str(path)
    with pytest.raises(ZeroDivisionError), atomic_write(path) as temporary:
        write_half(temporary)
    assert path.read_text() == "whole"
    assert list(tmp_path.iterdir()) == [path]
