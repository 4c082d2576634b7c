"""`sense7-qual hand-out` and `hand-in`: one file to a coder who works without a server, and one back."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from sense7_qual._commands.words import STUDY, Parsers, count, is_address, new_place, opened
from sense7_qual.errors import ArgumentError

_OUT: Final = """\
Write one file with which a coder codes on their own computer: their texts alone, the codebooks,
their own acts, and of others' acts what they may see and need. They open it with
`sense7-qual code FILE`, and send back the file that this writes; `sense7-qual merge` takes in their
work alone. Whoever has the file can read the texts in it: send it by a way that your institute
trusts. `forget` lists it. Where a codebook or a reason may repeat words of other texts, it asks."""
_IN: Final = """\
Write the work of the coder to whom FOLDER was handed out to one file, for the lead to merge.
It has this coder's acts alone, and no text but in their quotes and memos. `sense7-qual code`
does the same when it ends."""


def add(commands: Parsers) -> None:
    """Add the commands to the parser."""
    out = commands.add_parser("hand-out", help="write one file for a coder to work with", description=_OUT)
    out.add_argument("study", metavar="STUDY", help=STUDY)
    out.add_argument("--coder", metavar="PSEUDONYM", required=True, help="the coder")
    out.add_argument("--round", metavar="NAME", help="the round to code (default: the texts of no round)")
    out.add_argument("--out", metavar="FILE", required=True, help="the new .zip file, or a new folder")
    out.add_argument(
        "--variable",
        metavar="COLUMN",
        action="append",
        default=[],
        help="a column of units that goes along (default: none, but a rating that coders are shown); can be "
        "repeated",
    )
    out.add_argument(
        "--accept",
        metavar="WHAT",
        action="append",
        default=[],
        help="what may repeat words of other texts, and goes out as it is, since you have looked at it "
        "(codebook, revise …); can be repeated",
    )
    out.set_defaults(run=_hand_out)
    back = commands.add_parser("hand-in", help="write one file with a coder's work", description=_IN)
    back.add_argument(
        "folder", metavar="FOLDER", help="the folder of the file that was handed out, or the file"
    )
    back.add_argument("--out", metavar="FILE", help="the .zip file (default: FOLDER-back.zip)")
    back.set_defaults(run=lambda parsed: hand_in(unpacked(parsed.folder), parsed.out))


def _hand_out(parsed: argparse.Namespace) -> int:
    target = new_place(parsed.out, command="hand-out")
    opened(parsed.study).copies.hand_out(
        parsed.round, parsed.coder, target, variables=parsed.variable, accept=parsed.accept
    )
    print(f"Written for {parsed.coder}: {parsed.out}. It opens with: sense7-qual code {target.name}")
    return 0


def hand_in(folder: str, out: str | None = None) -> int:
    """Write a coder's work next to the folder that was handed out."""
    store = opened(folder)
    place = Path(folder).absolute()
    target = new_place(out, command="hand-in") if out else place.with_name(f"{place.name}-back.zip")
    store.copies.hand_in(target)
    handed = store.desk.handed_out
    n_acts = len(store.acts(coder=handed.coder)) if handed else 0
    print(f"Written: {out or target}, with {count(n_acts, 'act')}. Send it to whoever leads the study.")
    return 0


def whose(parsed: argparse.Namespace) -> bool:
    """Fill in what a hand-out says, the folder, the coder and the round; return True if it is one."""
    parsed.study = unpacked(parsed.study)
    handed = opened(parsed.study).desk.handed_out
    if handed is None:
        return False
    if parsed.coder not in (None, handed.coder):
        raise ArgumentError(
            f"code: expected the coder to whom this was handed out, {handed.coder!r} – found another – leave "
            "out --coder, or ask the lead for a file of your own."
        )
    parsed.coder, parsed.round = handed.coder, parsed.round or handed.round or None
    parsed.new = True  # the lead has said who it is
    return True


def unpacked(study: str) -> str:
    """Return the folder of a file that was handed out, which is unpacked next to it once; any other study as
    it is."""
    from sense7_qual.store import Store, handed_in

    file = Path(study)
    if is_address(study) or not file.is_file():
        return study
    id, folder = handed_in(file), file.with_suffix("")
    if id is None or folder == file:
        raise ArgumentError(
            f"code: expected a study, or a .zip file that was handed out – found another file, {file.name!r} "
            "– ask the lead for the file again."
        )
    if not folder.exists():
        Store.restore(file, folder)
        print(f"Unpacked to {folder}, where your work is kept.", flush=True)
    handed = opened(str(folder)).desk.handed_out
    if handed is None or handed.id != id:
        raise ArgumentError(
            f"code: expected nothing of another hand-out at {folder.name!r} – found one – send in its work "
            f"(sense7-qual hand-in {folder.name}), then put this file into a folder of its own."
        )
    return str(folder)
