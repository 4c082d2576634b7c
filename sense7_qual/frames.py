"""The contracts of the frames that the package passes around.

A contract names the columns that a frame must have, the kind of each, and the columns that identify a
row. `Contract.check` returns the frame with its contracted columns typed, or raises `TableError`; the
index of a frame has no meaning. All ids are strings; white space around them is ignored.

==================  ==============================================  =====================================
frame               key                                             other columns
==================  ==============================================  =====================================
`UNITS`             unit_id                                         text, document_id, case_id, position,
                                                                    context (optional), any variables
`CODINGS`           unit_id, coder, code, start, end, round         confidence, found_by, act_id, at,
                                                                    codebook, and one for each facet
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

from collections.abc import Sequence
from typing import Any, Final

import pandas as pd

from sense7_qual._arguments import check_arguments, require_column as require_column
from sense7_qual._coder_names import (
    MODEL_PREFIX as MODEL_PREFIX,
    RESERVED_CODERS as RESERVED_CODERS,
    as_models,
    as_people,
    check_coder_names as check_coder_names,
    check_people as check_people,
    is_model as is_model,
    one_case as one_case,
    people as people,
    without_models as without_models,
)
from sense7_qual._contract import Column, Contract, one_spelling as one_spelling
from sense7_qual._group_labels import check_groups
from sense7_qual._messages import first_three
from sense7_qual.errors import ArgumentError, TableError

__all__ = [
    "CODINGS",
    "COVERAGE",
    "DECISIONS",
    "PLAN",
    "SUGGESTIONS",
    "UNITS",
    "Contract",
    "as_models",
    "as_people",
]


def __dir__() -> list[str]:
    return __all__


_OF_GROUPS: Final = frozenset({"cluster", "groups"})


def labels_by_unit(labels: pd.Series, unit_ids: pd.Index | Sequence[Any], *, name: str) -> pd.Series:
    """Look up one label for each of `unit_ids`, in their order, by the index of `labels`.

    Labels are never matched by position: a Series that does not name units is refused, even if it is as long
    as the units, and so are row numbers, which may look like ids. A unit without a label gets a missing one.

    Parameters
    ----------
    labels : Series
        One label per unit, indexed by unit_id; labels of other units are ignored.
    unit_ids : Index or sequence
        The ids of the units that need a label.
    name : str
        The parameter that `labels` were given as, for the error.

    Raises
    ------
    TableError
        Not a Series, the index has a unit more than once, or it names none of the units.

    Examples
    --------
    >>> rated = pd.DataFrame({"unit_id": ["m1", "m2"], "case_id": ["p1", "p2"]})
    >>> labels = rated.set_index("unit_id")["case_id"]
    >>> labels_by_unit(labels, pd.Index(["m2", "m3"]), name="cluster").tolist()
    ['p2', nan]
    """
    labelled = indexed_by_unit(labels, name=name)
    if name in _OF_GROUPS:
        check_groups(labelled, name=name)
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
    """Look up the column `cluster` of `units` by unit_id; None if both are None.

    Raises
    ------
    ArgumentError
        Only one of the two is given.
    TableError
        `units` has no such column, or has a unit more than once.

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
    if cluster == "unit_id":
        raise ArgumentError(
            "cluster: expected the column of the participant, or of another group of texts – found "
            "'unit_id', of which each text is its own – name another column, or leave out units and cluster."
        )
    for column in ("unit_id", cluster):
        require_column(units, column, frame_name="units")
    labels = indexed_by_unit(units.set_index("unit_id")[cluster], name="cluster")
    check_groups(labels, name=f"cluster {cluster!r}")
    return labels


def indexed_by_unit(labels: pd.Series, *, name: str) -> pd.Series:
    """Return a Series with stripped unit ids and words; blank words become missing.

    Raises
    ------
    TableError
        Not a Series, the index has a unit more than once, or it holds row numbers.
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


_SPAN: Final = {
    "start, end": Column("integer", "the span in code points, half-open; both missing: the whole unit")
}
_ROUND: Final = Column("string", "the round; missing: none")
UNITS: Final = Contract(
    "units",
    ("unit_id",),
    {
        "unit_id": Column("id"),
        "text": Column("string", "in one canonical form, never changed"),
        "document_id": Column("string", "what the unit is a part of, such as a conversation"),
        "case_id": Column("string", "whose it is: the participant"),
        "position": Column("integer", "its place in the document"),
    },
    row="One row per unit (text); further columns: context, and variables such as ratings",
)

CODINGS: Final = Contract(
    "codings",
    ("unit_id", "coder", "code", "start", "end", "round"),
    {
        "unit_id, coder, code": Column("id"),
        **_SPAN,
        "confidence": Column("string", "sure or unsure, where the coder said so"),
        "act_id, at": Column(
            "string", "the act that applied the code, and its time, which stays when its edges are corrected"
        ),
        "codebook": Column("string", "the fingerprint of the codebook in force"),
        "found_by": Column("string", "search, where it was coded as one of the results of a search"),
        "round": _ROUND,
    },
    frozenset({"start", "end", "round"}),
    row="One row per code that a coder applied to a unit or span; further columns: one per facet of the "
    "codebook",
)

COVERAGE: Final = Contract(
    "coverage",
    ("unit_id", "coder", "round"),
    {
        "unit_id, coder": Column("id"),
        "round": _ROUND,
        "finished_at, codebook": Column("string", "when it was last finished, and with which codebook"),
    },
    frozenset({"round"}),
    row="One row per unit that a coder finished; the record adds first_finished_at, without which "
    "finished_at says the order of coding",
)

DECISIONS: Final = Contract(
    "decisions",
    ("unit_id", "coder", "code"),
    {
        "unit_id, coder, code": Column("id"),
        "applied": Column("boolean", "whether the coder applied the code"),
    },
    row="One row per decision of a coder on a code and a unit; what was not decided has no row; further "
    "columns: basis, what the decisions rest on, in words",
)

MEMOS: Final = Contract(
    "memos",
    ("memo_id",),
    {
        "memo_id": Column("id"),
        "target_kind": Column("string", "unit, span, code or study"),
        "target_id": Column("string", "the id of the unit or code"),
        "coder, text, at": Column("string", "who wrote what, and when"),
        **_SPAN,
        "round": Column(
            "string", "for the team, which sees it once this is unblinded; missing: its writer's alone"
        ),
        "answers": Column("string", "the memo_id of the memo that it answers, if any"),
    },
    row="One row per note on a unit, a span, a code or the study",
)

PROPOSALS: Final = Contract(
    "proposals",
    ("proposal_id",),
    {
        "proposal_id": Column("id"),
        "coder, at": Column("string", "who proposed it, and when"),
        "label, definition": Column("string", "of the code"),
        "unit_id": Column("string", "a text that shows it, if any"),
        **_SPAN,
        "round": _ROUND,
        "origin": Column("string", "the model that proposed it; missing if a coder did"),
    },
    row="One row per proposed code",
)

ABSTAINED: Final = Contract(
    "abstained",
    ("unit_id", "coder", "code", "round"),
    {
        "unit_id, coder, code": Column("id"),
        "round": _ROUND,
        "reason": Column("string", "why there is no decision, such as unsure"),
        "codebook": Column("string", "the fingerprint of the codebook in force"),
    },
    frozenset({"round"}),
    row="One row per unit and code on which a model has no decision",
)

PLAN: Final = Contract(
    "plan",
    ("coder", "unit_id", "round"),
    {
        "coder, unit_id": Column("id"),
        "round": _ROUND,
        "place": Column("integer", "the unit's place, from 0, in the order of this coder"),
    },
    frozenset({"round"}),
    row="One row per unit that a coder is to code",
)

SUGGESTIONS: Final = Contract(
    "suggestions",
    ("unit_id", "code"),
    {
        "unit_id, code": Column("id"),
        "probability": Column("probability", "that the code applies, 0–1; missing where there is none"),
        "suggested": Column("boolean", "whether the code is suggested"),
        "start, end": Column("integer", "the words that carry the suggestion, in code points, half-open"),
    },
    row="One row per unit × code: what a model suggests, never a coding",
)

QUOTES: Final = Contract(
    "quotes",
    ("unit_id", "code", "start", "end"),
    {
        "unit_id, code": Column("id"),
        **_SPAN,
        "role": Column("string", "shows or disconfirms"),
        "state": Column(
            "string",
            "chosen, approved, refused, stale (the code changed since) or erased (a withdrawal took the "
            "paraphrase)",
        ),
        "paraphrase": Column(
            "string",
            "printed instead of the words; missing where the words themselves are printed, empty once erased",
        ),
        "coder": Column("id", "who decided so"),
        "at, act_id": Column("string", "when, and the act"),
    },
    frozenset({"start", "end"}),
    row="One row per passage and code with a decision",
)
