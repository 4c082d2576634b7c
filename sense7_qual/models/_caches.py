"""Folders of sentence vectors and of replies, so that no text is embedded and no question is asked twice.

The folder of vectors holds `vectors.sqlite` and `key`. Each vector is stored under HMAC-SHA-256(key, model,
precision, text), never under the text. The key is random and stays in the folder (mode 0600): with an
unkeyed hash, anyone who is sent the vectors could test a guess at a short text ("nothing", a name); with
the database alone they cannot. **The vectors themselves are still personal data**: much of a short text
can be reconstructed from its embedding (Morris et al. 2023, "Text embeddings reveal (almost) as much as
text", EMNLP), so keep the folder where the texts may be kept, and out of what is published.

Each reply of a language model is a file of its own, named by HMAC-SHA-256(key, everything that was
asked); the key is random and stays in the folder. What was asked is not stored, and cannot be tested for
by whoever is sent the files without the key. A file states its own name, and a keyed hash of name and
reply: one that was changed, damaged or swapped with another is an error, never an answer. A reply can
still repeat what a participant wrote: keep the folder as safe as the data.
"""

from __future__ import annotations

import errno
import hashlib
import hmac
import json
import secrets
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sense7_qual._arguments import check_arguments
from sense7_qual._atomic import make_folder, new_file, write
from sense7_qual._limits import read_file
from sense7_qual.errors import StoreError

Vector = npt.NDArray[np.float32]

_KEY_BYTES = 32
# Found by a number: to find a row by its bytes, SQLite would read those that it passes, however long.
_TABLE = "vectors (id INTEGER PRIMARY KEY, digest BLOB NOT NULL, vector BLOB NOT NULL)"
_VECTOR = "SELECT vector FROM vectors WHERE id = ? AND digest = ?"
_LONGEST = 1_000_000  # bytes of a vector: 250,000 numbers, a hundred times what models have


@dataclass(frozen=True, slots=True)
class VectorCache:
    """Vectors of texts kept in a folder, each under a keyed hash of model, precision and text.

    Attributes
    ----------
    folder
        Made where it does not exist, readable by its owner alone. Losing the key or the database loses
        nothing but the time to embed again.

    Examples
    --------
    >>> import tempfile
    >>> cache = VectorCache(Path(tempfile.mkdtemp()) / "vectors")
    >>> cache.save("model-1", {"fine": np.ones(3, dtype=np.float32)})
    >>> {text: vector.tolist() for text, vector in cache.load("model-1", ["fine", "good"]).items()}
    {'fine': [1.0, 1.0, 1.0]}
    >>> cache.load("model-2", ["fine"])
    {}
    """

    folder: Path
    _key: bytes = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        try:
            make_folder(self.folder)
            key = read_or_make_key(self.folder / "key")
            with suppress(FileExistsError):
                new_file(self.folder / "vectors.sqlite")
        except OSError as error:
            raise self._unusable(error.strerror or type(error).__name__) from error
        object.__setattr__(self, "_key", key)

    def load(self, model: str, texts: Sequence[str]) -> dict[str, Vector]:
        """Return the stored vectors of those `texts` that have one under `model`."""
        vectors: dict[str, Vector] = {}
        with self._database() as database:
            for text in texts:
                row = database.execute(_VECTOR, self._place(model, text)).fetchone()
                if row is not None:
                    vectors[text] = self._read(row[0])
        return vectors

    def _read(self, packed: object) -> Vector:
        if not isinstance(packed, bytes) or not 0 < len(packed) <= _LONGEST or len(packed) % 4:
            raise self._unusable("a vector that is none")
        return np.frombuffer(packed, dtype="<f4").astype(np.float32)

    def save(self, model: str, vectors: Mapping[str, Vector]) -> None:
        """Store `vectors` (text → float32 vector) under `model`: all of them, or none when interrupted."""
        rows = [
            (*self._place(model, text), vector.astype("<f4").tobytes()) for text, vector in vectors.items()
        ]
        with self._database() as database:
            database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)

    def clear(self) -> int:
        """Remove every vector, also from the free pages of the database, and return how many there were."""
        with self._database() as database:
            database.execute("PRAGMA secure_delete=ON")
            n_vectors = database.execute("DELETE FROM vectors").rowcount
        with self._database() as database:
            database.commit()
            database.execute("VACUUM")
        return n_vectors

    def _place(self, model: str, text: str) -> tuple[int, bytes]:
        """Return the keyed hash, and before it the number that its first bytes are."""
        # The lengths of the parts are fixed by hashing each, so that no two pairs give the same bytes.
        parts = hashlib.sha256(model.encode()).digest() + text.encode("utf-8", "surrogatepass")
        digest = hmac.digest(self._key, parts, "sha256")
        return int.from_bytes(digest[:8], "big", signed=True), digest

    @contextmanager
    def _database(self) -> Iterator[sqlite3.Connection]:
        try:
            # 60 s: a second notebook that embeds into the same folder waits for its turn.
            with closing(sqlite3.connect(self.folder / "vectors.sqlite", timeout=60)) as database, database:
                database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST + 100)  # of a whole row
                database.execute(f"CREATE TABLE IF NOT EXISTS {_TABLE}")
                # A view or a trigger could stand for endless rows, or take them away.
                tables = database.execute("SELECT sql FROM sqlite_master").fetchall()
                if tables != [(f"CREATE TABLE {_TABLE}",)]:
                    raise self._unusable("another table than one of vectors, or more")
                yield database
        except sqlite3.Error as error:
            raise self._unusable(str(error)) from error

    def _unusable(self, reason: str) -> StoreError:
        return StoreError(
            f"embedding cache: expected a folder of vectors at {str(self.folder)!r} – found: {reason} – "
            "delete the folder (it holds nothing that cannot be computed again) or name another."
        )


def read_or_make_key(path: Path) -> bytes:
    """Return the key at `path`; where there is none, put a whole new one there, or lose the race to one."""
    if not path.exists():
        with suppress(FileExistsError):
            write(path, secrets.token_bytes(_KEY_BYTES), overwrite=False)
    key = read_file(path, 1_000_000)
    if len(key) != _KEY_BYTES:
        raise OSError(errno.EINVAL, f"a key of {len(key):,} bytes instead of {_KEY_BYTES}")
    return key


#: A reply of 2 MB, each character of it written as an escape.
_LARGEST: Final = 13_000_000


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered, and what its endpoint says of tokens and itself (None: it does not say)."""

    text: str = field(repr=False)
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    model: str | None = None
    system_fingerprint: str | None = None


@dataclass(frozen=True, slots=True)
class ReplyCache:
    """Replies kept in a folder, each under a keyed hash of everything that was asked.

    Attributes
    ----------
    folder
        Made where it does not exist; folder and files can be read by their owner alone.

    Examples
    --------
    >>> import tempfile
    >>> cache = ReplyCache(Path(tempfile.mkdtemp()) / "replies")
    >>> cache.save(b"what was asked", Reply("4", 120, 1))
    >>> cache.load(b"what was asked").text
    '4'
    >>> cache.load(b"something else") is None
    True
    """

    folder: Path
    _key: bytes = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        try:
            make_folder(self.folder)
            key = read_or_make_key(self.folder / "key")
        except OSError as error:
            raise self._unusable(error.strerror or type(error).__name__) from error
        object.__setattr__(self, "_key", key)

    def load(self, request: bytes) -> Reply | None:
        """Return the reply to `request`, or None where there is none yet."""
        name = self._name(request)
        try:
            return self._unsealed(read_file(self.folder / name, _LARGEST), name)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unusable(f"{name}: {error.strerror or type(error).__name__}") from None
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            # `from None`: what a decoder quotes would be the reply.
            raise self._unusable(
                f"{name}, which is not the reply that was kept under this name (delete it to ask again)"
            ) from None

    def save(self, request: bytes, reply: Reply) -> None:
        """Keep a reply: the whole of it, on the disk, or nothing."""
        name = self._name(request)
        try:
            write(self.folder / name, self._sealed(reply, name), overwrite=True)
        except OSError as error:
            raise self._unusable(error.strerror or type(error).__name__) from error

    def clear(self) -> int:
        """Remove every reply, and return how many there were."""
        try:
            replies = list(self.folder.glob("*.json"))
            for file in [*replies, *self.folder.glob(".*.part")]:
                file.unlink(missing_ok=True)
        except OSError as error:
            raise self._unusable(error.strerror or type(error).__name__) from error
        return len(replies)

    def _name(self, request: bytes) -> str:
        return f"{hmac.new(self._key, request, 'sha256').hexdigest()}.json"

    def _sealed(self, reply: Reply, name: str) -> bytes:
        content = {"name": name, "reply": asdict(reply)}
        return json.dumps({**content, "seal": self._seal(content)}).encode()

    def _unsealed(self, stored: bytes, name: str) -> Reply:
        """Return the reply; the errors that `load` names where it is another one or was changed."""
        content = json.loads(stored)
        seal = str(content.pop("seal"))
        if content["name"] != name or not hmac.compare_digest(seal.encode(), self._seal(content).encode()):
            raise ValueError("another reply")
        return Reply(**content["reply"])

    def _seal(self, content: dict[str, Any]) -> str:
        plain = json.dumps(content, sort_keys=True).encode()
        return hmac.new(self._key, b"reply\0" + plain, "sha256").hexdigest()

    def _unusable(self, reason: str) -> StoreError:
        return StoreError(
            f"cache of replies: expected a folder of replies that can be read and written at "
            f"{str(self.folder)!r} – found: {reason}. Its replies are unchanged and "
            "paid for. Correct that, or name another folder."
        )


def clear_cache(folder: str | Path) -> int:
    """Remove all vectors and replies from a folder that `embedder` or `chat` uses as `cache`.

    Use it after a withdrawal (`Store.forget`): a reply may repeat a participant's words, and a vector reveals
    much of a text. Everything in the folder can be computed, or asked and paid for, again.

    Parameters
    ----------
    folder : str or Path
        The folder.

    Returns
    -------
    int
        The number of vectors and replies removed.

    Raises
    ------
    StoreError
        The folder is not a cache, or it cannot be written.
    """
    check_arguments(clear_cache, locals())
    path = Path(folder)
    if not (path / "key").is_file():
        raise StoreError(f"clear_cache: {str(path)!r} is not a cache of embedder or chat – check the path.")
    n_vectors = VectorCache(path).clear() if (path / "vectors.sqlite").exists() else 0
    return n_vectors + ReplyCache(path).clear()
