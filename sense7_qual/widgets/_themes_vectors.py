"""An embedding model that computes each text once: the run and the map ask for the same texts."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["Remembered"]


class Remembered:
    """A model that remembers the vectors of the texts that it was given, as long as the widget lives.

    Attributes
    ----------
    embed : callable
        Texts to an array of vectors.
    """

    def __init__(self, embed: Callable[[list[str]], Any]) -> None:
        self._embed = embed
        self._lock = threading.Lock()
        self._vectors: dict[str, Any] = {}
        named = getattr(embed, "model_id", None) or getattr(embed, "__qualname__", type(embed).__qualname__)
        self.model_id = str(named)

    def __repr__(self) -> str:
        return f"Remembered({self.model_id}, {len(self._vectors)} texts)"

    def __call__(self, texts: list[str]) -> Any:
        """Return one vector per text."""
        with self._lock:
            new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
            if new:
                vectors = np.asarray(self._embed(new), dtype=np.float32)
                if vectors.ndim != 2 or len(vectors) != len(new):
                    return vectors  # the caller says what is wrong with it
                self._vectors.update(zip(new, vectors, strict=True))
            return np.array([self._vectors[text] for text in texts])
