"""How the kernels that a command starts talk to its server, through sockets that no other user can open, and
when a kernel ends that no page is connected to."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Final

__all__ = ["ALONE", "ends_alone", "short_enough", "transport"]

ALONE: Final = 1800
"""Seconds for which a kernel waits for its page to come back. A page that is closed ends its kernel at once,
and one whose browser is gone cannot. What the page called saved is in the study then."""

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


def ends_alone(seconds: int = ALONE) -> dict[str, float]:
    """Return the settings by which a server ends kernels that had no page for so many seconds."""
    return {"cull_idle_timeout": seconds, "cull_interval": max(1, seconds // 30), "cull_connected": False}


def short_enough(folder: Path, *, name: str = "") -> Path:
    """Return `folder`, or one in /tmp where a socket in its folder `name` would have too long a path."""
    if os.name != "posix" or len(str(folder / name)) <= _LONGEST:
        return folder
    return Path("/tmp") if name else Path(tempfile.mkdtemp(prefix="s7-", dir="/tmp"))  # noqa: S108
