"""Colours of codes that everybody can tell from the page and from each other, in both themes."""

from __future__ import annotations

import colorsys
from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sense7_qual.codebook import Code
from sense7_qual.errors import CodebookError

__all__ = ["refuse_unfit_colour"]

Floats = npt.NDArray[np.float64]

_PAGES: Final = {"light": "#ffffff", "dark": "#212121"}
_CONTRAST: Final = 3.0  # WCAG 2.1, 1.4.11
_APART: Final = 0.08
_JUST_SEEN: Final = 0.02
"""Distances in Oklab (Ottosson 2020), where 0.02 is just seen: the first for the usual vision, the second for
the others, to whom the lines under the words tell codes apart as well."""

# Machado, Oliveira & Fernandes (2009), severity 1, on linear RGB.
_VISIONS: Final[dict[str, Any]] = {
    "usual vision": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
                   (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
                     (-0.01182, 0.04294, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602),
                   (0.004733, 0.691367, 0.3039)),
}  # fmt: skip
_CONES: Final = np.array(
    [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
     [0.0883024619, 0.2817188376, 0.6299787005]]
)  # fmt: skip
_LAB: Final = np.array(
    [[0.2104542553, 0.793617785, -0.0040720468], [1.9779984951, -2.428592205, 0.4505937099],
     [0.0259040371, 0.7827717662, -0.808675766]]
)  # fmt: skip
_LUMINANCE: Final = np.array([0.2126, 0.7152, 0.0722])


def refuse_unfit_colour(code: Code, others: Iterable[Code]) -> None:
    """Raise `CodebookError` where a code's colour is hard to see, or to tell from another code's.

    The contrast with both pages is at least 3 to 1 (WCAG 2.1, 1.4.11); the distance to the colour of each
    other code at least 0.08 in Oklab, and 0.02 as people with each kind of colour blindness see it.
    """
    colour = str(code.colour)
    given = {one.id: one.colour for one in others if one.colour is not None}
    problem = _problem(colour, given)
    if problem is not None:
        fit = _suggested(list(given.values()))
        raise CodebookError(
            f"draft: expected a colour of {code.id!r} that stands out – found {colour}, {problem} – "
            f"{f'take {fit}, for example' if fit else 'leave it out, and one is chosen'}."
        )


def _problem(colour: str, given: dict[str, str]) -> str | None:
    for theme, page in _PAGES.items():
        ratio = _contrast(colour, page)
        if ratio < _CONTRAST:
            return f"whose contrast with the {theme} page is {ratio:.1f} to 1 and not 3"
    for other, its_colour in given.items():
        for vision, least in _least().items():
            if _distance(colour, its_colour, vision) < least:
                return f"which is too like that of {other!r} ({its_colour}) with {vision}"
    return None


def _least() -> dict[str, float]:
    return {vision: _APART if vision == "usual vision" else _JUST_SEEN for vision in _VISIONS}


def _suggested(taken: list[str]) -> str | None:
    """Return of 180 colours the one that is farthest from all that are taken, where it is far enough."""
    colours = [
        "#" + "".join(f"{round(255 * part):02x}" for part in colorsys.hls_to_rgb(hue / 36, light, strength))
        for hue in range(36) for light in (0.4, 0.45, 0.5, 0.55, 0.6) for strength in (0.5,)
    ]  # fmt: skip
    fit = [one for one in colours if _problem(one, {str(n): other for n, other in enumerate(taken)}) is None]
    return max(fit, key=lambda one: min([_distance(one, other, "usual vision") for other in taken] or [1.0]),
               default=None)  # fmt: skip


def _linear(colour: str) -> Floats:
    rgb = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear: Floats = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return linear


def _contrast(one: str, other: str) -> float:
    """Return WCAG's ratio of two relative luminances."""
    light, dark = sorted(
        (float(_LUMINANCE @ _linear(colour)) + 0.05 for colour in (one, other)), reverse=True
    )
    return light / dark


def _distance(one: str, other: str, vision: str) -> float:
    seen = [np.clip(np.array(_VISIONS[vision]) @ _linear(colour), 0, 1) for colour in (one, other)]
    first, second = (_LAB @ np.cbrt(_CONES @ rgb) for rgb in seen)
    return float(np.linalg.norm(first - second))
