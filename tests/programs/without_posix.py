"""Import every module and walk from the example to a table, as on a computer without POSIX.

python without_posix.py FOLDER: others' packages are loaded, then what only POSIX has is hidden. Prints how
many modules were imported; those of an extra that is not installed are left out.
"""

# ruff: noqa: E402, F401

import importlib
import json
import os
import pkgutil
import signal
import socket
import sys
from pathlib import Path

# These know which system they are on; they have to be here before it changes.
import altair
import anywidget
import docx
import IPython
import jupyterlab.labapp
import krippendorff
import pandas
import platformdirs
import pyarrow.parquet
import scipy.stats
import sqlalchemy.dialects.sqlite

MODULES = ["fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"]
NAMES = {
    os: [
        "O_CLOEXEC",
        "O_DIRECTORY",
        "O_NOCTTY",
        "O_NOFOLLOW",
        "O_NONBLOCK",
        "O_SYNC",
        "chown",
        "chroot",
        "fchmod",
        "fchown",
        "fork",
        "forkpty",
        "getegid",
        "geteuid",
        "getgid",
        "getloadavg",
        "getpgid",
        "getuid",
        "killpg",
        "lchown",
        "lockf",
        "major",
        "mkfifo",
        "mknod",
        "nice",
        "openpty",
        "posix_fadvise",
        "posix_fallocate",
        "posix_spawn",
        "pread",
        "pwrite",
        "register_at_fork",
        "sched_getaffinity",
        "sendfile",
        "setpgid",
        "setsid",
        "setuid",
        "statvfs",
        "sync",
        "sysconf",
        "uname",
        "wait",
    ],
    signal: [
        "SIGALRM",
        "SIGHUP",
        "SIGKILL",
        "SIGUSR1",
        "SIGUSR2",
        "SIGXCPU",
        "alarm",
        "pthread_kill",
        "pthread_sigmask",
        "setitimer",
        "sigwait",
    ],
    socket: ["AF_UNIX", "SO_REUSEPORT"],
}


class Hidden:
    """Find none of the modules that only POSIX has."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


for module in MODULES:
    sys.modules.pop(module, None)
sys.meta_path.insert(0, Hidden())
for owner, names in NAMES.items():
    for name in names:
        if hasattr(owner, name):
            delattr(owner, name)

assert not hasattr(os, "fork")

import sense7_qual as qual

# The page is an extra: where it is not installed, these two lack its package, and nothing else.
OF_AN_EXTRA = {("sense7_qual._commands.serve", "voila"), ("sense7_qual._commands.hub", "voila")}

imported = []
for module in pkgutil.walk_packages(qual.__path__, "sense7_qual."):
    if not module.name.startswith("sense7_qual._example"):
        try:
            imported.append(importlib.import_module(module.name))
        except ModuleNotFoundError as lacking:
            if (module.name, lacking.name) not in OF_AN_EXTRA:
                raise

from sense7_qual._commands import main
from sense7_qual._commands.lab import put_example

place = Path(sys.argv[1])
put_example(place / "project")
units = qual.corpus.read(
    place / "project" / "data" / "explanations.csv",
    text="Comment",
    unit_id="MessageId",
    document_id="TaskId",
    case_id="PID",
    ratings=["EmpathyOverall"],
)
codebook = qual.Codebook.read(place / "project" / "codebooks" / "sense7.yaml")
store = qual.Store.create(place / "study", units=units, codebook=codebook)
lines = (place / "project" / "data" / "example_acts.jsonl").read_text(encoding="utf-8").splitlines()
acts = [qual.acts.Act(**json.loads(line)) for line in lines]
for coder in ("ana", "ben", "lead"):
    store.append([act for act in acts if act.coder == coder])
assert store.verify()["ok"].all()
store.copies.backup(place / "backup")
store.copies.archive(place / "study.zip")
qual.Store.restore(place / "study.zip", place / "restored")
store.forget(units["case_id"].iloc[0], why="asked for it")
decisions = qual.codings.decisions(store.codings(), store.coverage(), codebook)
agreement = qual.agreement.by_code(decisions, units=units, cluster="case_id", n_boot=50, seed=7)
qual.report.tables.reliability(agreement, codebook=codebook).write(place / "reliability.docx")
qual.figures.agreement_plot(agreement, codebook=codebook).write(place / "agreement.pdf")
data = place / "project" / "data" / "explanations.csv"
assert main(["new", str(place / "new"), "--data", str(data), "--yes", "--coders", "ana,ben"]) == 0
assert main(["verify", str(place / "new")]) == 0
assert main(["backup", str(place / "new"), str(place / "copy")]) == 0
assert main(["merge", str(place / "new"), str(place / "copy")]) == 0
assert not set(MODULES) & set(sys.modules)
print(len(imported))
