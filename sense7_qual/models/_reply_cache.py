"""A folder of a language model's replies, so that none is paid for twice.

Each reply is a file of its own, named by HMAC-SHA-256(key, everything that was asked); the key is random and
stays in the folder. What was asked is not stored, and cannot be tested for by whoever is sent the files
without the key. A file states its own name, and a keyed hash of name and reply: one that was changed, damaged
or put in the place of another is an error, never an answer. A reply can still repeat what a participant
wrote: keep the folder as safe as the data.
"""

from __future__ import annotations

import hmac
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from sense7_qual._arguments import check_arguments
from sense7_qual._atomic import make_folder, write
from sense7_qual._limits import read_file
from sense7_qual.errors import StoreError
from sense7_qual.models._vector_cache import VectorCache, read_or_make_key

__all__ = ["Reply", "ReplyCache", "clear_cache"]

#: A reply of 2 MB, each character of it written as an escape.
_LARGEST: Final = 13_000_000


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered, and the tokens that its endpoint counted (None where it does not say)."""

    text: str = field(repr=False)
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


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
            f"{str(self.folder)!r} – found: {reason} – correct that, or name another "
            "folder; what is in it is paid for."
        )


def clear_cache(folder: str | Path) -> int:
    """Remove every vector or reply from a folder that was given to `embedder` or `chat` as `cache`.

    For a participant who withdraws (`Store.forget`): a reply may repeat their words, and a vector tells much
    of a text. The folder holds nothing but what can be computed, or asked and paid for, again.

    Parameters
    ----------
    folder : str or Path
        The folder.

    Returns
    -------
    int
        How many vectors and replies there were.

    Raises
    ------
    StoreError
        There is no such cache, or the disk refuses.
    """
    check_arguments(clear_cache, locals())
    path = Path(folder)
    if not (path / "key").is_file():
        raise StoreError(
            f"clear_cache: expected a folder that embedder or chat was given as cache – found none at "
            f"{str(path)!r} – check the path."
        )
    n_vectors = VectorCache(path).clear() if (path / "vectors.sqlite").exists() else 0
    return n_vectors + ReplyCache(path).clear()
