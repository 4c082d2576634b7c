"""A folder of a language model's replies, so that none is paid for twice.

Each reply is a file of its own, named by HMAC-SHA-256(key, everything that was asked); the key is random and
stays in the folder. What was asked is not stored, and cannot be tested for by whoever is sent the files
without the key. A reply can still repeat what a participant wrote: keep the folder as safe as the data.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path

from sense7_qual.errors import StoreError
from sense7_qual.models._vector_cache import read_or_make_key

__all__ = ["Reply", "ReplyCache"]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered, and the tokens that its endpoint counted (None where it does not say)."""

    text: str = field(repr=False)
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ReplyCache:
    """Replies kept in a folder, each under a keyed hash of everything that was asked.

    Parameters
    ----------
    folder
        Made where it does not exist; folder and files can be read by their owner alone.

    Raises
    ------
    StoreError
        The folder cannot be written, or a file in it is no reply.

    Examples
    --------
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
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            key = read_or_make_key(self.folder / "key")
        except OSError as error:
            raise self._unusable(error.strerror or type(error).__name__) from error
        object.__setattr__(self, "_key", key)

    def load(self, asked: bytes) -> Reply | None:
        """Return the reply to what was `asked`, or None where there is none yet."""
        path = self._path(asked)
        try:
            return Reply(**json.loads(path.read_text("utf-8")))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError):
            # `from None`: what a decoder quotes would be the reply.
            raise self._unusable(f"a file that is no reply, {path.name}") from None

    def save(self, asked: bytes, reply: Reply) -> None:
        """Keep a reply: the whole of it, on the disk, or nothing."""
        try:
            handle, written = tempfile.mkstemp(dir=self.folder, prefix="new-")  # mode 0600
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    json.dump(asdict(reply), file)
                    file.flush()
                    os.fsync(file.fileno())
                Path(written).replace(self._path(asked))
            except BaseException:
                with contextlib.suppress(OSError):
                    Path(written).unlink()
                raise
        except OSError as error:
            raise self._unusable(error.strerror or type(error).__name__) from error

    def _path(self, asked: bytes) -> Path:
        return self.folder / f"{hmac.new(self._key, asked, 'sha256').hexdigest()}.json"

    def _unusable(self, reason: str) -> StoreError:
        return StoreError(
            f"cache of replies: expected a folder that can be read and written at {str(self.folder)!r} – "
            f"found: {reason} – correct that or name another folder; what is in it is paid for."
        )
