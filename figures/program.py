"""The command `masked-ssl` of an installed package: answers of the theory, analyses of own data, and the figures.

It is called from any folder, and needs no checkout: `masked-ssl solve masked.solve AR1 d=400 correlation=0.7 alpha=2
lam=0.01`, `masked-ssl analyse my_matrix.csv`, `masked-ssl figures list`. Results go to the folder masked-ssl/ where the
user is.
"""

import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec

from figures.start import start as start_by
from theory.commands import INTERRUPTED

NAME = "masked-ssl"
WRONG = 2  # exit status of a request that makes no sense
FIGURE_PACKAGES = ("pandas", "tqdm", "sklearn", "pylatexenc")  # what the extra `figures` installs
USAGE = f"""usage: {NAME} COMMAND ...

{NAME} solve FUNCTION [RECORD ...] [NAME=VALUE ...]   compute an answer of the theory
{NAME} analyse FILE                                   compare theory with your own data
{NAME} figures list|run|update|draw|table|gallery     compute and draw the figures and their tables
{NAME} completion bash|zsh|fish                       print what completes these commands in a shell
{NAME} --version

Each command has a --help of its own.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status; an expected failure is one line on stderr."""
    command, *rest = [*(sys.argv[1:] if argv is None else argv), ""]
    rest = rest[:-1]
    if command == "--version":
        import theory

        print(f"{NAME} {theory.__version__}")
        return 0
    if command in COMMANDS:
        return COMMANDS[command](rest)
    print(USAGE, end="", file=sys.stdout if command in ("-h", "--help") else sys.stderr)
    if command and command not in ("-h", "--help"):
        print(f"{NAME}: unknown command {command!r}; it must be one of {', '.join(COMMANDS)}", file=sys.stderr)
    return 0 if command in ("-h", "--help") else WRONG


def _solve(words: list[str]) -> int:
    from theory.command_line import main as solve

    return solve(words, prog=f"{NAME} solve")


def _analyse(words: list[str]) -> int:
    return _of_figures(["analyse", *words], NAME)


def _figures(words: list[str]) -> int:
    return _of_figures(words, f"{NAME} figures")


def _of_figures(words: list[str], prog: str) -> int:
    if missing := _missing():
        cure = "pip install 'masked-ssl-theory[figures]'"
        print(f"{prog} needs {', '.join(missing)}: {cure}", file=sys.stderr)
        return 1
    from figures.command_line import main as run

    return run(words, prog=prog)


def _missing() -> list[str]:
    return [name for name in FIGURE_PACKAGES if find_spec(name) is None]


def _completion(words: list[str]) -> int:
    from figures.completion import script

    shell = words[0] if len(words) == 1 else ""
    try:
        print(script(shell), end="")
    except ValueError as wrong:
        print(f"{NAME} completion: {wrong}", file=sys.stderr)
        return WRONG
    return 0


COMMANDS: dict[str, Callable[[list[str]], int]] = {
    "solve": _solve,
    "analyse": _analyse,
    "figures": _figures,
    "completion": _completion,
}


def start() -> int:
    """Run the command as the entry point of the installed package does; ^C ends it with one line."""
    return start_by(_loaded)


def _loaded() -> Callable[[], int]:
    if sys.argv[1:2] in (["analyse"], ["figures"]) and not _missing():
        from figures import command_line  # noqa: F401  # it takes a second, in which ^C may come
    return _run


def _run() -> int:
    try:
        return main()
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return INTERRUPTED
