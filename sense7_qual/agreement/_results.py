"""The result frames of this package: each column with its type, meaning and range."""

from __future__ import annotations

from typing import Final

from sense7_qual._basis import BASIS
from sense7_qual._contract import (
    Column,
    Contract,
    coefficient,
    count,
    estimated,
    flag,
    number,
    reason,
    settings,
    share,
    text,
)

_BY_CODE: Final = "One row per code, in the order in which the codes first appear"
_SIZES: Final = {
    "code": text(),
    "n_units, n_coders, n_clusters": count(
        "units with two or more decisions, their coders, their clusters", missing=True
    ),
}
_PREVALENCE: Final = share("share of the decisions on these units in which the code is applied")
_SETTINGS: Final = settings("those without variation, in which alpha does not exist")
_WHY: Final = (
    "why a number is missing: `no_pairable_units`; `no_variation` (every decision was the same: no alpha); "
    "`one_cluster`, `one_pattern` (all clusters are the same: no interval); `waiting_for_review` (the code's "
    "meaning changed, and it has no figure until its texts are reviewed). Or a caution about the "
    "interval, which was then not resampled: `no_disagreement` (alpha is 1; the interval shows how much "
    "disagreement could have gone unseen); `few_clusters` (the rarer answer is in fewer than ten clusters: "
    "from leaving out each cluster, see `estimate`; in fewer than three: none)"
)
AGREEMENT: Final = Contract(
    "agreement",
    ("code",),
    _SIZES
    | {
        "n_models*": count("the models among these coders: 0 without `with_models`", missing=True),
        "prevalence": _PREVALENCE,
        "percent": share("share of agreeing pairs of coders, averaged over the units"),
        **estimated("alpha", coefficient()),
        "kappa*": coefficient("Cohen's kappa where there are two coders, Conger's where there are more"),
        "ac1*": coefficient("Gwet's AC1", "high where a code is rare, also for coders who never find it"),
        "positive_agreement*, negative_agreement*": share(
            "where a coder applied the code, how often another did too; and where a coder did not, how often "
            "another did not either",
            "missing where nobody did",
        ),
        **_SETTINGS,
        "reason": reason(_WHY),
        **BASIS,
    },
    row=_BY_CODE,
)

OVERALL: Final = Contract(
    "overall",
    ("distance",),
    {
        "distance": text("as given"),
        "n_units, n_coders, n_clusters": count("units with two or more sets, their coders, their clusters"),
        "n_sets": count("distinct sets given to these units, the empty one among them"),
        "percent": share("share of pairs of coders with equal sets, averaged over the units"),
        **estimated("alpha", coefficient("set alpha")),
        **_SETTINGS,
        "reason": reason(f"{_WHY}; the rarer answers are the sets other than the most frequent one"),
        **BASIS,
    },
    row="One row",
)

CATEGORIES: Final = Contract(
    "categories",
    ("category",),
    {
        "category": Column("any"),
        "n_units": count("units with two or more values in which at least one coder gave it"),
        "prevalence": share("share of the values of units with two or more"),
        "alpha, fleiss_kappa": coefficient("of given or not given"),
        "specific_agreement": share("where a coder gave it, how often another did too"),
        "reason": reason("why there is no alpha: `no_pairable_units` or `no_variation`"),
    },
    row="One row per category, sorted",
)

_CHANGE: Final = "ends of its interval, −2 to 2"
DIFFERENCE: Final = Contract(
    "difference",
    ("code", "other"),
    {
        "code": text(),
        "other": text("the code of the second decisions: the same, unless `codes` says otherwise"),
        "n_first, n_second, n_both": count(
            "units with two or more decisions in the first, in the second, in both"
        ),
        "n_clusters": count("clusters with such a unit"),
        "n_changed": count("decisions of one coder on one unit that are in both and differ"),
        "first, second": coefficient("Krippendorff's nominal alpha"),
        "difference": number("second − first, −2 to 2", -2, 2),
        "low, high": number(_CHANGE, -2, 2),
        "p": share("two-sided p of no difference"),
        "confidence_level": share("as given"),
        "reason": reason(
            "why a number is missing: `no_pairable_units`; `no_variation` (an alpha does not exist); "
            "`one_cluster`; `one_pattern` (leaving out any cluster gives the same difference); "
            "`few_clusters` (the rarer answer is in fewer than three clusters of one of the two: no "
            "interval)"
        ),
        **BASIS,
    },
    row=_BY_CODE,
)

CONFUSION: Final = Contract(
    "confusion",
    ("code_a", "code_b"),
    {
        "code_a": text("of the pair the code that appears first"),
        "code_b": text("the other; missing where the other coder applied nothing instead", missing=True),
        "n_pairs": count("times that two coders confused them (units × pairs of coders)"),
        "n_units": count("units on which that happened"),
        "share": share(
            "n_pairs among all units × pairs of coders that differ in any code",
            "where coders put several codes on a unit one difference can belong to several rows, so shares "
            "can add up to more than 1",
        ),
        **BASIS,
    },
    row="One row per pair of codes that was confused, the most frequent first",
)

BY_UNIT: Final = Contract(
    "by_unit",
    ("code", "unit_id"),
    {
        "code, unit_id": text(),
        "n_coders": count("2 or more"),
        "n_applied": count("of these coders"),
        "disagreement": share("share of the unit's pairs of coders that differ"),
        "share": share(
            "the unit's part of the code's observed disagreement",
            "adding up to 1 over its units; missing where coders never differ on the code",
        ),
        "alpha": coefficient("Krippendorff's nominal alpha of the code over all units"),
        "alpha_without": coefficient("the same without this unit"),
        "cost": number(
            "alpha_without − alpha; above 0 the unit lowers alpha, below 0 it holds alpha up. Missing "
            "where one of the two is not defined because every decision was the same"
        ),
        **BASIS,
    },
    row="One row per code × unit, codes in the order in which they first appear, within a code the most "
    "costly unit first",
)

CROSS_CHECK: Final = Contract(
    "cross_check",
    ("code", "statistic", "package"),
    {
        "code": text(),
        "statistic": text(
            "`alpha` (Krippendorff's, nominal; package krippendorff); `percent` (exact fractions, Python); "
            "`cohen_kappa` (two coders) or `light_kappa` (more; mean over the pairs of coders), with "
            "scikit-learn and statsmodels; `fleiss_kappa` (statsmodels)"
        ),
        "n_units*": count(
            "units that the statistic is computed from. Fleiss' kappa is compared on the units that all "
            "coders have finished, because statsmodels needs the same number of values on each"
        ),
        "ours": coefficient("this package's number"),
        "theirs*": coefficient("the other package's"),
        "difference": number("``|ours − theirs|``, 0 or more", 0),
        "package": text("the other package"),
        "version": text("of the other package; missing where it is not installed", missing=True),
        "reason": reason(
            "why there is no comparison: `no_pairable_units`; `no_variation` (every decision was the same, "
            "so that chance-corrected agreement is not defined); `package_absent`; `one_side_undefined` (a "
            "number on one side only: please report it)"
        ),
        **BASIS,
    },
    row="One row per code × statistic × package, codes in the order in which they first appear",
)

DRIFT: Final = Contract(
    "drift",
    ("coder", "code"),
    {
        "coder, code": text(),
        "n_first": count("texts of the first third (of the plan, rounded down) that are decided on, from 0"),
        "share_first": share("share of them in which the code is applied"),
        "n_later": count("texts after it"),
        "share_later": share("share of these in which the code is applied"),
        "difference": number("share_later − share_first, −1 to 1", -1, 1),
        "alarm": flag("whether there has been an alarm; later texts do not withdraw it"),
        "at_unit": count(
            "the number of texts after the first third at the first alarm; missing without one", missing=True
        ),
        "false_alarms": share("as given, in every row"),
        "reason": reason(
            "`few_units` (an alarm is not possible yet: fewer than 20 texts after the first third, or too "
            "few in it), or `open_between` (some finished texts are undecided on the code after one that is "
            "decided, as after a split until they are reviewed: no alarm, because the code may be undecided "
            "exactly where it was applied)"
        ),
        **BASIS,
    },
    row="One row per coder × code, coders sorted, codes in the order in which they first appear",
)

HUMAN_MODEL: Final = Contract(
    "agreement",
    ("code", "comparison", "model"),
    {
        "code": text(),
        "comparison": text("`human–human` or `human–model`"),
        "model": text("missing for human–human", missing=True),
        "statistic": text(
            "`alpha` (Krippendorff's nominal alpha of the humans, as `by_code` gives it) or "
            "`cross_kappa` (below)"
        ),
        "n_units, n_humans, n_clusters": count(
            "units with two humans, or with the model and a human; the humans on them, and their clusters",
            missing=True,
        ),
        "prevalence_humans, prevalence_model": share(
            "share of their decisions on these units in which the code is applied"
        ),
        "percent": share(
            "share of agreeing pairs of two humans, or of the model and a human, averaged over the units"
        ),
        "estimate": coefficient("of the statistic"),
        "low, high": coefficient("ends of its interval"),
        **_SETTINGS,
        "reason": reason(_WHY),
        **BASIS,
    },
    row="For each code, in the order of first appearance, one row for the humans and one for each model",
)

MODEL_CARD: Final = Contract(
    "card",
    ("code", "model", "measure", "group"),
    {
        "code, model": text(),
        "measure": text(
            "`sensitivity`, `specificity`, `precision` (against people); `prevalence_people`, "
            "`prevalence_model`, `prevalence_difference` (model − people, on texts of both); "
            "`prevalence_all` (of the code in all texts); `worth` (the share of the variance of that "
            "which the model explains); `alpha_people`, "
            "`positive_agreement` (of people), `kappa_model` (cross-kappa of the model and people), "
            "`agreement_difference` (cross-kappa − alpha on texts with two people); `winning_rate` "
            "(alternative annotator test); `missing` (of all texts; by reason); `failed_quotes` (of the "
            "answers yes); `retest` (alpha of runs, wordings, orders), `changed` (texts on which one "
            "differs); `calibration` (texts with the code), `calibration_error`; `sensitivity_difference`, "
            "`specificity_difference`, `missing_difference` (between groups)"
        ),
        "group": text(
            "of `missing` the reason; of `retest` and `changed` run, wording or order; of "
            "`calibration` the part and its mean probability; of differences the groups, "
            "as first – second; else missing",
            missing=True,
        ),
        "value, low, high": number(
            "and ends of its interval; shares 0 to 1, coefficients at most 1, differences −2 to 2", high=2
        ),
        "n_units, n_clusters": count("texts that it rests on, and their participants"),
        "p, p_holm*": share(
            "two-sided, of no difference; adjusted for all differences of groups in the card"
        ),
        "confidence_level": share("as given"),
        "seed*": count("as given", missing=True),
        "reason": reason(
            "why a number is missing: `no_comparison` (there are no such texts), `few_clusters` (fewer than "
            "six participants to count), `few_units`, `one_pattern`; for agreement as in `by_code` "
            "(`no_pairable_units`, `no_variation`, `one_cluster`, `no_disagreement`, `code_never_applied`), "
            "for the test `few_humans`"
        ),
        **BASIS,
    },
    missing_in_key=frozenset({"group"}),
    row="One row per code, measure and group, codes in the order in which people's decisions first have them",
)

MODEL_WORDS: Final = Contract(
    "words",
    ("code", "model"),
    {
        "code, model": text(),
        "word": text("`not_measured`, `not_fit`, `may_suggest`, `next_to_people` or `one_more_coder`"),
        "n_clusters": count("participants with a text to which people applied the code"),
        "marks": text(
            "flaws that were found, missing without any: `label` (follows it, not the definition), "
            "`definition`, `rules` (examples and counter-examples), `order`, `instruction` (obeys "
            "the text), `form` (replies that cannot be used), `quotes`, `groups` (they differ), "
            "`link` (that of its codes differs from people's), `sensitivity`, `precision`",
            missing=True,
        ),
        "lacks": text(
            "what is missing or not good enough for `one_more_coder`: `winning_rate`, "
            "`agreement_difference`, `retest`",
            missing=True,
        ),
        "fewest_participants*": count("as given"),
        "people_agree*, usable*, passed*, half*, narrower*, behind*, steady*": share(
            "the limits of the words, as given"
        ),
        "failed_quotes*, groups*, differs*": share("the limits of marks, as given"),
    },
    row="One row per code of the card, in its order",
)

OVER_TIME: Final = Contract(
    "over_time",
    ("code", "place"),
    {
        "code": text(),
        "by": text("as given"),
        "slice": text(
            'the name of the slice: for order, the units\' places such as "1–25"; "none" for decisions '
            "without a round"
        ),
        "place": count("1, 2, 3 … in time (by the first finished unit)"),
        **{name: one for name, one in AGREEMENT.columns.items() if name not in ("code", "basis")},
        "change*": number(
            "alpha less that of the slice before (`difference`), −2 to 2; missing in the first", -2, 2
        ),
        "change_low*, change_high*": number(_CHANGE, -2, 2),
        "change_p*": share("two-sided p of no change"),
        **BASIS,
    },
    row=(
        "One row per code × slice, codes in the order in which they first appear and slices in time, "
        "computed from the decisions of the slice alone, the changes from those of the two"
    ),
)

STABILITY: Final = Contract(
    "stability",
    ("coder", "code"),
    {
        "coder": text(),
        **{name: one for name, one in AGREEMENT.columns.items() if name != "basis"},
        **BASIS,
    },
    row="One row per coder × code, coders sorted; the two times take the place of two coders",
)

PAIRWISE: Final = Contract(
    "pairwise",
    ("code", "coder_a", "coder_b"),
    {
        "code, coder_a, coder_b": text(),
        "n_units": count("units that both decided on"),
        "n_both, n_only_a, n_only_b, n_neither": count(
            "of these, the units to which both, one or none of them applied the code"
        ),
        "percent": share("share of these units decided alike"),
        "kappa": number("Cohen's kappa, −1 to 1", -1, 1),
        "alpha": coefficient("Krippendorff's nominal alpha"),
        "reason": reason(
            "why alpha is missing: `no_pairable_units`; `no_variation` (every decision was the same)"
        ),
        **BASIS,
    },
    row="One row per code × pair of coders, codes in the order in which they first appear, coders sorted",
)

SEQUENTIAL: Final = Contract(
    "sequential",
    ("code",),
    _SIZES
    | {
        "prevalence": _PREVALENCE,
        "coefficient": text("its name, as given"),
        "estimate": coefficient(),
        "low, high": coefficient("ends of its interval, valid at all looks together"),
        "reached": flag("whether the interval is no wider than `width`", missing=True),
        "n_more": count(
            "expected number of further units with two or more decisions needed, from 0; missing where "
            "there is no interval yet, or more than ten million are needed",
            missing=True,
        ),
        "width, confidence_level": number("as given, in every row", 0),
        "reason": reason(
            "why a number is missing: `waiting_for_review` (as in `by_code`), `no_pairable_units`, "
            "`one_coder`, `no_variation`; `few_units`, `few_clusters` (the rarer answer is found in fewer "
            "than three), `one_unit`, `one_cluster`, `one_pattern`. Or a caution about the interval: "
            "`no_disagreement` (it shows how much disagreement could have gone unseen)"
        ),
        **BASIS,
    },
    row=_BY_CODE,
)

SPAN_AGREEMENT: Final = Contract(
    "spans",
    ("code",),
    {
        "code": text(),
        "n_units, n_coders, n_clusters, n_spans, n_characters": count(
            "texts that two or more coders finished, their coders and clusters, the code's spans there, and "
            "the characters of these texts"
        ),
        "prevalence": share("share of the text that has the code, averaged over the coders"),
        **estimated("alpha_all_text", coefficient("u-alpha of the code against everything else")),
        **estimated(
            "alpha_coded_text",
            coefficient("(k)u-alpha, the code against the other codes where two coders coded something"),
        ),
        "coded_share": share("share of the code's text that alpha_coded_text uses"),
        **estimated("alpha_u_2004", coefficient("the older alpha_U")),
        "n_units_2004": count(
            "the texts that all finished (laid end to end by document_id, position and unit_id)"
        ),
        **estimated("overlap_f1", share("mean over the pairs of coders, not corrected for chance")),
        **settings("the most of them in which one of the four numbers does not exist"),
        "reason, reason_coded_text, reason_2004, reason_f1": reason(
            "why a number is missing. The statistic: `no_pairable_units`; `no_variation`; of "
            "alpha_coded_text also `not_coded_by_two`, `one_code` (there is no other code) and "
            "`too_few_spans` (no other span that it could meet by chance). Its interval: `one_cluster`; "
            "`few_clusters` (fewer than six clusters have the code; or, on all text, text without it; or, "
            "on coded text, other codes); `no_disagreement` (resampling cannot tell how far below 1 the "
            "number might be); `one_pattern` (resamples do not differ: all clusters are alike)"
        ),
    },
    row="One row per code",
)

MODELS: Final = Contract(
    "models",
    ("code", "model"),
    {
        "code": text("missing where whole sets of codes, or ratings, were compared", missing=True),
        "model": text(),
        "n_humans": count("humans that were tested"),
        "n_units": count("units that these tests used"),
        "winning_rate": share("ω, the share of these humans whom the model beat"),
        "advantage_probability": share("ρ, the mean of their `advantage_model`"),
        "passed": flag("winning_rate ≥ .5; missing without a test", missing=True),
        "reason": reason(
            "a caution about the row: `no_pairable_units` (no unit was finished by the model and two "
            "humans), `few_units`, `few_clusters` (humans with too few units, or participants, were left "
            "out, or all of them), `few_humans` (fewer than three were tested)"
        ),
    },
    row="One row per code × model",
)

HUMANS: Final = Contract(
    "humans",
    ("code", "model", "human"),
    {
        "code": MODELS.columns["code"],
        "model, human": text(),
        "n_units": count(),
        "n_clusters*": count(
            "their participants; missing where texts are taken as independent", missing=True
        ),
        "advantage_model": share(
            "share of the units on which the model is at least as close to the other humans as this human"
        ),
        "advantage_human": share("the reverse"),
        "difference": number("human − model, −1 to 1", -1, 1),
        "t, p": number("one-sided; missing where the human was left out"),
        "p_adjusted": share("Benjamini–Yekutieli over the humans of this code and model"),
        "won": flag("p_adjusted ≤ fdr", missing=True),
        "reason": reason(
            "`no_pairable_units`, `few_units`, `few_clusters` (left out), `no_variation` (the difference "
            "was the same on every unit, so that p is 0 or 1)"
        ),
    },
    row="One row per code × model × human",
)

GOLD: Final = Contract(
    "by_code",
    ("code",),
    {
        "code": text(),
        "n_units, n_gold": count("units, and those to which gold applies the code"),
        "hits, misses, false_alarms": count("units"),
        "kappa": coefficient("NaN where neither ever applied it, or both always did"),
    },
    row="One row per code of the gold decisions",
)
