"""What the frames of this package hold: each column with its type, what it is, and its range."""

from __future__ import annotations

from typing import Final

from sense7_qual._basis import BASIS
from sense7_qual._contract import Column, Contract, count, flag, number, share, text, word
from sense7_qual.frames import SUGGESTIONS

ANSWERS: Final = Contract(
    "answers",
    ("coder", "unit_id", "round", "code"),
    {
        "unit_id, coder": text(),
        "round*": text("missing: none", missing=True),
        "code, model": text(),
        "probability*": Column("number", "0–1, or missing", 0, 1),
        "start*, end*": count("code points; both missing: the whole unit", missing=True),
        "when": text('"finished" or "shown": after the coder finished the unit, or from the start'),
        "shown_at*": text("UTC"),
        "before": flag("whether the coder's own decision had the code already", missing=True),
        "answer": text(
            '"agreed" (it had, and still has), "accepted" (coded afterwards on exactly these words), '
            '"edited" (on others), "rejected", "withdrawn" (the coder had coded it, and removed it '
            'afterwards), or "none"'
        ),
    },
    row="One row per coder, unit and suggested code, as first shown",
)

MADE_WHEN: Final = Contract(
    "codings",
    ("act_id",),
    {
        "act_id, unit_id, coder, code": text(),
        "when": text(
            '"without" (the coder was shown no suggestion on this text), "before" or "after" the first, '
            'or "model" (a model made it)'
        ),
    },
    row="One row per coding as it is now, in the order of the acts",
)

MODEL_USES: Final = Contract(
    "uses",
    ("act_id",),
    {
        "act_id, coder": text(),
        "unit_id": text("the text, where there is one", missing=True),
        "use": text(
            '"suggestions" (shown, or withheld by chance), "themes" (of a topic model), "proposal" (of a '
            'code, by a model) or "coding" (any act of a model that codes, or that gives texts to one)'
        ),
    },
    row="One row per act that shows the use of a model, in their order",
)

SUGGESTED: Final = Contract(
    "suggestions",
    ("unit_id", "code"),
    {
        **SUGGESTIONS.columns,
        "source": Column("any", '"model" or "definition" (which gives no probability)'),
        "reason": Column(
            "any",
            "why there is no suggestion: `blank_text`, `code_never_applied`, "
            "`code_always_applied`, `no_better_than_chance`",
        ),
        "learned": flag("whether a model learned from a text of this participant"),
    },
    row="One row per unit and codable code, in the order of the units and of the codebook. Probabilities are "
    "calibrated; the words that carry a suggestion are a sentence. The frame meets "
    "`frames.SUGGESTIONS`",
)

NEAR_QUOTES: Final = Contract(
    "quotes",
    ("unit_id", "code", "rank"),
    {
        "unit_id, code": word(),
        "rank": count("from 1"),
        "quote_unit_id": word(),
        "start, end": count("code points in that unit's text, half-open"),
        "similarity": number("cosine, −1 … 1", -1, 1),
    },
    row="One row per suggestion and rank; none for a code that nobody has applied",
)

EFFECT: Final = Contract(
    "effect",
    ("code", "measure"),
    {
        "code": word(),
        "measure": word(
            '"applied", "between_coders" (the share of agreeing pairs of coders, on units '
            'with two or more), "with_suggestion"'
        ),
        "shown, withheld": share("the means"),
        "difference, low, high": number("shown − withheld, −1 … 1, with its interval", -1, 1),
        "n_shown, n_withheld": count("units"),
        "n_clusters": count(),
        "reason": Column(
            "any",
            "`few_clusters`: fewer than 6 participants with, or without, suggestions, so no interval; "
            "`no_comparison`: no unit on one side",
        ),
        **BASIS,
    },
    row="One row per code and measure. Missing decisions do not count",
)

ORDER: Final = Contract(
    "order",
    ("unit_id",),
    {
        "unit_id": text(),
        "place": count("from 0"),
        "drawn": flag("among the next `n`"),
        "inclusion": number(
            "the probability, above 0, at most 1, with which it was drawn; they sum to `n`", 0, 1
        ),
    },
    row="One row per unit in the order of coding",
)
