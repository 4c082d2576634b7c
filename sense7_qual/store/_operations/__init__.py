"""What can be done with a study, wherever it lies: append, merge, revise, verify, forget, copy."""

from __future__ import annotations

__all__: list[str] = []
