"""Hostile files handed to every door of the package, each in a child process that measures what it costs.

A kind of file is made from its seed alone (`hostile_tables`, `hostile_records`), and opened through every
door that takes such a file. The child says after each what came of it, the processor time, and the most
memory that it held (VmHWM, set back before each); if it dies, what it worked on is at fault, and another goes
on behind it. Beside the files lies a study with acts, which must stay as it is, byte for byte.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from sense7_qual.errors import QualError
from tests.helpers import disk
from tests.helpers.broken_files import Study
from tests.helpers.places import ROOT

MEGABYTES, SECONDS = 1_000, 10
_DISK = 3_000_000_000  # bytes of the largest file that a child may write
_MEMORY = 6_000_000_000  # where a child is stopped: what it takes up to there is measured
_HUNG = 240  # seconds by the clock; what a door takes of the processor is measured

Door = Callable[[Path, Study], object]


@dataclass(frozen=True)
class Kind:
    """A kind of hostile file: how one is made, and the doors that take it."""

    name: str
    make: Callable[[random.Random, Study, Path], Path]
    """Makes one in an empty folder."""

    doors: Sequence[Door]


@dataclass
class Outcome:
    """What came of many files."""

    ends: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    megabytes: float = 0.0
    seconds: float = 0.0


class Hung(BaseException):
    """A door did not come back."""


def kinds() -> list[Kind]:
    from tests.helpers import hostile_records, hostile_tables

    return [*hostile_tables.KINDS, *hostile_records.KINDS]


def attack(first: int, count: int) -> Outcome:
    """Let hostile files number `first` to `first + count` be opened; a child that dies is replaced."""
    outcome, at = Outcome(), first
    while at < first + count:
        code = f"from tests.helpers.hostile import work; work({at}, {first + count - at})"
        with subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", code],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        ) as child:
            assert child.stdout is not None
            assert child.stderr is not None
            for line in child.stdout:
                said = json.loads(line)
                at = _add(outcome, said)
                if said["faults"]:
                    print(*said["faults"], sep="\n", flush=True)
            if child.wait() != 0 or at < first + count:
                said = child.stderr.read()[-300:]
                outcome.faults.append(f"file {at}: ended the process ({child.returncode}): {said}")
                print(outcome.faults[-1], flush=True)
                at += 1
    return outcome


def _add(outcome: Outcome, said: dict[str, object]) -> int:
    """Add what a child said of one file; return the number of the next."""
    outcome.ends.update(said["ends"])  # type: ignore[call-overload]
    outcome.faults += said["faults"]  # type: ignore[operator]
    outcome.megabytes = max(outcome.megabytes, float(said["megabytes"]))  # type: ignore[arg-type]
    outcome.seconds = max(outcome.seconds, float(said["seconds"]))  # type: ignore[arg-type]
    return int(said["number"]) + 1  # type: ignore[call-overload]


def work(first: int, count: int) -> None:
    """Open the files in this process, and say after each what came of it."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (_DISK, _DISK))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, _stop)
    every = kinds()
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        os.environ["XDG_STATE_HOME"], os.environ["TMPDIR"] = f"{folder}/state", f"{folder}/temporary"
        Path(folder, "temporary").mkdir()
        tempfile.tempdir = None
        study = Study(Path(folder))
        gc.collect()
        gc.freeze()
        for number in range(first, first + count):
            kind = every[number % len(every)]
            door = kind.doors[number // len(every) % len(kind.doors)]
            said = _one(number, kind, door, study)
            print(json.dumps({"number": number, **said}), flush=True)


def _stop(*_: object) -> None:
    raise Hung


def _one(number: int, kind: Kind, door: Door, study: Study) -> dict[str, object]:
    scratch = study.folder / "scratch" / str(number)
    scratch.mkdir(parents=True)
    disk.another_computer()
    try:
        path = kind.make(random.Random(number), study, scratch)
        end, fault, (megabytes, seconds) = _through(door, path, study)
    finally:
        _remove(study.folder / "scratch")
        _remove(study.folder / "temporary", within=True)
    if megabytes > MEGABYTES or seconds > SECONDS:
        fault += f" {megabytes:,.0f} MB, {seconds:.1f} s"
    if not study.unchanged():
        fault += "" if end == "merged" else " the study was changed"
        study.put_back()
    named = f"{kind.name} {door.__name__}"
    faults = [f"file {number} ({named}, {path.name}): {end}: {fault}"[:1_500]] if fault else []
    return {"ends": [f"{named} {end}"], "faults": faults, "megabytes": megabytes, "seconds": seconds}


def _through(door: Door, path: Path, study: Study) -> tuple[str, str, tuple[float, float]]:
    """Return how it ended, what is wrong with that, and the megabytes and processor seconds that it took."""
    tidy()
    fault, began = "", time.process_time()
    signal.alarm(_HUNG)
    try:
        end = str(door(path, study) or "went on")
    except QualError as refused:
        end = type(refused).__name__
        if len(str(refused)) > 2_000:
            fault = f"an error of {len(str(refused)):,} characters"
    except (Exception, Hung) as error:  # noqa: BLE001  what must not happen is what is looked for
        trail = " < ".join(
            f"{Path(f.filename).name}:{f.lineno}" for f in traceback.extract_tb(error.__traceback__)[:0:-1]
        )
        end, fault = type(error).__name__, f"{str(error)[:300]} at {trail[:300]}"
        del error
    finally:
        signal.alarm(0)
    return end, fault, (peak(), time.process_time() - began)


def tidy() -> None:
    """Give back what the making of the file took, and measure from here."""
    gc.collect()
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak() -> float:
    """Return the megabytes that this process held at most since `tidy`."""
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1000


def _remove(folder: Path, *, within: bool = False) -> None:
    for each in list(folder.iterdir()) if within else [folder]:
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each, ignore_errors=True)
        else:
            each.unlink(missing_ok=True)


@contextmanager
def changing(path: Path, r: random.Random) -> Iterator[None]:
    """Let a file be cut off and written again all the while."""
    import threading

    if not path.is_file():
        yield
        return
    content, over = path.read_bytes(), threading.Event()

    def change() -> None:
        while not over.is_set():
            for part in (content[: r.randrange(len(content) + 1)], content, content * 2):
                with suppress(OSError):
                    path.write_bytes(part)
                over.wait(0.002)

    thread = threading.Thread(target=change, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


if __name__ == "__main__":
    found = attack(int(sys.argv[1]), int(sys.argv[2]))
    print(json.dumps(dict(sorted(found.ends.items())), indent=1))
    print(f"{len(found.faults)} faults; at most {found.megabytes:,.0f} MB, {found.seconds:.1f} s")
