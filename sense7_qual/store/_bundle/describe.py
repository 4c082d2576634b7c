"""What a stranger is told about a bundle: README, citation, RO-Crate 1.1, versions, notebook, checksums."""

from __future__ import annotations

import hashlib
import html
import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any, Final

from sense7_qual._messages import did_you_mean
from sense7_qual.errors import ArgumentError
from sense7_qual.frames import is_model

CHECKSUMS: Final = "SHA256SUMS"
_CRATE: Final = "ro-crate-metadata.json"
_PACKAGE: Final = "sense7_qual"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_TYPES: Final = {
    ".csv": "text/csv",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".html": "text/html",
    ".ipynb": "application/x-ipynb+json",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".md": "text/markdown",
    ".parquet": "application/vnd.apache.parquet",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".py": "text/x-python",
    ".tex": "application/x-tex",
    ".txt": "text/plain",
    ".yaml": "application/yaml",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
_WHAT: Final = {
    "data": "the units: one row a text, with its participant, conversation and variables",
    "codebooks": "every version of the codebook (YAML)",
    "record": "every act of coders and leads, chained by hashes, and what is analysed",
    "tables": "the tables of the paper, and the unrounded numbers behind them (numbers_….csv)",
    "figures": "the figures",
}
_IN_FORM: Final = {
    "withheld": "No text of a participant is in it. A text of blocks of the same length replaces it, "
    "so that offsets and repetitions stay. Withheld as well: what came before a text (context), the quotes "
    "of coded words, what memos, proposals, notes of rulings and names of themes say, the examples of the "
    "codebook, which may be participants' words, and what else repeats a text: a rule of a code, a reason "
    "for a revision, words of the analysis plan, which changes its SHA-256 (25 letters and digits in a "
    "row, or a whole text of three words and 12 letters or more). **What cannot be recomputed without the "
    "texts:** quotes, memos, and which texts hold a word. Every table and figure in this bundle can.",
    "redacted": "Direct identifiers in the texts were found by their form, or in a list of names, and each "
    "of their letters is a block (▮), so that offsets stay; data/redacted.csv says where and of which kind. "
    "**Other things that tell who somebody is may still be there.** Withheld: what memos, proposals, notes "
    "of rulings and names of themes say, the examples of the codebook, and what else repeats a text (25 "
    "letters and digits in a row, or a whole text of three words and 12 letters or more) or an identifier "
    "in one: a rule of a code, a reason for a revision, words of the analysis plan, which changes its "
    "SHA-256.",
    "all": "The texts are as the participants wrote them, and the memos and notes of everybody are there, "
    "also those that were their writer's own.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What is told of a bundle: title, counts, form, columns left out, the day of the last act."""

    title: str
    texts: str
    n_units: int
    n_acts: int
    coders: tuple[str, ...]
    codebook: str
    units_sha256: str
    left_out: tuple[str, ...]
    variables: tuple[str, ...]
    day: str
    cited: Citation


def _by(told: Told) -> str:
    models = sum(map(is_model, told.coders))
    people = f"{len(told.coders) - models} people"
    return people if not models else f"{people} and {models} {'model' if models == 1 else 'models'}"


def readme(told: Told) -> bytes:
    """Return README.md."""
    left = ", ".join(f"`{name}`" for name in told.left_out) or "none"
    kept = ", ".join(f"`{name}`" for name in told.variables) or "none"
    parts = "\n".join(f"| `{name}/` | {what} |" for name, what in _WHAT.items())
    text = f"""# {told.title}
{told.n_units:,} texts, {told.n_acts:,} acts of {_by(told)}, codebook `{told.codebook}`.
Last act: {told.day}.

## What is not in it
{_IN_FORM[told.texts]}

Columns of the units that are left out: {left}. Columns that are there: {kept}. Before you publish it, look
at these, at the ids of texts and participants, at pseudonyms of coders, at names of rounds and at the
codebook: nobody but you knows whether they tell who somebody is.

The texts themselves are known by one hash: the SHA-256 of the file of units that was coded is
`{told.units_sha256}`.
Whoever is given that file can tell that it is the one. There is no hash of a single text, because a short
text could be found by trying.

## How to rerun it
```
python -m venv again
again/bin/pip install -r requirements.txt
again/bin/python rerun.py
```
Where pip does not find `sense7-qual`, take its line out, and install that version from its sources.
Python {sys.version_info.major}.{sys.version_info.minor} was used. `rerun.py` recomputes every table and
figure from `data/`, `codebooks/` and `record/`, and compares it with `tables/` and `figures/` to the last
byte; the unrounded numbers (`numbers_….csv`) to nine digits, since the sixteenth is another on another kind
of processor. `rerun.ipynb` does the same in JupyterLab, and shows the numbers. In Python,
`sense7_qual.store.Store("this folder")` opens the study to read.

| folder | holds |
|---|---|
{parts}

`{CHECKSUMS}` has the SHA-256 of every file (`sha256sum -c {CHECKSUMS}`), `{_CRATE}` describes them
(RO-Crate 1.1). Made by sense7_qual {version(_PACKAGE)}.
"""
    return text.encode()


def licence(known: str) -> bytes:
    """Return LICENSE.md: the licence, or what only the study's people can answer where none is named."""
    if known:
        return f"# Licence: {known}\nhttps://spdx.org/licenses/{known}.html\n".encode()
    return (
        b"# Licence: to be decided\n"
        b"Nobody may reuse this until you say so here. Questions to answer, then replace this file:\n\n"
        b"1. Did participants consent to data being shared, with whom, and for which purposes?\n"
        b"2. Which licence do the data have (CC BY 4.0 and CC0 are usual), and which the codebook?\n"
        b"3. Whose consent is needed besides: the coders', the ethics board's, the funder's?\n"
    )


def requirements() -> bytes:
    """Return requirements.txt: the version of this package and of all that it needs, as they are here."""
    pinned: dict[str, str] = {}
    to_do = [_PACKAGE]
    while to_do:
        name = _normal(to_do.pop())
        if name in pinned:
            continue
        try:
            pinned[name] = version(name)
        except PackageNotFoundError:  # for another system, or an option
            continue
        to_do += [str(_NAME.match(line)[0]) for line in requires(name) or [] if "extra ==" not in line]  # type: ignore[index]
    return "".join(f"{name}=={pinned[name]}\n" for name in sorted(pinned)).encode()


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def notebook() -> bytes:
    """Return rerun.ipynb, which recomputes everything, shows the numbers, and ends with the check."""
    cells = [
        _cell(
            "markdown",
            "# Rerun\nEvery number of the tables is recomputed from the record; the last cell compares.",
        ),
        _cell(
            "code",
            "import tempfile\nfrom pathlib import Path\n\nimport pandas as pd\n\nimport rerun\n\n"
            "again = Path(tempfile.mkdtemp())\nrerun.compute(again)",
        ),
        _cell(
            "code",
            'for path in sorted((again / "tables").glob("*.csv")):\n    print(path.name)\n'
            '    print(path.read_text("utf-8-sig")[:2_000])',
        ),
        _cell(
            "code",
            "differences = rerun.compare(again)\nassert not differences, differences\n"
            'print("All tables, figures and numbers are the same.")',
        ),
    ]
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    about = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    content = {"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


def _cell(kind: str, source: str) -> dict[str, Any]:
    code: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {}, "source": source, **code}


def summary(told: Told) -> str:
    """Return in two sentences what is in the bundle."""
    return (
        f"{told.n_units} texts coded by {_by(told)} (texts: {told.texts}). "
        "rerun.py recomputes every table and figure."
    )


def crate(folder: Path, told: Told) -> bytes:
    """Return ro-crate-metadata.json (RO-Crate 1.1) of all files in the folder."""
    files = [_file(folder, path) for path in _paths(folder, without=(_CRATE, CHECKSUMS))]
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": told.title,
        "datePublished": told.day,
        "description": summary(told),
        "license": {"@id": "LICENSE.md"},
        "hasPart": [{"@id": file["@id"]} for file in files],
        "mainEntity": {"@id": "rerun.py"},
    }
    descriptor = {
        "@id": _CRATE,
        "@type": "CreativeWork",
        "about": {"@id": "./"},
        "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
    }
    graph = [descriptor, root, *files]
    content = {"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": graph}
    return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()


def _file(folder: Path, path: Path) -> dict[str, Any]:
    name = path.relative_to(folder).as_posix()
    kind: Any = ["File", "SoftwareSourceCode"] if path.suffix in (".py", ".ipynb") else "File"
    entry = {
        "@id": name,
        "@type": kind,
        "name": name,
        "contentSize": str(path.stat().st_size),
        "description": _WHAT.get(name.partition("/")[0], name).capitalize(),
    }
    known = _TYPES.get(path.suffix)
    return entry if known is None else {**entry, "encodingFormat": known}


def checksums(folder: Path) -> bytes:
    """Return SHA256SUMS of all other files, as sha256sum reads it."""
    lines = [
        f"{_sha256(path)}  {path.relative_to(folder).as_posix()}\n" for path in _paths(folder, (CHECKSUMS,))
    ]
    return "".join(lines).encode()


def _paths(folder: Path, without: Sequence[str]) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name not in without)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


LICENCES: Final = (
    "CC0-1.0",
    "CC-BY-4.0",
    "CC-BY-SA-4.0",
    "CC-BY-NC-4.0",
    "CC-BY-NC-SA-4.0",
    "CC-BY-ND-4.0",
    "CC-BY-NC-ND-4.0",
    "ODbL-1.0",
    "ODC-By-1.0",
    "PDDL-1.0",
)
"""The identifiers (SPDX) of licences for data: Creative Commons 4.0, CC0 and Open Data Commons."""
_ORCID: Final = re.compile(r"(?:https://orcid\.org/)?(\d{4}-\d{4}-\d{4}-\d{3}[\dX])")
_ADDRESS: Final = re.compile(r"https?://[^\s/]+\.[^\s]+")


@dataclass(frozen=True, slots=True)
class Author:
    """An author: family and given name, ORCID and affiliation, the last two of which may be empty."""

    family: str
    given: str
    orcid: str = ""
    affiliation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """Who made a bundle, under which licence it is, and what it is about; each may be empty."""

    authors: tuple[Author, ...] = ()
    licence: str = ""
    keywords: tuple[str, ...] = ()
    software: str = ""


def citation(
    authors: Sequence[str], licence: str | None, keywords: Sequence[str], software: str | None
) -> Citation:
    """Check what is given, and return it; errors as of `Store.copies.bundle`."""
    if licence is not None and licence not in LICENCES:
        raise ArgumentError(
            f"bundle: expected the SPDX identifier of a licence for data – found {licence!r} – "
            f"{did_you_mean(licence, LICENCES)}; put another licence into LICENSE.md yourself."
        )
    if software is not None and not _ADDRESS.fullmatch(software):
        raise ArgumentError(
            f"bundle: expected the address of the software, https://… – found {software!r} – give it whole."
        )
    words = tuple(dict.fromkeys(word.strip() for word in keywords))
    if "" in words:
        raise ArgumentError("bundle: expected keywords – found an empty one – leave it out.")
    if (licence or words or software) and not authors:
        raise ArgumentError(
            "bundle: expected authors together with a licence, keywords or software – found none – name them "
            "('Family, Given; ORCID; affiliation'): without authors nothing can be cited."
        )
    return Citation(
        authors=tuple(map(_author, authors)), licence=licence or "", keywords=words, software=software or ""
    )


def _author(told: str) -> Author:
    names, *more = (part.strip() for part in told.split(";"))
    family, comma, given = (part.strip() for part in names.partition(","))
    if not (family and comma and given) or len(more) > 2:
        raise ArgumentError(
            f"bundle: expected an author as 'Family, Given; ORCID; affiliation' – found {told!r} – the last "
            "two may be left out ('Family, Given;; affiliation')."
        )
    orcid, affiliation = (*more, "", "")[:2]
    known = _ORCID.fullmatch(orcid)
    if orcid and not (known and _check_digit(known[1]) == known[1][-1]):
        raise ArgumentError(
            f"bundle: expected an ORCID that fits its check digit – found {orcid!r} – copy it from orcid.org."
        )
    return Author(family, given, known[1] if known else "", affiliation)


def _check_digit(orcid: str) -> str:
    """Return the last sign that an ORCID must have (ISO 7064, MOD 11-2).

    >>> _check_digit("0000-0002-1825-0097")
    '7'
    """
    total = 0
    for digit in orcid.replace("-", "")[:-1]:
        total = (total + int(digit)) * 2
    rest = (12 - total % 11) % 11
    return "X" if rest == 10 else str(rest)


def cff(cited: Citation, *, title: str, day: str) -> bytes:
    """Return CITATION.cff; strings are in the quotes of JSON, which YAML reads."""
    lines = [
        "cff-version: 1.2.0",
        "message: If you use these data, please cite them as below.",
        "type: dataset",
        f"title: {_quoted(title)}",
        f"date-released: {day}",
        "authors:",
    ]
    for one in cited.authors:
        lines += [f"  - family-names: {_quoted(one.family)}", f"    given-names: {_quoted(one.given)}"]
        lines += [f'    orcid: "https://orcid.org/{one.orcid}"'] if one.orcid else []
        lines += [f"    affiliation: {_quoted(one.affiliation)}"] if one.affiliation else []
    lines += [f"license: {cited.licence}"] if cited.licence else []
    lines += [f"repository-code: {_quoted(cited.software)}"] if cited.software else []
    lines += ["keywords:", *(f"  - {_quoted(word)}" for word in cited.keywords)] if cited.keywords else []
    return ("\n".join(lines) + "\n").encode()


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def zenodo(cited: Citation, *, title: str, description: str, day: str) -> bytes:
    """Return .zenodo.json."""
    told: dict[str, Any] = {
        "title": title,
        "upload_type": "dataset",
        "publication_date": day,
        "description": f"<p>{html.escape(description)}</p>",
        "creators": [
            {"name": f"{one.family}, {one.given}"}
            | ({"affiliation": one.affiliation} if one.affiliation else {})
            | ({"orcid": one.orcid} if one.orcid else {})
            for one in cited.authors
        ],
    }
    told |= {"license": cited.licence} if cited.licence else {}
    told |= {"keywords": list(cited.keywords)} if cited.keywords else {}
    if cited.software:
        told["related_identifiers"] = [
            {"identifier": cited.software, "relation": "isCompiledBy", "resource_type": "software"}
        ]
    return (json.dumps(told, indent=2, ensure_ascii=False) + "\n").encode()
