"""Plant the faults of `tests/faults/faults.toml` one by one, and see that the tests notice each.

    python scripts/plant_faults.py                         each fault, with the tests that should notice it
    python scripts/plant_faults.py 9 36a                   some of them: a number, or one of its patches
    python scripts/plant_faults.py --check                 only that each patch fits in exactly one place
    python scripts/plant_faults.py --all-tests "-n 4 …"    each fault, with these arguments to pytest instead

The faults are planted in a copy of the project; the project itself is never changed. A fault counts as
noticed where a test fails. Where a module cannot be imported, or a name is not there, nothing was noticed.
"""

from __future__ import annotations

import argparse
import ast
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from defusedxml import ElementTree

ROOT = Path(__file__).resolve().parents[1]
FAULTS = Path("tests/faults/faults.toml")
PYTEST = "-q -x -p no:cacheprovider"
CRASHES = ("AttributeError", "ImportError", "ModuleNotFoundError", "NameError", "SyntaxError", "TypeError")
"""Errors of a patch that does not run at all. It says nothing of the tests that they notice it."""


@dataclass(frozen=True)
class Fault:
    """One patch: `old` is replaced by `new`, in the one source that has it."""

    name: str
    title: str
    old: str
    new: str
    tests: tuple[str, ...]


def read_faults() -> list[Fault]:
    """Return the faults in the order of the table."""
    rows = tomllib.loads((ROOT / FAULTS).read_text("utf-8"))["fault"]
    return [
        Fault(
            f"{row['number']}{row.get('letter', '')}", row["title"], row["old"], row["new"], (*row["tests"],)
        )
        for row in rows
    ]


def read_sources(root: Path) -> dict[Path, str]:
    """Return every source of the package and of its pages, without their tests."""
    paths = [
        *(root / "sense7_qual").rglob("*.py"),
        *(path for path in (root / "frontend" / "src").rglob("*.ts*") if ".test." not in path.name),
    ]
    return {path: path.read_text("utf-8") for path in sorted(paths)}


def place_of(fault: Fault, sources: dict[Path, str]) -> Path:
    """Return the source that the fault is planted in.

    Raises
    ------
    SystemExit
        The text stands in no source, or more than once, or what replaces it is no Python.
    """
    places = [path for path, text in sources.items() for _ in range(text.count(fault.old))]
    if len(places) != 1:
        raise SystemExit(
            f"fault {fault.name}: expected its `old` once in all sources – found it {len(places)} times – "
            f"correct it in {FAULTS}."
        )
    if places[0].suffix == ".py":
        ast.parse(planted(fault, sources[places[0]]), filename=f"fault {fault.name}")
    return places[0]


def planted(fault: Fault, text: str) -> str:
    """Return the text of a source with the fault in it."""
    return text.replace(fault.old, fault.new)


def copy_project(target: Path) -> None:
    """Copy what git knows of the project, and what it would take in, with a link to the npm packages."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():  # not one that is deleted and not committed so
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    packages = ROOT / "frontend" / "node_modules"
    if packages.is_dir():
        (target / "frontend" / "node_modules").symlink_to(packages.resolve())


def run(tests: Sequence[str], project: Path) -> tuple[int, bool]:
    """Run tests in a copy of the project; return the exit code, and whether a test failed for what it saw."""
    report = project / "report.xml"
    report.unlink(missing_ok=True)
    if tests[0].endswith((".ts", ".tsx")):
        folder = project / "frontend"
        named = [os.path.relpath(test, "frontend") for test in tests]
        command = [
            "npx",
            "--no-install",
            "vitest",
            "run",
            "--reporter=junit",
            f"--outputFile={report}",
            *named,
        ]
    else:
        folder = project
        command = [sys.executable, "-m", "pytest", *PYTEST.split(), f"--junitxml={report}", *tests]
    env = os.environ | {"PYTHONPATH": str(project), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    code = subprocess.run(command, cwd=folder, env=env, check=False, capture_output=True).returncode
    failures = ElementTree.parse(report).iter("failure") if report.exists() else ()
    return code, any(not str(each.get("message")).startswith(CRASHES) for each in failures)


def noticed(fault: Fault, tests: Sequence[str], project: Path, place: Path) -> bool:
    """Plant the fault, run tests, take it out again; return whether they noticed it."""
    sound, times = place.read_bytes(), place.stat()
    place.write_text(planted(fault, sound.decode()), "utf-8")
    try:
        return run(tests, project)[1]
    finally:
        place.write_bytes(sound)
        os.utime(place, ns=(times.st_atime_ns, times.st_mtime_ns))


def plant(faults: Sequence[Fault], all_tests: Sequence[str]) -> int:
    """Plant the faults in a copy of the project, print what became of each; return how many were missed."""
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        project = Path(folder).resolve()
        copy_project(project)
        sources = read_sources(project)
        sound: dict[tuple[str, ...], bool] = {}
        missed = 0
        for fault in faults:
            began, place, tests = time.monotonic(), place_of(fault, sources), tuple(all_tests or fault.tests)
            if tests not in sound:
                sound[tests] = run(tests, project)[0] == 0
            is_red = sound[tests] and noticed(fault, tests, project, place)
            missed += not is_red
            verdict = "red" if is_red else "GREEN" if sound[tests] else "RED WITHOUT IT"
            seconds = time.monotonic() - began
            print(f"{fault.name:>4}  {verdict:<5}  {seconds:6.1f} s  {fault.title}", flush=True)
    print(f"{len(faults) - missed} of {len(faults)} faults were noticed.")
    return missed


def main() -> int:
    """Read what is asked for, do it, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("faults", nargs="*", metavar="N", help="a number of a fault, or a patch of it (36a)")
    parser.add_argument("--check", action="store_true", help="only that each patch fits in exactly one place")
    parser.add_argument(
        "--all-tests", default="", metavar="ARGUMENTS", help="what pytest gets instead of `tests`"
    )
    asked = parser.parse_args()
    named = {one: {one.name, one.name.rstrip("abc")} for one in read_faults()}
    unknown = set(asked.faults).difference(*named.values())
    if unknown:
        parser.error(f"expected numbers of {FAULTS} – found {', '.join(sorted(unknown))} – correct them.")
    chosen = [one for one, names in named.items() if not asked.faults or names & set(asked.faults)]
    if asked.check:
        sources = read_sources(ROOT)
        for fault in chosen:
            place_of(fault, sources)
        return 0
    return min(plant(chosen, shlex.split(asked.all_tests)), 1)


if __name__ == "__main__":
    sys.exit(main())
