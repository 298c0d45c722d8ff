"""Every public routine of a subject says where its formulas come from: a paper, a reference or a derivation."""

import importlib
import inspect
import re

import pytest

from theory.subjects import subjects

WITHOUT_CLAIM = {  # routines that rewrite or tabulate what they are given: there is no formula to have a source
    "glm.as_problem",
    "nets.logits_table",
    "potts.enumerate_states",
}
# An arXiv id, the words themselves, or a year as references have it: "(1905)" or "Gardner 1988".
SOURCE = re.compile(
    r"arXiv:(\d{4}\.\d{4,5}|math/\d{7})|\bSources?: |\b[Dd]erived here\b|\((18|19|20)\d\d\)|[A-Z]\w+,? (18|19|20)\d\d\b"
)


def sources_missing(subject: str) -> list[str]:
    """Return the public routines of a subject that name no source and are not known to make no claim."""
    package = importlib.import_module(f"theory.{subject}")
    routines = {name: getattr(package, name) for name in package.__all__}
    texts = {
        name: " ".join((inspect.getdoc(one) or "").split())  # a reference may run over the end of a line
        for name, one in routines.items()
        if inspect.isfunction(one)
    }
    return sorted(
        name for name, text in texts.items() if f"{subject}.{name}" not in WITHOUT_CLAIM and not SOURCE.search(text)
    )


@pytest.mark.parametrize("subject", sorted(subjects()))
def test_every_routine_names_its_source(subject):
    missing = sources_missing(subject)
    assert not missing, (
        f"theory.{subject}: {missing} must say in the docstring where the formula comes from: 'Source: ...' with an "
        "arXiv id or author, journal and year, or 'Derived here: ...' with the derivation in a sentence"
    )


def test_exceptions_exist():
    for entry in WITHOUT_CLAIM:
        subject, name = entry.split(".")
        assert inspect.isfunction(getattr(importlib.import_module(f"theory.{subject}"), name)), entry


@pytest.mark.parametrize(
    "text",
    [
        "It is the root of a quadratic (arXiv:2601.23208).",
        "Source: the equations of `solve`.",
        "Derived here: by block inversion.",
        "It equals 1 - c (derived here).",
        "J. Baik, G. Ben Arous and S. Peche, Ann. Probab. 33, 1643 (2005)",
        "the capacity of real weights (Gardner 1988).",
    ],
)
def test_sources_are_recognized(text):
    assert SOURCE.search(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Compute the ridge of least test error.",
        "`max_iter` bounds the evaluations (2000, for K classes 500).",
        "the overlap with the weights of the source: rho in [-1, 1].",
        "For n = 1950 samples nothing is seen.",
        "See arXiv: the paper.",
    ],
)
def test_other_words_are_no_source(text):
    assert not SOURCE.search(text)
