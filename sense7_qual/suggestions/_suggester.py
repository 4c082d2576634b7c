"""The result of `fit`: a function that suggests codes for units, and finds the nearest human quotes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments, check_least
from sense7_qual._basis import NOT_STATED
from sense7_qual._reasons import Reason
from sense7_qual.frames import SUGGESTIONS, UNITS
from sense7_qual.suggestions._features import Embed, Features, sentences, vectors
from sense7_qual.suggestions._results import NEAR_QUOTES, SUGGESTED
from sense7_qual.suggestions._suggest import ByDefinition, ByModel

Floats = npt.NDArray[np.float64]

_COLUMNS: Final = list(SUGGESTED.columns)[:-1]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Suggester:
    """Suggests codes for units; made by `fit`. Its `repr` shows counts only.

    It holds words of the texts that it learned from: keep a pickle of it as you keep the texts.

    Attributes
    ----------
    codes
        One row per codable code: `code`, `source` ("model", "definition", or missing without suggestions),
        `n_present` and `n_absent` (units with a decision), `threshold` (the least probability, or cosine to
        a definition, at which a code is suggested), `f1` (0 … 1, at that threshold on texts of participants
        that the model had not seen; slightly too high, because the threshold was chosen on them), `reason`
        (why there is no model: not_decided, few_decided, few_clusters; or no suggestion: code_never_applied,
        code_always_applied, no_better_than_chance).
    parameters
        `seed`, `n_units` (with a decision) and `n_clusters`, `coder`, `cluster`, `coders` (from whom it
        learned, sorted).
    basis
        Which decisions it learned from, in words.
    """

    codes: pd.DataFrame = field(repr=False)
    parameters: Mapping[str, Any]
    quotes: pd.DataFrame = field(repr=False)
    embed: Embed = field(repr=False)
    features: Features = field(repr=False)
    by_code: Mapping[str, ByModel | ByDefinition] = field(repr=False)
    quote_vectors: Floats = field(repr=False)
    learned_units: frozenset[str] = field(repr=False)
    learned_groups: frozenset[str] = field(repr=False)
    basis: str = NOT_STATED

    def __repr__(self) -> str:
        """Say how many codes it suggests, and from what."""
        counted = self.codes["source"].value_counts()
        named = ", ".join(f"{counted[source]} by {source}" for source in sorted(counted.index))
        return f"Suggester({len(self.codes)} codes: {named or 'none suggested'})"

    def __call__(self, units: pd.DataFrame) -> pd.DataFrame:
        """Suggest codes for units; the same as `suggest`.

        Raises
        ------
        TableError
            Not a `units` frame, or `embed` does not return one vector per text.
        """
        return self.suggest(units)

    @SUGGESTED.returns
    def suggest(self, units: pd.DataFrame, *, with_spans: bool = True) -> pd.DataFrame:
        """Suggest codes for units, each with the words that carry it.

        Parameters
        ----------
        units
            The `units` frame, coded or not. Units from which the models learned get suggestions of models
            that saw no text of their participant.

        Raises
        ------
        TableError
            Not a `units` frame, or `embed` does not return one vector per text.
        """
        check_arguments(Suggester.suggest, locals())
        checked = UNITS.check(units)
        texts = checked["text"].fillna("").tolist()
        filled = np.array([bool(text.strip()) for text in texts], dtype=bool)
        written = [text for text in texts if text.strip()]
        ids = checked.loc[filled, "unit_id"].tolist()
        frames = [self._blank(checked.loc[~filled, "unit_id"].tolist())]
        if written:
            frames.append(self._suggested(ids, written, with_spans))
        frame = pd.concat([one for one in frames if len(one)] or frames[:1], ignore_index=True)
        places = {unit_id: place for place, unit_id in enumerate(checked["unit_id"])}
        code_places = {code: place for place, code in enumerate(self.codes["code"])}
        order = np.lexsort([frame["code"].map(code_places), frame["unit_id"].map(places)])
        return self._marked(SUGGESTIONS.check(frame.iloc[order]), units)

    def _marked(self, frame: pd.DataFrame, units: pd.DataFrame) -> pd.DataFrame:
        """Add `learned`: whether the models learned from the unit, or from another one of its participant."""
        cluster = self.parameters["cluster"]
        ids = units["unit_id"].astype("string").str.strip()
        own = units[cluster].astype("string").str.strip() if cluster in units else ids
        seen = set(ids[ids.isin(self.learned_units) | own.isin(self.learned_groups)])
        return frame.assign(learned=frame["unit_id"].isin(seen).to_numpy(dtype=bool))

    def _blank(self, ids: list[str]) -> pd.DataFrame:
        known = [(unit_id, code) for unit_id in ids for code in self.codes["code"]]
        frame = pd.DataFrame(known, columns=["unit_id", "code"]).assign(
            reason=Reason.BLANK_TEXT, suggested=False
        )
        return frame.reindex(columns=_COLUMNS).astype({"suggested": bool})

    def _suggested(self, ids: list[str], texts: list[str], with_spans: bool) -> pd.DataFrame:
        meaning = vectors(texts, self.embed)
        rows = self.features.rows(texts, meaning)
        parts = self._parts(texts)
        frames = [
            self._of_code(str(row.code), row.reason, ids, texts, meaning, rows, parts, with_spans)
            for row in self.codes.itertuples()
        ]
        return pd.concat(frames, ignore_index=True)

    def _parts(self, texts: list[str]) -> list[Floats]:
        """Return the vectors of each text's sentences, where a code has a classifier of sentences."""
        if all(getattr(one, "sentences", None) is None for one in self.by_code.values()):
            return []
        spans = [sentences(text) for text in texts]
        cut = [text[slice(*one)] for text, own in zip(texts, spans, strict=True) for one in own]
        whole = vectors(cut, self.embed)
        return np.split(whole, np.cumsum([len(own) for own in spans])[:-1])

    def _of_code(
        self,
        code: str,
        reason: Any,
        ids: list[str],
        texts: list[str],
        meaning: Floats,
        rows: Any,
        parts: list[Floats],
        with_spans: bool,
    ) -> pd.DataFrame:
        frame = pd.DataFrame({"unit_id": ids, "code": code}).reindex(columns=_COLUMNS)
        model = self.by_code.get(code)
        if model is None:
            return frame.assign(suggested=False, reason=reason)
        if isinstance(model, ByModel):
            now = model.probability(rows, meaning, parts)
            level = np.array([model.learned.get(i, new) for i, new in zip(ids, now, strict=True)])
            frame["probability"], frame["source"] = level, "model"
        else:
            level = model.described.similarity(meaning)
            frame["source"] = "definition"
        chosen = level >= model.threshold
        frame["suggested"] = chosen
        at = np.flatnonzero(chosen & with_spans)
        if len(at):
            spans = evidence(model, [texts[i] for i in at], self.features, self.embed)
            frame.loc[at, ["start", "end"]] = np.array(spans)
        return frame

    @NEAR_QUOTES.returns
    def nearest(self, suggestions: pd.DataFrame, units: pd.DataFrame, *, k: int = 3) -> pd.DataFrame:
        """Find the human quotes of each suggested code that are nearest to the words that carry it.

        Parameters
        ----------
        suggestions
            The result of `suggest` for `units`; rows without a suggestion are ignored.
        units
            The units of the suggestions, for the words.
        k
            The most quotes per suggestion, from 1. Quotes from the unit itself are left out.

        Raises
        ------
        TableError
            A frame does not meet its contract, or a suggestion is for a unit that is not in `units`.
        """
        check_arguments(Suggester.nearest, locals())
        check_least(Suggester.nearest, 1, k=k)
        from sense7_qual.suggestions._suggest import carried_words

        words = carried_words(suggestions, units)
        here = vectors(words["words"].tolist(), self.embed)
        own = dict(iter(self.quotes.groupby("code")))
        rows = [
            (unit_id, code, rank, *quote)
            for (unit_id, code), vector in zip(
                words[["unit_id", "code"]].itertuples(index=False, name=None), here, strict=True
            )
            if code in own
            for rank, quote in enumerate(self._near(unit_id, own[code], vector, k), start=1)
        ]
        return pd.DataFrame(rows, columns=list(NEAR_QUOTES.columns))

    def _near(
        self, unit_id: str, quotes: pd.DataFrame, vector: Floats, k: int
    ) -> list[tuple[str, int, int, float]]:
        others = quotes[quotes["unit_id"] != unit_id]
        similarity = self.quote_vectors[others.index] @ vector
        best = np.argsort(-similarity, kind="stable")[:k]
        named = others[["unit_id", "start", "end"]].iloc[best].itertuples(index=False, name=None)
        return [(*quote, float(similarity[at])) for quote, at in zip(named, best, strict=True)]


def evidence(
    model: ByModel | ByDefinition, texts: list[str], features: Features, embed: Embed
) -> list[tuple[int, int]]:
    """Return the sentence that carries the suggestion in each text; of one sentence, that one.

    Where a classifier of sentences was fitted on coded spans, or where a definition alone suggests, it is the
    sentence that this scores highest.
    """
    spans = [sentences(text) for text in texts]
    of_text = np.repeat(np.arange(len(texts)), [len(own) for own in spans])
    flat = [span for own in spans for span in own]
    if isinstance(model, ByDefinition):
        score = model.described.similarity(vectors(_cut(texts, of_text, flat), embed))
    elif model.sentences is not None:
        score = model.sentences(vectors(_cut(texts, of_text, flat), embed))
    else:
        score = _fall(model, texts, of_text, flat, features, embed)
    best = [int(np.argmax(score[of_text == number])) for number in range(len(texts))]
    return [own[at] for own, at in zip(spans, best, strict=True)]


def _cut(texts: list[str], of_text: npt.NDArray[Any], spans: list[tuple[int, int]]) -> list[str]:
    return [texts[number][start:end] for number, (start, end) in zip(of_text, spans, strict=True)]


def _fall(
    model: ByModel,
    texts: list[str],
    of_text: npt.NDArray[Any],
    spans: list[tuple[int, int]],
    features: Features,
    embed: Embed,
) -> npt.NDArray[Any]:
    """Return how low the score is of each text without each of its sentences, the lowest highest."""
    alone = np.bincount(of_text, minlength=len(texts))[of_text] == 1
    rest = [
        texts[number] if single else texts[number][:start] + texts[number][end:]
        for number, (start, end), single in zip(of_text, spans, alone, strict=True)
    ]
    meaning = vectors(rest, embed)
    return -model.text_score(features.rows(rest, meaning), meaning)
