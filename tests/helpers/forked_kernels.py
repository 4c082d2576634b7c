"""Kernels forked off one process that has imported everything: two seconds of a processor less for each.

`serve` is that process. For each kernel the server starts `client`, which stands for it: signals go through
it, and when either of the two ends, so does the other.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

START_SECONDS = 120


@contextmanager
def offered(folder: Path, log: IO[str]) -> Iterator[None]:
    """Offer them as the kernel `python3` to a server that has `folder` in its JUPYTER_PATH."""
    address = folder / "socket"
    spec = folder / "kernels" / "python3" / "kernel.json"
    spec.parent.mkdir(parents=True)
    argv = [sys.executable, "-S", "-E", __file__, "client", str(address), "{connection_file}"]
    spec.write_text(json.dumps({"argv": argv, "display_name": "Python 3 (ipykernel)", "language": "python"}))
    command = [sys.executable, "-m", __name__, "serve", str(address)]
    env = {**os.environ, "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    with subprocess.Popen(command, env=env, stdout=log, stderr=log) as process:
        try:
            end = time.monotonic() + START_SECONDS
            while not address.exists():
                assert process.poll() is None
                assert time.monotonic() < end
                time.sleep(0.05)
            yield
        finally:
            process.terminate()


def serve(address: str) -> None:
    """Fork a kernel for each client that comes."""
    import ipykernel.ipkernel  # noqa: F401
    import ipywidgets  # noqa: F401

    import sense7_qual as qual

    for name in qual.__all__:
        getattr(qual, name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{address}.new")
        listener.listen()
        Path(f"{address}.new").rename(address)
        while True:
            connection, _ = listener.accept()
            if not os.fork():
                listener.close()
                _become_kernel(connection)
            connection.close()


def _become_kernel(connection: socket.socket) -> None:
    import random
    import threading

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    asked = json.loads(connection.makefile().readline())
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    random.seed()
    sys.path[0] = ""
    sys.argv = ["ipykernel_launcher", "-f", asked["connection_file"]]

    def obey() -> None:
        while number := connection.recv(1):
            os.kill(os.getpid(), number[0])
        os._exit(1)

    threading.Thread(target=obey, daemon=True).start()
    from ipykernel import kernelapp

    kernelapp.launch_new_instance()
    os._exit(0)


def client(address: str, connection_file: str) -> None:
    """Stand for a kernel as long as it lives."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        kept = {name: value for name, value in os.environ.items() if name != "JPY_PARENT_PID"}
        asked = {"folder": os.getcwd(), "environment": kept, "connection_file": connection_file}  # noqa: PTH109
        connection.sendall(f"{json.dumps(asked)}\n".encode())
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda number, _: connection.send(bytes([number])) and None)
        connection.recv(1)


if __name__ == "__main__":
    {"serve": serve, "client": client}[sys.argv[1]](*sys.argv[2:])
