"""Compares theory with simulation, one experiment a file; run from the checkout by `python -m figures`."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is loaded: the cores go to processes over replicates
