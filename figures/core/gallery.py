"""Small pictures for the README."""

from pathlib import Path

from figures.core.discover import FIGURES, load
from figures.core.plot import draw_figure
from figures.core.table import read_csv

GALLERY = FIGURES / "gallery"
LARGEST = 60_000  # bytes
RESOLUTIONS = (120, 100, 80, 60)  # dots per inch, the first that is small enough


def add_to_gallery(path: Path, output: Path, gallery: Path = GALLERY) -> Path:
    """Draw the experiment's table as a PNG of at most 60 kB."""
    picture = gallery / f"{path.stem}.png"
    for dpi in RESOLUTIONS:
        draw_figure(load(path), read_csv(output / f"{path.stem}.csv"), picture, dpi=dpi)
        if picture.stat().st_size <= LARGEST:
            break
    return picture
