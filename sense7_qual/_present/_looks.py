"""How each code looks, on the screen and in figures: a colour for each theme, a line, a short name."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from sense7_qual._present._contrast import contrast, mixed
from sense7_qual._present._labels import stem
from sense7_qual.codebook import Codebook

__all__ = ["LINES", "PAGES", "PALETTE", "TINT", "Look", "looks", "looks_of", "shades"]

PAGES: Final = {"light": "#ffffff", "dark": "#212121"}
"""The background of each theme (JupyterLab's)."""
TINT: Final = 0.18
"""The most of a code's colour that is behind its line: in a coding that is marked."""
LINES: Final = ("solid", "dashed", "dotted", "dash-dot")
PALETTE: Final = (
    ("#017974", "#0ad9c4"), ("#80364f", "#a66f74"), ("#2580fe", "#429afc"), ("#b27859", "#efac79"),
    ("#085e0b", "#49a03a"), ("#855bd7", "#8b66d9"), ("#ca2b4c", "#f47b91"), ("#786901", "#fbd43b"),
    ("#6415a8", "#b594cd"), ("#439503", "#a0ef99"), ("#cb5ba8", "#cc5cac"), ("#3859a3", "#a5c4fd"),
)  # fmt: skip
"""Colours of codes without one of their own, in the light and in the dark theme: teal, wine, blue, tan,
forest, violet, red, olive, purple, leaf, orchid, indigo. Every two differ with each kind of colour vision."""

_INK: Final = {"light": "#000000", "dark": "#ffffff"}
_CONTRAST: Final = 3.0  # WCAG 2.1, 1.4.11
_SHORT: Final = 14  # letters


class Look(NamedTuple):
    """A colour in the light and in the dark theme, a place among `LINES`, a name of at most 15 letters."""

    light: str
    dark: str
    line: int
    short: str


def looks(codebook: Codebook) -> dict[str, Look]:
    """Return how each code looks, by id.

    Colour and line go by the place of the id among all that the study ever had (`Codebook.appeared`; ids that
    are not there follow in the codebook's order), so that they stay when other codes are merged, removed or
    moved: 48 codes in a row differ. A code's own colour comes first; it is darkened, or lightened in the dark
    theme, where its contrast is below 3 to 1.

    >>> seven = looks(Codebook.read("sense7"))
    >>> seven["affective"]
    Look(light='#ca2b4c', dark='#f47b91', line=0, short='Affective')
    """
    short = _short_names(codebook)
    place = {one: n for n, one in enumerate(dict.fromkeys([*codebook.appeared, *codebook.ids]))}
    found = {}
    for code in codebook:
        lap, n = divmod(place[code.id], len(PALETTE))
        light, dark = shades(code.colour) if code.colour else PALETTE[n]
        found[code.id] = Look(light, dark, (n + lap) % len(LINES), short[code.id])
    return found


def looks_of(codes: Iterable[str], codebook: Codebook | None) -> list[Look | None]:
    """Return how the codes of a result look (those decided on by a facet, too); None without a codebook."""
    known = {} if codebook is None else looks(codebook)
    return [None if codebook is None else known[stem(code, codebook)] for code in codes]


@lru_cache(maxsize=1024)
def shades(colour: str) -> tuple[str, str]:
    """Return a code's own colour as each theme shows it, the light one first."""
    colour = colour.lower()
    of_palette = dict(PALETTE).get(colour)
    return _readable(colour, "light"), of_palette or _readable(colour, "dark")


def _readable(colour: str, theme: str) -> str:
    """Return the colour, with as much of the theme's ink as it needs to stand out."""
    page = PAGES[theme]
    shades = (mixed(colour, 1 - percent / 100, _INK[theme]) for percent in range(0, 101, 2))
    return next(
        shade
        for shade in shades
        if min(contrast(shade, page), contrast(shade, mixed(shade, TINT, page))) >= _CONTRAST
    )


def _short_names(codebook: Codebook) -> dict[str, str]:
    siblings: dict[str | None, list[str]] = {}
    for code in codebook:
        siblings.setdefault(code.parent, []).append(code.id)
    return {
        one: name
        for ids in siblings.values()
        for one, name in zip(ids, _told_apart([codebook[one].label.split() for one in ids]), strict=True)
    }


def _told_apart(labels: list[list[str]]) -> Iterable[str]:
    """Return of each label as few words as tell it from the others, cut between words where it is long."""
    shared = 0
    while len(labels) > 1 and len({tuple(words[: shared + 1]) for words in labels}) == 1:
        if any(len(words) <= shared + 1 for words in labels):
            break
        shared += 1
    rests = [words[shared:] for words in labels]
    for rest in rests:
        n = next(
            (n for n in range(1, len(rest)) if sum(one[:n] == rest[:n] for one in rests) == 1), len(rest)
        )
        yield _cut(rest[:n])


def _cut(words: list[str]) -> str:
    """Return as many of the words as fit, with … for the others; a longer first word is cut itself."""
    kept = words[:1]
    for word in words[1:]:
        if len(" ".join([*kept, word])) > _SHORT:
            return f"{' '.join(kept)[:_SHORT]}…"
        kept.append(word)
    name = " ".join(kept)
    return name if len(name) <= _SHORT else f"{name[:_SHORT]}…"
