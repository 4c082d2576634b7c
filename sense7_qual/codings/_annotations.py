"""The codings in files of annotation tools, a row for each annotation."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import numpy as np
import pandas as pd

from sense7_qual._formats import Recognised, cells_of, frame_of
from sense7_qual._messages import first_three, outside
from sense7_qual.errors import ArgumentError, ImportRefused, QualError, TableError

__all__ = ["ANSWER", "NAMES", "annotated"]

NAMES: Final = "codes of the annotation"
"""The column of what an annotation names, where it is made here."""
ANSWER: Final = "answer of the annotation"
"""The column that says whether the coder accepted the one code that is named."""

_DEDOOSE: Final = re.compile("Code: (.+) Applied")


def annotated(one: Recognised, code: Any) -> pd.DataFrame:
    """Return the table of a file; a row for each annotation where its program writes several into one."""
    if one.kind not in _PROGRAMS:
        return one.table
    try:
        rows = pd.DataFrame(_PROGRAMS[one.kind](one.table, code))
        made = frame_of(cells_of(rows.select_dtypes(exclude="string")))
    except QualError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):  # which may quote a cell
        raise ImportRefused(
            f"{one.name}: expected annotations as {one.program} writes them – found others – export the file "
            'again, or pass kind="table" and name the columns.'
        ) from None
    return rows.assign(**{name: made[name].array for name in made})


def _label_studio(table: pd.DataFrame, code: Any) -> Iterator[dict[str, Any]]:
    """Yield each annotation that was not skipped: the data of its task, who made it, its labels."""
    wanted = [code] if isinstance(code, str) else code
    skipped, n_aside, aside = 0, 0, set()
    of = next(name for name in ("annotations", "completions") if name in table)
    others = table.drop(columns=[name for name in ("predictions", of) if name in table])
    tasks: Any = others.to_dict("records")
    for task, made in zip(tasks, table[of], strict=True):
        for one in json.loads(made):
            who, names = one.get("completed_by"), []
            for region in one["result"]:
                if wanted is None or region.get("from_name") in wanted:
                    labels = _labels(region)
                    names += labels or []
                    n_aside += labels is None
                    aside |= {region["type"]} if labels is None else set()
            if one.get("was_cancelled"):
                skipped += 1
                continue
            coder = who.get("email", who.get("id")) if isinstance(who, dict) else who
            yield {**task, "coder": coder, NAMES: names}
    predicted = int((table.get("predictions", table[of].head(0)).fillna("[]") != "[]").sum())
    left_out = {"skipped annotations": skipped, "texts with a model's predictions": predicted}
    _say(left_out | {f"answers that name no code ({', '.join(sorted(aside))})": n_aside})


def _say(left_out: Mapping[str, int]) -> None:
    """Warn about what was left out, with its number."""
    said = ", ".join(f"{n} {what}" for what, n in left_out.items() if n)
    if said:
        warnings.warn(f"codings.read: left out {said}.", UserWarning, stacklevel=outside())


def _labels(region: Mapping[str, Any]) -> list[str] | None:
    """Return the codes that a region names, or None if it names none, as an answer in words does."""
    kind, value = region["type"], region.get("value", {})
    if kind == "taxonomy":
        return [" > ".join(path) for path in value[kind]]
    return list(value[kind]) if kind == "choices" or kind.endswith("labels") else None


def _labelled_texts(table: pd.DataFrame, _: Any) -> pd.DataFrame:
    """Return a row for each annotator, where the labels of several are in one list, as doccano wrote them."""
    lists = [name for name in table if table[name].str.contains('"user":', na=False).any()]
    if len(lists) != 1:
        return table
    rows = table.assign(**{NAMES: table[lists[0]].map(json.loads)}).explode(NAMES).dropna(subset=[NAMES])
    return rows.assign(coder=[label["user"] for label in rows[NAMES]])


def _prodigy(table: pd.DataFrame, _: Any) -> pd.DataFrame:
    """Return a row for each answer to an option or a label, or for each text whose spans were accepted."""
    accepted, rejected = (table["answer"] == answer for answer in ("accept", "reject"))
    rows = table[accepted]
    if "label" in table and "options" not in table:
        _say({"ignored answers": int((~accepted & ~rejected).sum())})
        names = table["label"].map(str.strip)
        return table.assign(**{NAMES: names, ANSWER: accepted})[accepted | rejected]
    if "options" in table:
        _say({"rejected or ignored tasks": int((~accepted).sum())})
        cells = zip(rows["options"], rows["accept"], strict=True)
        answers = pd.Series([_chosen(*each) for each in cells], index=rows.index, dtype="object")
        slim = rows.drop(columns=["options", "accept", "spans", "tokens"], errors="ignore")
        rows = slim.assign(**{NAMES: answers}).explode(NAMES)
        return rows.assign(**{ANSWER: rows[NAMES].str[1], NAMES: rows[NAMES].str[0]})
    if rejected.any():
        raise TableError(
            f"codings.read: expected spans that were accepted – found {int(rejected.sum())} lines of Prodigy "
            "with rejected spans: a code may be absent, or the text unusable – pass the other lines as a "
            "DataFrame."
        )
    _say({"ignored tasks": int((~accepted).sum())})
    return rows.assign(**{NAMES: rows["spans"]})


def _chosen(options: str, accept: str) -> list[tuple[str, bool]]:
    """Return the name of each option, which is its text where its id is a number, and if it was chosen."""
    chosen = json.loads(accept)
    return [
        (str(one.get("text", one["id"]) if isinstance(one["id"], int) else one["id"]), one["id"] in chosen)
        for one in json.loads(options)
    ]


def _argilla(table: pd.DataFrame, code: Any) -> pd.DataFrame:
    """Return a row for each submitted response to one question."""
    questions = [name.removesuffix(".responses") for name in map(str, table) if name.endswith(".responses")]
    if len(questions) > 1 and code not in questions:
        raise ArgumentError(
            "codings.read: expected to be told which question was answered with codes – found "
            f'{first_three(questions)} – pass code="…".'
        )
    responses = f"{code if code in questions else questions[0]}.responses"
    parts = {NAMES: responses, "coder": f"{responses}.users", "status": f"{responses}.status"}
    listed = {to: table[name].fillna("[]").map(json.loads) for to, name in parts.items()}
    rows = table.assign(**listed).explode(list(parts))
    return rows[rows["status"] == "submitted"]


def _dedoose(table: pd.DataFrame, _: Any) -> pd.DataFrame:
    """Return the codes of each excerpt from the columns that say which were applied."""
    columns = [name for name in map(str, table.columns) if _DEDOOSE.fullmatch(name)]
    applied = table[columns].isin(["TRUE", "True", "true", "1"]).to_numpy()
    names = np.array([_DEDOOSE.sub(r"\1", name) for name in columns], dtype=object)
    return table.assign(**{NAMES: pd.Series([list(names[row]) for row in applied], index=table.index)})


_PROGRAMS: Final[Mapping[str, Callable[[pd.DataFrame, Any], Any]]] = {
    "label studio": _label_studio, "labelled texts": _labelled_texts, "prodigy": _prodigy,
    "argilla": _argilla, "dedoose excerpts": _dedoose,
}  # fmt: skip
