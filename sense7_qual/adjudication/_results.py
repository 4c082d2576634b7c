"""What the frames of this package hold: each column with its type, what it is, and its range."""

from __future__ import annotations

from typing import Final

from sense7_qual._basis import BASIS
from sense7_qual._contract import Contract, count, estimated, flag, number, reason, share, text

_NO_MODEL: Final = (
    "`code_never_applied`, `code_always_applied`, or `not_identified` (fewer than three coders with shared "
    "units for each two: error rates of two coders cannot be separated from how often the code applies)"
)

DISAGREEMENTS: Final = Contract(
    "disagreements",
    ("unit_id", "code"),
    {
        "unit_id, code": text(),
        "n_coders, n_applied": count("coders who decided, and those of them who applied the code"),
        "applied_by, not_applied_by": text('their pseudonyms, sorted, joined by ", "'),
        "disagreement": share("share of pairs of coders that disagree"),
        **BASIS,
    },
    row=(
        "One row per disputed unit × code, by disagreement, then by the number of codes disputed on the "
        "unit, both falling, then by unit_id and code"
    ),
)

QUEUE: Final = Contract(
    "disagreements",
    ("unit_id", "code"),
    {
        "group*": text('unless `by` is "split": the code, "ana – ben", or the participant', missing=True),
        **{
            name + "*" * (name not in ("unit_id", "code")): one
            for name, one in DISAGREEMENTS.columns.items()
            if name != "basis"
        },
        "settled": text(
            "`applied`, `absent`, or `differing` (different readings were ruled legitimate); missing: open",
            missing=True,
        ),
        "reason": text("one of those that `acts.rule` takes, or missing", missing=True),
        "ruled_by*, ruled_at*": text("missing: open", missing=True),
        **BASIS,
    },
    row=DISAGREEMENTS.row,
)

REMAINING: Final = Contract(
    "remaining",
    ("code",),
    {
        "code": text(),
        "n_units": count("units on which two or more coders decided"),
        "n_disputed": count("units on which they disagree"),
        "n_applied, n_absent": count("disputed units that were settled so"),
        "n_differing": count(
            "units on which different readings were ruled legitimate; consensus has no row for them"
        ),
        "n_open": count("disputed and not ruled on"),
        "share_open": share(
            "n_open / n_units: the share of units for which consensus, and every link from it, lacks "
            "the code",
            "missing where n_units is 0",
        ),
        **BASIS,
    },
    row="One row per code, the one with most open first",
)

OVERRULED: Final = Contract(
    "overruled",
    ("coder", "unit_id", "code"),
    {
        "coder, unit_id*, code*": text(),
        "applied": flag("as the coder decided"),
        "ruled": flag("the ruling; missing if different readings were ruled legitimate", missing=True),
        "overruled": flag("whether the two differ; False if both readings are legitimate"),
        "reason": text("one of those that `acts.rule` takes, or missing", missing=True),
        "note*": text("the adjudicator's words, which may quote a participant", missing=True),
        "ruled_by*, ruled_at*": text(),
        **BASIS,
    },
    row="One row per decision of a coder on a unit × code that was ruled on, by coder, then what was "
    "overruled first, then by code and unit",
)

POSTERIOR: Final = Contract(
    "posterior",
    ("unit_id", "code"),
    {
        "unit_id, code": text(),
        "probability": share("that the code truly applies"),
        "n_coders": count("coders who decided"),
        "prevalence_by": text("the name of the column, as given", missing=True),
    },
    row="One row per unit and code that a coder decided on",
)

DRAWS: Final = Contract(
    "draws",
    ("unit_id", "code", "draw"),
    {
        "unit_id, code": text(),
        "draw": count("0 … n_draws − 1, each with newly drawn parameters"),
        **{name: POSTERIOR.columns[name] for name in ("probability", "n_coders", "prevalence_by")},
    },
    row="One row per unit, code and draw",
)

_RESAMPLED: Final = "missing without an interval, which takes 100 draws and six participants"
ERROR_RATES: Final = Contract(
    "coders",
    ("code", "coder"),
    {
        "code, coder": text(),
        "n_units": count(),
        **estimated("sensitivity", share()),
        **estimated("specificity", share(_RESAMPLED)),
    },
    row="One row per code and coder",
)

PREVALENCE: Final = Contract(
    "prevalence",
    ("code", "level"),
    {
        "code": text(),
        "level": text("of the column, if one is given", missing=True),
        "n_units": count(),
        **estimated("prevalence", share(f"the estimated share that truly has the code; {_RESAMPLED}")),
    },
    row="One row per code and level",
)

RESIDUALS: Final = Contract(
    "residuals",
    ("code", "coder_a", "coder_b"),
    {
        "code, coder_a, coder_b": text(),
        "n_units": count("units that both decided on"),
        "observed": share("share of them on which both decided alike"),
        "expected": share("the same under the model, where coders err independently"),
        "difference": number("observed − expected, −1 to 1; above 0 the two share errors", -1, 1),
        "low, high": number(
            f"ends of its interval, adjusted for the pairs of the code (Bonferroni): where coders err "
            f"independently, it is above 0 for some pair in 2.5 % of studies or fewer; {_RESAMPLED}",
            -1,
            1,
        ),
        "reason": reason(
            f"why numbers are: {_NO_MODEL}; `saturated` (three coders without levels: the model meets their "
            "agreement exactly, whatever they share)"
        ),
    },
    row="One row per code and pair of coders with a unit in common",
)

FITS: Final = Contract(
    "fits",
    ("code",),
    {
        "code": text(),
        "n_units, n_coders": count(),
        "n_iterations": count(missing=True),
        "converged": flag(missing=True),
        "log_likelihood": number(),
        "confidence_level": share("as given"),
        "n_draws": count("as given"),
        "reason": reason(f"why numbers are: {_NO_MODEL}"),
    },
    row="One row per code",
)

_WHY: Final = reason(
    "why a number is: `few_repeats`, `two_coders` (no interval of the shares of slips and of ambiguous "
    "texts), `no_disagreement`, `few_clusters` (fewer than six with the code, or without it), "
    "`no_pairable_units`, or of "
    f"`dawid_skene`: {_NO_MODEL}"
)

SHARES: Final = Contract(
    "shares",
    ("code", "kind"),
    {
        "code": text("missing: all disagreements", missing=True),
        "kind": text(
            "`slip`, `ambiguous_text`, `stance`; `unclear_rule`, `missing_code`, `different_reading` as "
            "people gave them; `not_told`"
        ),
        "n_disputed": count("disagreements"),
        "n_told": count("those with a probability or a reason given"),
        "n_given": count("of this kind, as a ruling says"),
        "n_named": count("of this kind, as `disagreements` names them"),
        "share": share("of those told: the sum of probabilities, so no disagreement has to be named"),
        "low, high": number("ends of its interval; missing if only people told", 0, 1),
        "low_error, high_error": number(
            "simulation errors of these ends: with another seed an end differs by about as much; missing for "
            "fewer than eight draws",
            0,
        ),
        "n_draws": count("draws made", missing=True),
        "reason": _WHY,
    },
    row="One row per kind, of all disagreements and then of each code's",
)

KINDS: Final = Contract(
    "disagreements",
    ("unit_id", "code"),
    {
        **{name: one for name, one in DISAGREEMENTS.columns.items() if name not in ("disagreement", "basis")},
        "n_again": count("decisions made again there"),
        "slip, ambiguous_text, stance": share(
            "probabilities that sum to 1",
            "missing if they cannot be told, or if a person named another reason",
        ),
        "kind": text("the most probable, or as people gave it", missing=True),
        "source": text(
            "`ruling`; `repeats` if this very disagreement was decided on again; `model` if others were; "
            "missing: no evidence",
            missing=True,
        ),
        "reason": _WHY,
    },
    row="One row per disputed unit × code",
)

SLIPS: Final = Contract(
    "slips",
    ("coder",),
    {
        "coder": text(),
        "n_again": count("decisions made again"),
        **estimated("added", share("share of units read as absent that are applied by a slip")),
        **estimated("missed", share("share of units read as present that are left out")),
        "reason": _WHY,
    },
    row="One row per coder",
)

CODERS: Final = Contract(
    "coders",
    ("coder", "code"),
    {
        "coder, code": text(),
        "n_units": count("on which most of the others agree"),
        "prevalence, others": share("share of them to which the coder, and the others, apply the code"),
        **estimated("difference", number("prevalence − others, −1 to 1", -1, 1)),
        "leans": text(
            "`more` or `less` if the difference is significant, for all rows jointly", missing=True
        ),
        "n_present": count("units to which the others apply it"),
        **estimated("sensitivity", share("of these")),
        "n_absent": count("units to which they do not"),
        **estimated("specificity", share("of these")),
        "n_ruled, n_overruled": count("decisions that were ruled on, and those overruled"),
        "reason": _WHY,
    },
    row="One row per coder and code, against most of the others where these are not tied",
)

SOFT_LABELS: Final = Contract(
    "soft_labels",
    ("unit_id", "code"),
    {
        "unit_id, code": text(),
        "n_coders, n_applied": count(),
        "share": share("n_applied / n_coders"),
        "probability": share(),
        "source": text(
            "of the probability: `readings` (the expected share of these coders who read the code in the "
            "text, without slips) or, if no kind can be told, `error_rates` (that the code applies, "
            "`dawid_skene`: too sure of ambiguous texts, in simulations better than the share by log loss, "
            "worse by the Brier score)",
            missing=True,
        ),
        "reason": _WHY,
    },
    row="One row per unit × code that a coder decided on",
)
