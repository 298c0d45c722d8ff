"""Finds the place where a file in the formats CLUSTAL, MSF, PHYLIP or NEXUS is not what it says, in one sentence."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from figures.analyse.wording import counted, shown

CONSENSUS = re.compile(r"\s+[*:.\s]*|[*:.\s]+")  # marks of conserved columns below a block of CLUSTAL
COORDINATES = re.compile(r"\s*\d+(\s+\d+)?\s*")  # numbers of the first and the last column above a block of MSF
COMMENT = re.compile(r"\[[^\]]*\]")


class _Piece(NamedTuple):
    """A line of a block: a name, and a piece of its sequence."""

    line: int  # of the file, from 1
    name: str
    letters: str


def fault_of_blocks(lines: Sequence[str], failure: str) -> str | None:
    """Say which line of a CLUSTAL or MSF file does not fit the others of its block, or the first block."""
    if any(" MSF: " in line for line in lines) and not any(line.strip() == "//" for line in lines):
        return "has no line // between its header and its sequences; is it cut off?"
    blocks = _blocks(lines)
    if not blocks:
        return "has no sequence below its header; is it cut off?"
    first = [piece.name for piece in blocks[0]]
    for number, block in enumerate(blocks, start=1):
        width = len(block[0].letters)
        for position, piece in enumerate(block):
            place, name = f"line {piece.line} (block {number})", shown(piece.name)
            if position >= len(first):
                return f"{place}: {name} is in none of the blocks above; is it of another alignment?"
            if piece.name != first[position]:
                return f"{place}: {name} stands where the first block has {shown(first[position])}; is a line lost?"
            if len(piece.letters) != width:
                found = counted(len(piece.letters), "column")
                return f"{place}: {name} has {found}, but the first sequence of the block {width}; is it cut off?"
        if len(block) < len(first):
            missing = shown(first[len(block)])
            return f"block {number} ends in line {block[-1].line}, before {missing}; is the file cut off?"
    if "Duplicated ID" in failure:
        twice = next(name for name in first if first.count(name) > 1)
        return f"has two sequences called {shown(twice)}; give each a name of its own"
    return None


def _blocks(lines: Sequence[str]) -> list[list[_Piece]]:
    """Split the lines below the header into blocks, without marks of conserved columns and numbers of columns."""
    header = next((k for k, line in enumerate(lines) if line.strip() == "//"), None)
    if header is None:
        header = next((k for k, line in enumerate(lines) if line.strip()), 0)
    found: list[list[_Piece]] = [[]]
    for number, line in enumerate(lines[header + 1 :], start=header + 2):
        if not line.strip() or CONSENSUS.fullmatch(line):
            found.append([])
        elif not COORDINATES.fullmatch(line):
            name, *pieces = line.split()
            if len(pieces) > 1 and pieces[-1].isdigit():
                pieces.pop()  # how many letters there are up to here
            found[-1].append(_Piece(number, name, "".join(pieces)))
    return [block for block in found if block]


def fault_of_phylip(lines: Sequence[str], failure: str) -> str:
    """Say where the sequences of a PHYLIP file part from the sizes in its first line."""
    there = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    sizes = there[0][1].split()
    if failure == "sizes":
        return (
            f"line {there[0][0]}: {shown(there[0][1].strip())} should be two numbers, of sequences and of columns, as "
            "PHYLIP files begin"
        )
    if "dots" in failure:
        return "has dots, which stand for letters of the first sequence or for gaps; write the letters, and gaps as -"
    said = f"line {there[0][0]} says {counted(int(sizes[0]), 'sequence')} of {counted(int(sizes[1]), 'column')}"
    body = there[1:]
    if len(body) < int(sizes[0]):
        return f"{said}, but {counted(len(body), 'line')} follow; is it cut off?"
    for number, line in body if len(body) == int(sizes[0]) else ():
        name, *pieces = line.split()
        found = len("".join(pieces))
        if found != int(sizes[1]):
            return f"{said}, but {shown(name)} in line {number} has {found}; is it cut off, or has its name blanks?"
    return (
        f"{said}, but the {len(body)} lines below do not make that up, neither interleaved nor one after the other; is "
        "it cut off, or has a name blanks in it?"
    )


def fault_of_nexus(lines: Sequence[str], failure: str) -> str | None:
    """Say where the matrix of a NEXUS file parts from the dimensions that it gives, or is not written out.

    Without a failure only what Biopython cannot be given is looked for: dots for letters of the first sequence, in the
    first sequence itself.
    """
    text = "\n".join(lines)
    head, found, body = _matrix(text)
    if not found:
        return "has no matrix of sequences (MATRIX ... ;) in it" if failure else None
    match = re.search(r"\bmatchchar\s*=\s*[\"']?(\S)", head, re.IGNORECASE)
    interleaved = re.search(r"\binterleave\b(?!\s*=\s*no)", head, re.IGNORECASE) is not None
    if match and match[1] in "".join(_first_sequence(body, _number(head, "nchar"), interleaved)):
        return f"has {shown(match[1])} in the first sequence of its matrix, which stands for letters of that sequence"
    wrong = re.search(r"Nchar (\d+) does not match data length \((\d+)\) for taxon (.*)", failure)
    if wrong:
        place = _place(lines, wrong[3])
        return f"{place}{shown(wrong[3])} has {counted(int(wrong[2]), 'column')}, but nchar={wrong[1]}; is it cut off?"
    wrong = re.search(r"Taxon (.*): Illegal character (\S) in sequence", failure)
    if wrong:
        kind = re.search(r"\bdatatype\s*=\s*(\w+)", head, re.IGNORECASE)
        where = f"datatype={kind[1]}" if kind else "its datatype"
        place, name = _place(lines, wrong[1]), shown(wrong[1])
        return f"{place}{shown(wrong[2])} in {name} is no letter of {where}; correct one of the two"
    ntax = _number(head, "ntax")
    if "taxa in matrix" in failure and ntax is not None:
        return (
            f"says ntax={ntax} and nchar={_number(head, 'nchar')}, but its matrix does not hold as many; is it cut "
            "off, or should its format say interleave?"
        )
    if "Dimensions must be" in failure:
        return "gives no ntax or no nchar (DIMENSIONS) before its matrix"
    return None


def _matrix(text: str) -> tuple[str, bool, str]:
    """Return what stands before the matrix, whether there is one, and what stands in it, without comments."""
    plain = COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
    parts = re.split(r"^[ \t]*matrix\b", plain, maxsplit=1, flags=re.IGNORECASE | re.MULTILINE)
    return parts[0], len(parts) > 1, parts[-1].split(";", 1)[0]


def _first_sequence(body: str, length: int | None, interleaved: bool) -> Iterator[str]:
    rows = [line.strip() for line in body.split("\n") if line.strip()]
    if not rows:
        return
    name = rows[0].split()[0]
    if interleaved:
        yield from (row[len(name) :] for row in rows if row.split()[0] == name)
    else:
        yield "".join("".join(rows)[len(name) :].split())[: length or 0]


def _number(head: str, name: str) -> int | None:
    found = re.search(rf"\b{name}\s*=\s*(\d+)", head, re.IGNORECASE)
    return int(found[1]) if found else None


def _place(lines: Sequence[str], name: str) -> str:
    """Say in which line a name begins a row, with a colon; empty where it is not found."""
    matrix = next((k for k, line in enumerate(lines) if re.match(r"\s*matrix\b", line, re.IGNORECASE)), -1)
    below = enumerate(lines[matrix + 1 :], start=matrix + 2)
    number = next((number for number, line in below if line.strip().lstrip("'\"").startswith(name)), None)
    return "" if number is None else f"line {number}: "
