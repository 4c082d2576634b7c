"""Rows of a result with the codebook's labels, in the codebook's order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from sense7_qual._messages import did_you_mean, first_three
from sense7_qual.codebook import UNSTATED, Codebook, Facet
from sense7_qual.errors import TableError
from sense7_qual.frames import require_column

__all__ = ["label", "of_source", "of_sources", "places", "rows", "stem"]


def label(code: str, codebook: Codebook | None) -> str:
    """Return what a code is called in print; of one that was decided on by a facet, with the value.

    Examples
    --------
    >>> sense7 = Codebook.read("sense7")
    >>> label("interest", sense7), label("interest.valence=met", sense7), label("interest.valence=met", None)
    ('Interest', 'Interest (met)', 'interest.valence=met')
    """
    if codebook is None:
        return code
    named, facet, value = _parts(code, codebook)
    if facet is None:
        return codebook[named].label
    wording = UNSTATED if value == UNSTATED else facet[value].label
    return (
        f"{codebook[named].label} ({wording if len(codebook.facets) == 1 else f'{facet.label}: {wording}'})"
    )


def places(codes: Iterable[str], codebook: Codebook) -> dict[str, tuple[int, int]]:
    """Return where each code stands in the codebook, and its value among those of its facet."""
    place = {code: number for number, code in enumerate(codebook.ids)}
    values = [("", "")]
    values += [(facet.name, value) for facet in codebook.facets for value in (*facet.names, UNSTATED)]
    parts = {code: _parts(code, codebook) for code in codes}
    return {
        code: (place[stem], values.index((facet.name if facet else "", value)))
        for code, (stem, facet, value) in parts.items()
    }


def stem(code: str, codebook: Codebook) -> str:
    """Return the id of the code, without the facet's value by which it was decided on."""
    return _parts(code, codebook)[0]


def _parts(code: str, codebook: Codebook) -> tuple[str, Facet | None, str]:
    """Return the code, the facet and the value that `codings.decisions` names together."""
    named, _, value = code.partition("=")  # no code's id has one
    stem, _, name = named.rpartition(".")
    facet = next((one for one in codebook.facets if one.name == name and value), None)
    known = facet is not None and stem in codebook and value in (*facet.names, UNSTATED)
    return (stem, facet, value) if known else (code, None, "")


def rows(result: pd.DataFrame, *, frame_name: str, codebook: Codebook | None) -> list[dict[str, Any]]:
    """Return the rows of a result as dictionaries with a `label`, in the order of the codebook.

    Without a codebook the label is the code's id and the order is the frame's. Two codes with one label are
    told apart by their ids.
    """
    require_column(result, "code", frame_name=frame_name)
    codes = [str(code) for code in result["code"]]
    twice = sorted(code for code, times in Counter(codes).items() if times > 1)
    if twice:
        raise TableError(
            f"{frame_name}: expected one row per code – found several for {first_three(twice)} – "
            "pass one group of rows at a time."
        )
    records = zip(codes, result.to_dict("records"), strict=True)
    names = _labels(codes, codebook)
    labelled = [{str(k): v for k, v in record.items()} | {"label": names[code]} for code, record in records]
    if codebook is None:
        return labelled
    place = places(codes, codebook)
    return sorted(labelled, key=lambda row: place[str(row["code"])])


def _labels(codes: Sequence[str], codebook: Codebook | None) -> dict[str, str]:
    if codebook is None:
        return {code: code for code in codes}
    names = {code: label(code, codebook) for code in codes}
    times = Counter(names.values())
    return {code: f"{name} ({code})" if times[name] > 1 else name for code, name in names.items()}


def of_source(links: pd.DataFrame, source: str) -> pd.DataFrame:
    """Return the rows of `links` that belong to one source: a coder, "majority" or "consensus"."""
    require_column(links, "source", frame_name="links")
    known = list(dict.fromkeys(str(name) for name in links["source"]))
    if source not in known:
        raise TableError(
            f"links: expected rows of source {source!r} – found sources {first_three(known) or 'none'} – "
            f"{did_you_mean(source, known)}"
        )
    return links[links["source"].astype("string") == source]


def of_sources(
    links: pd.DataFrame, sources: Sequence[str], codebook: Codebook | None
) -> list[dict[str, Any]]:
    """Return the rows of several sources as `rows` does, those of one code beside each other."""
    twice = sorted(name for name, times in Counter(sources).items() if times > 1)
    if twice or not sources:
        raise TableError(
            f"links: expected one or more different sources – found {first_three(twice) or 'none'} – name "
            "each once."
        )
    in_order = [
        row
        for source in sources
        for row in rows(of_source(links, source), frame_name="links", codebook=codebook)
    ]
    codes = dict.fromkeys(str(row["code"]) for row in in_order)
    place = {code: (n, 0) for n, code in enumerate(codes)} if codebook is None else places(codes, codebook)
    return sorted(in_order, key=lambda row: place[str(row["code"])])
