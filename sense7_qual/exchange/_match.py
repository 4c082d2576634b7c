"""What another program's project says of a study that was sent there: its texts and codes found again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual.codebook import Codebook
from sense7_qual.corpus import canonical
from sense7_qual.exchange._project import LossReport, Project, Study, losses_of, require_study, standing
from sense7_qual.frames import CODINGS

_KEY = ["unit_id", "coder", "code", "start", "end"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Match:
    """A project in the ids of the study that it came from; its `repr` has counts only.

    Attributes
    ----------
    units : DataFrame
        One row per text of the study that is in the project: source, unit_id, by ("name", "text" or
        "participant": how it was found), start (where it begins in the source).
    codes : DataFrame
        One row per code of the project: code, label, known_as (the id of the study's code; missing if new).
    codings : DataFrame
        One row per coding of the project on a known text with a known code, as `frames.CODINGS`, in the
        study's ids, and `known`: whether the study has it.
    removed_codings : DataFrame
        Codings of the study on texts of the project that the project no longer has.
    losses : LossReport
        What could not be found.
    """

    units: pd.DataFrame
    codes: pd.DataFrame
    codings: pd.DataFrame
    removed_codings: pd.DataFrame
    losses: LossReport

    def __repr__(self) -> str:
        n_new = int((~self.codings["known"]).sum())
        return (
            f"Match({len(self.units)} texts, {n_new} new codings, {len(self.removed_codings)} removed, "
            f"{int(self.codes['known_as'].isna().sum())} new codes)"
        )


def match(store: Study, project: Project) -> Match:
    """Match a project of another program with the study that it came from, and list the changes.

    Programs give new identifiers when they export (ATLAS.ti) and rename what they like. So a text is found by
    its name and words, by its words alone, or in the source of its participant
    (``write_project(…, layout="participants")``); a code by its id, its place in the tree, or its label; a
    coding by text, coder, code and place (all words of a text are the whole text).
    Nothing is recorded.

    Parameters
    ----------
    store : Store
        The study that the project was written from.
    project : Project
        What `read_project` returned.

    Returns
    -------
    Match

    Raises
    ------
    ArgumentError
        `store` is no open study.

    Examples
    --------
    ``found = exchange.match(store, exchange.read_project("back.qdpx"))``, then ``found.codings`` where
    ``~found.codings["known"]``, each to be recorded with `acts.apply` where you agree.
    """
    check_arguments(match, locals(), but=("store",))
    require_study(store, "match")
    lost: dict[str, list[str]] = {}
    units = _units(store, project, lost)
    codes = _codes(store.codebook, project.codebook)
    old = codes.dropna(subset=["known_as"])
    known_as = dict(zip(old["code"], old["known_as"], strict=True))
    lengths = dict(zip(store.units["unit_id"], store.units["text"].map(len), strict=True))
    rows = list(_codings(project, _places(units, lengths), known_as, store.codebook, lost))
    columns = list(CODINGS.columns)
    read = CODINGS.check(pd.DataFrame(rows, columns=columns).drop_duplicates(_KEY), as_written=True)
    own, _, _ = standing(store)
    there = own[own["unit_id"].isin(units["unit_id"])]
    keys, known = _keys(read, lengths), _keys(there, lengths)
    found = read.assign(known=pd.Series(keys, index=read.index, dtype=object).isin(set(known)))
    removed = there[~pd.Series(known, index=there.index, dtype=object).isin(set(keys))].reset_index(drop=True)
    return Match(
        units=units, codes=codes, codings=found, removed_codings=removed, losses=losses_of(lost.items())
    )


def _keys(codings: pd.DataFrame, lengths: Mapping[str, int]) -> list[tuple[object, ...]]:
    """Return what makes two codings one; one of all words of a text is one of the whole text."""
    plain = codings[_KEY].astype(object).where(codings[_KEY].notna(), None)
    keys = plain.itertuples(index=False, name=None)
    return [
        (*who, None, None) if (start, end) == (0, lengths.get(who[0])) else (*who, start, end)
        for *who, start, end in keys
    ]


def _units(store: Study, project: Project, lost: dict[str, list[str]]) -> pd.DataFrame:
    texts = {
        unit_id: _plain(text) for unit_id, text in store.units[["unit_id", "text"]].itertuples(index=False)
    }
    times = Counter(texts.values())
    by_text = {text: unit_id for unit_id, text in texts.items() if times[text] == 1}
    layout = layout_of(store.units, "participants")
    sources = dict(zip(layout.units["unit_id"], layout.units["text"].map(_plain), strict=True))
    of_participants = {text: source for source, text in sources.items()}
    rows: list[tuple[str, str, str, int]] = []
    for source, text in project.units[["unit_id", "text"]].itertuples(index=False):
        words = None if pd.isna(text) else _plain(text)
        if words is not None and texts.get(source) == words:
            rows.append((source, source, "name", 0))
        elif words in by_text:
            rows.append((source, by_text[str(words)], "text", 0))
        elif words in of_participants:
            own = of_participants[str(words)]
            rows += [
                (source, unit_id, "participant", place.start)
                for unit_id, place in layout.places.items()
                if place.source == own
            ]
        else:
            lost.setdefault("sources that are no text of the study, or were changed: left out", []).append(
                source
            )
    frame = pd.DataFrame(rows, columns=["source", "unit_id", "by", "start"]).drop_duplicates("unit_id")
    return frame.astype({"source": "string", "unit_id": "string", "by": "string", "start": "int64"})


def _plain(text: Any) -> str:
    """Return a text as it is compared: in one form, without space at its end, which programs add or drop."""
    return "" if pd.isna(text) else canonical(str(text)).rstrip()


def _codes(own: Codebook, theirs: Codebook | None) -> pd.DataFrame:
    by_path = {_path(one.id, own): one.id for one in own.codes}
    times = Counter(one.label for one in own.codes)
    by_label = {one.label: one.id for one in own.codes if times[one.label] == 1}
    rows = []
    for code in () if theirs is None else theirs.codes:
        same = code.id if code.id in own and own[code.id].label == code.label else None
        path = by_path.get(_path(code.id, theirs)) if theirs is not None else None
        rows.append((code.id, code.label, same or path or by_label.get(code.label)))
    return pd.DataFrame(rows, columns=["code", "label", "known_as"]).astype("string")


def _path(code: str, book: Codebook) -> tuple[str, ...]:
    steps: tuple[str, ...] = ()
    at: str | None = code
    while at is not None:
        steps, at = (book[at].label, *steps), book[at].parent
    return steps


def _places(units: pd.DataFrame, lengths: Mapping[str, int]) -> dict[str, list[Place]]:
    """Return the texts in each source, with their places."""
    places: dict[str, list[Place]] = {}
    for row in units.itertuples():
        own = Place(str(row.unit_id), int(str(row.start)), lengths[str(row.unit_id)])
        places.setdefault(str(row.source), []).append(own)
    return places


def _codings(
    project: Project,
    places: Mapping[str, list[Place]],
    known_as: Mapping[str, str],
    codebook: Codebook,
    lost: dict[str, list[str]],
) -> Iterator[dict[str, object]]:
    for coding in project.codings.to_dict("records"):
        source, code = str(coding["unit_id"]), known_as.get(str(coding["code"]))
        if coding["coder"] == "consensus" or source not in places:
            continue
        if code is None:
            lost.setdefault("codings with a code that the study does not have: left out", []).append(source)
            continue
        found = list(_within(coding, places[source]))
        if not found:
            lost.setdefault("codings that are within no single text: left out", []).append(source)
        for unit_id, start, end in found:
            own = {str(name): value for name, value in coding.items()}
            own |= {"unit_id": unit_id, "code": code, "start": start, "end": end}
            yield own | {"codebook": codebook.fingerprint}


def _within(coding: Mapping[Any, Any], places: list[Place]) -> Iterator[tuple[str, int | None, int | None]]:
    """Yield the texts that a coding is on, and where in them: of a whole source, each text in it."""
    start, end = coding["start"], coding["end"]
    for place in places:
        if pd.isna(start):
            yield place.source, None, None
            continue
        first, last = int(start) - place.start, int(end) - place.start
        if first >= 0 and last <= place.length:
            whole = (first, last) == (0, place.length)
            yield place.source, None if whole else first, None if whole else last


LayoutName = Literal["texts", "participants"]

_OF_TEXTS: Final = ("unit_id", "text", "document_id", "case_id", "position", "context")


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a text: its source, its first character there, and its length."""

    source: str
    start: int
    length: int


@dataclass(frozen=True, slots=True, repr=False)
class Layout:
    """The sources as a frame of units, the place of each text in them, and what was left out."""

    units: pd.DataFrame
    places: Mapping[str, Place]
    joined: bool
    left_out: tuple[str, ...] = ()  # variables that differ between the texts of a source
    together: tuple[str, ...] = ()  # texts that share a source with others

    def codings(self, codings: pd.DataFrame) -> pd.DataFrame:
        """Return codings with their places in the sources: one of a whole text is of its words there."""
        return self._placed(codings, "unit_id") if self.joined else codings

    def memos(self, memos: pd.DataFrame) -> pd.DataFrame:
        """Return memos with their places in the sources: one on a whole text is on its words there."""
        if not self.joined:
            return memos
        on_text = memos["target_kind"].isin(["unit", "span"])
        placed = self._placed(memos[on_text], "target_id").assign(target_kind="span")
        return pd.concat([memos[~on_text], placed.astype({"target_kind": memos["target_kind"].dtype})])

    def finished(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the coders who finished each source: all of its texts, in one round."""
        if not self.joined:
            return rows
        sizes = pd.Series([place.source for place in self.places.values()]).value_counts()
        moved = rows.assign(unit_id=[self.places[unit].source for unit in rows["unit_id"]])
        counts = moved.groupby(["unit_id", "coder", "round"], dropna=False, sort=False).size()
        whole = counts[counts.to_numpy() == sizes.reindex(counts.index.get_level_values(0)).to_numpy()]
        found: pd.DataFrame = whole.reset_index()[["unit_id", "coder", "round"]]
        return found

    def _placed(self, rows: pd.DataFrame, column: str) -> pd.DataFrame:
        places = [self.places[unit_id] for unit_id in rows[column]]
        offset = pd.Series([place.start for place in places], index=rows.index, dtype="Int64")
        length = pd.Series([place.length for place in places], index=rows.index, dtype="Int64")
        first = rows["start"].astype("Int64").fillna(0) + offset
        last = rows["end"].astype("Int64").fillna(length) + offset
        sources = pd.array([place.source for place in places], dtype="string")
        placed = rows.assign(start=first, end=last)
        placed[column] = sources
        return placed


def layout_of(units: pd.DataFrame, name: LayoutName) -> Layout:
    """Return the sources of some units.

    With "participants" the texts of one participant share a source, in the order of `units`, each under
    its id in brackets; a text without a participant stays a source by itself.
    """
    if name == "texts":
        lengths = units["text"].str.len().fillna(0).astype(int)
        all_of = zip(units["unit_id"], lengths, strict=True)
        return Layout(units, {unit_id: Place(unit_id, 0, n) for unit_id, n in all_of}, joined=False)
    taken = set(units.loc[units["case_id"].isna(), "unit_id"])
    names = {
        case: case if case not in taken else f"{case} (participant)" for case in units["case_id"].dropna()
    }
    sources = units["case_id"].map(names).fillna(units["unit_id"])
    places: dict[str, Place] = {}
    rows: list[dict[str, object]] = []
    for source, own in units.groupby(sources, sort=False):
        text = ""
        alone = bool(own["case_id"].isna().any())
        for unit_id, words in zip(own["unit_id"], own["text"], strict=True):
            text += "" if alone else f"{'' if not text else chr(10) * 2}[{unit_id}]\n"
            places[unit_id] = Place(str(source), len(text), len(words))
            text += words
        rows.append(
            {
                "unit_id": str(source),
                "text": text,
                "document_id": str(source),
                "case_id": own["case_id"].iloc[0],
                "position": len(rows),
            }
        )
    frame = pd.DataFrame(rows).astype({one: units[one].dtype for one in ("unit_id", "text", "case_id")})
    alike, left_out = _variables(units, sources, frame)
    together = tuple(units.loc[sources.duplicated(keep=False), "unit_id"])
    return Layout(alike, places, joined=True, left_out=left_out, together=together)


def _variables(
    units: pd.DataFrame, sources: pd.Series, frame: pd.DataFrame
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the frame with the variables that are alike in each source, and the names of the others."""
    left_out = ["context"] if "context" in units and units["context"].notna().any() else []
    for name in (one for one in units.columns if one not in _OF_TEXTS):
        grouped = units[name].groupby(sources, sort=False)
        if (units.groupby([sources, units[name].astype("string").fillna("")]).ngroups) > grouped.ngroups:
            left_out.append(str(name))
        else:
            frame[name] = grouped.first().reindex(frame["unit_id"]).astype(units[name].dtype).array
    return frame, tuple(left_out)
