"""The constructors of acts; each mints an id and a time unless they are given."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from sense7_qual._arguments import check_arguments, is_name
from sense7_qual._messages import word
from sense7_qual.acts._act import (
    Act,
    SpanMemo,
    check_codable,
    check_reason,
    check_word,
    quote_facets,
    stamp,
)
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError


def apply(
    *,
    coder: str,
    unit_id: str,
    code: str,
    codebook: Codebook,
    start: int | None = None,
    end: int | None = None,
    facets: Mapping[str, str] | None = None,
    confidence: str | None = None,
    round: str | None = None,
    found_by: Literal["search"] | None = None,
    act_id: str | None = None,
    at: str | None = None,
) -> Act:
    """Apply a code to a unit, or to its code points `start` … `end` (half-open).

    `facets` adds values of the codebook's facets: ``{"valence": "met"}``. `found_by` says that the words were
    coded as one of the results of a search.

    Raises
    ------
    CodebookError
        The codebook has no such code, facet or value, or the facet is for other codes.
    ActError
        The code only groups others, or a value is out of its range.

    Examples
    --------
    >>> from sense7_qual.codebook import Codebook
    >>> apply(coder="ana", unit_id="m17", code="relational", start=4, end=21,
    ...       codebook=Codebook.read("sense7")).kind
    'apply'
    """
    check_codable(codebook, unit_id, code)
    stated = None if facets is None else _pairs(codebook.check_facets(code, facets))
    return Act(
        kind="apply",
        unit_id=unit_id,
        code=code,
        start=start,
        end=end,
        facets=stated,
        confidence=confidence,
        round=round,
        found_by=found_by,
        **stamp(coder, codebook, act_id, at),
    )


def remove(
    *,
    coder: str,
    unit_id: str,
    code: str,
    codebook: Codebook,
    start: int | None = None,
    end: int | None = None,
    round: str | None = None,
    act_id: str | None = None,
    at: str | None = None,
) -> Act:
    """Remove the coding with this code on exactly this span (or on the whole unit), in this round.

    The code may be one that only an earlier version of the codebook has.
    """
    return Act(
        kind="remove",
        unit_id=unit_id,
        code=code,
        start=start,
        end=end,
        round=round,
        **stamp(coder, codebook, act_id, at),
    )


def finish(
    *,
    coder: str,
    unit_id: str,
    codebook: Codebook,
    round: str | None = None,
    act_id: str | None = None,
    at: str | None = None,
) -> Act:
    """Record that the coder has finished the unit: codes not applied to it count as absent."""
    return Act(kind="finish", unit_id=unit_id, round=round, **stamp(coder, codebook, act_id, at))


def reopen(
    *,
    coder: str,
    unit_id: str,
    codebook: Codebook,
    round: str | None = None,
    act_id: str | None = None,
    at: str | None = None,
) -> Act:
    """Reopen a finished unit: its codes are undecided again."""
    return Act(kind="reopen", unit_id=unit_id, round=round, **stamp(coder, codebook, act_id, at))


def memo(
    *,
    coder: str,
    text: str,
    codebook: Codebook,
    target_kind: str = "unit",
    unit_id: str | None = None,
    code: str | None = None,
    start: int | None = None,
    end: int | None = None,
    memo_id: str | None = None,
    answers: str | None = None,
    round: str | None = None,
    act_id: str | None = None,
    at: str | None = None,
) -> Act:
    """Write a memo on a unit, a span of one, a code or the study; with `memo_id`, revise that memo.

    Parameters
    ----------
    text : str
        Its words; an empty text ends the memo.
    target_kind : {"unit", "span", "code", "study"}
        What it is about: `unit_id`, that unit's code points `start` … `end` (half-open), `code`, or the
        study.
    memo_id : str, optional
        The memo to revise. A memo keeps its `round` and `answers`.
    answers : str, optional
        The memo_id of the memo that this one answers; only in a memo for the team.
    round : str, optional
        Makes it a memo for the team: once this round is unblinded, the others see the memo and its earlier
        versions. Without it, only its writer ever sees the memo.

    Raises
    ------
    ActError
        What the memo is about is missing, a span is malformed, `memo_id` is empty, or an answer to a memo
        has no round.

    Examples
    --------
    >>> from sense7_qual.codebook import Codebook
    >>> act = memo(coder="ana", text="Irony?", target_kind="span", unit_id="m17", start=4, end=21,
    ...            codebook=Codebook.read("sense7"))
    >>> act.target_kind, act.memo_text
    ('span', 'Irony?')
    """
    check_word("target_kind", target_kind, ("unit", "span", "code", "study"))
    is_span = target_kind == "span"
    named = {"unit": unit_id, "span": unit_id, "code": code, "study": "study"}[target_kind]
    if named is None or is_span != (start is not None or end is not None):
        given = "none" if named is None else f"{'no' if is_span else 'a'} start and end"
        raise ActError(
            f"memo: expected the {target_kind} that it is about – found {given} – name a unit as unit_id or "
            "a code as code; only a span has start and end."
        )
    if isinstance(memo_id, str) and not memo_id:  # it would become a second memo beside another
        raise ActError("memo: expected the id of a memo – found an empty memo_id – leave it out.")
    stamped = stamp(coder, codebook, act_id, at)
    return Act(
        kind="memo",
        target_kind=target_kind,
        unit_id=unit_id,
        code=code,
        start=start,
        end=end,
        text=SpanMemo(text=text).to_text() if is_span and text else text,
        memo_id=stamped["act_id"] if memo_id is None else memo_id,
        answers=answers,
        round=round,
        **stamped,
    )


def answer(
    *,
    coder: str,
    proposal: str,
    text: str,
    codebook: Codebook,
    code: str | None = None,
    round: str | None = None,
    act_id: str | None = None,
    at: str | None = None,
) -> Act:
    """Answer a proposal, by its id, as the lead: a memo on the code that it went into, or on the study.

    The proposer sees it at once, also in a blind round (`rounds.visible`). It names no unit and no coder,
    because every role of a PostgreSQL study may read what is done for the team.
    """
    check_arguments(answer, locals())
    return Act(
        kind="answer",
        memo_id=proposal,
        text=text,
        code=code,
        round=round,
        target_kind="study" if code is None else "code",
        **stamp(coder, codebook, act_id, at),
    )


def rule(
    *,
    coder: str,
    unit_id: str,
    code: str,
    applied: bool | None,
    codebook: Codebook,
    reason: str | None = None,
    note: str | None = None,
    act_id: str | None = None,
    at: str | None = None,
) -> Act:
    """Decide, as the adjudicator `coder`, whether a code applies to a unit.

    Parameters
    ----------
    applied : bool or None
        Whether it does. None, only with the reason ``different_reading``, keeps the disagreement as data:
        there is no consensus on this unit and code (`adjudication.consensus`).
    reason : str, optional
        Why the coders disagreed, one of `REASONS`: ``slip``, ``unclear_rule``, ``ambiguous_text``,
        ``missing_code``, ``different_reading``.
    note : str, optional
        A note in your own words. It may quote the participant: it is kept and erased as memos are
        (`Store.forget`).

    Raises
    ------
    CodebookError
        The codebook has no such code.
    ActError
        The code only groups others, or `applied` and `reason` are not allowed values or do not fit together.

    Examples
    --------
    >>> from sense7_qual.codebook import Codebook
    >>> ruling = rule(coder="lead", unit_id="m17", code="interest", applied=True, reason="slip",
    ...               codebook=Codebook.read("sense7"))
    >>> ruling.applied, ruling.reason
    (True, 'slip')
    """
    check_codable(codebook, unit_id, code)
    if not isinstance(note, str | None):
        raise ActError(
            f"ruling on unit {word(unit_id)}: expected text as note – found {type(note).__name__} – write a "
            "text, or leave it out."
        )
    check_reason(reason, applied)
    return Act(
        kind="rule",
        unit_id=unit_id,
        code=code,
        applied=None if applied is None else bool(applied),
        facets=None if reason is None else f"reason={reason}",
        text=note or None,
        **stamp(coder, codebook, act_id, at),
    )


def quote(
    *,
    coder: str,
    unit_id: str,
    code: str,
    state: str,
    codebook: Codebook,
    start: int | None = None,
    end: int | None = None,
    role: str = "shows",
    paraphrase: str | None = None,
    act_id: str | None = None,
    at: str | None = None,
) -> Act:
    """Decide whether the words `start` … `end` of a unit, or all of it, are printed as a quote for a code.

    Of decisions about overlapping words of a unit under one code the last one counts, whoever made it. To
    shorten a quote, decide about fewer of its words (`Store.quotes`).

    Parameters
    ----------
    state : {"chosen", "approved", "refused"}
        Set aside for print; may be printed in these words; must not be printed.
    role : {"shows", "disconfirms"}
        Whether it shows the code, or speaks against it: it only looks like the code, or is a case in which
        the code does not do what it usually does.
    paraphrase : str, optional
        Your own words, printed instead of the participant's. They are kept and erased as memos are
        (`Store.forget`).

    Raises
    ------
    CodebookError
        The codebook has no such code.
    ActError
        The code only groups others, the paraphrase is blank or belongs to a refused quote, or a value is not
        allowed.

    Examples
    --------
    >>> from sense7_qual.codebook import Codebook
    >>> quote(coder="lead", unit_id="m17", code="interest", state="approved", start=4, end=21,
    ...       codebook=Codebook.read("sense7")).facets
    'role=shows state=approved words=original'
    """
    check_arguments(quote, locals())
    check_codable(codebook, unit_id, code)
    if paraphrase is not None and not (paraphrase.strip() and state != "refused"):
        raise ActError(
            f"quote on unit {word(unit_id)}: expected a paraphrase in words, for a quote that is not refused "
            "– found another – write it, or leave it out."
        )
    facets = quote_facets(role, state, "original" if paraphrase is None else "paraphrase")
    return Act(
        kind="quote",
        unit_id=unit_id,
        code=code,
        start=start,
        end=end,
        facets=facets,
        text=None if paraphrase is None else paraphrase.strip(),
        **stamp(coder, codebook, act_id, at),
    )


def moved(coding: Act, *, start: int, end: int, codebook: Codebook, act_id: str | None = None) -> list[Act]:
    """Return the acts that move a coding to other words of its unit, to be recorded together.

    It keeps its facets and its doubt, and counts as decided when it was, if it keeps some of its words. All
    ids follow from `act_id`, that of the new coding, so that moving it twice with one id records it once.
    """
    new = Act(
        kind="apply",
        unit_id=coding.unit_id,
        code=coding.code,
        start=start,
        end=end,
        facets=coding.facets,
        confidence=coding.confidence,
        round=coding.round,
        found_by=coding.found_by,
        **stamp(coding.coder, codebook, act_id, None),
    )
    old = replace(
        new,
        kind="remove",
        start=coding.start,
        end=coding.end,
        facets=None,
        confidence=None,
        found_by=None,
        act_id=str(uuid.uuid5(uuid.UUID(new.act_id), "remove")),
    )
    applied, removed = in_one_step([new, old])
    return [replace(applied, moved_from=coding.act_id) if overlap(new, coding) else applied, removed]


def overlap(one: Act, other: Act) -> bool:
    """Return True if two acts are about words of a unit, and about some of the same."""
    if one.start is None or one.end is None or other.start is None or other.end is None:
        return False
    return one.unit_id == other.unit_id and one.start < other.end and other.start < one.end


def in_one_step(acts: Sequence[Act]) -> list[Act]:
    """Return acts as one step, which is undone as a whole; its id follows from that of the first act."""
    step = str(uuid.uuid5(uuid.UUID(acts[0].act_id), "step"))
    return [replace(act, step=step) for act in acts]


def undo(
    act: Act | Sequence[Act], *, codebook: Codebook, act_id: str | None = None, at: str | None = None
) -> Act:
    """Undo `act`, as its own coder; of a step, pass all its acts."""
    return _about(act, "undo", codebook, act_id, at)


def redo(
    act: Act | Sequence[Act], *, codebook: Codebook, act_id: str | None = None, at: str | None = None
) -> Act:
    """Redo `act`, which was undone; of a step, pass all its acts."""
    return _about(act, "redo", codebook, act_id, at)


def place_of_step(acts: Sequence[Act]) -> tuple[str | None, str | None]:
    """Return the unit and the round of acts that are undone together: None where they have no single one.

    Acts without a round, such as one's own memos, do not count.
    """
    units, rounds = {one.unit_id for one in acts}, {one.round for one in acts} - {None}
    return units.pop() if len(units) == 1 else None, rounds.pop() if len(rounds) == 1 else None


def _pairs(facets: Mapping[str, str]) -> str | None:
    """Return facets in the one form that is recorded, so that one coding has one hash."""
    return " ".join(f"{name}={facets[name]}" for name in sorted(facets)) or None


def _about(
    acts: Act | Sequence[Act], kind: str, codebook: Codebook, act_id: str | None, at: str | None
) -> Act:
    step = [acts] if isinstance(acts, Act) else list(acts) if isinstance(acts, list | tuple) else []
    if not step or not all(isinstance(one, Act) for one in step) or len({one.undone_by for one in step}) > 1:
        raise ActError(
            f"{kind}: expected the act itself, or all acts of one step – found {type(acts).__name__} – take "
            "them from store.acts(coder=…)."
        )
    for one in step:
        _refuse_lasting(one, kind)
    unit_id, round = place_of_step(step)
    return Act(
        kind=kind,
        target=step[0].undone_by,
        unit_id=unit_id,
        round=round,
        **stamp(step[0].coder, codebook, act_id, at),
    )


def _refuse_lasting(act: Act, kind: str) -> None:
    if act.traits.takes_back:
        raise ActError(
            f"{kind}: expected an act that can be undone – found an act of kind {act.kind!r} – name the act "
            "that it was about."
        )
    if act.traits.by == "team":
        raise ActError(
            f"{kind}: expected an act that can be undone – found one of kind {act.kind!r}, which the team "
            "has seen – open another round; assign, revise or set options again; edit the theme back; "
            "amend the plan; answer the proposal again."
        )


_LONGEST_LABEL: Final = 200
_LONGEST_DEFINITION: Final = 1000
_MOST_EXAMPLES: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Proposal:
    """A proposed code: label and definition. The repr shows neither, since both may quote.

    Parameters
    ----------
    label, definition : str
        As for `propose`.
    origin, theme, examples
        For a code that a model proposes: as for `propose`.

    Raises
    ------
    ActError
        The label is not one line of 1 to 200 characters, the definition has more than 1000, or the origin is
        not as for `propose`.
    """

    label: str
    definition: str = ""
    origin: str = ""
    theme: int | None = None
    examples: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not _is_line(self.label) or len(self.label) > _LONGEST_LABEL:
            raise ActError(
                f"proposal: expected a label of one line of 1 to {_LONGEST_LABEL} characters, without white "
                f"space at its ends – found {_described(self.label)} – name the code in a few words."
            )
        if not isinstance(self.definition, str) or len(self.definition) > _LONGEST_DEFINITION:
            raise ActError(
                f"proposal: expected a definition of at most {_LONGEST_DEFINITION} characters – found "
                f"{_described(self.definition)} – shorten it, and put the rest into a memo."
            )
        self._check_origin()

    def _check_origin(self) -> None:
        no_origin = isinstance(self.origin, str) and self.origin == ""
        if not no_origin and (not _is_line(self.origin) or len(self.origin) > _LONGEST_LABEL):
            raise ActError(
                f"proposal: expected an origin of one line, at most {_LONGEST_LABEL} characters – found "
                f"{_described(self.origin)} – name the model in a few words."
            )
        if self.theme is not None and (type(self.theme) is not int or self.theme < 0):
            raise ActError(
                "proposal: expected the number of a theme of the study as theme, or None – found another – "
                "see store.themes.summary."
            )
        ids = self.examples if isinstance(self.examples, tuple) else (None,)
        if len(ids) > _MOST_EXAMPLES or not all(isinstance(one, str) and one for one in ids):
            raise ActError(
                f"proposal: expected the ids of at most {_MOST_EXAMPLES} units as examples – found others – "
                "name fewer."
            )

    def __repr__(self) -> str:
        return f"Proposal({len(self.label)} + {len(self.definition)} characters)"

    def to_text(self) -> str:
        """Return the text of an act of kind ``propose``."""
        content: dict[str, Any] = {"definition": self.definition, "label": self.label}
        by_model = {"origin": self.origin, "theme": self.theme, "examples": list(self.examples)}
        content |= {name: value for name, value in by_model.items() if value not in ("", None, [])}
        return json.dumps(content, ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_text(cls, text: str | None) -> Proposal:
        """Return the proposal of an act of kind ``propose``.

        Raises
        ------
        ActError
            The text is not what `to_text` wrote.
        """
        check_arguments(Proposal.from_text, locals())
        try:
            content: dict[str, Any] = json.loads(str(text))
            by_model = {name: content[name] for name in ("origin", "theme") if name in content}
            proposal = cls(
                label=content["label"],
                definition=content["definition"],
                examples=tuple(content.get("examples", ())),
                **by_model,
            )
            if proposal.to_text() != text:
                raise ValueError("more, or in another form")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            if isinstance(error, ActError):
                raise
            raise ActError(
                "proposal: expected the label and definition of a code – found something else – make it "
                "with acts.propose."
            ) from None
        return proposal


def propose(
    *,
    coder: str,
    label: str,
    unit_id: str,
    codebook: Codebook,
    definition: str = "",
    origin: str = "",
    theme: int | None = None,
    examples: Sequence[str] = (),
    start: int | None = None,
    end: int | None = None,
    round: str | None = None,
    act_id: str | None = None,
    at: str | None = None,
) -> Act:
    """Propose a code that `codebook` lacks, as seen in a unit or in its code points `start` … `end`.

    Parameters
    ----------
    label : str
        Its name: one line of 1 to 200 characters.
    definition : str
        What it means, in at most 1000 characters.
    origin : str
        The model that proposes it, in a line of at most 200 characters; empty for a person's own proposal.
        Whoever makes a code of it is told.
    theme : int, optional
        The theme of the study that it comes from.
    examples : sequence of str
        The ids of at most 20 further units that show it.

    Raises
    ------
    ActError
        The label, the definition or the origin is malformed, or a value is out of its range.

    Examples
    --------
    >>> sense7 = Codebook.read("sense7")
    >>> propose(coder="ana", label="Hope", definition="Looks forward to something.", unit_id="m17",
    ...         codebook=sense7).kind
    'propose'
    """
    check_arguments(propose, locals())
    text = Proposal(
        label=label, definition=definition, origin=origin, theme=theme, examples=tuple(examples)
    ).to_text()
    return Act(
        kind="propose",
        unit_id=unit_id,
        start=start,
        end=end,
        round=round,
        text=text,
        **stamp(coder, codebook, act_id, at),
    )


def words_written(text: str) -> str:
    """Return the words of a memo (with its quote if it is on a span) or of a proposal."""
    check_arguments(words_written, locals())
    with suppress(ActError):
        proposal = Proposal.from_text(text)
        return f"{proposal.label} {proposal.definition} {proposal.origin}".rstrip()
    with suppress(ActError):
        memo = SpanMemo.from_text(text)
        return f"{memo.text} {memo.quote}"
    return text


def _is_line(value: object) -> bool:
    return is_name(value) and len(str(value).splitlines()) == 1 and "\t" not in str(value)


def _described(value: object) -> str:
    return f"{len(value)} characters" if isinstance(value, str) else type(value).__name__
