"""How often a text is told to be in its language, in another, or in none.

    python -m benchmarks.languages_told [TATOEBA]

First the invented sentences of tests/data/languages.csv, the English ones short and of many kinds; then, with
the folder data/tatoeba/v1 of github.com/facebookresearch/LASER (sentences of Tatoeba, CC BY 2.0), up to 1,000
sentences of each language and every English one once. The words were listed without looking at these
sentences, but for the size of some lists, and for Russian. Prints tables in Markdown; languages_told.md is
what it printed.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pandas as pd

from sense7_qual._languages import _SHORT, _language

INVENTED: Final = Path(__file__).parent.parent / "tests" / "data" / "languages.csv"
#: The codes of Tatoeba's languages; "": a language that is in no list.
CODES: Final = {
    "eng": "English",
    "deu": "German",
    "fra": "French",
    "spa": "Spanish",
    "ita": "Italian",
    "por": "Portuguese",
    "nld": "Dutch",
    "pol": "Polish",
    "tur": "Turkish",
    "rus": "Russian",
    "ara": "Arabic",
    "cmn": "Chinese",
    "jpn": "Japanese",
    "kor": "Korean",
    "tha": "Thai",
    "vie": "Vietnamese",
    "ind": "Indonesian or Malay",
    "swe": "Swedish",
    "dan": "Danish or Norwegian",
    "nob": "Danish or Norwegian",
    "fin": "Finnish",
    "hun": "Hungarian",
    "ces": "Czech or Slovak",
    "slk": "Czech or Slovak",
    "ron": "Romanian",
    "ell": "Greek script",
    "ukr": "Cyrillic script",
    "bul": "Cyrillic script",
    "pes": "Persian or Urdu",
    "cat": "",
    "est": "",
    "hrv": "",
    "lit": "",
    "tgl": "",
}


def tatoeba(folder: Path, code: str) -> list[str]:
    """Return the sentences of a language; of English, those beside every other language."""
    paths = [folder / f"tatoeba.{code}-eng.{code}"]
    if code == "eng":
        paths = sorted(folder.glob("tatoeba.*-eng.eng"))
    return sorted({line for path in paths for line in path.read_text(encoding="utf-8").splitlines()})


def print_told(name: str, language: str, texts: Iterable[str], fewest: int = 1) -> None:
    """Print how many texts are told to be in which language, those of enough words alone."""
    told = Counter(_language(text, fewest) for text in texts)
    silent = told.pop("", 0)
    right = told.pop(language, 0)
    others = ", ".join(f"{other} {n}" for other, n in told.most_common()) or "–"
    print(f"| {name} | {silent + right + told.total():,} | {right:,} | {silent:,} | {others} |")


def main() -> None:
    """Print the table of invented sentences, and with a folder that of Tatoeba."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tatoeba", type=Path, nargs="?")
    folder = parser.parse_args().tatoeba
    head = "| language | sentences | right | says nothing | taken for another |\n|---|---|---|---|---|"
    print(head)
    for language, rows in pd.read_csv(INVENTED, keep_default_na=False).groupby("language", sort=False):
        print_told(str(language), str(language), rows["text"])
    if folder is not None:
        print(f"\n{head}")
        for code, language in CODES.items():
            name = f"{code}: {language or 'in no list'}"
            print_told(name, language or "none", tatoeba(folder, code), fewest=_SHORT)


if __name__ == "__main__":
    main()
