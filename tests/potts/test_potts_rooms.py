"""Public names of theory.potts: all there, each from one room, none hidden by a room of the same name."""

from importlib import import_module

import pytest

import simulate.potts
from theory import potts


@pytest.mark.parametrize("name", potts.__all__)
def test_every_name_is_there(name):
    found = getattr(potts, name)
    assert callable(found)
    assert found.__module__.startswith("theory.potts.")


@pytest.mark.parametrize("package", [potts, simulate.potts])
def test_names_are_listed(package):
    found = {}
    exec(f"from {package.__name__} import *", found)
    assert set(dir(package)) == set(package.__all__) == set(found) - {"__builtins__"}


def test_no_name_is_also_a_room():
    """Loading a room would then hide the function."""
    assert not set(potts.__all__) & set(potts._ROOMS)


def test_every_public_name_of_one_room_only():
    defined = [
        name
        for room in potts._ROOMS
        for name, value in vars(import_module(f"theory.potts.{room}")).items()
        if getattr(value, "__module__", "") == f"theory.potts.{room}" and not name.startswith("_")
    ]
    assert set(potts.__all__) <= set(defined)
    assert len(defined) == len(set(defined))
