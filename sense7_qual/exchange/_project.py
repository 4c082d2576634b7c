"""A project of another program, as values of this package."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol
from xml.etree.ElementTree import Element, SubElement

import pandas as pd

from sense7_qual import codings as _codings
from sense7_qual._contract import Column, Contract
from sense7_qual._messages import first_three
from sense7_qual.acts import Act
from sense7_qual.adjudication import SettledBy
from sense7_qual.codebook import Codebook, Revision
from sense7_qual.codings import carried
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.exchange._archive import Tree, local, plain_guid
from sense7_qual.frames import is_model
from sense7_qual.suggestions import made_when

GROUPS: Final = Contract(
    "groups",
    ("group", "code"),
    {"group": Column("id"), "description, code": Column("string")},
    frozenset({"code"}),
)
QUOTATIONS: Final = Contract(
    "quotations",
    ("unit_id", "coder", "start", "end"),
    {"unit_id, coder": Column("id"), "start, end": Column("integer"), "name, at": Column("string")},
)
_CELL: Final = ["unit_id", "coder", "code"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Project:
    """What a REFI-QDA project file (.qdpx) holds, in the frames of this package.

    Parameters
    ----------
    name, origin, description : str
        The project's name, the program that wrote it, and its description.
    units : DataFrame
        One row per text (`frames.UNITS`): unit_id is the name of the source, case_id the case that it belongs
        to (missing where it belongs to none), and each variable is a column.
    codings : DataFrame
        One row per coding (`frames.CODINGS`), with a column for each facet of the codebook, and
        `suggestions`: "before" or "after" a model's suggestions were shown to the coder, else missing.
        `start` and `end` count Unicode code points of the text; both are missing where a whole text is coded.
    coverage : DataFrame
        The texts that each coder finished (`frames.COVERAGE`); empty if the program does not note them.
    undecided : DataFrame
        unit_id, coder, code: codes that are undecided on a coder's finished text: they came later, or a
        model could not decide.
    memos : DataFrame
        One row per memo (`frames.MEMOS`).
    quotations : DataFrame
        One row per passage that was selected and has neither code nor memo: unit_id, coder, start, end (code
        points, half-open), name (where that is not its words), at. `write_project` takes
        it back.
    codebook : Codebook or None
        The codes; None where the project has none.
    groups : DataFrame
        One row per code in a group of codes: group, description, code (missing in a group of none); a code
        may be in several. `write_project` takes it back. Groups of texts are columns of `units`.
    coders : tuple of str
        Who coded or wrote memos, sorted.
    offsets : DataFrame
        One row per text with selections: unit_id, rule (how positions are counted there), score (the
        probability of that rule, 0–1; missing without a text), selections, on_borders (the share of their
        ends that lie on borders of words, 0–1), quotes_noted and quotes (the number of quotes noted with
        them, and of those that match the selection).
    losses : LossReport
        What was not read, or was changed.
    """

    name: str
    origin: str
    description: str
    units: pd.DataFrame
    codings: pd.DataFrame
    coverage: pd.DataFrame
    undecided: pd.DataFrame
    memos: pd.DataFrame
    quotations: pd.DataFrame
    codebook: Codebook | None
    groups: pd.DataFrame
    coders: tuple[str, ...]
    offsets: pd.DataFrame
    losses: LossReport

    def __repr__(self) -> str:
        n_codes = 0 if self.codebook is None else len(self.codebook)
        return (
            f"Project({len(self.units)} units, {n_codes} codes, {len(self.coders)} coders, "
            f"{len(self.codings)} codings, {len(self.memos)} memos, {len(self.losses)} kinds of losses)"
        )

    def decisions(self) -> pd.DataFrame:
        """Return every finished unit × coder × code, with whether the code is applied there.

        As `codings.decisions`; a code that a coder did not decide on a text has no row there.

        Raises
        ------
        TableError
            The file does not say which texts a coder finished: a code that is not on a text may be absent, or
            the text not read. Whoever knows states it in a frame `coverage` and calls `codings.decisions`.
        """
        if self.codebook is None or self.coverage.empty:
            raise TableError(
                "decisions: the project does not record which texts each coder finished (other programs do "
                "not). Make a frame of unit_id and coder for the texts that you know to be finished (round, "
                "finished_at and codebook missing), and pass it to codings.decisions."
            )
        decided = _codings.decisions(self.codings, self.coverage, self.codebook)
        key = ["unit_id", "coder", "code"]
        known = decided.merge(self.undecided, on=key, how="left", indicator="open_still")
        return known.loc[known["open_still"] == "left_only", decided.columns].reset_index(drop=True)


class Study(Protocol):
    """What is written: anything that has these, as a `Store` does."""

    @property
    def units(self) -> pd.DataFrame:
        """The texts."""

    @property
    def codebook(self) -> Codebook:
        """The present codebook."""

    @property
    def codebooks(self) -> Mapping[str, Codebook]:
        """Every version of it."""

    def codings(self, *, models: bool = ...) -> pd.DataFrame:
        """Return the current codings."""

    def coverage(self, *, models: bool = ...) -> pd.DataFrame:
        """Return the coverage."""

    def memos(self) -> pd.DataFrame:
        """Return the current memos."""

    def proposals(self) -> pd.DataFrame:
        """Return the codes that coders proposed."""

    def decisions(self, *, settled_by: SettledBy | None = ..., models: bool = ...) -> pd.DataFrame:
        """Return the coders' decisions."""

    def rulings(self) -> list[Act]:
        """Return the current rulings."""

    def acts(self) -> list[Act]:
        """Return every act."""

    @property
    def revisions(self) -> tuple[Revision, ...]:
        """Return the revisions of the codebook."""


def standing(store: Study) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the codings that count, what is open on finished texts, and what is left out.

    Open is what the codebook left open when it changed, and what a model could not decide. Codings of
    finished texts are carried over to the present codebook. Of texts that are not finished yet those count
    that were made under it; those under an earlier one are left out.
    """
    codings, coverage = store.codings(models=True), store.coverage(models=True)
    now, undecided = carried(codings, coverage, store.codebook, revisions=store.revisions)
    undecided = pd.concat([undecided, _open_to_models(store, coverage)]).drop_duplicates(_CELL)
    pairs = pd.MultiIndex.from_frame(coverage[["unit_id", "coder"]])
    begun = codings[~pd.MultiIndex.from_frame(codings[["unit_id", "coder"]]).isin(pairs)]
    current = begun["codebook"].fillna(store.codebook.fingerprint) == store.codebook.fingerprint
    return pd.concat([now, begun[current]], ignore_index=True), undecided, begun[~current]


def with_suggestions(store: Study, codings: pd.DataFrame) -> pd.DataFrame:
    """Return codings with a column that tells people, people after suggestions, and models apart."""
    made = made_when(store.acts())
    when = dict(zip(zip(made["coder"], made["act_id"], strict=True), made["when"], strict=True))
    keys = zip(codings["coder"], codings["act_id"], strict=True)
    return codings.assign(suggestions=pd.array([when.get(key) for key in keys], dtype="string"))


def _open_to_models(store: Study, coverage: pd.DataFrame) -> pd.DataFrame:
    """Return each unit, model and code of a finished text on which the model has no decision."""
    of_models = coverage.loc[coverage["coder"].map(is_model).astype(bool), _CELL[:2]].drop_duplicates()
    codes = pd.DataFrame({"code": [code.id for code in store.codebook.codable]}, dtype="string")
    grid = of_models.merge(codes, how="cross")
    decided = store.decisions(models=True)[_CELL] if len(grid) else grid
    found = grid.merge(decided, on=_CELL, how="left", indicator="found")["found"]
    return grid[(found == "left_only").to_numpy()]


def require_study(store: Study, function: str) -> None:
    """Raise `ArgumentError` where `store` is no open study."""
    if not all(hasattr(store, name) for name in ("units", "codebook", "codings", "decisions", "memos")):
        raise ArgumentError(
            f"{function}: expected an open study as store – found {type(store).__name__} – pass Store(path)."
        )


def rows_of(frame: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Return the rows of a frame, each as its values by column."""
    return (dict(zip(frame.columns, row, strict=True)) for row in frame.itertuples(index=False, name=None))


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """One thing that a file does not hold as the study does, or that was not read as the file has it.

    Parameters
    ----------
    what : str
        The thing, and what became of it, in a sentence.
    n : int
        How many of them there are.
    where : str
        The first three ids, where there are ids.
    """

    what: str
    n: int
    where: str = ""

    def __str__(self) -> str:
        return f"{self.n:,} × {self.what}" + (f" ({self.where})" if self.where else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class LossReport:
    """Everything that was lost or changed on the way into a file, or out of it; empty where nothing was.

    Parameters
    ----------
    losses : tuple of Loss
        In the order in which they were met.
    """

    losses: tuple[Loss, ...] = ()

    def __iter__(self) -> Iterator[Loss]:
        return iter(self.losses)

    def __len__(self) -> int:
        return len(self.losses)

    def __str__(self) -> str:
        return "\n".join(map(str, self.losses)) or "nothing was lost"

    @property
    def frame(self) -> pd.DataFrame:
        """One row per loss: what, n, where."""
        rows = [(loss.what, loss.n, loss.where) for loss in self.losses]
        return pd.DataFrame(rows, columns=["what", "n", "where"]).astype({"n": "int64"})


def losses_of(counted: Iterable[tuple[str, Iterable[object] | int]]) -> LossReport:
    """Return the report of what is not zero: of each sentence the ids that it is about, or their number."""
    losses = []
    for what, those in counted:
        ids = [] if isinstance(those, int) else list(those)
        named = dict.fromkeys(filter(None, ids))
        n = those if isinstance(those, int) else len(ids)
        if n:
            losses.append(Loss(what=what, n=n, where=first_three(named) if named else ""))
    return LossReport(losses=tuple(losses))


_PLACES = ("TextRange", "TextSelection", "PlainTextSelection")


def put_in_place(tree: Tree) -> list[str]:
    """Put each such coding under a new selection of its text; return the names of the texts.

    A coding without a place, text or code in the file stays where it is, and is counted as not read.
    """
    sources = {plain_guid(each.get("guid")): each for each in _sources(tree.root)}
    names = []
    for coding, source in _misplaced(tree.root):
        for place in (each for each in list(coding) if local(each) in _PLACES):
            named = place.get("sourceGUID") or coding.get("codingSourceGUID") or coding.get("sourceGUID")
            text = sources.get(plain_guid(named)) if named else source
            if text is not None:
                tree.of(coding, local(place))
                _select(tree, text, coding, place)
                names.append(text.get("name") or "")
    return names


def has_place(coding: Element) -> bool:
    """Return True if a coding has its own place in the text."""
    return any(local(each) in _PLACES for each in coding)


def _select(tree: Tree, text: Element, coding: Element, place: Element) -> None:
    tag = str(text.tag).removesuffix("TextSource")
    if coding.get("codeGUID") and tree.first(coding, "CodeRef") is None:
        SubElement(coding, f"{tag}CodeRef", {"targetGUID": coding.get("codeGUID", "")})
    start, end = (place.get(name) or place.get(f"{name}Position") or "" for name in ("start", "end"))
    span = {"guid": coding.get("guid", ""), "startPosition": start, "endPosition": end}
    SubElement(text, f"{tag}PlainTextSelection", span).append(coding)


def _sources(root: Element) -> Iterator[Element]:
    return (each for one in root if local(one) == "Sources" for each in one if local(each) == "TextSource")


def _misplaced(root: Element) -> list[tuple[Element, Element | None]]:
    """Return the codings at the top, and those in a text that have a place of their own."""
    at_top: list[tuple[Element, Element | None]] = [
        (each, None)
        for one in root
        for each in (one if local(one) == "Codings" else [one])
        if local(each) == "Coding"
    ]
    return at_top + [
        (each, source)
        for source in _sources(root)
        for each in source
        if local(each) == "Coding" and has_place(each)
    ]
