"""Try to overhear a coder, to undo a withdrawal, to slip acts in, and to finish what was not shown.

python scripts/see_for_yourself.py              # all of them
python scripts/see_for_yourself.py overhear     # one; `overhear` needs Linux, and root for another user

Each works on a study of its own in a temporary folder, says what it does and what came of it, and the script
ends with 1 where one of them succeeded.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pandas as pd

from sense7_qual import acts, rounds
from sense7_qual.codebook import Codebook
from sense7_qual.errors import QualError
from sense7_qual.store import Store
from sense7_qual.widgets import CodingWidget

BOOK: Final = Codebook.read("sense7")
LISTEN: Final = """
import os, socket, sys, time, zmq
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
listener, opened = zmq.Context().socket(zmq.SUB), 0
listener.subscribe(b"")
for place in sys.argv[1:]:
    if place.isdigit():
        listener.connect(f"tcp://127.0.0.1:{place}")
    else:
        try:
            socket.socket(socket.AF_UNIX).connect(place)
            opened += 1
        except PermissionError:
            pass
print("ready", flush=True)
until, heard = time.time() + 3, 0
while time.time() < until:
    heard += len(listener.recv_multipart()) if listener.poll(200) else 0
print(f"{heard} messages heard, {opened} sockets opened")
"""


def study(path: Path) -> Store:
    units = pd.DataFrame(
        {
            "unit_id": ["m1", "m2"],
            "text": ["It listened to me.", "It was in a hurry."],
            "document_id": ["d1", "d2"],
            "case_id": ["p1", "p2"],
            "position": 0,
        }
    )
    return Store.create(path, units=units, codebook=BOOK)


def coded(coder: str, unit_id: str, code: str, round: str | None = None) -> list[acts.Act]:
    who = {"coder": coder, "unit_id": unit_id, "codebook": BOOK, "round": round}
    return [acts.apply(code=code, **who), acts.finish(**who)]  # type: ignore[arg-type]


def overhear(folder: Path) -> bool:
    """As another user, listen to the kernel behind the page of a coder."""
    print("A kernel with Jupyter's own settings, as a control:")
    with plain_kernel() as (ports, say):
        print(" ", heard(ports, say))
    store = study(folder / "study")
    print("The kernel behind `sense7-qual code`:")
    with page_of(store) as kernel:
        ports, sockets = listening(kernel)
        print(f"  listens on {len(ports)} ports and {len(sockets)} sockets")
        result = heard([*ports, *sockets], lambda: None)
        print(" ", result)
    return result != "0 messages heard, 0 sockets opened"


@contextlib.contextmanager
def plain_kernel() -> Iterator[tuple[list[str], Callable[[], object]]]:
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel()
    try:
        yield [str(manager.iopub_port)], lambda: client.execute("print('a text')")
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@contextlib.contextmanager
def page_of(store: Store) -> Iterator[int]:
    """Open a coder's page as a browser does, and yield the process of its kernel."""
    command = [sys.executable, "-m", "sense7_qual", "code", str(store.path), "--coder", "ana", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            printed = iter(process.stdout or ())
            address = next(found[0] for line in printed if (found := re.search(r"http://\S+", line)))
            urllib.request.urlopen(address, timeout=120).read()  # noqa: S310 – this computer
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            yield next(
                int(one) for one in children if b"ipykernel" in Path(f"/proc/{one}/cmdline").read_bytes()
            )
        finally:
            process.terminate()


def listening(pid: int) -> tuple[list[str], list[str]]:
    """Return the ports and the paths of sockets on which a process listens."""
    links = [str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()]
    own = {link[8:-1] for link in links if link.startswith("socket:")}
    tcp, unix = (
        [line.split() for line in Path(f"/proc/{pid}/net/{kind}").read_text().splitlines()[1:]]
        for kind in ("tcp", "unix")
    )
    ports = [str(int(row[1].split(":")[1], 16)) for row in tcp if row[3] == "0A" and row[9] in own]
    return ports, sorted({row[7] for row in unix if len(row) > 7 and "-ipc-" in row[7] and row[6] in own})


def heard(places: list[str], say: Callable[[], object]) -> str:
    """Return what a listener at some places prints, who is the user "nobody" where root starts it."""
    command = [sys.executable, "-c", LISTEN, *places]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as listener:
        time.sleep(2)
        say()
        return listener.communicate()[0].split("\n")[1]


def undo_a_withdrawal(folder: Path) -> bool:
    """Put yesterday's whole folder back after a participant withdrew."""
    store = study(folder / "study")
    store.append(coded("ana", "m1", "interest"))
    shutil.copytree(store.path, folder / "yesterday")
    store.forget("p1", why="Withdrew.")
    shutil.rmtree(store.path)
    shutil.copytree(folder / "yesterday", store.path)
    return succeeded("opening yesterday's folder", lambda: Store(store.path).acts())


def slip_acts_into_a_merge(folder: Path) -> bool:
    """Give back a folder that was handed to ben with acts of ana and of the lead in it."""
    store = study(folder / "study")
    lead = {"coder": "lead", "codebook": BOOK}
    store.append([rounds.open_round("one", units=["m1"], coders=["ana", "ben"], **lead)])  # type: ignore[arg-type]
    store.copies.hand_out("one", "ben", folder / "for ben")
    handed = Store(folder / "for ben")
    handed.append(coded("ben", "m1", "affective", "one"))
    handed.append(coded("ana", "m1", "interest", "one"))
    merged = store.copies.merge(handed.path)
    refused = merged.items[merged.items["status"] == "refused"]
    for coder, n in refused.groupby("coder").size().items():
        print(f"  merging ben's folder, with acts of {coder} in it: refused – {n} acts of {coder}")
    print(f"  coders of the study now: {', '.join(store.coders)}")
    return "ana" in store.coders


def finish_unseen(folder: Path) -> bool:
    """In two windows of one coder, finish a text over a coding that the window did not show."""
    store = study(folder / "study")
    first, second = (Window(Store(store.path)) for _ in range(2))
    second.act(kind="apply", code="interest")
    print("  the second window codes the text; the first, which shows it without codes, finishes it")
    answer = first.act(kind="finish")
    finished = "finish" in {act.kind for act in store.acts()}
    print(f"  finished: {finished} – {answer.get('message', answer)}")
    return finished


class Window:
    """A coding widget of ana's, asked as a browser asks it."""

    def __init__(self, store: Store) -> None:
        self.heard: list[dict[str, Any]] = []
        self.widget = CodingWidget(store, coder="ana")
        self.widget.send = lambda content, buffers=None: self.heard.append(content)
        self.ask("hello")
        self.shown = self.ask("unit", place=0)

    def ask(self, kind: str, **named: object) -> dict[str, Any]:
        message = {"type": kind, "client": "c", "id": str(uuid.uuid4()), **named}
        self.widget._receive(self.widget, message, [])
        return self.heard[-1]

    def act(self, **named: object) -> dict[str, Any]:
        return self.ask("act", act={"unit_id": "m1", **named})


def succeeded(what: str, deed: Callable[[], object]) -> bool:
    try:
        deed()
    except QualError as error:
        print(f"  {what}: refused – {error}")
        return False
    print(f"  {what}: done")
    return True


TRIED: Final = {
    "overhear": overhear,
    "undo": undo_a_withdrawal,
    "slip": slip_acts_into_a_merge,
    "finish": finish_unseen,
}


def main() -> None:
    chosen, broken = sys.argv[1:] or list(TRIED), []
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["XDG_STATE_HOME"] = f"{temporary}/state"
        for name in chosen:
            print(f"{TRIED[name].__doc__}")
            folder = Path(temporary) / name
            folder.mkdir()
            if TRIED[name](folder):
                broken.append(name)
                print("  THIS SUCCEEDED")
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
