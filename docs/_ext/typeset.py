"""Turns the formulas that docstrings set apart, which are written in plain text, into mathematics for the pages.

A formula is read sign by sign: names of letters become these letters, other words stay words, and `_` and `^` take what
follows them. Nothing is computed or rearranged, so that a page shows what the docstring says.
"""

import re

GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu xi pi rho sigma tau phi chi psi omega "
    "Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"
)
LETTERS = {name: rf"\{name}" for name in GREEK.split()} | {"lam": r"\lambda"}
FUNCTIONS = {name: rf"\{name}" for name in ("exp", "log", "det", "min", "max", "sum", "prod", "sqrt")}
SIGNS = {
    "||": r"\Vert ", "|": r"\vert ", "<=": r"\le ", ">=": r"\ge ", "->": r"\to ", "...": r"\dots ", ".": r"\cdot ",
    "*": "^{*}", "{": r"\{", "}": r"\}",
}  # fmt: skip
TOKEN = re.compile(r"`[^`]+`|\|\||<=|>=|->|\.\.\.|[A-Za-z]+\d*|\d+(?:\.\d+)?|\s+|.", re.DOTALL)
CLOSING = {"(": ")", "{": "}", "[": "]"}
READABLE = re.compile(r"[\sA-Za-z0-9_^(){}\[\]|<>=+\-*/.,:;!'`]+")


def is_formula(block: str) -> bool:
    """Tell whether an indented block is a formula, and not code or a table: operators, and only plain signs."""
    is_other = re.search(r"\bdef\b|--|==|\"", block)
    return bool(READABLE.fullmatch(block) and re.search(r"[\^_=/]", block) and not is_other)


def latex(text: str) -> str:
    r"""Return one line of a formula in LaTeX.

    >>> latex("q = r/(1 + r^2) <= E_z0 sqrt(alpha)")
    'q = r/(1 + r^{2}) \\le  E_{z_{0}} \\sqrt{\\alpha}'
    """
    if text.endswith("."):
        return f"{latex(text[:-1])}."
    tokens, made = TOKEN.findall(text), []
    while tokens:
        token = tokens.pop(0)
        if token in "_^":
            made.append(f"{token}{{{_taken(tokens)}}}")
        elif token == "sqrt" and tokens[:1] == ["("]:
            made.append(rf"\sqrt{{{_taken(tokens)}}}")
        else:
            made.append(_one(token))
    return "".join(made).strip()


def _taken(tokens: list[str]) -> str:
    """Take what belongs to a sign that stands above, below or over something: one token, or what is in brackets."""
    if not tokens:
        return ""
    first = tokens.pop(0)
    if first == "-" and tokens:
        return f"-{_taken(tokens)}"
    if first not in ("(", "{"):
        return _one(first, short=True)
    depth, inner = 1, []
    while tokens:
        token = tokens.pop(0)
        depth += (token == first) - (token == CLOSING[first])
        if depth == 0:
            break
        inner.append(token)
    return latex("".join(inner))


def _one(token: str, *, short: bool = False) -> str:
    """Return one token; of a `short` one, below or above something, several letters are as many indices."""
    if token[0] == "`":
        return rf"\mathtt{{{token[1:-1]}}}"
    if token in SIGNS:
        return SIGNS[token]
    name, number = re.fullmatch(r"([A-Za-z]*)(.*)", token, re.DOTALL).groups()
    index = f"_{{{number}}}" if name and number else ""
    if not name:
        return token if not token.isspace() else r" \quad " if len(token) > 2 else " "
    hat = name.removesuffix("hat")
    if hat != name and hat:
        return rf"\hat{{{LETTERS.get(hat, hat)}}}{index}"
    if name in LETTERS or name in FUNCTIONS:
        return (LETTERS | FUNCTIONS)[name] + index + ("" if index else " ")
    if len(name) == 1 or (short and len(name) <= 3):
        return name + index
    if len(name) == 2 and name[0] == "d":
        return rf"\mathrm{{d}}{name[1]}{index}"
    return rf"\text{{ {name} }}{index}"


def displayed(lines: list[str]) -> str:
    """Return the lines of a formula as one display; a line that is indented goes on with the one above it."""
    if len(lines) == 1:
        return latex(lines[0])
    rows = [("& \\quad " if line.startswith(" ") else "& ") + latex(line) for line in lines]
    return r"\begin{aligned} " + r" \\ ".join(rows) + r" \end{aligned}"
