"""Saves PNG files that are small enough for a repository: fewer colors first, fewer dots only if that is not enough."""

import io
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageColor

from theory.core.atomic_write import atomic_write

COLORS = (128, 64, 32)
RESOLUTIONS = (130, 110, 90, 70)  # dots per inch


def save_small(render: Callable[[int], bytes], path: Path, largest: int, kept: Sequence[str] = ()) -> None:
    """Save the picture that `render(dots per inch)` returns as the bytes of a PNG, in at most `largest` bytes.

    The first of RESOLUTIONS is taken with the first of COLORS at which the file is small enough; if none is, the
    smallest file is written. Equal pictures give equal bytes. The colors `kept`, such as "#0072B2", stay what they are:
    without them a map of many shades would leave no place for the few dots of its legend.
    """
    for dpi in RESOLUTIONS:
        picture = Image.open(io.BytesIO(render(dpi))).convert("RGB")
        for colors in COLORS:
            content = io.BytesIO()
            _reduced(picture, colors, kept).save(content, "png", optimize=True)
            if content.tell() <= largest:
                break
        else:
            continue
        break
    with atomic_write(path) as temporary:
        temporary.write_bytes(content.getvalue())


def _reduced(picture: Image.Image, colors: int, kept: Sequence[str]) -> Image.Image:
    """Return the picture in so many colors; dots in one of the colors that are kept have exactly that color."""
    reduced = picture.quantize(colors - len(kept), dither=Image.Dither.NONE)
    palette = list(reduced.getpalette() or [])[: 3 * (colors - len(kept))]
    dots, places = np.asarray(picture), np.array(reduced)
    for color in map(ImageColor.getrgb, kept):
        places[(dots == color).all(axis=-1)] = len(palette) // 3
        palette += color
    exact = Image.fromarray(places)
    exact.putpalette(palette)
    return exact
