"""Sphinx builds the documentation from this file: `make docs` writes it to docs/_build/html/."""

import importlib.metadata
import json
import logging
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE / "_ext")]

from readable_html import repository_links  # noqa: E402 - it lies beside these pages

project = "masked-ssl-theory"
author = "The masked-ssl-theory developers"
copyright = "the masked-ssl-theory developers, MIT license"
try:
    release = importlib.metadata.version(project)
except importlib.metadata.PackageNotFoundError:
    release = ""

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "plain_docstrings",
    "generated_parts",
    "offline_math",
    "arxiv_links",
    "readable_html",
]
exclude_patterns = ["_build", "README.md"]
html_theme = "furo"
html_title = "Theory of masked self-supervised learning"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
html_js_files = [("site.js", {"defer": "defer"})]
# The address of the repository is stated once, in CITATION.cff; without it the pages have no links to it.
html_theme_options = {"source_directory": "docs/", "source_branch": "main"} | repository_links(HERE.parent)
html_show_sphinx = False

myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence"]
nb_execution_mode = "force"  # notebooks are stored without outputs
nb_execution_raise_on_error = True
# Notebooks run in the Python of the build and on these sources. Its kernel would warn on stderr that it listens on this
# machine without encryption, and its client say that it starts: both hold for every build, and hide other lines.
KERNEL = HERE / "_build" / "jupyter" / "kernels" / "python3"
KERNEL.mkdir(parents=True, exist_ok=True)
(KERNEL / "kernel.json").write_text(
    json.dumps(
        {
            "argv": [sys.executable, "-m", "ipykernel_launcher", "--log-level=ERROR", "-f", "{connection_file}"],
            "display_name": "Python 3",
            "language": "python",
            "env": {"PYTHONPATH": os.pathsep.join(filter(None, (str(HERE.parent), os.environ.get("PYTHONPATH"))))},
        }
    ),
    encoding="utf-8",
)
os.environ["JUPYTER_PATH"] = os.pathsep.join(filter(None, (str(KERNEL.parents[1]), os.environ.get("JUPYTER_PATH"))))
logging.getLogger("traitlets").setLevel(logging.WARNING)
myst_heading_anchors = 3  # links to headings have the names that code forges give them

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 88
add_module_names = False
