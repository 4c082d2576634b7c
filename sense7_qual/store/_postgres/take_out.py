"""What is not what was written leaves the tables of a coder: rows that were added past this package."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pandas as pd
from sqlalchemy import Connection, delete, select

from sense7_qual.store._backend import Rows
from sense7_qual.store._log import sqlite
from sense7_qual.store._log.hash_chain import clocks, genesis, relinked
from sense7_qual.store._operations.salvage import no_loss, sound_part
from sense7_qual.store._postgres import roles, schema
from sense7_qual.store._postgres.server import Server, run, search_path

__all__ = ["rows_and_texts", "take_out"]


def rows_and_texts(connection: Connection) -> tuple[Rows, list[dict[str, Any]]]:
    """Return the rows of the coder's acts with their numbers, and the texts, as they stand in the tables."""
    acts = connection.execute(select(sqlite.ACTS).order_by(sqlite.ACTS.c.seq)).mappings()
    rows = connection.exec_driver_sql("SELECT text_hash, salt, text FROM texts")
    # What is no text then fits to no hash.
    words = [(*row[:2], row[2] and bytes(row[2]).decode("utf-8", "replace")) for row in rows]
    texts = [dict(zip(("text_hash", "salt", "text"), row, strict=True)) for row in words]
    return [(int(row["seq"]), dict(row)) for row in acts], texts


def take_out(connection: Connection, server: Server, coder: str, study_id: str) -> pd.DataFrame:
    """Take each row that is not what was written out of a coder's tables; return them, as `Salvage.lost`.

    The sound acts stay, in their order. Those behind a row that left are linked anew and keep the hash that
    they had, as merged ones do. For the lead, in the transaction of `connection`.
    """
    schema.check_lead(connection, server, "accept_loss")
    if coder not in roles.members(connection, server):
        return no_loss()
    schema.keep_withdrawals_out(connection, server)
    schema.enter(connection, server, coder)
    rows, texts = rows_and_texts(connection)
    links, sound, lost = sound_part(rows, texts, coder)
    used = {str(link.fields["text_hash"]) for link in links if "text_hash" in link.fields}
    unsound = [each for each in texts if str(each["text_hash"]) not in used]
    lost = pd.concat([lost, _of_texts(unsound)], ignore_index=True).astype(dict(lost.dtypes))
    if not lost.empty:
        again = list(relinked(links, list(clocks(links)), last=genesis(study_id, coder)))
        _replace(connection, server, coder, again, [dict(sound[name]) for name in sorted(used)])
    return lost


def _of_texts(texts: Collection[dict[str, Any]]) -> pd.DataFrame:
    rows = [(0, pd.NA, pd.NA, "a text of no act, or not the one that was written") for _ in texts]
    return no_loss() if not rows else pd.DataFrame(rows, columns=list(no_loss()))


def _replace(
    connection: Connection,
    server: Server,
    coder: str,
    links: list[dict[str, Any]],
    texts: list[dict[str, Any]],
) -> None:
    """Put these acts and texts in the place of the coder's, and of the copies of them that all may see.

    No role may delete a row, the owner's neither, so its rule is lifted until the transaction ends.
    """
    run(connection, [search_path(server.name)])
    owner = connection.execute(select(schema.STUDY.c.owner)).scalar_one()
    study, theirs = f'"{server.name}"', f'"{server.name}-{coder}"'
    tables = [f"{theirs}.acts", f"{theirs}.texts", f"{study}.shown", f"{study}.shown_texts"]
    run(connection, [f'SET LOCAL ROLE "{owner}"', *(_ruled(table, "NO FORCE") for table in tables)])
    shown, words = schema.SHOWN, schema.SHOWN_TEXTS
    of_others = select(shown.c.text_hash).where(shown.c.coder != coder, shown.c.text_hash.is_not(None))
    hashes = connection.exec_driver_sql(f"SELECT text_hash FROM {theirs}.texts").scalars().all()
    connection.execute(delete(shown).where(shown.c.coder == coder))
    connection.execute(
        delete(words).where(words.c.text_hash.in_(hashes), words.c.text_hash.not_in(of_others))
    )
    run(connection, [search_path(f"{server.name}-{coder}")])
    connection.execute(delete(sqlite.ACTS))
    connection.execute(delete(sqlite.TEXTS))
    sqlite.add_links(connection, links, texts)  # whose trigger shows again what all may see
    run(connection, [*(_ruled(table, "FORCE") for table in tables), "RESET ROLE"])


def _ruled(table: str, how: str) -> str:
    return f"ALTER TABLE {table} {how} ROW LEVEL SECURITY"
