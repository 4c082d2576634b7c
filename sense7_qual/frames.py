"""The frames that the package passes around, each contract written once.

A contract names the columns that a frame must have, the kind of each, and the columns that identify a
row. `Contract.check` returns the frame with its contracted columns typed, or raises `TableError`; the
index of a frame never carries meaning. All ids are strings; white space around them does not count.

==================  ==============================================  =====================================
frame               key                                             other columns
==================  ==============================================  =====================================
`UNITS`             unit_id                                         text, document_id, case_id, position,
                                                                    context (optional), any variables
`CODINGS`           unit_id, coder, code, start, end, round         confidence, act_id, at, codebook, and one
                                                                    for each facet of the codebook
`COVERAGE`          unit_id, coder, round                           finished_at, codebook, first_finished_at
                                                                    (optional)
`DECISIONS`         unit_id, coder, code                            applied (bool)
`MEMOS`             memo_id                                         target_kind, target_id, coder, text, at,
                                                                    start, end, round
`PLAN`              coder, unit_id, round                           place
`SUGGESTIONS`       unit_id, code                                   probability, suggested (bool), start, end
`QUOTES`            unit_id, code, start, end                       role, state, paraphrase, coder, at, act_id
==================  ==============================================  =====================================

`start` and `end` count Unicode code points, half-open; both missing means the whole unit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, Literal

import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._coder_names import (
    MODEL_PREFIX,
    RESERVED_CODERS,
    as_models,
    as_people,
    check_coder_names,
    is_model,
    people,
    without_models,
)
from sense7_qual._comparable import one_case, refuse_applied_only, refuse_other_case
from sense7_qual._messages import did_you_mean, first_three
from sense7_qual.errors import ArgumentError, TableError

__all__ = [
    "CODINGS", "COVERAGE", "DECISIONS", "MEMOS", "MODEL_PREFIX", "PLAN", "PROPOSALS", "QUOTES",
    "RESERVED_CODERS", "SUGGESTIONS", "UNITS", "Contract", "as_models", "as_people", "check_coder_names",
    "check_people", "clusters_by_unit", "indexed_by_unit", "is_model", "labels_by_unit", "one_case",
    "one_spelling", "people", "require_column", "without_blanks", "without_models",
]  # fmt: skip

Kind = Literal["id", "string", "integer", "number", "probability", "boolean"]

_DTYPES: Final[Mapping[Kind, Any]] = {
    "id": "string",
    "string": "string",
    "integer": "Int64",
    "number": "Float64",
    "probability": "Float64",
    "boolean": "bool",
}


@cache
def _empty(columns: tuple[tuple[str, Kind], ...]) -> pd.DataFrame:
    # Made once: typed columns take pandas milliseconds, and every fold needs three frames of them.
    return pd.DataFrame({name: pd.Series(dtype=_DTYPES[kind]) for name, kind in columns})


@dataclass(frozen=True, slots=True)
class Contract:
    """What a frame must be: its name, its columns with their kinds, and the key of a row."""

    name: str
    key: tuple[str, ...]
    columns: Mapping[str, Kind]
    missing_in_key: frozenset[str] = field(default_factory=frozenset)

    def empty(self) -> pd.DataFrame:
        """Return a frame of no rows with every contracted column in its type."""
        return _empty(tuple(self.columns.items())).copy()

    def check(self, frame: pd.DataFrame, *, as_written: bool = False) -> pd.DataFrame:
        """Return a copy of `frame` whose contracted columns are present, typed and unique by key.

        Further columns are kept as they are; the index is replaced by 0 … n − 1. White space around ids is
        taken away: "ana " and "ana" are one coder. With `as_written`, for what the record and imports hold,
        ids stay as they are, and one id in two such spellings is refused.

        Raises
        ------
        TableError
            A column is missing or stands twice, an id is missing or empty, a key stands twice, or a value
            is not of its kind; coders differ in upper and lower case alone, or a person has the name of
            computed decisions; decisions of a coder lack what was absent (`check_people`). The message names
            rows (from 0), never a value.
        """
        check_arguments(Contract.check, locals(), but=("frame",))
        if not isinstance(frame, pd.DataFrame):
            raise TableError(
                f"{self.name}: expected a pandas DataFrame – found {type(frame).__name__} – "
                f"pass the frame with columns {', '.join(self.columns)}."
            )
        twice = first_three(frame.columns[frame.columns.duplicated()].unique())
        if twice:
            raise TableError(
                f"{self.name}: expected every column once – found twice: {twice} – rename or drop one."
            )
        for name in self.columns:
            require_column(frame, name, frame_name=self.name)
        typed = {name: self._typed(frame[name], kind) for name, kind in self.columns.items()}
        for name in (name for name, kind in self.columns.items() if kind == "id"):
            if as_written:
                one_spelling(typed[name], name=name, frame_name=self.name)
            else:
                typed[name] = typed[name].str.strip()
        is_input = not as_written and self.columns.get("coder") == "id"
        if is_input and "applied" not in self.columns:
            check_coder_names(typed["coder"].dropna().unique(), frame_name=self.name)
        checked = frame.assign(**typed).reset_index(drop=True)
        self._check_key(checked)
        if is_input and "applied" in self.columns:
            check_people(checked)
        return checked

    def _typed(self, column: pd.Series, kind: Kind) -> pd.Series:
        if kind == "boolean":
            return self._boolean(column)
        try:
            typed = column.astype(_DTYPES[kind])
        except (TypeError, ValueError, OverflowError):
            # `from None`, and rows in place of values: a wrong column may hold participants' words.
            bad = [row for row, value in enumerate(column) if not _fits(value, kind)]
            problem = (
                f"others in {len(bad)} rows (first: row {first_three(bad)})" if bad else "a mixture of types"
            )
            what = "number" if kind == "probability" else kind
            raise TableError(
                f"{self.name}: expected {what} values in column {column.name!r} – found {problem} – correct "
                "them, or choose another column."
            ) from None
        if kind == "probability" and len(outside := typed[(typed < 0) | (typed > 1)]):
            raise TableError(
                f"{self.name}: expected probabilities from 0 to 1 in column {column.name!r} – found "
                f"{len(outside)} others, from {outside.min():g} to {outside.max():g} – divide per cent by "
                "100; leave out a score that is no probability."
            )
        return typed

    def _boolean(self, column: pd.Series) -> pd.Series:
        if column.dtype == bool:
            return column
        bad = [row for row, fits in enumerate(column.isin([True, False])) if not fits]
        if bad:
            raise TableError(
                f"{self.name}: expected True or False in column {column.name!r} – found others in "
                f"{len(bad)} rows (first: row {first_three(bad)}) – a unit that was not decided on has no "
                "row at all; drop those rows."
            )
        return column.astype(bool)

    def _check_key(self, frame: pd.DataFrame) -> None:
        for name in self.key:
            if name in self.missing_in_key:
                continue
            missing = (frame[name].isna() | (frame[name] == "")).to_numpy(dtype=bool)
            if missing.any():
                raise TableError(
                    f"{self.name}: expected {name!r} in every row – found it missing in {int(missing.sum())} "
                    f"rows (first: row {first_three(frame.index[missing])}) – fill it in or drop the rows."
                )
        twice = frame.duplicated(list(self.key), keep=False)
        if twice.any():
            rows = frame.loc[twice, list(self.key)].drop_duplicates()
            named = [" / ".join(str(value) for value in row) for row in rows.itertuples(index=False)]
            raise TableError(
                f"{self.name}: expected one row per {', '.join(self.key)} – found some more than once: "
                f"{first_three(named)} – keep one of each."
            )


def require_column(frame: pd.DataFrame, column: str, *, frame_name: str) -> None:
    """Raise `TableError`, with the nearest column's name, where `frame` has no such column."""
    check_arguments(require_column, locals())
    if column not in frame.columns:
        # Where a file had no header, its first row of texts became the names: long ones are not shown.
        names = [str(name) for name in frame.columns if len(str(name)) <= 60]
        raise TableError(
            f"{frame_name}: expected a column {column!r} – found {first_three(names) or 'no column names'} – "
            f"{did_you_mean(column, names)}"
        )


def one_spelling(ids: pd.Series, *, name: str, frame_name: str) -> None:
    """Raise `TableError` where an id stands there with and without white space around it."""
    check_arguments(one_spelling, locals())
    if (ids.str.strip() == ids).all():  # of 100,000 ids this takes a tenth of the time
        return
    known = pd.Index(ids.dropna().unique()).astype("string")
    bare = known.str.strip()
    alike = known[bare.duplicated(keep=False)]
    if len(alike):
        raise TableError(
            f"{frame_name}: expected one spelling of each {name} – found the same one with and without white "
            f"space around it: {first_three(alike)} – make them one, or they would count as two."
        )


def check_people(decisions: pd.DataFrame) -> pd.DataFrame:
    """Return checked decisions without computed ones, or raise `TableError` if people's cannot be compared.

    Coders' names and codes have to differ in more than upper and lower case, and so do the ids of units, but
    for two that one coder decided on. Among several coders, the decisions of each have to hold what is
    absent, which exports of applied codes, and sheets of ones and blanks, do not. A coder is refused whose
    decisions are all "applied", who did not decide on all that others did, and of whom

    - a text lacks a code that another coder decided on there, or
    - three or more applied in a row are no coincidence: nobody has an absent decision, or, with the share of
      "applied" among the coders who have some, fewer than 0.2 coders would be expected to come out so.
    """
    check_arguments(check_people, locals())
    for name in DECISIONS.columns:
        require_column(decisions, name, frame_name="decisions")
    check_coder_names(decisions["coder"].unique(), frame_name="decisions")
    compared = people(decisions)
    one_case(compared["code"].unique(), name="code", frame_name="decisions")
    refuse_other_case(compared, frame_name="decisions")
    refuse_applied_only(compared, frame_name="decisions")
    return people(decisions, with_models=True)


def labels_by_unit(labels: pd.Series, unit_ids: pd.Index | Sequence[Any], *, name: str) -> pd.Series:
    """Return one label for each of `unit_ids`, in their order, found by the index of `labels` alone.

    Labels are never matched by position: a Series that does not name units is refused, also where it happens
    to be as long as the units, and so are row numbers, which may look like ids. A unit without a label has a
    missing one.

    Parameters
    ----------
    labels : Series
        One label per unit, indexed by unit_id; labels of other units are passed over.
    unit_ids : Index or sequence
        The ids of the units that need a label.
    name : str
        The parameter that `labels` were given as, for the error.

    Raises
    ------
    TableError
        Not a Series, a unit stands in its index more than once, or its index names none of the units.

    Examples
    --------
    >>> rated = pd.DataFrame({"unit_id": ["m1", "m2"], "case_id": ["p1", "p2"]})
    >>> labels = rated.set_index("unit_id")["case_id"]
    >>> labels_by_unit(labels, pd.Index(["m2", "m3"]), name="cluster").tolist()
    ['p2', nan]
    """
    labelled = indexed_by_unit(labels, name=name)
    check_arguments(labels_by_unit, locals())
    ids = pd.Index(unit_ids).astype("string")
    if len(ids) and not labelled.index.isin(ids.str.strip()).any():
        raise TableError(
            f"{name}: expected labels indexed by unit_id, such as {ids[0]!r} – found an index that "
            f"names none of the {len(ids)} units – pass units.set_index('unit_id')[…] with the "
            "column's name; labels are not matched by position."
        )
    return labelled.reindex(ids.str.strip()).set_axis(ids)


def clusters_by_unit(units: pd.DataFrame | None, cluster: str | None) -> pd.Series | None:
    """Return the column `cluster` of `units`, by unit_id; None where there is neither.

    Raises
    ------
    ArgumentError
        One of the two is given without the other.
    TableError
        `units` has no such column, or a unit stands there more than once.

    Examples
    --------
    >>> clusters_by_unit(pd.DataFrame({"unit_id": ["m1"], "case_id": ["p1"]}), "case_id").to_dict()
    {'m1': 'p1'}
    """
    check_arguments(clusters_by_unit, locals())
    if units is None and cluster is None:
        return None
    if units is None or cluster is None:
        raise ArgumentError(
            "cluster: expected units and the name of their column, such as 'case_id' – found "
            f"{'units' if cluster is None else 'the name'} alone – pass both, or neither."
        )
    for column in ("unit_id", cluster):
        require_column(units, column, frame_name="units")
    return indexed_by_unit(units.set_index("unit_id")[cluster], name="cluster")


def indexed_by_unit(labels: pd.Series, *, name: str) -> pd.Series:
    """Return a Series by its unit ids, white space around ids and words taken away, blank words missing.

    Raises
    ------
    TableError
        Not a Series, a unit stands in its index more than once, or its index holds row numbers.
    """
    if not isinstance(labels, pd.Series):
        raise TableError(
            f"{name}: expected a Series of labels indexed by unit_id – found {type(labels).__name__} – pass "
            "units.set_index('unit_id')[…] with the column's name."
        )
    check_arguments(indexed_by_unit, locals())
    if len(labels) and pd.api.types.is_integer_dtype(labels.index.dtype) and labels.index.name != "unit_id":
        raise TableError(
            f"{name}: expected labels indexed by unit_id – found row numbers – pass "
            "units.set_index('unit_id')[…] with the column's name; labels are not matched by position."
        )
    labelled = labels.set_axis(labels.index.astype("string").str.strip())
    twice = labelled.index[labelled.index.duplicated()].unique()
    if len(twice):
        raise TableError(
            f"{name}: expected one label per unit_id – found several for {first_three(twice)} – keep one of "
            "each."
        )
    return without_blanks(labelled)


def without_blanks(labels: pd.Series) -> pd.Series:
    """Return labels without white space around words, and missing where nothing else is left."""
    check_arguments(without_blanks, locals())
    if labels.dtype == object:
        return labels.map(lambda one: (one.strip() or None) if isinstance(one, str) else one)
    if isinstance(labels.dtype, pd.StringDtype):
        stripped = labels.str.strip()
        return stripped.mask(stripped == "")
    return labels


def _fits(value: object, kind: Kind) -> bool:
    try:
        pd.array([value], dtype=_DTYPES[kind])
    except (TypeError, ValueError, OverflowError):
        return False
    return True


UNITS: Final = Contract(
    name="units",
    key=("unit_id",),
    columns={
        "unit_id": "id",
        "text": "string",
        "document_id": "string",
        "case_id": "string",
        "position": "integer",
    },
)

CODINGS: Final = Contract(
    name="codings",
    key=("unit_id", "coder", "code", "start", "end", "round"),
    columns={
        "unit_id": "id",
        "coder": "id",
        "code": "id",
        "start": "integer",
        "end": "integer",
        "confidence": "string",
        "act_id": "string",
        "at": "string",
        "codebook": "string",
        "round": "string",
    },
    missing_in_key=frozenset({"start", "end", "round"}),
)

COVERAGE: Final = Contract(
    name="coverage",
    key=("unit_id", "coder", "round"),
    columns={
        "unit_id": "id",
        "coder": "id",
        "round": "string",
        "finished_at": "string",
        "codebook": "string",
    },
    missing_in_key=frozenset({"round"}),
)
"""Who finished which unit: `finished_at` and `codebook` are those of the last time. The record adds
`first_finished_at`; without it `codings.finish_order` takes `finished_at`."""

DECISIONS: Final = Contract(
    name="decisions",
    key=("unit_id", "coder", "code"),
    columns={"unit_id": "id", "coder": "id", "code": "id", "applied": "boolean"},
)

MEMOS: Final = Contract(
    name="memos",
    key=("memo_id",),
    columns={
        "memo_id": "id",
        "target_kind": "string",
        "target_id": "string",
        "coder": "string",
        "text": "string",
        "at": "string",
        "start": "integer",
        "end": "integer",
        "round": "string",
    },
)
"""What was noted on a unit, a span (`start`, `end`), a code or the study: `target_kind`, and the id of the
unit or code as `target_id`. With a `round` it is for the team, which sees it once that is unblinded; without
one it is its writer's alone."""

PROPOSALS: Final = Contract(
    name="proposals",
    key=("proposal_id",),
    columns={
        "proposal_id": "id",
        "coder": "string",
        "at": "string",
        "label": "string",
        "definition": "string",
        "unit_id": "string",
        "start": "integer",
        "end": "integer",
        "round": "string",
        "origin": "string",
    },
)
"""The codes that were proposed, each with the text that shows it (`start`, `end`: the span, if one).
`origin` names the model that proposes it; missing where a coder does."""

PLAN: Final = Contract(
    name="plan",
    key=("coder", "unit_id", "round"),
    columns={"coder": "id", "unit_id": "id", "round": "string", "place": "integer"},
    missing_in_key=frozenset({"round"}),
)
"""Who codes what: `place` is the unit's place, from 0, in the order of this coder."""

SUGGESTIONS: Final = Contract(
    name="suggestions",
    key=("unit_id", "code"),
    columns={
        "unit_id": "id",
        "code": "id",
        "probability": "probability",
        "suggested": "boolean",
        "start": "integer",
        "end": "integer",
    },
)
"""What a model suggests, never a coding: `probability` from 0 to 1, missing where there is none; `start` and
`end` are the words that carry a suggestion."""

QUOTES: Final = Contract(
    name="quotes",
    key=("unit_id", "code", "start", "end"),
    columns={
        "unit_id": "id",
        "code": "id",
        "start": "integer",
        "end": "integer",
        "role": "string",
        "state": "string",
        "paraphrase": "string",
        "coder": "id",
        "at": "string",
        "act_id": "string",
    },
    missing_in_key=frozenset({"start", "end"}),
)
"""What is decided about quotes: `state` chosen, approved, refused, stale (the code changed since) or erased
(a withdrawal took the paraphrase); `role` shows or disconfirms; `paraphrase` stands in place of the words,
missing where these are printed themselves and empty once it is erased; `coder` and `at` say who decided so,
and when."""
