"""Puts MathJax into the pages' own folder, so that equations are drawn without a network.

The script comes from the package sphinx-mathjax-offline, which holds a copy of MathJax. Of its files one is enough:
the script that draws equations as pictures and needs no fonts.
"""

import importlib.util
import shutil
from pathlib import Path
from typing import Any

SCRIPT = "tex-svg.js"


def copy_script(app: Any, failure: Exception | None) -> None:
    """Copy the script beside the pages that were built."""
    if failure is not None or app.builder.format != "html":
        return
    package = importlib.util.find_spec("sphinx-mathjax-offline")
    if package is None or package.origin is None:
        raise RuntimeError("equations need the package sphinx-mathjax-offline: make docs installs it")
    source = Path(package.origin).parent / "static" / "mathjax" / SCRIPT
    shutil.copyfile(source, Path(app.outdir) / "_static" / SCRIPT)


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.config.mathjax_path = SCRIPT
    app.connect("build-finished", copy_script)
    return {"parallel_read_safe": True}
