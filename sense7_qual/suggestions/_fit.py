"""Learn from decisions what to suggest: one classifier a code, or the codebook's own words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments, check_least
from sense7_qual._group_labels import check_groups
from sense7_qual._reasons import Reason
from sense7_qual._rests_on import rests_on
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import TableError
from sense7_qual.frames import UNITS, is_model, require_column
from sense7_qual.suggestions._features import (
    Embed,
    Features,
    definition_texts,
    fit_features,
    human_quotes,
    labels,
    sentences,
    vectors,
)
from sense7_qual.suggestions._learn import Scorer, calibrate, folds, learn, out_of_fold, threshold
from sense7_qual.suggestions._suggest import ByDefinition, ByModel, Described
from sense7_qual.suggestions._suggester import Suggester

Floats = npt.NDArray[np.float64]

#: Fewer decided units than this teach nothing that the codebook's own words do not say better.
_LEAST: Final = 10
#: A definition suggests the texts that are nearer to it than others by so many standard deviations.
_NEAR: Final = 1.0
_LARGEST_SAMPLE: Final = 500  # of the study's texts, on which it is seen how high scores are
_LEAST_SPANS: Final = 5  # coded sentences, and others, for a classifier of sentences


@dataclass(frozen=True, slots=True)
class _Seen:
    """Texts as models see them: vectors, rows of features, and where sentences count, each text's of them."""

    meaning: Floats
    rows: Any
    spans: list[list[tuple[int, int]]]
    parts: list[Floats]


@dataclass(frozen=True, slots=True)
class _Decided:
    """The decided units, their participants, and a sample of all units to measure scores against."""

    units: pd.DataFrame
    groups: npt.NDArray[Any]
    own: _Seen
    usual: _Seen


@rests_on("decisions")
def fit(
    units: pd.DataFrame,
    decisions: pd.DataFrame,
    codebook: Codebook,
    *,
    embed: Embed,
    codings: pd.DataFrame | None = None,
    coder: str | None = None,
    cluster: str = "case_id",
    seed: int = 0,
) -> Suggester:
    """Learn from people's decisions which codes to suggest for which texts.

    Each code has a logistic regression on the text's vector, its words and pairs of words (TF-IDF) and its
    surface (length, punctuation, questions, persons, numbers, negation …), and, if spans were coded, one on
    sentences. Probabilities are calibrated, and the threshold for suggesting a code is chosen, on texts of
    participants that the model had not seen. A code on at most half of the decided units is suggested on at
    most half of the units, and on at most twice the share that have it; a code that the model predicts no
    better than chance is not suggested. Until 10 units are decided, or while fewer than two participants
    have, or lack, the code, it is suggested for the texts nearest to its definition, rules and examples. A
    suggestion is never a coding.

    Parameters
    ----------
    units
        The `units` frame of coded and uncoded units: words are learned from all.
    decisions
        The `decisions` frame; units without decisions are not coded, which does not mean absent. Models are
        left out, with a warning, unless one is named as `coder`.
    codebook
        Its codable codes are suggested.
    embed
        A function from a list of texts to an array (n, d), such as `models.embedder()`.
    codings
        The `codings` frame, with the coded words. Without it a human quote is a whole unit.
    coder
        Learn only from this coder. None: from the consensus where it exists, elsewhere from the majority;
        ties are left out.
    cluster
        The column of `units` with participants. A unit without one counts as its own.
    seed
        Seed of the folds, 0 or more.

    Returns
    -------
    Suggester

    Raises
    ------
    TableError
        A frame does not meet its contract, a decision is on a unit that is not in `units`, no unit has a
        text, a span is outside its text, or `embed` does not return one finite vector per text.
    CodebookError
        A decision is on a code that the codebook lacks or that cannot be applied.

    References
    ----------
    Platt (1999), Probabilistic outputs for support vector machines; Lipton, Elkan & Naryanaswamy (2014),
    Optimal thresholding of classifiers to maximize F1, ECML PKDD.

    Examples
    --------
    >>> said = ["It told me what to do", "It asked me why"]
    >>> texts = [f"{said[i % 2]} {'once twice often'.split()[i % 3]}" for i in range(40)]
    >>> units = pd.DataFrame({"unit_id": [f"u{i:02}" for i in range(40)], "text": texts, "document_id": "d",
    ...                       "case_id": [f"p{i % 8 // 2}" for i in range(40)], "position": range(40)})
    >>> decisions = pd.DataFrame({"unit_id": units["unit_id"], "coder": "ana", "code": "interest",
    ...                           "applied": [i % 2 == 1 for i in range(40)]}).head(30)
    >>> from sense7_qual.codebook import Code
    >>> book = Codebook(name="one", codes=(Code(id="interest", label="Interest"),))
    >>> suggester = fit(units, decisions, book, embed=lambda texts: np.array([[len(t), 1] for t in texts]))
    >>> suggester
    Suggester(1 codes: 1 by model)
    >>> found = suggester(units.tail(3))
    >>> found[["unit_id", "code", "suggested", "start", "end"]]
      unit_id      code  suggested  start   end
    0     u37  interest       True      0    21
    1     u38  interest      False   <NA>  <NA>
    2     u39  interest       True      0    20
    >>> suggester.nearest(found, units, k=1)[["unit_id", "code", "quote_unit_id", "start", "end"]]
      unit_id      code quote_unit_id  start  end
    0     u37  interest           u01      0   21
    1     u39  interest           u03      0   20
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    check_arguments(fit, locals())
    check_least(fit, 0, seed=seed)
    filled, labelled = _checked(units, decisions, codebook, cluster, coder)
    quotes = human_quotes(codings, filled, labelled, coder)
    features = fit_features(filled["text"].tolist())
    by_sentence = not quotes["whole"].all()
    decided = _decided(
        filled, labelled, cluster, lambda texts: _seen(texts, features, embed, by_sentence), seed
    )
    # threadpoolctl comes with scikit-learn. Threads wait for each other in products this small: on two busy
    # processors 300 texts took 90 seconds with them and 5 without.
    with threadpool_limits(1):
        made = {code.id: _of_code(code, labelled, decided, quotes, embed, seed) for code in codebook.codable}
    return Suggester(
        codes=pd.DataFrame([{"code": code, **row} for code, (row, _) in made.items()]),
        parameters={
            "seed": seed,
            "coder": coder,
            "cluster": cluster,
            "n_units": len(decided.units),
            "n_clusters": len(set(decided.groups)),
            "coders": _taught_by(decisions) if coder is None else (coder,),
        },
        quotes=quotes.drop(columns="whole"),
        embed=embed,
        features=features,
        by_code={code: model for code, (_, model) in made.items() if model is not None},
        quote_vectors=vectors(_quoted(quotes, filled), embed),
        learned_units=frozenset(decided.units["unit_id"]),
        learned_groups=frozenset(decided.groups),
    )


def _taught_by(decisions: pd.DataFrame) -> tuple[str, ...]:
    return tuple(sorted(name for name in set(decisions["coder"].dropna()) if not is_model(str(name))))


def _checked(
    units: pd.DataFrame, decisions: pd.DataFrame, codebook: Codebook, cluster: str, coder: str | None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the units that have text, and what was decided on them."""
    require_column(units, cluster, frame_name="units")
    checked = UNITS.check(units)
    texts = checked["text"].fillna("")
    filled = checked.assign(text=texts)[texts.str.strip() != ""]
    if filled.empty:
        raise TableError("fit: expected units with text – found none – pass the units that are coded.")
    labelled = labels(decisions, codebook, coder, function="fit")
    unknown = labelled.loc[~labelled["unit_id"].isin(checked["unit_id"]), "unit_id"].unique()
    if len(unknown):
        raise TableError(
            f"fit: expected decisions on units of the frame – found {len(unknown)} units that are not in it "
            "– pass all units that were coded."
        )
    return filled, labelled[labelled["unit_id"].isin(filled["unit_id"])]


def _sample(units: pd.DataFrame, seed: int) -> list[str]:
    ordered = units.sort_values("unit_id")["text"].tolist()
    drawn = np.random.default_rng(seed).permutation(len(ordered))[:_LARGEST_SAMPLE]
    return [ordered[row] for row in drawn]


def _quoted(quotes: pd.DataFrame, units: pd.DataFrame) -> list[str]:
    texts = units.set_index("unit_id")["text"]
    spans = zip(quotes["unit_id"], quotes["start"], quotes["end"], strict=True)
    return [texts[unit_id][start:end] for unit_id, start, end in spans]


def _decided(
    units: pd.DataFrame, labelled: pd.DataFrame, cluster: str, see: Callable[[list[str]], _Seen], seed: int
) -> _Decided:
    own = units[units["unit_id"].isin(labelled["unit_id"])].sort_values("unit_id", ignore_index=True)
    ids = own["unit_id"].astype(object)
    check_groups(own[cluster], name=f"units: column {cluster!r}")
    groups = own[cluster].astype("string").str.strip().fillna("\0" + own["unit_id"]).astype(str).to_numpy()
    return _Decided(own.assign(unit_id=ids), groups, see(own["text"].tolist()), see(_sample(units, seed)))


def _seen(texts: list[str], features: Features, embed: Embed, by_sentence: bool) -> _Seen:
    meaning = vectors(texts, embed)
    rows = features.rows(texts, meaning) if texts else None
    spans = [sentences(text) for text in texts] if by_sentence else []
    cut = [text[slice(*one)] for text, those in zip(texts, spans, strict=False) for one in those]
    parts = np.split(vectors(cut, embed), np.cumsum([len(those) for those in spans])[:-1]) if cut else []
    return _Seen(meaning, rows, spans, parts)


def _of_code(
    code: Code, labelled: pd.DataFrame, decided: _Decided, quotes: pd.DataFrame, embed: Embed, seed: int
) -> tuple[dict[str, Any], ByModel | ByDefinition | None]:
    own = labelled[labelled["code"] == code.id].set_index("unit_id")["applied"]
    at = np.flatnonzero(decided.units["unit_id"].isin(own.index))
    applied = own.reindex(decided.units["unit_id"].iloc[at]).to_numpy(dtype=bool)
    row: dict[str, Any] = {
        "source": None,
        "n_present": int(applied.sum()),
        "n_absent": int((~applied).sum()),
        "threshold": np.nan,
        "f1": np.nan,
        "reason": None,
    }
    if len(applied) >= _LEAST and not 0 < applied.sum() < len(applied):
        never = Reason.CODE_NEVER_APPLIED if not applied.any() else Reason.CODE_ALWAYS_APPLIED
        return row | {"reason": never}, None
    described = _described(code, decided.usual.meaning, embed)
    split = folds(applied, decided.groups[at], seed) if len(applied) >= _LEAST else []
    if split:
        spanned = quotes[(quotes["code"] == code.id) & ~quotes["whole"]]
        model, f1 = _learned(decided, described, at, applied, spanned, split)
        if model.calibration.slope == 0:
            return row | {"reason": Reason.NO_BETTER_THAN_CHANCE}, None
        return row | {"source": "model", "threshold": model.threshold, "f1": f1}, model
    few = Reason.FEW_CLUSTERS if len(applied) >= _LEAST else Reason.FEW_DECIDED
    row["reason"] = few if len(applied) else Reason.NOT_DECIDED
    by = ByDefinition(described, described.mean + _NEAR * described.deviation)
    return row | {"source": "definition", "threshold": by.threshold}, by


def _described(code: Code, usual: Floats, embed: Embed) -> Described:
    of_code = vectors(definition_texts(code), embed)
    near = (usual @ of_code.T).max(axis=1)
    defined = bool(code.definition.strip() or code.use_when or code.examples)
    return Described(of_code, float(near.mean()), float(near.std()) or 1.0, defined)


def _learned(
    decided: _Decided,
    described: Described,
    at: Any,
    applied: Any,
    spanned: pd.DataFrame,
    split: list[tuple[Any, Any]],
) -> tuple[ByModel, float]:
    own, usual = decided.own, decided.usual
    rows, of_usual = (
        described.beside(own.rows[at], own.meaning[at]),
        described.beside(usual.rows, usual.meaning),
    )
    score = out_of_fold(rows, lambda some: learn(rows[some], applied[some], of_usual), split)
    texts = learn(rows, applied, of_usual)
    of_sentences = None
    coded = _coded_sentences(decided, at, spanned) if len(spanned) else []
    if coded and _enough(coded):
        parts = [own.parts[i] for i in at]
        score = (score + out_of_fold(parts, lambda some: _of_sentences(parts, coded, some, usual), split)) / 2
        of_sentences = _of_sentences(parts, coded, np.arange(len(parts)), usual)
    known = ~np.isnan(score)
    calibration = calibrate(score[known], applied[known])
    probability = calibration.probability(score[known])
    model = ByModel(described, texts, of_sentences, calibration, np.nan, {})
    everywhere = model.probability(usual.rows, usual.meaning, usual.parts)
    cut, f1 = threshold(probability, applied[known], everywhere)
    ids = decided.units["unit_id"].iloc[at[known]]
    learned: Mapping[str, float] = dict(zip(ids, probability.tolist(), strict=True))
    return replace(model, threshold=cut, learned=learned), f1


def _of_sentences(parts: list[Floats], coded: list[Any], at: Any, usual: _Seen) -> Scorer | None:
    """Learn which sentences were coded, from some units' sentences; None where all or none of them were."""
    marked = np.concatenate([coded[i] for i in at])
    if not 0 < marked.sum() < len(marked):
        return None
    return learn(np.concatenate([parts[i] for i in at]), marked, usual.parts)


def _coded_sentences(decided: _Decided, at: Any, spanned: pd.DataFrame) -> list[Any]:
    """Return for each unit which of its sentences a coded span meets."""
    ids = decided.units["unit_id"].iloc[at]
    own = {unit_id: list(zip(g["start"], g["end"], strict=True)) for unit_id, g in spanned.groupby("unit_id")}
    return [
        np.array(
            [any(a < end and start < b for a, b in own.get(i, [])) for start, end in decided.own.spans[row]]
        )
        for i, row in zip(ids, at, strict=True)
    ]


def _enough(coded: list[Any]) -> bool:
    whole = np.concatenate(coded)
    return bool(min(whole.sum(), (~whole).sum()) >= _LEAST_SPANS)
