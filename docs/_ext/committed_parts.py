"""Writes the generated parts that pages keep for readers of the repository: gallery, map of papers, limits.

Run `python docs/_ext/committed_parts.py` after a change of an experiment, or of a page that states limits; a test
compares the pages with what would be written.
"""

import re
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[1]
KEPT = ("gallery", "papers", "limits")  # each on the page of its name
COMMAND = "python docs/_ext/committed_parts.py"


def written(text: str, parts: Any) -> str:
    """Return the text of a page with the parts that it keeps made anew by `generated_parts`."""

    def made(found: re.Match[str]) -> str:
        name, of = found.groups()
        if name not in KEPT:
            return found[0]
        return f"<!-- generated: {name} -->\n\n{parts.PARTS[name](of)}\n\n<!-- end: {name} -->"

    return parts.MARK.sub(made, text)


def stale(parts: Any) -> dict[Path, str]:
    """Return the pages that are not what they would be if they were written now, with what they would be."""
    pages = [DOCS / f"{name}.md" for name in KEPT]
    now = {page: page.read_text(encoding="utf-8") for page in pages}
    return {page: new for page, text in now.items() if (new := written(text, parts)) != text}


if __name__ == "__main__":
    sys.path.insert(0, str(DOCS.parent))  # the sources that this file lies in, whatever is installed
    import generated_parts

    found = stale(generated_parts)
    for page, text in found.items():
        page.write_text(text, encoding="utf-8")
    print("written:", ", ".join(page.name for page in found) or "nothing, since no page was stale")
