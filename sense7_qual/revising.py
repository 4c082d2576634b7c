"""Changing the codebook of a study: every version stays, and who changed what and why is an act.

Two people can begin from one version. Who comes second has their changes combined with the first's, where the
two do not touch the same thing (`revisions.combine`); the versions of a study so stand in one line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sense7_qual import membership, postgresql, study
from sense7_qual.acts import Act, stamp
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError, StoreError
from sense7_qual.revisions import Revision, changes, combine
from sense7_qual.server import Server

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["Wish", "history", "in_folder", "on_server"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What one person wants the codebook to become: from `base` to `codebook`, and why."""

    base: Codebook
    codebook: Codebook
    why: str
    coder: str
    merged: Mapping[str, str]
    split: Mapping[str, Sequence[str]]

    def on(self, current: Codebook) -> tuple[Codebook, Act]:
        """Return what the codebook becomes where `current` is the current version, and the act that says so.

        Raises
        ------
        ActError
            There is no reason, or no change.
        CodebookError
            Another person changed the same thing meanwhile, or what is merged or split is not what it says.
        """
        if not isinstance(self.why, str) or not self.why.strip():
            raise ActError(
                "revise: expected why the codebook changes – found nothing – say it in a sentence."
            )
        new = self.codebook
        if current != self.base:
            new = combine(self.base, self.codebook, current)
        if new == current:
            raise ActError(
                "revise: expected a codebook that differs from the current one – found the same – change it "
                "first (dataclasses.replace, or its YAML file)."
            )
        stamped: dict[str, Any] = stamp(self.coder, new, None, None)
        revision = Revision(
            coder=self.coder, at=stamped["at"], why=self.why.strip(), base=current.fingerprint,
            codebook=new.fingerprint, changes=changes(current, new, merged=self.merged, split=self.split),
        )  # fmt: skip
        return new, Act(kind="revise", text=revision.to_text(), **stamped)


def history(acts: Iterable[Act]) -> tuple[Revision, ...]:
    """Return the revisions that `acts` record, in the order in which they were made.

    A revision that was begun, interrupted and done again stands there once.
    """
    made = [
        Revision.from_text(str(act.text), coder=act.coder, at=act.at, codebook=act.codebook)
        for act in acts
        if act.kind == "revise"
    ]
    found: list[Revision] = []
    for each in sorted(made, key=lambda revision: revision.at):
        if not found or (each.base, each.codebook) != (found[-1].base, found[-1].codebook):
            found.append(each)
    return tuple(found)


def in_folder(wish: Wish, path: Path, append: Callable[[list[Act]], object]) -> Codebook:
    """Revise the codebook of a study folder; `append` records the act.

    The version is written first, then the act, then the study names it as current: after a crash in between,
    the same call completes it. Of two processes that revise at once, the second begins when the first is
    done.
    """
    with study.alone(path):
        now = study.read(path)
        new, act = wish.on(study.read_codebooks(path, now)[now.codebook])
        study.add_codebook(path, new)
        append([act])
        study.rewrite(path, replace(now, codebook=new.fingerprint))
    return new


class _Overtaken(Exception):
    """Somebody else revised the codebook between reading and writing."""


def on_server(
    wish: Wish, server: Server, record: Callable[[Connection, Path, Act, Codebook], object]
) -> Codebook:
    """Revise the codebook of a study in PostgreSQL, in one transaction with the act; `record` adds that."""
    for _ in range(10):  # somebody else may be faster, but hardly ten times
        found = postgresql.read(server)
        now, (new, act) = found.study, wish.on(found.codebook)

        def work(
            connection: Connection, place: Path, act: Act = act, new: Codebook = new, old: str = now.codebook
        ) -> None:
            record(connection, place, act, new)
            if not postgresql.set_codebook(connection, server, new, instead_of=old):
                raise _Overtaken

        try:
            membership.write(server, wish.coder, work)
        except _Overtaken:
            continue
        return new
    raise StoreError(
        f"study {server.name!r}: expected a moment without other revisions of the codebook – found none in "
        "ten tries – do it again."
    )
