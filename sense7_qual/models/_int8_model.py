"""A sentence-embedding model with 8-bit weights, run by ONNX Runtime without torch.

Made once from the 32-bit weights of a folder, and kept in the user's cache under the hash of what it was made
of.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
import platformdirs

from sense7_qual._atomic import make_folder, write
from sense7_qual._limits import read_file
from sense7_qual.errors import ImportRefused
from sense7_qual.models._bert_folder import other_kind, settings, tokenizer_of
from sense7_qual.models._int8_graph import int8_graph

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

__all__ = ["PACKAGES", "Int8Model", "check_kind", "int8_hash"]

PACKAGES: Final = ("onnxruntime", "onnx", "tokenizers", "safetensors")
#: Part of what names the vectors: another way to make the model gives others.
_RECIPE: Final = "int8 recipe 1"
_MOST_BYTES: Final = 2_000_000_000
_DIGEST: Final = 32
#: `MatMulInteger` of uint8 "a" (2, 4) and int8 "b" (4, 2) as an ONNX model: making it would import onnx.
_PRODUCT: Final = bytes.fromhex(
    "08093a620a180a01610a0162120163220d4d61744d756c496e7465676572120770726f647563745a130a0161120e0a0c"
    "080212080a0208020a0208045a130a0162120e0a0c080312080a0208040a02080262130a0163120e0a0c080612080a02"
    "08020a02080242040a001012"
)


def int8_hash(content: str) -> str:
    """Return the hash of the 8-bit model that is made of a folder with that hash of its content."""
    return hashlib.sha256(f"{_RECIPE} {content}".encode()).hexdigest()


def check_kind(folder: Path) -> None:
    """Refuse a model of another architecture than the one whose arithmetic stands in `int8_graph`."""
    found = other_kind(folder)
    if found:
        raise ImportRefused(
            f"embedding model: expected a BERT whose tokens are averaged (all-MiniLM-L6-v2, say) for "
            f"precision 'int8' – found {found} – use precision='float32'."
        )


class Int8Model:
    """The 8-bit model of a folder, loaded; `digest` is its `int8_hash`.

    A text goes through alone, so its vector does not depend on those beside it; several go at once.
    """

    def __init__(self, folder: Path, digest: str) -> None:
        self._session = _session(_kept(folder, digest), wide=_overflows())
        self._tokenizer, self.longest = tokenizer_of(folder)

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return int(self._session.get_outputs()[0].shape[0])

    def n_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return how many tokens each text has."""
        return [len(encoding) for encoding in self._tokenizer.encode_batch(list(texts))]

    def encode(self, texts: Sequence[str], batch_size: int) -> npt.NDArray[np.float32]:
        """Return the vector of each text, of length 1; `batch_size` changes nothing."""
        ids = [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]
        with ThreadPoolExecutor(os.cpu_count()) as workers:
            vectors = np.stack(list(workers.map(self._vector, ids)))
        unit: npt.NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit

    def _vector(self, ids: list[int]) -> npt.NDArray[np.float32]:
        if len(ids) > self.longest:  # the last token says that the text is over
            ids = [*ids[: self.longest - 1], ids[-1]]
        vector: npt.NDArray[np.float32] = self._session.run(None, {"ids": np.array(ids, dtype=np.int64)})[0]
        return vector


def _session(model: bytes, *, wide: bool) -> InferenceSession:
    """Load a model; `wide`: products of 8 bits are summed in more bits than the processor's fastest way."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.x64quantprecision", str(int(wide)))
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _overflows() -> bool:
    """Tell whether this processor's fastest way cuts off large sums of products: its vectors would be others.

    Tried and not looked up: the wide way takes twice as long, and ONNX Runtime would take it everywhere.
    """
    a, b = np.full((2, 4), 255, dtype=np.uint8), np.full((4, 2), 127, dtype=np.int8)
    product = _session(_PRODUCT, wide=False).run(None, {"a": a, "b": b})[0]
    return bool((product != 4 * 255 * 127).any())


def _kept(folder: Path, digest: str) -> bytes:
    """Return the model from the user's cache; made anew where it is absent or not as it was written."""
    place = platformdirs.user_cache_path("sense7_qual") / "models" / f"{digest[:32]}.int8"
    with suppress(OSError):
        read = read_file(place, _MOST_BYTES)
        if hashlib.sha256(read[_DIGEST:]).digest() == read[:_DIGEST]:
            return read[_DIGEST:]
    model = int8_graph(folder, settings(folder, "config.json"))
    with suppress(OSError):  # a cache that cannot be written costs a second each time, and nothing else
        make_folder(place.parent)
        write(place, hashlib.sha256(model).digest() + model, overwrite=True)
    return model
