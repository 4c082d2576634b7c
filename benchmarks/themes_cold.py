"""How much processor, memory and waiting `themes.fit` takes in a new process, the texts not embedded before.

Usage: python benchmarks/themes_cold.py [--texts 600] [--words 30] [--repeats 3] [--data FOLDER]

The texts are the first words of the essays of `empathic-reactions` in FOLDER (../shared/data unless said), in
an order drawn with the seed. Each row is the least of several processes: processor seconds from the start of
Python to its end, imports and reading in; seconds until the first call of `progress`; peak memory. Where
processors are shared, they are upper bounds. "int8, first" makes its model, in an empty cache.

Prints Markdown.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

STARTED = time.perf_counter()
SEED = 7


def measured(precision: str, n: int, words: int, folder: str) -> dict[str, float]:
    """Fit once and return the figures of this process."""
    import pandas as pd

    from sense7_qual import models, themes

    essays = pd.read_csv(Path(folder) / "empathic-reactions/messages.csv")["essay"]
    texts = [" ".join(essay.split()[:words]) for essay in essays.sample(frac=1, random_state=SEED)]
    texts = list(dict.fromkeys(texts))[:n]
    units = pd.DataFrame({"unit_id": [f"u{row:05}" for row in range(n)], "text": texts, "document_id": "d"})
    first: list[float] = []

    def progress(stage: str, done: int, total: int) -> None:
        first.append(time.perf_counter() - STARTED)

    units = units.assign(case_id="p", position=1)
    fitted = themes.fit(units, embed=models.embedder(precision=precision), seed=SEED, progress=progress)
    times = os.times()
    heavy = [name for name in ("torch", "transformers", "bertopic") if name in sys.modules]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "cpu": times.user + times.system,
        "first": first[0],
        "peak": peak,
        "themes": len(fitted.summary),
        "heavy": ", ".join(heavy),
    }


def process(precision: str, arguments: argparse.Namespace, cache: str | None = None) -> dict[str, float]:
    """Return the figures of a process of its own."""
    one = [precision, str(arguments.texts), str(arguments.words), str(arguments.data)]
    environment = os.environ | ({"XDG_CACHE_HOME": cache} if cache else {})
    command = [sys.executable, str(Path(__file__)), "--one", *one]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return json.loads(done.stdout.split("\n")[-2])


def main() -> None:
    """Print a row for each precision."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--texts", type=int, default=600)
    parser.add_argument("--words", type=int, default=30)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--one", nargs=4)
    arguments = parser.parse_args()
    if arguments.one:
        precision, n, words, folder = arguments.one
        print(json.dumps(measured(precision, int(n), int(words), folder)))
        return
    if not (arguments.data / "empathic-reactions").is_dir():
        print(f"skipped: no empathic-reactions in {arguments.data}")
        return
    print(f"{arguments.texts} texts of {arguments.words} words\n")
    print(
        "| precision | themes | CPU, s | first progress, s | peak, MB | heavy imports |\n" + "|---" * 6 + "|"
    )
    for title, precision, cold in (
        ("int8, first", "int8", True),
        ("int8", "int8", False),
        ("float32", "float32", False),
    ):
        rows = []
        for _ in range(arguments.repeats):
            with tempfile.TemporaryDirectory() as empty:
                rows.append(process(precision, arguments, empty if cold else None))
        best = {name: min(row[name] for row in rows) for name in ("cpu", "first", "peak")}
        cells = f"{best['cpu']:.1f} | {best['first']:.2f} | {best['peak']:.0f} | {rows[0]['heavy'] or 'none'}"
        print(f"| {title} | {rows[0]['themes']} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
