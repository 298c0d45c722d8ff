"""What an experiment depends on."""

from pathlib import Path

from figures.core.sources import digest, sources


def make(root, *names):
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"EXPERIMENT = {name!r}" if path.stem in ("peak", "other") else name)
    return root / names[0]


def test_sources_and_their_digest(tmp_path):
    depends = [
        "figures/toy/peak.py",
        "figures/toy/shared.py",
        "figures/toy/deep/a.py",
        "theory/toy/solve.py",
        "simulate/toy/deep/fit.py",
    ]
    depends += ["theory/models/a.py", "theory/numerics/a.py", "theory/random_matrix/a.py", "simulate/core/a.py"]
    depends += ["figures/core/compute.py"]
    other = ["figures/toy/other.py", "theory/potts/a.py", "figures/core/plot.py", "figures/core/paper.mplstyle"]
    path = make(tmp_path, *depends, *other)
    assert {str(file.relative_to(tmp_path)) for file in sources(path, tmp_path)} == set(depends)

    before = digest(path, "default", root=tmp_path)
    assert digest(path, "default", root=tmp_path) == before
    assert digest(path, "paper", root=tmp_path) != before
    for name in other:
        (tmp_path / name).write_text("EXPERIMENT = changed")
    assert digest(path, "default", root=tmp_path) == before
    for name in depends:
        (tmp_path / name).write_text("changed")
        after = digest(path, "default", root=tmp_path)
        assert after != before
        before = after


def test_a_file_outside_the_checkout(tmp_path):
    path = make(tmp_path / "elsewhere", "toy/a.py")
    assert digest(path) != digest(make(tmp_path / "elsewhere", "toy/b.py"))
    assert Path(path) in sources(path)
