"""Makes small pictures of every experiment, and the page that shows them."""

import ast
from pathlib import Path
from tempfile import TemporaryDirectory

from figures.core.discover import GALLERY, find_experiments, load
from figures.core.drawn_from import digest, note_drawn, read_drawn
from figures.core.outputs import Outputs
from figures.core.papers import map_of_papers, render_markdown
from figures.core.plot import cycle_colors, draw_figure
from figures.core.small_png import save_small
from figures.core.table import read_csv
from theory.core.atomic_write import atomic_write
from theory.subjects import subjects

MAX_PICTURE_BYTES = 60_000  # bytes of a picture
HEAD = """# Gallery

One picture an experiment, with the sentence that its file begins with: theory as lines, simulation as markers with bars
that have a coverage of 95 %. `make gallery` writes this page and its pictures.
"""
PAPERS = """## Map of papers

Published figures, and the experiment here that is the counterpart of each: `make figures/output/NAME.pdf` makes it.
`python -m figures list --papers` prints this map.
"""


def add_to_gallery(outputs: Outputs, gallery: Path = GALLERY) -> Path:
    """Draw the experiment's table as a PNG of at most 60 kB, and note what it was drawn from."""
    picture = gallery / f"{outputs.path.stem}.png"
    experiment, rows = load(outputs.path), read_csv(outputs.table)

    def render(dpi: int) -> bytes:
        with TemporaryDirectory() as folder:
            large = Path(folder) / "large.png"
            draw_figure(experiment, rows, large, dpi=dpi)
            return large.read_bytes()

    save_small(render, picture, MAX_PICTURE_BYTES, kept=[*cycle_colors(), "#ffffff"])
    note_drawn(gallery, outputs.path, outputs.table)
    return picture


def shows_another_table(outputs: Outputs, gallery: Path = GALLERY) -> bool:
    """Say whether the experiment's picture in the gallery differs from one that is drawn from its table now.

    A table of the same bytes is not drawn again. Rounding that differs from machine to machine is seen in no picture.
    """
    picture, known = gallery / f"{outputs.path.stem}.png", read_drawn(gallery).get(outputs.path.stem)
    if not picture.is_file():
        return True
    if known is not None and known.table == digest(outputs.table.read_bytes()):
        return False
    with TemporaryDirectory() as folder:
        return add_to_gallery(outputs, Path(folder)).read_bytes() != picture.read_bytes()


def write_page(gallery: Path = GALLERY) -> Path:
    """Write the page of the gallery, README.md beside the pictures."""
    page = gallery / "README.md"
    with atomic_write(page) as temporary:
        temporary.write_text(render_page(gallery), encoding="utf-8")
    return page


def render_page(gallery: Path = GALLERY) -> str:
    """Return the page in markdown, of every experiment with a picture, each with the first sentence of its file.

    Experiments are read as text: nothing is imported, and one without a picture yet is left out.
    """
    shown = [path for path in find_experiments().values() if (gallery / f"{path.stem}.png").is_file()]
    lines = [HEAD]
    folders = sorted({path.parent.name for path in shown})  # one that is no subject is called by its own name
    for subject, title in ({name: name for name in folders if name not in subjects()} | subjects()).items():
        cells = [_cell(path) for path in shown if path.parent.name == subject]
        lines += [f"## {title}\n", "| | |", "|---|---|"] if cells else []
        lines += [f"| {left} | {right} |" for left, right in zip(cells[::2], [*cells[1::2], ""], strict=False)]
        lines += [""] if cells else []
    counterparts = map_of_papers({path.stem: path for path in shown})
    return "\n".join([*lines, PAPERS, render_markdown(counterparts), ""] if counterparts else lines)


def _cell(path: Path) -> str:
    sentence = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or path.stem).split("\n")[0]
    name = f"{path.parent.name}/{path.name}"
    return f"![{path.stem}]({path.stem}.png) [`{path.stem}`](../{name}): {sentence.replace('|', chr(92) + '|')}"
