"""Plant the faults of `tests/faults/faults.toml` one by one, and see that the tests notice each.

    python scripts/plant_faults.py                         each fault, with the tests that should notice it
    python scripts/plant_faults.py 9 36a                   some of them: a number, or one of its patches
    python scripts/plant_faults.py --check                 only that each fits in one place and has its tests
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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from defusedxml import ElementTree

ROOT: Final = Path(__file__).resolve().parents[1]
FAULTS: Final = Path("tests/faults/faults.toml")
PYTEST: Final = (
    "-q",
    "-x",
    "-p",
    "no:cacheprovider",
    "--deselect=tests/laws/test_faults.py",
    "--deselect=tests/laws/test_bundle.py::test_building_again_gives_the_same_bytes",
)
"""Without the two tests that any change of a source turns red."""
CRASHES: Final = (
    "AttributeError",
    "ImportError",
    "ModuleNotFoundError",
    "NameError",
    "SyntaxError",
    "TypeError",
)
"""Errors of a patch that does not run at all: that a test meets one does not mean that it saw the fault."""


@dataclass(frozen=True)
class Fault:
    """A patch: `new` takes the place of `old`, which one source has, once."""

    name: str
    title: str
    old: str
    new: str
    tests: tuple[str, ...]

    def planted(self, text: str) -> str:
        """Return the text of a source with the fault in it."""
        return text.replace(self.old, self.new)


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
    pages = (path for path in (root / "frontend" / "src").rglob("*.ts*") if ".test." not in path.name)
    paths = [*(root / "sense7_qual").rglob("*.py"), *pages]
    return {path: path.read_text("utf-8") for path in paths}


def place_of(fault: Fault, sources: Mapping[Path, str]) -> Path:
    """Return the source that has the text which the fault replaces; stop where none has it, or several do."""
    places = [path for path, text in sources.items() for _ in range(text.count(fault.old))]
    if len(places) != 1:
        raise SystemExit(
            f"fault {fault.name}: expected its `old` once in all sources – found it {len(places)} times – "
            f"correct it in {FAULTS}."
        )
    if places[0].suffix == ".py":
        ast.parse(fault.planted(sources[places[0]]), filename=f"fault {fault.name}")
    return places[0]


def check_tests(fault: Fault) -> None:
    """Stop where one of the fault's tests is not there."""
    for test in fault.tests:
        file, _, name = test.partition("::")
        if not (ROOT / file).is_file() or name.partition("[")[0] not in (ROOT / file).read_text("utf-8"):
            raise SystemExit(f"fault {fault.name}: expected {test} – found no such test – correct {FAULTS}.")


def copy_project(target: Path) -> None:
    """Copy what git knows of the project, and what is new in it, with a link to the npm packages."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    for name in names:
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    packages = ROOT / "frontend" / "node_modules"
    if packages.is_dir():
        (target / "frontend" / "node_modules").symlink_to(packages.resolve())


def run(tests: Sequence[str], project: Path) -> tuple[int, bool]:
    """Run tests in a copy of the project; return the exit code, and whether a test failed for what it saw."""
    report = project / "report.xml"
    report.unlink(missing_ok=True)
    folder, command = project, [sys.executable, "-m", "pytest", *PYTEST, f"--junitxml={report}", *tests]
    if tests[0].startswith("frontend/"):
        folder, named = project / "frontend", [test.removeprefix("frontend/") for test in tests]
        command = [
            "npx",
            "--no-install",
            "vitest",
            "run",
            "--reporter=junit",
            f"--outputFile={report}",
            *named,
        ]
    env = os.environ | {"PYTHONPATH": str(project), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    code = subprocess.run(command, cwd=folder, env=env, check=False, capture_output=True).returncode
    failures = ElementTree.parse(report).iter("failure") if report.exists() else ()
    return code, any(not str(each.get("message")).startswith(CRASHES) for each in failures)


def notice(fault: Fault, tests: Sequence[str], project: Path, place: Path) -> bool:
    """Plant the fault, run the tests, take it out again; return whether they noticed it."""
    sound, times = place.read_text("utf-8"), place.stat()
    place.write_text(fault.planted(sound), "utf-8")
    try:
        return run(tests, project)[1]
    finally:
        place.write_text(sound, "utf-8")
        os.utime(place, ns=(times.st_atime_ns, times.st_mtime_ns))


def plant(faults: Sequence[Fault], all_tests: Sequence[str], project: Path) -> int:
    """Plant the faults in a copy of the project, print what became of each; return how many were missed."""
    copy_project(project)
    sources = read_sources(project)
    sound: dict[tuple[str, ...], bool] = {}
    missed = 0
    for fault in faults:
        began, place, tests = time.monotonic(), place_of(fault, sources), tuple(all_tests or fault.tests)
        if tests not in sound:
            sound[tests] = run(tests, project)[0] == 0
        is_red = sound[tests] and notice(fault, tests, project, place)
        verdict = "red" if is_red else "GREEN" if sound[tests] else "RED WITHOUT IT"
        print(f"{fault.name:>4} {verdict:<5} {time.monotonic() - began:6.1f} s  {fault.title}", flush=True)
        missed += not is_red
    print(f"{len(faults) - missed} of {len(faults)} faults were noticed.")
    return missed


def main() -> int:
    """Read what is asked for, do it, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("faults", nargs="*", metavar="N", help="a number of a fault, or a patch of it (36a)")
    parser.add_argument("--check", action="store_true", help="only that each fits and has its tests")
    parser.add_argument("--all-tests", default="", metavar="ARGUMENTS", help="what pytest gets instead")
    asked = parser.parse_args()
    named = {fault: {fault.name, fault.name.rstrip("abc")} for fault in read_faults()}
    unknown = set(asked.faults).difference(*named.values())
    if unknown:
        parser.error(f"expected numbers of {FAULTS} – found {', '.join(sorted(unknown))} – correct them.")
    chosen = [fault for fault, names in named.items() if not asked.faults or names & set(asked.faults)]
    if asked.check:
        sources = read_sources(ROOT)
        for fault in chosen:
            place_of(fault, sources)
            check_tests(fault)
        return 0
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        return min(plant(chosen, shlex.split(asked.all_tests), Path(folder).resolve()), 1)


if __name__ == "__main__":
    sys.exit(main())
