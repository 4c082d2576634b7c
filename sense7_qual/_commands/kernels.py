"""How the kernels that a command starts talk to its server: through sockets that no other user can open."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Final

__all__ = ["short_enough", "transport"]

_LONGEST: Final = 50
"""Letters of the path of a kernel's sockets, at most: with the kernel's id a system takes 103."""
_SHARED: Final = """\
Other users of this computer can read along: this system has no sockets in folders, so what a
kernel shows goes over the computer's own network. Do not code confidential texts here while
others use the computer."""


def transport() -> str:
    """Return the transport of kernels: "ipc", or "tcp" (with a printed warning) where there is no other.

    A kernel publishes the texts that a widget shows. Over TCP any user of the computer can subscribe to them;
    sockets in a folder of one's own are opened by nobody else.
    """
    if os.name == "posix":
        return "ipc"
    print(_SHARED, flush=True)
    return "tcp"


def short_enough(folder: Path, *, name: str = "") -> Path:
    """Return `folder`, or one in /tmp where a socket in its folder `name` would have too long a path."""
    if os.name != "posix" or len(str(folder / name)) <= _LONGEST:
        return folder
    return Path("/tmp") if name else Path(tempfile.mkdtemp(prefix="s7-", dir="/tmp"))  # noqa: S108
