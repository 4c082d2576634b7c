"""How long `themes.fit` takes on many texts, what memory, and what stays when a tenth more texts come.

Usage: python benchmarks/themes_scale.py [--sizes 5000 10000 50000]

The vectors are drawn, 384 numbers each as those of a small sentence model: 40 groups whose sizes fall as
1 / rank, each spread along 12 directions of its own and by noise in all, and a tenth of the texts half way
between two groups. Groups that are drawn are easier than those of real texts (`benchmarks/themes.py`): what
is measured here is time, memory and identity. Each row is a process of its own: one fit of few texts, whose
imports and compilation are not counted (BERTopic's of 4,500, from which on UMAP takes another way), then the
one that is measured, with the vectors given.

Columns: ARI, adjusted Rand index to the drawn groups, a text in no theme alone; lost, texts in no theme;
CPU and wall, seconds of the fit; peak, memory of the process. Then, for each size: whether a second process
gives the same bytes; and of the recorded themes that a run with a tenth more texts matches at a Jaccard
similarity of .5 or more, the share that keep their number.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

SEED = 7
N_GROUPS, N_DIMENSIONS = 40, 384
MOST_FOR_BERTOPIC = 10_000


def mixture(n: int) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Return units, their vectors and their groups; the first of many are those of few."""
    rng = np.random.default_rng(SEED)
    centres = rng.normal(size=(N_GROUPS, N_DIMENSIONS))
    directions = rng.normal(size=(N_GROUPS, 12, N_DIMENSIONS))
    common = rng.normal(size=N_DIMENSIONS)
    sizes = 1 / np.arange(1, N_GROUPS + 1)
    vectors, groups, texts = np.empty((n, N_DIMENSIONS), np.float32), np.empty(n, int), []
    for row in range(n):  # text by text, so that more texts change none of those before
        own = np.random.default_rng([SEED, row])
        group, other = own.choice(N_GROUPS, 2, p=sizes / sizes.sum())
        between = 0.5 if own.random() < 0.1 else 0.0
        middle = (1 - between) * centres[group] + between * centres[other]
        spread = own.normal(size=12) @ directions[group] * 0.25
        vectors[row] = middle + spread + 0.5 * common + own.normal(size=N_DIMENSIONS) * 0.9
        groups[row] = group
        words = [f"{'abcdefghij'[group % 10]}{group}x{word}" for word in own.integers(30, size=6)]
        texts.append(" ".join([*words, f"n{row}"]))
    ids = [f"u{row:06}" for row in range(n)]
    units = pd.DataFrame({"unit_id": ids, "text": texts, "document_id": "d", "case_id": "p"})
    return units.assign(position=1), vectors, groups


def ours(units: pd.DataFrame, vectors: np.ndarray):
    from sense7_qual import themes

    known = dict(zip(units["text"], vectors, strict=True))
    return themes.fit(units, embed=lambda part: np.array([known[text] for text in part]), seed=SEED)


def stock(units: pd.DataFrame, vectors: np.ndarray) -> np.ndarray:
    from bertopic import BERTopic
    from umap import UMAP

    umap = UMAP(n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", random_state=SEED)
    return np.array(BERTopic(umap_model=umap).fit_transform(list(units["text"]), vectors)[0])


def measured(way: str, n: int) -> dict[str, object]:
    """Fit a few, then `n` texts, and return the figures of the second fit."""
    from sklearn.metrics import adjusted_rand_score

    units, vectors, groups = mixture(n)
    fit = ours if way == "themes.fit" else stock
    warm = min(n, 300 if way == "themes.fit" else 4500)
    fit(units.head(warm), vectors[:warm])
    times, started = os.times(), time.perf_counter()
    found = fit(units, vectors)
    wall, used = time.perf_counter() - started, os.times()
    labels = found.assignments["theme"].to_numpy() if way == "themes.fit" else found
    frames = (found.assignments, found.terms, found.summary) if way == "themes.fit" else ()
    alone = np.where(labels == -1, labels.max() + 1 + np.arange(n), labels)
    return {
        "themes": len(set(labels) - {-1}),
        "ari": adjusted_rand_score(groups, alone),
        "lost": float((labels == -1).mean()),
        "cpu": used.user + used.system - times.user - times.system,
        "wall": wall,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "bytes": hashlib.sha256("".join(frame.to_csv() for frame in frames).encode()).hexdigest(),
        "kept": kept(found, n) if way == "themes.fit" and n <= MOST_FOR_BERTOPIC else None,
    }


def kept(before, n: int) -> list[int]:
    """Return how many recorded themes a run with a tenth more texts finds again, and keep their number."""
    from sense7_qual import themes
    from sense7_qual.codebook import Code, Codebook

    book = Codebook(name="one", codes=(Code(id="one", label="One"),))
    act, numbers = themes.record(before, [], coder="lead", codebook=book)
    number_of = dict(zip(numbers["run_theme"], numbers["theme"], strict=True))
    units, vectors, _ = mixture(n + n // 10)
    after = ours(units, vectors)
    again = themes.match_recorded(after, [act])
    now = dict(zip(again["run_theme"].dropna(), again.loc[again["run_theme"].notna(), "theme"], strict=True))
    both = before.assignments.merge(after.assignments, on="unit_id", suffixes=("", "_after"))
    found = same = 0
    for theme in before.summary["theme"]:
        inside = both["theme"] == theme
        partner = both.loc[inside, "theme_after"].mode().iloc[0]
        there = both["theme_after"] == partner
        if partner >= 0 and (inside & there).sum() / (inside | there).sum() >= 0.5:
            found += 1
            same += now[partner] == number_of[theme]
    return [len(before.summary), found, same]


def row(way: str, n: int) -> dict:
    """Return the figures of a process of its own."""
    command = [sys.executable, str(Path(__file__)), "--one", way, str(n)]
    return json.loads(
        subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")[-2]
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[5000, 10000, 50000])
    parser.add_argument("--one", nargs=2)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # umap: a seed allows one thread only
    if arguments.one:
        print(json.dumps(measured(arguments.one[0], int(arguments.one[1]))))
        return
    print(f"| texts | way | themes | ARI | lost | CPU, s | wall, s | peak, MB |\n{'|---' * 8}|")
    notes = []
    for n in arguments.sizes:
        for way in ("themes.fit", "BERTopic")[: 2 if n <= MOST_FOR_BERTOPIC else 1]:
            one = row(way, n)
            seconds = f"{one['cpu']:.1f} | {one['wall']:.1f}"
            cells = f"{one['themes']} | {one['ari']:.3f} | {one['lost']:.1%} | {seconds} | {one['peak']:.0f}"
            print(f"| {n:,} | {way} | {cells} |", flush=True)
            if one["kept"]:
                whole, found, same = one["kept"]
                alike = "the same" if row(way, n)["bytes"] == one["bytes"] else "OTHER"
                notes.append(
                    f"{n:,} texts: a second process gives {alike} bytes; with a tenth more texts {found} of "
                    f"{whole} themes are found again, {same} of them under their number."
                )
    print("\n" + "\n".join(notes))


if __name__ == "__main__":
    main()
