"""Compare `themes.fit` with BERTopic's defaults, and with KMeans and Ward that are told the number of groups.

Usage: python benchmarks/themes.py FOLDER [--resamples 3] [--sizes 300 1000 5000] [--ways themes.fit BERTopic]

The texts are those of `benchmarks/theme_texts.py`, whose packages and vectors are kept in FOLDER. All ways
get the same vectors, embedded before. BERTopic's defaults are UMAP (seeded) and HDBSCAN with at least
10 texts a topic. Columns:

- ARI, NMI: adjusted Rand index and normalised mutual information to the labels; a text in no theme is alone;
- stability: mean adjusted Rand index between the themes of bootstrap samples (each text drawn counts once,
  everything chosen anew), on the texts that both drew;
- lost: the share of texts in no theme;
- CPU: processor seconds of one fit, imports and compilation done before; peak: the process's memory so far.

Prints Markdown.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import sys
import warnings
from collections.abc import Callable
from importlib.metadata import version
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parent))
import theme_texts

SEED = 7
COLUMNS = ("set", "texts", "groups", "way", "themes", "ARI", "NMI", "stability", "lost", "CPU, s", "peak, MB")
Way = Callable[[list[str], np.ndarray, int], np.ndarray]


def ours(texts: list[str], vectors: np.ndarray, n_groups: int) -> np.ndarray:
    """Return the themes of `themes.fit` with its defaults."""
    from sense7_qual import themes

    units = pd.DataFrame(
        {
            "unit_id": [f"u{row:06}" for row in range(len(texts))],
            "text": texts,
            "document_id": "d",
            "case_id": "p",
            "position": range(len(texts)),
        }
    )
    known = dict(zip((text.strip() for text in texts), vectors, strict=True))
    found = themes.fit(units, embed=lambda part: np.array([known[text] for text in part]), seed=SEED)
    return found.assignments["theme"].to_numpy()


def stock(texts: list[str], vectors: np.ndarray, n_groups: int) -> np.ndarray:
    """Return the topics of BERTopic with its defaults, UMAP seeded."""
    from bertopic import BERTopic
    from umap import UMAP

    umap = UMAP(n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", random_state=SEED)
    topics, _ = BERTopic(umap_model=umap).fit_transform(texts, vectors)
    return np.array(topics)


def kmeans(texts: list[str], vectors: np.ndarray, n_groups: int) -> np.ndarray:
    """Return the clusters of KMeans with the true number of groups."""
    from sklearn.cluster import KMeans

    return np.asarray(KMeans(n_groups, n_init=10, random_state=SEED).fit_predict(vectors))


def ward(texts: list[str], vectors: np.ndarray, n_groups: int) -> np.ndarray:
    """Return the clusters of Ward's method with the true number of groups."""
    from sklearn.cluster import AgglomerativeClustering

    return np.asarray(AgglomerativeClustering(n_groups).fit_predict(vectors))


WAYS: dict[str, Way] = {"themes.fit": ours, "BERTopic": stock, "KMeans, true k": kmeans, "Ward, true k": ward}


def alone(labels: np.ndarray) -> np.ndarray:
    """Return the labels with each text in no theme in a group of its own."""
    return np.where(labels == -1, labels.max() + 1 + np.arange(len(labels)), labels)


def processor() -> float:
    """Return the processor seconds of this process."""
    times = os.times()
    return times.user + times.system


def measure(way: Way, texts: list[str], vectors: np.ndarray, truth: np.ndarray, n_resamples: int) -> list:
    """Fit once and on resamples, and return the figures of one row."""
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    n_groups = len(set(truth))
    started = processor()
    labels = way(texts, vectors, n_groups)
    seconds = processor() - started
    samples = []
    for resample in range(n_resamples):
        drawn = np.unique(np.random.default_rng([SEED, resample]).integers(0, len(texts), len(texts)))
        found = np.full(len(texts), -2)
        found[drawn] = way([texts[row] for row in drawn], vectors[drawn], n_groups)
        samples.append(found)
    shared = [(one != -2) & (other != -2) for one, other in combinations(samples, 2)]
    similar = [
        adjusted_rand_score(alone(one[both]), alone(other[both]))
        for both, (one, other) in zip(shared, combinations(samples, 2), strict=True)
    ]
    return [
        len(set(labels) - {-1}),
        adjusted_rand_score(truth, alone(labels)),
        normalized_mutual_info_score(truth, alone(labels)),
        np.mean(similar),
        (labels == -1).mean(),
        seconds,
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    ]


def embedded(folder: Path, name: str, n: int) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return the texts of a set, their vectors (kept in the folder) and labels."""
    path = folder / f"{name}_{n}.npz"
    if not path.exists():
        from sense7_qual import models

        read = theme_texts.texts(folder, name, n)
        vectors = models.embedder()(list(read["text"]))
        np.savez(path, v=vectors, y=read["label"].to_numpy(str), t=read["text"].to_numpy(str))
    kept = np.load(path)
    return kept["t"].tolist(), kept["v"], kept["y"]


def main() -> None:
    """Measure every way on every set, and print the table and the means."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--resamples", type=int, default=3)
    parser.add_argument("--sizes", type=int, nargs="+", default=[300, 1000, 5000])
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # umap: a seed allows one thread only
    theme_texts.fetch(arguments.folder)
    names = ("bertopic", "umap-learn", "graspologic-native", "scikit-learn")
    packages = ", ".join(f"{name} {version(name)}" for name in names)
    print(f"Python {platform.python_version()}, {packages}; {arguments.resamples} resamples, seed {SEED}\n")
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    rows, ways = [], {title: WAYS[title] for title in arguments.ways}
    for size in arguments.sizes:
        for name, (_, _, sizes) in theme_texts.SETS.items():
            if size not in sizes or theme_texts.absent(name):
                continue
            texts, vectors, truth = embedded(arguments.folder, name, size)
            for title, way in ways.items():
                if not rows:  # imports and numba's compilation are not in the first row's seconds
                    for each in ways.values():
                        each(texts, vectors, len(set(truth)))
                figures = measure(way, texts, vectors, truth, arguments.resamples)
                rows.append((size, title, *figures))
                number, ari, nmi, stable, lost, seconds, peak = figures
                print(
                    f"| {name} | {len(texts):,} | {len(set(truth))} | {title} | {number} | {ari:.3f} | "
                    f"{nmi:.3f} | {stable:.2f} | {lost:.1%} | {seconds:.2f} | {peak:.0f} |",
                    flush=True,
                )
    print(
        "\nMeans over the sets\n\n| texts | way | ARI | NMI | stability | lost |\n|---|---|---|---|---|---|"
    )
    whole = pd.DataFrame(
        rows, columns=["texts", "way", "n", "ari", "nmi", "stability", "lost", "cpu", "peak"]
    )
    for (size, title), part in whole.groupby(["texts", "way"], sort=False):
        mean = part[["ari", "nmi", "stability", "lost"]].mean()
        cells = f"{mean['ari']:.3f} | {mean['nmi']:.3f} | {mean['stability']:.2f} | {mean['lost']:.1%}"
        print(f"| {size:,} | {title} | {cells} |")


if __name__ == "__main__":
    main()
