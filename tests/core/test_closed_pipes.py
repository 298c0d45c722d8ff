"""A command whose output nobody reads to the end, as under `| head`, ends without a word and without a failure."""

import subprocess
import sys

import pytest

from tests.core.small_checkout import ROOT
from theory.commands import until_closed

INSTALLED = ("-c", "import sys; from figures.program import start; sys.exit(start())")


@pytest.mark.parametrize(
    "command",
    [
        ("-m", "theory", "--help"),
        ("-m", "figures", "--help"),
        (*INSTALLED, "--help"),
        (*INSTALLED, "completion", "zsh"),
    ],
    ids=["theory", "figures", "masked-ssl", "completion"],
)
def test_a_closed_pipe_ends_a_command_quietly(command):
    process = subprocess.Popen(
        [sys.executable, *command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    process.stdout.close()  # before anything is written
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait() == 0


def test_the_status_of_a_command_is_passed_on():
    assert until_closed(lambda: 3) == 3


def test_the_command_line_needs_nothing_that_starts_it():
    text = (ROOT / "figures" / "command_line.py").read_text(encoding="utf-8")
    assert not any(f"figures.{name}" in text for name in ("__main__", "start", "program"))
