"""Compares theory with simulation, one experiment a file; run from the checkout by `python -m figures`."""

import os

from theory import __version__ as __version__  # the packages are installed together

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is loaded: the cores go to processes over replicates
