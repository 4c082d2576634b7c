"""What suggestions are worth after 25 and 50 coded texts, and what they do where there is nothing to learn.

Usage: python -m benchmarks.suggestions_few FOLDER [--draws 10] [--noise 200] [--sets empathy abuse …]

FOLDER holds the files of public sets that `suggestion_sets.py` names; a set whose files are missing is named
and left out. Definitions are left out: the label of a code is a number. In each draw a third of the
participants (of texts, where a set names none) is for testing, and 25 or 50 of the others' texts are coded at
random. Codes that at least two coded texts have, and two lack, count. Average precision of the probabilities
on at most 500 test texts is compared with that of scikit-learn's `LogisticRegression(max_iter=1000)` on the
same vectors. A code without probabilities counts as one probability for all texts. The standard error is that
of the mean difference over draws. "on over 60 %" counts codes that are suggested on more than 60 % of test
texts and were coded on at most half.

Noise: texts of random words, random vectors (32 dimensions), presences by lot; or (signal 2) presences whose
vectors are moved by two standard deviations in one dimension. Prints Markdown.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score

from benchmarks.suggestion_sets import FILES, Frames, public_set
from sense7_qual import models, suggestions
from sense7_qual.codebook import Code, Codebook

SIZES = (25, 50)
N_TEST = 500
#: texts, share of presences, signal, texts that are not coded
NOISE = [
    (30, 0.1, 0, 200),
    (30, 0.2, 0, 200),
    (30, 0.4, 0, 200),
    (60, 0.05, 0, 200),
    (150, 0.03, 0, 200),
    (150, 0.2, 0, 200),
    (30, 0.1, 2, 200),
    (60, 0.05, 2, 200),
    (30, 0.1, 0, 0),
    (30, 0.9, 0, 200),
]
WORDS = [f"{a}{b}" for a in "bcdfglmnprst" for b in ("an", "el", "ir", "om", "ut")]
Embed = Callable[[list[str]], np.ndarray]


def noise_study(
    n: int, share: float, signal: float, others: int, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame, Embed]:
    """Draw texts of random words with random vectors; of the first `n` a share is coded as present."""
    rng = np.random.default_rng(seed)
    total = n + max(others, 200)
    applied = rng.random(total) < share
    applied[:n] = rng.permutation(np.arange(n) < max(2, round(share * n)))
    vector = rng.normal(size=(total, 32))
    vector[:, 0] += signal * applied
    texts = [f"{' '.join(rng.choice(WORDS, 12))} t{i}" for i in range(total)]
    known = dict(zip(texts, vector, strict=True))
    ids = [f"u{i:04}" for i in range(total)]
    units = pd.DataFrame({"unit_id": ids, "text": texts, "document_id": "d", "case_id": ids, "position": 1})
    decided = pd.DataFrame({"unit_id": ids, "coder": "ana", "code": "c1", "applied": applied}).head(n)
    return units, decided, lambda some: np.array([known.get(text, np.ones(32)) for text in some])


def numbered(n: int) -> Codebook:
    return Codebook(name="codes", codes=tuple(Code(id=f"c{i}", label=f"c{i}") for i in range(1, n + 1)))


def noise(seeds: int) -> list[tuple[object, ...]]:
    """Return a row per kind of noise: how often a code is suggested, and on how many texts."""
    rows: list[tuple[object, ...]] = []
    for n, share, signal, others in NOISE:
        shares, coded, none = [], [], 0
        for seed in range(seeds):
            units, decided, embed = noise_study(n, share, signal, others, seed)
            known = units.head(n + others)
            found = suggestions.fit(known, decided, numbered(1), embed=embed)
            seen = found.suggest(units, with_spans=False)["suggested"].to_numpy(dtype=bool)
            shares.append(seen[n:].mean())
            coded.append(seen[:n].mean())
            none += int(found.codes["reason"].eq("no_better_than_chance").sum())
        over = sum(max(pair) > 0.6 for pair in zip(shares, coded, strict=True))
        rows.append(
            (
                n,
                others,
                f"{share:.0%}",
                signal,
                seeds,
                none,
                f"{np.mean(shares):.0%}",
                f"{max(shares):.0%}",
                over,
            )
        )
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


def run(made: Frames, embed: Embed, draws: int) -> pd.DataFrame:
    """Return a row per draw, size and code: average precision of both, and how many texts are suggested."""
    texts, people, codes = made
    ids = pd.Series([f"u{i:05}" for i in range(len(texts))])
    units = pd.DataFrame(
        {"unit_id": ids, "text": texts, "document_id": people, "case_id": people, "position": 1}
    )
    codes = codes.set_axis([f"c{i}" for i in range(1, codes.shape[1] + 1)], axis=1)
    meaning = embed(texts.tolist())
    rows = []
    for draw in range(draws):
        rng = np.random.default_rng(1_000 + draw)
        drawn = rng.permutation(people.unique())
        held = people.isin(drawn[: len(drawn) // 3]).to_numpy()
        test = rng.permutation(np.flatnonzero(held))[:N_TEST]
        order = rng.permutation(np.flatnonzero(~held))
        for n in SIZES:
            at = order[:n]
            decided = (
                codes.iloc[at]
                .assign(unit_id=ids.iloc[at])
                .melt("unit_id", var_name="code", value_name="applied")
            )
            found = suggestions.fit(units, decided.assign(coder="ana"), numbered(codes.shape[1]), embed=embed)
            seen = found.suggest(units.iloc[test], with_spans=False)
            for code in codes:
                applied, true = codes[code].to_numpy(bool)[at], codes[code].to_numpy(bool)[test]
                if min(applied.sum(), (~applied).sum()) < 2 or not true.any():
                    continue
                own = seen[seen["code"] == code]
                chance = own["probability"].astype(float).fillna(0).to_numpy()
                plain = LogisticRegression(max_iter=1000).fit(meaning[at], applied)
                plainly = plain.decision_function(meaning[test])
                reason = found.codes.set_index("code").loc[code, "reason"]
                rows.append(
                    {
                        "draw": draw,
                        "n": n,
                        "code": code,
                        "ours": average_precision_score(true, chance),
                        "plain": average_precision_score(true, plainly),
                        "present": true.mean(),
                        "refused": reason == "no_better_than_chance",
                        "over": own["suggested"].mean() > 0.6 and applied.mean() <= 0.5,
                    }
                )
    return pd.DataFrame(rows)


def printed(heads: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
    print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
    print()


def sets(folder: Path, names: list[str], draws: int) -> list[tuple[object, ...]]:
    """Return a row per set and size."""
    embed = models.embedder(cache=folder / "vectors")
    rows: list[tuple[object, ...]] = []
    for name in names:
        made = public_set(folder, name)
        if made is None:
            print(f"{name}: left out, {folder} lacks {FILES[name][0]} of {FILES[name][1]}", file=sys.stderr)
            continue
        found = run(made, embed, draws)
        for n, own in found.groupby("n"):
            by_draw = (own["ours"] - own["plain"]).groupby(own["draw"]).mean()
            error = by_draw.std(ddof=1) / np.sqrt(len(by_draw))
            means = [f"{own[column].mean():.3f}" for column in ("ours", "plain", "present")]
            rows.append(
                (
                    name,
                    n,
                    len(own),
                    *means,
                    f"{by_draw.mean():+.3f}",
                    f"{error:.3f}",
                    int(own["refused"].sum()),
                    int(own["over"].sum()),
                )
            )
            print(rows[-1], file=sys.stderr, flush=True)
    return rows


def main() -> None:
    """Run the public sets and the noise, and print both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--noise", type=int, default=200)
    parser.add_argument("--sets", nargs="*", default=list(FILES), choices=list(FILES))
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", message=".*longer than the .* tokens")
    if arguments.draws:
        heads = (
            "set",
            "coded",
            "codes × draws",
            "suggestions",
            "plain regression",
            "share of presences",
            "difference",
            "its standard error",
            "no better than chance",
            "on over 60 %",
        )
        printed(heads, sets(arguments.folder, arguments.sets, arguments.draws))
    if arguments.noise:
        heads = (
            "coded",
            "others",
            "present",
            "signal",
            "seeds",
            "no better than chance",
            "suggested on",
            "at most",
            "on over 60 %",
        )
        printed(heads, noise(arguments.noise))


if __name__ == "__main__":
    main()
