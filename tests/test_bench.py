"""The machinery of `make bench`: peers that fail in every way, verdicts, the table. Nothing is timed here."""

import csv
import io
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

from tests.benchmarks.machinery import table
from tests.benchmarks.machinery.apart import Apart, PeerError, program_megabytes
from tests.benchmarks.machinery.job import labeled
from tests.benchmarks.machinery.jobs import Jobs, Peer, called, exponent, load
from tests.benchmarks.machinery.rows import Bound, Row


def counted(n=1000):
    return sum(range(n))


def refuses():
    raise ValueError("no such law\nand more")


def warns_and_prints():
    warnings.warn("it is old", DeprecationWarning, stacklevel=1)
    print("progress 10 %")
    os.write(1, b"from a library in C")
    return counted()


def hangs():
    time.sleep(600)


def crashes():
    print("malloc: broken heap", file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGSEGV)


def asks():
    return input("continue?")


ROOT = Path(__file__).resolve().parents[1]
FAILURES = {
    "raises": (refuses, "ValueError: no such law"),
    "is absent": (lambda: __import__("no_such_package"), "ModuleNotFoundError: No module named 'no_such_package'"),
    "crashes": (crashes, "ended by SIGSEGV: malloc: broken heap"),
    "exits": (lambda: sys.exit(3), "SystemExit: 3"),
    "leaves": (lambda: os._exit(3), "ended with status 3"),
    "asks": (asks, "EOFError: EOF when reading a line"),
    "hangs": (Peer(hangs, limit=1.5), "no answer in 1.5 s"),
}


@pytest.fixture
def jobs():
    return Jobs("trial")


@pytest.mark.parametrize("kind", FAILURES)
def test_a_failure_of_a_peer_is_its_row_and_ours_stays(jobs, kind):
    peer, reason = FAILURES[kind]
    assert jobs.compare("sums", counted, {kind: peer, "numpy, sound": warns_and_prints}, goal="1e-9 times") == counted()
    failed, sound = jobs.rows
    assert failed.failure == reason
    assert failed.verdict == "peer failed"
    assert failed.ours == sound.ours > 0
    assert sound.verdict == "met"
    assert f"{kind}: failed: {reason}" in table.text(jobs.rows)


def test_warnings_and_prints_of_a_peer_harm_nothing(jobs, capfd):
    jobs.compare("sums", counted, {"numpy, loud": warns_and_prints}, off=lambda ours, theirs: abs(ours - theirs))
    (row,) = jobs.rows
    assert row.theirs > 0
    assert row.note == "its answer differs by 0.0e+00"
    assert capfd.readouterr().out == ""


def test_an_answer_that_cannot_be_compared_is_a_failure_of_the_peer(jobs):
    jobs.compare("sums", counted, {"mute": lambda: None}, off=lambda ours, theirs: abs(ours - theirs))
    assert jobs.rows[0].failure.startswith("its answer cannot be compared: TypeError")


def test_a_failure_of_ours_is_told_and_raised(jobs):
    with pytest.raises(ValueError, match="no such law"):
        jobs.compare("sums", refuses, {"numpy": counted})
    assert jobs.rows[0].verdict == "failed"
    assert "ours: failed: ValueError: no such law" in table.text(jobs.rows)


def test_preparation_is_made_once_and_not_measured():
    def prepared():
        calls = []
        return lambda: calls.append(0) or len(calls)

    with Apart(prepared, made=True) as process:
        assert [process.value() for _ in range(3)] == [1, 2, 3]
        assert process.seconds(5) >= 0
        assert process.value() == 9


def test_a_process_ends_with_its_context():
    with Apart(os.getpid) as process:
        number = process.value()
        assert number != os.getpid()
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def test_a_process_that_died_keeps_failing():
    with Apart(lambda: os._exit(4)) as process:
        for _ in range(2):
            with pytest.raises(PeerError, match="status 4"):
                process.warm()


def test_scaled_parts_and_units_of_a_job(jobs):
    jobs.compare("steps", counted, {"part": Peer(counted, times=1000.0)}, per=10.0, beside={"itself": counted})
    beside, part = jobs.rows
    assert beside.peer == "itself"
    assert part.ratio > 20 * beside.ratio


def test_bounds_of_one_peer(jobs):
    jobs.compare(
        "sums", counted, beside={"a": counted, "b": counted}, goal={"a": "1e-9 times"}, limit={"b": "1e9 times"}
    )
    assert [row.verdict for row in jobs.rows] == ["met", "regressed"]


def held(megabytes):
    return lambda: np.ones(int(megabytes * 1.25e5))


def test_memory_is_that_of_a_fresh_process_above_its_preparation(jobs):
    ballast = np.ones(10**6)
    jobs.memory("ones", Peer(lambda: held(80), made=True), {"half": Peer(lambda: held(40), made=True)}, goal="100 MB")
    (row,) = jobs.rows
    assert row.ours == pytest.approx(80, abs=5)
    assert row.theirs == pytest.approx(40, abs=5)
    assert row.verdict == "met"
    assert ballast.sum() == 10**6


def test_memory_that_a_peer_tells_itself_and_failures(jobs):
    jobs.memory("ones", Peer(lambda: held(80), made=True), {"tells": Peer(lambda: 12.5, tells=True), "fails": refuses})
    assert jobs.rows[0].theirs == 12.5
    assert jobs.rows[1].verdict == "peer failed"
    with pytest.raises(PeerError, match="ones: ValueError"):
        jobs.memory("ones", refuses)
    assert jobs.rows[-1].verdict == "failed"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_of_another_program():
    program = "import time; a = bytearray(60_000_000); time.sleep(.3)"
    assert 60 < program_megabytes([sys.executable, "-c", program]) < 110


def test_growth_is_the_slope_in_logarithms(jobs):
    assert exponent([10, 20, 80], [3e-3 * n**1.7 for n in (10, 20, 80)]) == pytest.approx(1.7)
    jobs.grows("sums", [1000, 2000, 4000], lambda n: lambda: counted(n), goal="power 50")
    (row,) = jobs.rows
    assert row.verdict == "met"
    assert row.note.startswith("1000: ")


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("4 times", 4.0, "times"),
        ("1/1.5 times", 1 / 1.5, "times"),
        ("5 ms", 5e-3, "s"),
        ("0.1 s", 0.1, "s"),
        ("300 ns", 3e-7, "s"),
        ("100 MB", 100.0, "MB"),
        (".5 GB", 500.0, "MB"),
        ("power 1.2", 1.2, "power"),
        ("15 steps", 15.0, "steps"),
        ("1e-10 relative", 1e-10, "relative"),
    ],
)
def test_bounds_are_read(text, value, unit):
    assert Bound.of(text) == Bound(pytest.approx(value), unit)


@pytest.mark.parametrize("text", ["fast", "four times", "", "1/ s", "power"])
def test_what_is_no_bound_is_refused(text):
    with pytest.raises(ValueError, match="a bound is a number with its unit"):
        Bound.of(text)


def row(**given):
    return Row(**{"subject": "trial", "job": "sums", "peer": "numpy", "ours": 1.0, "theirs": 5.0} | given)


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ({}, "no goal"),
        ({"goal": "4 times"}, "met"),
        ({"goal": "6 times"}, "missed"),
        ({"goal": "6 times", "limit": "4 times"}, "missed"),
        ({"goal": "7 times", "limit": "6 times"}, "regressed"),
        ({"limit": "4 times"}, "no goal"),
        ({"goal": "0.5 s"}, "missed"),
        ({"goal": "2 s"}, "met"),
        ({"goal": "2 s", "theirs": None, "failure": "no"}, "met"),
        ({"limit": "0.5 s", "theirs": None, "failure": "no"}, "regressed"),
        ({"goal": "4 times", "theirs": None, "failure": "no"}, "peer failed"),
        ({"theirs": None, "failure": "no"}, "peer failed"),
        ({"own_failure": "no", "goal": "4 times"}, "failed"),
        ({"ours": float("nan"), "goal": "2 s"}, "missed"),
        ({"unit": "power", "goal": "power 0.9", "peer": "", "theirs": None}, "missed"),
    ],
)
def test_verdicts(given, verdict):
    assert row(**given).verdict == verdict


def test_a_bound_in_another_unit_is_the_mistake_of_the_job(jobs):
    with pytest.raises(ValueError, match="a row in 'steps' cannot keep a bound of '5 ms'"):
        jobs.number("steps", 3, "steps", goal="5 ms")


def test_names_carry_the_version_of_their_package():
    assert called("numpy, vectorized") == f"numpy {np.__version__}, vectorized"
    assert called("numpy") == f"numpy {np.__version__}"
    assert called("a plain loop") == "a plain loop"
    assert called("") == ""


def test_the_table_as_text():
    rows = [
        row(
            subject="fits",
            about="Sums and\ntheir memory.",
            ours=0.01234,
            theirs=0.5,
            goal="4 times",
            limit="3 times",
            note="10: 1 s",
        ),
        row(subject="fits", job="memory", unit="MB", ours=78.04, peer="", theirs=None),
        row(subject="laws", job="density", theirs=None, failure="ImportError: no"),
    ]
    text = table.text(rows, ["0.10 on 2 cores at the start"])
    body = text[text.index("job   ") :].splitlines()
    assert body[0].split() == ["job", "ours", "peer", "peer's", "ratio", "limit", "goal", "verdict"]
    assert body[2:] == [
        "",
        "Fits",
        "  Sums and their memory.",
        "sums     12.3 ms  numpy  500 ms   40.5  3 times  4 times  met",
        "    10: 1 s",
        "memory     78 MB                                          no goal",
        "",
        "Laws",
        "density      1 s  numpy  failed                           peer failed",
        "    numpy: failed: ImportError: no",
        "",
        "3 rows: 1 met, 1 no goal, 1 peer failed",
    ]
    assert "load: 0.10 on 2 cores at the start" in text


def test_the_table_as_csv():
    rows = [row(ours=0.25, goal="4 times", note="a, b")]
    (read,) = csv.DictReader(io.StringIO(table.as_csv(rows)))
    assert (read["ours"], read["theirs"], read["ratio"], read["verdict"]) == ("0.25", "5.0", "20.0", "met")
    assert read["note"] == "a, b"
    assert table.summary([]) == "no rows"


def test_the_load_is_told_with_the_cores():
    assert load().endswith("cores")


def test_wall_time_is_told_with_the_cores_that_were_used(jobs):
    jobs.compare("sums", counted, beside={"itself": counted}, clock="wall")
    assert jobs.rows[0].note.startswith("ours used ")


def test_what_is_measured_is_told_before_it_is():
    told = []
    jobs = Jobs("trial", tell=told.append)
    jobs.compare("sums", counted, {"numpy, sound": Peer(counted, limit=30)}, beside={"itself": counted}, rounds=1)
    jobs.grows("growth", (10, 20), lambda n: lambda: counted(n))
    jobs.memory("memory", counted, {"numpy": counted})
    assert told == [
        "sums",
        "sums: itself",
        "sums: numpy, sound, at most 30 s",
        "growth: size 10",
        "growth: size 20",
        "memory",
        "memory: numpy",
    ]


def command(tmp_path, *options):
    start = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/benchmarks/test_nets_theory.py"]
    return [*start, "--bench-folder", str(tmp_path / "results"), *options]


def run(tmp_path, *options):
    of_one = command(tmp_path, "-k", "masked_clone", *options)
    return subprocess.run(of_one, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_a_run_on_request_prints_the_table_and_writes_it(tmp_path):
    out = run(tmp_path, "--bench")
    assert " s  masked clone of 405 contexts\n" in out
    assert "1 row: 1 no goal" in out
    assert "cores at the start" in out
    text = (tmp_path / "results" / "table.txt").read_text()
    assert "masked clone of 405 contexts" in text
    assert text.strip() in out
    (row,) = csv.DictReader(io.StringIO((tmp_path / "results" / "table.csv").read_text()))
    assert row["subject"] == "attention networks, theory"
    assert float(row["ours"]) > 0


@pytest.mark.slow
def test_without_a_request_nothing_runs(tmp_path):
    assert "1 skipped" in run(tmp_path)
    assert not (tmp_path / "results").exists()


@pytest.mark.slow
def test_an_interrupted_run_prints_the_rows_so_far(tmp_path):
    process = subprocess.Popen(command(tmp_path, "--bench"), cwd=ROOT, stdout=subprocess.PIPE, text=True)
    with process:
        for line in process.stdout:
            if "escape time of N = 3" in line:
                process.send_signal(signal.SIGINT)
                break
        out = process.stdout.read()
    assert process.returncode == 2
    assert "KeyboardInterrupt" in out
    names = [row["job"] for row in csv.DictReader(io.StringIO((tmp_path / "results" / "table.csv").read_text()))]
    assert names[:2] == ["escape time of N = 2", "best direction of N = 2"]
    assert (tmp_path / "results" / "table.txt").read_text().strip() in out


def test_the_noise_of_labels_is_not_among_the_inputs():
    """Of one coordinate the labels are its signs with probability 3/4, and always where the noise repeats it."""
    X, y = labeled(4000, 1)
    assert abs(np.mean(y == np.sign(X[:, 0])) - 0.75) < 5 * np.sqrt(0.75 * 0.25 / 4000)
