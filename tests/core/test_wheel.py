"""What is published is what the checkout holds, every module can be imported, and the command masked-ssl runs."""

import importlib.metadata
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("theory", "simulate", "figures")
GALLERY = "figures/gallery/"  # is of the repository only
REPOSITORY = {".gitignore"}  # of the repository only, too, but the gallery is in the source distribution
ADDED = ("PKG-INFO", "masked_ssl_theory.egg-info/")  # what setuptools writes into one
SDIST = "import sys; from setuptools import build_meta; print(build_meta.build_sdist(sys.argv[1]))"
BUILDER = (70, 1)  # the first setuptools that makes wheels without another package
IMPORT_ALL = """
import importlib, pathlib, sys
site = pathlib.Path(sys.argv[1])
names = [".".join(path.relative_to(site).with_suffix("").parts) for path in sorted(site.rglob("*.py"))]
for name in names:
    module = importlib.import_module(name.removesuffix(".__init__")) if not name.endswith("__main__") else None
    if module is not None and site not in pathlib.Path(module.__file__).parents:
        sys.exit(f"{name} comes from {module.__file__}")
print(len(names))
"""


def files_of_packages():
    return {name for name in files_of_checkout(*PACKAGES) if not name.startswith(GALLERY)}


def files_of_checkout(*folders):
    """Tracked files, and new ones that git does not ignore, by their paths from the root."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *folders]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    return {name for name in names if name and (ROOT / name).is_file()}


def run(*command, cwd, **variables):
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP_"))}
    done = subprocess.run(command, cwd=cwd, env=outside | variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def copied(names, folder):
    """Copy these files of the checkout, so that nothing is left in it by what is made of them."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder


def wheel_of(source, folder):
    """The wheel of a tree or of a source distribution, made by the setuptools that is here."""
    version = importlib.metadata.version("setuptools")
    assert tuple(map(int, version.split(".")[:2])) >= BUILDER, f"setuptools {version}: pip install -e '.[dev]'"
    pip = (sys.executable, "-m", "pip", "wheel", "-q", "--disable-pip-version-check", "--use-pep517")
    run(*pip, "--no-index", "--no-deps", "--no-build-isolation", "-w", str(folder), str(source), cwd=folder.parent)
    (file,) = folder.glob("*.whl")
    return file


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    copy = tmp_path_factory.mktemp("copy")
    copied(files_of_checkout(*PACKAGES, "setup.py", "setup.cfg", "README.md", "LICENSE"), copy)
    return wheel_of(copy, copy / "wheels")


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    """The source distribution, which holds more than the wheel is made of."""
    folder = tmp_path_factory.mktemp("sdist")
    copy = copied(files_of_checkout(), folder / "copy")
    name = run(sys.executable, "-W", "ignore", "-c", SDIST, str(folder), cwd=copy).splitlines()[-1]
    return folder / name


def contents(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.slow
def test_the_source_distribution_holds_every_file_of_the_checkout(sdist):
    """Tests, documentation, gallery and Makefile too, so that all that the README names can be done from it."""
    with tarfile.open(sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive if member.isfile()}
    assert {name for name in names if not name.startswith(ADDED)} == files_of_checkout() - REPOSITORY


@pytest.mark.slow
def test_the_wheel_of_the_source_distribution_is_that_of_the_checkout(sdist, wheel, tmp_path):
    again, expected = contents(wheel_of(sdist, tmp_path / "wheels")), contents(wheel)
    (record,) = (name for name in expected if name.endswith("/RECORD"))  # digests of the others, as folders list them
    assert sorted(again.pop(record).splitlines()) == sorted(expected.pop(record).splitlines())
    assert again == expected


@pytest.mark.slow
def test_the_wheel_holds_every_file_of_the_packages_and_no_other(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == files_of_packages()


@pytest.mark.slow
def test_every_module_can_be_imported_where_the_wheel_is_installed(wheel, tmp_path):
    site = tmp_path / "site"
    pip = (sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-compile")
    run(*pip, "--no-index", "--no-deps", "--target", str(site), str(wheel), cwd=tmp_path)
    imported = run(sys.executable, "-c", IMPORT_ALL, str(site), cwd=tmp_path, PYTHONPATH=str(site))
    assert int(imported) == len([name for name in files_of_packages() if name.endswith(".py")])


@pytest.mark.slow
def test_the_command_runs_outside_the_checkout(wheel, tmp_path):
    site, here = tmp_path / "site", tmp_path / "here"
    here.mkdir()
    pip = (sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-compile")
    run(*pip, "--no-index", "--no-deps", "--target", str(site), str(wheel), cwd=tmp_path)

    def command(*words):
        return run(sys.executable, str(site / "bin" / "masked-ssl"), *words, cwd=here, PYTHONPATH=str(site))

    assert command("--version").startswith("masked-ssl ")
    assert "mean_test_error" in command("solve", "masked.solve", "Isotropic", "d=inf", "alpha=2", "lam=0.1")
    assert "interpolation_peak" in command("figures", "list")
    (here / "table.csv").write_text(
        "\n".join(f"{k % 7},{k * k % 11},{(3 * k + k % 7) % 13}" for k in range(60)), encoding="utf-8"
    )
    command("analyse", "table.csv", "--jobs", "1")
    assert (here / "masked-ssl" / "output" / "analyse_table.pdf").is_file()
    command("figures", "update", "tree_growth", "--quality", "draft", "--jobs", "1")
    assert (here / "masked-ssl" / "output" / "tree_growth.png").is_file()
    assert not (site / "figures" / "output").exists()
