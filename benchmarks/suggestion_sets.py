"""Public sets of coded texts that the benchmarks of suggestions read from a folder; none is committed.

`FILES` says which files each set needs, and where they come from; a set without its files is None.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

N_TEXTS = 1_200
#: Set: its files in the folder, and their source.
FILES = {
    "empathy": (
        ("emotional-reactions-reddit.csv", "explorations-reddit.csv", "interpretations-reddit.csv"),
        "Sharma et al. 2020, github.com/behavioral-data/Empathy-Mental-Health, dataset/",
    ),
    "abuse": (
        ("ConvAbuseEMNLPfull.csv",),
        "Cercas Curry, Abercrombie & Rieser 2021, github.com/amandacurry/convabuse, 1_full/",
    ),
    "emotions": (
        ("goemotions-dev.tsv", "goemotions-labels.txt"),
        "Demszky et al. 2020, github.com/monologg/GoEmotions-pytorch, data/original/dev.tsv and labels.txt",
    ),
    "moods": (
        ("emotion-train_text.txt", "emotion-train_labels.txt"),
        "Mohammad et al. 2018, github.com/cardiffnlp/tweeteval, datasets/emotion/",
    ),
    "stance": (
        tuple(
            f"stance-{topic}-train_{kind}.txt"
            for topic in ("abortion", "atheism", "climate", "feminist", "hillary")
            for kind in ("text", "labels")
        ),
        "Mohammad et al. 2016, github.com/cardiffnlp/tweeteval, datasets/stance/",
    ),
    "banking": (
        ("banking77-test.csv",),
        "Casanueva et al. 2020, github.com/PolyAI-LDN/task-specific-datasets, banking_data/test.csv",
    ),
}
EKMAN = {
    "anger": "anger annoyance disapproval",
    "fear": "fear nervousness",
    "joy": "joy amusement approval excitement gratitude love optimism relief pride admiration desire caring",
    "sadness": "sadness disappointment embarrassment grief remorse",
    "surprise": "surprise realization confusion curiosity",
    "neutral": "neutral",
}
BANKING = {
    "top_up": "top_up|topping",
    "transfer": "transfer",
    "exchange": "exchange|currency|fiat",
    "cash": "cash|atm",
    "pin": "pin|passcode",
    "identity": "identity|verify",
    "refund": "refund",
    "arrival": "arrival|delivery",
}
Frames = tuple[pd.Series, pd.Series, pd.DataFrame]


def empathy(folder: Path) -> Frames:
    """Replies to people in distress: emotional reactions, interpretations, explorations (level 1 or 2)."""
    keys = ["sp_id", "rp_id"]
    parts = [
        pd.read_csv(folder / name, dtype=str, keep_default_na=False).drop_duplicates(keys).set_index(keys)
        for name in FILES["empathy"][0]
    ]
    names = ("reaction", "exploration", "interpretation")
    codes = pd.concat([part["level"].ne("0") for part in parts], axis=1, keys=names, join="inner")
    texts = parts[0]["response_post"].reindex(codes.index)
    return texts, pd.Series(codes.index.get_level_values("sp_id"), index=codes.index), codes


def abuse(folder: Path) -> Frames:
    """What people wrote to a chatbot: abuse by most of its raters, its kinds and its targets."""
    rows = pd.read_csv(folder / FILES["abuse"][0][0])
    rows["abuse"] = rows[["is_abuse.-1", "is_abuse.-2", "is_abuse.-3"]].max(axis=1)
    kinds = [
        "abuse",
        "type.intellectual",
        "type.sexist",
        "type.sex_harassment",
        "target.system",
        "target.individual",
        "direction.explicit",
    ]
    keyed = rows.groupby("example_no")
    first = keyed[["user", "conv_id"]].first()
    return first["user"].fillna(""), first["conv_id"].astype(str), keyed[kinds].mean() > 0.5


def emotions(folder: Path) -> Frames:
    """Comments on Reddit: 27 emotions in the groups of Ekman, and none."""
    names = (folder / FILES["emotions"][0][1]).read_text("utf-8").split()
    rows = pd.read_csv(folder / FILES["emotions"][0][0], sep="\t", header=None, dtype=str, quoting=3)
    said = rows[1].map(lambda cell: {names[int(one)] for one in cell.split(",")})
    groups = {code: set(of.split()) for code, of in EKMAN.items()}
    codes = {code: said.map(lambda own, of=of: bool(own & of)) for code, of in groups.items()}
    return rows[0], rows[2], pd.DataFrame(codes)


def _lines(folder: Path, name: str) -> pd.DataFrame:
    texts, labels = (
        (folder / f"{name}-train_{kind}.txt").read_text("utf-8").strip().split("\n")
        for kind in ("text", "labels")
    )
    return pd.DataFrame({"text": texts, "label": [int(one) for one in labels]})


def moods(folder: Path) -> Frames:
    """Tweets: anger, joy, optimism, sadness."""
    rows = _lines(folder, "emotion")
    codes = {code: rows["label"].eq(i) for i, code in enumerate(("anger", "joy", "optimism", "sadness"))}
    return rows["text"], pd.Series(rows.index.astype(str)), pd.DataFrame(codes)


def stance(folder: Path) -> Frames:
    """Tweets on five topics: against, in favour, neither."""
    topics = ("abortion", "atheism", "climate", "feminist", "hillary")
    rows = pd.concat([_lines(folder, f"stance-{topic}") for topic in topics], ignore_index=True)
    codes = {code: rows["label"].eq(i) for i, code in enumerate(("neither", "against", "favour"))}
    return rows["text"], pd.Series(rows.index.astype(str)), pd.DataFrame(codes)


def banking(folder: Path) -> Frames:
    """Questions to a bank: eight families of its 77 intents."""
    rows = pd.read_csv(folder / FILES["banking"][0][0])
    codes = {code: rows["category"].str.contains(of) for code, of in BANKING.items()}
    return rows["text"], pd.Series(rows.index.astype(str)), pd.DataFrame(codes)


LOADERS: dict[str, Callable[[Path], Frames]] = {
    "empathy": empathy,
    "abuse": abuse,
    "emotions": emotions,
    "moods": moods,
    "stance": stance,
    "banking": banking,
}


def public_set(folder: Path, name: str) -> Frames | None:
    """Return at most 1,200 texts of a set, their participants and codes; None where a file is missing."""
    if not all((folder / file).exists() for file in FILES[name][0]):
        return None
    texts, people, codes = (frame.reset_index(drop=True) for frame in LOADERS[name](folder))
    texts = texts.astype(str).str.strip()
    kept = np.flatnonzero(texts.str.len().gt(5) & ~texts.duplicated())
    rows = np.sort(np.random.default_rng(7).permutation(kept)[:N_TEXTS])
    return tuple(frame.iloc[rows].reset_index(drop=True) for frame in (texts, people, codes))  # type: ignore[return-value]
