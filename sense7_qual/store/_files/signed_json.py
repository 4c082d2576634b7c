"""JSON that vouches for itself: it holds the SHA-256 of its other values, so that a flipped bit shows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

__all__ = ["now", "seal", "unseal"]


_SEAL: Final = "sha256"


def seal(values: Mapping[str, Any]) -> bytes:
    """Return `values` as the bytes of a sealed file."""
    plain = json.loads(json.dumps(dict(values)))  # tuples become lists, as they will be read
    return _written({**plain, _SEAL: _hash(plain)})


def unseal(content: bytes) -> dict[str, Any]:
    """Return the values of a sealed file."""
    values = json.loads(content)
    if not isinstance(values, dict) or _written(values) != content:
        raise ValueError("not a sealed file, byte for byte")
    seal = values.pop(_SEAL, None)
    if seal != _hash(values):
        raise ValueError("the seal is broken")
    return values


def _written(values: Mapping[str, Any]) -> bytes:
    return (json.dumps(values, indent=2, ensure_ascii=False) + "\n").encode()


def _hash(values: Mapping[str, Any]) -> str:
    canonical = json.dumps(values, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def now() -> str:
    """Return the time in UTC, as the acts have it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
