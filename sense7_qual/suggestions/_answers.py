"""From the record: on which texts suggestions were shown, and what coders made of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual.acts import Act, standing
from sense7_qual.acts.contents import Suggested, Suggestion
from sense7_qual.suggestions._results import ANSWERS

__all__ = ["answers", "shown"]


def shown(acts: Iterable[Act]) -> pd.Series:
    """Return for each unit that came up for suggestions whether they were shown; False: withheld by chance.

    Parameters
    ----------
    acts
        Of the study, ``store.acts()``.

    Returns
    -------
    pandas.Series
        True or False by unit_id, as `effect` takes it. True also where the model suggested nothing: the coder
        saw that. Units that nobody finished while suggestions were on are not in it.

    Examples
    --------
    >>> from sense7_qual.acts.contents import show_suggestions
    >>> from sense7_qual.codebook import Codebook
    >>> book = Codebook.read("sense7")
    >>> seen = [show_suggestions(coder="ana", unit_id=i, codebook=book, model="words", withheld=i == "m2")
    ...         for i in ("m1", "m2")]
    >>> shown(seen).to_dict()
    {'m1': True, 'm2': False}
    """
    check_arguments(shown, locals())
    by_unit: dict[str, bool] = {}
    for act, one in _readable(acts):
        unit_id = str(act.unit_id)
        by_unit[unit_id] = by_unit.get(unit_id, False) or not one.withheld
    return pd.Series(list(by_unit.values()), index=pd.Index(list(by_unit), dtype="string", name="unit_id"),
                     name="shown", dtype=bool)  # fmt: skip


@ANSWERS.returns
def answers(acts: Iterable[Act]) -> pd.DataFrame:
    """Return every suggestion that a coder was shown, and what they made of it.

    Parameters
    ----------
    acts
        Of the study, ``store.acts()``; each coder's in the order in which they were done.

    Examples
    --------
    >>> from sense7_qual.acts.contents import Suggestion, show_suggestions
    >>> from sense7_qual.acts import apply, finish
    >>> from sense7_qual.codebook import Codebook
    >>> mine = {"coder": "ana", "unit_id": "m1", "codebook": Codebook.read("sense7")}
    >>> done = [finish(**mine),
    ...         show_suggestions(**mine, model="words", suggestions=[Suggestion(code="interest", start=0, end=9)]),
    ...         apply(**mine, code="interest", start=0, end=5)]
    >>> answers(done)["answer"].tolist()
    ['edited']
    """  # noqa: E501
    check_arguments(answers, locals())
    by_text: dict[tuple[str, str | None, str | None], list[Act]] = {}
    for act in acts:
        by_text.setdefault((act.coder, act.unit_id, act.round), []).append(act)
    rows = [row for own in by_text.values() for row in _of_text(own)]
    frame = ANSWERS.frame(rows)
    return frame.sort_values(["coder", "shown_at"], kind="stable", ignore_index=True)


def _of_text(own: Sequence[Act]) -> list[dict[str, object]]:
    """Return the rows of one coder, unit and round."""
    first = next(_readable(own), None)
    if first is None or first[1].withheld:
        return []
    act, suggested = first
    at = next(place for place, one in enumerate(own) if one.act_id == act.act_id)
    had = {one.code for one in standing(own[:at], subject="coding")}
    now = standing(own)
    return [
        {
            "unit_id": act.unit_id, "coder": act.coder, "round": act.round, "code": one.code,
            "model": suggested.model, "probability": one.probability, "start": one.start, "end": one.end,
            "when": suggested.when, "shown_at": act.at, "before": one.code in had,
            "answer": _answer(one, now, had=one.code in had),
        }
        for one in suggested.suggestions
    ]  # fmt: skip


def _answer(suggestion: Suggestion, now: Iterable[Act], *, had: bool) -> str:
    """Return what a coder made of a suggestion, by what stands `now` of theirs on the unit."""
    of_code = [act for act in now if act.code == suggestion.code]
    spans = [(act.start, act.end) for act in of_code if act.traits.subject == "coding"]
    if had:
        return "agreed" if spans else "withdrawn"
    if spans:
        return "accepted" if (suggestion.start, suggestion.end) in spans else "edited"
    return "rejected" if any(act.traits.subject == "rejection" for act in of_code) else "none"


def _readable(acts: Iterable[Act]) -> Iterator[tuple[Act, Suggested]]:
    """Yield the acts that showed suggestions, but for those that a withdrawal emptied."""
    for act in acts:
        if act.kind == "show_suggestions" and act.text is not None:
            yield act, Suggested.from_text(act.text)
