"""Tables of codings: which codes occur together, and in which condition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

import pandas as pd

from sense7_qual import _present, codings
from sense7_qual._arguments import check_arguments, check_least
from sense7_qual._basis import line_of, to_be_reviewed, waiting_in
from sense7_qual._messages import did_you_mean, first_three
from sense7_qual.codebook import Codebook
from sense7_qual.errors import TableError
from sense7_qual.frames import DECISIONS, check_people, labels_by_unit, people, require_column
from sense7_qual.links import CO_OCCURRENCE
from sense7_qual.report._table import (
    Table,
    basis_notes,
    check_numbers,
    left_then_right,
    made_with,
    reason_notes,
)

_Row = Mapping[str, Any]
_IN_A_MATRIX: Final = 14
_PAIRS: Final = 35


def co_occurrence(
    pairs: pd.DataFrame,
    *,
    form: Literal["matrix", "pairs"] | None = None,
    most: int | None = None,
    codebook: Codebook | None = None,
    digits: int = 2,
    with_phi: bool = True,
    notes: Sequence[str] = (),
) -> Table:
    """Tabulate the co-occurrence of codes, as a matrix or with one row per pair.

    Parameters
    ----------
    pairs : DataFrame
        The result of `links.co_occurrence`, of one source.
    form : {"matrix", "pairs"}, optional
        A row and a column for each code, numbered: below the diagonal texts with both codes, above it φ, on
        it texts with the code. Or a row per pair, those on most texts first: texts that were decided on,
        texts with each code and with both, φ and the lift. By default a matrix of up to 14 codes, which is
        what a page holds, and of more the 35 pairs on most texts.
    most : int, optional
        How many pairs are listed at most, in the form of pairs.
    codebook : Codebook, optional
        Gives the labels and the order of the codes.
    digits : int
        Decimals of φ and of the lift (1–6).
    with_phi : bool
        Whether φ and the lift are printed; without them the table has counts alone.
    notes : sequence of str
        Further lines for the foot.

    Raises
    ------
    TableError
        A column is missing, there are several sources, or, in a matrix, a pair of codes is missing or twice.
    CodebookError
        A code is not in the codebook.
    ArgumentError
        `digits` or `most` is out of range.

    Examples
    --------
    >>> from sense7_qual import links
    >>> applied = {"interest": [True, True, False, False], "prosocial": [True, False, False, False]}
    >>> decisions = pd.concat([pd.DataFrame({"unit_id": list("abcd"), "coder": "ana", "code": code,
    ...                                      "applied": values}) for code, values in applied.items()])
    >>> co_occurrence(links.co_occurrence(decisions, source="ana")).rows
    (('1 interest', '2', '.58'), ('2 prosocial', '1', '1'))
    """
    check_arguments(co_occurrence, locals())
    if most is not None:
        check_least(co_occurrence, 1, most=most)
    check_numbers(pairs, CO_OCCURRENCE)
    sources = sorted(set(pairs["source"].astype("string")))
    if len(sources) > 1:
        raise TableError(
            f"pairs: expected pairs of one source – found {len(sources)} – pass one result of "
            "links.co_occurrence."
        )
    codes = _codes(pairs, codebook)
    rows = [
        {str(k): v for k, v in row.items()}
        | {"label": f"{codes[str(row['code'])]} – {codes[str(row['other'])]}"}
        for row in pairs.to_dict("records")
    ]
    if form is None and len(codes) > _IN_A_MATRIX:
        form, most = "pairs", _PAIRS if most is None else most
    write, n_left = (_listed, 2) if form == "pairs" else (_matrix, 1)
    headers, cells, explained = write(rows, codes, digits if with_phi else None)
    if form == "pairs" and most is not None and len(cells) > most:
        left = _present.count(len(cells) - most)
        cells, explained = cells[:most], f"{explained} {left} further pairs, on fewer texts, are left out."
    return Table(
        title=f"Co-occurrence of codes{f' ({sources[0]})' if sources else ''}",
        headers=headers,
        rows=cells,
        notes=(
            *basis_notes(pairs),
            *_terms(rows, explained, with_phi=with_phi),
            *(reason_notes(rows, ("phi", "lift") if form == "pairs" else ("phi",)) if with_phi else ()),
            *notes,
            made_with(codebook, [{"code": code} for code in codes]),
        ),
        alignments=left_then_right(n_left, len(headers) - n_left),
    )


def _terms(rows: Sequence[_Row], explained: str, *, with_phi: bool) -> Iterator[str]:
    """Yield the notes that explain the cells and the number of texts."""
    if not with_phi:
        yield explained
        return
    yield (
        f"{explained} φ = correlation of the two codes, −1 to 1. Unit of analysis: the text, where both "
        f"codes were decided on (number: {_present.count_range(row['n'] for row in rows)}). Texts of one "
        "participant are not independent: these are descriptions, without intervals."
    )


def _codes(pairs: pd.DataFrame, codebook: Codebook | None) -> dict[str, str]:
    """Return the codes with their labels, in the codebook's order."""
    ids = dict.fromkeys(str(code) for row in zip(pairs["code"], pairs["other"], strict=True) for code in row)
    frame = pd.DataFrame({"code": list(ids)}, dtype="string")
    rows = _present.rows(frame, frame_name="pairs", codebook=codebook)
    return {str(row["code"]): str(row["label"]) for row in rows}


def _matrix(
    rows: Sequence[_Row], codes: Mapping[str, str], digits: int | None
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...], str]:
    of_pair = {frozenset((str(row["code"]), str(row["other"]))): row for row in rows}
    expected = len(codes) * (len(codes) - 1) // 2
    if not len(rows) == len(of_pair) == expected:
        raise TableError(
            f"pairs: expected {expected} pairs of {len(codes)} codes, each once – found {len(rows)} rows of "
            f"{len(of_pair)} pairs – pass a whole result of links.co_occurrence, or form='pairs'."
        )
    texts: dict[str, list[int]] = {code: [] for code in codes}
    for row in rows:
        texts[str(row["code"])].append(int(row["n_code"]))
        texts[str(row["other"])].append(int(row["n_other"]))

    def cell(a: str, b: str, i: int, j: int) -> str:
        if i == j:
            return _present.count_range(texts[a])
        pair = of_pair[frozenset((a, b))]
        if i > j:
            return _present.count(pair["n_both"])
        return "" if digits is None else _present.coefficient(pair["phi"], digits)

    cells = tuple(
        (f"{i + 1} {label}", *(cell(a, b, i, j) for j, b in enumerate(codes)))
        for i, (a, label) in enumerate(codes.items())
    )
    explained = "Below the diagonal: texts with both codes; on it: texts with the code"
    explained += "." if digits is None else "; above it: φ."
    if any(len(set(counts)) > 1 for counts in texts.values()):
        explained += " A range on the diagonal: with some other codes, fewer texts were decided on."
    return ("Code", *(str(place + 1) for place in range(len(codes)))), cells, explained


def _listed(
    rows: Sequence[_Row], codes: Mapping[str, str], digits: int | None
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...], str]:
    in_order = sorted(rows, key=lambda row: -int(row["n_both"]))
    cells = tuple(
        (
            codes[str(row["code"])],
            codes[str(row["other"])],
            *(_present.count(row[name]) for name in ("n", "n_code", "n_other", "n_both")),
            *(
                ()
                if digits is None
                else (_present.coefficient(row["phi"], digits), _present.number(row["lift"], digits))
            ),
        )
        for row in in_order
    )
    headers = ("Code", "Other code", "n", "With code", "With other", "With both")
    if digits is None:
        return headers, cells, "n = texts."
    return (
        (*headers, "φ", "Lift"),
        cells,
        "n = texts; lift = texts with both over those expected by chance (1 = as by chance).",
    )


_MOST: Final = 12  # conditions, a column each
_EVERY: Final = "All texts"
POOLED: Final = "pooled"


def condition(
    decisions: pd.DataFrame,
    units: pd.DataFrame,
    *,
    condition: str | None = None,
    source: str,
    cluster: str | None = None,
    codebook: Codebook | None = None,
    notes: Sequence[str] = (),
) -> Table:
    """Tabulate the texts and participants with each code, by condition if there is one.

    One row per code and one column per condition, or one for all texts: texts with the code, of those that
    were decided on, and the percentage; with `cluster`, below it, participants with such a text, of those
    with a text. These are counts, without a test: `links.joint` compares conditions.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool).
    units : DataFrame
        One row per unit, with unit_id and the columns `condition` and `cluster`.
    condition : str, optional
        The column with the condition, of at most 12 values. Units without one are left out. By default all
        texts are counted together.
    source : str
        Whose decisions are counted: a coder, "consensus" (where it is among the decisions), "majority"
        (ties are left out), or "pooled": the mean over the coders of each text, without participants.
    cluster : str, optional
        The column with the participant, such as "case_id".
    codebook : Codebook, optional
        Gives the labels and the order of the codes.
    notes : sequence of str
        Further lines for the foot.

    Raises
    ------
    TableError
        A frame or a column is not what it should be, there is no such source, or there are no conditions or
        too many.
    CodebookError
        A code is not in the codebook.

    Examples
    --------
    >>> units = pd.DataFrame({"unit_id": list("abcd"), "system": ["x", "x", "y", "y"]})
    >>> decisions = pd.DataFrame({"unit_id": list("abcd"), "coder": "ana", "code": "interest",
    ...                           "applied": [True, False, True, True]})
    >>> table = condition(decisions, units, condition="system", source="ana")
    >>> table.headers, table.rows
    (('Code', 'x', 'y'), (('interest', '1 / 2 (50.0)', '2 / 2 (100.0)'),))
    """
    check_arguments(globals()["condition"], locals())  # a parameter has its name
    checked = DECISIONS.check(decisions, as_written=True)
    check_people(checked)
    of_whom = _of_source(checked, source)
    cluster = None if source == POOLED else cluster
    decided = _labelled(_of_each_text(of_whom, source), units, condition, cluster)
    without = decided[decided["condition"].isna()]["unit_id"].nunique()
    conditions = (
        [_EVERY] if condition is None else _conditions(units[condition], decided["condition"].dropna())
    )
    waiting = [one.code for one in waiting_in(of_whom)]
    frame = pd.DataFrame({"code": [*decided["code"].unique(), *waiting]}, dtype="string")
    rows = _present.rows(frame, frame_name="decisions", codebook=codebook)
    line = line_of(of_whom)
    of_cell = dict(iter(decided.groupby(["code", decided["condition"].astype("string")])))
    return Table(
        title=f"Codes by {condition}" if condition else "How often each code was applied",
        headers=("Code", *conditions),
        rows=tuple(
            (row["label"], to_be_reviewed(line, row["code"]), *[""] * (len(conditions) - 1))
            if row["code"] in waiting
            else (row["label"], *(_cell(of_cell.get((row["code"], one)), cluster) for one in conditions))
            for row in rows
        ),
        notes=(
            f"Basis: {line}",
            *_notes(source, cluster, without, decided),
            *notes,
            made_with(codebook, rows),
        ),
        alignments=left_then_right(1, len(conditions)),
    )


def _of_source(decisions: pd.DataFrame, source: str) -> pd.DataFrame:
    known = sorted(str(name) for name in decisions["coder"].unique())
    if source == POOLED:
        return people(decisions)
    if source == "majority" and source not in known:
        return codings.majority(decisions)
    if not known:
        return decisions  # whoever decided: all of it waits, or is not settled
    if source not in known:
        raise TableError(
            "decisions: expected a source of decisions – found none of that name – "
            f"{did_you_mean(source, [*known, 'majority'])}"
        )
    return decisions[decisions["coder"] == source]


def _of_each_text(decided: pd.DataFrame, source: str) -> pd.DataFrame:
    """Return one row per text and code: of coders' own decisions the share that applied it."""
    if source != POOLED:
        return decided
    by_text = decided.groupby(["unit_id", "code"], observed=True, sort=False)
    return by_text["applied"].mean().reset_index()


def _labelled(
    decided: pd.DataFrame, units: pd.DataFrame, condition: str | None, cluster: str | None
) -> pd.DataFrame:
    """Return the decisions with the condition and the participant of their units."""
    for name in ("unit_id", condition, cluster):
        if name is not None:
            require_column(units, name, frame_name="units")
    by_unit = units.set_index("unit_id")
    ids = pd.Index(decided["unit_id"])
    unknown = ids.difference(by_unit.index)
    if len(unknown):
        raise TableError(
            f"decisions: expected units of the frame `units` – found others: {first_three(unknown)} – pass "
            "the units that the decisions are about."
        )
    return decided.assign(
        condition=_EVERY
        if condition is None
        else labels_by_unit(by_unit[condition], ids, name="condition").to_numpy(),
        cluster=None if cluster is None else labels_by_unit(by_unit[cluster], ids, name="cluster").to_numpy(),
    )


def _conditions(column: pd.Series, used: pd.Series) -> list[str]:
    """Return the conditions in the order of the categories, or of the numbers or letters."""
    present = set(used.astype("string"))
    ordered = list(column.dtype.categories) if isinstance(column.dtype, pd.CategoricalDtype) else []
    values = ordered or sorted(column.dropna().unique(), key=lambda one: (str(type(one)), one))
    names = [name for name in dict.fromkeys(pd.Series(values).astype("string")) if name in present]
    if not 1 <= len(names) <= _MOST:
        raise TableError(
            f"units: expected 1 to {_MOST} conditions in the column – found {len(names)} – name the column "
            "of the condition, or put its values together."
        )
    return names


def _cell(decided: pd.DataFrame | None, cluster: str | None) -> str:
    if decided is None or not len(decided):
        return _present.MISSING
    share = _present.percent(decided["applied"].mean())
    if decided["applied"].dtype.kind == "f":
        return f"{share}% of {_present.count(len(decided))}"
    having = decided[decided["applied"].astype(bool)]
    line = f"{_present.count(len(having))} / {_present.count(len(decided))} ({share})"
    if cluster is None:
        return line
    people = [_present.count(some["cluster"].dropna().nunique()) for some in (having, decided)]
    return f"{line}\n{' / '.join(people)}"


def _notes(source: str, cluster: str | None, without: int, decided: pd.DataFrame) -> list[str]:
    if source == POOLED:
        told = ["Mean share of a text’s coders who applied the code, of the texts that were decided on."]
    else:
        told = [
            f"Texts with the code / texts decided on, by {source} (percentage)."
            + (" Below: participants with such a text / participants." if cluster else "")
        ]
    if source == "majority":
        told.append("Texts on which coders were tied about a code are left out of its row.")
    if without:
        told.append(f"Texts without a condition, which are left out: {_present.count(without)}.")
    if decided.groupby(["code", decided["condition"].astype("string")]).ngroups < (
        decided["code"].nunique() * decided["condition"].nunique()
    ):
        told.append(f"{_present.MISSING} = no text of the condition was decided on.")
    return [*told, "Counts, not a test: texts of one participant are not independent."]
