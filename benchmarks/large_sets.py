"""How long does `models.embed_to_folder` take for a set that memory cannot hold, and how much does it hold?

    python -m benchmarks.large_sets [texts to embed] [texts to find]

Prints the table of ``large_sets.md``. Each row is a process of its own; memory is its peak. What is embedded
are texts of 5 to 60 words drawn with a seed. The last row embeds nothing: it is what a million texts need
beside their vectors, with vectors of random numbers.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SENTENCE = (
    "it listened to me and then told what I should do which was kind but slow because the answer was wrong "
    "again while nobody asked how my mother felt about moving out of the house last winter"
)
WORDS = SENTENCE.split()


def texts(n: int) -> list[str]:
    rng = np.random.default_rng(3)
    lengths = rng.integers(5, 61, n)
    return [" ".join(rng.choice(WORDS, length)) + f" {row}" for row, length in enumerate(lengths)]


def embedded(n: int, n_workers: int) -> tuple[int, float]:
    from sense7_qual.models import embed_to_folder, embedder

    given, embed = texts(n), embedder()
    embed(["load the model before the clock starts"])
    with tempfile.TemporaryDirectory() as folder:
        if not n_workers:
            start = time.perf_counter()
            embed_to_folder(given, Path(folder) / "v", embed=embed, chunk=512)
            return n, time.perf_counter() - start
        from distributed import Client, LocalCluster

        with (
            LocalCluster(
                n_workers=n_workers, threads_per_worker=1, dashboard_address=None, local_directory=folder
            ) as cluster,
            Client(cluster) as client,
        ):
            start = time.perf_counter()
            embed_to_folder(given, Path(folder) / "v", embed=embed, chunk=512, client=client)
            return n, time.perf_counter() - start


def found(n: int) -> tuple[int, float]:
    from sense7_qual.models import embed_to_folder, embedder

    class Numbers(type(embedder())):  # type: ignore[misc]
        def __call__(self, texts: list[str]) -> np.ndarray:
            return np.random.default_rng(0).standard_normal((len(texts), 384), dtype=np.float32)

    real = embedder()
    given = [f"text {row}" for row in range(n)]
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        embed = Numbers(model_id="numbers", batch_size=32, folder=real.folder)
        vectors = embed_to_folder(given, Path(folder) / "v", embed=embed)
        vectors(given[:: max(n // 10_000, 1)])
        return n, time.perf_counter() - start


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 4_000
    n_found = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    print(
        "| what | texts | seconds | texts a second | peak memory of this process, MB |\n|---|---|---|---|---|"
    )
    for name, case, number in (
        ("embedded here", "0", n),
        ("embedded by 2 workers of a local Dask cluster", "2", n),
        ("found again, without embedding", "found", n_found),
    ):
        row = subprocess.run(
            [sys.executable, "-m", "benchmarks.large_sets", "--one", case, str(number)],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.split()
        n_done, seconds, peak = int(row[0]), float(row[1]), int(row[2])
        print(f"| {name} | {n_done:,} | {seconds:.1f} | {n_done / seconds:,.0f} | {peak} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        case, number = sys.argv[2], int(sys.argv[3])
        done, took = found(number) if case == "found" else embedded(number, int(case))
        print(done, took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000)
    else:
        main()
