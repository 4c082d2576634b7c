"""What the frames of this package hold: each column with its type, what it is, and its range."""

from __future__ import annotations

from typing import Final

from sense7_qual._basis import BASIS
from sense7_qual._contract import Contract, count, estimated, flag, number, reason, share, text, word

_COSINE: Final = number("cosine, −1 … 1; 1 for an equal text", -1, 1)
_LIFT: Final = number("share / overall_share, from 0; 1 = no more than elsewhere; missing if not defined", 0)

AGAINST_CODEBOOK: Final = Contract(
    "against_codebook",
    ("theme",),
    {
        "theme": count(),
        "label": text(),
        "verdict": text('"covered", "uncovered"; missing where not computable', missing=True),
        "clear": flag(
            "whether the data allow only this verdict: covered if the lower limits of some code lie above "
            "the thresholds, uncovered if one upper limit of every code lies below; missing without a "
            "verdict",
            missing=True,
        ),
        "n_units": count(missing=True),
        "n_decided": count("units that somebody finished"),
        "n_decisions": count("unit × coder"),
        "n_clusters": count("clusters with decided units"),
        "best_code": text(
            "the code nearest to covering it; ties: the first in the codebook; missing if none was applied",
            missing=True,
        ),
        "best_share": share("see `codes_by_theme`"),
        "best_lift": number("see `codes_by_theme`", 0),
        "expected": text(
            "the code that `fit` expected of the theme by definitions and examples; missing without one",
            missing=True,
        ),
        "reason": reason("why there is no verdict: `not_decided`, or `few_decided` (fewer than 6 clusters)"),
        **BASIS,
    },
    row="One row per theme",
)

CODES: Final = Contract(
    "codes_by_theme",
    ("theme", "code"),
    {
        "theme": count(),
        "code": text(),
        "n_units": count("of the theme", missing=True),
        "n_decided": count("its units with a decision on this code"),
        "n_decisions": count("unit × coder"),
        "n_clusters": count("of the decided units"),
        **estimated("share", share("share of these decisions that apply the code", "NaN without any")),
        "overall_share": share(
            "the same over all units that the themes were computed from, including those in no theme"
        ),
        **estimated("lift", _LIFT),
        **BASIS,
    },
    row="One row per theme and code, in the codebook's order. Intervals are Wilson's with the effective "
    "number of texts, given the variance between clusters; NaN with fewer than 6 clusters",
)

HISTORY: Final = Contract(
    "history",
    ("at", "theme", "done", "value"),
    {
        "at, coder": text(),
        "theme": count("its number in the study"),
        "name": text("the name that people had given it, if any", missing=True),
        "done": text(
            '"recorded" (a run of the topic model has it for the first time), "not found again" (a later run '
            'lacks it), "named", "merged into", "split into", "dismissed", "made a code", or the opposite '
            'of one of these: "name taken off", "separated again", "brought back", "code taken off"'
        ),
        "value": text("the name, the number, the numbers of the parts, or the code's id", missing=True),
        "why": text("the reason, if one was given", missing=True),
        "n_units": count("the number of its units then"),
    },
    row=(
        "One row per theme and step, oldest first. Steps that conflict with another person's, made in "
        "another copy at the same time, are left out"
    ),
)

MATCHED: Final = Contract(
    "matched",
    ("run_theme", "theme"),
    {
        "run_theme": count("its number in the run; missing if it ends", missing=True),
        "theme": count("its number in the study, which is never reused"),
        "is_new": flag(),
        "nearest": count("the number of the most similar theme so far; missing without any", missing=True),
        "jaccard": share(
            "its similarity to that", "for a theme that ends, the highest of any theme of the run"
        ),
    },
    row="One row per theme of the run, then one per theme that ends",
)

NEAREST: Final = Contract(
    "nearest",
    ("unit_id", "rank"),
    {
        "unit_id": word(),
        "rank": count("from 1"),
        "neighbour_id": word(),
        "similarity": _COSINE,
    },
    row="One row per unit and rank, by unit_id. Ties are in the order of their ids",
)

NEAREST_CODES: Final = Contract(
    "nearest_codes",
    ("theme", "rank"),
    {
        "theme": count(),
        "label": text(),
        "rank": count("from 1"),
        "code": text(),
        "similarity": number(
            "cosine, −1 … 1, of the mean of the theme's typical texts, 10 at most, to the mean of the code's "
            "texts; ties are in the codebook's order",
            -1,
            1,
        ),
        "has_definition": flag(),
        "n_examples": count(
            "a code with neither is compared only by its label, and its similarity means little"
        ),
    },
    row="One row per theme and rank",
)

SPREAD: Final = Contract(
    "spread",
    ("theme", "value"),
    {
        "theme": count(),
        "label": text(),
        "by": word("the column's name"),
        "value": text("of a group: its least and its largest number", missing=True),
        "n_units*": count("texts with that value"),
        "n_in_theme*": count("of these"),
        "n_clusters*": count("participants with such texts"),
        **estimated("share", share("n_in_theme / n_units")),
        "overall_share": share("over all texts that have a value"),
        "lift*, lift_low*, lift_high*": _LIFT,
        "p*, p_holm*": number(
            "of the theme: that its share is the same at every value; adjusted for all themes; missing "
            "where a value has fewer than 6 participants",
            0,
            1,
        ),
        "confidence_level": share("as given"),
    },
    row="One row per theme and value, in the order of numbers or categories, else alphabetical. Intervals "
    "are Wilson's with the effective number of texts, given the variance between participants; NaN with "
    "fewer than 6 of them. Texts without a value have a row of their own at the end of each theme, with "
    "value and lift missing; they count in no other number",
)

PARTICIPANTS: Final = Contract(
    "participants_by_theme",
    ("theme",),
    {
        "theme": count(),
        "label": text(),
        "n_units": count("texts in it"),
        "n_without": count("of these, without a participant; they do not count in the following numbers"),
        "n_clusters": count("participants"),
        "n_effective": number(
            "effective number of participants: the inverse of Simpson's index, 1 … n_clusters", 1
        ),
        "n_effective_random": number("the same, expected for as many texts drawn at random", 1),
        "largest_share": share("of the participant with most texts"),
        "one_carries": flag(
            "whether that is more than half: then the theme is one person's, whatever its stability; "
            "missing, like the numbers, if no text has a participant",
            missing=True,
        ),
    },
    row="One row per theme",
)

PLACES: Final = Contract(
    "text_map",
    ("unit_id",),
    {
        "unit_id": text(),
        "x, y": number(
            "the whole map is in −1 … 1, with the same scale on both axes; NaN for a blank text", -1, 1
        ),
    },
    row="One row per unit, in the order of `units`. Equal texts are drawn close around one place, each "
    "visible",
)

QUOTES: Final = Contract(
    "quotes",
    ("theme", "rank"),
    {
        "theme": count(),
        "label": text(),
        "rank": count("from 1"),
        "unit_id": text(),
        "case_id": text(missing=True),
        "typicality": number("cosine to the theme's centre", -1, 1),
        "text": text("the unit's words"),
    },
    row="One row per theme and rank",
)
