"""Write a study as a REFI-QDA project (.qdpx), which ATLAS.ti, MAXQDA, NVivo, QualCoder and others read."""

from __future__ import annotations

import io
import re
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._atomic import write_by_suffix
from sense7_qual._messages import did_you_mean, first_three
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.exchange import _refi
from sense7_qual.exchange._match import LayoutName, layout_of
from sense7_qual.exchange._positions import Rule
from sense7_qual.exchange._project import (
    GROUPS,
    QUOTATIONS,
    LossReport,
    Study,
    losses_of,
    require_study,
    rows_of,
    standing,
    with_suggestions,
)
from sense7_qual.exchange._write_selections import Notes, Selections, Variables, Words, first_time

_COUNTED: Final = {
    "code-points": Rule(utf16=False, crlf_as_two=False, bom_counted=False),
    "utf-16": Rule(utf16=True, crlf_as_two=False, bom_counted=False),
}


def write_project(
    store: Study,
    path: str | Path,
    *,
    offsets: str = "code-points",
    layout: LayoutName = "texts",
    groups: pd.DataFrame | None = None,
    quotations: pd.DataFrame | None = None,
    overwrite: bool = False,
) -> LossReport:
    """Write a study as a REFI-QDA project (.qdpx): texts, codes, codings of each coder, memos and variables.

    The codings are those that `Store.decisions` counts, carried over to the present codebook, and those of
    texts that are not finished yet. The texts that a coder finished become groups of texts; facets and
    confidence of a coding become a note on it, and so does that it was made before or after a model's
    suggestions were shown. A model that codes is a user called ``model-…``. The same study gives the same
    bytes.

    Parameters
    ----------
    store : Store
        The study, as whoever has it open may see it, with their own private memos.
    path : str or Path
        Ending in .qdpx.
    offsets : {"code-points", "utf-16"}
        How positions are counted: in code points, as the standard says, or in UTF-16 units, for NVivo. They
        differ behind the first emoji of a text.
    layout : {"texts", "participants"}
        A source for each text; or one for each participant, with their texts one below the other, each under
        its id in brackets: for programs with an unusable list of sources. `match` finds the texts in
        such a source again.
    groups, quotations : DataFrame, optional
        Groups of codes, and passages without a code, that the study came with: `Project.groups` and
        `Project.quotations`, in the ids of the study.
    overwrite : bool
        Whether to replace an existing file.

    Returns
    -------
    LossReport
        What the file does not hold as the study does; the file contains this report, too.

    Raises
    ------
    ArgumentError
        `path` does not end in .qdpx, or `offsets` is neither of the two.
    TableError
        `groups` or `quotations` name a code or text that the study does not have, or a passage outside it.
    StoreError
        There is such a file, and `overwrite` is false.

    References
    ----------
    REFI-QDA standard 1.5, https://www.qdasoftware.org.

    Examples
    --------
    ``exchange.write_project(store, "study.qdpx")``; for NVivo ``offsets="utf-16"``.
    """
    check_arguments(write_project, locals(), but=("store", "path"))
    require_study(store, "write_project")
    if offsets not in _COUNTED:
        raise ArgumentError(
            f"write_project: expected offsets 'code-points' or 'utf-16' – found {str(offsets)[:40]!r} – "
            f"{did_you_mean(str(offsets), list(_COUNTED))}"
        )
    kept = _of_study(store, groups, quotations)
    writer = _Writer(store, offsets, layout, *kept)
    formats = {".qdpx": lambda: writer.packed(Path(path).stem)}
    write_by_suffix(path, formats, what="project", overwrite=overwrite)
    return writer.report


def _of_study(
    store: Study, groups: pd.DataFrame | None, quotations: pd.DataFrame | None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return groups and quotations, checked: of codes and texts that the study has."""
    grouped = GROUPS.empty() if groups is None else GROUPS.check(groups, as_written=True)
    quoted = QUOTATIONS.empty() if quotations is None else QUOTATIONS.check(quotations, as_written=True)
    lengths = store.units.set_index("unit_id")["text"].str.len()
    inside = (quoted["start"] >= 0) & (quoted["start"] < quoted["end"])
    inside &= (quoted["end"] <= quoted["unit_id"].map(lengths)).fillna(False)
    for name, column, bad in (
        ("groups", "code", grouped["code"].dropna()[~grouped["code"].dropna().isin(store.codebook.ids)]),
        ("quotations", "unit_id", quoted["unit_id"][~inside]),
    ):
        if len(bad):
            raise TableError(
                f"write_project: expected {name} within the study – found {len(bad)} rows with another "
                f"{column}, or a passage outside its text ({first_three(dict.fromkeys(bad))}) – take them "
                "out, or give them the study's ids."
            )
    return grouped, quoted


class _Writer:
    """Writes one study, and counts what the format has no place for."""

    def __init__(
        self, store: Study, offsets: str, layout: LayoutName, groups: pd.DataFrame, quotations: pd.DataFrame
    ) -> None:
        self.store, self.offsets, self.rule = store, offsets, _COUNTED[offsets]
        self.layout = layout_of(store.units, layout)
        self.units, self.codebook = self.layout.units, store.codebook
        self.groups, self.quotations = groups, self.layout.codings(quotations)
        self.lost: dict[str, list[str]] = defaultdict(list)
        self.words = Words(self.lost)
        self.notes = Notes(self.words, self.lost, first_time(act.at for act in store.acts()))
        self.texts = dict(zip(self.units["unit_id"], self.units["text"], strict=True))
        self.sources = {unit_id: _refi.guid("unit", unit_id) for unit_id in self.units["unit_id"]}
        self.variables = Variables(self.units, self.words.plain, self.lost)
        self.report = LossReport()

    def packed(self, name: str) -> bytes:
        content = self._xml(name)
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            _put(archive, "project.qde", content.encode())
            for unit_id, own in self.sources.items():
                _put(archive, f"sources/{own}.txt", self.texts[unit_id].encode())
        return packed.getvalue()

    def _xml(self, name: str) -> str:
        self.codings, self.undecided = self._standing()
        memos = self.layout.memos(self.store.memos())
        coverage = self._coverage()
        on_code = self._memos(memos, "code")
        codes, own_set, self.codes = _refi.codebook_lines(self.codebook, on_code)
        sources = self._sources(memos)
        study_memos = [note for notes in self._memos(memos, "study").values() for note in notes]
        sets = [own_set.strip(), *self._finished(coverage), *self._undecided_sets(), *self._group_sets()]
        cases = self.variables.cases(self.sources)
        users = {*coverage["coder"], *self.codings["coder"], *memos["coder"], *self.quotations["coder"]}
        self._what_is_left_out()
        self.report = losses_of(self.lost.items())
        lines = [
            '<?xml version="1.0" encoding="utf-8"?>',
            f'<Project xmlns="urn:QDA-XML:project:1.0" name={self.words.quoted(name)} '
            f'origin="{_refi.ORIGIN} {self.offsets}">',
            *_wrapped("Users", [self._user(coder) for coder in sorted(users)]),
            f"<CodeBook>{codes}</CodeBook>",
            *_wrapped("Variables", self.variables.names()),
            *_wrapped("Cases", cases),
            *_wrapped("Sources", sources),
            *_wrapped("Notes", self.notes.xml()),
            *_wrapped("Sets", sets),
            f"<Description>{self.words.escaped(self._about())}</Description>",
            *(f'<NoteRef targetGUID="{note}"/>' for note in study_memos),
            "</Project>",
        ]
        return "\n".join(lines) + "\n"

    def _standing(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the codings under the present codebook, and what is open since it changed."""
        now, undecided, earlier = standing(self.store)
        self.lost["codings of unfinished texts under an earlier codebook: left out"] += list(
            earlier["unit_id"]
        )
        self.lost["decisions that are open since the codebook changed: a group of texts for each code"] += (
            list(undecided["unit_id"])
        )
        now = with_suggestions(self.store, now)
        now["suggestions"] = now["suggestions"].where(now["suggestions"].isin(["before", "after"]))
        both = pd.concat([now, self._consensus()], ignore_index=True)
        return self.layout.codings(both), undecided

    def _consensus(self) -> pd.DataFrame:
        """Return the agreed decisions as codings of whole texts, where somebody settled any."""
        if not self.store.rulings():
            return pd.DataFrame()
        decided = self.store.decisions(settled_by="rulings")
        return decided.loc[decided["applied"], ["unit_id", "coder", "code"]]

    def _coverage(self) -> pd.DataFrame:
        coverage = self.store.coverage(models=True).sort_values(
            "finished_at", kind="stable", na_position="first"
        )
        last = coverage.drop_duplicates(["unit_id", "coder"], keep="last").sort_index()
        rows = last[["unit_id", "coder", "round"]]
        if self.store.rulings():
            decided = self.store.decisions(settled_by="rulings")
            settled = decided[["unit_id", "coder"]].drop_duplicates()
            rows = pd.concat([rows, settled], ignore_index=True)
            n_codes = len(self.codebook.codable)
            per_unit = decided.groupby("unit_id", sort=False)["code"].agg(set)
            codes = [code.id for code in self.codebook.codable]
            open_still = [
                (unit_id, "consensus", code)
                for unit_id, those in per_unit.items()
                if len(those) < n_codes
                for code in codes
                if code not in those
            ]
            extra = pd.DataFrame(open_still, columns=["unit_id", "coder", "code"], dtype="string")
            self.undecided = pd.concat([self.undecided, extra], ignore_index=True)
        if self.layout.joined:  # a group of whole texts cannot name a part of a source
            self.lost["texts with decisions that are open: not named, as sources hold several"] += list(
                self.undecided["unit_id"]
            )
            self.undecided = self.undecided.head(0)
        return self.layout.finished(rows)

    def _user(self, coder: str) -> str:
        name = self.words.quoted(coder)
        return f'<User guid="{_refi.guid("coder", coder)}" name={name} id={name}/>'

    def _sources(self, memos: pd.DataFrame) -> list[str]:
        """Return each text with its selections, the memos on it, and the values of its variables."""
        selections = Selections(self.texts, self.notes, self.words)
        selections.add_codings(self.codings, self.codes, self.codebook)
        selections.add_memos(memos)
        selections.add_quotations(self.quotations, self.lost)
        on_unit = self._memos(memos, "unit")
        values = self.variables.values()
        sources = []
        for unit_id, own in self.sources.items():
            described = self._context.get(unit_id)
            parts = [
                *([f"<Description>{self.words.escaped(described)}</Description>"] if described else []),
                *selections.xml(unit_id, self.rule),
                *(f'<NoteRef targetGUID="{note}"/>' for note in on_unit.get(unit_id, [])),
                *values[unit_id],
            ]
            head = f'<TextSource guid="{own}" name={self.words.quoted(unit_id)} plainTextPath="internal://{own}.txt">'
            sources.append("\n".join([head, *parts, "</TextSource>"]))
        return sources

    @property
    def _context(self) -> dict[str, str]:
        if "context" not in self.units:
            return {}
        with_context = self.units[self.units["context"].notna()]
        return dict(zip(with_context["unit_id"], with_context["context"], strict=True))

    def _memos(self, memos: pd.DataFrame, kind: str) -> dict[str, list[str]]:
        """Return the identifiers of the notes on each target of this kind."""
        notes: dict[str, list[str]] = {}
        for memo in rows_of(memos[memos["target_kind"] == kind]):
            target = memo["target_id"] if kind != "study" else "study"
            if kind == "code" and target not in self.codebook.ids:
                self.lost["memos on codes that the codebook has no more: on the study"].append(target)
                continue
            notes.setdefault(target, []).append(self.notes.memo(memo))
        return notes

    def _finished(self, coverage: pd.DataFrame) -> list[str]:
        rounds = coverage["round"].fillna("")
        sets = []
        for names, rows in coverage.groupby(["coder", rounds], sort=True):
            coder, round = map(str, names)
            stated = {"coder": coder, **({"round": round} if round else {})}
            name = f"Finished by {coder}" + (f" in round {round}" if round else "")
            sets.append(self._set(name, _refi.labelled(_refi.FINISHED, stated), "", rows["unit_id"]))
        return sets

    def _undecided_sets(self) -> list[str]:
        sets = []
        for names, rows in self.undecided.groupby(["coder", "code"], sort=True):
            coder, code = map(str, names)
            stated = _refi.labelled(_refi.UNDECIDED, {"coder": coder, "code": code})
            member = f'<MemberCode targetGUID="{self.codes[code]}"/>'
            name = f"Not decided by {coder}: {self.codebook[code].label}"
            sets.append(self._set(name, stated, member, rows["unit_id"]))
        return sets

    def _group_sets(self) -> list[str]:
        sets = []
        for name, rows in self.groups.groupby("group", sort=False):
            described = rows["description"].dropna()
            first = (
                f"<Description>{self.words.escaped(described.iloc[0])}</Description>"
                if len(described)
                else ""
            )
            codes = (f'\n<MemberCode targetGUID="{self.codes[each]}"/>' for each in rows["code"].dropna())
            head = f'<Set guid="{_refi.guid("group", f"group {name}")}" name={self.words.quoted(str(name))}>'
            sets.append("".join([head, first, *codes, "\n</Set>"]))
        return sets

    def _set(self, name: str, description: str, codes: str, unit_ids: Iterable[str]) -> str:
        members = "".join(f'\n<MemberSource targetGUID="{self.sources[each]}"/>' for each in unit_ids)
        return (
            f'<Set guid="{_refi.guid("set", description)}" name={self.words.quoted(name)}>'
            f"<Description>{self.words.escaped(description)}</Description>{codes}{members}\n</Set>"
        )

    def _what_is_left_out(self) -> None:
        joined = "texts that share a source with the others of their participant"
        self.lost[joined] += self.layout.together
        self.lost["variables that differ between the texts of a participant: left out"] += (
            self.layout.left_out
        )
        beyond = {
            unit_id for unit_id, text in self.texts.items() if re.search("[\U00010000-\U0010ffff]", text)
        }
        on_them = [unit_id for unit_id in self.codings["unit_id"] if unit_id in beyond]
        other = (
            "UTF-16 units, as NVivo does"
            if self.offsets == "code-points"
            else "code points, as the standard says"
        )
        self.lost[f"codings of texts with emoji: misplaced by programs that count in {other}"] += on_them
        acts = self.store.acts()
        self.lost["acts: the history of the coding; the file has the current state"] += [""] * len(acts)
        self.lost["rulings: their reasons and notes; the file has the agreed codes"] += [
            act.unit_id or "" for act in self.store.rulings()
        ]
        self.lost["proposals of codes: left out"] += list(self.store.proposals()["proposal_id"])
        earlier = [each for each in self.store.codebooks if each != self.codebook.fingerprint]
        self.lost["earlier versions of the codebook: left out"] += [each[:12] for each in earlier]
        self.lost[
            "ways in which codings say more than a code (facets, confidence, suggestions …): as notes"
        ] += [""] * len(self.notes)
        labels = Counter(code.label for code in self.codebook.codes)
        self.lost[
            "codes that share a name: programs that know a code by its name, as QualCoder, read one"
        ] += [code.id for code in self.codebook.codes if labels[code.label] > 1]

    def _about(self) -> str:
        report = losses_of(self.lost.items())
        return (
            f"Positions count {self.offsets.replace('-', ' ')}, from 0; ends are exclusive. What this file "
            f"does not hold as the study does:\n{report}"
        )


def _wrapped(name: str, lines: Iterable[str]) -> list[str]:
    """Return lines inside an element; nothing where there are none: the standard allows no empty one."""
    inside = list(lines)
    return [f"<{name}>", *inside, f"</{name}>"] if inside else []


def _put(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    member = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    member.compress_type, member.create_system, member.external_attr = zipfile.ZIP_DEFLATED, 3, 0o600 << 16
    archive.writestr(member, content)
