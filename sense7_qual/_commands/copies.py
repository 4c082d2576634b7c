"""`sense7-qual verify`, `merge`, `backup`, `archive` and `restore`: check, merge and copy a study."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, Final

from sense7_qual._commands.words import STUDY, Parsers, count, is_address, new_place, opened
from sense7_qual._messages import first_three

if TYPE_CHECKING:
    from sense7_qual.store import Store

_VERIFY: Final = """\
Check every file of a study: each act against its hash and the previous act, each text, quote,
memo and codebook. Nothing is changed. The exit status is 1 if a file is not as it was written."""
_MERGE: Final = """\
Add to STUDY what other copies of it have in addition; what STUDY has does not change. Merging
twice is safe. The exit status is 1 if something could not be merged, or if a participant's
withdrawal has to be repeated here."""
_BACKUP: Final = """\
Copy a study to a new folder (from PostgreSQL to an archive) and verify the copy. Coders can
continue meanwhile."""
_ARCHIVE: Final = """\
Write a study as one zip file that can be read without this package. The same study always
gives the same bytes."""

_RESTORE: Final = """\
Make a study of an archive, in a new folder or in PostgreSQL, and verify it: so a study moves
from a folder into a database, and back. Archived again it gives the same bytes.

In PostgreSQL the role that restores leads the study and codes as all of its coders. Give each
coder a role: qual.Store(…).admin.add_coder("ana", role="seat07")."""


def add(commands: Parsers) -> None:
    """Add the commands to the parser."""
    verify = commands.add_parser(
        "verify", help="check that no file of a study was changed or damaged", description=_VERIFY
    )
    verify.add_argument("study", metavar="STUDY", help=STUDY)
    verify.set_defaults(run=_verify)
    merge = commands.add_parser("merge", help="merge other copies of a study into it", description=_MERGE)
    merge.add_argument("study", metavar="STUDY", help=STUDY)
    merge.add_argument(
        "others",
        metavar="OTHER",
        nargs="+",
        help="another copy: a coder's file (ben-back.zip), a study folder, an archive, an acts file "
        "(acts/ana.sqlite) or an address",
    )
    merge.add_argument(
        "--coder",
        metavar="PSEUDONYM",
        action="append",
        help="merge only this coder's acts; can be repeated (default: everybody's; from what was handed out, "
        "only those of the coder to whom it was given)",
    )
    merge.add_argument(
        "--person",
        action="store_true",
        help="new coders with names like those of models (claude, gpt-4o) are people",
    )
    merge.set_defaults(run=_merge)
    for name, says, description in (
        ("backup", "copy a study and verify the copy", _BACKUP),
        ("archive", "write a study as one file", _ARCHIVE),
    ):
        copy = commands.add_parser(name, help=says, description=description)
        copy.add_argument("study", metavar="STUDY", help=STUDY)
        what = "the new folder" if name == "backup" else "the new zip file"
        copy.add_argument("target", metavar="TARGET", help=f"{what}, which must not exist yet")
        copy.set_defaults(run=_backup if name == "backup" else _archive)
    _add_restore(commands)


def _add_restore(commands: Parsers) -> None:
    """Add the command that makes a study of an archive."""
    restore = commands.add_parser("restore", help="make a study of an archive", description=_RESTORE)
    restore.add_argument("archive", metavar="ARCHIVE", help="the zip file that archive wrote")
    restore.add_argument("study", metavar="STUDY", help=f"{STUDY}; none may be there yet")
    restore.add_argument(
        "--forget-again",
        action="store_true",
        help="remove the words of participants who have withdrawn since the archive was written",
    )
    restore.set_defaults(run=_restore)


def _verify(parsed: argparse.Namespace) -> int:
    return _verified(opened(parsed.study))


def _verified(store: Store) -> int:
    checked = store.verify()
    for row in checked[~checked["ok"]].itertuples():
        print(f"NOT OK  {row.file}: {row.problem}")
    for row in checked[checked["note"] != ""].itertuples():
        print(f"note    {row.file}: {row.note}")
    n_wrong, n_acts = int((~checked["ok"]).sum()), int(checked["n_acts"].sum())
    if n_wrong:
        print(f"{n_wrong} of {count(len(checked), 'file')} changed or damaged.")
        return 1
    coders = count(int(checked["coder"].nunique()), "coder")
    print(f"{count(len(checked), 'file')} checked, with {count(n_acts, 'act')} of {coders}: all intact.")
    return 0


def _merge(parsed: argparse.Namespace) -> int:
    store = opened(parsed.study)
    open_questions = False
    for place in parsed.others:
        merged = store.copies.merge(place, coders=parsed.coder, person=parsed.person)
        name = "the other copy" if is_address(place) else place
        print(f"{name}: {_counted(merged)}", flush=True)
        for line in _asks(merged):
            open_questions = True
            print(f"  {line}", flush=True)
    return int(open_questions)


def _counted(merged: Any) -> str:
    counts = merged.counts
    parts = [f"{count(counts['new'], 'new act')} merged", f"{counts['there']:,} already here"]
    if merged.codebooks:
        parts.append(count(len(merged.codebooks), "version of the codebook", "versions of the codebook"))
    return ", ".join(parts)


def _asks(merged: Any) -> list[str]:
    """Return a line for each thing to look at after a merge."""
    counts, lines = merged.counts, []
    if counts["conflicting"]:
        ids = merged.items.loc[merged.items["status"] == "conflicting", "act_id"]
        lines.append(
            f"{count(counts['conflicting'], 'act')} with different content here, kept unchanged: "
            f"{first_three(ids)}"
        )
    refused = merged.items[merged.items["status"] == "refused"]
    for (coder, why), n in refused.groupby(["coder", "why"], sort=False).size().items():
        lines.append(f"refused: {count(n, 'act')} of {coder!r}, the first because of this: {why}")
    if counts["left out"]:
        left = merged.items[merged.items["status"] == "left out"]
        why = ", ".join(f"{n} of an unknown {what}" for what, n in left["unknown"].value_counts().items())
        lines.append(f"{count(counts['left out'], 'act')} left out: {why}")
    n_words = int((merged.items["unknown"] == "words").sum())
    if n_words:
        lines.append(f"{count(n_words, 'memo')} to check for words of a participant who withdrew")
    if merged.withdrawn:
        lines.append(
            f"withdrawn there but not here: {first_three(merged.withdrawn)}; repeat it in a notebook: "
            "qual.Store(…).forget(case_id, why=…)"
        )
    return lines


def _backup(parsed: argparse.Namespace) -> int:
    opened(parsed.study).copies.backup(new_place(parsed.target, command="backup"))
    print(f"Copied to {parsed.target} and verified.")
    return 0


def _archive(parsed: argparse.Namespace) -> int:
    opened(parsed.study).copies.archive(new_place(parsed.target, command="archive"))
    print(f"Archived as {parsed.target}.")
    return 0


def _restore(parsed: argparse.Namespace) -> int:
    from sense7_qual.store import Store

    store = Store.restore(parsed.archive, parsed.study, forget_again=parsed.forget_again)
    if is_address(parsed.study):
        print(f"Your role leads the study and codes as {', '.join(store.coders) or 'nobody yet'}.")
    return _verified(store)
