"""The steps that a study folder and a study in PostgreSQL share: adding acts, and handing them out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from sqlalchemy import Connection

from sense7_qual import acceptance, database, migrations, verification
from sense7_qual.acts import Act, check_coder
from sense7_qual.errors import ActError
from sense7_qual.rounds import Round
from sense7_qual.study import Opened

__all__ = ["known_as", "record", "with_true_quotes"]


def record(
    connection: Connection, place: Path, batch: Sequence[Act], *, study: str, rounds: Iterable[Round]
) -> int:
    """Add the new acts of `batch`, which are one coder's, to the coder's chain; return how many there were.

    Parameters
    ----------
    connection : Connection
        In a transaction that writes, on the coder's tables.
    place : Path
        What messages call them.
    batch : sequence of Act
        As `acceptance.settled` returns them.
    study : str
        The study's id.
    rounds : iterable of Round
        The rounds that stand: their acts are of their coders, on their units.

    Raises
    ------
    ActError
        An act cannot stand beside what is recorded; nothing of the batch is added.
    StoreError
        The tables are damaged, or are not this coder's in this study.
    """
    coder = batch[0].coder
    version = database.check(connection, place, study=study, coder=coder)
    migrations.migrate(connection, place, version)
    named = {act.act_id for act in batch} | {act.target for act in batch if act.target}
    new = acceptance.new_acts(batch, database.find(connection, place, named))
    acceptance.refuse_outside(new, rounds)
    database.add(connection, new, study=study, coder=coder)
    return len(new)


def with_true_quotes(found: list[Act], place: Path, opened: Opened) -> list[Act]:
    """Return the acts, after checking each quote against its unit's text.

    The words of participants who withdrew are not given out, should any be left.

    Raises
    ------
    StoreError
        A quote is not the words of its span.
    """
    for number, act in enumerate(found):
        if act.text is None:
            continue
        if act.unit_id in opened.gone:
            found[number] = replace(act, text="" if act.kind == "memo" else None)
        elif verification.misquoted(act, opened.texts):
            raise database.damaged(place, f"another quote than unit {act.unit_id!r} has")
    return found


def known_as(coder: str, coders: Iterable[str]) -> str:
    """Return the pseudonym `coder`, or raise `ActError` where it cannot be one beside those of `coders`."""
    check_coder(coder)
    # On many disks Ana.sqlite and ana.sqlite are one file, and studies move between disks.
    same = [name for name in coders if name.casefold() == coder.casefold() and name != coder]
    if same:
        raise ActError(
            f"coder: expected the pseudonym as it is recorded – found {coder!r} beside {same[0]!r} – "
            f"use {same[0]!r}, or a pseudonym that differs in more than upper and lower case."
        )
    return coder
