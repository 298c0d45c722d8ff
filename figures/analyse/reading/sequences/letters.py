"""From letters as they stand in a file to one byte a site: case, dots and inserts, by the convention of the format."""

from dataclasses import dataclass, field
from string import ascii_lowercase, ascii_uppercase, digits

from figures.analyse.wording import counted

GAP = ord("-")
LETTERS = (ascii_uppercase + "-?").encode()
UPPER = bytes.maketrans(ascii_lowercase.encode(), ascii_uppercase.encode())
GAPS = bytes.maketrans(b"._~", b"---")
STOPS = bytes.maketrans(b"*", b"?")  # * marks the end of translation and is no residue
INSERTS = (ascii_lowercase + ".").encode()


@dataclass
class Convention:
    """What small letters and dots mean.

    In FASTA and Stockholm a dot is a gap and a small letter is a letter; in A2M and A3M both belong to inserts, which
    have no column and are left out.
    """

    inserts: bool  # A2M, A3M
    custom: bytes | None = None  # a user's own alphabet: its letters stay as they are
    lowered: int = field(default=0, init=False)  # number of small letters seen
    inserted: int = field(default=0, init=False)

    @property
    def legal(self) -> bytes:
        """The bytes that `sites` may give for letters and gaps; any other one is an error of the file."""
        return LETTERS if self.custom is None else self.custom + LETTERS + digits.encode()

    def sites(self, letters: str) -> bytes:
        """Return one byte a site: a capital letter, "-" for a gap, "?" for what is certainly no letter of an alphabet.

        Other bytes may come too; they are not `legal`.
        """
        data = letters.encode("latin-1", "replace")
        if self.custom is not None:
            return self._custom_sites(data, self.custom)
        small = len(data) - len(data.translate(None, ascii_lowercase.encode()))
        if self.inserts:
            self.inserted += small
            return data.translate(GAPS, INSERTS).translate(STOPS)
        self.lowered += small
        return data.translate(UPPER).translate(GAPS).translate(STOPS)

    def _custom_sites(self, data: bytes, own: bytes) -> bytes:
        """Return one byte a site where the user lists the letters: these are letters, whatever they mean elsewhere."""
        marks = bytes(code for code in b"._~" if code not in own)
        if not self.inserts:
            return data.translate(bytes.maketrans(marks, b"-" * len(marks)))
        left = bytes(code for code in INSERTS if code not in own)
        small = left.replace(b".", b"")
        self.inserted += len(data) - len(data.translate(None, small))
        return data.translate(bytes.maketrans(marks, b"-" * len(marks)), left)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what was done with small letters."""
        found = []
        if self.lowered:
            found.append(f"{counted(self.lowered, 'small letter')} read as capitals (inserts only in .a2m and .a3m)")
        if self.inserted:
            found.append(f"{counted(self.inserted, 'small letter')} left out: inserts, which have no column")
        return tuple(found)
