"""How each code looks, on the screen and in figures: a colour for each theme, a line, a short name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._messages import did_you_mean, first_three
from sense7_qual.codebook import UNSTATED, Code, Codebook, Facet
from sense7_qual.errors import TableError
from sense7_qual.frames import require_column

PAGES: Final = {"light": "#ffffff", "dark": "#212121"}
"""The background of each theme (JupyterLab's)."""
TINT: Final = 0.14
"""The most of a code's colour that is behind its line: in a coding that is marked."""
LINES: Final = ("solid", "dashed", "dotted", "dash-dot")
PALETTE: Final = (
    ("#017974", "#0ad9c4"),
    ("#80364f", "#a66f74"),
    ("#2580fe", "#429afc"),
    ("#b27859", "#efac79"),
    ("#085e0b", "#49a03a"),
    ("#855bd7", "#8b66d9"),
    ("#ca2b4c", "#f47b91"),
    ("#786901", "#fbd43b"),
    ("#6415a8", "#b594cd"),
    ("#439503", "#a0ef99"),
    ("#cb5ba8", "#cc5cac"),
    ("#3859a3", "#a5c4fd"),
)
"""Colours of codes without one of their own, in the light and in the dark theme: teal, wine, blue, tan,
forest, violet, red, olive, purple, leaf, orchid, indigo. Every two differ with each kind of colour vision."""

_Drawn = tuple[str, str, int]  # a colour in the light and in the dark theme, a place among LINES
_DRAWN: Final[list[_Drawn]] = [
    (*pair, (n + lap) % len(LINES)) for lap in range(len(LINES)) for n, pair in enumerate(PALETTE)
]
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
    """Return the look of each code, by id.

    A code takes the first look that is free in the version in which it first appears (`Codebook.appeared`),
    and keeps it when other codes are merged, split, removed or moved: 48 codes differ. A code's own colour
    comes first; it is darkened, or lightened in the dark theme, where its contrast is below 3 to 1. Other
    codes take colours close to it last.

    >>> seven = looks(Codebook.read("sense7"))
    >>> seven["affective"]
    Look(light='#ca2b4c', dark='#f47b91', line=0, short='Affective')
    """
    short = _short_names(codebook)
    taken: dict[str, _Drawn] = {}
    own: dict[str, str | None] = {}
    given: set[str] = set()
    for codes in (*codebook.appeared, codebook.codes):
        given |= {code.colour for code in codes if code.colour}
        free = sorted(_DRAWN, key=lambda one: any(_alike(one[0], colour) for colour in given))
        for code in codes:
            if code.id not in taken or code.colour != own[code.id]:
                own[code.id] = code.colour
                taken[code.id] = _first_free(_own(code, len(taken)) or free, taken.values())
    return {code.id: Look(*taken[code.id], short[code.id]) for code in codebook}


def _own(code: Code, place: int) -> list[_Drawn]:
    """Return a code's own colour with each line, those of its place first."""
    lines = [(place + n) % len(LINES) for n in range(len(LINES))] if code.colour else []
    return [(*shades(str(code.colour)), line) for line in lines]


def _first_free(choices: Sequence[_Drawn], taken: Collection[_Drawn]) -> _Drawn:
    return next((one for one in choices if one not in taken), choices[len(taken) % len(choices)])


@lru_cache(maxsize=8192)
def _alike(one: str, colour: str) -> bool:
    """Return whether a colour of the palette is about as close to a code's own as any two of it are."""
    return colour_distance(one, shades(colour)[0], "usual vision") < 0.1


def looks_of(codes: Iterable[str], codebook: Codebook | None) -> list[Look | None]:
    """Return the looks of a result's codes (those decided on by a facet, too); None without a codebook."""
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
    fitting = words[:1]
    for word in words[1:]:
        if len(" ".join([*fitting, word])) > _SHORT:
            return f"{' '.join(fitting)[:_SHORT]}…"
        fitting.append(word)
    name = " ".join(fitting)
    return name if len(name) <= _SHORT else f"{name[:_SHORT]}…"


Floats = npt.NDArray[np.float64]

# Machado, Oliveira & Fernandes (2009), severity 1, on linear RGB.
VISIONS: Final[dict[str, Any]] = {
    "usual vision": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.01182, 0.04294, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.3039),
    ),
}
# Ottosson (2020), Oklab.
_CONES: Final = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_LAB: Final = np.array(
    [
        [0.2104542553, 0.793617785, -0.0040720468],
        [1.9779984951, -2.428592205, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.808675766],
    ]
)
_LUMINANCE: Final = np.array([0.2126, 0.7152, 0.0722])


def contrast(one: str, other: str) -> float:
    """Return WCAG's contrast ratio of two colours (``#rrggbb``), from 1 to 21.

    >>> round(contrast("#000000", "#ffffff"), 1), round(contrast("#dd8452", "#ffffff"), 1)
    (21.0, 2.8)
    """
    light, dark = sorted(
        (float(_LUMINANCE @ _linear(colour)) + 0.05 for colour in (one, other)), reverse=True
    )
    return light / dark


def colour_distance(one: str, other: str, vision: str) -> float:
    """Return the distance of two colours in Oklab with one of `VISIONS`; 0.02 is just noticeable.

    >>> colour_distance("#55a868", "#dd8452", "usual vision") > 0.1
    True
    """
    seen = [np.clip(np.array(VISIONS[vision]) @ _linear(colour), 0, 1) for colour in (one, other)]
    first, second = (_LAB @ np.cbrt(_CONES @ rgb) for rgb in seen)
    return float(np.linalg.norm(first - second))


def mixed(one: str, share: float, other: str) -> str:
    """Return `share` (0 to 1) of the first colour with the rest of the other, as CSS mixes in sRGB.

    >>> mixed("#ff0000", 0.5, "#0000ff")
    '#800080'
    """
    parts = share * _rgb(one) + (1 - share) * _rgb(other)
    return "#" + "".join(f"{int(255 * part + 0.5):02x}" for part in parts)


def _rgb(colour: str) -> Floats:
    return np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])


def _linear(colour: str) -> Floats:
    rgb = _rgb(colour)
    linear: Floats = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return linear


def label(code: str, codebook: Codebook | None) -> str:
    """Return the printed label of a code, with the value if it was decided on by a facet.

    Examples
    --------
    >>> sense7 = Codebook.read("sense7")
    >>> label("interest", sense7), label("interest.valence=met", sense7), label("interest.valence=met", None)
    ('Interest', 'Interest (met)', 'interest.valence=met')
    """
    if codebook is None:
        return code
    named, facet, value = _parts(code, codebook)
    if facet is None:
        return codebook[named].label
    wording = UNSTATED if value == UNSTATED else facet[value].label
    return (
        f"{codebook[named].label} ({wording if len(codebook.facets) == 1 else f'{facet.label}: {wording}'})"
    )


def places(codes: Iterable[str], codebook: Codebook) -> dict[str, tuple[int, int]]:
    """Return the place of each code in the codebook, and of its value in its facet."""
    place = {code: number for number, code in enumerate(codebook.ids)}
    values = [("", "")]
    values += [(facet.name, value) for facet in codebook.facets for value in (*facet.names, UNSTATED)]
    parts = {code: _parts(code, codebook) for code in codes}
    return {
        code: (place[stem], values.index((facet.name if facet else "", value)))
        for code, (stem, facet, value) in parts.items()
    }


def stem(code: str, codebook: Codebook) -> str:
    """Return the id of the code, without the facet's value by which it was decided on."""
    return _parts(code, codebook)[0]


def _parts(code: str, codebook: Codebook) -> tuple[str, Facet | None, str]:
    """Return the code, the facet and the value that `codings.decisions` names together."""
    named, _, value = code.partition("=")  # no code's id has one
    stem, _, name = named.rpartition(".")
    facet = next((one for one in codebook.facets if one.name == name and value), None)
    known = facet is not None and stem in codebook and value in (*facet.names, UNSTATED)
    return (stem, facet, value) if known else (code, None, "")


def rows(result: pd.DataFrame, *, frame_name: str, codebook: Codebook | None) -> list[dict[str, Any]]:
    """Return the rows of a result as dictionaries with a `label`, in the order of the codebook.

    Without a codebook the label is the code's id and the order is the frame's. Two codes with one label are
    told apart by their ids.
    """
    require_column(result, "code", frame_name=frame_name)
    codes = [str(code) for code in result["code"]]
    twice = sorted(code for code, times in Counter(codes).items() if times > 1)
    if twice:
        raise TableError(
            f"{frame_name}: expected one row per code – found several for {first_three(twice)} – "
            "pass one group of rows at a time."
        )
    records = zip(codes, result.to_dict("records"), strict=True)
    names = _labels(codes, codebook)
    labelled = [{str(k): v for k, v in record.items()} | {"label": names[code]} for code, record in records]
    if codebook is None:
        return labelled
    place = places(codes, codebook)
    return sorted(labelled, key=lambda row: place[str(row["code"])])


def _labels(codes: Sequence[str], codebook: Codebook | None) -> dict[str, str]:
    if codebook is None:
        return {code: code for code in codes}
    names = {code: label(code, codebook) for code in codes}
    times = Counter(names.values())
    return {code: f"{name} ({code})" if times[name] > 1 else name for code, name in names.items()}


def of_source(links: pd.DataFrame, source: str) -> pd.DataFrame:
    """Return the rows of `links` that belong to one source: a coder, "majority" or "consensus"."""
    require_column(links, "source", frame_name="links")
    known = list(dict.fromkeys(str(name) for name in links["source"]))
    if source not in known:
        raise TableError(
            f"links: expected rows of source {source!r} – found sources {first_three(known) or 'none'} – "
            f"{did_you_mean(source, known)}"
        )
    return links[links["source"].astype("string") == source]


def of_sources(
    links: pd.DataFrame, sources: Sequence[str], codebook: Codebook | None
) -> list[dict[str, Any]]:
    """Return the rows of several sources as `rows` does, those of one code together."""
    twice = sorted(name for name, times in Counter(sources).items() if times > 1)
    if twice or not sources:
        raise TableError(
            f"links: expected one or more different sources – found {first_three(twice) or 'none'} – name "
            "each once."
        )
    in_order = [
        row
        for source in sources
        for row in rows(of_source(links, source), frame_name="links", codebook=codebook)
    ]
    codes = dict.fromkeys(str(row["code"]) for row in in_order)
    place = {code: (n, 0) for n, code in enumerate(codes)} if codebook is None else places(codes, codebook)
    return sorted(in_order, key=lambda row: place[str(row["code"])])
