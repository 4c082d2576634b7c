"""A sentence-embedding model in 32-bit floats, run by sentence-transformers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sense7_qual._limits import read_file

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

__all__ = ["TorchModel", "Weights", "other_kind", "settings", "tokenizer_of"]

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


def other_kind(folder: Path) -> str | None:
    """Return what tells the model of a folder from a BERT whose tokens are averaged; None: nothing."""
    config, pooling = settings(folder, "config.json"), settings(folder, "1_Pooling/config.json")
    found = {
        "a model of type": (config.get("model_type"), "bert"),
        "positions of kind": (config.get("position_embedding_type", "absolute"), "absolute"),
        "an activation of kind": (config.get("hidden_act"), "gelu"),
        "pooling by mean": (_mean_alone(pooling), True),
        "parts other than these three": (_parts(folder) - {"Transformer", "Pooling", "Normalize"}, set()),
        "a tokenizer.json": ((folder / "tokenizer.json").is_file(), True),
        "all weights in one file": ((folder / "model.safetensors").is_file(), True),
    }
    return next((f"{what}: {value!r}" for what, (value, wanted) in found.items() if value != wanted), None)


def _mean_alone(pooling: Mapping[str, Any]) -> bool:
    if "pooling_mode" in pooling:
        return bool(pooling["pooling_mode"] == "mean")
    modes = {name for name, value in pooling.items() if name.startswith("pooling_mode_") and value is True}
    return modes == {"pooling_mode_mean_tokens"}


def _parts(folder: Path) -> set[str]:
    modules = json.loads(read_file(folder / "modules.json", 1_000_000))
    return {str(module["type"]).rpartition(".")[2] for module in modules}


def settings(folder: Path, name: str) -> dict[str, Any]:
    """Return what a file of settings says; nothing where it is absent or cannot be read."""
    try:
        read = json.loads(read_file(folder / name, 1_000_000))
    except (OSError, ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


class Weights(Mapping[str, npt.NDArray[np.float32]]):
    """The weights by their names in BERT, in 32 bits; each is read when it is asked for, and not kept."""

    def __init__(self, folder: Path) -> None:
        from safetensors import safe_open

        self._file = safe_open(str(folder / "model.safetensors"), framework="numpy")
        names: list[str] = self._file.keys()  # type: ignore[no-untyped-call]
        self._names = {name.removeprefix("bert."): name for name in names}

    def __getitem__(self, name: str) -> npt.NDArray[np.float32]:
        values = self._file.get_tensor(self._names[name])  # type: ignore[no-untyped-call]
        return np.asarray(values, dtype=np.float32)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def tokenizer_of(folder: Path) -> tuple[Any, int]:
    """Return the tokenizer, which neither cuts nor pads, and how many tokens the model reads."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    most = int(settings(folder, "config.json")["max_position_embeddings"])
    stated = settings(folder, "sentence_bert_config.json").get("max_seq_length")
    return tokenizer, min(most, int(stated or most))
