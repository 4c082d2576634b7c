"""What a study says beforehand that it will do: an analysis plan, and its registration as an act."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, Final, Literal, NoReturn

from sense7_qual._arguments import check_arguments, is_name, is_unicode, read_once
from sense7_qual._messages import did_you_mean, word
from sense7_qual.acts._act import Act, check_person, stamp
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError

ANSWERS: Final = (
    "title",
    "authors",
    "aims",
    "kind_of_aim",
    "design",
    "sampling",
    "data_source",
    "data_collection",
    "data_tools",
    "data_procedure",
    "stopping",
    "analysis_approach",
    "analysis_process",
    "credibility",
    "positionality",
)
"""The names of `AnalysisPlan.answers`, after the form of Haven et al. (2020)."""

_LATER: Final = ("models", "prompts", "adjust", "equivalence", "hypothesis", "conditions")
_LISTS: Final = ("hypotheses", "coders", "rounds", "models", "prompts", "conditions")
_LONGEST: Final = 20_000
_MOST: Final = 10_000_000
_DATE: Final = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AnalysisPlan:
    """The plan of a study, made in advance; what is left out stays open.

    Its repr shows only counts.

    Parameters
    ----------
    question : str
        The research question.
    hypotheses : tuple of str
        None in exploratory studies.
    coders, rounds : tuple of str
        The pseudonyms of the coders, and the rounds of coding, including training and discussions.
    n_units, n_participants : int, optional
        The numbers of texts to code and of their participants.
    double_coded : float, optional
        The share of these texts (0 to 1) that at least two coders code independently.
    n_repeated : int, optional
        The number of texts that a coder codes twice.
    level : {"unit", "span"}, optional
        Whether codes are applied to whole texts or to words in them.
    codebook : {"fixed", "open"}, optional
        Whether codes may change once coding has begun.
    blind : bool, optional
        Whether a round is unblinded only after all its coders have finished it.
    new_codes, rating_shown, suggestions : optional
        As new_codes, rating and suggestions of `Store.set_options`.
    models, prompts : tuple of str
        The language models that are to code, as they are asked for, and the prompts (column prompt of
        `coders.prompts`), so that a later one is a deviation.
    themes : bool, optional
        Whether a topic model is used.
    discussion : bool, optional
        Whether coders discuss their codings and revise them.
    settled_by : {"rulings", "discussion", "majority", "nothing", "any"}, optional
        How disagreements count in counts and links, as for `Store.decisions`; "any" (a code counts once
        anybody applied it) is for work without agreement.
    coding_until : str, optional
        The last day of coding (UTC), for example ``2026-03-31``.
    with_agreement : bool
        Whether agreement is part of the argument; False, for example, in reflexive thematic analysis.
    min_alpha : float, optional
        The alpha (−1 to 1) that each code should reach.
    rating, cluster : str, optional
        The column of units with the rating that codes are linked to, and the column with participants.
    conditions : tuple of str
        The columns of units by which the frequency of codes is compared.
    adjust : {"bh", "max-t"}, optional
        How the p of links are adjusted, and over which, as for `links.code_to_rating`.
    equivalence : pair of str and float, optional
        The largest link that would not matter, as for `links.code_to_rating`: ("rank_biserial", 0.2).
    hypothesis : {"within", "between"}, optional
        Whether links are hypotheses about a participant's own texts or about participants, as for
        `links.code_to_rating`; left open, about their own texts.
    n_boot, seed : int
        For the intervals, as for `agreement.by_code`.
    answers : mapping of str to str
        Answers to the other questions of the form of Haven et al. (2020), by the names in `ANSWERS`.

    Raises
    ------
    ActError
        A value is of another type or out of its range.

    References
    ----------
    Haven et al. (2020), Preregistering qualitative research: A Delphi study, International Journal of
    Qualitative Methods 19.

    Examples
    --------
    >>> AnalysisPlan(question="What makes an answer empathic?", coders=("ana", "ben"), double_coded=.25)
    AnalysisPlan(4 things settled, 0 answers)
    """

    question: str
    hypotheses: tuple[str, ...] = ()
    coders: tuple[str, ...] = ()
    rounds: tuple[str, ...] = ()
    n_units: int | None = None
    n_participants: int | None = None
    double_coded: float | None = None
    n_repeated: int | None = None
    level: str | None = None
    codebook: str | None = None
    blind: bool | None = None
    new_codes: str | None = None
    rating_shown: str | None = None
    suggestions: str | None = None
    models: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    themes: bool | None = None
    discussion: bool | None = None
    settled_by: str | None = None
    coding_until: str | None = None
    with_agreement: bool = True
    min_alpha: float | None = None
    rating: str | None = None
    cluster: str | None = None
    conditions: tuple[str, ...] = ()
    adjust: Literal["bh", "max-t"] | None = None
    equivalence: tuple[str, float] | None = None
    hypothesis: Literal["within", "between"] | None = None
    n_boot: int = 2000
    seed: int = 0
    answers: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in _LISTS:
            object.__setattr__(self, name, _lines(name, getattr(self, name)))
        object.__setattr__(self, "equivalence", _margin(self.equivalence))
        object.__setattr__(self, "coders", tuple(check_person(coder) for coder in self.coders))
        for name, (fits, expected) in _EXPECTED.items():
            value = getattr(self, name)
            if (value is not None or name in _REQUIRED) and not fits(value):
                _refuse(name, value, expected)
        object.__setattr__(self, "answers", MappingProxyType(_answers(self.answers)))

    def __repr__(self) -> str:
        return f"AnalysisPlan({len(self.settled)} things settled, {len(self.answers)} answers)"

    @property
    def settled(self) -> tuple[str, ...]:
        """The names of the fields that are set, without the answers."""
        left_open = (None, ())
        return tuple(
            one.name
            for one in fields(self)
            if one.name not in ("answers", "n_boot", "seed") and getattr(self, one.name) not in left_open
        )

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the plan, 64 hexadecimal digits: publish it to show later that this was the plan."""
        return hashlib.sha256(self.to_text().encode()).hexdigest()

    def to_text(self) -> str:
        """Return the text of an act of kind ``preregister``."""
        # Without the fields that came later where they are empty: a plan keeps the fingerprint that it had.
        content = {
            one.name: getattr(self, one.name)
            for one in fields(self)
            if one.name not in _LATER or getattr(self, one.name)
        }
        content["answers"] = dict(self.answers)
        return json.dumps(content, ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_text(cls, text: str | None) -> AnalysisPlan:
        """Return the plan of an act of kind ``preregister``.

        Raises
        ------
        ActError
            The text is not what `to_text` wrote.
        """
        check_arguments(AnalysisPlan.from_text, locals())
        try:
            content: dict[str, Any] = json.loads(str(text))
            content |= {name: tuple(content[name]) for name in (*_LISTS, "equivalence") if name in content}
            plan = cls(**content)
            if plan.to_text() != text:
                raise ValueError("another form")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise ActError(
                "preregister: expected an analysis plan – found something else – register one with "
                "store.preregister."
            ) from None
        return plan


@dataclass(frozen=True, slots=True)
class Preregistration:
    """A registered analysis plan with its coder, time (UTC), codebook and act."""

    plan: AnalysisPlan
    coder: str
    at: str
    codebook: str
    act_id: str

    def __repr__(self) -> str:
        return f"Preregistration({self.plan!r} by {self.coder!r} at {self.at}, {self.plan.fingerprint[:12]}…)"


def preregister(
    plan: AnalysisPlan, *, coder: str, codebook: Codebook, act_id: str | None = None, at: str | None = None
) -> Act:
    """Register the analysis plan as the lead `coder`, permanently (`Store.preregister`).

    Raises
    ------
    ActError
        `plan` is not an `AnalysisPlan`.

    Examples
    --------
    >>> plan = AnalysisPlan(question="What makes an answer empathic?", coders=("ana", "ben"))
    >>> act = preregister(plan, coder="lead", codebook=Codebook.read("sense7"))
    >>> preregistrations([act])[0].plan == plan
    True
    """
    check_arguments(preregister, locals())
    return Act(kind="preregister", text=plan.to_text(), **stamp(coder, codebook, act_id, at))


def preregistrations(acts: Iterable[Act]) -> tuple[Preregistration, ...]:
    """Return the registered plans, oldest first: the first one and its amendments.

    Raises
    ------
    ActError
        An act that registers a plan is malformed.
    """
    acts = read_once(acts)
    check_arguments(preregistrations, locals())
    registered = sorted(
        (act for act in acts if act.traits.subject == "plan"), key=lambda act: (act.at, act.act_id)
    )
    return tuple(
        Preregistration(AnalysisPlan.from_text(act.text), act.coder, act.at, act.codebook, act.act_id)
        for act in registered
    )


def _refuse(name: str, value: object, expected: str) -> NoReturn:
    raise ActError(
        f"analysis plan: expected {expected} for {name} – found {word(value)} – correct it, or leave it out."
    )


def _lines(name: str, values: object) -> tuple[str, ...]:
    listed = tuple(values) if isinstance(values, tuple | list) else None
    if listed is None or not all(_is_text(one) and one.strip() for one in listed):
        raise ActError(
            f"analysis plan: expected {name} as a tuple of text – found {type(values).__name__} – write "
            f"{name}=('…', '…')."
        )
    if len(set(listed)) < len(listed):
        raise ActError(f"analysis plan: expected each of {name} once – found one twice – leave it out once.")
    return listed


def _margin(pair: object) -> tuple[str, float] | None:
    if pair is None:
        return None
    effect, margin = pair if isinstance(pair, tuple | list) and len(pair) == 2 else (None, None)
    of = float(margin) if isinstance(margin, int | float) and not isinstance(margin, bool) else 0.0
    if not (effect == "rank_biserial" and 0 < of < 1) and not (effect == "odds_ratio" and 1 < of <= _MOST):
        _refuse("equivalence", pair, "('rank_biserial', a margin between 0 and 1) or ('odds_ratio', above 1)")
    return str(effect), of


def _answers(answers: object) -> dict[str, str]:
    if not isinstance(answers, Mapping):
        raise ActError(
            f"analysis plan: expected answers by name – found {type(answers).__name__} – write "
            "answers={'sampling': '…'}."
        )
    for name, text in answers.items():
        if name not in ANSWERS:
            raise ActError(
                f"analysis plan: expected answers to {', '.join(ANSWERS)} – found {word(name)} – "
                f"{did_you_mean(str(name), ANSWERS)}"
            )
        if not _is_text(text):
            _refuse(f"answer to {name}", text, f"text of at most {_LONGEST:,} characters")
    return {str(name): str(text) for name, text in sorted(answers.items())}


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST and is_unicode(value)


def _is_whole(value: object, least: int) -> bool:
    return type(value) is int and least <= value <= _MOST


def _is_number(value: object, least: float) -> bool:
    return type(value) in (int, float) and least <= float(str(value)) <= 1


def _is_date(value: object) -> bool:
    return isinstance(value, str) and _DATE.fullmatch(value) is not None


def _one_of(*words: str) -> tuple[Callable[[object], bool], str]:
    return (lambda value: isinstance(value, str) and value in words), "one of " + ", ".join(words)


_COUNT: Final = (lambda value: _is_whole(value, 0)), f"a whole number from 0 to {_MOST:,}"
_SWITCH: Final = (lambda value: type(value) is bool), "True or False"
_COLUMN: Final = is_name, "the name of a column"
_REQUIRED: Final = frozenset({"question", "with_agreement", "n_boot", "seed"})
_EXPECTED: Final[Mapping[str, tuple[Callable[[object], bool], str]]] = {
    "question": ((lambda value: _is_text(value) and str(value).strip() != ""), "a question"),
    "n_units": _COUNT,
    "n_participants": _COUNT,
    "n_repeated": _COUNT,
    "double_coded": ((lambda value: _is_number(value, 0)), "a share from 0 to 1"),
    "min_alpha": ((lambda value: _is_number(value, -1)), "a number from -1 to 1"),
    "level": _one_of("unit", "span"),
    "codebook": _one_of("fixed", "open"),
    "new_codes": _one_of("propose", "add"),
    "rating_shown": _one_of("hidden", "shown", "finished"),
    "suggestions": _one_of("finished", "shown", "never"),
    "settled_by": _one_of("rulings", "discussion", "majority", "nothing", "any"),
    "blind": _SWITCH,
    "themes": _SWITCH,
    "discussion": _SWITCH,
    "with_agreement": _SWITCH,
    "adjust": _one_of("bh", "max-t"),
    "hypothesis": _one_of("within", "between"),
    "rating": _COLUMN,
    "cluster": _COLUMN,
    "coding_until": (_is_date, "a day such as '2026-03-31'"),
    "n_boot": ((lambda value: _is_whole(value, 2)), f"a whole number from 2 to {_MOST:,}"),
    "seed": _COUNT,
}
