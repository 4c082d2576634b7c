"""Telephone numbers in a text, by their shape and by the words before them, without knowing the country.

Every pattern is bounded, so that the time grows with the length of the text and with nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from sense7_qual.redact._names import UNPARTED
from sense7_qual.redact._words import any_of

__all__ = ["telephones"]

_W: Final = rf"[^\W{UNPARTED}]"
_CANDIDATE: Final = re.compile(
    rf"(?<![0-9][.,])(?<![+/])(?<!{_W})(?:\(?\+ ?|\()?[0-9](?:[ ()./_-]{{0,3}}[0-9]){{4,17}}"
    rf"(?: ?(?:x|ext\.?|#) ?[0-9]{{1,6}})?(?!{_W})"
)
_GAP: Final = re.compile(r"[ ()./_-]+")
_EXTENSION: Final = re.compile(r" ?(?:x|ext\.?|#) ?[0-9]{1,6}$")
_DATE: Final = re.compile(
    r"(?:[0-9]{4}[-./][0-9]{1,2}[-./][0-9]{1,2}|[0-9]{1,2}[-./] ?[0-9]{1,2}[-./] ?[0-9]{2,4})"
    r"(?: [0-9]{1,2})?"
)
# What has digits and is no telephone number wherever it stands; each is put out of sight.
_HARMLESS: Final = re.compile(
    r"(?<![0-9.])[0-9]\.[0-9]{3,20}(?![0-9/-]|\.[0-9])|\b10\.[0-9]{4,9}/[^\s\[\]]{1,60}|\b97[89][ -]?"
    r"(?:[0-9][ -]?){9}[0-9]\b"
    r"|(?:[0-9]{1,2}[-./]){2}[0-9]{4} ?- ?(?:[0-9]{1,2}[-./]){2}[0-9]{4}\b"
    r"|\b[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[T ][0-9]{1,2}(?=:))?"
    r"|\b[0-9]{1,2}[./-][0-9]{1,2}[./-][12][0-9]{3}(?: [0-9]{1,2}(?=:))?\b"
    r"|(?<![\w-])(?:[0-9a-f]{4,12}-){2,4}[0-9a-f]{4,12}\b(?<=[a-f][0-9a-f-]{12})"
)
_MONEY_AFTER: Final = re.compile(rf" ?(?:[$€£¥₹₺₫₽]|{any_of('money_after')})", re.IGNORECASE)
_MONEY_BEFORE: Final = re.compile(rf"(?:[$€£¥₹₺₫₽]|\b(?:{any_of('money_before')}))\.? ?$")
_COUNTRY: Final = re.compile(
    "20|27|3[0-469]|4[013-9]|5[1-8]|6[0-6]|7|8[1246]|9[0-58]|35[0-9]|38[0-9]|42[01]|852|855|880|886"
    "|966|97[0-9]"
)
_CALLED: Final = re.compile(
    rf"(?:(?<!{_W})(?:{any_of('to_call')})\b|(?<!{_W})(?:{any_of('to_call_stems')})"
    rf"|{any_of('to_call_unparted')})[^\s\d]{{0,20}}[^\w+(]{{0,3}}(?:[^\W\d]{{1,12}}[^\w+(]{{1,3}}){{0,3}}$"
)
_OTHER: Final = re.compile(
    rf"(?<!{_W})(?:{any_of('numbered')}|(?:{any_of('numbered_stems')})\w*)"
    rf"(?:[ -]?(?:{any_of('words_for_numbers')})?[ .:#-]{{0,3}})$"
)


def telephones(text: str) -> Iterator[tuple[int, int]]:
    """Yield the span of each telephone number, from left to right.

    Its digits are those of ASCII, its hyphens and spaces plain, as `identifiers` makes them.
    """
    searched = _HARMLESS.sub(lambda at: "x" * len(at[0]), text)
    at = 0
    while match := _CANDIDATE.search(searched, at):
        end = _end(searched, match)
        if end is not None:
            yield match.start(), end
        at = end or match.start() + 1


def _end(text: str, match: re.Match[str]) -> int | None:
    """Return where the number that begins there ends: after all of it or before a gap; None for none."""
    start = match.start()
    before = text[max(start - 40, 0) : start].rpartition("]")[2].casefold()
    abroad = "+" in match[0][:2]
    if _OTHER.search(before) and not abroad:
        return None
    called = _CALLED.search(before) is not None
    money = _MONEY_BEFORE.search(before.upper()) is not None
    gaps = [start + gap.start() for gap in _GAP.finditer(match[0]) if gap.start() > 4]
    for end in (match.end(), *reversed(gaps)):
        written = _EXTENSION.sub("", text[start:end])
        groups = re.findall("[0-9]+", written)
        digits = "".join(groups)
        if _DATE.fullmatch(written) or not 5 <= len(digits) <= 15 or len(set(digits)) < 2:
            continue
        if called or (abroad and len(digits) >= 7):
            return end
        if len(digits) >= 7 and _has_shape(written, groups, digits):
            return None if money or _MONEY_AFTER.match(text, end) else end
    return None


def _has_shape(written: str, groups: list[str], digits: str) -> bool:
    """Return whether it looks like a telephone number though no word says so."""
    sizes = [len(group) for group in groups]
    if max(sizes) == 1:
        return len(digits) >= 9 and len(set(digits)) >= 5 and digits[0] == "0"
    if digits[0] == "0" and len(digits) >= 8:  # a national prefix
        return len(groups) > 1 or len(digits) >= 9
    if len(groups) == 1:
        return 9 <= len(digits) <= 11 or (12 <= len(digits) <= 13 and _COUNTRY.match(digits) is not None)
    if sizes in ([3, 3, 4], [3, 4], [3, 2, 2]) or (len(digits) == 10 and len(groups) < 4 and min(sizes) > 1):
        return True
    if sizes == [4, 4]:  # no two years, no round numbers
        return max(groups) > "2100" and not all(group.endswith("00") for group in groups)
    return _is_grouped(written, groups, sizes)


def _is_grouped(written: str, groups: list[str], sizes: list[int]) -> bool:
    steps = {int(after) - int(before) for before, after in pairwise(groups[:3])}
    evenly = len(steps) == 1 and max(sizes) == 2  # 10 20 30 40
    thousands = max(sizes[1:]) == min(sizes[1:]) == 3 and groups[-1].endswith("00")
    years = set(sizes) == {4}
    dotted = written.count(".") and set(sizes[1:]) == {3}  # 1.250.000
    usual = 8 <= sum(sizes) <= 13 and len(groups) >= 3 and min(sizes[1:]) >= 2 and max(sizes) <= 4
    bracketed = written[0] == "(" and sum(sizes) >= 9
    return bracketed or (usual and not (evenly or thousands or years or dotted))
