"""Codes and ratings along a conversation: before and after a turn, and by what came before."""

from __future__ import annotations

__all__: list[str] = []
