"""Proposing a code that the codebook lacks, from the text in which it was seen."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from sense7_qual._arguments import check_arguments
from sense7_qual._checks import is_name
from sense7_qual.acts._act import Act
from sense7_qual.acts._make import stamp
from sense7_qual.acts._memo import SpanMemo
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError

__all__ = ["Proposal", "propose", "words_written"]

_LONGEST_LABEL: Final = 200
_LONGEST_DEFINITION: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Proposal:
    """A code that is proposed: its label and its definition. The repr says neither: both may quote.

    Raises
    ------
    ActError
        The label is no line of 1 to 200 characters, or the definition has more than 1000.
    """

    label: str
    definition: str = ""

    def __post_init__(self) -> None:
        if not _is_line(self.label) or len(self.label) > _LONGEST_LABEL:
            raise ActError(
                f"proposal: expected as label one line of 1 to {_LONGEST_LABEL} characters, without white "
                f"space at its ends – found {_described(self.label)} – name the code in a few words."
            )
        if not isinstance(self.definition, str) or len(self.definition) > _LONGEST_DEFINITION:
            raise ActError(
                f"proposal: expected a definition of at most {_LONGEST_DEFINITION} characters – found "
                f"{_described(self.definition)} – say it shorter; a memo takes the rest."
            )

    def __repr__(self) -> str:
        return f"Proposal({len(self.label)} + {len(self.definition)} characters)"

    def to_text(self) -> str:
        """Return what an act of kind ``propose`` holds as its text."""
        content = {"definition": self.definition, "label": self.label}
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
            proposal = cls(label=content["label"], definition=content["definition"])
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

    Raises
    ------
    ActError
        The label or the definition is not so, or a value is out of its range.

    Examples
    --------
    >>> sense7 = Codebook.read("sense7")
    >>> propose(coder="ana", label="Hope", definition="Looks forward to something.", unit_id="m17",
    ...         codebook=sense7).kind
    'propose'
    """
    check_arguments(propose, locals())
    text = Proposal(label=label, definition=definition).to_text()
    return Act(
        kind="propose", unit_id=unit_id, start=start, end=end, round=round, text=text,
        **stamp(coder, codebook, act_id, at),
    )  # fmt: skip


def words_written(text: str) -> str:
    """Return the words of a memo, with its quote where it is on a span, or of a proposal."""
    check_arguments(words_written, locals())
    with suppress(ActError):
        proposal = Proposal.from_text(text)
        return f"{proposal.label} {proposal.definition}"
    with suppress(ActError):
        memo = SpanMemo.from_text(text)
        return f"{memo.text} {memo.quote}"
    return text


def _is_line(value: object) -> bool:
    return is_name(value) and len(str(value).splitlines()) == 1 and "\t" not in str(value)


def _described(value: object) -> str:
    return f"{len(value)} characters" if isinstance(value, str) else type(value).__name__
