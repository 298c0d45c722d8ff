"""Words of a text."""

import re
import unicodedata
from functools import cache

SHORTEST = 2  # letters
APOSTROPHE = "\N{RIGHT SINGLE QUOTATION MARK}"

_ENGLISH = """
a about above after again against ain all also am among an and any are aren't as at be because been before being
below between both but by can can't cannot could couldn't did didn't do does doesn't doing don't down during each
either else ever every few for from further get got had hadn't has hasn't have haven't having he he'd he'll he's
her here here's hers herself him himself his how how's however i i'd i'll i'm i've if in into is isn't it it's its
itself just let let's like may me might more most much must mustn't my myself neither no nor not now of off often
on once one only or other others ought our ours ourselves out over own per rather said same say says shall shan't
she she'd she'll she's should shouldn't since so some still such than that that's the their theirs them themselves
then there there's these they they'd they'll they're they've this those though through thus to too under until up
upon us very via was wasn't we we'd we'll we're we've were weren't what what's when when's where where's whether
which while who who's whom whose why why's will with within without won't would wouldn't yet you you'd you'll
you're you've your yours yourself yourselves
"""
ENGLISH = frozenset(_ENGLISH.split())


def words_of(text: str) -> list[str]:
    """In lower case, in order: runs of at least two letters, with apostrophes and hyphens inside. No numbers."""
    normal = unicodedata.normalize("NFC", text).lower().replace(APOSTROPHE, "'")
    return [word for word in _pattern().findall(normal) if len(word) >= SHORTEST]


@cache
def _pattern() -> re.Pattern[str]:
    """Letters of any script with the marks on them, which regular expressions do not count as letters."""
    marks = "".join(chr(k) for k in range(0x300, 0x3000) if unicodedata.category(chr(k)).startswith("M"))
    part = rf"[^\W\d_](?:[^\W\d_]|[{marks}])*"
    return re.compile(rf"{part}(?:['\-]{part})*")
