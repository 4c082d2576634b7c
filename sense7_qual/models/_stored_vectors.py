"""Vectors of sets too large for memory: embedded in chunks into one file, which is read as it is needed.

The folder holds ``vectors.npy`` (float32, a row per distinct text), ``plan.json`` (the model, a keyed hash of
all texts, the chunks that are done) and ``key``. What goes for a folder of `embedder(cache=…)` goes for this
one: a vector can betray its text.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sense7_qual._arguments import Progress, check_arguments, reporting
from sense7_qual._atomic import make_folder, new_file, save
from sense7_qual._limits import read_file
from sense7_qual.errors import ArgumentError, StoreError, TableError
from sense7_qual.models._caches import read_or_make_key
from sense7_qual.models._embedder import Embedder

Vectors = npt.NDArray[np.float32]

_PLACE: Final = 16  # bytes of a keyed hash: among a billion texts, two are the same once in 10**20 sets
_AHEAD: Final = 2  # chunks that wait for each worker


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class StoredVectors:
    """Vectors in a folder, as a function: `vectors(texts)` returns an array (n, d), as an embedder does.

    Made by `embed_to_folder`. Its repr shows counts, never a text.

    Attributes
    ----------
    array
        float32, shape (n distinct texts, dimensions), rows of length 1, in the order in which the texts first
        occur. It is mapped into memory: rows that are not read take none.
    model_id
        The model of the vectors.
    """

    array: Vectors
    model_id: str
    _key: bytes = field(repr=False)
    _rows: dict[bytes, int] = field(repr=False)

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return the vector of each text, in their order.

        Raises
        ------
        TableError
            A text was not embedded.
        """
        rows = [self._rows.get(_place(self._key, text)) for text in texts]
        known = [row for row in rows if row is not None]
        if len(known) < len(rows):
            raise TableError(
                f"stored vectors: expected texts that were embedded – found {len(rows) - len(known)} of "
                f"{len(rows)} that were not – call embed_to_folder with all texts, into another folder."
            )
        return np.array(self.array[known], dtype=np.float32).reshape(len(rows), self.array.shape[1])

    def __repr__(self) -> str:
        return f"StoredVectors({len(self.array)} texts, {self.array.shape[1]} dimensions, {self.model_id})"


def embed_to_folder(
    texts: Sequence[str],
    folder: str | Path,
    *,
    embed: Embedder,
    chunk: int = 4096,
    client: Any = None,
    progress: Progress | bool | None = None,
) -> StoredVectors:
    """Embed texts into a folder, chunk by chunk, and return their vectors without holding them in memory.

    After an interruption the same call continues where it stopped, because finished chunks are on the disk.
    Each distinct text is embedded once. The same texts, model and chunk size give the same bytes, on one
    processor or on a cluster of identical computers.

    Parameters
    ----------
    texts
        Strings; they may be blank.
    folder
        Created if it does not exist, readable only by its owner. Keep it where the texts may be kept.
    embed
        `embedder(…)`. Its own cache is not used.
    chunk
        The number of texts embedded before they are written, from 1.
    client
        A client of a Dask cluster (package ``distributed``, extra ``cluster``): its workers embed the chunks.
        They receive the texts, and may write them to their disks if memory is short, so the cluster must be
        allowed to see them; its logs contain no text. The package and the model's folder must be in the same
        places as here. None: this process embeds.
    progress
        `progress(done, total)` with the number of distinct texts; True shows a bar.

    Returns
    -------
    StoredVectors
        Pass it as `embed` to `themes.fit` and others.

    Raises
    ------
    StoreError
        The folder has vectors of other texts, of another model or chunk size, or cannot be written.
    TableError
        No text is given, or one string instead of several.

    Examples
    --------
    >>> import tempfile
    >>> from sense7_qual.models import embedder
    >>> vectors = embed_to_folder(["It listened.", "Too slow."], tempfile.mkdtemp() + "/v", embed=embedder())
    >>> vectors(["Too slow."]).shape
    (1, 384)
    """
    if isinstance(texts, str):  # before it is shown as an argument of the wrong kind
        raise TableError("embed_to_folder: expected a sequence of texts – found one string – pass [text].")
    check_arguments(embed_to_folder, locals(), but=("client",))
    if client is not None and not hasattr(client, "scheduler_info"):
        raise ArgumentError(
            f"embed_to_folder: expected a client of a Dask cluster – found {type(client).__name__} – pass "
            "distributed.Client(address)."
        )
    distinct = _distinct(texts, chunk)
    bare = replace(embed, cache=None, progress=None)
    object.__setattr__(bare, "_loaded", embed._loaded)  # a model that is loaded is not loaded again
    place = Path(folder)
    key = _made(place)
    places = np.frombuffer(b"".join(_place(key, text) for text in distinct), dtype=f"V{_PLACE}")
    plan = _Plan.begun(place, embed.model_id, chunk, places)
    array = _opened(place, len(distinct), plan, lambda: bare.dimensions)
    with reporting(progress, len(distinct), doing="embedding", unit="text") as report:
        waiting = [start for start in range(0, len(distinct), chunk) if start // chunk not in plan.done]
        report(len(plan.done) * chunk if waiting else len(distinct), len(distinct))
        parts = (_Part(start, distinct[start : start + chunk]) for start in waiting)
        for start, vectors in _embedded(parts, bare, client):
            array[start : start + len(vectors)] = vectors
            array.flush()
            plan = plan.with_chunk(place, start // chunk)
            report(min(len(plan.done) * chunk, len(distinct)), len(distinct))
    rows = {bytes(one): row for row, one in enumerate(places)}
    return StoredVectors(np.load(place / "vectors.npy", mmap_mode="r"), embed.model_id, key, rows)


def _embedded(parts: Iterable[_Part], embed: Embedder, client: Any) -> Iterator[tuple[int, Vectors]]:
    """Yield the vectors of each part, here in order, of a cluster's workers as they come."""
    if client is None:
        for part in parts:
            yield part.start, embed(part.texts)
        return
    from distributed import as_completed

    parts, embed = iter(parts), replace(embed)  # a loaded model would travel with each part
    n_workers = max(len(client.scheduler_info(n_workers=-1)["workers"]), 1)
    first = list(islice(parts, n_workers * _AHEAD))
    at_work: Any = as_completed([client.submit(_on_worker, part, embed, pure=False) for part in first])  # type: ignore[no-untyped-call]
    for done in at_work:
        yield done.result()
        done.release()  # or the vectors of all chunks would stay in the workers' memory
        for part in islice(parts, 1):
            at_work.add(client.submit(_on_worker, part, embed, pure=False))


@dataclass(frozen=True, slots=True, repr=False)
class _Part:
    """Texts on their way to a worker, whose logs show the repr of what it is given."""

    start: int
    texts: list[str]


_LOADED: dict[str, Embedder] = {}


def _on_worker(part: _Part, embed: Embedder) -> tuple[int, Vectors]:
    """Embed a part in a worker's process, which loads the model once."""
    return part.start, _LOADED.setdefault(embed.model_id, embed)(part.texts)


@dataclass(frozen=True, slots=True)
class _Plan:
    model: str
    chunk: int
    texts: str  # the keyed hash of all of them, in order
    done: tuple[int, ...] = ()

    @classmethod
    def begun(cls, folder: Path, model: str, chunk: int, places: npt.NDArray[np.void]) -> _Plan:
        """Return the plan of the folder, or a new one; refuse one of other texts, model or chunk size."""
        wished = cls(model, chunk, hashlib.sha256(places.tobytes()).hexdigest())
        file = folder / "plan.json"
        if not file.exists():
            (folder / "vectors.npy").unlink(missing_ok=True)  # begun, and killed before there was a plan
            return wished
        try:
            content: dict[str, Any] = json.loads(read_file(file, 100_000_000))
            plan = cls(**(content | {"done": tuple(content["done"])}))
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            raise _other(folder, "a plan.json that cannot be read") from error
        for name in ("model", "texts", "chunk"):
            if getattr(plan, name) != getattr(wished, name):
                raise _other(folder, f"those of another {'set of texts' if name == 'texts' else name}")
        return plan

    def with_chunk(self, folder: Path, number: int) -> _Plan:
        """Write down that a chunk is done, after its vectors are on the disk."""
        plan = replace(self, done=tuple(sorted({*self.done, number})))
        content = {name: getattr(plan, name) for name in self.__slots__}
        save(folder / "plan.json", json.dumps(content).encode(), overwrite=True)
        return plan


def _opened(folder: Path, n: int, plan: _Plan, dimensions: Callable[[], int]) -> np.memmap[Any, Any]:
    file = folder / "vectors.npy"
    new: dict[str, Any] = {} if plan.done else {"dtype": np.float32, "shape": (n, dimensions())}
    try:
        if not plan.done:
            with suppress(FileExistsError):
                new_file(file)
        array = np.lib.format.open_memmap(file, mode="r+" if plan.done else "w+", **new)
    except (OSError, ValueError) as error:
        raise _other(folder, f"a vectors.npy that cannot be used ({type(error).__name__})") from error
    if array.dtype != np.float32 or array.ndim != 2 or len(array) != n:
        raise _other(folder, "a vectors.npy of another size")
    return array


def _made(folder: Path) -> bytes:
    try:
        make_folder(folder)
        return read_or_make_key(folder / "key")
    except OSError as error:
        raise _other(folder, error.strerror or type(error).__name__) from error


def _place(key: bytes, text: str) -> bytes:
    return hmac.digest(key, text.encode("utf-8", "surrogatepass"), "sha256")[:_PLACE]


def _distinct(texts: Sequence[str], chunk: int) -> list[str]:
    if chunk < 1:
        raise TableError(f"embed_to_folder: expected chunk of 1 or more – found {chunk} – use 4096.")
    distinct = list(dict.fromkeys(texts))
    if not distinct:
        raise TableError("embed_to_folder: expected texts – found none – pass at least one.")
    return distinct


def _other(folder: Path, problem: str) -> StoreError:
    return StoreError(
        f"stored vectors: expected an empty folder, or vectors of these texts, at {str(folder)!r} – found "
        f"{problem} – delete the folder (it holds nothing that cannot be computed again) or name another."
    )
