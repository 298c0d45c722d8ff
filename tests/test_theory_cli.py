"""One answer from the shell, and what a wrong request is told."""

import json
import subprocess
import sys

import pytest

from theory import masked
from theory.__main__ import FAMILIES, FUNCTIONS, main
from theory.models import AR1, MaskedRidge

SOLVE = ["masked.solve", "AR1", "d=400", "correlation=0.7", "alpha=2", "lam=0.01"]
EXAMPLES = {
    "AR1": "d=20 correlation=0.5",
    "Blocks": "d=20 block_size=5 correlation=0.5",
    "Diagonal": "variances=0.5,1,2",
    "Equicorrelated": "d=20 correlation=0.5",
    "GOEPrecision": "d=20 nu=4",
    "GaussianFreeField": "d=25 mass=0.5 dimension=2",
    "Isotropic": "d=20",
    "PowerLaw": "d=20 exponent=1.2 rotation=3",
    "TridiagonalPrecision": "d=20 diagonal=2 off_diagonal=0.5",
    "TwoLevel": "d=20 low=0.5",
    "Wishart": "d=20 aspect=2",
}
ARGUMENTS = {
    "masked.solve": "alpha=2 lam=0.1 exact_size=true",
    "masked.ridgeless": "alpha=0.5",
    "masked.optimal_ridge": "alpha=1",
    "masked.peak_height": "lam=1e-6",
    "masked.replica": "alpha=2 lam=0.1 coordinate=2",
    "masked.teacher_student": "alpha=2 lam=0.1 noise=0.2",
    "masked.random_masks": "alpha=2 lam=0.1 mask_rate=0.2",
    "masked.span_mask": "alpha=2 lam=0.1 span=0,1",
    "random_matrix.spike_threshold": "alpha=2 lam=0.1",
    "random_matrix.spike_outlier": "alpha=2 lam=0.1 strength=30",
}


def test_the_answer_of_the_readme():
    result = subprocess.run([sys.executable, "-m", "theory", *SOLVE], capture_output=True, text=True, check=True)
    point = masked.solve(MaskedRidge(AR1(400, 0.7), 2.0, 0.01))
    lines = dict(line.split(maxsplit=1) for line in result.stdout.splitlines()[1:])
    assert result.stdout.startswith("AR1(d=400, correlation=0.7)\n")
    assert float(lines["mean_test_error"]) == pytest.approx(point.mean_test_error, rel=1e-11)
    assert float(lines["effective_ridge"]) == pytest.approx(point.effective_ridge, rel=1e-11)
    assert lines["converged"] == "True"
    assert lines["test_error"].startswith("mean 0.6248")
    assert lines["test_error"].endswith("400 values")


def test_json(capsys):
    assert main([*SOLVE, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    point = masked.solve(MaskedRidge(AR1(400, 0.7), 2.0, 0.01))
    assert answer["mean_test_error"] == point.mean_test_error
    assert answer["converged"] is True
    assert answer["test_error"]["size"] == 400
    assert answer["test_error"]["max"] == point.test_error.max()


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_function_of_every_family(function, family, capsys):
    arguments = [function, family, *EXAMPLES[family].split(), *ARGUMENTS[function].split()]
    assert main(arguments) == 0
    assert ("overlap" if "outlier" in function else "edge" if "spike" in function else "test_error") in (
        capsys.readouterr().out
    )
    assert main([*arguments, "--json"]) == 0
    json.loads(capsys.readouterr().out, parse_constant=pytest.fail)  # NaN and Infinity are not JSON


def test_masks_and_spikes(capsys):
    def answer(text):
        assert main([*text.split(), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    few = answer("masked.random_masks AR1 d=20 correlation=0.5 alpha=2 lam=0.1 mask_rate=0.2 n_masks=3")
    assert few["n_masks"] == 3
    assert few["mean_test_error"] == masked.random_masks(AR1(20, 0.5), 2.0, 0.1, 0.2, 3).mean_test_error
    one = answer("masked.span_mask AR1 d=20 correlation=0.5 alpha=2 lam=0.1 span=4")
    assert one["mean_test_error"] == masked.span_mask(AR1(20, 0.5), 2.0, 0.1, [4]).mean_test_error
    pca = answer("random_matrix.spike_threshold Isotropic d=inf alpha=4 method=pca")
    assert pca["value"] == pytest.approx(0.5, rel=1e-9)  # sqrt(d/n)
    seen = answer("random_matrix.spike_outlier Isotropic d=inf alpha=4 strength=1 method=pca")
    assert seen["eigenvalue"] == pytest.approx(2.5, rel=1e-9)  # (1 + theta)(1 + d/(n theta))
    assert seen["overlap"] == pytest.approx(0.6, rel=1e-9)  # (1 - d/(n theta^2))/(1 + d/(n theta))


def test_infinite_systems(capsys):
    assert main(["masked.solve", "AR1", "d=inf", "correlation=0.7", "alpha=2", "lam=0.01"]) == 0
    output = capsys.readouterr().out
    assert "mean_test_error    0.623204042961" in output
    assert "total_test_error   inf" in output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("masked.slove AR1", "argument FUNCTION: invalid choice: 'masked.slove' (choose from "),
        ("masked.solve AR2", "argument FAMILY: invalid choice: 'AR2' (choose from "),
        ("masked.solve", "the following arguments are required: FAMILY"),
        (
            "masked.solve AR1 d=4 rho=0.5",
            "unknown argument 'rho=0.5': masked.solve AR1 takes NAME=VALUE with d correlat",
        ),
        ("masked.solve AR1 0.5", "unknown argument '0.5'"),
        ("masked.solve AR1 d=4 d=5", "d is given twice"),
        ("masked.solve AR1 d=4", "missing correlation, alpha, lam: masked.solve AR1 takes d correlation alpha lam"),
        ("masked.solve AR1 d=x correlation=0.5 alpha=1 lam=1", "d must be a number, got 'x'"),
        ("masked.solve AR1 d=4 correlation=1.5 alpha=1 lam=1", "correlation must lie in (-1, 1), got 1.5"),
        ("masked.solve AR1 d=4 correlation=0.5 alpha=1 lam=0", "lam must be positive, got 0; for lam -> 0 see"),
        (
            "masked.solve AR1 d=4.5 correlation=0.5 alpha=1 lam=1",
            "d must be an integer of at least 1 or infinity, got 4.5",
        ),
        ("masked.solve AR1 d=4 correlation=0.5 alpha=1 lam=1 exact_size=maybe", "exact_size must be true or false"),
        (
            "masked.replica AR1 d=4 correlation=0.5 alpha=1 lam=1 coordinate=1.5",
            "coordinate must be an integer, got '1.5'",
        ),
        ("masked.replica AR1 d=4 correlation=0.5 alpha=1 lam=1 coordinate=4", "coordinate must lie in 0..3"),
        ("random_matrix.spike_threshold Isotropic d=inf alpha=1", "lam is needed for method 'ssr'"),
        ("random_matrix.spike_threshold Isotropic d=inf alpha=1 method=ica", "method must be one of 'ssr', 'pca'"),
        ("masked.random_masks Isotropic d=9 alpha=1 lam=1 mask_rate=1", "mask_rate must lie in [0, 1)"),
        ("masked.span_mask Isotropic d=4 alpha=1 lam=1 span=4", "span must lie in 0..3"),
        ("masked.ridgeless AR1 d=4 correlation=0.5 alpha=1", "alpha must differ from rank(Sigma)/d = 1"),
        ("masked.optimal_ridge PowerLaw d=inf exponent=2 alpha=1", "covariance must have a finite mean variance"),
    ],
)
def test_a_wrong_request_is_told_what_is_allowed(arguments, message, capsys):
    with pytest.raises(SystemExit) as exit_code:
        main(arguments.split())
    assert exit_code.value.code == 2
    assert message in capsys.readouterr().err


def test_help_lists_what_there_is(capsys):
    with pytest.raises(SystemExit) as exit_code:
        main(["--help"])
    assert exit_code.value.code == 0
    output = capsys.readouterr().out
    for name in (*FUNCTIONS, *FAMILIES, "d correlation", "[coordinate=0]", "d=inf"):
        assert name in output


def test_a_solve_that_fails_exits_with_one(monkeypatch, capsys):
    from theory import ConvergenceError
    from theory.numerics import Solution

    def fail(*_, **__):
        raise ConvergenceError("toy", Solution(1.0, "max_iter", 0.5, 1e-12, 3))

    monkeypatch.setattr(masked, "solve", fail)
    assert main(SOLVE) == 1
    assert "theory: toy: max_iter after 3 iterations" in capsys.readouterr().err
