"""A change of the codebook of a study in PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Connection

from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook
from sense7_qual.errors import StoreError
from sense7_qual.store._backend import Locked
from sense7_qual.store._operations.revise import Wish
from sense7_qual.store._postgres import roles, schema
from sense7_qual.store._postgres.server import Server

__all__ = ["revise_on_server"]


class _Overtaken(Exception):
    """Somebody else revised the codebook between reading and writing."""


def revise_on_server(
    wish: Wish, server: Server, record: Callable[[list[Act], Codebook, Locked | None], object]
) -> Codebook:
    """Revise the codebook of a study in PostgreSQL, in one transaction with the acts; `record` adds them."""
    for _ in range(10):  # somebody else may be faster, but hardly ten times
        opened = schema.read(server)
        now, (new, acts) = opened.study, wish.on(opened.codebook, opened.codebooks)

        def work(
            connection: Connection,
            place: Path,
            _: bool,
            acts: list[Act] = acts,
            new: Codebook = new,
            old: str = now.codebook,
        ) -> None:
            for act in acts:
                record([act], new, Locked(connection, place))
            if not schema.set_codebook(connection, server, new, instead_of=old):
                raise _Overtaken

        try:
            roles.write(server, wish.coder, work)
        except _Overtaken:
            continue
        return new
    raise StoreError(
        f"study {server.name!r}: expected a moment without other revisions of the codebook – found none in "
        "ten tries – do it again."
    )
