"""How a bundle is cited: its authors, licence, keywords and software, in CITATION.cff and .zenodo.json.

The Citation File Format is that of version 1.2.0, https://doi.org/10.5281/zenodo.5171937; the other is what
Zenodo reads of a deposit, https://developers.zenodo.org.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sense7_qual._messages import did_you_mean
from sense7_qual.errors import ArgumentError

__all__ = ["LICENCES", "Author", "Citation", "cff", "citation", "zenodo"]

LICENCES: Final = (
    "CC0-1.0", "CC-BY-4.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "CC-BY-NC-SA-4.0", "CC-BY-ND-4.0",
    "CC-BY-NC-ND-4.0", "ODbL-1.0", "ODC-By-1.0", "PDDL-1.0",
)  # fmt: skip
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
            "bundle: expected authors beside a licence, keywords or software – found none – name them "
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
            f"bundle: expected an ORCID whose last sign checks the others – found {orcid!r} – copy it from "
            "orcid.org."
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
        "cff-version: 1.2.0", "message: If you use these data, please cite them as below.", "type: dataset",
        f"title: {_quoted(title)}", f"date-released: {day}", "authors:",
    ]  # fmt: skip
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
        "title": title, "upload_type": "dataset", "publication_date": day,
        "description": f"<p>{html.escape(description)}</p>",
        "creators": [
            {"name": f"{one.family}, {one.given}"}
            | ({"affiliation": one.affiliation} if one.affiliation else {})
            | ({"orcid": one.orcid} if one.orcid else {})
            for one in cited.authors
        ],
    }  # fmt: skip
    told |= {"license": cited.licence} if cited.licence else {}
    told |= {"keywords": list(cited.keywords)} if cited.keywords else {}
    if cited.software:
        told["related_identifiers"] = [
            {"identifier": cited.software, "relation": "isCompiledBy", "resource_type": "software"}
        ]
    return (json.dumps(told, indent=2, ensure_ascii=False) + "\n").encode()
