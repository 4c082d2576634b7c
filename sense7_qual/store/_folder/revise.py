"""A change of the codebook in a study folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook
from sense7_qual.store._files import layout

if TYPE_CHECKING:
    pass
from sense7_qual.store._operations.revise import Wish

__all__ = ["revise_in_folder"]


def revise_in_folder(wish: Wish, path: Path, append: Callable[[list[Act]], object]) -> Codebook:
    """Revise the codebook of a study folder; `append` records the acts.

    The version is written first, then the acts, then the study names it as current: after a crash in between,
    the same call completes it. Of two processes that revise at once, the second begins when the first is
    done.
    """
    with layout.exclusively(path):
        now = layout.read(path)
        versions = layout.read_codebooks(path, now)
        new, acts = wish.on(versions[now.codebook], versions)
        layout.add_codebook(path, new)
        append(acts)
        layout.rewrite(path, replace(now, codebook=new.fingerprint))
    return new
