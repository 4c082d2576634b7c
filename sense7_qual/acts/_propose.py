"""Proposing a code that the codebook lacks, from the text in which it was seen."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from sense7_qual._arguments import check_arguments, is_name
from sense7_qual.acts._act import Act
from sense7_qual.acts._make import stamp
from sense7_qual.acts._memo import SpanMemo
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError

__all__ = ["Proposal", "propose", "words_written"]

_LONGEST_LABEL: Final = 200
_LONGEST_DEFINITION: Final = 1000
_MOST_EXAMPLES: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Proposal:
    """A code that is proposed: its label and its definition. The repr says neither: both may quote.

    Parameters
    ----------
    label, definition : str
        As `propose` takes them.
    origin, theme, examples
        Of a code that a model proposes: as `propose` takes them.

    Raises
    ------
    ActError
        The label is no line of 1 to 200 characters, the definition has more than 1000, or what says where it
        comes from is not as `propose` takes it.
    """

    label: str
    definition: str = ""
    origin: str = ""
    theme: int | None = None
    examples: tuple[str, ...] = ()

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
        self._check_origin()

    def _check_origin(self) -> None:
        no_origin = isinstance(self.origin, str) and self.origin == ""
        if not no_origin and (not _is_line(self.origin) or len(self.origin) > _LONGEST_LABEL):
            raise ActError(
                f"proposal: expected as origin one line of at most {_LONGEST_LABEL} characters – found "
                f"{_described(self.origin)} – name the model in a few words."
            )
        if self.theme is not None and (type(self.theme) is not int or self.theme < 0):
            raise ActError(
                "proposal: expected as theme the number of a theme of the study, or None – found another – "
                "see store.themes.summary."
            )
        ids = self.examples if isinstance(self.examples, tuple) else (None,)
        if len(ids) > _MOST_EXAMPLES or not all(isinstance(one, str) and one for one in ids):
            raise ActError(
                f"proposal: expected as examples the ids of at most {_MOST_EXAMPLES} units – found others – "
                "name fewer of them."
            )

    def __repr__(self) -> str:
        return f"Proposal({len(self.label)} + {len(self.definition)} characters)"

    def to_text(self) -> str:
        """Return what an act of kind ``propose`` holds as its text."""
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
                label=content["label"], definition=content["definition"],
                examples=tuple(content.get("examples", ())), **by_model,
            )  # fmt: skip
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
        Which model proposes it, in a line of at most 200 characters; empty where a person does, who read it
        in the text. Whoever makes a code of it is told.
    theme : int, optional
        The theme of the study that it is proposed of.
    examples : sequence of str
        The ids of at most 20 further units that show it.

    Raises
    ------
    ActError
        The label, the definition or the origin is not so, or a value is out of its range.

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
        kind="propose", unit_id=unit_id, start=start, end=end, round=round, text=text,
        **stamp(coder, codebook, act_id, at),
    )  # fmt: skip


def words_written(text: str) -> str:
    """Return the words of a memo, with its quote where it is on a span, or of a proposal."""
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
