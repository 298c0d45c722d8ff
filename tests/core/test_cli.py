"""python -m figures: its commands, its errors in one line, and what happens on ^C."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

import figures
import figures.core.discover
from figures.command_line import main
from figures.core.drawn_from import out_of_date, read_drawn
from tests.core.small_checkout import ROOT, add, checkout, start, wait_until


@pytest.fixture
def toy(tmp_path, monkeypatch, outlined):
    """Two experiments of a subject of their own; returns how to call the command line and where it writes."""
    add(tmp_path / "toy", "first_toy")
    add(tmp_path / "toy", "second_toy", more='caption="And a caption.",')
    monkeypatch.setattr(figures, "__path__", [*figures.__path__, str(tmp_path)])
    monkeypatch.setattr(figures.core.discover, "FIGURES", tmp_path)
    yield lambda command, *more: main([command, *more, "--output", str(tmp_path / "out")]), tmp_path
    for name in [name for name in sys.modules if name.startswith("figures.toy")]:
        del sys.modules[name]


def keep_gallery(monkeypatch, folder):
    """Let the gallery be written in the folder of the test."""
    for name in ("add_to_gallery", "render_page", "shows_another_table", "write_page"):
        monkeypatch.setattr(f"figures.core.gallery.{name}.__defaults__", (folder / "gallery",))


def test_list_run_draw_table(toy, capsys):
    call, folder = toy
    assert call("list") == 0
    assert capsys.readouterr().out.splitlines()[1].split(None, 2) == [
        "second_toy",
        "toy",
        "never run         Title of second_toy",
    ]
    assert call("run", "--all", "--jobs", "1") == 0
    assert capsys.readouterr().err.endswith(" s: second_toy\n")  # the last of two
    assert call("draw", "first_toy") == 0
    made = {path.name for path in (folder / "out").iterdir()}
    assert made >= {"first_toy.csv", "first_toy.pdf", "first_toy.png", "second_toy.csv"}
    assert not list((folder / "out" / ".partial").iterdir())
    capsys.readouterr()
    assert call("table", "--format", "markdown") == 0
    captured = capsys.readouterr()
    assert captured.out.count("**") == 4
    assert "**second_toy: Title of second_toy. And a caption. Bars have a coverage of 95 %" in captured.out
    assert captured.err == ""  # nothing was computed
    assert call("list") == 0
    assert "never run" not in capsys.readouterr().out


def test_list_of_papers(toy, capsys):
    _, folder = toy
    add(folder / "toy", "first_toy", more='papers={"arXiv:1, Fig. 2": "It agrees."},')
    assert main(["list", "--papers"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "arXiv:1, Fig. 2", "    make figures/output/first_toy.pdf", "        It agrees.",
    ]  # fmt: skip


def test_a_missing_table_is_computed_and_a_fresh_one_kept(toy, capsys):
    call, folder = toy
    assert call("table", "first_toy", "--jobs", "1") == 0
    assert "first_toy: 16 tasks" in capsys.readouterr().err
    assert call("run", "first_toy", "--jobs", "1") == 0
    assert capsys.readouterr().err == ""
    assert call("run", "first_toy", "--jobs", "1", "--force") == 0
    assert "16 tasks" in capsys.readouterr().err
    assert call("run", "first_toy", "--jobs", "1", "--quality", "draft") == 0
    assert "12 tasks" in capsys.readouterr().err
    add(folder / "toy", "first_toy", more="seed=1,")  # a changed source
    assert call("run", "first_toy", "--jobs", "1", "--quality", "draft") == 0
    assert "12 tasks" in capsys.readouterr().err


@pytest.mark.parametrize("junk", ["junk\n", "", "\xff\x00", "a,b\n1,2,3\n"])
def test_a_broken_table_is_computed_again_by_every_command(toy, capsys, monkeypatch, junk):
    call, folder = toy
    table = folder / "out" / "first_toy.csv"
    keep_gallery(monkeypatch, folder)
    assert call("run", "first_toy", "--jobs", "1") == 0
    whole = table.read_bytes()
    for command in ("run", "draw", "table", "gallery"):
        table.write_text(junk, encoding="latin-1")
        assert call(command, "first_toy", "--jobs", "1") == 0
        assert table.read_bytes() == whole


def test_a_number_changed_by_hand_is_noticed(toy):
    call, folder = toy
    table = folder / "out" / "first_toy.csv"
    call("run", "first_toy", "--jobs", "1")
    whole = table.read_text()
    table.write_text(whole.replace("1.0", "1.5", 1))
    assert call("run", "first_toy", "--jobs", "1") == 0
    assert table.read_text() == whole


def test_a_table_of_other_columns_is_one_line(toy, capsys, monkeypatch):
    call, _ = toy
    call("run", "first_toy", "--jobs", "1")
    capsys.readouterr()
    monkeypatch.setattr("figures.core.table.COLUMNS", ("another", "version"))
    assert call("draw", "first_toy") == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "first_toy.csv is no table of an experiment: its columns are panel, curve," in error


def test_a_table_that_is_out_of_date_is_printed_and_says_so(toy, capsys):
    call, folder = toy
    call("run", "first_toy", "--jobs", "1", "--quality", "draft")
    capsys.readouterr()
    assert call("table", "first_toy", "--quality", "draft") == 0
    printed, error = capsys.readouterr()
    assert error == ""
    assert call("table", "first_toy", "--quality", "default") == 0
    again, error = capsys.readouterr()
    assert again == printed
    assert error == f"{folder}/out/first_toy.csv is out of date (other sources or quality): run first_toy\n"


def test_the_quality_of_the_environment_is_checked(toy, capsys, monkeypatch):
    call, _ = toy
    monkeypatch.setenv("QUALITY", "bogus")
    with pytest.raises(SystemExit) as stop:
        call("run", "first_toy")
    assert stop.value.code == 2
    assert "'bogus'; it, or QUALITY, must be one of draft, default, paper" in capsys.readouterr().err
    monkeypatch.setenv("QUALITY", "")
    assert call("list") == 0


@pytest.mark.parametrize(
    "place", ["pandas.DataFrame.to_csv", "os.write", "figures.core.plot.FigureCanvasPdf.print_pdf"]
)
def test_a_full_disk_names_the_file(toy, capsys, monkeypatch, place):
    call, folder = toy

    def refuse(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(place, refuse)
    assert call("draw", "first_toy", "--jobs", "1") == 1
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith(f"figures: No space left on device: {folder}/out/")
    assert not [
        path for path in (folder / "out").iterdir() if path.name.startswith(".first_toy.") and path.suffix != ".digest"
    ]


def test_pictures_of_other_tables_are_named(toy, monkeypatch, capsys):
    call, folder = toy
    keep_gallery(monkeypatch, folder)
    assert call("gallery", "first_toy", "--jobs", "1") == 0
    gallery = folder / "gallery"
    capsys.readouterr()
    assert call("gallery", "--check", "first_toy", "second_toy") == 0
    assert capsys.readouterr().out.splitlines() == [
        f"pictures of the gallery that show their tables in {folder}/out/: 1",
        "pictures without a table that is up to date, which are not checked: 1",
    ]
    noted = (gallery / "drawn_from.txt").read_text()
    (gallery / "drawn_from.txt").write_text(noted.replace(read_drawn(gallery)["first_toy"].table, 16 * "0"))
    assert call("gallery", "--check", "first_toy") == 0  # drawn anew it is the same picture
    (gallery / "first_toy.png").write_bytes(b"another picture")
    assert call("gallery", "--check", "first_toy") == 1
    assert capsys.readouterr().err == "these pictures show other tables: python -m figures gallery first_toy\n"
    assert (gallery / "first_toy.png").read_bytes() == b"another picture"


def test_gallery(toy, monkeypatch):
    call, folder = toy
    keep_gallery(monkeypatch, folder)
    assert call("gallery", "first_toy", "--jobs", "1") == 0
    assert 1000 < (folder / "gallery" / "first_toy.png").stat().st_size <= 60_000
    page = (folder / "gallery" / "README.md").read_text(encoding="utf-8")
    assert "## toy" in page
    assert "![first_toy](first_toy.png) [`first_toy`](../toy/first_toy.py): Made up." in page
    assert "second_toy" not in page  # it has no picture yet
    assert set(read_drawn(folder / "gallery")) == {"first_toy"}
    assert out_of_date(folder / "gallery", folder / "toy" / "first_toy.py") is None
    assert out_of_date(folder / "gallery", folder / "toy" / "second_toy.py") == "second_toy has no picture"


def test_update_makes_what_is_old_and_nothing_else(toy, capsys, monkeypatch):
    call, folder = toy
    out = folder / "out"
    monkeypatch.chdir(folder)

    def made(*names, **options):
        before = {path.name: path.stat().st_mtime_ns for path in out.glob("[!.]*")} if out.exists() else {}
        assert call("update", *(names or ("--all",)), "--jobs", "1", **options) == 0
        return {path.name for path in out.glob("[!.]*") if path.stat().st_mtime_ns != before.get(path.name)}

    def kinds(name, *suffixes):
        return {f"{name}.{suffix}" for suffix in suffixes}

    every = ("csv", "pdf", "png", "md")
    assert made() == kinds("first_toy", *every) | kinds("second_toy", *every)
    assert capsys.readouterr().out == ("2 made (figure as PDF and PNG, table as CSV, caption as MD: out/), 0 skipped\n")
    assert made() == set()
    (out / "first_toy.png").unlink()
    assert made() == kinds("first_toy", "pdf", "png", "md")
    (out / "second_toy.csv").write_text("junk")
    assert made() == kinds("second_toy", "csv")  # the same table again, from which the pictures were drawn
    add(folder / "toy", "first_toy", more="seed=1,")
    assert made("first_toy") == kinds("first_toy", *every)
    capsys.readouterr()
    assert made("first_toy") == set()
    printed = capsys.readouterr().out.split()
    assert printed == [f"{out}/first_toy.{suffix}" for suffix in every]
    monkeypatch.setattr("figures.core.outputs.SourceTree.picture_sources", lambda self, path: [])
    assert made() == kinds("first_toy", *every[1:]) | kinds("second_toy", *every[1:])  # another way to draw


def test_a_figure_that_cannot_be_drawn_is_named(toy, capsys):
    call, folder = toy
    add(folder / "toy", "third_toy", more="draw=lambda ax, rows: 1 / 0,")
    assert call("update", "--all", "--jobs", "1") == 1
    error = capsys.readouterr().err
    assert "figures: third_toy cannot be drawn:" in error
    assert error.endswith("ZeroDivisionError: division by zero\n1 failed, 2 made, 0 skipped\n")


def test_a_figure_that_cannot_be_computed_is_named(toy, capsys):
    call, folder = toy
    add(folder / "toy", "third_toy", more="theory_at=lambda x, d: 1 / 0,")
    assert call("update", "--all", "--jobs", "1") == 1
    error = capsys.readouterr().err
    assert "figures: third_toy cannot be made:" in error
    assert "ZeroDivisionError: division by zero" in error


def test_figures_that_fail_keep_no_other_from_being_made(toy, capsys):
    call, folder = toy
    for place in range(5):
        add(folder / "toy", f"failing_{place}", more="theory_at=lambda x, d: 1 / 0,")
    assert call("update", "--all", "--jobs", "1") == 1
    error = capsys.readouterr().err
    assert error.endswith("5 failed, 2 made, 0 skipped\n")
    assert error.count("Traceback") == 3
    assert "\nfailing_4 cannot be made: ZeroDivisionError: division by zero\n" in error
    for name in ("first_toy", "second_toy"):
        assert (folder / "out" / f"{name}.png").exists()


def test_a_skipped_experiment_says_why_and_fails_nothing(toy, capsys):
    call, folder = toy
    add(folder / "toy", "third_toy", more='skip=lambda: "no data here",')
    assert call("draw", "third_toy") == 0
    assert capsys.readouterr() == ("", "third_toy is skipped: no data here\n")
    assert call("update", "third_toy") == 0
    assert capsys.readouterr() == ("", "third_toy is skipped: no data here\n")
    assert call("update", "--all", "--jobs", "1") == 0
    assert capsys.readouterr().out.endswith("/), 1 skipped: third_toy because no data here\n")


def test_a_file_that_declares_no_experiment_is_named(toy, capsys):
    call, folder = toy
    (folder / "toy" / "typed.py").write_text('"""Typed."""\n\nEXPERIMENT: object = None\n', encoding="utf-8")
    assert call("run", "typed") == 1
    message = f"figures: {folder / 'toy' / 'typed.py'} is no experiment: no line of it begins with 'EXPERIMENT = '\n"
    assert capsys.readouterr().err == message


def test_errors_are_one_line(toy, capsys, monkeypatch):
    call, folder = toy
    for arguments, message in [
        (("run", "frist_toy"), "no experiment is called 'frist_toy'; did you mean: first_toy, second_toy?"),
        (("run",), "which one? first_toy, second_toy; or --all"),
        (("run", "first_toy", "--backend", "dask", "--scheduler", "tcp://127.0.0.1:9"), "no Dask scheduler answers"),
    ]:
        monkeypatch.setattr("simulate.core.backends.CONNECT_SECONDS", 1)
        if "dask" in arguments:
            monkeypatch.setitem(sys.modules, "distributed", None)
            message = "needs distributed: pip install"
        assert call(*arguments) == 1
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        assert message in error
    (folder / "file").touch()
    assert main(["run", "first_toy", "--output", str(folder / "file")]) == 1
    assert capsys.readouterr().err == f"figures: Not a directory: {folder}/file/.partial/first_toy\n"


def test_a_name_that_is_no_text_is_no_traceback(toy):
    """Bytes that are not UTF-8 in the name of a folder: it works, and is printed with escapes."""
    _, folder = toy
    run = subprocess.run(
        [sys.executable, "-m", "figures", "draw", "topic_weight", "--quality", "draft", "--output", b"out \xff"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == [f"out \\udcff/topic_weight.{suffix}" for suffix in ("pdf", "png", "md")]


def test_no_permission_to_write(toy, capsys, monkeypatch):
    call, _ = toy

    def refuse(self, *_, **__):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "mkdir", refuse)
    assert call("run", "first_toy") == 1
    assert capsys.readouterr().err.startswith("figures: Permission denied: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "x", "--jobs", "0"], "must be >= 1"),
        (["run", "x", "--quality", "best"], "invalid choice"),
        (["run", "x", "--backend", "dask"], "--backend dask needs --scheduler ADDRESS"),
        (["table", "--format", "html"], "invalid choice"),
        ([], "COMMAND"),
    ],
)
def test_bad_options(arguments, message, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert message in capsys.readouterr().err


def test_only_files_with_a_declaration_are_experiments(toy, capsys):
    call, folder = toy
    (folder / "toy" / "shared.py").write_text("# EXPERIMENT = none\n")
    (folder / "toy" / "wrong_toy.py").write_text("EXPERIMENT = 3\n")
    assert call("run", "shared") == 1
    with pytest.raises(TypeError, match=r"wrong_toy.py must define EXPERIMENT = Experiment\(...\), got 3"):
        call("run", "wrong_toy")


def test_two_experiments_of_one_name(toy):
    call, folder = toy
    add(folder / "other", "first_toy")
    with pytest.raises(ValueError, match="two experiments are called first_toy"):
        call("list")


def start_and_hold(folder):
    """A run on two processes that has kept a few results and goes no further."""
    kept = folder / "figures/output/.partial/slow_toy/results.jsonl"
    process = start(folder, "run", "slow_toy", "--jobs", "2", hold="2")
    wait_until(lambda: kept.exists() and kept.read_bytes().count(b"key") > 2)
    return process


def test_interrupt_and_resume(tmp_path):
    folder = checkout(tmp_path / "a folder with spaces")
    process = start_and_hold(folder)
    os.killpg(process.pid, signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert error == "\ninterrupted; finished replicates are kept, the same command goes on from here\n"
    assert not (folder / "figures/output/slow_toy.csv").exists()

    process = start(folder, "run", "slow_toy", "--jobs", "1")
    _, error = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "of them from before" in error
    resumed = (folder / "figures/output/slow_toy.csv").read_bytes()
    start(folder, "run", "slow_toy", "--jobs", "2", "--output", str(tmp_path / "whole")).communicate(timeout=60)
    assert (tmp_path / "whole" / "slow_toy.csv").read_bytes() == resumed


def alive(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
def test_workers_end_with_a_killed_program(tmp_path):
    process = start_and_hold(checkout(tmp_path / "check out"))
    time.sleep(15)  # a worker looks after its parent from its first task on: let the slower one get there
    os.kill(process.pid, signal.SIGKILL)  # it alone, and it cannot tell its workers
    process.communicate(timeout=60)  # they hold its stderr
    try:
        wait_until(lambda: not alive(process.pid), seconds=30)
    finally:
        if alive(process.pid):
            os.killpg(process.pid, signal.SIGKILL)


def test_analyse_has_options_of_its_own(monkeypatch):
    seen = []
    monkeypatch.setitem(
        sys.modules, "figures.analyse.command", SimpleNamespace(main=lambda argv, prog: seen.append((argv, prog)) or 2)
    )
    assert main(["analyse", "a file.csv", "--kind", "matrix"]) == 2
    assert seen == [(["a file.csv", "--kind", "matrix"], "python -m figures analyse")]


def test_interrupted_while_its_libraries_are_loaded(tmp_path):
    folder = checkout(tmp_path)
    slow = folder / "figures" / "core" / "context.py"
    loading = "import pathlib, time\n\npathlib.Path('loading').touch()\ntime.sleep(60)\n"
    slow.write_text(f"{loading}{slow.read_text(encoding='utf-8')}", encoding="utf-8")
    process = start(folder, "list")
    deadline = time.monotonic() + 30
    while not (folder / "loading").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, error = process.communicate(timeout=30)
    assert error == "\ninterrupted before anything was begun\n"
    assert process.returncode == 130


def test_interrupted_before_anything_is_kept(toy, capsys, monkeypatch):
    call, _ = toy
    monkeypatch.setattr("figures.core.outputs.compute_rows", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    assert call("run", "first_toy") == 130
    assert "the same command goes on from here" in capsys.readouterr().err
