"""Other programs for pseudo-likelihood, called with ours of their conventions: plmc, and the C++ backend of pydca.

Both minimize our objective: a sum over the sequences, with a penalty on the squared couplings of each pair once and one
on the squared fields.
"""

import ctypes
import importlib.util
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

LETTERS = "-ACDEFGHIKLMNPQRSTVWY"
OF_PYDCA = "ACDEFGHIKLMNPQRSTVWY-"
COUPLING_PENALTY, FIELD_PENALTY = 16.2, 0.01


def _write(states, path):
    rows = ("".join(LETTERS[color] for color in row) for row in states)
    path.write_text("".join(f">{k}\n{row}\n" for k, row in enumerate(rows)), encoding="utf-8")


def plmc(states, folder):
    """The command that fits these sequences with unit weights to the file `parameters` of the folder."""
    program = shutil.which("plmc")
    if program is None:
        raise FileNotFoundError("plmc is not on the PATH")
    _write(states, folder / "family.fasta")
    penalties = ["-le", str(COUPLING_PENALTY), "-lh", str(FIELD_PENALTY)]
    files = ["-o", str(folder / "parameters"), str(folder / "family.fasta")]
    return [program, *penalties, "-t", "-1", "-m", "100", *files]


def plmc_point(states):
    """Fields (L, C) and the blocks of pairs i < j, (L (L - 1)/2, C, C), that plmc finds."""
    L, C = states.shape[1], len(LETTERS)
    with tempfile.TemporaryDirectory() as name:
        subprocess.run(plmc(states, Path(name)), check=True, capture_output=True)
        numbers = np.fromfile(Path(name) / "parameters", np.float32, offset=40 + C + 4 * len(states) + 5 * L)
    fields, pairs = numbers[L * C : 2 * L * C], numbers[2 * L * C :]  # after the frequencies of sites, and of pairs
    return fields.reshape(L, C), pairs[len(pairs) // 2 :].reshape(-1, C, C)


def pydca_point(states, iterations=100):
    """The same by pydca, on one thread. It drops repeated sequences, so that there may be none.

    Only its compiled backend is loaded: its Python needs numpy 1.15 and numba 0.46.
    """
    spec = importlib.util.find_spec("pydca")
    folders = spec.submodule_search_locations if spec else []
    found = [path for folder in folders for path in Path(folder).glob("plmdca/_plmdcaBackend*")]
    if not found:
        raise FileNotFoundError("pydca is absent: `pip install --no-deps pydca` builds it, with a C++ compiler")
    fit = ctypes.CDLL(str(found[0])).plmdcaBackend
    short, whole, real = ctypes.c_ushort, ctypes.c_uint, ctypes.c_float
    fit.argtypes = [short, short, ctypes.c_char_p, whole, real, real, real, whole, whole, ctypes.c_bool]
    fit.restype = ctypes.POINTER(ctypes.c_float)
    L, C, protein = states.shape[1], len(LETTERS), 1
    alike = 1 - 1e-4  # share of equal sites above which two sequences would have smaller weights
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "family.fasta"
        _write(states, path)
        penalties = (FIELD_PENALTY, COUPLING_PENALTY)
        numbers = fit(protein, C, str(path).encode(), L, alike, *penalties, iterations, 1, False)
    order = [OF_PYDCA.index(letter) for letter in LETTERS]
    numbers = np.ctypeslib.as_array(numbers, (L * C + L * (L - 1) // 2 * C * C,))
    return numbers[: L * C].reshape(L, C)[:, order], numbers[L * C :].reshape(-1, C, C)[:, order][:, :, order]
