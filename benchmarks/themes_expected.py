"""Do themes find the codes of a codebook, and what it lacks? Half of a set's labels are the codebook.

    python benchmarks/themes_expected.py FOLDER [--draws 4]

FOLDER holds files of four public sets with labels, on which no part of `themes` was tuned (that was done on
those of `theme_texts.py`); none is committed:

- patients.csv: comments of patients of the NHS with one label of a qualitative framework
  (github.com/CDU-data-science-team/pxtextmining, datasets/v6framework_230831.csv);
- titles.txt, titles_labels.txt, titles_names.txt: titles of questions about programming, by tag (Xu et al.
  2015, github.com/jacoxu/StackOverflow, rawText/title_StackOverflow.txt, label_StackOverflow.txt and the tags
  of the paper in their order);
- intents.json: requests to an assistant (Larson et al. 2019, github.com/clinc/oos-eval,
  data/data_full.json);
- counsel.csv: questions to counsellors, by topic (github.com/nbertagnolli/counsel-chat,
  data/20200325_counsel_chat.csv).

A draw takes labels, up to 300 or 1,000 of their texts, and a codebook: half of the labels, each with its name
and three further texts as examples, and three labels of which there are no texts. Columns: adjusted Rand
index among texts whose label is in the codebook (expected) and among the others (hidden); F1 of each label
with the group nearest to it, means over labels; F1 of each code with the theme that is said to be its own;
codes without texts that are told, and codes with texts that are said to have none. All ways get the same
vectors (8 bits). KMeans is told the true number of groups. Prints Markdown.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

from sense7_qual import models, themes
from sense7_qual.codebook import Code, Codebook

sys.path.insert(0, str(Path(__file__).parent))
import themes as beside  # the other ways

Texts = pd.DataFrame
FIGURES = [
    "themes",
    "ARI",
    "ARI, expected",
    "ARI, hidden",
    "F1, expected",
    "F1, hidden",
    "F1, own theme",
    "absent told",
    "present denied",
]
NOT_A_SUBJECT = {
    "Not assigned",
    "Labelling not possible",
    "Positive experience & gratitude",
    "Negative experience & dissatisfaction",
    "Safeguarding concerns?",
}


def patients(folder: Path) -> Texts:
    """Return comments with one label alone."""
    rows = pd.read_csv(folder / "patients.csv")
    labels = rows.loc[:, "Not assigned":].drop(columns=list(NOT_A_SUBJECT))
    labels = labels.apply(pd.to_numeric, errors="coerce").fillna(0).gt(0)
    one = labels.sum(axis=1) == 1
    return pd.DataFrame(
        {"text": rows.loc[one, "FFT answer"].astype(str), "label": labels[one].idxmax(axis=1)}
    )


def titles(folder: Path) -> Texts:
    """Return titles with the name of their tag."""
    names = (folder / "titles_names.txt").read_text("utf-8").split("\n")
    numbers = (folder / "titles_labels.txt").read_text("utf-8").split()
    texts = (folder / "titles.txt").read_text("utf-8", errors="replace").strip().split("\n")
    return pd.DataFrame({"text": texts, "label": [names[int(one) - 1] for one in numbers]})


def intents(folder: Path) -> Texts:
    """Return requests with the name of their intent."""
    whole = json.loads((folder / "intents.json").read_text("utf-8"))
    return pd.DataFrame(whole["train"] + whole["val"] + whole["test"], columns=["text", "label"])


def counsel(folder: Path) -> Texts:
    """Return the title and first 50 words of each question, with its topic."""
    rows = pd.read_csv(folder / "counsel.csv").drop_duplicates("questionID")
    words = (rows["questionTitle"] + ". " + rows["questionText"].fillna("")).str.split().str[:50]
    return pd.DataFrame({"text": words.str.join(" "), "label": rows["topic"]})


#: Reader, groups by number of texts.
SETS: dict[str, tuple[Callable[[Path], Texts], dict[int, int]]] = {
    "patients": (patients, {300: 12, 1000: 16}),
    "titles": (titles, {300: 12, 1000: 17}),
    "intents": (intents, {300: 20, 1000: 50}),
    "counsel": (counsel, {300: 10}),
}


def drawn(whole: Texts, n: int, n_groups: int, seed: int) -> tuple[Texts, dict[str, list[str]], set[str]]:
    """Return texts with labels, the examples of each code, and the labels without texts."""
    whole = whole.assign(text=whole["text"].str.strip()).drop_duplicates("text")
    whole = whole[whole["text"].str.len() > 2]
    sizes = whole["label"].value_counts()
    rng = np.random.default_rng([seed, n])
    large = rng.permutation(sorted(sizes[sizes >= 18].index))
    labels, absent = large[3 : 3 + n_groups], large[:3]
    pool = whole.loc[rng.permutation(whole.index)]
    half = [*rng.permutation(labels)[: (len(labels) + 1) // 2], *absent]
    examples = {str(one): pool.loc[pool["label"] == one, "text"].head(3).tolist() for one in half}
    taken = {text for each in examples.values() for text in each}
    rest = pool[pool["label"].isin(labels) & ~pool["text"].isin(taken)]
    return rest.head(n).reset_index(drop=True), examples, {str(one) for one in absent}


def f1(one: np.ndarray, other: np.ndarray) -> float:
    """Return F1 of two sets of rows."""
    return 2 * (one & other).sum() / max(one.sum() + other.sum(), 1)


def figures(truth: np.ndarray, found: np.ndarray, codes: set[str]) -> list[float]:
    """Return the figures that all ways have."""
    known = np.isin(truth, sorted(codes))
    best = {
        label: max((f1(truth == label, found == group) for group in set(found) - {-1}), default=0.0)
        for label in set(truth)
    }
    alone = beside.alone(found)
    halves = [adjusted_rand_score(truth[half], alone[half]) for half in (known, ~known)]
    means = [
        np.mean([best[label] for label in best if (label in codes) == wanted]) for wanted in (True, False)
    ]
    return [len(set(found) - {-1}), adjusted_rand_score(truth, alone), *halves, *means]


def ours(texts: Texts, embed: Callable, book: Codebook | None) -> themes.Themes:
    """Fit themes with or without the codebook."""
    n = len(texts)
    units = pd.DataFrame(
        {
            "unit_id": [f"u{row:04}" for row in range(n)],
            "text": texts["text"],
            "document_id": "d",
            "case_id": "p",
            "position": range(n),
        }
    )
    return themes.fit(units, embed=embed, codebook=book, seed=beside.SEED)


def measured(texts: Texts, examples: dict[str, list[str]], absent: set[str], embed: Callable) -> list[tuple]:
    """Return a row of figures for each way."""
    truth = texts["label"].to_numpy(str)
    ids = {label: f"code{place}" for place, label in enumerate(examples)}
    codes = [
        Code(id=ids[one], label=one.replace("_", " ").replace("-", " "), examples=tuple(listed))
        for one, listed in examples.items()
    ]
    expected = set(examples) - absent
    rows = []
    for way, book in (
        ("themes.fit, codebook", Codebook(name="half", codes=tuple(codes))),
        ("themes.fit", None),
    ):
        found = ours(texts, embed, book)
        of_text = found.assignments["theme"].to_numpy()
        row = figures(truth, of_text, expected)
        if book is not None:
            theme, shown = (found.codes.set_index("code")[name] for name in ("theme", "shown"))
            own = [
                0.0 if pd.isna(theme[ids[one]]) else f1(truth == one, of_text == theme[ids[one]])
                for one in expected
            ]
            row += [
                np.mean(own),
                np.mean([not shown[ids[one]] for one in absent]),
                np.mean([not shown[ids[one]] for one in expected if one in truth]),
            ]
        rows.append((way, *row))
    vectors = embed(texts["text"].tolist())
    for way in ("BERTopic", "KMeans, true k"):
        of_text = beside.WAYS[way](texts["text"].tolist(), vectors, len(set(truth)))
        rows.append((way, *figures(truth, of_text, expected)))
    return rows


def remembering(model: Callable) -> Callable:
    """Return a function that embeds each text once."""
    kept: dict[str, np.ndarray] = {}

    def embed(texts: list[str]) -> np.ndarray:
        new = [text for text in dict.fromkeys(texts) if text not in kept]
        kept.update(zip(new, model(new), strict=True) if new else ())
        return np.array([kept[text] for text in texts])

    return embed


def main() -> None:
    """Measure every way on every draw, and print means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--sizes", type=int, nargs="+", default=[300, 1000])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    embed = remembering(models.embedder(precision="int8"))
    rows = []
    for size in arguments.sizes:
        for name, (reader, sizes) in SETS.items():
            whole = reader(arguments.folder)
            for draw in range(arguments.draws) if size in sizes else ():
                found = measured(*drawn(whole, size, sizes[size], draw), embed)
                rows += [(name, size, draw, *one) for one in found]
    table = pd.DataFrame(rows, columns=["set", "texts", "draw", "way", *FIGURES])
    print(f"| set | texts | way | {' | '.join(FIGURES)} |\n|{'---|' * (3 + len(FIGURES))}")
    table["set"] = pd.Categorical(table["set"], list(SETS))
    parts = [
        *table.groupby(["set", "texts", "way"], sort=False, observed=True),
        *((("all", size, way), part) for (size, way), part in table.groupby(["texts", "way"], sort=False)),
    ]
    for (name, size, way), part in parts:
        mean = part[FIGURES].mean()
        cells = " | ".join("" if np.isnan(value) else f"{value:.2f}" for value in mean.iloc[1:])
        print(f"| {name} | {size:,} | {way} | {mean.iloc[0]:.0f} | {cells} |")
    print("\nWith the codebook less without it (standard error over draws of all sets)\n")
    for size, part in table.groupby("texts"):
        pair = part.pivot_table(index=["set", "draw"], columns="way", values=FIGURES[1:6], observed=True)
        for figure in FIGURES[1:6]:
            less = pair[figure]["themes.fit, codebook"] - pair[figure]["themes.fit"]
            print(f"- {size:,} texts, {figure}: {less.mean():+.3f} ({less.std() / len(less) ** 0.5:.3f})")


if __name__ == "__main__":
    main()
