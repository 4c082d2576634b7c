"""A folder of sentence vectors, so that no text is embedded twice.

The folder holds `vectors.sqlite` and `key`. Each vector stands under HMAC-SHA-256(key, model, precision,
text), never under the text. The key is random and stays in the folder (mode 0600): with an unkeyed hash,
anyone who is sent the vectors could test a guess at a short text ("nothing", a name); with the database
alone they cannot. **The vectors themselves are still personal data**: much of a short text can be
reconstructed from its embedding (Morris et al. 2023, "Text embeddings reveal (almost) as much as text",
EMNLP), so keep the folder where the texts may be kept, and out of what is published.
"""

from __future__ import annotations

import errno
import hashlib
import hmac
import secrets
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sense7_qual._atomic import make_folder, new_file, write
from sense7_qual._limits import read_file
from sense7_qual.errors import StoreError

__all__ = ["VectorCache", "read_or_make_key"]

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
