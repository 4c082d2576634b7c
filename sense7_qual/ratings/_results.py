"""The result frames of this package: each column with its type, meaning and range."""

from __future__ import annotations

from typing import Final

from sense7_qual._contract import Contract, count, estimated, number, reason, share, text, word

_COUNT: Final = count("as in `evaluate`", missing=True)

PREDICTED: Final = Contract(
    "predictions",
    ("predictor", "unit_id"),
    {
        "predictor": word(),
        "unit_id, cluster": text(),
        "fold": count("from 1"),
        "truth, predicted": number("in points of the scale"),
        "label": number("the predicted level; NaN where the predictor gives none"),
    },
    row="One row per predictor and unit, sorted by unit",
)

COMPARISON: Final = Contract(
    "comparison",
    ("predictor",),
    {
        "predictor": text(),
        **estimated("spearman", number("rank correlation, −1 to 1", -1, 1)),
        **estimated("accuracy", share("share of pairs with the same level")),
        **estimated("macro_f1", share("mean of the F1 of each level")),
        **estimated("within_one", share("share of pairs at most one level apart")),
        **estimated("mae", number("mean absolute difference, in points of the scale", 0)),
        **estimated(
            "accuracy_over_majority",
            number(
                "the accuracy minus that of the majority class on the same units, with its paired interval "
                "(0 for the majority class itself)",
                -1,
                1,
            ),
        ),
        "n, n_missing, n_unrated*, n_clusters, n_boot, n_undefined": _COUNT,
        "confidence_level": share("as given"),
        "seed": _COUNT,
        "reason": reason("why a number is missing, as in `evaluate`"),
    },
    row="One row per predictor in the order of `predictions`, then the paper's, with Spearman .369 and "
    'accuracy .487, labelled "published, on its own data": it is not a result on these units, and nothing '
    "is computed for it",
)

RUNS: Final = Contract(
    "runs",
    ("measure",),
    {
        "measure": word("spearman, accuracy, macro_f1, within_one, mae"),
        "mean, sd": number("over the runs that have it (sd with runs − 1, NaN for one run)"),
        "n_runs": count(),
        "n_undefined": count("runs that have none"),
        "n": count("pairs of all runs"),
        "n_missing": count("predictions missing in all runs"),
    },
    row="One row per measure",
)

JUDGED: Final = Contract(
    "judged",
    ("document_id",),
    {
        "document_id": text(),
        "predicted": number(
            "1 to 5; NaN where the reply is not one number in that range. It is never guessed", 1, 5
        ),
        "n_turns": count("turns that the model was shown"),
        "reason": reason("`unparsable` (not a number alone), `outside_scale`, `no_answer`"),
        "prompt": word("version and hash of the instructions"),
    },
    row="One row per conversation, in order of appearance",
)
