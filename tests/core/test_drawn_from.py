"""The gallery: each picture is tied to the table and the declaration that it was drawn from."""

import pytest

from figures.core.discover import find_experiments
from figures.core.drawn_from import NAME, declaration_digest, note_drawn, out_of_date, read_drawn
from figures.core.gallery import GALLERY

SOURCE = '''"""A docstring."""

from {package}.helper import shared

# a comment
EXPERIMENT = Experiment(title="t", curves={{"a": shared}}, points=(1, 2), caption="One " "sentence.")
'''


@pytest.mark.skipif(not (GALLERY / NAME).is_file(), reason="the gallery was not drawn since its pictures are tied")
def test_no_picture_of_the_gallery_is_old():
    shown = [path for path in find_experiments().values() if (GALLERY / f"{path.stem}.png").is_file()]
    old = [reason for path in shown if (reason := out_of_date(GALLERY, path))]
    assert not old, f"run: python -m figures gallery --fresh NAMES, for: {'; '.join(old)}"


@pytest.fixture
def declared(tmp_path):
    folder = tmp_path / "figures" / "toy"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "helper.py").write_text("shared = 1\n")
    (folder / "one.py").write_text(SOURCE.format(package="figures.toy"))
    return folder / "one.py"


def test_a_change_of_what_is_drawn_makes_a_picture_old(declared, tmp_path):
    gallery, table = tmp_path / "gallery", tmp_path / "one.csv"
    gallery.mkdir()
    table.write_text("a table")
    assert out_of_date(gallery, declared) == "one has no picture"
    (gallery / "one.png").write_bytes(b"picture")
    assert out_of_date(gallery, declared) == f"one is not in {NAME}"
    note_drawn(gallery, declared, table)
    assert out_of_date(gallery, declared) is None
    assert set(read_drawn(gallery)) == {"one"}

    text = declared.read_text()
    for same in (('"One "', '"Another "'), ("# a comment\n", ""), ("A docstring", "Another"), ("(1, 2)", "( 1, 2 )")):
        declared.write_text(text.replace(*same))
        assert out_of_date(gallery, declared) is None
    for other in (("(1, 2)", "(1, 3)"), ('"t"', '"u"')):
        declared.write_text(text.replace(*other))
        assert out_of_date(gallery, declared) == "the declaration of one has changed since its picture was drawn"
    declared.write_text(text)
    (declared.parent / "helper.py").write_text("shared = 2\n")
    assert "has changed" in str(out_of_date(gallery, declared))
    (declared.parent / "helper.py").write_text("shared = 1\n")
    (gallery / "one.png").write_bytes(b"another")
    assert out_of_date(gallery, declared) == "one.png is not the picture that was drawn"


def test_every_declaration_has_a_digest_of_its_own():
    digests = [declaration_digest(path) for path in find_experiments().values()]
    assert len(set(digests)) == len(digests)
