"""How good suggestions are after 30, 100 and 300 coded texts, beside what is simpler.

Usage: python benchmarks/suggestions.py FOLDER [--messages messages.csv] [--draws 4]

Labelled texts: `sense7`, the shipped example (made texts, its codes, codings with spans); `reactions`, reactions to
news (Buechel et al. 2018, kept beside the project) with five codes by a rule and 5 % of labels turned by a seed,
and the writers' own empathy and distress above the middle; `tweets`, `products`, `films` and `editorials`, what
20 people each judged as praise, complaint or neither (Hutto & Gilbert 2014), which the package vaderSentiment 2.5
of PyPI ships and FOLDER keeps.

In each draw a third of the participants (of products, films and articles) is for testing; of the others' texts 30,
100 and 300 are coded at random. Macro-F1 is the mean over codes of the F1 of presence. ECE is the mean distance of
probabilities from shares in ten bins, of all codes, draws and test texts of a set together. Weights of features,
penalty and the rule for the cut were chosen on `reactions`, `tweets`, `products` and `sense7` (other draws of
them), never on `films` and `editorials`. Prints Markdown.
"""  # noqa: E501

from __future__ import annotations

import argparse
import io
import json
import re
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline

import sense7_qual as qual
from sense7_qual import models, suggestions
from sense7_qual.codebook import Code, Codebook

ROOT = Path(__file__).resolve().parents[1]
MESSAGES = ROOT.parent / "shared" / "data" / "empathic-reactions" / "messages.csv"
SIZES = (30, 100, 300)
N_TEST = 500
RULES = {
    "sorrow": (
        r"\b(sad|sadden\w*|heartbreak\w*|sorry|terrible|awful|tragic|tragedy|horribl\w*)\b",
        "The writer says that it is sad, terrible or heartbreaking.",
    ),
    "call": (r"\b(should|must|need to|ought to|have to)\b", "The writer says what should or must be done."),
    "own_life": (
        r"\b(my (family|friend|life|own|mother|father|son|daughter|kids|wife|husband)|i (was|had|grew)"
        r"|when i)\b",
        "The writer speaks of their own family, friends or past.",
    ),
    "doubt": (
        r"(\?|\b(i don't know|i wonder|not sure|maybe|perhaps)\b)",
        "The writer asks a question or is not sure.",
    ),
    "anger": (
        r"\b(angry|anger\w*|disgust\w*|furious|outrag\w*|mad|upset\w*|shame\w*|ridiculous)\b",
        "The writer is angry, disgusted or outraged.",
    ),
}
JUDGED = {
    "praise": "The writer likes something or is happy.",
    "complaint": "The writer dislikes something or is unhappy.",
    "neutral": "The writer says how something is, without judging it.",
}
FILES = {
    "tweets": "tweets",
    "products": "amazonReviewSnippets",
    "films": "movieReviewSnippets",
    "editorials": "nytEditorialSnippets",
}
Set = tuple[pd.DataFrame, pd.DataFrame, Codebook, pd.DataFrame | None]


def book(definitions: dict[str, str]) -> Codebook:
    codes = (
        Code(id=name, label=name.replace("_", " "), definition=text) for name, text in definitions.items()
    )
    return Codebook(name="codes", codes=tuple(codes))


def framed(texts: pd.Series, groups: pd.Series, codes: pd.DataFrame, definitions: dict[str, str]) -> Set:
    """Return units, who has which code (True or False by unit and code), and the codebook."""
    ids = [f"u{i:05}" for i in range(len(texts))]
    units = pd.DataFrame(
        {
            "unit_id": ids,
            "text": texts.to_numpy(),
            "document_id": groups.to_numpy(),
            "case_id": groups.to_numpy(),
            "position": 1,
        }
    )
    return units, codes.set_axis(ids), book(definitions), None


def sense7(_: Path) -> Set:
    codebook = Codebook.read("sense7")
    units = qual.corpus.read_sense7(ROOT / "data" / "sense7_synthetic.xlsx")
    lines = (ROOT / "data" / "example_acts.jsonl").read_text("utf-8").splitlines()
    record = qual.acts.fold([qual.acts.Act(**json.loads(line)) for line in lines])
    decided = qual.codings.decisions(record.codings, record.coverage, codebook)
    share = decided.pivot_table(index="unit_id", columns="code", values="applied", aggfunc="mean")
    units = units[units["unit_id"].isin(share.index)].reset_index(drop=True)
    codes = (share > 0.5).reindex(units["unit_id"])
    return units, codes, codebook, record.codings


def reactions(path: Path) -> Set:
    messages = pd.read_csv(path, dtype=str, keep_default_na=False)
    texts = messages["essay"].str.strip()
    rng = np.random.default_rng(7)
    codes = {
        name: texts.str.lower().map(lambda text, rule=rule: bool(re.search(rule, text))).to_numpy()
        ^ (rng.random(len(texts)) < 0.05)
        for name, (rule, _) in RULES.items()
    }
    codes |= {name: messages[f"{name}_bin"].eq("1").to_numpy() for name in ("empathy", "distress")}
    said = {name: text for name, (_, text) in RULES.items()}
    said["empathy"] = "The writer feels compassion and tenderness for those who suffer."
    said["distress"] = "The writer feels upset, troubled or disturbed."
    return framed(texts, messages["response_id"], pd.DataFrame(codes), said)


def judged(folder: Path, name: str) -> Set:
    archive = folder / "vaderSentiment-2.5.tar.gz"
    if not archive.exists():
        pip = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--no-binary",
            ":all:",
            "-d",
            str(folder),
        ]
        subprocess.run([*pip, "vaderSentiment==2.5"], check=True)
    with tarfile.open(archive) as outer:
        inner = outer.extractfile("vaderSentiment-2.5/additional_resources/hutto_ICWSM_2014.tar.gz")
        assert inner is not None
        with tarfile.open(fileobj=io.BytesIO(inner.read())) as files:
            file = files.extractfile(f"hutto_ICWSM_2014/{FILES[name]}_GroundTruth.txt")
            assert file is not None
            lines = file.read().decode("utf-8", "replace").splitlines()
    rows = pd.DataFrame([line.split("\t")[:3] for line in lines], columns=["id", "mean", "text"])
    rows = rows[rows["text"].str.len() > 5].drop_duplicates("text")
    rows = rows.sample(1_200, random_state=7).reset_index(drop=True)
    mean = rows["mean"].astype(float)
    codes = {"praise": mean >= 1.5, "complaint": mean <= -0.8, "neutral": mean.abs() < 0.5}
    return framed(rows["text"], rows["id"].str.rsplit("_", n=1).str[0], pd.DataFrame(codes), JUDGED)


def f1(chosen: np.ndarray, applied: np.ndarray) -> float:
    return float(2 * (chosen & applied).sum() / max(chosen.sum() + applied.sum(), 1))


def tfidf(coded: pd.DataFrame, applied: np.ndarray, test: pd.DataFrame) -> np.ndarray:
    """Suggest by words alone, from the level on that had the largest F1 on participants not learned from."""
    groups = coded["case_id"].to_numpy()
    least = min(len(set(groups[applied])), len(set(groups[~applied])))
    if least < 2:
        return np.full(len(test), bool(applied.mean() > 0.5))
    learned = make_pipeline(
        TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2)),
        LogisticRegression(class_weight="balanced", max_iter=1000),
    )
    split = StratifiedGroupKFold(min(5, least), shuffle=True, random_state=0)
    chances = cross_val_predict(
        learned, coded["text"], applied, groups=groups, cv=split, method="predict_proba"
    )
    cut = max(chances[:, 1], key=lambda level: f1(chances[:, 1] >= level, applied))
    return learned.fit(coded["text"], applied).predict_proba(test["text"])[:, 1] >= cut


def run(
    name: str, made: Set, embed: Callable[[list[str]], np.ndarray], draws: int
) -> list[dict[str, object]]:
    """Return a row per draw, size, method and code."""
    units, codes, codebook, codings = made
    rows: list[dict[str, object]] = []
    for draw in range(draws):
        rng = np.random.default_rng(1_000 + draw)
        people = rng.permutation(units["case_id"].unique())
        held = units["case_id"].isin(people[: len(people) // 3])
        test = units[held].sample(min(N_TEST, int(held.sum())), random_state=draw)
        order = units[~held].sample(frac=1, random_state=draw)
        true = codes.loc[test["unit_id"]]
        for n in (0, *SIZES):
            if n > len(order):
                continue
            coded = order.head(n)
            decided = codes.loc[coded["unit_id"]].rename_axis("unit_id").reset_index()
            decided = decided.melt("unit_id", var_name="code", value_name="applied").assign(coder="ana")
            some = None if codings is None else codings[codings["unit_id"].isin(coded["unit_id"])]
            whole = pd.concat([order, test])
            found = suggestions.fit(whole, decided, codebook, embed=embed, codings=some)
            seen = found.suggest(test, with_spans=False).set_index(["unit_id", "code"])
            for code in codes:
                own = seen.xs(code, level="code").loc[test["unit_id"]]
                applied = true[code].to_numpy(dtype=bool)
                row = {"set": name, "draw": draw, "n": n, "code": code}
                rows.append(
                    row
                    | {"method": "suggestions" if n else "definitions", "applied": applied}
                    | {"f1": f1(own["suggested"].to_numpy(dtype=bool), applied)}
                    | {"probability": own["probability"].to_numpy(float, na_value=np.nan)}
                )
                if n:
                    learned = codes.loc[coded["unit_id"], code].to_numpy(dtype=bool)
                    rows.append(row | {"method": "words", "f1": f1(tfidf(coded, learned, test), applied)})
                    most = np.full(len(test), bool(learned.mean() > 0.5))
                    rows.append(row | {"method": "majority", "f1": f1(most, applied)})
        print(f"{name}: draw {draw + 1} of {draws}", file=sys.stderr, flush=True)
    return rows


def calibration_error(rows: pd.DataFrame) -> float:
    chance, applied = (np.concatenate(rows[name].tolist()) for name in ("probability", "applied"))
    known = ~np.isnan(chance)
    chance, applied = chance[known], applied[known]
    tenth = np.minimum((chance * 10).astype(int), 9)
    parts = [(chance[tenth == bin], applied[tenth == bin]) for bin in range(10) if (tenth == bin).any()]
    return float(sum(abs(p.mean() - a.mean()) * len(p) for p, a in parts) / max(len(chance), 1))


def main() -> None:
    """Run every set and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--messages", type=Path, default=MESSAGES)
    parser.add_argument("--draws", type=int, default=4)
    arguments = parser.parse_args()
    embed = models.embedder(cache=arguments.folder / "vectors")
    sets: dict[str, Callable[[], Set]] = {"sense7": lambda: sense7(arguments.folder)}
    if arguments.messages.exists():
        sets["reactions"] = lambda: reactions(arguments.messages)
    sets |= {name: (lambda name=name: judged(arguments.folder, name)) for name in FILES}
    rows = pd.DataFrame(
        [row for name, made in sets.items() for row in run(name, made(), embed, arguments.draws)]
    )
    means = rows.groupby(["set", "n", "method"])["f1"].mean()
    heads = ("set", "codes", "coded", "suggestions", "definitions", "words", "majority", "ECE")
    print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
    for name in sets:
        for n in SIZES:
            own = rows[(rows["set"] == name) & (rows["n"] == n) & (rows["method"] == "suggestions")]
            if own.empty:
                continue
            values = [
                means[name, n, "suggestions"],
                means[name, 0, "definitions"],
                means[name, n, "words"],
                means[name, n, "majority"],
                calibration_error(own),
            ]
            cells = [name, own["code"].nunique(), n, *(f"{value:.3f}" for value in values)]
            print("| " + " | ".join(map(str, cells)) + " |")


if __name__ == "__main__":
    main()
