"""Sphinx builds the documentation from this file: `make docs` writes it to docs/_build/html/."""

import importlib.metadata
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE / "_ext")]

project = "masked-ssl-theory"
author = "The masked-ssl-theory developers"
copyright = "the masked-ssl-theory developers, MIT license"
try:
    release = importlib.metadata.version(project)
except importlib.metadata.PackageNotFoundError:
    release = ""

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "plain_docstrings",
    "generated_parts",
    "offline_math",
]
exclude_patterns = ["_build", "README.md"]
html_theme = "furo"
html_title = "Theory of masked self-supervised learning"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
html_theme_options = {"source_directory": "docs/"}
html_show_sphinx = False

myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence"]
myst_heading_anchors = 3  # links to headings have the names that code forges give them

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 88
add_module_names = False
