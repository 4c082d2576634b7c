"""Studies in PostgreSQL that a later version made are read and not written."""

from __future__ import annotations
