"""What tables and figures share: labels, order, and APA numbers.

A result frame has one row per code with unrounded numbers; here its codes get the codebook's labels and
order (``_looks.py``), its numbers and settings text (``_apa.py``). How codes look on the screen
and in figures, with the arithmetic of colours: ``_looks.py``.
"""

from __future__ import annotations

from sense7_qual._present._apa import (
    MISSING,
    alpha,
    coefficient,
    count,
    count_range,
    counted,
    divides,
    interval,
    interval_name,
    number,
    number_interval,
    p_value,
    percent,
    seed,
)
from sense7_qual._present._looks import (
    LINES,
    PAGES,
    PALETTE,
    TINT,
    VISIONS,
    Look,
    colour_distance,
    contrast,
    label,
    looks,
    looks_of,
    mixed,
    of_source,
    of_sources,
    places,
    rows,
    shades,
)

__all__ = [
    "LINES",
    "MISSING",
    "PAGES",
    "PALETTE",
    "TINT",
    "VISIONS",
    "Look",
    "alpha",
    "coefficient",
    "colour_distance",
    "contrast",
    "count",
    "count_range",
    "counted",
    "divides",
    "interval",
    "interval_name",
    "label",
    "looks",
    "looks_of",
    "mixed",
    "number",
    "number_interval",
    "of_source",
    "of_sources",
    "p_value",
    "percent",
    "places",
    "rows",
    "seed",
    "shades",
]
