"""The command `masked-ssl`: what each of its words does, and what it says where something is missing."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import theory
from figures import completion, program
from figures.core.discover import find_experiments

ROOT = Path(__file__).resolve().parents[2]


def test_the_version_stands_in_one_place(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["--version"]) == 0
    assert capsys.readouterr().out == f"masked-ssl {theory.__version__}\n"
    assert "version = attr: theory.__version__" in (ROOT / "setup.cfg").read_text(encoding="utf-8")
    assert re.search(rf'^version: "?{theory.__version__}"?$', (ROOT / "CITATION.cff").read_text(), re.MULTILINE)


def test_solve_answers_as_python_m_theory_does(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["solve", "masked.solve", "Isotropic", "d=inf", "alpha=2", "lam=1"]) == 0
    assert "mean_test_error" in capsys.readouterr().out
    assert program.main(["solve", "masked.solve", "--help"]) == 0
    assert "masked-ssl solve masked.solve" in capsys.readouterr().out


def test_figures_and_analyse_are_called_by_their_own_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["figures", "list"]) == 0
    assert "interpolation_peak" in capsys.readouterr().out
    for words in (["figures", "--help"], ["analyse", "--help"]):
        with pytest.raises(SystemExit):
            program.main(words)
        assert f"usage: masked-ssl {words[0]}" in capsys.readouterr().out


@pytest.mark.parametrize(("words", "status"), [([], 2), (["--help"], 0), (["plot"], 2)])
def test_help_and_unknown_commands(words: list[str], status: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(words) == status
    shown = capsys.readouterr()
    assert "masked-ssl analyse FILE" in (shown.err if status else shown.out)
    if words == ["plot"]:
        assert "unknown command 'plot'; it must be one of solve, analyse, figures, completion" in shown.err


def test_what_the_extra_installs_is_named_where_it_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(program, "find_spec", lambda name: None if name == "pandas" else object())
    assert program.main(["figures", "list"]) == 1
    assert "needs pandas: pip install 'masked-ssl-theory[figures]'" in capsys.readouterr().err


def test_results_of_an_installed_package_go_to_a_folder_where_the_user_is(tmp_path: Path) -> None:
    """The packages are linked into a folder without setup.cfg, as an installation has none."""
    for name in ("theory", "simulate"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "figures" / "core").mkdir(parents=True)
    for name in ("__init__.py", "core/__init__.py", "core/discover.py", "core/experiment.py"):
        shutil.copy(ROOT / "figures" / name, tmp_path / "figures" / name)
    (tmp_path / "figures" / "core" / "__init__.py").write_text("", encoding="utf-8")
    (tmp_path / "here").mkdir()
    program_text = "from figures.core.discover import GALLERY, IN_CHECKOUT, OUTPUT; print(IN_CHECKOUT, OUTPUT, GALLERY)"
    done = subprocess.run(
        [sys.executable, "-c", program_text], cwd=tmp_path / "here", env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    folder = tmp_path / "here" / "masked-ssl"
    assert done.stdout.split() == ["False", str(folder / "output"), str(folder / "gallery")]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["so"], "solve"),
        (["solve", "masked.optimal_r"], "masked.optimal_ridge"),
        (["solve", "masked.solve", "AR"], "AR1 AR1Rows"),
        (["figures", "upd"], "update"),
        (["figures", "update", "interpolation"], "interpolation_peak"),
        (["completion", "z"], "zsh"),
    ],
)
def test_bash_completes(words: list[str], expected: str) -> None:
    line = " ".join(["masked-ssl", *words])
    asked = f"COMP_WORDS=({line}); COMP_CWORD={len(words)}; _masked_ssl; echo ${{COMPREPLY[@]}}"
    shell = f"{completion.script('bash')}\n{asked}"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=True)
    assert done.stdout.split() == expected.split()


def test_other_shells_and_none() -> None:
    assert "bashcompinit" in completion.script("zsh")
    assert set(find_experiments()) <= set(completion.script("fish").replace('"', " ").split())
    with pytest.raises(ValueError, match="shell must be one of bash, zsh, fish, got 'tcsh'"):
        completion.script("tcsh")
    assert program.main(["completion"]) == 2
