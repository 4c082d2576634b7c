"""How well two colours can be told apart: their contrast, and their distance as people see it."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

__all__ = ["VISIONS", "colour_distance", "contrast", "mixed"]

Floats = npt.NDArray[np.float64]

# Machado, Oliveira & Fernandes (2009), severity 1, on linear RGB.
VISIONS: Final[dict[str, Any]] = {
    "usual vision": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
                   (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
                     (-0.01182, 0.04294, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602),
                   (0.004733, 0.691367, 0.3039)),
}  # fmt: skip
# Ottosson (2020), Oklab.
_CONES: Final = np.array(
    [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
     [0.0883024619, 0.2817188376, 0.6299787005]]
)  # fmt: skip
_LAB: Final = np.array(
    [[0.2104542553, 0.793617785, -0.0040720468], [1.9779984951, -2.428592205, 0.4505937099],
     [0.0259040371, 0.7827717662, -0.808675766]]
)  # fmt: skip
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
