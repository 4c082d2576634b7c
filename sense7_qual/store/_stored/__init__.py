"""What is stored of a study: its files, its notes, and its chained acts, with tables as in PostgreSQL."""

from __future__ import annotations

__all__: list[str] = []
