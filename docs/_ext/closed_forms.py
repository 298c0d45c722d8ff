"""Writes the page of all closed forms, `docs/closed_forms.md`, from the functions that return them.

Run `python docs/_ext/closed_forms.py` after a change of one of them; a test compares the page with the functions.
"""

import importlib
import inspect
import re
import sys
from pathlib import Path
from typing import Any

import sympy as sp

DOCS = Path(__file__).resolve().parents[1]
PAGE = DOCS / "closed_forms.md"
MODULES = {
    "masked": "Masked regression",
    "random_matrix": "Spiked data",
    "glm": "Generalized linear models",
    "perceptron": "Perceptrons",
    "potts": "Potts models",
}
HEAD = """# Closed forms

Where a result of this project has a closed form, a function returns it as a sympy expression, and this page lists
them all. Each of them is compared with its solver by a test. A function is called as
`theory.SUBJECT.closed_forms.NAME()`, and its symbols are attributes of the same module:

```python
from theory.masked import closed_forms

height = closed_forms.isotropic_peak_height()
print(height, round(float(height.subs(closed_forms.lam, 0.1)), 10))
```
```text
sqrt(1 + 1/lambda)/2 + 1/2 2.1583123952
```

The figure `peak_top` shows where the peak of masked regression has its top, how high it is, and simulations
there and on both sides.

The page is written by `python docs/_ext/closed_forms.py`.
"""


def page() -> str:
    """Return the page."""
    parts = [HEAD]
    for subject, title in MODULES.items():
        module = importlib.import_module(f"theory.{subject}.closed_forms")
        text = inspect.getdoc(module) or ""
        symbols = escaped(" ".join(text.split("\n\n", 1)[1].split()))
        parts += [f"## {title}\n\n{symbols}\n"]
        parts += [_entry(name, function) for name, function in functions(module).items()]
    return "\n".join(parts)


def functions(module: Any) -> dict[str, Any]:
    """Return the functions of a module of closed forms in the order in which they are defined."""
    found = vars(module).items()
    return {name: one for name, one in found if inspect.isfunction(one) and not name.startswith("_")}


def expressions(function: Any) -> tuple[sp.Expr, ...]:
    """Return what a function returns, with symbols for what it takes."""
    kappa = sp.Symbol("kappa", positive=True)
    taken = {
        "df1": sp.Function("df_1")(kappa),
        "overlap": sp.Function("g")(kappa),
        "conditional_variance": sp.Symbol("sigma^2", positive=True),
        "variances": sp.symbols("s_1 s_2", positive=True),
        "shares": sp.symbols("w_1 w_2", positive=True),
    }
    found = function(*(taken[name] for name in inspect.signature(function).parameters))
    return found if isinstance(found, tuple) else (found,)


def _entry(name: str, function: Any) -> str:
    """Return the name, what is said of it, and the formulas."""
    said = " ".join((inspect.getdoc(function) or "").split(">>>")[0].split("ValueError")[0].split())
    said = escaped(said.removeprefix("Return "))
    shown = [f"$$\n{sp.latex(one)}\n$$" for one in expressions(function)]
    return "\n\n".join([f"### {name}", re.sub(r"^[a-z](?=\w* )", lambda first: first[0].upper(), said), *shown]) + "\n"


def escaped(text: str) -> str:
    """Return plain text as markdown that shows it, names of functions left as they are."""
    parts = re.split(r"(`[^`]+`)", text)
    return "".join(one if k % 2 else re.sub(r"([\\*_<>|^])", r"\\\1", one) for k, one in enumerate(parts))


if __name__ == "__main__":
    sys.path.insert(0, str(DOCS.parent))
    PAGE.write_text(page(), encoding="utf-8")
