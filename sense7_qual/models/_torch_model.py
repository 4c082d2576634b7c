"""A sentence-embedding model in 32-bit floats, run by sentence-transformers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

__all__ = ["TorchModel"]

Vectors = npt.NDArray[np.float32]


class TorchModel:
    """A model that sentence-transformers reads, loaded."""

    def __init__(self, folder: Path) -> None:
        self._model = _load(folder)

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return int(self._model.get_embedding_dimension() or 0)

    @property
    def longest(self) -> int | None:
        """How many tokens the model reads; None: no limit that it says."""
        limit: int | None = self._model.max_seq_length
        return limit

    def n_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return how many tokens each text has."""
        ids = (
            self._model.tokenizer(list(texts), truncation=False, verbose=False)["input_ids"] if texts else []
        )
        return [len(each) for each in ids]

    def encode(self, texts: Sequence[str], batch_size: int) -> Vectors:
        """Return the vector of each text, of length 1."""
        encoded = self._model.encode(
            list(texts),
            batch_size=batch_size,
            show_progress_bar=False,
            convert_to_numpy=True,
            normalize_embeddings=True,
        )
        return np.asarray(encoded, dtype=np.float32)


def _load(folder: Path) -> SentenceTransformer:
    from sentence_transformers import SentenceTransformer

    with _no_loading_bar():
        return SentenceTransformer(
            str(folder),
            device="cpu",
            trust_remote_code=False,
            local_files_only=True,
            model_kwargs={"use_safetensors": True, "dtype": "float32"},
        )


@contextmanager
def _no_loading_bar() -> Iterator[None]:
    """Keep transformers from showing how it loads each weight, and leave its setting as it was."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]
