"""Does `themes.against_codebook` tell the theme of a code that the codebook lacks, at 300 coded texts?

    python benchmarks/themes_hidden_code.py FOLDER [--draws 2]

The sets are those of `themes_expected.py`, and for a codebook of manner what counsellors and clients say in
133 talks: question, reflection, advice, talk of change and against it (annomi.csv: AnnoMI-simple.csv of
github.com/uccollab/AnnoMI; Wu et al. 2022). 300 texts are coded by one coder as they are labelled; each label
in turn (six at most) is hidden from the codebook, and themes are fitted with what is left of it: name and
three examples of each code, which are not among the texts. A theme is *of* a label that at least half of its
texts have. Columns: themes of the hidden label that are uncovered, and clearly so, clearly so with limits to
both sides (as it was before); themes of a code that are falsely uncovered, clearly so; themes of a code that
are clearly covered; themes of the hidden label of which a code is expected; themes that are of no label, and
of these uncovered. Prints Markdown.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from sense7_qual import models, themes
from sense7_qual.codebook import Code, Codebook

sys.path.insert(0, str(Path(__file__).parent))
import themes_expected

COLUMNS = [
    "themes of the hidden label",
    "uncovered",
    "clear",
    "clear, both sides",
    "themes of a code",
    "falsely uncovered",
    "clear",
    "clearly covered",
    "a code expected of the hidden label",
    "themes of no label",
    "uncovered",
]


def manner(folder: Path) -> pd.DataFrame:
    """Return what is said, from five words on, with how it is said; the talk is the participant."""
    rows = pd.read_csv(folder / "annomi.csv").drop_duplicates(["transcript_id", "utterance_id"])
    of_client = rows["client_talk_type"].map({"change": "talk of change", "sustain": "talk against change"})
    label = rows["main_therapist_behaviour"].replace({"therapist_input": "advice", "other": None})
    rows = rows.assign(
        text=rows["utterance_text"].astype(str),
        label=label.fillna(of_client),
        case_id=rows["transcript_id"].astype(str),
    )
    return rows[(rows["text"].str.split().str.len() >= 5) & rows["label"].notna()]


SETS = {name: (reader, sizes[300]) for name, (reader, sizes) in themes_expected.SETS.items()}
SETS |= {"manner": (manner, 5)}


def drawn(whole: pd.DataFrame, n_groups: int, seed: int) -> tuple[pd.DataFrame, dict[str, list[str]]]:
    """Return 300 texts with labels and participants, and three further texts of each label."""
    whole = whole.assign(text=whole["text"].str.strip()).drop_duplicates("text")
    whole = whole[whole["text"].str.len() > 2]
    rng = np.random.default_rng([seed, 9])
    sizes = whole["label"].value_counts()
    labels = rng.permutation(sorted(sizes[sizes >= 18].index))[:n_groups]
    pool = whole.loc[rng.permutation(whole.index)]
    examples = {str(one): pool.loc[pool["label"] == one, "text"].head(3).tolist() for one in labels}
    taken = {text for each in examples.values() for text in each}
    texts = pool[pool["label"].isin(labels) & ~pool["text"].isin(taken)].head(300).reset_index(drop=True)
    if "case_id" not in texts:
        texts["case_id"] = [f"p{row}" for row in texts.index]
    return texts, examples


def measured(texts: pd.DataFrame, examples: dict[str, list[str]], hidden: str, embed) -> pd.DataFrame:
    """Return a row per theme: of which label it is, and what is said of it."""
    left = [label for label in examples if label != hidden]
    ids = {label: f"code{place}" for place, label in enumerate(left)}
    book = Codebook(
        name="left",
        codes=tuple(
            Code(id=ids[label], label=label.replace("_", " "), examples=tuple(examples[label]))
            for label in left
        ),
    )
    units = pd.DataFrame(
        {
            "unit_id": [f"u{row:03}" for row in texts.index],
            "text": texts["text"],
            "document_id": texts["case_id"],
            "case_id": texts["case_id"],
            "position": texts.index,
        }
    )
    found = themes.fit(units, embed=embed, codebook=book, seed=7)
    decisions = pd.DataFrame(
        [
            (unit, "ana", ids[code], label == code)
            for unit, label in zip(units["unit_id"], texts["label"], strict=True)
            for code in left
        ],
        columns=["unit_id", "coder", "code", "applied"],
    )
    clustered = {"units": units, "cluster": "case_id"}
    result = themes.against_codebook(found, decisions, book, **clustered)
    both_sides = themes.against_codebook(found, decisions, book, confidence_level=0.975, **clustered)
    own = texts["label"].groupby(found.assignments["theme"].to_numpy()).value_counts(normalize=True)
    most = own.unstack(fill_value=0.0).reindex(result["theme"])
    label = most.idxmax(axis=1).where(most.max(axis=1) >= 0.5)
    return result.assign(of=label.to_numpy(), hidden=hidden, before=both_sides["clear"])


def row(name: str, table: pd.DataFrame) -> str:
    """Return the row of a set."""
    uncovered = (table["verdict"] == "uncovered").fillna(False)
    clear, before = (table[one].fillna(False).astype(bool) for one in ("clear", "before"))
    lacking, none = table["of"] == table["hidden"], table["of"].isna()
    of_code = ~lacking & ~none
    shares = [
        (uncovered, lacking),
        (uncovered & clear, lacking),
        (uncovered & before, lacking),
        None,
        (uncovered, of_code),
        (uncovered & clear, of_code),
        (~uncovered & clear, of_code),
        (table["expected"].notna(), lacking),
        None,
        (uncovered, none),
    ]
    counts = iter([of_code.sum(), none.sum()])
    cells = [
        str(next(counts)) if one is None else f"{one[0][one[1]].mean():.0%}" if one[1].any() else "–"
        for one in shares
    ]
    return f"| {name} | {lacking.sum()} | {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--draws", type=int, default=2)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    embed = themes_expected.remembering(models.embedder(precision="int8"))
    print(f"| set | {' | '.join(COLUMNS)} |\n|{'---|' * (1 + len(COLUMNS))}")
    for name, (reader, n_groups) in SETS.items():
        whole, parts = reader(arguments.folder), []
        for draw in range(arguments.draws):
            texts, examples = drawn(whole, n_groups, draw)
            parts += [measured(texts, examples, hidden, embed) for hidden in list(examples)[:6]]
        print(row(name, pd.concat(parts)), flush=True)


if __name__ == "__main__":
    main()
