"""Ratings: the five-level truth of a conversation, and how well a predictor meets it."""

from __future__ import annotations

__all__: list[str] = []
