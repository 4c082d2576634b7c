"""Direct identifiers in a text: where each stands, and the one spelling by which two are the same.

Every pattern is bounded, so that the time grows with the length of the text and with nothing else.
"""

from __future__ import annotations

import ipaddress
import re
import sys
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Final

__all__ = ["KINDS", "PLACEHOLDER", "Names", "found_in", "same"]

#: The kinds of identifier that are looked for, names from a list last.
KINDS: Final = ("url", "email", "iban", "card", "ip", "phone", "handle", "name")
#: What stands in a text where an identifier stood.
PLACEHOLDER: Final = re.compile(r"\[([A-Z]{2,20})-([0-9a-f]{1,16})\]")

_Span = tuple[int, int]
# Stands for what was found already; between brackets, as what will replace it, so that what stands beside it
# is read as it will be read then.
_MASK: Final = "\ue000"

_REST: Final = rf"[^\s<>\"\[\]{_MASK}]"
_URL: Final = re.compile(rf"(?:\b(?:https?|ftp)://|\bwww\.){_REST}+", re.IGNORECASE)
_BARE: Final = re.compile(
    r"(?<![\w.@-])(?:[a-z0-9-]{1,63}\.){1,8}(?:com|org|net|edu|gov|info|io|uk|de|fr|eu|nl|ch|ca|au)"
    rf"(?![\w-])(?:/{_REST}*)?",
    re.IGNORECASE,
)
_EMAIL: Final = re.compile(
    r"(?<![\w.!#$%&'*+/=?^`{|}~-])[\w.!#$%&'*+/=?^`{|}~-]{1,256}@(?:[\w-]{1,63}\.){1,8}[^\W\d_][\w-]{0,61}[^\W_]"
)
_IBAN: Final = re.compile(r"(?<!\w)[A-Za-z]{2}[0-9]{2}(?:[ -]?[A-Za-z0-9]){11,30}")
_CARD: Final = re.compile(r"(?<![\w])[2-6](?:[ -]?[0-9]){12,18}")
_IPV4: Final = re.compile(r"(?<![\w.])[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?![\w]|\.[0-9])")
_IPV6: Final = re.compile(r"(?<![\w:.])[0-9A-Fa-f:]{6,39}(?![\w:])")
_DASH: Final = r"\-\u2010-\u2015"
_PHONE: Final = re.compile(
    rf"(?<![0-9][.,])(?<![\w+/])(?:\+|\()?[0-9](?:[ \u00a0()./{_DASH}]{{0,3}}[0-9]){{6,16}}(?!\w)"
)
_DATE: Final = re.compile(
    r"(?:[0-9]{4}[-./][0-9]{1,2}[-./][0-9]{1,2}|[0-9]{1,2}[-./][0-9]{1,2}[-./][0-9]{2,4})(?: [0-9]{1,2})?"
)
_GROUPED: Final = re.compile(rf"\(?[0-9]{{3}}\)?[ .{_DASH}]{{0,2}}[0-9]{{3}}[ .{_DASH}][0-9]{{4}}")
_LOCAL: Final = re.compile(rf"[0-9]{{3}}[{_DASH}][0-9]{{4}}")
_HANDLE: Final = re.compile(r"(?<![\w@/.])@[\w](?:[\w.-]{0,28}\w)")

# ISO 13616: the length of an IBAN by country.
_IBAN_LENGTHS: Final = {
    country: length
    for length, countries in {
        15: "NO",
        16: "BE",
        18: "DK FI FO GL NL",
        19: "MK SI",
        20: "AT BA EE KZ LT LU XK",
        21: "CH HR LI LV",
        22: "BG BH CR DE GB GE IE ME RS VA",
        23: "AE GI IL IQ TL",
        24: "AD CZ ES MD PK RO SA SE SK TN VG",
        25: "PT ST",
        26: "IS TR",
        27: "FR GR IT MC MR SM",
        28: "AL AZ BY CY DO GT HU LB PL SV",
        29: "BR EG PS QA UA",
        30: "JO KW MU",
        31: "MT SC",
        32: "LC",
    }.items()
    for country in countries.split()
}
# Scripts that do not part words: there a name is found inside of what looks like one.
_UNPARTED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
_BETWEEN: Final = re.compile(r"[\s.'’·\u2010\u2011-]{1,3}")


def found_in(text: str, kinds: frozenset[str], names: Names) -> list[tuple[str, int, int]]:
    """Return kind, start and end (code points, half-open) of what stands in `text`, none over another.

    A placeholder that stands there is no identifier, nor part of one.
    """
    masked = PLACEHOLDER.sub(lambda at: f"[{_MASK * (len(at[0]) - 2)}]", text.replace(_MASK, "\ue001"))
    found: list[tuple[str, int, int]] = []
    while True:  # what is found changes what stands beside it; each round finds some or is the last
        before = len(found)
        for kind, finder in _FINDERS:
            if kind in kinds:
                masked = _masked(masked, kind, finder(masked), found)
        if "name" in kinds:
            masked = _masked(masked, "name", names.spans(masked), found)
        if len(found) == before:
            return sorted(found, key=lambda at: at[1])


def _masked(text: str, kind: str, spans: Iterator[_Span], found: list[tuple[str, int, int]]) -> str:
    pieces, last = [], 0
    for start, end in spans:
        found.append((kind, start, end))
        pieces += [text[last:start], "[", _MASK * (end - start - 2), "]"]
        last = end
    return "".join([*pieces, text[last:]]) if pieces else text


def same(kind: str, written: str) -> str:
    """Return the one spelling of an identifier, by which the same one has the same pseudonym."""
    plain = unicodedata.normalize("NFC", written).casefold()
    if kind in {"card", "iban"}:
        return re.sub(r"[\s-]", "", plain)
    if kind == "phone":
        digits = re.sub(r"[^0-9+]", "", written)
        return f"+{digits[2:]}" if digits.startswith("00") else digits
    if kind == "name":
        return " ".join(_BETWEEN.sub(" ", plain).split())
    return plain


# Each finder gives the spans of one kind from left to right; a span has two characters at least


def _urls(text: str) -> Iterator[_Span]:
    return (_trimmed(text, found.span()) for found in _URL.finditer(text))


def _bare_urls(text: str) -> Iterator[_Span]:
    return (_trimmed(text, found.span()) for found in _BARE.finditer(text))


def _trimmed(text: str, span: _Span) -> _Span:
    """Leave what ends the sentence outside of the address."""
    start, end = span
    while end - start > 2 and text[end - 1] in ".,;:!?)}'»”’…":
        end -= 1
    return start, end


def _emails(text: str) -> Iterator[_Span]:
    return (found.span() for found in _EMAIL.finditer(text))


def _ibans(text: str) -> Iterator[_Span]:
    for found in _IBAN.finditer(text):
        wanted = _IBAN_LENGTHS.get(found[0][:2].upper(), 0)
        end = _end_of(text, found.start(), wanted)
        if end and not text[end : end + 1].isalnum() and _mod_97(text[found.start() : end]):
            yield found.start(), end


def _mod_97(iban: str) -> bool:
    plain = re.sub("[ -]", "", iban).upper()
    return int("".join(str(int(sign, 36)) for sign in plain[4:] + plain[:4])) % 97 == 1


def _cards(text: str) -> Iterator[_Span]:
    for found in _CARD.finditer(text):
        for digits in range(19, 12, -1):
            end = _end_of(text, found.start(), digits)
            if (
                end
                and end <= found.end()
                and not text[end : end + 1].isalnum()
                and _luhn(text[found.start() : end])
            ):
                yield found.start(), end
                break


def _luhn(number: str) -> bool:
    digits = [int(sign) for sign in number if sign.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0 and len(set(digits)) > 1


def _end_of(text: str, start: int, signs: int) -> int:
    """Return where the first `signs` letters or digits from `start` end, spaces and hyphens between; or 0."""
    at, seen = start, 0
    while seen < signs and at < len(text):
        if text[at].isascii() and text[at].isalnum():
            seen += 1
        elif text[at] not in " -":
            return 0
        at += 1
    return at if seen == signs and signs else 0


def _addresses(text: str) -> Iterator[_Span]:
    spans = [found.span() for pattern in (_IPV4, _IPV6) for found in pattern.finditer(text)]
    return (span for span in sorted(spans) if _is_address(text[slice(*span)]))


def _is_address(written: str) -> bool:
    try:
        ipaddress.ip_address(written)
    except ValueError:
        return False
    return True


def _phones(text: str) -> Iterator[_Span]:
    at = 0
    while found := _PHONE.search(text, at):
        if _is_phone(found[0]):
            yield found.span()
            at = found.end()
        else:
            at = found.start() + 1


def _is_phone(written: str) -> bool:
    signs = [sign for sign in written if sign.isdigit()]
    digits = len(signs)
    if _DATE.fullmatch(written) or not 7 <= digits <= 15 or len(set(signs)) == 1:
        return False
    if written.startswith("+") or _GROUPED.fullmatch(written) or _LOCAL.fullmatch(written):
        return True
    national = written.lstrip("(").startswith("0")
    return (
        digits >= 8 and national
        if not written.isdigit()
        else digits >= 9 and (national or digits in {10, 11})
    )


def _handles(text: str) -> Iterator[_Span]:
    return (found.span() for found in _HANDLE.finditer(text))


_FINDERS: Final[tuple[tuple[str, Callable[[str], Iterator[_Span]]], ...]] = (
    ("url", _urls),
    ("email", _emails),
    ("iban", _ibans),
    ("card", _cards),
    ("ip", _addresses),
    ("phone", _phones),
    ("handle", _handles),
    ("url", _bare_urls),
)


# Names


class Names:
    """A list of names, each found as whole words; the longest first."""

    __slots__ = ("_inside", "_known", "_longest", "canonical", "exact")

    def __init__(self, names: Mapping[str, str], *, exact: bool) -> None:
        self.exact = exact
        self.canonical = {same("name", name): same("name", person) for name, person in names.items()}
        listed = [self._folded(name) for name in names if not _UNPARTED.search(name)]
        self._known = {tuple(word for word, _, _ in _words(name)) for name in listed}
        self._longest = max(map(len, self._known), default=0)
        inside = sorted((re.escape(name) for name in names if _UNPARTED.search(name)), key=len, reverse=True)
        self._inside = re.compile("|".join(inside)) if inside else None

    def __repr__(self) -> str:
        """Say how many names there are, and none of them."""
        return f"Names({len(self.canonical)})"

    def _folded(self, text: str) -> str:
        return text if self.exact else text.casefold()

    def spans(self, text: str) -> Iterator[_Span]:
        """Yield the span of each name in `text`, from left to right."""
        whole = [
            *self._whole(text),
            *([at.span() for at in self._inside.finditer(text)] if self._inside else []),
        ]
        last = 0
        for start, end in sorted(whole, key=lambda span: (span[0], -span[1])):
            if start >= last:
                yield start, end
                last = end

    def _whole(self, text: str) -> Iterator[_Span]:
        words = list(_words(text)) if self._known else []
        at = 0
        while at < len(words):
            length = self._length_at(words, at, text)
            if length:
                yield words[at][1], words[at + length - 1][2]
            at += length or 1

    def _length_at(self, words: list[tuple[str, int, int]], at: int, text: str) -> int:
        """Return how many words from `at` on are the longest name that begins there; 0 for none."""
        longest, said = 0, []
        for length, (word, start, _) in enumerate(words[at : at + self._longest], start=1):
            if length > 1 and not _BETWEEN.fullmatch(text, words[at + length - 2][2], start):
                break
            said.append(word)
            if self._is_known(said):
                longest = length
        return longest

    def _is_known(self, said: list[str]) -> bool:
        if not self.exact:
            return tuple(self._folded(word) for word in said) in self._known
        as_named = tuple(word.capitalize() for word in said)
        return tuple(said) in self._known or (all(map(str.isupper, said)) and as_named in self._known)


def _words(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield each word in composed form (NFC), with its place; names of one letter are none."""
    for found in _word_pattern().finditer(text):
        word = found[0]
        yield (word if word.isascii() else unicodedata.normalize("NFC", word)), *found.span()


@lru_cache(maxsize=1)
def _word_pattern() -> re.Pattern[str]:
    # Python's \w has no combining marks, of which many scripts write their vowels.
    marks = [sign for sign in map(chr, range(0x300, 0x1F000)) if unicodedata.category(sign).startswith("M")]
    marks += [sign for sign in map(chr, range(0xE0100, 0xE01F0)) if ord(sign) <= sys.maxunicode]
    return re.compile(f"[^\\W_](?:[^\\W_]|[{''.join(marks)}])*")
