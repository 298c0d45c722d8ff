"""Tables in LaTeX compile, with the captions of all experiments."""

import math
import shutil
import subprocess

import pytest

from figures.core import Experiment, row
from figures.core.captions import caption_of
from figures.core.discover import find_experiments, load
from figures.core.report import render_table
from figures.core.table import to_frame
from simulate.core import Estimate

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no pdflatex"),
]
PACKAGES = r"\usepackage{amsmath,amssymb,booktabs,longtable}"


def compile_latex(folder, *tables):
    body = "\n\\clearpage\n".join(tables)
    text = f"\\documentclass{{article}}{PACKAGES}\\begin{{document}}\n{body}\n\\end{{document}}\n"
    (folder / "t.tex").write_text(text, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    made = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace")
    assert made.returncode == 0, made.stdout[-2000:]
    assert (folder / "t.pdf").is_file()


def compared(curve, panel=""):
    return row(curve, 1, panel=panel, theory=1 / 3, d=math.inf, estimate=Estimate(0.35, 0.01, 40))


@pytest.mark.parametrize("length", [1, 90])
def test_whatever_a_caption_says(tmp_path, length):
    title = r"50 % of $\hat w_i^2$, a_b & c # d ~ e^2 {f} \ λ ± 1 < 2 > |z| “quoted” é ∞"
    experiment = Experiment(title="t", curves={}, xlabel=r"excess $|\hat w - w^*|^2/d$ (50 %)")
    rows = to_frame([compared(r"$\lambda_1 = 0.1$", "AR(1) & more")] * length)
    compile_latex(tmp_path, render_table(rows, title, "latex", experiment))


def test_every_experiment(tmp_path):
    tables = []
    for path in find_experiments().values():
        experiment = load(path)
        names = {
            (panel.title if experiment.panels is not None else "", label)
            for panel in experiment.resolved_panels()
            for label in list(dict(panel.resolved_curves()))[:6] or ["all"]
        }
        rows = to_frame([compared(label, title) for title, label in sorted(names)])
        title = f"{path.stem}: {experiment.title}. {caption_of(experiment, rows)}"
        tables.append(render_table(rows, title, "latex", experiment))
    compile_latex(tmp_path, *tables)
