"""What is written of a table, in every format: its texts, and how they are laid out."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Printed"]


@dataclass(frozen=True, slots=True, repr=False)
class Printed:
    """A table's texts; `right` says which columns are aligned so, `as_list` whether its rows are a list."""

    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]
    right: tuple[bool, ...]
    as_list: bool
