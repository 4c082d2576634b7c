"""What can be done with a study, in a folder or in PostgreSQL: append, merge, revise, verify, forget, copy."""

from __future__ import annotations

__all__: list[str] = []
