"""Compare `themes.fit` with BERTopic's defaults on real short texts, and time the embeddings.

Usage: python benchmarks/themes.py [messages.csv] [--resamples 5]

Each way runs in a process of its own, on the same vectors; importing and embedding are not in its seconds.
BERTopic's defaults are UMAP (seeded) and HDBSCAN with at least 10 texts a topic. Columns:

- first / again: seconds of the first call (with numba's compilation for UMAP) and of the second;
- peak: resident memory of the process, with its libraries;
- nowhere: the share of texts in no theme; largest: the share of texts in the largest theme;
- pairs: of all pairs of texts about the same article, the share in one theme, and in brackets the share of
  all pairs of texts in one theme (what chance gives);
- ARI: adjusted Rand index to the articles. Hundreds of articles with few texts each against a dozen themes:
  it is low by construction, and compares ways only;
- resample ARI: of the themes to those of bootstrap samples, each text drawn counting once.

Texts in no theme count as one group in ARI. Prints Markdown.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "empathic-reactions" / "messages.csv"
SEED = 7
WAYS = ("granularity 1", "granularity 2", "granularity 4", "BERTopic's defaults")
COLUMNS = (
    "texts", "way", "first, s", "again, s", "peak, MB", "themes", "nowhere", "largest", "pairs", "ARI",
    "resample ARI",
)  # fmt: skip


def read(path: Path, n: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the first `n` messages as units, and the article that each is about."""
    messages = pd.read_csv(path, dtype=str, keep_default_na=False).head(n)
    units = pd.DataFrame(
        {
            "unit_id": messages["message_id"],
            "text": messages["essay"],
            "document_id": messages["response_id"],
            "case_id": messages["response_id"],
            "position": range(len(messages)),
        }
    )
    return units, messages["article_id"].to_numpy()


def ours(granularity: float, cache: str) -> Callable[[pd.DataFrame], np.ndarray]:
    """Return a function units → labels that calls `themes.fit`, its stability left out."""
    import bertopic  # noqa: F401 - imported by the first fit otherwise, and timed with it

    from sense7_qual import models, themes

    embed = models.embedder(cache=cache)

    def labels(units: pd.DataFrame) -> np.ndarray:
        found = themes.fit(units, embed=embed, seed=SEED, granularity=granularity, n_resamples=0)
        return found.assignments.set_index("unit_id")["theme"].loc[units["unit_id"]].to_numpy()

    return labels


def defaults(cache: str) -> Callable[[pd.DataFrame], np.ndarray]:
    """Return a function units → labels that calls BERTopic with its defaults, UMAP seeded."""
    from bertopic import BERTopic
    from umap import UMAP

    from sense7_qual import models

    embed = models.embedder(cache=cache)

    def labels(units: pd.DataFrame) -> np.ndarray:
        umap = UMAP(n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", random_state=SEED)
        topics, _ = BERTopic(umap_model=umap).fit_transform(list(units["text"]), embed(list(units["text"])))
        return np.array(topics)

    return labels


def measure(path: Path, n: int, way: str, cache: str, n_resamples: int) -> dict[str, float]:
    """Run one way twice and on resamples, and return its figures."""
    from sklearn.metrics import adjusted_rand_score

    warnings.simplefilter("ignore")  # umap: a seed allows one thread only
    units, article = read(path, n)
    run = defaults(cache) if way == WAYS[-1] else ours(float(way.split()[1]), cache)
    started = time.perf_counter()
    labels = run(units)
    first = time.perf_counter() - started
    again = run(units)
    second = time.perf_counter() - started - first
    assert (labels == again).all()
    found = []
    for resample in range(n_resamples):
        drawn = np.unique(np.random.default_rng([SEED, resample]).integers(0, n, n))
        found.append(adjusted_rand_score(labels[drawn], run(units.iloc[drawn])))
    together = (labels[:, None] == labels) & (labels[:, None] >= 0)
    pairs = np.triu(np.ones((n, n), dtype=bool), 1)
    return {
        "first": first,
        "again": second,
        "peak": peak_memory(),
        "themes": len(set(labels) - {-1}),
        "nowhere": float((labels == -1).mean()),
        "largest": float(np.bincount(labels[labels >= 0]).max() / n),
        "pairs": float(together[pairs & (article[:, None] == article)].mean()),
        "chance": float(together[pairs].mean()),
        "ari": adjusted_rand_score(article, labels),
        "resample": float(np.mean(found)),
    }


def peak_memory() -> float:
    """Return the megabytes that this process had at most; ru_maxrss counts the parent."""
    status = Path("/proc/self/status")
    if not status.exists():
        return float("nan")
    peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(peak.split()[1]) / 1024


def row(n: int, way: str, of: dict[str, float]) -> str:
    """Return one line of the table."""
    cells = [
        f"{n:,}", way, f"{of['first']:.2f}", f"{of['again']:.2f}", f"{of['peak']:.0f}", f"{of['themes']:.0f}",
        f"{of['nowhere']:.1%}", f"{of['largest']:.1%}", f"{of['pairs']:.0%} ({of['chance']:.0%})",
        f"{of['ari']:.3f}", f"{of['resample']:.2f}",
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Embed once, run every way in a process of its own, and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("messages", nargs="?", type=Path, default=SHARED)
    parser.add_argument("--resamples", type=int, default=5)
    parser.add_argument("--one", nargs=3, metavar=("N", "WAY", "CACHE"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not arguments.messages.exists():
        print(f"Skipped: there is no file {arguments.messages}.")
        return
    if arguments.one:
        n, way, cache = arguments.one
        print(json.dumps(measure(arguments.messages, int(n), way, cache, arguments.resamples)))
        return
    packages = ", ".join(
        f"{name} {version(name)}" for name in ("bertopic", "sentence-transformers", "networkx")
    )
    print(f"Python {platform.python_version()}, {packages}, {arguments.resamples} resamples\n")
    with tempfile.TemporaryDirectory() as cache:
        total = embed_all(arguments.messages, cache)
        print(f"\n| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
        for n in (300, total):
            for way in WAYS:
                print(row(n, way, in_a_process(arguments, n, way, cache)), flush=True)


def embed_all(path: Path, cache: str) -> int:
    """Embed all messages into the cache, print the seconds, and return how many there are."""
    from sense7_qual import models

    units, _ = read(path, 10**9)
    texts = list(units["text"])
    embed = models.embedder(cache=cache)
    embed(["loads the model"])
    seconds = []
    for _ in range(2):
        started = time.perf_counter()
        embed(texts)
        seconds.append(time.perf_counter() - started)
    words = units["text"].str.split().str.len().mean()
    print(
        f"Embedding {len(texts):,} texts of {words:.0f} words: {seconds[0]:.1f} s "
        f"({len(texts) / seconds[0]:.0f} a second); from the cache: {seconds[1]:.2f} s"
    )
    return len(texts)


def in_a_process(arguments: argparse.Namespace, n: int, way: str, cache: str) -> dict[str, float]:
    """Measure one way in a new process, so that its memory and its compilation are its own."""
    command = [sys.executable, __file__, str(arguments.messages), "--resamples", str(arguments.resamples)]
    done = subprocess.run([*command, "--one", str(n), way, cache], capture_output=True, text=True, check=True)
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


if __name__ == "__main__":
    main()
