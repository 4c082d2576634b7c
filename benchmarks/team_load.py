"""A team's server under load: coders press a key every 3 seconds while hub, proxy and database are restarted.

    python benchmarks/team_load.py                               # 20 coders and 2 browsers, 10 minutes
    python benchmarks/team_load.py --coders 6 --minutes 2 --browsers 1

As root; it makes a machine of its own (tests/team/machine.sh), so nothing outside is used or changed, and
all traffic stays on that machine's loopback. A coder is a protocol client: the hub's form and cookies, the
line to the kernel, the widget's own messages, each change sent again with the same id until acknowledged. A
press is measured from its first sending to its acknowledgement. Prints Markdown tables; see team_load.md.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

ROOT: Final = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

EVERY: Final = 3.0
"""Seconds from one press of a coder to the next."""
OUTAGE: Final = 15.0
"""Seconds from a restart, in which a press counts as one of the outage."""


@dataclass
class Coder:
    """What one coder did, and how long each press took."""

    name: str
    login: str
    drawn: float = 0
    made: list[str] = field(default_factory=list)
    seconds: list[tuple[float, float]] = field(default_factory=list)
    """When each press was sent, and how long until it was acknowledged."""
    lost_lines: int = 0
    error: str = ""


def main() -> int:
    """Go to a machine of its own, measure there, and print."""
    parser = argparse.ArgumentParser(description="A team's server under load.")
    parser.add_argument("--coders", type=int, default=20)
    parser.add_argument("--browsers", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=10)
    chosen = parser.parse_args()
    if chosen.coders + chosen.browsers > 40 or chosen.minutes > 15:
        parser.error("expected at most 40 coders and 15 minutes")
    if os.environ.get("SENSE7_TEAM_MACHINE") != "1":
        machine = str(ROOT / "tests" / "team" / "machine.sh")
        return subprocess.run([machine, sys.executable, __file__, *sys.argv[1:]], check=False).returncode
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        return measured(Path(folder), chosen)


def measured(folder: Path, chosen: argparse.Namespace) -> int:
    """Make the server and its study, let everybody code, and print what was found."""
    from tests.helpers import team_server

    n = chosen.coders + chosen.browsers
    team_server.SEATS = n + 1
    with team_server.installed(folder) as server:
        coders = study(folder, n)
        password = server.password("TRIAL")
        browsed, plain = coders[: chosen.browsers], coders[chosen.browsers :]
        with team_server.clock(3600, 20, 30):
            began = time.monotonic()
            end = began + 60 * chosen.minutes + 60
            threads = [threading.Thread(target=code, args=(each, password, began, end)) for each in plain]
            if browsed:
                threads.append(threading.Thread(target=watch, args=(browsed, server, began, end)))
            for each in threads:
                each.start()
            restarted, memory, most = disturb(server, plain, began, end)
            for each in threads:
                each.join()
            team_server.until(lambda: not team_server.kernels(), "kernels end", 240)
            team_server.until(lambda: not team_server.processes(*seats(n)), "servers end", 240)
            left = len(team_server.processes(*seats(n)))
        return told(coders, plain, restarted, memory, most, left)


def seats(n: int) -> list[str]:
    """Return the accounts of so many coders."""
    return [f"seat{number:02d}" for number in range(1, n + 1)]


def study(folder: Path, n: int) -> list[Coder]:
    """Make a study of 600 texts with so many coders in one blind round."""
    import pandas as pd

    from tests.helpers import team_server

    rows = pd.read_csv(ROOT / "data" / "explanations.csv", dtype="string")
    rows = pd.concat([rows] * (600 // len(rows) + 1)).head(600)
    rows["MessageId"] = [f"t{number}" for number in range(len(rows))]
    rows["Comment"] += " (" + rows["MessageId"] + ")"
    data = Path("/home/lead/comments.csv")
    rows[["MessageId", "TaskId", "PID", "Comment"]].to_csv(data, index=False)
    data.chmod(0o644)
    team_server.study(data)
    coders = [Coder(f"c{number:02d}", f"login.{number}") for number in range(1, n + 1)]
    for each in coders:
        team_server.seat(each.login, each.name)
    names = [each.name for each in coders]
    team_server.as_lead(
        f'store.append([rounds.open_round("one", units=list(store.units["unit_id"]), coders={names!r}, '
        'coder="lead", codebook=store.codebook)])'
    )
    return coders


def code(coder: Coder, password: str, began: float, end: float) -> None:
    """Sign in, and apply and remove a code by turns, text after text, every 3 seconds."""
    from tests.helpers.team_client import Client

    chance = random.Random(coder.name)  # noqa: S311 – when somebody presses
    client = Client(coder.login, password)
    try:
        client.sign_in()
        client.open()
        welcome = client.ask("hello")
        coder.drawn = time.monotonic() - began
        unit, codes = welcome["unit"]["unit_id"], ("affective", "cognitive", "interest")
        on: set[str] = set()
        time.sleep(max(0, began + 60 - time.monotonic()) + chance.random() * EVERY)
        while time.monotonic() < end:
            each = chance.choice(codes)
            sent = time.monotonic()
            answer = client.act("remove" if each in on else "apply", unit, code=each)
            on ^= {each}
            coder.seconds.append((sent, time.monotonic() - sent))
            coder.made.append(answer["id"])
            time.sleep(max(0, sent + EVERY * (0.5 + chance.random()) - time.monotonic()))
        client.close()
    except Exception as error:  # noqa: BLE001 – told in the table
        coder.error = f"{type(error).__name__}: {error}"[:200]
    coder.lost_lines = client.lost


def watch(coders: list[Coder], server: object, began: float, end: float) -> None:
    """The same in browsers, by keys, one after the other in one thread."""
    from playwright.sync_api import sync_playwright

    from tests.helpers import lab as labs
    from tests.helpers.team_pages import sign_in

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=labs.chromium(),
            args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking"],
        )
        pages = []
        for each in coders:
            page = browser.new_context().new_page()
            page.set_default_timeout(120_000)
            sign_in(page, each.login, server.password("TRIAL"))  # type: ignore[attr-defined]
            page.wait_for_selector(".s7-text")
            each.drawn = time.monotonic() - began
            pages.append(page)
        time.sleep(max(0, began + 60 - time.monotonic()))
        n = 0
        while time.monotonic() < end:
            for each, page in zip(coders, pages, strict=True):
                try:
                    sent = time.monotonic()
                    page.locator(".s7").focus()
                    page.keyboard.press("12345"[n % 5])
                    page.wait_for_selector(".s7-saved", timeout=90_000)
                    each.seconds.append((sent, time.monotonic() - sent))
                    each.made.append("a press")
                except Exception as error:  # noqa: BLE001 – told in the table
                    each.error = f"{type(error).__name__}"
            n += 1
            time.sleep(EVERY / 2)
        browser.close()


def disturb(
    server: object, plain: list[Coder], began: float, end: float
) -> tuple[dict[str, float], list[float], int]:
    """Restart the hub, the proxy and the database once each, and look at memory and connections meanwhile."""
    from tests.helpers import team_server

    length = end - began - 60
    due = {
        name: began + 60 + length * part for name, part in (("hub", 0.3), ("proxy", 0.5), ("database", 0.7))
    }
    memory, most, restarted = [], 0, {}
    while time.monotonic() < end:
        for name, at in due.items():
            if name not in restarted and time.monotonic() > at:
                restarted[name] = time.monotonic()
                if name == "database":
                    server.database("-m", "immediate", "stop")  # type: ignore[attr-defined]
                    time.sleep(5)
                    server.database("start")  # type: ignore[attr-defined]
                else:
                    unit = getattr(server, name)
                    unit.end()
                    time.sleep(1)
                    unit.start()
        if 10 < end - time.monotonic() < 25 or len(restarted) == 0:
            memory.append(mebibytes(plain))
            with suppress(subprocess.CalledProcessError):
                rows = team_server.root(
                    "runuser",
                    "-u",
                    "postgres",
                    "--",
                    "psql",
                    "-Atc",
                    "SELECT count(*) FROM pg_stat_activity WHERE datname = 'lab'",
                )
                most = max(most, int(rows))
        time.sleep(2)
    return restarted, memory, most


def mebibytes(plain: list[Coder]) -> float:
    """Return the memory of a coder, on average: private, and its part of what is shared."""
    from tests.helpers import team_server

    total, owners = 0, set()
    for pid in team_server.processes(*seats(len(plain) + 2)):
        with suppress(OSError):
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
            owners.add(Path(f"/proc/{pid}").stat().st_uid)
    return total / 1024 / max(1, len(owners))


def told(
    coders: list[Coder],
    plain: list[Coder],
    restarted: dict[str, float],
    memory: list[float],
    most: int,
    left: int,
) -> int:
    """Print the tables, and return 1 where a target is missed."""
    from tests.helpers import team_server

    in_outage, calm = [], []
    for each in plain:
        for sent, took in each.seconds:
            in_it = any(at - 1 < sent < at + OUTAGE for at in restarted.values())
            (in_outage if in_it else calm).append(took)
    lost = doubled = 0
    for each in plain:
        found = Counter(
            team_server.as_lead(f"print(*(a.act_id for a in store.acts(coder={each.name!r})))").split()
        )
        lost += sum(one not in found for one in each.made)
        doubled += sum(n > 1 for n in found.values()) + max(0, len(found) - len(set(each.made)))
    eyes = [took for each in coders if each not in plain for _, took in each.seconds]
    errors = [f"{each.name}: {each.error}" for each in coders if each.error]
    p95, p99 = (float(np.percentile(1000 * np.array(calm), q)) for q in (95, 99))
    drawn = max(each.drawn for each in coders)
    top = float(np.median(memory)) if memory else float("nan")
    rows = [
        ("presses of protocol clients, outside the restarts", f"{len(calm)}", ""),
        ("key → saved, median", f"{1000 * np.median(calm):.0f} ms", ""),
        ("key → saved, 95 %", f"{p95:.0f} ms", "< 250 ms"),
        ("key → saved, 99 %", f"{p99:.0f} ms", "< 1,000 ms"),
        (
            f"presses within {OUTAGE:.0f} s of a restart; the longest",
            f"{len(in_outage)}; {max(in_outage, default=0):.1f} s",
            "",
        ),
        ("presses in browsers; the longest", f"{len(eyes)}; {max(eyes, default=0):.1f} s", ""),
        ("lost, doubled", f"{lost}, {doubled}", "0, 0"),
        ("lines lost and opened again", f"{sum(each.lost_lines for each in plain)}", ""),
        ("memory a coder (PSS), median", f"{top:.0f} MiB", "≤ 300 MB"),
        ("from all signing in at once to the last page", f"{drawn:.0f} s", "60 s"),
        ("connections of the database, most", f"{most}", "≤ 60"),
        ("processes left", f"{left}", "0"),
        ("errors", f"{len(errors)}", "0"),
    ]
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    n_browsers = len(coders) - len(plain)
    print(f"\n{len(plain)} protocol clients, {n_browsers} browsers, load {load} on {os.cpu_count()} cores\n")
    print("| | found | must be |\n|---|---|---|")
    for row in rows:
        print(f"| {' | '.join(row)} |")
    for each in errors:
        print(f"\n{each}")
    good = p95 < 250 and p99 < 1000 and not (lost or doubled or left or errors) and top <= 286 and most <= 60
    print("\nAll targets are met." if good and drawn <= 60 else "\nA target is missed.")
    return 0 if good and drawn <= 60 else 1


if __name__ == "__main__":
    sys.exit(main())
