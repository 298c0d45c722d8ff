"""Where the sources of this project are: the folder of all packages, and their names."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WINGS = ("theory", "simulate", "figures")
