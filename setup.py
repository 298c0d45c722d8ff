"""The package for tools that ask for this file; everything is said in setup.cfg."""

from setuptools import setup

setup()
