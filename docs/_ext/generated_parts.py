"""Fills in the parts of pages that other files state: gallery, map of papers, limits, menus, public names.

A page says where by a comment such as `<!-- generated: columns -->`, which is replaced when the site is built. What
stands between it and a comment such as `<!-- end: gallery -->`, where `committed_parts.py` writes it, is replaced too.
"""

import ast
import importlib
import inspect
import posixpath
import re
import typing
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

from figures.core.captions import SENTENCES, declared_caption, finding_first
from figures.core.discover import find_experiments, load
from figures.core.outputs import OUTPUT
from figures.core.papers import linked, map_of_papers
from figures.core.rows import COLUMNS
from theory.subjects import subjects

DOCS = Path(__file__).resolve().parents[1]
GALLERY = DOCS.parent / "figures" / "gallery"
WINGS = ("theory", "simulate", "figures")
MARK = re.compile(r"^<!-- generated: (\w+) ?([\w.]*) -->$(?:\n(?:.*?\n)??<!-- end: \1 -->$)?", re.MULTILINE | re.DOTALL)
# What captions say where a number is not to be relied on, or is not compared with anything.
RESERVATIONS = re.compile(
    r"\bapproximate|\bjudged\b|\bno z\b|\bno theory\b|\bnot compared\b|\bno error bar|\bdiffer(s)? by a (term|constant)"
    r"|\bare not known\b|\bbias(es)? the\b|\bnot described\b|\bfarther off\b|\bexceed the Gaussian",
    re.IGNORECASE,
)
SECTIONS = ("Where not to trust it", "What is not shown")


@cache
def declared() -> dict[str, Any]:
    """Return every experiment by its name."""
    return {name: load(path) for name, path in find_experiments().items()}


def gallery(_of: str, *, site: bool = False) -> str:
    """Return every figure by subject, with its caption, its command and its files.

    On the site each subject begins with small pictures, and files that were made in `figures/output/` are given too.
    """
    lines: list[str] = []
    paths = find_experiments()
    folders = sorted({path.parent.name for path in paths.values()})  # one that is no subject is called by its own name
    for subject, title in (subjects() | {name: name for name in folders if name not in subjects()}).items():
        names = [name for name, path in paths.items() if path.parent.name == subject]
        if not names:
            continue
        lines += [f"## {title}", "", *(_thumbnails(names) if site else _contents(names)), ""]
        for name in names:
            lines += _figure(name, paths[name], declared()[name], site=site)
    return "\n".join(lines).rstrip()


@cache
def _detailed() -> frozenset[str]:
    """Return the names of the figures that the page of details speaks of."""
    return frozenset(re.findall(r"^### (\w+)$", (DOCS / "figure_details.md").read_text(encoding="utf-8"), re.MULTILINE))


def _contents(names: list[str]) -> list[str]:
    """Return links to the figures of one subject."""
    return [", ".join(f"[{name}](#{name})" for name in names)]


def _thumbnails(names: list[str]) -> list[str]:
    """Return small pictures that lead to the figures of one subject."""
    small = [f"[![{name}]({_picture(name)})](#{name})" for name in names if _has_picture(name)]
    rest = [name for name in names if not _has_picture(name)]
    return [":::{container} thumbnails", *small, ":::", "", *(_contents(rest) if rest else [])]


def _picture(name: str) -> str:
    return f"../figures/gallery/{name}.png"


def _has_picture(name: str) -> bool:
    return (GALLERY / f"{name}.png").is_file()


def _figure(name: str, path: Path, experiment: Any, *, site: bool) -> list[str]:
    sentence = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or name).split("\n")[0]
    shown = [f"![{name}]({_picture(name)})", ""] if _has_picture(name) else []
    text = finding_first(linked(escaped(caption(name, experiment)))) or escaped(f"{experiment.title}.")
    file = f"figures/{path.parent.name}/{path.name}"
    source = f"`make figures/output/{name}.pdf` draws it, and [{file}](../{file}) declares it."
    made = [ending for ending in ("pdf", "csv") if site and (OUTPUT / f"{name}.{ending}").is_file()]
    if made:
        source += f" Files: {', '.join(f'[{one.upper()}](../figures/output/{name}.{one})' for one in made)}."
    if name in _detailed():
        source += f" [More on this figure](figure_details.md#{name})."
    return [f"### {name}", "", linked(escaped(sentence)), "", *shown, text, "", source, ""]


def caption(name: str, experiment: Any) -> str:
    """Return the caption with the numbers of the declaration, so that it is the same before and after a run."""
    declaration = find_experiments().get(name)
    return declared_caption(experiment, declaration.read_text(encoding="utf-8") if declaration else "")


def papers(_of: str) -> str:
    """Return the map of papers as a table whose entries lead to the papers and to the gallery."""
    rows = ["| published | counterpart here | do they agree? |", "|---|---|---|"]
    for figure, counterparts in map_of_papers().items():
        for name, sentence in counterparts:
            shown = linked(escaped(figure)), f"[{name}](gallery.md#{name})", linked(escaped(sentence))
            rows.append(f"| {' | '.join(shown)} |")
    return "\n".join(rows)


def limits(_of: str) -> str:
    """Return the reservations of all pages and captions, each with a link to where it stands."""
    lines = ["## By subject", ""]
    for page in sorted(DOCS.rglob("*.md")):
        name = page.relative_to(DOCS).as_posix()
        if name.startswith("_"):
            continue
        text = page.read_text(encoding="utf-8")
        for section in SECTIONS:
            found = re.search(rf"^## {section}\n\n(.*?)(?=^## |^Sources?: |\Z)", text, re.DOTALL | re.MULTILINE)
            if found and not MARK.search(text):
                title = re.search(r"^# (.+)$", text, re.MULTILINE)
                anchor = section.lower().replace(" ", "-")
                lines += [f"### {title[1] if title else name}", "", f"From [this page]({name}#{anchor}).", ""]
                lines += [_seen_from_above(found[1].strip(), page.parent), ""]
    lines += ["## By figure", "", "What the captions of the [gallery](gallery.md) say of their own limits.", ""]
    for name, experiment in declared().items():
        sentences = SENTENCES.split(caption(name, experiment))
        said = [one for one in sentences if RESERVATIONS.search(one)]
        said += [f"Where numbers are not judged, the reason is that {reason}." for reason in experiment.reasons()]
        lines += [f"- [{name}](gallery.md#{name}): {linked(escaped(' '.join(said)))}"] if said else []
    return "\n".join(lines)


def columns(_of: str) -> str:
    """Return what each column of a table holds; a column that is not explained here is a KeyError."""
    explained = {
        "panel": "the title of the panel, empty where there is one only",
        "curve": "the label of the curve; one that begins with an underscore is not in the legend",
        "x": "the number on the horizontal axis",
        "size": "the size that was simulated, inf for the extrapolation; empty for points of a line",
        "kind": "predicted, measured, reference, joint for the common score of a group, or run for one of "
        "fewer than six replicates",
        "theory": "the predicted number, or the number to compare with",
        "simulation": "the measured number, a mean over replicates where there are several",
        "stderr": "the standard error of that mean",
        "low": "the lower end of the interval that contains the true number with a probability of 95 %",
        "high": "its upper end",
        "replicates": "the number of replicates",
        "z": "the score of the gap, empty where it is not judged",
        "group": "the name that rows which share samples have in common",
        "converged": "whether the theory was solved",
    }
    rows = [f"| `{name}` | {explained[name]} |" for name in COLUMNS]
    return "\n".join(["| column | what it holds |", "|---|---|", *rows])


def menu(_of: str) -> str:
    """Return the entries of the menu for all pages that the index does not place itself."""
    placed = set((DOCS / "index.md").read_text(encoding="utf-8").split("\n")) | {"README", "index"}
    found = [page.stem for page in sorted(DOCS.glob("*.md")) if page.stem not in placed]
    return "\n".join(["```{toctree}", ":hidden:", ":caption: Subjects", "", *found, "```"])


def reference(package: str) -> str:
    """Return the directives that document a package: functions, then records, less those with a home elsewhere."""
    module = importlib.import_module(package)
    public = getattr(module, "__all__", [])
    shown = {name: getattr(module, name) for name in public if getattr(module, name) is not Any}
    own = {name: one for name, one in shown.items() if home(one, package) == package}
    lines = [
        f".. automodule:: {package}",
        *([] if public else ["   :members:"]),
        "",
        f".. currentmodule:: {package}",
        "",
    ]
    lines += [f".. autofunction:: {name}" for name, one in own.items() if inspect.isroutine(one)]
    unnamed = {f"{one.__module__}.{one.__qualname__}": one for one, of in returned().items() if of == package}
    for name, one in (own | unnamed).items():
        if inspect.isclass(one):
            kind = "autoexception" if issubclass(one, BaseException) else "autoclass"
            lines += [f".. {kind}:: {name}", "   :members:", ""]
        elif not inspect.isroutine(one) and not inspect.ismodule(one):
            lines += [f".. autodata:: {name}", "   :no-value:", ""]
    return "\n".join(["```{eval-rst}", *lines, "```"])


@cache
def returned() -> dict[type, str]:
    """Return the classes of ours that public functions, methods and records return but no package offers by name.

    Each is given with the first package that returns it, which documents it under its full name. What such a class
    returns or holds is returned too.
    """
    offered = {package: importlib.import_module(package) for package in documented()}
    named = {id(getattr(module, name)) for module in offered.values() for name in getattr(module, "__all__", ())}
    found: dict[type, str] = {}
    for package, module in offered.items():
        waiting = [getattr(module, name) for name in getattr(module, "__all__", ())]
        seen: set[int] = set()
        while waiting:
            one = waiting.pop()
            if id(one) in seen:
                continue
            seen.add(id(one))
            for each in _answers(one):
                if id(each) not in named and each not in found:
                    found[each] = package
                waiting.append(each)
    return found


def _answers(one: Any) -> list[type]:
    """Return the public classes of ours in what a function returns, or what a class of ours holds or returns."""
    if inspect.isclass(one):
        if one.__module__.split(".")[0] not in WINGS or issubclass(one, BaseException):
            return []
        members = [value for name, value in inspect.getmembers_static(one) if not name.startswith("_")]
        getters = [value.fget for value in members if isinstance(value, property)]
        methods = [value for value in members if inspect.isfunction(value)]
        hints = [*_hints(one).values(), *(_hints(each).get("return") for each in (*getters, *methods))]
    else:
        hints = [_hints(one).get("return")] if inspect.isroutine(one) else []
    return [each for hint in hints for each in _classes(hint)]


def _hints(one: Any) -> dict[str, Any]:
    """Return the annotations of a function or class; none where one of them is known to type checkers only."""
    try:
        hints = typing.get_type_hints(one)
    except (NameError, TypeError):
        return {}
    return {name: hint for name, hint in hints.items() if not name.startswith("_")}


def _classes(hint: Any) -> list[type]:
    """Return the public classes of ours that an annotation names, also within a union or a container."""
    if typing.get_origin(hint) is Callable:
        return []
    inner = [each for part in typing.get_args(hint) for each in _classes(part)]
    of = typing.get_origin(hint) or hint
    ours = inspect.isclass(of) and of.__module__.split(".")[0] in WINGS and not of.__name__.startswith("_")
    return [*inner, of] if ours else inner


def reference_pages(_of: str) -> str:
    """Return the list of the pages of the reference, records of models first, and their menu."""
    pages = {"models": "Records of models", **subjects(), "core": "What all subjects share"}
    pages |= {"analyse": "Your own data", "figures": "Figures and experiments"}
    listed = [f"- [{title}]({name}.md)" for name, title in pages.items()]
    return "\n".join([*listed, "", "```{toctree}", ":hidden:", "", *pages, "```"])


def reference_page(subject: str) -> str:
    """Return the page of the reference of a subject: what `theory` has of it, then what `simulate` has."""
    wings = [wing for wing in ("theory", "simulate") if (DOCS.parent / wing / subject / "__init__.py").is_file()]
    parts = [f"## {wing}.{subject}\n\n<!-- generated: reference {wing}.{subject} -->\n" for wing in wings]
    return "\n".join([f"# {subjects()[subject]}\n", *parts])


def write_missing_pages(_app: Any) -> None:
    """Write the page of the reference of every subject that has none yet."""
    for subject in subjects():
        page = DOCS / "api" / f"{subject}.md"
        if not page.exists():
            page.write_text(reference_page(subject), encoding="utf-8")


@cache
def documented() -> tuple[str, ...]:
    """Return the packages that the pages of the reference document."""
    written = {page.stem: page.read_text(encoding="utf-8") for page in (DOCS / "api").glob("*.md")}
    pages = {subject: reference_page(subject) for subject in subjects()} | written
    return tuple(of for _, page in sorted(pages.items()) for part, of in MARK.findall(page) if part == "reference")


def home(one: Any, package: str) -> str:
    """Return the package that documents what several packages offer, perhaps by several names.

    It is the outermost of those that the object is defined in; or, where it is defined in none, the first that has it.
    """
    offered = {other: importlib.import_module(other) for other in documented()}
    same = [
        other
        for other, module in offered.items()
        if any(getattr(module, name) is one for name in getattr(module, "__all__", ()))
    ]
    inside = [other for other in same if getattr(one, "__module__", "").startswith(f"{other}.") and other != "theory"]
    return min(inside, key=len) if inside else min([*same, package], key=documented().index)


def _seen_from_above(text: str, folder: Path) -> str:
    """Return markdown of a page in `folder` with links that hold in the folder of all pages."""
    above = folder.relative_to(DOCS).as_posix()

    def moved(found: re.Match[str]) -> str:
        return f"]({posixpath.normpath(posixpath.join(above, found[1]))}"

    return re.sub(r"\]\(([\w./]+\.md)", moved, text)


def escaped(text: str) -> str:
    """Return plain text as markdown that shows it, formulas between dollars left as they are."""
    parts = re.split(r"(\$[^$]+\$)", text)
    return "".join(one if k % 2 else re.sub(r"([\\`*_{}\[\]<>#|$^~])", r"\\\1", one) for k, one in enumerate(parts))


PARTS: dict[str, Callable[[str], str]] = {
    "gallery": gallery,
    "papers": papers,
    "limits": limits,
    "reference": reference,
    "menu": menu,
    "reference_pages": reference_pages,
    "columns": columns,
}


def fill(_app: Any, _page: str, source: list[str]) -> None:
    """Replace every mark of one page; a mark that no part belongs to is a KeyError."""
    site = PARTS | {"gallery": partial(gallery, site=True)}
    source[0] = MARK.sub(lambda found: site[found[1]](found[2]), source[0])


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.connect("builder-inited", write_missing_pages)
    app.connect("source-read", fill)
    return {"parallel_read_safe": True}
