"""Decisions from files of codings: what a file says by the marks of its program, and what is asked."""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._formats import KINDS, Recognised, cells_of, frame_of, recognise
from sense7_qual._limits import Limits
from sense7_qual._messages import first_three, outside, word
from sense7_qual.codebook import Codebook, check_codebook
from sense7_qual.codings._from_table import Blank, from_table, rows_of
from sense7_qual.codings._segments import Finished, code_ids, codes_named, from_segments
from sense7_qual.errors import ArgumentError, ImportRefused, QualError, TableError
from sense7_qual.frames import DECISIONS

_GIVEN: Final = "coder as given"  # the column of the keys of a mapping of files
_ASKED: Final = {
    "unit_id": 'unit_id="…" (the column of the text\'s id)',
    "coder": 'coder="…" (the column of the coder), or {"ana": …} with a file for each coder',
    "code": 'code="…" (the column that names the codes)',
    "finished": 'finished="rows", "coded", "all" with units=…, or a frame of unit_id and coder',
    "blank": 'blank="absent", "absent_in_marked_rows" or "undecided" (what a blank cell means)',
}


@DECISIONS.returns
def read(
    source: str | os.PathLike[str] | pd.DataFrame | Mapping[str, str | os.PathLike[str] | pd.DataFrame],
    codebook: Codebook,
    *,
    unit_id: str | None = None,
    code: str | Sequence[str] | Mapping[str, str] | None = None,
    coder: str | None = None,
    finished: Finished | pd.DataFrame | None = None,
    units: pd.DataFrame | None = None,
    blank: Blank | None = None,
    separator: str | None = None,
    codes: Mapping[str, str | None] | None = None,
    coders: Mapping[str, str] | None = None,
    values: Mapping[str, bool] | None = None,
    sheet: str | None = None,
    sheets: Sequence[str] | Mapping[str, str] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    header: int | Sequence[int] | None = None,
    kind: str | None = None,
    limits: Limits | None = None,
) -> pd.DataFrame:
    """Read decisions from a file of codings that another program, or people with a spreadsheet, made.

    Files of MAXQDA, ATLAS.ti, Dedoose, Taguette, Label Studio, doccano, Prodigy and Argilla are recognised.
    In any other table, a column with the name of a code holds marks, as for `from_table`. One error asks for
    everything that the file does not say.

    Parameters
    ----------
    source : path, DataFrame, or mapping of coder to these
        The file, or one for each coder.
    codebook : Codebook
        The codes that the coders chose from.
    unit_id, code, coder, finished, units, separator, codes, coders
        As for `from_segments`, where the file does not say it. Label Studio, Prodigy and Argilla say what was
        finished. In a table of marks, `codes` says which code a column of another name is.
    blank, values
        As for `from_table`, where the file is a table of marks.
    sheet : str, optional
        Which sheet of a workbook.
    sheets : list of str, or mapping of coder to str, optional
        The sheets of a workbook with one for each coder.
    delimiter, encoding, header, kind, limits
        As for `corpus.recognise`; ``kind="table"`` ignores all marks of programs.

    Raises
    ------
    ArgumentError
        The file does not say something, and no argument does; or the coder is given twice.
    ImportRefused
        The file cannot be read, or does not hold codings.
    TableError
        As for `from_segments` and `from_table`; or somebody annotated a text twice.

    Warns
    -----
    UserWarning
        A model's predictions and skipped texts were left out; a code of the codebook has no column.

    Examples
    --------
    >>> sense7 = Codebook.read("sense7")
    >>> sheet = pd.DataFrame({"unit_id": ["m1", "m2"], "Tags": ["Interest, affective", None]})
    >>> decided = read({"ana": sheet}, sense7, code="Tags", separator=", ", finished="rows")
    >>> len(decided), int(decided["applied"].sum())
    (14, 2)
    """
    check_arguments(read, locals())
    check_codebook(codebook)
    how: dict[str, Any] = {
        "delimiter": delimiter,
        "encoding": encoding,
        "header": header,
        "kind": kind,
        "limits": limits,
    }
    files = _files(source, coder, sheet, sheets)
    found = {who: recognise(file, sheet=of, **how) for who, (file, of) in files.items()}
    spec = _spec(found)
    parts = [annotated(one, code).assign(**({_GIVEN: who} if who else {})) for who, one in found.items()]
    table = pd.concat(parts, ignore_index=True)
    marks = {} if code or "code" in spec else _marks(parts, codebook, codes)
    said = {"unit_id": unit_id, "coder": coder, "code": code, "finished": finished, "blank": blank}
    told = _told(said, spec, table, found, marks)
    ids = {"unit_id": told["unit_id"], "coder": told["coder"], "coders": coders}
    coverage = {"finished": told["finished"], "units": units}
    if ANSWER in table:
        rows = rows_of(table[[told["unit_id"], told["coder"]]], coders)
        meant = table[NAMES].map(code_ids(table[NAMES], codebook, codes))
        decided = rows.assign(code=meant, applied=table[ANSWER] == "TRUE")
        return DECISIONS.check(decided[decided["code"].notna()])
    if marks:
        _warn_without(marks, codebook)
        return from_table(table, codes=marks, blank=blank, values=values, **ids, **coverage)
    named = {"code": told["code"], "codes": codes, "separator": separator or spec.get("separator")}
    return from_segments(table, codebook, **named, **ids, **coverage)


def _files(
    source: Any, coder: str | None, sheet: str | None, sheets: Sequence[str] | Mapping[str, str] | None
) -> dict[str, tuple[Any, str | None]]:
    """Return each file and its sheet by coder, or by "" where the file says who coded."""
    if sheets is None and not isinstance(source, Mapping):
        return {"": (source, sheet)}
    if coder is not None or (sheets is not None and (sheet is not None or isinstance(source, Mapping))):
        raise ArgumentError(
            "codings.read: expected to be told once who coded – found it told twice – pass a file for each "
            "coder, a sheet for each, or the column of the coder."
        )
    if isinstance(source, Mapping):
        return {who: (file, sheet) for who, file in source.items()}
    named = sheets if isinstance(sheets, Mapping) else {one: one for one in sheets or ()}
    return {who: (source, one) for who, one in named.items()}


def _spec(found: Mapping[str, Recognised]) -> Mapping[str, str]:
    """Return the paragraph on codings in kinds.toml for these files, which must be of one kind."""
    for one in found.values():
        if one.holds in ("codes", "people"):
            door = "read it with Codebook.read" if one.holds == "codes" else "pass the file of the codings"
            raise ImportRefused(f"{one.name}: expected codings – found {one.what or one.kind} – {door}.")
    kinds = list(dict.fromkeys(one.kind for one in found.values()))
    if len(kinds) != 1:
        raise ImportRefused(
            f"codings.read: expected files of one kind – found {first_three(kinds) or 'no file'} – read each "
            "by itself, and put the decisions together (pandas.concat)."
        )
    spec: Mapping[str, str] = KINDS.get(kinds[0], {}).get("codings", {})
    return spec


def _marks(
    parts: Sequence[pd.DataFrame], codebook: Codebook, codes: Mapping[str, str | None] | None
) -> dict[str, str]:
    """Return by column the code of which it holds marks, because it is named after it."""
    own = {name: codebook[to].id for name, to in (codes or {}).items() if to is not None}
    of_each = [
        codes_named(part.columns, codebook) | {name: to for name, to in own.items() if name in part}
        for part in parts
    ]
    marks = of_each[0]
    if any(others != marks for others in of_each):
        raise TableError(
            "codings.read: expected the same columns of codes from each coder – found others – add those "
            "that are missing, or read each file by itself."
        )
    return marks


def _warn_without(marks: Mapping[str, str], codebook: Codebook) -> None:
    """Warn about codes that have no column: a column of another name would be lost."""
    without = [one.id for one in codebook.codable if one.id not in marks.values()]
    if without:
        warnings.warn(
            f"codings.read: found no column of code {first_three(without)}, which gets no decisions – "
            'codes={"…": …} says which column it is.',
            UserWarning,
            stacklevel=outside(),
        )


def _told(
    said: Mapping[str, Any],
    spec: Mapping[str, str],
    table: pd.DataFrame,
    found: Mapping[str, Recognised],
    marks: Mapping[str, str],
) -> dict[str, Any]:
    """Return the column of each role and what was finished, as the caller says, or else the file."""
    fits = {role: _fitting(spec.get(role, role), table) for role in ("unit_id", "coder")}
    fits["code"] = _fitting(spec.get("code", ""), table)
    if spec.get("lists"):
        names = dict.fromkeys(name for one in found.values() for name in one.labelled)
        lists = [name for name in names if table[name].str.match(r"\s*[\[{]").any()]
        fits["code"] = lists if len(lists) == 1 else []
    told: dict[str, Any] = {role: said[role] or next(iter(names), None) for role, names in fits.items()}
    told |= {"code": NAMES} if NAMES in table else {}
    told["finished"] = spec.get("finished") if said["finished"] is None else said["finished"]
    told["blank"] = said["blank"] or (None if table[[*marks]].isna().any(axis=None) else "absent")
    needed = {"unit_id", "coder", "blank"} if marks else {"unit_id", "coder", "code", "finished"}
    if isinstance(said["code"], Mapping):  # a column of codes for each coder
        told["coder"], needed = None, needed - {"coder"}
    elif _GIVEN in table:
        _refuse_several(table, _GIVEN, fits["coder"], "coder in each file")
        told["coder"] = _GIVEN
    _ask({role: told[role] for role in needed}, next(iter(found.values())))
    if "finished" in spec:
        _refuse_finished(table, told, said)
    _refuse_several(
        table, told["unit_id"], _fitting(spec.get("within", ""), table), "group for each document"
    )
    return told


def _ask(told: Mapping[str, Any], one: Recognised) -> None:
    """Raise an error that asks for all that nobody says; `from_table` asks for blanks, with their counts."""
    missing = [asked for role, asked in _ASKED.items() if role in told and told[role] is None]
    if missing and missing != [_ASKED["blank"]]:
        of = f"{one.what or 'a table'}{f' of {one.program}' if one.program else ''}"
        raise ArgumentError(
            f"codings.read: expected to be told what {one.name} does not say – found {of}, {len(one.table)} "
            f"rows – pass {'; '.join(missing)}."
        )


def _fitting(pattern: str, table: pd.DataFrame) -> list[str]:
    """Return the columns with such a name and any value."""
    return [name for name in table.columns if re.fullmatch(pattern, name) and table[name].notna().any()]


def _refuse_several(table: pd.DataFrame, column: str, within: Sequence[str], what: str) -> None:
    """Refuse to take for one coder or text what the file tells apart in another column."""
    for other in within[:1]:
        pairs = table[[column, other]].dropna().drop_duplicates()
        n_several = pairs.loc[pairs[column].duplicated(), column].nunique()
        if n_several:
            raise TableError(
                f"codings.read: expected one {what} – found several in column {other!r} for {n_several} – "
                'tell them apart in the file, or pass kind="table" and name the columns.'
            )


def _refuse_finished(table: pd.DataFrame, told: Mapping[str, Any], said: Mapping[str, Any]) -> None:
    """Refuse two annotations of a text by one coder, who may be two; and `finished` beside single answers."""
    if ANSWER in table:
        if said["finished"] is not None:
            raise ArgumentError(
                "codings.read: expected no finished for answers of Prodigy – found one – leave it out, as "
                "each answer is a decision on one code."
            )
        return
    twice = table[table.duplicated([told["unit_id"], told["coder"]])]
    if len(twice):
        raise TableError(
            "codings.read: expected one annotation per text and coder – found another one of "
            f"{len(twice)}, such as text {word(twice[told['unit_id']].iloc[0])} – delete all but one; if two "
            "people shared an account, give each a name of their own."
        )


# The codings in files of annotation tools, a row for each annotation


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
    "label studio": _label_studio,
    "labelled texts": _labelled_texts,
    "prodigy": _prodigy,
    "argilla": _argilla,
    "dedoose excerpts": _dedoose,
}
