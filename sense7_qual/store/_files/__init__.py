"""The files of a study folder: study.json, units, acts files, notes, and how each is written whole."""

from __future__ import annotations

__all__: list[str] = []
