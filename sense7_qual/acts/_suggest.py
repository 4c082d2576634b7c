"""What a model suggested to a coder, and how a model that codes was asked: acts, though never codings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sense7_qual._arguments import check_arguments, is_name
from sense7_qual.acts._act import Act, check_codable, check_word, stamp
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError

_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A code that a model suggests for a text.

    Parameters
    ----------
    code : str
        The code's id.
    probability : float, optional
        0 to 1; None if the model gives none.
    start, end : int, optional
        The words that show it, in code points, half-open; both None for the whole text.

    Raises
    ------
    ActError
        A value is of another type, or out of its range.
    """

    code: str
    probability: float | None = None
    start: int | None = None
    end: int | None = None

    def __post_init__(self) -> None:
        chance, span = self.probability, (self.start, self.end)
        in_range = chance is None or (type(chance) in (int, float) and 0 <= chance <= 1)
        inside = span == (None, None) or (
            all(type(one) is int for one in span) and 0 <= (self.start or 0) < (self.end or 0)
        )
        if not isinstance(self.code, str) or not self.code or not in_range or not inside:
            raise ActError(
                "suggestion: expected a code, a probability from 0 to 1 or None, and start before end or "
                "neither – found others – check the model with suggestions.check."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggested:
    """The suggestions that a coder was shown on a text, or that they were withheld by chance.

    Parameters
    ----------
    model : str
        The name of the model, one line of 1 to 200 characters.
    suggestions : tuple of Suggestion
        In the order shown; each code once; empty if `withheld`.
    withheld : bool
        Whether the text was drawn to get no suggestions.
    when : {"finished", "shown"}
        Whether suggestions are shown once the coder has finished the text, or from the start.

    Raises
    ------
    ActError
        A value does not have this form.
    """

    model: str
    suggestions: tuple[Suggestion, ...] = ()
    withheld: bool = False
    when: str = "finished"

    def __post_init__(self) -> None:
        if not is_name(self.model) or len(self.model) > _LONGEST_NAME or len(self.model.splitlines()) != 1:
            raise ActError(
                f"suggestions: expected a model's name of one line, 1 to {_LONGEST_NAME} characters – found "
                f"{type(self.model).__name__} – name the model in a few words."
            )
        check_word("when", self.when, ("finished", "shown"))
        if type(self.withheld) is not bool:
            raise ActError(
                "suggestions: expected withheld to be True or False – found "
                f"{type(self.withheld).__name__} – say whether suggestions were withheld by chance."
            )
        rows = self.suggestions
        codes = [one.code for one in rows if isinstance(one, Suggestion)] if isinstance(rows, tuple) else None
        if codes is None or len(set(codes)) < len(rows) or (self.withheld and rows):
            raise ActError(
                "suggestions: expected a tuple of Suggestion, each code once, empty if withheld – found "
                f"another {type(rows).__name__} – make the act with "
                "acts.contents.show_suggestions."
            )

    def to_text(self) -> str:
        """Return the text of an act of kind ``show_suggestions``, without words of a participant."""
        return json.dumps(asdict(self), ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_text(cls, text: str | None) -> Suggested:
        """Return the content of an act of kind ``show_suggestions``.

        Raises
        ------
        ActError
            The text is not what `to_text` wrote.
        """
        check_arguments(Suggested.from_text, locals())
        try:
            content: dict[str, Any] = json.loads(str(text))
            rows = tuple(Suggestion(**one) for one in content.pop("suggestions"))
            suggested = cls(suggestions=rows, **content)
            if suggested.to_text() != text:
                raise ValueError("another form")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            if isinstance(error, ActError):
                raise
            raise ActError(
                "suggestions: expected what a coder was shown – found something else – make it with "
                "acts.contents.show_suggestions."
            ) from None
        return suggested


def show_suggestions(
    *,
    coder: str,
    unit_id: str,
    codebook: Codebook,
    model: str,
    suggestions: Sequence[Suggestion] = (),
    withheld: bool = False,
    when: str = "finished",
    round: str | None = None,
    act_id: str | None = None,
    at: str | None = None,
) -> Act:
    """Record the suggestions of a model for a unit before a coder sees them; they are never codings.

    Parameters
    ----------
    model : str
        The name of the model: one line of 1 to 200 characters.
    suggestions : sequence of Suggestion
        The suggestions shown; empty if the model suggests nothing.
    withheld : bool
        Whether they were withheld by chance (`suggestions.withheld`).
    when : {"finished", "shown"}
        Whether they are shown after the coder finished the unit, or from the start.

    Raises
    ------
    ActError
        A value is out of its range, or a code only groups others.
    CodebookError
        The codebook has no such code.

    Examples
    --------
    >>> shown = show_suggestions(coder="ana", unit_id="m17", codebook=Codebook.read("sense7"),
    ...                          model="definitions", suggestions=[Suggestion(code="interest")])
    >>> Suggested.from_text(shown.text).suggestions[0].code
    'interest'
    """
    check_arguments(show_suggestions, locals())
    shown = Suggested(model=model, suggestions=tuple(suggestions), withheld=withheld, when=when)
    for one in shown.suggestions:
        check_codable(codebook, unit_id, one.code)
    return Act(
        kind="show_suggestions",
        unit_id=unit_id,
        round=round,
        text=shown.to_text(),
        **stamp(coder, codebook, act_id, at),
    )


def reject_suggestion(
    *,
    coder: str,
    unit_id: str,
    code: str,
    codebook: Codebook,
    round: str | None = None,
    act_id: str | None = None,
    at: str | None = None,
) -> Act:
    """Record that a coder finds a suggested code wrong for a unit; this changes no coding.

    Raises
    ------
    CodebookError
        The codebook has no such code.
    ActError
        The code only groups others, or a value is out of its range.

    Examples
    --------
    >>> reject_suggestion(coder="ana", unit_id="m17", code="interest", codebook=Codebook.read("sense7")).kind
    'reject_suggestion'
    """
    check_arguments(reject_suggestion, locals())
    check_codable(codebook, unit_id, code)
    return Act(
        kind="reject_suggestion",
        unit_id=unit_id,
        code=code,
        round=round,
        **stamp(coder, codebook, act_id, at),
    )


def describe(
    *,
    coder: str,
    settings: Mapping[str, Any],
    codebook: Codebook,
    round: str | None = None,
    act_id: str | None = None,
    at: str | None = None,
) -> Act:
    """Record how the model `coder` was asked, before its codings; made by `coders.Run.acts`.

    Parameters
    ----------
    settings : mapping
        What JSON can hold: model, parameters, prompts, counts. No words of a participant and no path.

    Raises
    ------
    ActError
        The coder is no model (``model-…``), or JSON cannot hold the settings.

    Examples
    --------
    >>> act = describe(coder="model-a", settings={"model": "a-2025"}, codebook=Codebook.read("sense7"))
    >>> settings_of(act)
    {'model': 'a-2025'}
    """
    check_arguments(describe, locals())
    try:
        text = json.dumps(dict(settings), ensure_ascii=False, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise ActError(
            "describe: expected settings that JSON can hold – found others – pass names with numbers, words, "
            "lists or mappings."
        ) from None
    return Act(kind="describe", round=round, text=text, **stamp(coder, codebook, act_id, at))


def settings_of(act: Act) -> dict[str, Any]:
    """Return the settings of an act of kind ``describe``.

    Raises
    ------
    ActError
        The text is not what `describe` wrote.
    """
    check_arguments(settings_of, locals())
    try:
        settings = json.loads(str(act.text))
        if isinstance(settings, dict):
            return settings
    except (ValueError, RecursionError):
        pass
    raise ActError(
        "describe: expected the settings of a model – found something else – record the run with "
        "store.record_model."
    )


def abstain(
    *,
    coder: str,
    unit_id: str,
    code: str,
    reason: str,
    codebook: Codebook,
    round: str | None = None,
    act_id: str | None = None,
    at: str | None = None,
) -> Act:
    """Record that the model `coder` has no decision on a code in a unit: it is missing, not absent.

    Parameters
    ----------
    reason : str
        Why: unsure, quote_not_in_text, no_quote, unparsable, no_answer or blank_text.

    Raises
    ------
    CodebookError
        The codebook has no such code.
    ActError
        The coder is no model (``model-…``), the code only groups others, or there is no such reason.

    Examples
    --------
    >>> abstain(coder="model-a", unit_id="m17", code="interest", reason="unsure",
    ...         codebook=Codebook.read("sense7")).facets
    'reason=unsure'
    """
    check_arguments(abstain, locals())
    check_codable(codebook, unit_id, code)
    return Act(
        kind="abstain",
        unit_id=unit_id,
        code=code,
        facets=f"reason={reason}",
        round=round,
        **stamp(coder, codebook, act_id, at),
    )


def shows_suggestions(act: Act) -> bool:
    """Return True if a coder was shown suggestions; an act that a withdrawal emptied counts as shown."""
    return act.kind == "show_suggestions" and (act.text is None or not Suggested.from_text(act.text).withheld)
