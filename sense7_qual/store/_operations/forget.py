"""Withdrawal: a participant's words leave the study, and the record of who did what stays whole.

What goes: the participant's units with their texts and variables; the quotes and memos on them; earlier turns
of the same conversations; and what surely repeats a passage of theirs: memos on other things, and the context
and variables of other units. What may be theirs is listed for a person to judge. Texts of other participants
are never changed. What stays: the ids of the units, the acts, and hashes that are salted, so that the chain
can be checked and nothing can be guessed back from it.

Texts are compared by their letters and digits alone (`units_parquet.normalised`): case, white space,
punctuation, accents and soft hyphens make no difference. Surely theirs are 25 of them, or a whole short text,
that no other participant's text has; to judge are 12 that are rare in the study (`units_parquet.Passages`).

A note in ``withdrawn/`` is written first: from that moment on no copy of the package shows or takes in those
words, also where a synced folder or a merge brings them back.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import pandas as pd
from sqlalchemy import Connection

from sense7_qual._messages import did_you_mean, first_three, legible
from sense7_qual.acts import Act, kinds_where, words_written
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError, CodebookError, Damaged, StoreError
from sense7_qual.store._files import (
    acts_files,
    drafts,
    layout,
    signed_json,
    study_notes,
    units_parquet,
    whole_files,
)
from sense7_qual.store._files.layout import Study
from sense7_qual.store._files.study_notes import Copy, Withdrawal
from sense7_qual.store._log import sqlite
from sense7_qual.store._log.broken_rows import rows_one_by_one
from sense7_qual.store._log.hash_chain import Link
from sense7_qual.store._operations import verify

__all__ = [
    "Forgotten",
    "Remaining",
    "Words",
    "copies",
    "forget",
    "forgotten",
    "noted",
    "noted_memos",
    "refuse_repeating",
    "refuse_withdrawn_units",
    "withdrawn_units",
    "words_of",
]

Remaining = tuple[str, str, str | None]
"""What still holds a participant's words (as in `Forgotten.still_held`), where, and since when."""

_UNIT: Final = "unit to judge"
_ADVICE: Final = {
    "backup": "delete it",
    "archive": "delete it",
    "hand-out": "have it deleted by who has it",
    "unfinished copy": "open the study again on the computer on which it was made, with its disk",
    "file": "look into it, and delete it",
    "damaged": "store.admin.salvage(coder, path), move the damaged acts out, store.copies.merge(path), "
    "forget again",
    "draft to judge": "open it in its widget; change or discard it there",
    "server": "ask its administrator how long they are kept",
    "codebook": "no call: acts count on every version; leave it out of what is published",
    "revision": "no call: the record keeps reasons; leave it out of what is published",
    "round": "no call: the record keeps names of rounds; leave it out of what is published",
    "analysis plan": "no call: the record keeps what was registered; leave it out of what is published",
    **dict.fromkeys(
        ["memo to judge", "proposal to judge", "ruling to judge", "theme to judge", "paraphrase to judge"],
        "read it; nothing takes a single one out, so keep it out of what is published",
    ),
    _UNIT: "no call: nobody else's data is changed; compare it with the original data",
    "note": "no call: notes of withdrawals stay; leave it out of what is published",
    "embedding cache": "models.clear_cache(folder)",
    "reply cache": "models.clear_cache(folder)",
    "notebook": "restart the kernel, clear the outputs and save",
}
_ELSEWHERE: Final[tuple[Remaining, ...]] = (
    ("embedding cache", "folders given to models.embedder(cache=…)", None),
    ("reply cache", "folders given to models.chat(cache=…)", None),
    ("notebook", "kernels that had the study open, and outputs that were saved", None),
)


@dataclass(frozen=True, slots=True, eq=False)
class Forgotten:
    """What was forgotten, and what still holds it.

    Attributes
    ----------
    case_id : str
        The participant.
    n_units, n_texts, n_memos_elsewhere : int
        Units that left the study; quotes and memos that were erased; how many of these were memos on
        something else that surely repeated their words: 25 letters and digits in a row, or a whole short
        text, that no other participant's text has.
    still_held : DataFrame
        One row per thing that holds their words, or may do so: what, place, at (of copies and acts; else
        missing), to_clear (the call, or what to do). what is one of

        - ``backup``, ``archive``, ``hand-out``: made before; ``file``: one that is none of the study's;
          ``unfinished copy``: one that is being made, or was when its process was killed;
        - ``codebook``, ``revision``, ``round``, ``analysis plan``, ``note``: a version, the reason for one,
          the name of a round, what was registered or the reason for a withdrawal that repeats, or may
          repeat, their words;
        - ``memo to judge``, ``proposal to judge``, ``ruling to judge``, ``theme to judge``, ``paraphrase to
          judge``, ``unit to judge``: a memo, a proposal, a ruling's note, a theme's name, the paraphrase of a
          quote, or another unit's text, context or variable that may repeat them: 12 letters and digits in a
          row over more than one word that no other participant's text has, or a longer passage that one has;
          whether it does takes a person to say;
        - ``draft to judge``: what somebody has begun and not saved, which may repeat them in the same way;
          what surely does is taken out;
        - ``damaged``: a coder's acts, in which no more than what can be read was erased (`Store.forget`);
          ``memo to judge`` names a whole file where it came back after the words to compare it with had gone;
        - ``server``, ``embedding cache``, ``reply cache``, ``notebook``: always there, since the study
          cannot look into them.

        File systems' snapshots and sync clients' histories may hold them, too.
    """

    case_id: str
    n_units: int
    n_texts: int
    n_memos_elsewhere: int
    still_held: pd.DataFrame

    def __repr__(self) -> str:
        return (
            f"Forgotten({self.case_id!r}, {self.n_units} units, {self.n_texts} quotes and memos; "
            f"{len(self.still_held)} copies or files may still hold them)"
        )


def forget(path: Path, case_id: str, *, why: str) -> Forgotten:
    """Remove the words of the participant `case_id` from the study folder `path`.

    Where the study's own files are damaged or the disk refuses, it raises; calling it again completes what
    was begun. Damaged acts files raise nothing: they are among what still holds words.
    """
    layout.refuse_newer(path, layout.read(path))
    acts_files.refuse_absent(path)
    with layout.exclusively(path):
        now = layout.read(path)
        layout.clear(path)
        before = study_notes.notes(path, Withdrawal)
        units = layout.stored_units(path, now)
        words = Words.of(units, before, case_id)
        memos = [memo for file in acts_files.acts_files(path) for memo in _repeating(file, now, words)]
        note, table = noted(units, before, words, why, memos, _codebooks(path))
        if note not in before:
            layout.note(path, note)
        layout.replace_units(path, table)
        # From here on no act with a word of theirs is taken in, so that what is there now is all.
        erased = [_erased(path, file, now, words, note) for file in acts_files.acts_files(path)]
        begun = list(_in_drafts(path, words))
        came_back = not units["unit_id"].isin(words.unit_ids).any()  # then no text is left to compare with
    notes = [each for each in study_notes.notes(path, Withdrawal) if each.case_id == case_id]
    remaining = [*copies(study_notes.notes(path, Copy), {each.id for each in notes}), *_in_files(path, words)]
    remaining += [each for _, _, rows in erased for each in rows] + begun
    remaining += [
        ("memo to judge", f"memos in {name}", None) for name, n_texts, _ in erased if came_back and n_texts
    ]
    return forgotten(words, sum(n_texts for _, n_texts, _ in erased), notes, remaining)


def _chain(connection: Connection, file: Path, now: Study) -> list[Link]:
    coder = verify.owner(connection) or acts_files.coder_of(file)
    return sqlite.read_chain(connection, file, study=now.id, coder=coder)


def _repeating(file: Path, now: Study, words: Words) -> list[str]:
    with suppress(Damaged), sqlite.transaction(file) as connection:
        return list(words.repeating(_chain(connection, file, now)))
    with suppress(Damaged):
        acts = {row["text_hash"]: row for _, row in rows_one_by_one(file, "acts", "seq") if row}
        texts = {row["text_hash"]: row["text"] for _, row in rows_one_by_one(file, "texts", "rowid") if row}
        return list(words.repeating_rows((name, text, acts.get(name, {})) for name, text in texts.items()))
    return []  # nothing in it can be read


def _erased(
    path: Path, file: Path, now: Study, words: Words, note: Withdrawal
) -> tuple[str, int, list[Remaining]]:
    """Erase their words from an acts file, also those that came in since it was first read; return its name,
    how many texts there were, and what still holds words: reasons, or the file where it is damaged."""
    name = file.relative_to(path).as_posix()
    memos = noted_memos(study_notes.notes(path, Withdrawal), words.case_id)
    chain: list[Link] | None = None
    with suppress(Damaged), sqlite.transaction(file, writes=True) as connection:
        read = _chain(connection, file, now)
        new = set(words.repeating(read)) - memos
        if new:
            again = replace(note, id=study_notes.new_id(), at=signed_json.now(), memos=tuple(sorted(new)))
            layout.note(path, again)
        n_texts = sqlite.erase(connection, words.unit_ids, sorted(memos | new))
        chain = read
    if chain is None:  # only here, where nothing of the failed reading holds the file any more
        return name, _erased_of_damaged(file, now, words, memos), [("damaged", name, None)]
    sqlite.write_anew(file)
    return name, n_texts, list(words.in_reasons(chain))


def _erased_of_damaged(file: Path, now: Study, words: Words, memos: Collection[str]) -> int:
    """Erase what acts say is theirs where the chain is broken and SQLite finds the tables sound. A file in
    which it does not is never written, which could cost others' acts (`Store.admin.salvage` saves these)."""
    n_texts = 0
    with suppress(Damaged):
        with sqlite.transaction(file, writes=True) as connection:
            same = sqlite.described(connection, "study") == now.id
            if same and sqlite.has_sound_tables(connection):
                n_texts = sqlite.erase(connection, words.unit_ids, memos)
        if n_texts:
            sqlite.write_anew(file)
    return n_texts


def noted_memos(notes: Sequence[Withdrawal], case_id: str) -> set[str]:
    """Return the hashes of all memos that were found to repeat words of a participant."""
    return {memo for each in notes if each.case_id == case_id for memo in each.memos}


def forgotten(
    words: Words, n_texts: int, notes: Sequence[Withdrawal], remaining: Sequence[Remaining]
) -> Forgotten:
    """Return what a withdrawal did; `remaining` is one row per thing that still has the words."""
    rows = [[legible(each) for each in row] for row in (*remaining, *words.in_study, *_ELSEWHERE)]
    frame = pd.DataFrame(rows, columns=["what", "place", "at"]).astype("string")
    frame["to_clear"] = frame["what"].map(_ADVICE).astype("string")
    n_memos = len(noted_memos(notes, words.case_id))
    return Forgotten(words.case_id, len(words.unit_ids), n_texts, n_memos, frame)


def withdrawn_units(path: Path) -> frozenset[str]:
    """Return the units of participants who withdrew from the study folder `path`."""
    return frozenset(unit_id for each in study_notes.notes(path, Withdrawal) for unit_id in each.unit_ids)


def refuse_withdrawn_units(acts: Sequence[Act], units: frozenset[str]) -> None:
    """Raise `ActError` where an act is on a unit of a participant who withdrew."""
    unit_ids = [str(act.unit_id) for act in acts if act.unit_id in units]
    if unit_ids:
        raise ActError(
            f"append: expected units of the study – found {first_three(unit_ids)} of a participant who "
            "withdrew – open the study again, without these units; nothing was recorded."
        )


def words_of(units: pd.DataFrame, unit_ids: Collection[str]) -> list[Words]:
    """Return the words of the participants of whom `unit_ids` are units, as far as `units` still has them."""
    cases = units.loc[units["unit_id"].isin(unit_ids), "case_id"].dropna().unique()
    return [Words.of(units, [], case_id) for case_id in cases]


def refuse_repeating(acts: Sequence[Act], withdrawn: Sequence[Words]) -> None:
    """Raise `ActError` where something written repeats words of participants who withdrew."""
    texts = [words_written(act.text) for act in acts if act.text and act.kind in _SAID]
    n_repeating = sum(any(words.repeated_in(text) for words in withdrawn) for text in texts)
    if n_repeating:
        raise ActError(
            f"append: expected no words of participants who withdrew – found {n_repeating} memos, proposals, "
            "rulings, names of themes, paraphrases, reasons or plans of analysis that repeat a passage of "
            "theirs – write them without; nothing was recorded."
        )


ToJudge = tuple[str, str, str]
"""What may repeat a participant's words (as in `Forgotten.still_held`), the id of the act, unit, codebook or
note that has it, and of a unit the column."""

_THEIRS: Final = "theirs"
_SAID: Final = kinds_where(lambda kind: kind.text in ("written", "reason"))
_WRITTEN: Final = kinds_where(lambda kind: kind.text == "written")


@dataclass(frozen=True, slots=True, repr=False)
class Words:
    """What a participant wrote: ids and passages of units, and what may repeat them.

    `noted` is what earlier withdrawals of the same participant found: their words are no more there to find
    it by. `acts` fills as chains are read: what was found in each act by its id (empty: nothing).
    """

    case_id: str
    unit_ids: tuple[str, ...]
    withdrawn_units: frozenset[str]
    repeated: units_parquet.Repeated
    noted: tuple[ToJudge, ...]
    acts: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, units: pd.DataFrame, before: Sequence[Withdrawal], case_id: str) -> Words:
        """Return the words of the participant `case_id` in `units`, or that were there `before`."""
        earlier = [each for each in before if each.case_id == case_id]
        noted = [unit_id for each in earlier for unit_id in each.unit_ids]
        stored = units.loc[units["case_id"] == case_id, "unit_id"].tolist()
        if not noted and not stored:
            raise StoreError(
                f"forget: expected a participant (case_id) of this study – found {str(case_id)[:60]!r} – "
                f"{did_you_mean(case_id, units['case_id'].dropna().unique())}"
            )
        unit_ids = tuple(dict.fromkeys([*noted, *stored]))
        repeated = units_parquet.repeated(units, units["unit_id"].isin(unit_ids))
        remaining = set(units["unit_id"])
        to_judge = [
            each for note in earlier for each in note.to_judge if each[0] != _UNIT or each[1] in remaining
        ]
        to_judge += [(_UNIT, unit_id, column) for unit_id, column in repeated.to_judge]
        to_judge += [("note", each.id, "") for each in before if repeated.passages.in_text(each.why)]
        return cls(case_id, unit_ids, frozenset(unit_ids), repeated, tuple(dict.fromkeys(to_judge)))

    @property
    def in_study(self) -> Iterator[Remaining]:
        """What of the units and notes of the study may repeat their words."""
        for what, key, column in self.noted:
            if what == _UNIT:
                yield what, f"unit {key!r}, column {column!r}", None
            if what == "note":
                yield what, f"note {key}", None

    def repeated_in(self, text: str) -> bool:
        """Return True if `text` surely has a passage of theirs in it."""
        return self.repeated.passages.in_text(text) == "sure"

    def repeating(self, chain: Sequence[Link]) -> Iterator[str]:
        """Yield the hashes of what was written on other things and surely repeats a passage."""
        for link in chain:
            if link.act is not None and self._judgement(link.act) == _THEIRS:
                yield str(link.fields["text_hash"])

    def repeating_rows(self, rows: Iterable[tuple[str, object, Mapping[str, object]]]) -> Iterator[str]:
        """Yield the same of damaged tables: of each text its hash, itself and what is known of its act."""
        for name, text, act in rows:
            is_own = act.get("kind") in (*_WRITTEN, None)
            is_open = is_own and act.get("unit_id") not in self.withdrawn_units
            if is_open and isinstance(text, str) and self.repeated_in(words_written(text)):
                yield name

    def in_reasons(self, chain: Sequence[Link]) -> Iterator[Remaining]:
        """Yield the memos that may repeat their words, and the reasons and names that do or may: these cannot
        be taken out of what they say."""
        noted, rounds = {key: what for what, key, _ in self.noted}, set()
        for act in (link.act for link in chain if link.act is not None):
            what = self._judgement(act) or noted.get(act.act_id, "")
            again = what == "round" and act.round in rounds
            if what not in ("", _THEIRS) and (act.text or what == "round") and not again:
                yield what, f"act {act.act_id} of {act.coder!r}", act.at
                rounds.add(act.round)

    def _judgement(self, act: Act) -> str:
        if act.act_id not in self.acts:
            self.acts[act.act_id] = self._judge(act)
        return self.acts[act.act_id]

    def _judge(self, act: Act) -> str:
        in_text = self.repeated.passages.in_text
        if act.kind in _WRITTEN and act.text and act.unit_id not in self.withdrawn_units:
            doubtful = f"{act.traits.noun} to judge"
            return {"": "", "doubtful": doubtful, "sure": _THEIRS}[in_text(words_written(act.text))]
        if act.traits.text == "reason" and in_text(_reason(act)):
            return act.traits.noun
        return "round" if act.round is not None and in_text(act.round) else ""

    def to_judge(self, codebooks: Mapping[str, bytes]) -> tuple[ToJudge, ...]:
        """Return what is noted for a later call, which has the words no more to find it by."""
        passages = [(what, act_id, "") for act_id, what in self.acts.items() if what not in ("", _THEIRS)]
        passages += [("codebook", name, "") for name in self._repeating_codebooks(codebooks)]
        return tuple(dict.fromkeys([*self.noted, *passages]))

    def in_codebooks(self, contents: Mapping[str, bytes]) -> Iterator[Remaining]:
        """Yield the versions of the codebook, here as YAML by fingerprint, that repeat their words or may.

        A version's fingerprint vouches for all of it, so an example in it cannot be taken out.
        """
        for name in self._repeating_codebooks(contents):
            yield "codebook", f"codebooks/{name}.yaml", None

    def _repeating_codebooks(self, contents: Mapping[str, bytes]) -> list[str]:
        noted = {key for what, key, _ in self.noted if what == "codebook"}
        in_text = self.repeated.passages.in_text
        return [
            name for name, content in contents.items()
            if name in noted or any(in_text(text) for text in _scalars(content))
        ]  # fmt: skip


def _scalars(content: bytes) -> Iterator[str]:
    """Yield every text of a codebook in YAML; of bytes that are none, all."""
    try:
        waiting: list[object] = [asdict(Codebook.from_yaml(content))]
    except (CodebookError, UnicodeDecodeError):
        waiting = [content.decode("utf-8", "replace")]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict | list | tuple):
            waiting += value.values() if isinstance(value, dict) else value


def _reason(act: Act) -> str:
    try:
        return str(json.loads(str(act.text))["why"])
    except (ValueError, KeyError, TypeError, RecursionError):  # of another version
        return str(act.text)


def noted(
    units: pd.DataFrame,
    before: Sequence[Withdrawal],
    words: Words,
    why: str,
    memos: Sequence[str],
    codebooks: Mapping[str, bytes],
) -> tuple[Withdrawal, bytes]:
    """Return the note of the withdrawal (an earlier one if nothing is new) and the units without theirs."""
    if words.repeated.passages.in_text(why):
        raise StoreError(
            "forget: expected a reason without the participant's words – found a passage of theirs, or "
            "what may be one – give another reason, which stays in the study; nothing was changed."
        )
    to_judge = words.to_judge(codebooks)
    draft = Withdrawal(
        study_notes.new_id(),
        words.case_id,
        words.unit_ids,
        why,
        signed_json.now(),
        "",
        tuple(memos),
        to_judge,
    )
    table = units_parquet.parquet(units_parquet.without(units, [*before, draft], words.repeated))
    table_sha256 = hashlib.sha256(table).hexdigest()
    for each in before:
        says_all = set(memos) <= set(each.memos) and set(to_judge) <= set(each.to_judge)
        if says_all and (each.case_id, each.units_sha256) == (words.case_id, table_sha256):
            return each, table
    return replace(draft, units_sha256=table_sha256), table


def copies(made: Sequence[Copy], notes: set[str]) -> Iterator[Remaining]:
    """Yield the copies that were made before the withdrawal, which `notes` are of."""
    for copy in made:
        if not notes & set(copy.withdrawn):
            yield copy.kind, copy.place, copy.at


def _in_drafts(path: Path, words: Words) -> Iterator[Remaining]:
    """Take their words out of what is begun and not saved; yield the drafts that may still have some."""
    for file in drafts.draft_files(path):
        work, _, coder = file.stem.partition("-")
        try:
            draft = drafts.read(path, work, coder)
        except StoreError:  # a draft that cannot be read is of no use to anybody
            draft = {}
        left = _without(draft, words)
        if left != draft or not left:
            with layout.refusing(path):
                drafts.keep(path, work, coder, left or None)
        if any(words.repeated.passages.in_text(text) for text in drafts.strings(left)):
            yield "draft to judge", file.relative_to(path).as_posix(), None


def _without(value: Any, words: Words) -> Any:
    """Return what is begun without entries on their units and what surely repeats a passage of theirs."""
    if isinstance(value, Mapping):
        return {
            _unsaid(str(name), words): _without(one, words)
            for name, one in value.items()
            if not _is_on_theirs(one, words)
        }
    if isinstance(value, list | tuple):
        rest = (one for one in value if not _is_on_theirs(one, words))
        return [one for one in (_without(each, words) for each in rest) if one != ""]
    return _unsaid(value, words) if isinstance(value, str) else value


def _unsaid(text: str, words: Words) -> str:
    return "" if words.repeated_in(text) else text


def _is_on_theirs(value: Any, words: Words) -> bool:
    return isinstance(value, Mapping) and value.get("unit_id") in words.withdrawn_units


def _codebooks(path: Path) -> dict[str, bytes]:
    """Return the versions of the codebook by fingerprint, but for files that are too large or unreadable."""
    contents = {}
    for file in sorted((path / "codebooks").glob("*.yaml")):
        with suppress(OSError):
            contents[file.stem] = study_notes.bytes_of(file)
    return contents


def _in_files(path: Path, words: Words) -> Iterator[Remaining]:
    readable = _codebooks(path)
    yield from words.in_codebooks(readable)
    for file in sorted((path / "codebooks").glob("*.yaml")):
        if file.stem not in readable:  # somebody has to look
            yield "codebook", f"codebooks/{file.name}", None
    for home in (path, whole_files.here()):
        yield from whole_files.unfinished(home)
    for file in verify.strangers(path):
        yield "file", file.relative_to(path).as_posix(), None
