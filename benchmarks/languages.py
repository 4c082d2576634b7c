"""How the multilingual model places translations, and whether themes of a mixed set part by language.

    python benchmarks/languages.py TATOEBA XSID

TATOEBA: the folder data/tatoeba/v1 of github.com/facebookresearch/LASER (`tatoeba.deu-eng.deu` …;
sentences of Tatoeba, CC BY 2.0). XSID: the folder data/xSID-0.5 of github.com/mainlp/xsid
(`de.test.conll` …; CC BY-SA 4.0), 500 commands in each language with one of 15 intents. Of a text only one
language is taken, so no text has its translation in the set. Prints two tables in Markdown.
"""

from __future__ import annotations

import argparse
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from sense7_qual import models, themes

LANGUAGES = ["deu", "spa", "fra", "ita", "nld", "por", "pol", "rus", "tur", "ara", "cmn", "jpn", "kor", "tha"]
MIXED = (["en"], ["de"], ["en", "de"], ["en", "it"], ["en", "tr"], ["en", "zh"], ["en", "de", "it", "nl"])
SEED = 7


def translations(folder: Path) -> None:
    print("| language | sentences | translation nearest of 100 | of all | of all, in both languages |")
    print("|---|---|---|---|---|")
    embed = models.embedder("multilingual")
    for language in LANGUAGES:
        pair = [folder / f"tatoeba.{language}-eng.{one}" for one in (language, "eng")]
        here, there = (path.read_text(encoding="utf-8").splitlines() for path in pair)
        one, other = embed(here), embed(there)
        own = np.arange(len(here))
        like = one @ other.T
        blocks = [own[start : start + 100] for start in range(0, len(own) - 99, 100)]
        of_100 = np.mean([like[np.ix_(at, at)].argmax(axis=1) == np.arange(100) for at in blocks])
        both = np.hstack([like, np.where(np.eye(len(own), dtype=bool), -1, one @ one.T)])
        print(
            f"| {language} | {len(own):,} | {of_100:.3f} | {np.mean(like.argmax(axis=1) == own):.3f} | "
            f"{np.mean(both.argmax(axis=1) == own):.3f} |"
        )


def commands(folder: Path, language: str) -> tuple[list[str], list[str]]:
    read = (folder / f"{language}.test.conll").read_text(encoding="utf-8")
    return tuple(re.findall(rf"^# {name}\s*[:=]\s*(.*)$", read, re.MULTILINE) for name in ("text", "intent"))


def mixed(folder: Path) -> None:
    print("| languages | model | themes | with intents (ARI) | with languages (NMI) |")
    print("|---|---|---|---|---|")
    embeds = {"English": models.embedder(), "multilingual": models.embedder("multilingual")}
    for spoken in MIXED:
        read = {language: commands(folder, language) for language in spoken}
        texts = [read[spoken[row % len(spoken)]][0][row] for row in range(500)]
        intents = [read[spoken[row % len(spoken)]][1][row] for row in range(500)]
        ids = [f"u{row:03}" for row in range(500)]
        units = pd.DataFrame(
            {"unit_id": ids, "text": texts, "document_id": ids, "case_id": ids, "position": 0}
        )
        units = units.astype(dict.fromkeys(["unit_id", "text", "document_id", "case_id"], "string"))
        for name, embed in embeds.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = themes.fit(units, embed=embed, seed=SEED).assignments["theme"]
            ari = adjusted_rand_score(intents, found)
            nmi = normalized_mutual_info_score([row % len(spoken) for row in range(500)], found)
            print(f"| {', '.join(spoken)} | {name} | {found[found >= 0].nunique()} | {ari:.2f} | {nmi:.2f} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tatoeba", type=Path)
    parser.add_argument("xsid", type=Path)
    arguments = parser.parse_args()
    translations(arguments.tatoeba)
    mixed(arguments.xsid)
