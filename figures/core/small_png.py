"""Saves PNG files that are small enough for a repository: fewer colors first, fewer dots only if that is not enough."""

import io
from collections.abc import Callable
from pathlib import Path

from PIL import Image

from figures.core.atomic_write import atomic_write

COLORS = (128, 64, 32)
RESOLUTIONS = (130, 110, 90, 70)  # dots per inch


def save_small(render: Callable[[int], bytes], path: Path, largest: int) -> None:
    """Save the picture that `render(dots per inch)` returns as the bytes of a PNG, in at most `largest` bytes.

    The first of RESOLUTIONS is taken with the first of COLORS at which the file is small enough; if none is, the
    smallest file is written. Equal pictures give equal bytes.
    """
    for dpi in RESOLUTIONS:
        picture = Image.open(io.BytesIO(render(dpi))).convert("RGB")
        for colors in COLORS:
            content = io.BytesIO()
            picture.quantize(colors, dither=Image.Dither.NONE).save(content, "png", optimize=True)
            if content.tell() <= largest:
                break
        else:
            continue
        break
    with atomic_write(path) as temporary:
        temporary.write_bytes(content.getvalue())
