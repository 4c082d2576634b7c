"""The word that a model's card allows: from "not measured" to "one more coder"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pandas as pd

from sense7_qual._arguments import check_arguments, check_least, require_column
from sense7_qual.agreement._results import MODEL_CARD, MODEL_WORDS
from sense7_qual.errors import ArgumentError

_TESTS: Final = {
    "swap": "label",
    "definition": "definition",
    "examples": "rules",
    "order": "order",
    "instruction": "instruction",
}
_UNFIT: Final = frozenset({"form", "label", "definition", "sensitivity", "precision"})
_USABLE: Final = ("unsure", "blank_text")


@MODEL_WORDS.returns
def model_words(
    card: pd.DataFrame,
    *,
    behaviour: pd.DataFrame | None = None,
    linked: pd.DataFrame | None = None,
    fewest_participants: int = 10,
    people_agree: float = 0.6,
    usable: float = 0.9,
    passed: float = 0.8,
    half: float = 0.5,
    narrower: float = 0.9,
    behind: float = 0.1,
    steady: float = 0.8,
    failed_quotes: float = 0.05,
    groups: float = 0.01,
    differs: float = 0.01,
) -> pd.DataFrame:
    """Return for each code of a card the highest word that the evidence allows.

    - `not_measured`: people applied the code in too few participants' texts, or their agreement on its
      presence is low or unknown, so that they are no standard.
    - `not_fit`: too few replies can be used, the model follows the label and not the definition, or the upper
      end of its sensitivity or precision is below `half`.
    - `may_suggest`: otherwise. People decide.
    - `next_to_people`: it shows no flaw, and with its codes the link is estimated clearly more precisely than
      by people alone (`links.models.with_model`).
    - `one_more_coder`: it shows no flaw, passes the alternative annotator test, agrees with people almost as
      they do with each other, and answers alike when asked again. Next to people, never instead of them.

    A flaw is a mark. One that is no reason for `not_fit` caps the word at `may_suggest`: corrected links are
    right all the same, but whoever reads the word alone would trust codes that differ between groups of
    texts, or with the rating.

    Parameters
    ----------
    card : DataFrame
        The result of `model_card` for one model.
    behaviour : DataFrame, optional
        The result of ``coders.behaviour``: code, test, share.
    linked : DataFrame, optional
        The result of `links.models.with_model`: code, source, width_ratio, differs_p_holm.
    fewest_participants : int
        The least number of participants with a text to which people applied the code.
    people_agree : float
        Least positive agreement of people, 0–1.
    usable : float
        Least share of usable replies, 0–1.
    passed : float
        Least share of the prompts of a test of behaviour that must pass, 0–1.
    half : float
        What the upper ends of sensitivity and precision must reach, 0–1.
    narrower : float
        The largest width of the interval of the link against that of people alone, for `next_to_people`.
    behind : float
        By how much the lower end of the difference of kappa and alpha may be below 0, 0–1.
    steady : float
        What the lower end of the alpha of runs must reach, 0–1.
    failed_quotes : float
        The largest share of quotes that are not in the text, 0–1.
    groups : float
        The adjusted p of a difference of groups below which it is a mark, 0–1.
    differs : float
        The adjusted p below which it is a mark that the link of the model's codes differs from that of
        people's on the same texts, 0–1.

    Raises
    ------
    TableError
        A column is missing.
    ArgumentError
        A limit is not between 0 and 1, or `fewest_participants` is negative.

    Notes
    -----
    In simulated cards a model with one planted flaw had the mark of this flaw and no other in 95 % or more,
    and one without a flaw none (benchmarks/model_card_coverage.md), if 20 prompts tested each behaviour.
    40 participants were enough for all but groups: to see that a model finds .9 of the texts with a code in
    one language and .5 in another takes 120 (of 12 texts, the code on a fifth); 40 show it in half of the
    studies.

    References
    ----------
    Calderon, Reichart & Dror (2025), The alternative annotator test, ACL 2025. Halterman & Keith (2025),
    Codebook LLMs, Political Analysis: tests of behaviour.

    Examples
    --------
    >>> card = MODEL_CARD.example(
    ...     code="interest", model="model-a", measure=["sensitivity", "precision", "positive_agreement"],
    ...     value=[0.8, 0.7, 0.75], high=[0.9, 0.8, None], n_clusters=[24, 30, 40])
    >>> model_words(card)[["word", "lacks"]].values.tolist()
    [['may_suggest', 'winning_rate, agreement_difference, retest']]
    """
    check_arguments(model_words, locals())
    check_least(model_words, 0, fewest_participants=fewest_participants)
    MODEL_CARD.require(card)
    shares = _by_code(behaviour, "test", "share", "behaviour")
    widths = _by_code(linked, "source", "width_ratio", "linked")
    apart = _by_code(linked, "source", "differs_p_holm", "linked")
    limits = {
        "usable": usable,
        "passed": passed,
        "half": half,
        "failed_quotes": failed_quotes,
        "groups": groups,
        "differs": differs,
    }
    others = {"people_agree": people_agree, "narrower": narrower, "behind": behind, "steady": steady}
    _refuse_beyond(limits | others)
    rows = []
    for (code, model), own in card.groupby(["code", "model"], sort=False):
        marks = _marks(own, shares.get(str(code), {}), limits)
        marks += ["link"] if apart.get(str(code), {}).get("model", 1.0) < differs else []
        lacks = _lacks(own, behind, steady)
        n = int(_row(own, "sensitivity")["n_clusters"])
        word = "not_measured"
        if n >= fewest_participants and _row(own, "positive_agreement")["value"] >= people_agree:
            width = widths.get(str(code), {}).get("model + human", float("inf"))
            word = _word(marks, lacks, is_narrower=width <= narrower)
        rows.append(
            {
                "code": code,
                "model": model,
                "word": word,
                "n_clusters": n,
                "marks": ", ".join(marks) or None,
                "lacks": ", ".join(lacks) or None,
                "fewest_participants": fewest_participants,
            }
            | others
            | limits
        )
    return MODEL_WORDS.frame(rows)


def _refuse_beyond(limits: Mapping[str, float]) -> None:
    for name, value in limits.items():
        if not 0 <= value <= 1:
            raise ArgumentError(
                f"model_words: expected {name} between 0 and 1 – found {value:g} – leave it out for the "
                "usual limit."
            )


def _word(marks: list[str], lacks: list[str], *, is_narrower: bool) -> str:
    """Return the word of a code on which people are a standard; any mark caps it."""
    if _UNFIT & set(marks):
        return "not_fit"
    if marks:
        return "may_suggest"
    if not lacks:
        return "one_more_coder"
    return "next_to_people" if is_narrower else "may_suggest"


def _by_code(frame: pd.DataFrame | None, kind: str, value: str, name: str) -> dict[str, dict[str, float]]:
    """Return the values of each code by kind, without those that are missing."""
    if frame is None:
        return {}
    for column in ("code", kind, value):
        require_column(frame, column, frame_name=name)
    there = frame.dropna(subset=value)
    return {str(code): dict(zip(own[kind], own[value], strict=True)) for code, own in there.groupby("code")}


def _row(own: pd.DataFrame, measure: str, group: str | None = None) -> dict[str, Any]:
    """Return a row of a card; NaN and 0 where there is none."""
    there = own["measure"].eq(measure) & (own["group"].isna() if group is None else own["group"].eq(group))
    if not there.any():
        return {"value": float("nan"), "low": float("nan"), "high": float("nan"), "n_clusters": 0}
    return {str(key): value for key, value in own[there].iloc[0].items()}


def _marks(own: pd.DataFrame, shares: Mapping[str, float], limits: Mapping[str, float]) -> list[str]:
    """Return the flaws that the card and the tests of behaviour show."""
    marks = [mark for test, mark in _TESTS.items() if shares.get(test, 1.0) < limits["passed"]]
    missing = own[own["measure"].eq("missing") & own["group"].notna() & ~own["group"].isin(list(_USABLE))]
    if shares.get("form", 1.0) < limits["usable"] or missing["value"].sum() > 1 - limits["usable"]:
        marks.append("form")
    marks += [name for name in ("sensitivity", "precision") if _row(own, name)["high"] < limits["half"]]
    marks += ["quotes"] if _row(own, "failed_quotes")["value"] > limits["failed_quotes"] else []
    return marks + (["groups"] if (own["p_holm"] < limits["groups"]).any() else [])


def _lacks(own: pd.DataFrame, behind: float, steady: float) -> list[str]:
    """Return the criteria of one more coder that are not met, or not measured."""
    met = {
        "winning_rate": _row(own, "winning_rate")["value"] >= 0.5,
        "agreement_difference": _row(own, "agreement_difference")["low"] > -behind,
        "retest": _row(own, "retest", "run")["low"] >= steady,
    }
    return [name for name, holds in met.items() if not holds]
