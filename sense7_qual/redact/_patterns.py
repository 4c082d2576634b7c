"""Direct identifiers in a text: the place of each, and the one spelling by which two are the same.

Every pattern is bounded, so that the time grows with the length of the text and with nothing else.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final

from sense7_qual.redact._names import UNPARTED, Names, any_of, words

__all__ = ["KINDS", "PLACEHOLDER", "Names", "identifiers_in", "same", "telephones"]

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
# What has digits and is no telephone number anywhere; each is put out of sight.
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
    """Return the end of the number that begins there: after all of it or before a gap, or None."""
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
    """Return True if it looks like a telephone number though no word says so."""
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


#: The kinds of identifier that are looked for, names from a list last.
KINDS: Final = ("url", "email", "iban", "card", "ip", "phone", "handle", "name")
#: What stands in a text where an identifier stood.
PLACEHOLDER: Final = re.compile(r"\[([A-Z]{2,20})-([0-9a-f]{1,16})\]")

_Span = tuple[int, int]
# Stands for what was found already; between brackets, as what will replace it, so that what stands beside it
# is read as it will be read then.
_MASK: Final = "\ue000"

# A letter, digit or _ that is no letter of a script that does not part words: "电话是ana@example.org".
_UN: Final = f"[{UNPARTED}]"
# In an address such a letter stands after a sign or another such letter, not after "ana" in "ana很好".
_REST: Final = rf"(?:[^\s<>\"\[\]。、，！？；：」』）{_MASK}{UNPARTED}]|(?<=[/.=?&_%@{UNPARTED}-]){_UN})"
_URL: Final = re.compile(rf"(?:(?<!{_W})(?:https?|hxxps?|ftp)://|(?<!{_W})www\.){_REST}+", re.IGNORECASE)
_LABEL: Final = rf"(?:xn--)?(?:{_W}|-){{1,63}}"
_TLD: Final = f"{any_of('domain_ends')}|xn--[a-z0-9-]{{2,59}}"
_WORD_TLD: Final = any_of("domain_ends_that_are_words")
_BARE: Final = re.compile(
    rf"(?<![@.-])(?<!{_W})(?:(?:{_LABEL}\.){{1,8}}(?:{_TLD}|{_TLD.upper()})(?!{_W}|-|\.{_W})"
    rf"(?::[0-9]{{2,5}})?(?:/{_REST}*)?"
    # any other end: three parts or more, a part that is no word, or a path
    rf"|(?:{_LABEL}\.){{1,8}}[a-z]{{2,12}}/{_REST}+|(?:[a-z0-9-]{{3,63}}\.){{2,8}}[a-z]{{2}}(?![\w.-])"
    rf"|(?=[a-z-]{{0,60}}[0-9-])[a-z0-9-]{{3,63}}\.(?:{_WORD_TLD})(?![\w.-])"
    rf"|(?<!\w)[a-z0-9-]{{3,63}}\.(?:{_WORD_TLD})"
    rf"(?=\s*[,;:!?)\"»”]|\.?\s*$|\. [A-Z]))"
)
_SIGN: Final = rf"(?:{_W}|[.!#$%&'*+/=?^`{{|}}~-])"
_EMAIL: Final = re.compile(
    rf"(?<!{_SIGN}){_SIGN}{{1,256}}@(?:(?:{_W}|-){{1,63}}\.){{1,8}}(?!\d)(?:{_W}|-){{1,62}}(?<![_-])"
    rf"|(?<![\w.@]){_UN}{{1,30}}@(?:[\w-]{{1,63}}\.){{1,8}}{_UN}{{2,20}}"
)
_LOCAL_PART: Final = rf"(?<!{_SIGN})(?:{_W}|[.+-]){{1,64}}"
_DOTS: Final = any_of("dots")
_ATS: Final = rf"{any_of('ats')}|et(?= [^ ]{{1,30}} nokta)"
_WORD_DOT: Final = (
    rf"(?: {{0,2}}[(\[{{<] ?(?:{_DOTS}|\.) ?[)\]}}>] {{0,2}}| {{1,2}}(?:{_DOTS}) {{1,2}}| \. |\.)"
)
_SAID_DOT: Final = rf"(?: {{0,2}}[(\[{{<] ?(?:{_DOTS}) ?[)\]}}>] {{0,2}}| {{1,2}}(?:{_DOTS}) {{1,2}})"
_NAMED: Final = rf"{_LOCAL_PART}(?: {{1,2}}(?:{_DOTS}) {{1,2}}(?:{_W}|[.+-]){{1,30}}){{0,3}}"
_ENDED: Final = rf"(?i:{any_of('mail_domain_ends')})(?!{_W})"
_WRITTEN_OUT: Final = re.compile(
    rf"{_NAMED}(?: {{0,2}}[(\[{{<] ?(?:{_ATS}|@|a) ?[)\]}}>] {{0,2}})(?:(?:{_W}"
    rf"|-){{1,63}}{_WORD_DOT}){{1,4}}(?:{_ENDED}|[a-z]{{2,12}}(?!{_W}|\.))"
    rf"|{_LOCAL_PART}(?: \. {_LABEL})? ?@ ?(?:(?:{_W}|-){{1,63}}(?: \. |\.)){{1,4}}{_ENDED}"
    rf"|{_NAMED} {{1,2}}(?:{_ATS}) {{1,2}}(?:(?:{_W}|-){{1,63}}{_WORD_DOT}){{0,3}}(?:{_W}"
    rf"|-){{1,63}}{_SAID_DOT}(?:(?:{_W}|-){{1,20}}{_SAID_DOT})?{_ENDED}"
    rf"|{_NAMED} {{1,2}}(?:{_ATS}) {{1,2}}(?:{any_of('mail_services')})"
    rf"\.{_ENDED}(?:\.[a-z]{{2}}(?!{_W}))?",
    re.IGNORECASE,
)
_NO_MAILBOXES: Final = frozenset(words("no_mailboxes"))
_BARE_IN_WORDS: Final = re.compile(
    rf"(?<!{_W})(?!(?:{any_of('articles')})\b)(?:{_W}|-){{2,63}}(?:{_SAID_DOT}"
    rf"(?:{_W}|-){{2,30}})?{_SAID_DOT}{_ENDED}",
    re.IGNORECASE,
)
_IBAN: Final = re.compile(rf"(?<!{_W})[A-Za-z]{{2}}[0-9]{{2}}(?:[ .-]?[A-Za-z0-9]){{11,30}}")
_IN_FOURS: Final = re.compile(r"[A-Za-z]{2}[0-9]{2}(?:[ .-][A-Za-z0-9]{4}){2,7}(?:[ .-][A-Za-z0-9]{1,4})?")
_IBAN_BEFORE: Final = re.compile(rf"(?<!{_W})iban[ :=#.-]{{0,3}}$", re.IGNORECASE)
_CARD: Final = re.compile(rf"(?<!{_W})(?:[2-6]|1(?=800))(?:[ .-]?[0-9]){{11,18}}")
_CARD_GROUPS: Final = re.compile(
    r"(?:[0-9]{4}[ .-]){2,4}[0-9]{1,4}|[0-9]{4}[ .-][0-9]{6}[ .-][0-9]{4,5}|[0-9]+"
)
_IPV4: Final = re.compile(
    rf"(?<![0-9]\.)(?<!{_W})[0-9]{{1,3}}(?:\.[0-9]{{1,3}}){{3}}(?!{_W}|\.[0-9])(?::[0-9]{{2,5}})?"
    rf"(?!{_W})"
)
_IPV6: Final = re.compile(rf"(?<![:.])(?<!{_W})[0-9A-Fa-f:]{{6,39}}(?!{_W}|:)")
# Numbers in four parts that follow these are no address.
_NUMBERED: Final = re.compile(rf"(?<!{_W})(?:{any_of('before_versions')})[ .:]{{0,2}}$", re.IGNORECASE)
_HANDLE: Final = re.compile(
    rf"(?<![@/.])(?<!{_W})@(?=[_.]{{0,9}}[^\W_]){_W}(?:(?:{_W}|[.-]){{0,38}}{_W})"
    rf"|(?<![@/.#-])(?<!{_W})/?u/[A-Za-z0-9_.-]{{2,30}}[A-Za-z0-9_](?!{_W})|(?<![@/.-])(?<!{_W})"
    rf"(?:{_W}|[.-]){{2,32}}#[0-9]{{4}}(?!{_W})"
)
_SERVICES: Final = any_of("services")
_AFTER_SERVICE: Final = re.compile(
    rf"(?<!{_W})(?:{_SERVICES})(?P<said>(?:[ -]?(?:{any_of('words_for_user_names')}))?"
    rf"(?: ?[:=–—-] ?| (?:{any_of('verbs_to_be')}|:) | ?：|是| ))@?"
    rf"(?P<who>(?:{_W}|[.-]){{2,29}}{_W})(?P<on> {_W})?",
    re.IGNORECASE,
)
_BEFORE_SERVICE: Final = re.compile(
    rf"(?<!{_W})(?:{any_of('before_user_names')})[ :]{{1,2}}"
    rf"(?P<who>(?:{_W}|[.-]){{2,29}}{_W}) (?:{any_of('prepositions')}) (?:{_SERVICES})(?!{_W})",
    re.IGNORECASE,
)
_DIGIT_WORDS: Final = any_of("digits")
_IN_WORDS: Final = re.compile(
    rf"(?<!{_W})(?:(?:{_DIGIT_WORDS})[ ,.-]{{1,3}}){{6,20}}(?:{_DIGIT_WORDS})(?!{_W})"
    rf"|[零〇一二三四五六七八九]{{7,13}}",
    re.IGNORECASE,
)
# Signs that are read as others: digits of every script, wide letters, spaces, hyphens, marks of direction.
_PLAIN: Final = {
    **{
        code: str(unicodedata.digit(chr(code)))
        for code in range(0x660, 0x1FBFA)
        if unicodedata.category(chr(code)) == "Nd"
    },
    **{code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
    **dict.fromkeys(
        [0xA0, 0x1680, *range(0x2000, 0x200C), 0x202F, 0x205F, 0x3000, 0x200E, 0x200F, 0xFEFF], " "
    ),
    **dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)], " "),
    **dict.fromkeys([*range(0x2010, 0x2016), 0x2212, 0xFE63], "-"),
}

# ISO 13616: the length of an IBAN by country.
_IBAN_LENGTHS: Final = {
    country: length
    for length, countries in {
        15: "NO",
        16: "BE",
        18: "DK FI FK FO GL NL SD",
        19: "MK SI",
        20: "AT BA MN EE KZ LT LU XK",
        21: "CH HR LI LV",
        22: "BG BH CR DE GB GE IE ME RS VA",
        23: "AE GI IL IQ OM SO TL",
        24: "AD CZ ES MD PK RO SA SE SK TN VG",
        25: "LY PT ST",
        26: "IS TR",
        27: "BI DJ FR GR IT MC MR SM",
        28: "AL AZ BY CY DO GT HN HU LB NI PL SV",
        29: "BR EG PS QA UA",
        30: "JO KW MU YE",
        31: "MT SC",
        32: "LC",
        33: "RU",
    }.items()
    for country in countries.split()
}


def identifiers_in(text: str, kinds: frozenset[str], names: Names) -> list[tuple[str, int, int]]:
    """Return kind, start and end (code points, half-open) of the identifiers in `text`, without overlaps.

    A placeholder is no identifier, nor part of one.
    """
    plain = text if text.isascii() else text.replace(_MASK, "\ue001").translate(_PLAIN)
    masked = PLACEHOLDER.sub(lambda at: f"[{_MASK * (len(at[0]) - 2)}]", plain)
    identifiers: list[tuple[str, int, int]] = []
    while True:  # what is found changes what stands beside it; each round finds some or is the last
        before = len(identifiers)
        for kind, finder in _FINDERS:
            if kind in kinds:
                masked = _masked(masked, kind, finder(masked), identifiers)
        if "name" in kinds:
            masked = _masked(masked, "name", names.spans(masked), identifiers)
        if len(identifiers) == before:
            return sorted(identifiers, key=lambda at: at[1])


def _masked(text: str, kind: str, spans: Iterator[_Span], identifiers: list[tuple[str, int, int]]) -> str:
    pieces, last = [], 0
    for start, end in spans:
        identifiers.append((kind, start, end))
        pieces += [text[last:start], "[", _MASK * (end - start - 2), "]"]
        last = end
    return "".join([*pieces, text[last:]]) if pieces else text


def same(kind: str, written: str) -> str:
    """Return the one spelling of an identifier, by which the same one has the same pseudonym."""
    plain = unicodedata.normalize("NFC", written.translate(_PLAIN)).casefold()
    if kind in {"card", "iban"}:
        return re.sub(r"[\s.-]", "", plain)
    if kind == "phone":
        digits = re.sub(r"[^0-9+]", "", plain.replace("(0)", "")) or plain
        return f"+{digits[2:]}" if digits.startswith("00") else digits
    if kind in {"email", "url"}:
        address = re.sub(_WRITTEN_DOT, ".", re.sub(_WRITTEN_AT, "@", plain))
        return (
            address
            if kind == "email"
            else re.sub(r"^(?:hxxp|http)s?://|/$", "", address).removeprefix("www.")
        )
    return plain.lstrip("@") if kind == "handle" else plain


_WRITTEN_AT: Final = re.compile(
    rf" {{0,2}}[(\[{{<] ?(?:{_ATS}|@|a) ?[)\]}}>] {{0,2}}| {{1,2}}(?:{_ATS}) {{1,2}}| ?@ ?"
)
_WRITTEN_DOT: Final = re.compile(_WORD_DOT)


# Each finder gives the spans of one kind from left to right; a span has two characters at least


def _urls(text: str) -> Iterator[_Span]:
    return (_trimmed(text, match.span()) for match in _URL.finditer(text))


def _bare_urls(text: str) -> Iterator[_Span]:
    return (_trimmed(text, match.span()) for match in _BARE.finditer(text))


def _urls_in_words(text: str) -> Iterator[_Span]:
    return (match.span() for match in _BARE_IN_WORDS.finditer(text))


def _trimmed(text: str, span: _Span) -> _Span:
    """Leave what ends the sentence outside of the address."""
    start, end = span
    while end - start > 2 and text[end - 1] in ".,;:!?)}'»”’…":
        end -= 1
    return start, end


def _emails(text: str) -> Iterator[_Span]:
    return (match.span() for match in _EMAIL.finditer(text))


def _written_out(text: str) -> Iterator[_Span]:
    for match in _WRITTEN_OUT.finditer(text):
        if re.split(r"\W", match[0], maxsplit=1)[0].casefold() not in _NO_MAILBOXES:
            yield match.span()


def _ibans(text: str) -> Iterator[_Span]:
    for match in _IBAN.finditer(text):
        length = _IBAN_LENGTHS.get(match[0][:2].upper(), 0)
        end = _end_of(text, match.start(), length)
        if end and not _goes_on(text, end) and _is_iban(text, match.start(), end):
            yield match.start(), end


def _is_iban(text: str, start: int, end: int) -> bool:
    """Return True if it is one by its checksum; mistyped, by its groups of four or the word before it."""
    grouped = _IN_FOURS.fullmatch(text, start, end) or _IBAN_BEFORE.search(text, max(start - 8, 0), start)
    return grouped is not None or _mod_97(text[start:end])


def _goes_on(text: str, end: int) -> bool:
    return re.match(_W, text[end : end + 1]) is not None


def _mod_97(iban: str) -> bool:
    plain = re.sub("[ .-]", "", iban).upper()
    return int("".join(str(int(sign, 36)) for sign in plain[4:] + plain[:4])) % 97 == 1


def _cards(text: str) -> Iterator[_Span]:
    for match in _CARD.finditer(text):
        for digits in range(19, 11, -1):
            end = _end_of(text, match.start(), digits)
            if (
                end
                and end <= match.end()
                and not _goes_on(text, end)
                and (digits > 12 or _MAESTRO.match(match[0]))
                and _CARD_GROUPS.fullmatch(text, match.start(), end)
                and _luhn(text[match.start() : end])
            ):
                yield match.start(), end
                break


def _luhn(number: str) -> bool:
    digits = [int(sign) for sign in number if sign.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0 and len(set(digits)) > 1


def _end_of(text: str, start: int, signs: int) -> int:
    """Return the end of the first `signs` letters or digits from `start`, with gaps of one sign; or 0."""
    at, count = start, 0
    while count < signs and at < len(text):
        if text[at].isascii() and text[at].isalnum():
            count += 1
        elif text[at] not in " .-":
            return 0
        at += 1
    return at if count == signs and signs else 0


def _addresses(text: str) -> Iterator[_Span]:
    spans = [match.span() for pattern in (_IPV4, _IPV6) for match in pattern.finditer(text)]
    return (
        (start, end)
        for start, end in sorted(spans)
        if _is_address(text[start:end]) and not _NUMBERED.search(text, max(start - 12, 0), start)
    )


def _is_address(written: str) -> bool:
    try:
        ipaddress.ip_address(written.partition(":")[0] if "." in written else written)
    except ValueError:
        return False
    return True


def _in_words(text: str) -> Iterator[_Span]:
    """Yield numbers that are spelled out, but for those that count: one two three."""
    for match in _IN_WORDS.finditer(text):
        words = re.findall(rf"{_UN}|[^\W_](?:\w|[^\w\s,.-])*", match[0].casefold())
        if not " ".join(words).startswith(_COUNTING) and len(set(words)) > 2:
            yield match.span()


def _handles(text: str) -> Iterator[_Span]:
    return (match.span() for match in _HANDLE.finditer(text))


def _of_services(text: str) -> Iterator[_Span]:
    """Yield user names that stand by the name of a service: what has the look of one, or ends the clause."""
    for match in _AFTER_SERVICE.finditer(text):
        introduced = any(sign in match["said"] for sign in ":=–—-：是") and not match["on"]
        if (introduced and match["who"].casefold() not in _NO_USER) or _LOOKS_MADE.search(match["who"]):
            yield match.span("who")


def _before_services(text: str) -> Iterator[_Span]:
    return (match.span("who") for match in _BEFORE_SERVICE.finditer(text))


_MAESTRO: Final = re.compile("5[0678]|6")
_COUNTING: Final = words("counting")
_LOOKS_MADE: Final = re.compile(r"[0-9_]|\w\.\w")
_NO_USER: Final = frozenset(words("no_user_names"))

_FINDERS: Final[tuple[tuple[str, Callable[[str], Iterator[_Span]]], ...]] = (
    ("url", _urls),
    ("email", _emails),
    ("email", _written_out),
    ("iban", _ibans),
    ("card", _cards),
    ("ip", _addresses),
    ("phone", telephones),
    ("phone", _in_words),
    ("handle", _handles),
    ("url", _bare_urls),
    ("url", _urls_in_words),
    ("handle", _of_services),
    ("handle", _before_services),
)
