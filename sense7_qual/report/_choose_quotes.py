"""Quotes for each code, chosen by a seeded rule that a paper can state."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

import numpy as np
import pandas as pd

from sense7_qual import _present
from sense7_qual._arguments import check_arguments
from sense7_qual._basis import BASIS
from sense7_qual._contract import Column, Contract, count, flag, text
from sense7_qual._present import divides
from sense7_qual._rests_on import rests_on
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ArgumentError
from sense7_qual.frames import DECISIONS, people, without_models
from sense7_qual.report import _choose_quotes
from sense7_qual.report._quote_passages import (
    Passage,
    Screen,
    kept_out,
    participant_of,
    passages_of,
    span_of,
    texts_of,
)


def candidates(
    codings: pd.DataFrame,
    units: pd.DataFrame,
    *,
    codebook: Codebook,
    per_code: int = 3,
    per_participant: int | None = None,
    rating: str | None = None,
    decisions: pd.DataFrame | None = None,
    quotes: pd.DataFrame | None = None,
    names: Collection[str] = (),
    seed: int = 0,
    screened: str = "drawn",
) -> list[Passage]:
    """Return every coded passage, those that the rule draws first; by code as in the codebook.

    What each parameter does, and the rule, `report.quote_candidates` says. Beside the columns of its frame a
    passage has text (of its unit) and quote (its words).
    """
    check_bounds(per_code, per_participant, seed)
    passages = passages_of(codings, units, codebook, rating)
    screen = Screen(names)
    for passage in passages:
        passage |= {"identifies": None, "role": "shows", "drawn": False, "why": ""}
    if screened == "all":
        screen.look(passages)
    decided = None if decisions is None else verdicts(decisions)
    for passage in passages:
        verdict = None if decided is None else decided.get((passage["unit_id"], passage["code"]))
        if decided is not None:
            passage["why"] = UNDECIDED if verdict is None else verdict.why_not
            passage["role"] = "disconfirms" if passage["why"] and verdict is not None else "shows"
    if quotes is not None:
        for passage, why in kept_out(passages, quotes):
            passage["why"], passage["role"] = why, ""
    by_code: dict[str, list[Passage]] = {code: [] for code in codebook.ids}
    for passage in passages:
        by_code[passage["code"]].append(passage)
    draws = [_Draw(code, own, seed, screen) for code, own in by_code.items()]
    used: Counter[tuple[str, str]] = Counter()
    _take_turns(draws, per_code, per_participant, used)
    if decided is not None:
        ratings = texts_of(units, rating).set_index("unit_id")["rating"]
        for draw in draws:
            rest = draw.rest(per_participant, used)
            draw.take_against(case_against(draw.all(), rest, decided, ratings, screen), used)
    return [passage for draw in draws for passage in draw.ordered()]


def check_bounds(per_code: int, per_participant: int | None, seed: int) -> None:
    """Raise `ArgumentError` where a number of the rule is out of range."""
    least = (("per_code", per_code, 1), ("seed", seed, 0), ("per_participant", per_participant, 1))
    for name, value, lowest in least:
        if value is not None and value < lowest:
            raise ArgumentError(f"quotes: expected {name} of {lowest} or more – found {value} – correct it.")


def select(codings: pd.DataFrame, units: pd.DataFrame, **rule: object) -> pd.DataFrame:
    """Return the quotes that the rule draws, with their words as quote: by code, then by rating.

    A passage that speaks against its code comes last. Parameters, order and errors: as of `candidates`.

    Examples
    --------
    >>> from sense7_qual.frames import CODINGS
    >>> units = pd.DataFrame({"unit_id": ["m1"], "text": ["It asked how my sister was doing."],
    ...     "document_id": ["t1"], "case_id": ["P07"], "position": [1]})
    >>> codings = CODINGS.empty()
    >>> codings.loc[0, ["unit_id", "coder", "code", "start", "end"]] = ["m1", "ana", "interest", 3, 8]
    >>> select(codings, units, codebook=Codebook.read("sense7"), seed=7)["quote"].tolist()
    ['asked']
    """
    drawn = [one for one in candidates(codings, units, **rule) if one["drawn"]]  # type: ignore[arg-type]
    return by_rating(drawn)


def by_rating(drawn: Sequence[Passage]) -> pd.DataFrame:
    """Return drawn passages as a frame, those of one code by rating, the one against it last."""
    places = {code: place for place, code in enumerate(dict.fromkeys(one["code"] for one in drawn))}
    ordered = sorted(
        drawn,
        key=lambda one: (
            places[one["code"]],
            one["role"] == "disconfirms",
            pd.isna(one["rating"]),
            one["rating"],
        ),
    )
    return pd.DataFrame(ordered, columns=[*CANDIDATES.columns, "quote"])


def shortened(text: str, max_length: int) -> str:
    """Cut a text to at most `max_length` code points and mark the omission with "[…]".

    It is cut at the last white space that fits; where there is none, never between a character and the
    marks that belong to it.

    >>> shortened("It asked how my sister was doing.", 20)
    'It asked how my […]'
    """
    if max_length < 1:
        raise ArgumentError(f"quotes: expected max_length of 1 or more – found {max_length} – 200 is usual.")
    if len(text) <= max_length:
        return text
    cut = next((at for at in range(max_length, 0, -1) if text[at].isspace()), 0)
    if cut == 0:
        cut = max_length
        while cut > 1 and divides(text, cut):
            cut -= 1
    return f"{text[:cut].rstrip()} […]"


def _number_of(code: str) -> int:
    """Return a number for a code, so that its quotes stay the same when other codes come or go."""
    return zlib.crc32(code.encode())


class _Draw:
    """The passages of one code, from which quotes are drawn one by one."""

    def __init__(self, code: str, own: Sequence[Passage], seed: int, screen: Screen) -> None:
        self._screen = screen
        order = np.random.default_rng((seed, _number_of(code))).permutation(len(own))
        self._shuffled = [own[position] for position in order]
        self._pool = [passage for passage in self._shuffled if not passage["why"]]
        self.n_participants = len({participant_of(passage) for passage in self._pool})
        self._chosen: list[Passage] = []
        self._against: Passage | None = None

    def __repr__(self) -> str:
        return f"_Draw({len(self._chosen)} of {len(self._shuffled)})"

    def take(self, most: int | None, used: Counter[tuple[str, str]]) -> bool:
        """Draw one more quote, and return whether there was one: of a new participant, far in its rating."""
        pool = [one for one in self._pool if most is None or used[participant_of(one)] < most]
        if not pool:
            return False
        shown = [quote["rating"] for quote in self._chosen if not pd.isna(quote["rating"])]
        # Sorting keeps the order of equals, and the pool is shuffled: ties are broken at random.
        ranked = sorted(pool, key=lambda one: _spread(one["rating"], shown), reverse=True)
        best = self._screen.first_without(ranked)
        is_far = bool(shown) and not pd.isna(best["rating"])
        best |= {"drawn": True, "why": "rating farthest from those drawn" if is_far else "drawn at random"}
        self._chosen.append(best)
        used[participant_of(best)] += 1
        self._pool = [one for one in self._pool if participant_of(one) != participant_of(best)]
        return True

    def all(self) -> list[Passage]:
        """Return all passages of the code, in random order."""
        return self._shuffled

    def rest(self, most: int | None, used: Counter[tuple[str, str]]) -> list[Passage]:
        """Return those that may be taken as a case against the code: of participants who are not quoted."""
        quoted = {participant_of(one) for one in self._chosen}
        return [
            one
            for one in self._shuffled
            if one["role"]
            and participant_of(one) not in quoted
            and (most is None or used[participant_of(one)] < most)
        ]

    def take_against(self, passage: Passage | None, used: Counter[tuple[str, str]]) -> None:
        """Take the case that speaks against the code, where there is one."""
        if passage is not None:
            self._against = passage | {"drawn": True}
            used[participant_of(passage)] += 1

    def ordered(self) -> Iterator[Passage]:
        """Yield all passages, the drawn ones first."""
        yield from self._chosen
        against = self._against
        if against is not None:
            yield against
        for one in self._shuffled:
            if not one["drawn"] and (against is None or _place(one) != _place(against)):
                yield one


def _place(passage: Mapping[str, object]) -> tuple[object, object]:
    return passage["unit_id"], span_of(passage)


def _take_turns(
    draws: Sequence[_Draw], per_code: int, most: int | None, used: Counter[tuple[str, str]]
) -> None:
    """Let codes draw one quote each in turn, those with fewest participants first."""
    waiting = sorted(draws, key=lambda draw: draw.n_participants)
    for _ in range(per_code):
        waiting = [draw for draw in waiting if draw.take(most, used)]


def _spread(rating: float, shown: Sequence[float]) -> tuple[float, float]:
    """Rank a rating by its distance to the nearest one shown, then by how seldom it was shown itself."""
    if pd.isna(rating):
        return (-1.0, 0.0)
    return (min((abs(rating - other) for other in shown), default=0.0), -float(shown.count(rating)))


ABSENT: Final = "ruled not to apply"
DISPUTED: Final = "coders disagree on it"
UNDECIDED: Final = "nobody has finished the text"


class Verdict(NamedTuple):
    """What was decided on one unit and code."""

    n_applied: int
    n_coders: int
    settled: bool | None

    @property
    def why_not(self) -> str:
        """Why the text does not show the code; empty where it does."""
        if self.applies:
            return ""
        return ABSENT if self.settled is False else DISPUTED

    @property
    def applies(self) -> bool:
        """Whether the text shows the code."""
        return self.settled if self.settled is not None else 0 < self.n_applied == self.n_coders


def verdicts(decisions: pd.DataFrame) -> dict[tuple[str, str], Verdict]:
    """Return the decisions by unit and code: those of coders, and the consensus where there is one."""
    checked = without_models(DECISIONS.check(decisions), function="quotes")
    counts = people(checked).groupby(["unit_id", "code"])["applied"].agg(["sum", "size"])
    agreed = checked[checked["coder"] == "consensus"]
    settled = {
        (unit_id, code): bool(applied)
        for unit_id, code, applied in agreed[["unit_id", "code", "applied"]].itertuples(index=False)
    }
    made = {key: (int(n), int(of)) for key, n, of in counts.itertuples(name=None)}
    return {
        key: Verdict(*made.get(key, (int(settled.get(key, False)), 1)), settled.get(key))
        for key in {**made, **settled}
    }


def case_against(
    passages: Sequence[Passage],
    open_ones: Sequence[Passage],
    decided: dict[tuple[str, str], Verdict],
    ratings: pd.Series,
    screen: Screen,
) -> Passage | None:
    """Return the passage of one code that speaks against it, with `why`; None where none does."""
    if not passages:
        return None
    code = passages[0]["code"]
    here = {unit_id: verdict for (unit_id, of), verdict in decided.items() if of == code}
    for kind in (_near_misses, _against_the_trend, _disputed):
        # Sorting keeps the random order of equals.
        ranked = sorted(kind(open_ones, here, ratings), key=lambda one: -one[0])
        if ranked:
            passage = screen.first_without([one for _, one, _ in ranked])
            why = next(why for _, one, why in ranked if one is passage)
            return passage | {"role": "disconfirms", "why": why}
    return None


_Ranked = Iterable[tuple[float, Passage, str]]


def _near_misses(passages: Sequence[Passage], here: Mapping[str, Verdict], _: pd.Series) -> _Ranked:
    for passage in passages:
        verdict = here.get(passage["unit_id"])
        if verdict is not None and verdict.settled is False and verdict.n_applied:
            why = f"near miss: {verdict.n_applied} of {verdict.n_coders} coders applied it, {ABSENT}"
            yield verdict.n_applied / verdict.n_coders, passage, why


def _disputed(passages: Sequence[Passage], here: Mapping[str, Verdict], _: pd.Series) -> _Ranked:
    for passage in passages:
        verdict = here.get(passage["unit_id"])
        if verdict is not None and verdict.why_not == DISPUTED and verdict.n_applied:
            why = f"disputed: {verdict.n_applied} of {verdict.n_coders} coders applied it, not settled"
            yield verdict.n_applied / verdict.n_coders, passage, why


def _against_the_trend(
    passages: Sequence[Passage], here: Mapping[str, Verdict], ratings: pd.Series
) -> _Ranked:
    having = [unit_id for unit_id, verdict in here.items() if verdict.applies]
    lacking = [
        unit_id
        for unit_id, verdict in here.items()
        if verdict.settled is False or (verdict.settled is None and not verdict.n_applied)
    ]
    with_it, without = (_mean(ratings.reindex(ids)) for ids in (having, lacking))
    side = np.sign(with_it - without)
    if np.isnan(side) or side == 0:
        return
    for passage in passages:
        verdict = here.get(passage["unit_id"])
        if verdict is not None and verdict.applies and side * (passage["rating"] - without) < 0:
            shown = [
                _present.number(value, 2).removesuffix(".00")
                for value in (passage["rating"], with_it, without)
            ]
            why = "against the trend: rating {}, where texts with the code have a mean of {}, others of {}"
            yield -side * passage["rating"], passage, why.format(*shown)


def _mean(values: pd.Series) -> float:
    known = values.dropna()
    return float(known.mean()) if len(known) else float("nan")


CANDIDATES: Final = Contract(
    "candidates",
    ("code", "unit_id", "start", "end"),
    {
        "code, unit_id": text(),
        "start, end": count("code points; missing for a whole unit", missing=True),
        "case_id": text(missing=True),
        "rating": Column("number", "missing where not given"),
        "coders": text('all who applied the code to the unit, joined by ", "'),
        "role": text('"shows" or "disconfirms" the code; empty where it is not to be drawn'),
        "identifies": text(
            'kinds of identifier found in it, joined by ", "; empty: none; missing: not looked for',
            missing=True,
        ),
        "drawn": flag(),
        "why": text("why it was drawn, or why it cannot be; empty: others were"),
        **BASIS,
    },
    row="One row per passage, without its words, by code as in the codebook, the drawn ones first",
)


@rests_on("decisions")
@CANDIDATES.returns
def quote_candidates(
    codings: pd.DataFrame,
    units: pd.DataFrame,
    *,
    codebook: Codebook,
    per_code: int = 3,
    per_participant: int | None = None,
    rating: str | None = None,
    decisions: pd.DataFrame | None = None,
    quotes: pd.DataFrame | None = None,
    names: Collection[str] = (),
    seed: int = 0,
    screened: Literal["all", "drawn"] = "all",
) -> pd.DataFrame:
    """List every coded passage as a candidate for print, those drawn by a stated rule first.

    The rule: at most one quote from each participant for each code. The first quote of a code is drawn at
    random; with `rating`, each next one is the passage with the rating farthest from those drawn (ties at
    random). A passage in which `redact.find` finds something that might identify a person comes after all
    others. The choice depends on the seed and on the content of the frames, not on the order of
    their rows; without `per_participant`, the quotes of one code do not depend on the others.

    Parameters
    ----------
    codings : DataFrame
        The current codings (`frames.CODINGS`). A coding of a span gives the span's words, one of a whole
        unit the unit's text; `start` and `end` count code points. Blank passages are left out.
    units : DataFrame
        The texts (`frames.UNITS`). A unit without case_id counts as a participant of its own.
    codebook : Codebook
        Gives the codes and their order.
    per_code : int
        Most quotes per code; a case that speaks against it is one more.
    per_participant : int, optional
        Most quotes of one participant over all codes together. Codes then draw one quote each in turn, those
        with fewest participants first, and cases that speak against codes are taken last.
    rating : str, optional
        The column of `units` with the rating; passages without one are drawn last.
    decisions : DataFrame, optional
        What was decided: the coders' last decisions with what is settled, as `paper` passes them
        (``pd.concat([store.decisions(settled_by=one) for one in ("nothing", "rulings")])``). With it, a text
        shows a code only where all coders of it applied the code, or where it was settled that it applies;
        and for each code one disconfirming case is taken, of a participant who is not quoted for the code,
        where there is one: the first of these three kinds. A *near miss* (a coder applied the code, and it
        was settled that it does not apply; the one that most coders applied); a case *against the trend* of
        the rating (the code applies, and the rating lies beyond the mean of the texts without the code, away
        from the mean of those with it; the farthest); a *disputed* case (some coders applied the code, others
        did not, and nothing is settled; the one that most applied).
    quotes : DataFrame, optional
        What is decided about quotes (`Store.quotes`): a passage is not drawn if it was refused, if a
        paraphrase replaces its words, or if one waits for approval.
    names : collection of str
        Names to look for, as in `redact.find`.
    seed : int
        Zero or more.
    screened : {"all", "drawn"}
        In which passages identifiers are looked for: in all, which takes most of the time where there are
        tens of thousands, or only as far as the rule needs it to draw.

    Raises
    ------
    TableError
        A column is missing, a coding is on an unknown unit or a span outside its text, or a rating is not a
        number.
    CodebookError
        A code is not in the codebook.
    ArgumentError
        `per_code`, `per_participant` or `seed` is out of range.

    References
    ----------
    Lincoln & Guba (1985), Naturalistic Inquiry, pp. 309–313 (negative case analysis). Patton (1999),
    Enhancing the quality and credibility of qualitative analysis, Health Services Research 34(5), 1189–1208.
    Booth, Carroll, Ilott, Low & Cooper (2013), Desperately seeking dissonance, Qualitative Health Research
    23(1), 126–141.

    Examples
    --------
    >>> from sense7_qual.frames import CODINGS
    >>> units = pd.DataFrame({"unit_id": ["m1"], "text": ["Mail ann@example.org about my sister."],
    ...     "document_id": ["t1"], "case_id": ["P07"], "position": [1]})
    >>> codings = CODINGS.empty()
    >>> codings.loc[0, ["unit_id", "coder", "code", "start", "end"]] = ["m1", "ana", "interest", 0, 20]
    >>> found = quote_candidates(codings, units, codebook=Codebook.read("sense7"))
    >>> found[["unit_id", "identifies", "drawn", "why"]].values.tolist()
    [['m1', 'email', True, 'drawn at random']]
    """
    check_arguments(quote_candidates, locals())
    passages = _choose_quotes.candidates(
        codings,
        units,
        codebook=codebook,
        per_code=per_code,
        per_participant=per_participant,
        rating=rating,
        decisions=decisions,
        quotes=quotes,
        names=names,
        seed=seed,
        screened=screened,
    )
    return CANDIDATES.frame(passages)
