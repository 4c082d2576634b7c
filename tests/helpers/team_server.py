"""The server of `deploy/` on a machine made for it: database, accounts, proxy and hub.

Only on a machine that `tests/team/machine.sh` made: elsewhere nothing is touched. The units are started as
their files say, by this module instead of systemd.
"""

from __future__ import annotations

import grp
import json
import os
import pwd
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.helpers.places import ROOT

ADDRESS: Final = "http://127.0.0.1:8000"
BIN: Final = Path("/opt/sense7/bin")
STUDY: Final = "postgresql://lead@/lab?host=/var/run/postgresql&study=pilot"
SEATS: Final = 6
SETTINGS: Final = Path("/etc/sense7/settings")
CODERS: Final = Path("/home/lead/coders.csv")
MADE_FOR_IT: Final = "SENSE7_TEAM_MACHINE"
VERSION: Final = max((each.name for each in Path("/usr/lib/postgresql").glob("[0-9]*")), key=int, default="")
_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
QUICK: Final = Path("/run/sense7-quick.json")
_COMMAND: Final = f"""import json, pathlib, sys
from sense7_qual._commands import main
quick = pathlib.Path({str(QUICK)!r})
if quick.exists() and "code" in sys.argv:
    from sense7_qual._commands import hub, serve
    serve.OPEN, serve.ALONE, hub.UNUSED = json.loads(quick.read_text())
sys.exit(main())
"""


def until(true: Callable[[], object], what: str, seconds: float = 60) -> None:
    """Wait until it is true; `AssertionError` where that takes too long."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"{what}: not within {seconds:.0f} s"
        time.sleep(0.1)


def root(*words: str, **more: object) -> str:
    """Run a command and return what it prints."""
    return subprocess.run(words, check=True, capture_output=True, text=True, **more).stdout  # type: ignore[call-overload, no-any-return]


def account(
    name: str, *words: str, check: bool = True, given: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command as one of the accounts, in its home."""
    run = [
        "runuser",
        "-u",
        name,
        "--",
        "env",
        "-i",
        "LANG=C.UTF-8",
        f"HOME=/home/{name}",
        f"PATH={BIN}:{_PATH}",
        *words,
    ]
    home = Path(f"/home/{name}")
    done = subprocess.run(
        run, check=False, capture_output=True, text=True, input=given, cwd=home if home.exists() else "/"
    )
    assert not check or done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done


class Unit:
    """A unit of systemd, started here as its file says."""

    def __init__(self, name: str, logs: Path) -> None:
        """Read the unit from where the installation put it."""
        self.log = logs / f"{name}.log"
        self.process: subprocess.Popen[bytes] | None = None
        lines = Path(f"/etc/systemd/system/sense7-{name}.service").read_text().splitlines()
        pairs = [line.split("=", 1) for line in lines if "=" in line]
        self.settings = {key: value for key, value in pairs if key != "EnvironmentFile"}
        self.files = [value for key, value in pairs if key == "EnvironmentFile"]

    def start(self) -> None:
        """Start it."""
        environment = {"PATH": _PATH, "LANG": "C.UTF-8"}
        for file in self.files:
            lines = Path(file).read_text().splitlines()
            words = (line.split("=", 1) for line in lines if line and not line.startswith("#"))
            environment |= {key: "".join(shlex.split(value)) for key, value in words}
        other = {"user": "nobody", "group": "nogroup"} if self.settings.get("DynamicUser") == "yes" else {}
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                shlex.split(self.settings["ExecStart"]),
                env=environment,
                cwd=self.settings.get("WorkingDirectory", "/"),
                umask=int(self.settings["UMask"], 8),
                stdout=output,
                stderr=output,
                **other,  # type: ignore[call-overload]
            )

    def end(self, how: signal.Signals = signal.SIGKILL) -> None:
        """End it, at once or in order, and wait."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(30)


class Server:
    """The database, the proxy and the hub."""

    def __init__(self, logs: Path) -> None:
        """Take the units as they are installed."""
        self.logs = logs
        self.proxy, self.hub = Unit("proxy", logs), Unit("hub", logs)

    def database(self, *words: str) -> None:
        """Call pg_ctlcluster for the one database server of this machine."""
        with (self.logs / "database.log").open("ab") as log:
            subprocess.run(["pg_ctlcluster", VERSION, "main", *words], check=True, stdout=log, stderr=log)

    def start(self) -> None:
        """Start proxy and hub, and wait until they answer."""
        self.proxy.start()
        self.hub.start()
        until(answers, "the hub's sign-in page")

    def end(self) -> None:
        """End all, the coders' servers too."""
        for unit in (self.hub, self.proxy):
            unit.end()
        end_processes()
        self.database("-m", "immediate", "stop")

    def password(self, who: str) -> str:
        """Return a password of the trial sign-in: ``TRIAL`` or ``LEAD``."""
        return re.search(rf'^{who}_PASSWORD="(.*)"$', SETTINGS.read_text(), re.M)[1]  # type: ignore[index]


def answers() -> bool:
    """Whether the sign-in page is there."""
    try:
        with urllib.request.urlopen(f"{ADDRESS}/hub/login", timeout=5) as page:  # noqa: S310 – loopback
            return page.status == 200
    except OSError:
        return False


def seat_names() -> list[str]:
    """Return the accounts that hold coders' servers, and the lead's."""
    return ["lead", *(f"seat{n:02d}" for n in range(1, SEATS + 1))]


def processes(*names: str) -> dict[int, str]:
    """Return the processes of the accounts (default: all of ours), with their command lines."""
    owners = {pwd.getpwnam(name).pw_uid for name in names or seat_names()}
    found = {}
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and folder.stat().st_uid in owners:
                words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                if words:  # else it has ended and waits to be collected
                    found[int(folder.name)] = words
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def kernels(*names: str) -> list[int]:
    """Return the kernels of the accounts."""
    return [pid for pid, words in processes(*names).items() if "ipykernel" in words]


def end_processes() -> None:
    """End what the accounts still run."""
    for pid in processes():
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def coders(*lines: str) -> None:
    """Write the lead's `coders.csv` anew, as an editor does."""
    new = CODERS.with_suffix(".new")
    new.write_text("".join(f"{line}\n" for line in lines))
    new.chmod(0o600)
    shutil.chown(new, "lead", "lead")
    new.replace(CODERS)


def _package(folder: Path) -> None:
    """Put this checkout's package into /opt/sense7, in the place of the one there."""
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(folder),
    ]
    root(*build, str(ROOT))
    [wheel] = folder.glob("*.whl")
    root(str(BIN / "pip"), "install", "-q", "--no-deps", "--no-index", "--force-reinstall", str(wheel))
    command = BIN / "sense7-qual"
    command.write_text(f"#!{BIN}/python\n{_COMMAND}")


def _cluster() -> None:
    """Make a database server of this machine's own; what is seen of the one outside is a copy."""
    for place in ("/etc/postgresql", "/var/lib/postgresql"):
        for version in Path(place).glob("[0-9]*"):
            shutil.rmtree(version)
    root("pg_createcluster", VERSION, "main")


@contextmanager
def installed(folder: Path) -> Iterator[Server]:
    """Install everything from an empty database server on, start it, and end it."""
    assert os.environ.get(MADE_FOR_IT) == "1", "only on a machine of tests/team/machine.sh: make team"
    assert "lead" not in {group.gr_name for group in grp.getgrall()}, "the machine was used before"
    _package(folder)
    _cluster()
    root("pg_ctlcluster", VERSION, "main", "start")
    root(str(ROOT / "deploy" / "install.sh"), "--seats", str(SEATS), "--lead-login", "prof.l")
    server = Server(folder)
    try:
        server.start()
        yield server
    finally:
        server.end()


def study(data: Path, place: str = STUDY) -> None:
    """Make the study as the lead, with the command."""
    account("lead", "sense7-qual", "new", place, "--data", str(data), "--yes", "--lead", "lead")


def seat(login: str, coder: str) -> None:
    """Let the lead give a coder the next seat."""
    account("lead", "sense7-qual", "seat", STUDY, "--login", login, "--coder", coder)


def as_lead(script: str) -> str:
    """Run Python as the lead, with the study as `store`, and return what it prints."""
    begin = f"import sense7_qual as qual\nfrom sense7_qual import rounds\nstore = qual.Store({STUDY!r})\n"
    return account("lead", str(BIN / "python"), "-W", "ignore", "-c", begin + script).stdout


def recorded(coder: str) -> set[str]:
    """Return the ids of all acts of a coder that are in the record."""
    return set(as_lead(f"print(*(act.act_id for act in store.acts(coder={coder!r})))").split())


@contextmanager
def clock(seconds_open: float, alone: float, unused: float) -> Iterator[None]:
    """Shorten the waits of pages that are started now: an open one, one without a browser, a server."""
    QUICK.write_text(json.dumps([seconds_open, alone, unused]))
    QUICK.chmod(0o644)
    yield
    QUICK.unlink()
