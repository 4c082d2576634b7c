"""One recorded act of one person, and what its values may be."""

from __future__ import annotations

import json
import operator
import re
import unicodedata
import uuid
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import attrgetter
from types import MappingProxyType, NoneType
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from sense7_qual._arguments import check_arguments, is_name
from sense7_qual._coder_names import spelling
from sense7_qual._messages import did_you_mean, word
from sense7_qual._reasons import Reason
from sense7_qual.acts._kinds import KINDS, Kind
from sense7_qual.codebook import Codebook, check_codebook
from sense7_qual.errors import ActError
from sense7_qual.frames import MODEL_PREFIX, RESERVED_CODERS, is_model

CONFIDENCES: Final = ("sure", "unsure")
FOUND_BY: Final = ("search",)

_ACT_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """One recorded step of one person.

    Made by `apply`, `remove`, `finish`, `reopen`, `memo`, `rule`, `propose`, `quote`, `undo` and `redo`,
    which say what each kind needs. The repr leaves `text` out, because it holds participants' words.

    Parameters
    ----------
    act_id : str
        A UUID, so that sending the act twice changes nothing.
    kind : str
        One of the kinds in the table of this package.
    coder : str
        The pseudonym of the person, or the name of the model.
    at : str
        The time in UTC, as ISO 8601 with milliseconds.
    codebook : str
        The fingerprint of the codebook in use.
    unit_id, code : str, optional
        What the act is about.
    start, end : int, optional
        The span in Unicode code points, half-open; both missing for the whole unit.
    facets : str, optional
        The facets of a coding, sorted: ``intensity=high valence=met`` (`facet_values` reads them); the reason
        of a ruling: ``reason=slip`` (`reason` reads it); why a model abstains: ``reason=unsure``; the
        decision about a quote: ``role=shows state=approved words=original``.
    confidence, round : str, optional
        Whether the coder is unsure of a coding; the round of coding it belongs to. A memo with a round is for
        the team, which sees it once the round is unblinded; only its writer sees one without.
    applied : bool, optional
        The decision of a ruling; None if both readings are kept (`rule`).
    target : str, optional
        The act that is undone or redone, or the step.
    step : str, optional
        The UUID of the step that it is part of. The acts of a step are recorded together, and are undone and
        redone together.
    moved_from : str, optional
        Where the edges of a coding are corrected: the act that applied the code to the earlier words. The
        coding counts as decided when it was first applied.
    found_by : {"search"}, optional
        How the coder came to the words of a coding: among all results of a search, coded at once. The words
        searched for are not recorded.
    answers : str, optional
        The memo that a memo for the team answers: its memo_id.
    target_kind, memo_id : str, optional
        What a memo is about, and the memo that it revises.
    text : str, optional
        The memo (`memo_text` reads it), the quote of a span, the proposed code, the note of a ruling, the
        paraphrase of a quote, or the content of suggestions, a round, a plan, a revision, a setting, themes,
        their change or an analysis plan. The store keeps it apart from the act.

    Raises
    ------
    ActError
        A value does not have the form above.
    """

    act_id: str
    kind: str
    coder: str
    at: str
    codebook: str
    unit_id: str | None = None
    code: str | None = None
    start: int | None = None
    end: int | None = None
    facets: str | None = None
    confidence: str | None = None
    round: str | None = None
    applied: bool | None = None
    target: str | None = None
    target_kind: str | None = None
    memo_id: str | None = None
    step: str | None = None
    moved_from: str | None = None
    found_by: str | None = None
    answers: str | None = None
    text: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "coder", check_coder(self.coder))
        check_word("kind", self.kind, KINDS)
        if self.facets is not None:
            facet_values(self.facets)
        if self.confidence is not None:
            check_word("confidence", self.confidence, CONFIDENCES)
        if not isinstance(self.act_id, str) or not _ACT_ID.fullmatch(self.act_id):
            raise ActError(
                f"act: expected a lower-case UUID as act_id – found {word(self.act_id)} – leave act_id "
                "out to have one made."
            )
        if not _TEXT_OR_NONE.issuperset(map(type, _texts_of(self))):  # all at once: there may be a million
            self._check_texts()
        if not (self.step is self.moved_from is self.found_by is self.answers is None):
            self._check_step()
        if self.round is not None and not is_name(self.round):
            raise ActError(
                "act: expected the name of a round – found one that is empty, not text, or has a space at "
                "an end or a control character – use the name of an open round, or leave it out."
            )
        if self.start is not None or self.end is not None:
            self._check_span()
        if self.at is None or self.codebook is None:
            raise ActError(
                "act: expected at and codebook – found none – make acts with acts.apply and the like."
            )
        for name in self.traits.needs:
            if getattr(self, name) is None:
                raise ActError(f"act: expected {name} for kind {self.kind!r} – found none – name it.")
        if self.traits.facets == "ruling":
            check_reason(self.reason, self.applied)
        if self.traits.facets == "abstention":
            check_word("reason", facet_values(str(self.facets)).get("reason", ""), _ABSTENTIONS)
        if self.traits.of_models and not is_model(self.coder):
            raise ActError(
                f"act: expected a model (model-…) as the coder of kind {self.kind!r} – found {self.coder!r} "
                "– record the run of a model with store.record_model."
            )
        if self.traits.facets == "quote":
            check_paraphrase(quote_decision(self.facets).paraphrased, self.text)

    def _check_texts(self) -> None:
        for name in _TEXTS:
            if not isinstance(getattr(self, name), str | None):
                raise ActError(
                    f"act: expected text as {name} – found {type(getattr(self, name)).__name__} – convert it "
                    "with str()."
                )

    def _check_step(self) -> None:
        if self.answers is not None:
            self._check_answer()
        if self.found_by is not None:
            self._check_found(self.found_by)
        for name in ("step", "moved_from"):
            if not _ACT_ID.fullmatch(getattr(self, name) or self.act_id):
                raise ActError(f"act: {name} must be a lower-case UUID – found {word(getattr(self, name))}.")
        if self.step is not None and not self.traits.undoable:
            raise ActError(f"act: only acts that can be undone belong to a step – found kind {self.kind!r}.")
        if self.moved_from is not None and (self.kind != "apply" or self.step is None or self.start is None):
            raise ActError(
                "act: moved_from belongs to an act that applies a code to words, in a step that also removes "
                "the code from the earlier words – leave it out."
            )

    def _check_found(self, found_by: str) -> None:
        check_word("found_by", found_by, FOUND_BY)
        if self.kind != "apply":
            raise ActError(
                f"act: found_by belongs to an act that applies a code – found kind {self.kind!r} – leave it "
                "out."
            )

    def _check_answer(self) -> None:
        if self.kind != "memo" or self.round is None or self.answers in ("", self.memo_id):
            raise ActError(
                "act: answers belongs to a memo for the team (with a round) and must name another memo – "
                "leave it out."
            )

    def _check_span(self) -> None:
        for name, value in (("start", self.start), ("end", self.end)):
            if value is not None and type(value) is not int:  # a frame's integers are NumPy's
                object.__setattr__(self, name, whole(value, name))
        if self.start is None or self.end is None or not 0 <= self.start < self.end:
            raise ActError(
                f"act on unit {word(self.unit_id)}: expected a span with 0 ≤ start < end – found start "
                f"{self.start}, end {self.end} – count code points, half-open, or leave both out for the "
                "whole unit."
            )

    @property
    def traits(self) -> Kind:
        """What is true of every act of its kind."""
        return KINDS[self.kind]

    @property
    def undone_by(self) -> str:
        """The target of an act that undoes it: its step, or the act itself."""
        return self.step or self.act_id

    @property
    def facet_values(self) -> dict[str, str]:
        """The value of each facet that a coding states."""
        return {} if self.facets is None else facet_values(self.facets)

    @property
    def reason(self) -> str | None:
        """Why the ruling was needed, out of `REASONS`; None where it has no reason, and of other acts."""
        return reason_of(self.facets) if self.traits.facets == "ruling" else None

    @property
    def memo_text(self) -> str:
        """What a memo says, without the quote of one on a span; empty where it was ended or erased."""
        if self.target_kind != "span" or not self.text:
            return self.text or ""
        return SpanMemo.from_text(self.text).text

    def __repr__(self) -> str:
        shown = ("kind", "coder", "unit_id", "code", "start", "end", "at", "act_id")
        parts = (f"{name}={getattr(self, name)!r}" for name in shown if getattr(self, name) is not None)
        return f"Act({', '.join(parts)})"


_TEXTS: Final = (
    "at",
    "codebook",
    "unit_id",
    "code",
    "target",
    "target_kind",
    "memo_id",
    "step",
    "moved_from",
    "answers",
    "text",
)
_texts_of: Final = attrgetter(*_TEXTS)
_TEXT_OR_NONE: Final = frozenset({str, NoneType})


_ABSTENTIONS: Final = (
    Reason.UNSURE,
    Reason.QUOTE_NOT_IN_TEXT,
    Reason.NO_QUOTE,
    Reason.UNPARSABLE,
    Reason.NO_ANSWER,
    Reason.BLANK_TEXT,
)
"""Why a model that codes has no decision on a text and a code."""

_PAIR = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}=[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
_ASCII: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
_LONGEST: Final = 40  # bytes of a pseudonym, which names files, and in PostgreSQL schemas (of 63 bytes)
# Letters and marks that nobody sees: names that differ in these alone would look the same.
_UNSEEN: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


def check_coder(coder: str) -> str:
    """Return the pseudonym `coder` in Unicode's normal form NFC, or raise `ActError` where it cannot be one.

    A pseudonym is a letter or digit of any script followed by letters, their accents, digits, ``_`` or ``-``:
    at most 40 bytes in UTF-8, which are 40 letters without accents or 13 Chinese characters (it becomes a
    file name). It is none of `RESERVED_CODERS`, nor looks like one. A model that codes is called ``model-…``,
    in lower case.

    Examples
    --------
    >>> check_coder("王芳"), check_coder("c\u0327elik") == "\u00e7elik"
    ('王芳', True)
    """
    name = unicodedata.normalize("NFC", coder) if isinstance(coder, str) else ""
    if not _is_pseudonym(name):
        raise ActError(
            f"coder: expected a pseudonym of letters, digits, '_' and '-' ({_LONGEST} bytes at most) – found "
            f"{word(coder)} – choose one that names no real person."
        )
    folded = name.lower() if name.isascii() else spelling(name)  # a study has a million acts
    if folded in RESERVED_CODERS:
        raise ActError(
            f"coder: expected a person's pseudonym – found {coder!r}, which names computed decisions – "
            "choose another."
        )
    if folded.startswith(MODEL_PREFIX) and not is_model(name):
        raise ActError(
            f"coder: expected a model to be called 'model-…' in lower case – found {coder!r} – write "
            "'model-a', say; a person needs another pseudonym."
        )
    return name


def _is_pseudonym(name: str) -> bool:
    if name.isascii():
        return _ASCII.fullmatch(name) is not None
    kinds = [unicodedata.category(letter) for letter in name]
    fit = all(
        kind[0] in "LM" or kind == "Nd" or letter in "_-" for letter, kind in zip(name, kinds, strict=True)
    )
    begins = bool(kinds) and (kinds[0][0] == "L" or kinds[0] == "Nd")
    return begins and fit and not _UNSEEN.search(name) and len(name.encode()) <= _LONGEST


def check_person(coder: str) -> str:
    """Return the pseudonym `coder` (in NFC), or raise `ActError` where it cannot be a person's.

    As `check_coder`; the name of a model (``model-…``) is none either: what a person decides would be left
    out of every statistic of people.

    Examples
    --------
    >>> check_person("modeller")
    'modeller'
    """
    name = check_coder(coder)
    if is_model(name):
        raise ActError(
            f"coder: expected a person's pseudonym – found {coder!r}, which names a model – choose one that "
            f"does not begin with {MODEL_PREFIX!r}."
        )
    return name


def check_codable(codebook: Codebook, unit_id: str, code: str) -> None:
    """Raise where the codebook has no such code, or the code only groups others."""
    if not check_codebook(codebook)[code].codable:
        raise ActError(
            f"act on unit {word(unit_id)}: expected a code that can be applied – found {code!r}, which only "
            "groups others – use one of the codes under it."
        )


def check_word(name: str, value: str, known: Collection[str]) -> None:
    """Raise `ActError` where `value` is none of the known words."""
    if not isinstance(value, str) or value not in known:
        raise ActError(
            f"act: expected {name} out of {', '.join(known)} – found {word(value)} – "
            f"{did_you_mean(str(value), known)}"
        )


def facet_values(text: str) -> dict[str, str]:
    """Read the facets of an act, or raise `ActError` where they are not in the one form that is recorded."""
    pairs = text.split(" ") if isinstance(text, str) else []
    names = [pair.partition("=")[0] for pair in pairs]
    if not pairs or not all(map(_PAIR.fullmatch, pairs)) or names != sorted(set(names)):
        raise ActError(
            f"act: expected facets like 'intensity=high valence=met', sorted – found {word(text)} – pass "
            "facets={…} to acts.apply."
        )
    return dict(pair.split("=") for pair in pairs)


def whole(value: Any, name: str) -> int:
    """Return a whole number of any kind (NumPy's, pandas') as Python's."""
    try:
        if isinstance(value, bool):
            raise TypeError
        return int(operator.index(value))
    except TypeError:
        raise ActError(
            f"act: expected a whole number of code points as {name} – found {type(value).__name__} – "
            "convert it with int()."
        ) from None


REASONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "slip": "A slip: overlooked or mistyped",
        "unclear_rule": "The rule of the code is unclear",
        "ambiguous_text": "The text is ambiguous",
        "missing_code": "The codebook lacks a code for it",
        "different_reading": "Legitimately different readings",
    }
)
"""Why coders disagreed, as a ruling says it, with the label of each reason."""

UNDECIDED: Final = "different_reading"
"""The reason of a ruling without a decision: both readings are kept as data."""


def check_reason(reason: str | None, applied: bool | None) -> None:
    """Raise `ActError` where a ruling decides nothing that can be, or its reason does not go with that."""
    if not isinstance(applied, bool | np.bool_ | None):  # the word "False" would be true
        raise ActError(
            f"ruling: expected applied to be True, False or None – found {type(applied).__name__} – say "
            "which."
        )
    if reason is not None and (not isinstance(reason, str) or reason not in REASONS):
        raise ActError(
            f"ruling: expected a reason out of {', '.join(REASONS)} – found {word(reason)} – "
            f"{did_you_mean(str(reason), REASONS)}"
        )
    if (reason == UNDECIDED) != (applied is None):
        given = "no decision" if applied is None else "a decision"
        raise ActError(
            f"ruling: expected applied to be None with the reason {UNDECIDED!r}, and with no other – found "
            f"{given} with {'no reason' if reason is None else repr(reason)} – pass True or False if one of "
            "the readings is right, with another reason or none."
        )


def reason_of(facets: str | None) -> str | None:
    """Return the reason in the facets of a ruling; None where it has none."""
    return None if facets is None else facet_values(facets).get("reason")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SpanMemo:
    """A memo on a span: its text, and the quote, which the store fills in. The repr shows neither.

    Raises
    ------
    ActError
        One of the two is no text, or the text is empty: an act with an empty text ends the memo.
    """

    text: str
    quote: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or not isinstance(self.quote, str) or not self.text:
            raise ActError(
                "memo: expected words as `text`, not empty, and as `quote` – found something else – make "
                "it with acts.memo; an empty text ends a memo."
            )

    def __repr__(self) -> str:
        return f"SpanMemo({len(self.text)} characters on {len(self.quote)})"

    def to_text(self) -> str:
        """Return the text of an act that writes a memo on a span."""
        return json.dumps({"memo": self.text, "quote": self.quote}, ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_text(cls, text: str | None) -> SpanMemo:
        """Return the memo of an act of kind ``memo`` on a span.

        Raises
        ------
        ActError
            The text is not what `to_text` wrote.
        """
        check_arguments(SpanMemo.from_text, locals())
        try:
            content: dict[str, Any] = json.loads(str(text))
            memo = cls(text=content["memo"], quote=content["quote"])
            if memo.to_text() != text:
                raise ValueError("more, or in another form")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise ActError(
                "memo: expected a memo with the words that it is about – found something else – make it with "
                "acts.memo."
            ) from None
        return memo


QUOTE_STATES: Final = ("chosen", "approved", "refused")
"""Set aside for print; may be printed as it is; must not be printed."""

QUOTE_ROLES: Final = ("shows", "disconfirms")
"""Whether a quote shows its code or speaks against it: it looks like the code and is none, say."""

_WORDS: Final = ("original", "paraphrase")
_LONGEST_PARAPHRASE: Final = 10_000


class QuoteDecision(NamedTuple):
    """What one act decides about a quote."""

    role: str
    state: str
    paraphrased: bool


def quote_decision(facets: str | None) -> QuoteDecision:
    """Return the decision of an act of kind ``quote``, or raise `ActError` if its facets are malformed."""
    values = {} if facets is None else facet_values(facets)
    for name, known in (
        ("role", QUOTE_ROLES),
        ("state", QUOTE_STATES),
        ("words", _WORDS),
    ):
        if values.get(name) not in known:
            raise ActError(
                f"quote: expected {name} out of {', '.join(known)} – found {word(values.get(name))} – "
                f"{did_you_mean(str(values.get(name)), known)}"
            )
    if len(values) > 3:
        raise ActError("quote: expected role, state and words – found more – make it with acts.quote.")
    return QuoteDecision(values["role"], values["state"], values["words"] == "paraphrase")


def quote_facets(role: str, state: str, words: Literal["original", "paraphrase"]) -> str:
    """Return the facets of an act of kind ``quote``, after checking them."""
    facets = f"role={role} state={state} words={words}"
    for name, value, known in (("role", role, QUOTE_ROLES), ("state", state, QUOTE_STATES)):
        if value not in known:
            raise ActError(
                f"quote: expected {name} out of {', '.join(known)} – found {word(value)} – "
                f"{did_you_mean(str(value), known)}"
            )
    return facets


def check_paraphrase(paraphrased: bool, text: str | None) -> None:
    """Raise `ActError` where an act lacks the paraphrase that it speaks of; an erased one is empty."""
    if paraphrased != (text is not None) or len(text or "") > _LONGEST_PARAPHRASE:
        found = "none" if text is None else f"{len(text)} characters"
        raise ActError(
            f"quote: expected a paraphrase of at most {_LONGEST_PARAPHRASE} characters with words=paraphrase "
            f"and none otherwise – found {found} – make it with acts.quote."
        )


def each_once(acts: Iterable[Act]) -> list[Act]:
    """Return the acts in order, without repeats; raise `ActError` if one is not an act."""
    order = list(acts) if isinstance(acts, Iterable) else [None]
    try:
        if len({act.act_id for act in order}) == len(order):
            return order  # without a table of a million pairs
        return list({(act.coder, act.act_id): act for act in order}.values())
    except (AttributeError, TypeError):
        raise ActError(
            f"fold: expected acts – found {type(acts).__name__} with other values – pass store.acts()."
        ) from None


def stamp(coder: str, codebook: Codebook, act_id: str | None, at: str | None) -> dict[str, Any]:
    """Return the coder, codebook, id and time of a new act; id and time are made unless given."""
    return {
        "coder": coder,
        "codebook": check_codebook(codebook).fingerprint,
        "act_id": str(uuid.uuid4()) if act_id is None else act_id,
        "at": _now() if at is None else at,
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"  # for +00:00
