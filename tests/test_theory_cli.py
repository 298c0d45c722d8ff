"""`python -m theory`: one answer of any subject from the shell, errors that name what is allowed, readable help."""

import json
import os
import pkgutil
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import theory
from tests.core.small_checkout import HEAR
from theory import glm, masked, potts, random_matrix, requests, topics
from theory.command_line import main
from theory.models import (
    AR1,
    Isotropic,
    MaskedRidge,
    Masking,
    PottsModel,
    RandomFeatures,
    RandomMasks,
    SpanMask,
    SpikedData,
    SquareLatticePotts,
    TopicModel,
    TwoLevel,
)
from theory.subjects import SHARED

SOLVE = ["masked.solve", "AR1", "d=400", "correlation=0.7", "alpha=2", "lam=0.01"]
FAMILIES = {
    "AR1": "d=20 correlation=0.5",
    "Blocks": "d=20 block_size=5 correlation=0.5",
    "Diagonal": "variances=0.5,1,2",
    "Empirical": "matrix=2,1,0;1,2,1;0,1,2",
    "Equicorrelated": "d=20 correlation=0.5",
    "GOEPrecision": "d=20 nu=4",
    "GaussianFreeField": "d=25 mass=0.5 dimension=2",
    "Isotropic": "d=20",
    "PowerLaw": "d=20 exponent=1.2 rotation=3",
    "Scaled AR1": "d=3 correlation=0.5 scales=0.5,1,2",
    "Spiked Isotropic": "d=2 directions=1,0 strengths=2",
    "TridiagonalPrecision": "d=20 diagonal=2 off_diagonal=0.5",
    "TwoLevel": "d=20 low=0.5",
    "Wishart": "d=20 aspect=2",
}
FUNCTIONS = {
    "masked.solve": "alpha=2 lam=0.1 exact_size=true",
    "masked.ridgeless": "alpha=0.5",
    "masked.optimal_ridge": "alpha=1",
    "masked.peak_height": "lam=1e-6",
    "masked.replica": "alpha=2 lam=0.1 coordinate=1",
    "masked.teacher_student": "alpha=2 lam=0.1 noise=0.2",
    "masked.solve RandomMasks": "alpha=2 lam=0.1 mask_rate=0.2",
    "masked.solve SpanMask": "alpha=2 lam=0.1 span=0",
    "masked.learning_curve": "alphas=0.5,1,2 lams=0.1",
    "random_matrix.threshold": "alpha=2 lam=0.1",
    "random_matrix.outlier": "alpha=2 lam=0.1 strength=30",
}


def answer(text, capsys):
    assert main([*text.split(), "--json"]) == 0
    # NaN and Infinity are not JSON
    return json.loads(capsys.readouterr().out, parse_constant=pytest.fail)


def test_the_answer_of_the_readme():
    result = subprocess.run([sys.executable, "-m", "theory", *SOLVE], capture_output=True, text=True, check=True)
    model = MaskedRidge(AR1(400, 0.7), 2.0, 0.01)
    point = masked.solve(model)
    lines = dict(line.split(maxsplit=1) for line in result.stdout.splitlines()[1:])
    assert result.stdout.startswith(f"{model!r}\n")  # which says the convention of lam
    assert float(lines["mean_test_error"]) == pytest.approx(point.mean_test_error, rel=1e-11)
    assert float(lines["effective_ridge"]) == pytest.approx(point.effective_ridge, rel=1e-11)
    assert lines["converged"] == "True"
    assert lines["test_error"].startswith("mean 0.6248")
    assert lines["test_error"].endswith("400 values")


def test_json(capsys):
    found = answer(" ".join(SOLVE), capsys)
    point = masked.solve(MaskedRidge(AR1(400, 0.7), 2.0, 0.01))
    assert found["mean_test_error"] == point.mean_test_error
    assert found["converged"] is True
    assert found["test_error"]["size"] == 400
    assert found["test_error"]["max"] == point.test_error.max()


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("family", FAMILIES)
def test_functions_of_a_covariance_take_every_family(function, family, capsys):
    text = f"{function} {family} {FAMILIES[family]} {FUNCTIONS[function]}"
    assert main(text.split()) == 0
    shown = capsys.readouterr().out
    assert ("overlap" if "outlier" in function else "edge" if "threshold" in function else "test_error") in shown
    answer(text, capsys)


def test_masks_and_spikes(capsys):
    chain = "AR1 d=20 correlation=0.5 alpha=2 lam=0.1"
    few = answer(f"masked.solve RandomMasks {chain} mask_rate=0.2 n_masks=3", capsys)
    assert few["n_masks"] == 3
    assert few["mean_test_error"] == masked.solve(RandomMasks(AR1(20, 0.5), 2.0, 0.1, 0.2, 3)).mean_test_error
    one = answer(f"masked.solve SpanMask {chain} span=4", capsys)
    assert one["mean_test_error"] == masked.solve(SpanMask(AR1(20, 0.5), 2.0, 0.1, [4])).mean_test_error
    pca = answer("random_matrix.threshold Isotropic d=inf alpha=4 method=pca", capsys)
    assert pca["value"] == pytest.approx(0.5, rel=1e-9)  # sqrt(d/n)
    seen = answer("random_matrix.outlier Isotropic d=inf alpha=4 strength=1 method=pca", capsys)
    assert seen["eigenvalue"] == pytest.approx(2.5, rel=1e-9)  # (1 + theta)(1 + d/(n theta))
    assert seen["overlap"] == pytest.approx(0.6, rel=1e-9)  # (1 - d/(n theta^2))/(1 + d/(n theta))
    assert answer("random_matrix.outlier SpikedData Isotropic d=inf alpha=4 strength=1 method=pca", capsys) == seen
    localized = answer("random_matrix.outlier Isotropic d=4 direction=0.6,0.8,0,0 alpha=4 strength=9 lam=.1", capsys)
    u = np.array([0.6, 0.8, 0, 0])
    direct = random_matrix.outlier(SpikedData(Isotropic(4), u, strength=9.0, alpha=4.0, lam=0.1))
    assert localized["eigenvalue"] == pytest.approx(direct.eigenvalue, rel=1e-12)


def test_every_subject_answers(capsys):
    ridge = answer("masked.ridgeless MaskedRegression AR1 d=inf correlation=0.7 alpha=2", capsys)
    assert ridge["mean_test_error"] == masked.ridgeless(AR1(np.inf, 0.7), 2.0).mean_test_error
    kappa = answer("random_matrix.effective_ridge TwoLevel d=inf alpha=2 lam=0.1", capsys)
    assert kappa["value"] == random_matrix.effective_ridge(TwoLevel(np.inf), 2.0, 0.1).value
    floor = answer("potts.masked_loss_floor SquareLatticePotts rows=2 columns=3 n_colors=2 beta=0.4", capsys)
    assert floor["value"] == potts.masked_loss_floor(SquareLatticePotts(2, 3, 2, 0.4))
    text = "potts.masked_loss_floor PottsModel site_couplings=0,1;1,0 color_couplings=1,0;0,1 beta=0.7"
    pair = PottsModel(site_couplings=np.array([[0, 1], [1, 0]]), color_couplings=np.eye(2), beta=0.7)
    assert answer(text, capsys)["value"] == potts.masked_loss_floor(pair)
    text = "glm.solve RandomFeatures activation=relu samples_per_input=3 features_per_input=1.8 loss=square lam=0.1"
    features = RandomFeatures(activation="relu", samples_per_input=3, features_per_input=1.8, loss="square", lam=0.1)
    assert answer(text, capsys)["test_error"] == pytest.approx(glm.solve(features).test_error, rel=1e-12)
    text = "topics.stage2_optimum n_topics=4 words_per_topic=5 topics_per_document=2"
    text += " selected=0.15 kept=0.1 randomized=0.1"
    optimum = topics.stage2_optimum(
        TopicModel(n_topics=4, words_per_topic=5, topics_per_document=2),
        Masking(selected=0.15, kept=0.1, randomized=0.1),
    )
    assert answer(text, capsys)["loss"] == pytest.approx(optimum.loss, rel=1e-12)
    assert answer("potts.onsager_energy beta=0.4", capsys)["value"] == potts.onsager_energy(0.4)


def test_infinite_systems(capsys):
    assert main(["masked.solve", "AR1", "d=inf", "correlation=0.7", "alpha=2", "lam=0.01"]) == 0
    output = capsys.readouterr().out
    assert re.search(r"mean_test_error +0.623204042961\n", output)
    assert re.search(r"total_test_error +inf\n", output)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("masked.slove AR1", "unknown function 'masked.slove'; did you mean masked.solve"),
        ("nonsense", "cumulants, trees; --help lists all"),
        ("nonsense", "unknown function 'nonsense'; subjects are masked, random_matrix, potts, glm, topics"),
        (
            "masked.solve AR2",
            "masked.solve needs a record for model, one of MaskedRidge, MaskedRegression, Mask",
        ),
        ("masked.solve AR2", "AR1, Blocks, Diagonal"),
        ("masked.solve AR2", "got 'AR2'"),
        ("masked.solve", "masked.solve needs a record for model, one of MaskedRidge"),
        (
            "masked.solve AR1 d=4 correlation=0.5 alpha=1 lam=1 rho=0.5",
            "unknown argument 'rho=0.5': masked.solve tak",
        ),
        ("masked.solve AR1 d=4 correlation=0.5 alpha=1 lam=1 0.5", "unknown argument '0.5'"),
        ("masked.solve AR1 d=4 d=5", "d is given twice"),
        ("masked.solve AR1 d=4", "missing correlation: AR1 takes d correlation"),
        ("masked.solve AR1 d=4 correlation=0.5", "missing alpha, lam: MaskedRidge takes covariance alpha lam"),
        ("masked.solve AR1 d=x correlation=0.5 alpha=1 lam=1", "d must be a number, got 'x'"),
        ("masked.solve AR1 d=4 correlation=1.5 alpha=1 lam=1", "correlation must lie in (-1, 1), got 1.5"),
        ("masked.solve AR1 d=4 correlation=0.5 alpha=1 lam=0", "lam must be positive, got 0.0; for lam -> 0 see"),
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
        ("random_matrix.threshold Isotropic d=inf alpha=1", "lam is needed for method 'ssr'"),
        ("random_matrix.outlier Isotropic d=inf alpha=1 method=ica", "method must be one of ssr, pca, correlation_pca"),
        ("masked.solve RandomMasks Isotropic d=9 alpha=1 lam=1 mask_rate=1", "mask_rate must lie in [0, 1)"),
        ("masked.solve SpanMask Isotropic d=4 alpha=1 lam=1 span=4", "span must lie in 0..3"),
        ("masked.solve SpanMask Isotropic d=4 alpha=1 lam=1 span=a", "span must be a list of numbers such as 0.5,1,2"),
        ("masked.ridgeless AR1 d=4 correlation=0.5 alpha=1", "alpha must differ from rank(Sigma)/d = 1"),
        ("masked.optimal_ridge PowerLaw d=inf exponent=2 alpha=1", "covariance must have a finite mean variance"),
        ("masked.solve Isotropic d=4 alpha=1 lam=1 --jsn", "unrecognized arguments: --jsn"),
    ],
)
def test_a_wrong_request_is_told_what_is_allowed(arguments, message, capsys):
    with pytest.raises(SystemExit) as exit_code:
        main(arguments.split())
    assert exit_code.value.code == 2
    assert message in capsys.readouterr().err


def test_help_lists_what_there_is(capsys):
    assert main(["--help"]) == 0
    general = capsys.readouterr().out
    assert all(name in general for name in requests.functions())
    assert max(map(len, general.splitlines())) <= 120
    for subject in requests.SUBJECTS:
        assert main([subject, "--help"]) == 0
        listed = capsys.readouterr().out
        assert main([subject]) == 0
        assert capsys.readouterr().out == listed
        for name in requests.functions():
            assert (f"{name}\n" in listed) == name.startswith(f"{subject}.")
    assert main([]) == 2
    assert capsys.readouterr().out == general


def test_help_of_a_function_shows_its_records(capsys):
    assert main(["masked.solve", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "deterministic equivalents" in shown  # its docstring
    assert "  RandomMasks             covariance alpha lam mask_rate [n_masks=None]\n" in shown


@pytest.mark.parametrize("name", requests.functions())
def test_every_function_explains_itself_and_refuses_to_guess(name, capsys):
    assert main([name, "--help"]) == 0
    assert len(capsys.readouterr().out) > 60
    if not requests._required(requests.functions()[name]):
        return
    with pytest.raises(SystemExit):
        main([name])
    assert "needs a record for" in (error := capsys.readouterr().err) or "missing" in error


@pytest.mark.parametrize(
    ("request_", "shown"),
    [
        (["perceptron.gardner_capacity"], "value  2"),
        (["perceptron.gardner_capacity", "margin=0.5"], "value  0.961205052802"),
        (["trees.squarefree_run_density", "length=3"], "density     0.125486980906"),
        (["trees.mean_depth"], "mean        1.43615752717"),
    ],
)
def test_functions_that_need_no_argument_answer_too(request_, shown, capsys):
    assert main(request_) == 0
    assert shown in capsys.readouterr().out


def test_every_subject_of_the_theory_is_served():
    packages = {found.name for found in pkgutil.iter_modules(theory.__path__) if found.ispkg}
    assert set(requests.SUBJECTS) == packages - set(SHARED)
    for subject in requests.SUBJECTS:
        assert any(name.startswith(f"{subject}.") for name in requests.functions())


def test_functions_are_found_not_listed():
    """Every public function whose first argument is a record is served."""
    for name in ("glm.solve", "topics.sectors", "potts.enumerate_states", "masked.learning_curve"):
        assert name in requests.functions()
    assert "topics.fit" not in requests.functions()
    served = {name for name in requests.functions() if name.startswith("masked.")}
    named = {f"masked.{name}" for name in masked.__all__ if name.islower()}
    assert served == named - {"masked.closed_forms", "masked.estimate"}


def test_a_solve_that_fails_exits_with_one(capsys):
    text = "masked.replica AR1 d=4 correlation=0.5 alpha=1 lam=0.001 max_iter=1"
    assert main(text.split()) == 1
    assert "max_iter after 1 iteration" in capsys.readouterr().err


def test_interrupted_while_its_libraries_are_loaded(tmp_path):
    (tmp_path / "numpy.py").write_text("import pathlib, time\n\npathlib.Path('loading').touch()\ntime.sleep(60)\n")
    environment = os.environ | {"PYTHONPATH": str(Path(theory.__file__).parents[1])}
    program = f"{HEAR}\nimport runpy; runpy.run_module('theory', run_name='__main__')"
    process = subprocess.Popen(
        [sys.executable, "-c", program, *SOLVE], cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 30
    while not (tmp_path / "loading").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=30)
    assert error == "\ninterrupted before there was an answer\n"
    assert process.returncode == 130


def test_a_reader_that_has_seen_enough():
    with subprocess.Popen(
        [sys.executable, "-m", "theory", "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        process.stdout.close()
        error = process.stderr.read()
    assert (process.returncode, error) == (0, "")
