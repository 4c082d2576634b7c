"""The record on the disk: the chain of hashes, the tables, and what a crash leaves of them."""

from __future__ import annotations

__all__: list[str] = []
