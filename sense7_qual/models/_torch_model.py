"""A sentence-embedding model in 32-bit floats, run by torch.

A BERT whose tokens are averaged, as the default model, is run by torch alone: sentence-transformers, which
runs all others, takes four seconds more to import.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sense7_qual.models._bert_folder import Weights, other_kind, settings, tokenizer_of

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

__all__ = ["AnyTorchModel", "BertTorchModel", "torch_model"]

Vectors = npt.NDArray[np.float32]


def torch_model(folder: Path) -> AnyTorchModel | BertTorchModel:
    """Load the model of a folder in the sentence-transformers layout."""
    return AnyTorchModel(folder) if other_kind(folder) else BertTorchModel(folder)


class BertTorchModel:
    """A BERT whose tokens are averaged, loaded."""

    def __init__(self, folder: Path) -> None:
        import torch

        self._weights = {name: torch.from_numpy(values) for name, values in Weights(folder).items()}
        self._config = settings(folder, "config.json")
        self._tokenizer, self.longest = tokenizer_of(folder)

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return int(self._config["hidden_size"])

    def n_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return how many tokens each text has."""
        return [len(encoding) for encoding in self._tokenizer.encode_batch(list(texts))]

    def encode(self, texts: Sequence[str], batch_size: int) -> Vectors:
        """Return the vector of each text, of length 1."""
        import torch

        ids = [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]
        ids = [each if len(each) <= self.longest else [*each[: self.longest - 1], each[-1]] for each in ids]
        order = sorted(range(len(ids)), key=lambda row: len(ids[row]))
        vectors = np.empty((len(ids), self.dimensions), dtype=np.float32)
        with torch.inference_mode():
            for start in range(0, len(order), batch_size):
                rows = order[start : start + batch_size]
                vectors[rows] = self._batch([ids[row] for row in rows]).numpy()
        return vectors

    def _batch(self, ids: list[list[int]]) -> Any:
        import torch
        from torch.nn.functional import normalize

        n_tokens = torch.tensor([len(each) for each in ids])
        longest = int(n_tokens.max())
        padded = torch.tensor([each + [0] * (longest - len(each)) for each in ids])
        there = torch.arange(longest) < n_tokens[:, None]
        weights, named = self._weights, "embeddings.{}_embeddings.weight"
        tokens = weights[named.format("word")][padded] + weights[named.format("token_type")][0]
        tokens = self._normed(tokens + weights[named.format("position")][:longest], "embeddings.LayerNorm")
        for number in range(int(self._config["num_hidden_layers"])):
            tokens = self._layer(tokens, there[:, None, None, :], f"encoder.layer.{number}")
        summed = (tokens * there[:, :, None]).sum(dim=1)
        return normalize(summed / n_tokens[:, None], dim=1)

    def _layer(self, tokens: Any, there: Any, name: str) -> Any:
        """Go through a layer: attention to the tokens that are `there`, then the two dense steps."""
        from torch.nn.functional import gelu, scaled_dot_product_attention

        n, longest, width = tokens.shape
        heads = int(self._config["num_attention_heads"])
        inside = (self._dense(tokens, f"{name}.attention.self.{part}") for part in ("query", "key", "value"))
        query, key, value = (part.view(n, longest, heads, width // heads).transpose(1, 2) for part in inside)
        seen = (
            scaled_dot_product_attention(query, key, value, attn_mask=there)
            .transpose(1, 2)
            .reshape(tokens.shape)
        )
        added = tokens + self._dense(seen, f"{name}.attention.output.dense")
        tokens = self._normed(added, f"{name}.attention.output.LayerNorm")
        wide = gelu(self._dense(tokens, f"{name}.intermediate.dense"))
        return self._normed(tokens + self._dense(wide, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def _dense(self, values: Any, name: str) -> Any:
        from torch.nn.functional import linear

        return linear(values, self._weights[f"{name}.weight"], self._weights[f"{name}.bias"])

    def _normed(self, values: Any, name: str) -> Any:
        from torch.nn.functional import layer_norm

        gain, bias = self._weights[f"{name}.weight"], self._weights[f"{name}.bias"]
        return layer_norm(values, gain.shape, gain, bias, float(self._config["layer_norm_eps"]))


class AnyTorchModel:
    """Any model that sentence-transformers reads, loaded."""

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
