"""The kinds of act: what each needs, what it decides about and leaves, and what its text is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

By: TypeAlias = Literal["coder", "lead", "team"]
TextOf: TypeAlias = Literal["none", "quote", "written", "reason", "content"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What is true of every act of one kind.

    Attributes
    ----------
    name : str
        As it is recorded.
    by : {"coder", "lead", "team"}
        Whose it is: a coder's own; the lead's; or what the lead does for the whole team, which all see at
        once and nobody undoes. In PostgreSQL only a leading role adds those of the lead and of the team.
    needs : tuple of str
        The fields that it must have.
    subject, key : str, tuple of str
        What it decides about (without one: what its name says), and the fields that say which one: of the
        acts of a coder about the same one the last counts. Who codes what, and how, is the "work".
    leaves : {"this", "nothing", "while_worded"}
        What is left after it: itself, nothing, or itself as long as it has a text.
    text : {"none", "quote", "written", "reason", "content"}
        What its text is: the participant's words, which the store fills in; what a person wrote in words of
        their own, which may repeat a participant's (erased, it is empty); something with a reason in it; or
        what the act says, in a form of its own.
    noun : str
        What its text is called.
    code : {"none", "codable", "ever"}
        Whether its code must be one that can be applied now, or may be one of any version.
    facets : {"none", "coding", "ruling", "quote", "abstention"}
        How its facets are read.
    undoable : bool
        Whether its coder can undo it.
    of_models : bool
        Whether only a model makes it.
    model_use : str
        For what it shows that a model was used, whoever made it.
    stays : bool
        Whether it stays with the study when texts are handed out: no other coder needs it to code.
    """

    name: str
    by: By = "coder"
    needs: tuple[str, ...] = ()
    subject: str = ""
    key: tuple[str, ...] = ("act_id",)
    leaves: Literal["this", "nothing", "while_worded"] = "this"
    text: TextOf = "none"
    noun: str = ""
    code: Literal["none", "codable", "ever"] = "none"
    facets: Literal["none", "coding", "ruling", "quote", "abstention"] = "none"
    undoable: bool = True
    of_models: bool = False
    model_use: str = ""
    stays: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "subject", self.subject or self.name)

    @property
    def takes_back(self) -> bool:
        """Whether it undoes an act or does it again."""
        return "target" in self.needs

    @property
    def decides(self) -> bool:
        """Whether it is part of what a coder decides on a text."""
        return self.subject in ("coding", "coverage") or self.takes_back

    @property
    def is_own_step(self) -> bool:
        """Whether it is a step of a coder's own, which the coder can take back."""
        return self.by == "coder" and self.undoable

    @property
    def in_a_round(self) -> bool:
        """Whether one in a round that was opened must be by a coder of it, on a text of it."""
        return self.by == "coder" and "unit_id" in self.needs


def _team(
    name: str, subject: str, text: TextOf = "content", *, needs: tuple[str, ...] = ("text",), **more: Any
) -> Kind:
    return replace(
        Kind(name=name, by="team", needs=needs, subject=subject, text=text, undoable=False), **more
    )


_CODING: Final = ("unit_id", "code", "start", "end", "round")
_KINDS: Final = (
    Kind(
        name="apply",
        needs=("unit_id", "code"),
        subject="coding",
        key=_CODING,
        text="quote",
        code="codable",
        facets="coding",
    ),
    Kind(
        name="remove", needs=("unit_id", "code"), subject="coding", key=_CODING, leaves="nothing", code="ever"
    ),
    Kind(name="finish", needs=("unit_id",), subject="coverage", key=("unit_id", "round")),
    Kind(name="reopen", needs=("unit_id",), subject="coverage", key=("unit_id", "round"), leaves="nothing"),
    Kind(
        name="memo",
        needs=("target_kind", "memo_id", "text"),
        subject="memo",
        key=("memo_id",),
        leaves="while_worded",
        text="written",
        noun="memo",
        code="ever",
    ),
    Kind(
        name="rule",
        by="lead",
        needs=("unit_id", "code"),
        subject="ruling",
        key=("unit_id", "code"),
        text="written",
        noun="ruling",
        code="codable",
        facets="ruling",
        stays=True,
    ),
    Kind(
        name="propose",
        needs=("unit_id", "text"),
        subject="proposal",
        leaves="while_worded",
        text="written",
        noun="proposal",
    ),
    Kind(
        name="show_suggestions",
        needs=("unit_id",),
        text="content",
        undoable=False,
        model_use="suggestions",
        stays=True,
    ),
    Kind(
        name="reject_suggestion",
        needs=("unit_id", "code"),
        subject="rejection",
        key=("unit_id", "code", "round"),
        code="codable",
    ),
    Kind(
        name="describe", needs=("text",), key=(), text="content", undoable=False, of_models=True, stays=True
    ),
    Kind(
        name="abstain",
        needs=("unit_id", "code", "facets"),
        subject="abstention",
        key=("unit_id", "code", "round"),
        code="codable",
        facets="abstention",
        undoable=False,
        of_models=True,
    ),
    Kind(
        name="quote",
        by="lead",
        needs=("unit_id", "code", "facets"),
        text="written",
        noun="paraphrase",
        code="codable",
        facets="quote",
        stays=True,
    ),
    Kind(name="undo", needs=("target",), undoable=False),
    Kind(name="redo", needs=("target",), undoable=False),
    _team("open_round", "work", needs=("round", "text")),
    _team(
        "answer",
        "memo",
        "written",
        needs=("memo_id", "text"),
        key=("memo_id",),
        leaves="while_worded",
        noun="memo",
        code="ever",
    ),
    _team("unblind", "work", "none", needs=("round",)),
    _team("assign", "work"),
    _team("revise", "codebook", "reason", noun="revision"),
    _team("set_options", "work"),
    _team("record_themes", "themes", model_use="themes", stays=True),
    _team("edit_theme", "themes", "written", noun="theme", stays=True),
    _team("preregister", "plan", "reason", noun="analysis plan", stays=True),
)

KINDS: Final = {kind.name: kind for kind in _KINDS}
"""Every kind of act, by its name."""


def kinds_where(holds: Callable[[Kind], bool]) -> tuple[str, ...]:
    """Return the names of the kinds of which something is true, in their order.

    Examples
    --------
    >>> kinds_where(lambda kind: kind.subject == "coverage")
    ('finish', 'reopen')
    """
    return tuple(kind.name for kind in KINDS.values() if holds(kind))
