"""What tables and figures share: labels, order, the reasons for what is missing, and APA numbers.

A result frame has one row per code with unrounded numbers; here its codes get the codebook's labels and
order (``_labels.py``), its reason codes become words (``reasons.py``), its settings a note
(``_settings.py``) and its numbers text (``_apa.py``). How far a long call has come: ``_progress.py``. Where a
text can be cut: ``_apa.py``. How codes look on the screen and in figures: ``_looks.py``, with the
arithmetic of colours in ``_looks.py``.
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
    number,
    number_interval,
    p_value,
    percent,
)
from sense7_qual._present._labels import (
    AGREEMENT_COLUMNS,
    LINK_COLUMNS,
    label,
    of_source,
    of_sources,
    places,
    rows,
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
    looks,
    looks_of,
    mixed,
    shades,
)
from sense7_qual._present._progress import Progress, reporting
from sense7_qual._present._settings import interval_name, seed
from sense7_qual._present.reasons import Caution, Reason, caution_words, reason_words

__all__ = [
    "AGREEMENT_COLUMNS",
    "LINES",
    "LINK_COLUMNS",
    "MISSING",
    "PAGES",
    "PALETTE",
    "TINT",
    "VISIONS",
    "Caution",
    "Look",
    "Progress",
    "Reason",
    "alpha",
    "caution_words",
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
    "reason_words",
    "reporting",
    "rows",
    "seed",
    "shades",
]
