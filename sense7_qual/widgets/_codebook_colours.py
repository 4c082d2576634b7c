"""Colours of codes that everybody can tell from each other, in both themes."""

from __future__ import annotations

import colorsys
from collections.abc import Iterable
from typing import Final

from sense7_qual._present import PAGES, VISIONS, colour_distance, shades
from sense7_qual.codebook import Code
from sense7_qual.errors import CodebookError

__all__ = ["refuse_unfit_colour"]

_APART: Final = 0.08
_JUST_SEEN: Final = 0.02
"""Distances in Oklab (Ottosson 2020), where 0.02 is just seen: the first for the usual vision, the second for
the others, to whom the lines under the words tell codes apart as well."""


def refuse_unfit_colour(code: Code, others: Iterable[Code]) -> None:
    """Raise `CodebookError` where a code's colour is hard to tell from another code's.

    The distance to the colour of each other code is at least 0.08 in Oklab, and 0.02 as people with each kind
    of colour blindness see it, in the shades that each theme shows (which stand out from its page).
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
    for other, its_colour in given.items():
        for theme, one, another in zip(PAGES, shades(colour), shades(its_colour), strict=True):
            for vision, least in _least().items():
                if colour_distance(one, another, vision) < least:
                    where = f"with {vision} on the {theme} page"
                    return f"which is too like that of {other!r} ({its_colour}) {where}"
    return None


def _least() -> dict[str, float]:
    return {vision: _APART if vision == "usual vision" else _JUST_SEEN for vision in VISIONS}


def _suggested(taken: list[str]) -> str | None:
    """Return of 180 colours the one that is farthest from all that are taken, where it is far enough."""
    colours = [
        "#" + "".join(f"{round(255 * part):02x}" for part in colorsys.hls_to_rgb(hue / 36, light, strength))
        for hue in range(36) for light in (0.4, 0.45, 0.5, 0.55, 0.6) for strength in (0.5,)
    ]  # fmt: skip
    fit = [one for one in colours if _problem(one, {str(n): other for n, other in enumerate(taken)}) is None]
    return max(fit, key=lambda one: min([colour_distance(one, other, "usual vision") for other in taken]
                                        or [1.0]), default=None)  # fmt: skip
