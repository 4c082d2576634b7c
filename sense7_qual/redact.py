"""Redaction: direct identifiers out of texts, before anybody reads or sends them."""

from __future__ import annotations

__all__: list[str] = []
