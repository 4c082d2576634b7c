"""The result frames of this package: each column with its type, meaning and range."""

from __future__ import annotations

from typing import Final

from sense7_qual._contract import Contract, count, flag, number, reason, share, text

STALE: Final = Contract(
    "stale",
    ("unit_id", "coder", "code"),
    {
        "unit_id, coder, code": text(),
        "reason": text(
            '"add": the code, or one merged into it, did not exist; "redefine": it meant something '
            'else; "narrow": it applied to more, and was applied; "widen": it applied to less, and was '
            'absent; "split": it is a part of a code that was applied'
        ),
    },
    row=(
        "One row per unit × coder × code of `codebook`. A coder decides by finishing the unit again under "
        "the current version; where a split code is still applied, after applying one of its parts or "
        "removing it"
    ),
)

NEW_INFORMATION: Final = Contract(
    "new_information",
    ("place",),
    {
        "place": count("participants before the run, from base_size on"),
        "run_length": count("as given"),
        "n_base": count("codes of the first base_size participants"),
        "n_new": count("codes of the run that no participant before it had"),
        "ratio": number("n_new / n_base, from 0; missing where the first participants have no code", 0),
        "ratio_low, ratio_high": number(
            "95 % of the ratios at this place over the random orders lie between them", 0
        ),
        "reached": flag("whether a ratio at this place, or at one before, is at most the threshold"),
        "share_reached": share("the share of the random orders in which it is"),
        "threshold": share("as given"),
        "n_orders, seed": count("as given"),
        "reason": reason("`code_never_applied` (the first participants have no code: no ratio)"),
    },
    row="One row for each run, in order; none where there are fewer participants than base_size and "
    "run_length together",
)

DEVELOPMENT: Final = Contract(
    "development",
    ("place",),
    {
        "place": count("1, 2, 3 …"),
        "cluster": text("the participant"),
        "n_units": count("their finished units, 1 or more"),
        "n_codes": count("codes applied to a unit of this participant or of one before, by any coder"),
        "n_new": count("those of them that no participant before had"),
        "new_codes": text('their ids, sorted, with ", " between them; empty where there are none'),
    },
    row="One row per participant",
)

SATURATION: Final = Contract(
    "saturation",
    ("n_more",),
    {
        "n_more": count("further participants, as given"),
        "new_codes": number("expected number of codes in them that nobody had so far, from 0", 0),
        "low, high": number(
            "interval of this expectation, over all samples of as many participants; `low` is 0 where no "
            "code was found in one participant alone",
            0,
        ),
        "n_clusters, n_codes": count(
            "participants coded so far, and codes of `emerged` that any of them had"
        ),
        "n_once, n_twice": count("those of them that one, and that two participants had"),
        "total": number("number of codes among all participants like these, estimated from below (Chao2)", 0),
        "total_at_least": count(
            "the total is at least this number, at the confidence level: the lower end of the interval, "
            "rounded down; missing where no code was found in one participant alone, because then there is "
            "no evidence of how many are left. There is no upper end: codes that are rare enough leave no "
            "trace",
            missing=True,
        ),
        "confidence_level": share("as given"),
        "reason": reason(
            "`few_clusters` (fewer than two participants: no numbers), `code_never_applied` (no code of "
            "`emerged` was applied), `none_found_once` (no `total_at_least`)"
        ),
    },
    row="One row for each of `more`",
)
