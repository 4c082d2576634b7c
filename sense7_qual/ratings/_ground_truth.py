"""The true rating of each conversation, from the ratings of its turns."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence

import numpy as np
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._messages import first_three
from sense7_qual._rating_values import SENSE7_DIMENSIONS, sense7_levels
from sense7_qual._reasons import Reason
from sense7_qual.errors import TableError
from sense7_qual.frames import require_column

USER, ASSISTANT = "user", "assistant"
_SKIPPED = "error"
_IN_THE_WORKBOOK = {"document_id": "TaskId", "position": "MessageId"}


def ground_truth(
    messages: pd.DataFrame,
    *,
    document_id: str | None = None,
    case_id: str = "case_id",
    role: str = "Role",
    position: str | None = None,
    dimensions: Sequence[str] = SENSE7_DIMENSIONS,
) -> pd.DataFrame:
    """Return one rating per conversation: the mean over its rated turns of each turn's mean.

    Parameters
    ----------
    messages : DataFrame
        One row per turn, in any order: **every** rated turn of the assistant, with or without a comment, such
        as the sheet Messages of the SENSE-7 workbook, as pandas reads it. `corpus.read_sense7` gives only the
        turns with a comment: the truth is then the mean over those, with a warning if others are known to be
        missing.
    document_id : str, optional
        The column of the conversation; by default document_id, or TaskId where there is none.
    case_id : str
        The column of the participant, passed through if the frame has it.
    role : str
        The column of the speaker: user, assistant or error (left out). Only ratings of the assistant's turns
        are used.
    position : str, optional
        The column that numbers the messages of a conversation, each once. By default position, or MessageId,
        if the frame has one. A repeated message (after a join with codings, or if files were put together) is
        refused, because it would count twice; so is a repeated unit_id, if there is that column. A frame with
        neither is assumed to have each message once.
    dimensions : sequence of str
        The columns of ratings: 1 to 5, or very poor, poor, neutral, good, very good in any case; blank and
        "unknown" are missing. `EmpathyOverall` is not one of them.

    Returns
    -------
    DataFrame
        One row per conversation, in order of appearance:

        - document_id, case_id (missing where the frame has none)
        - truth: 1 to 5, unrounded. Each rated turn counts once, however many dimensions it has
        - n_turns: turns of the assistant; n_turns_rated: those with at least one dimension
        - n_ratings: ratings given on them; n_missing: those not given (turns rated × dimensions − n_ratings)
        - n_<dimension>: turns on which that dimension was rated, one column each
        - reason: missing, or `no_rated_turn` (truth is NaN)

    Raises
    ------
    TableError
        A column is missing, a rating is not one of the levels, a role is unknown, a message is repeated, or a
        conversation has more than one participant.

    Warns
    -----
    UserWarning
        The column `context` shows more turns of the assistant than the frame has rows.

    References
    ----------
    Suh et al. (2025), SENSE-7, arXiv:2509.16437, and the code published with it.

    Examples
    --------
    Two turns count equally, though one has two ratings and the other one: ((4 + 5) / 2 + 2) / 2 = 3.25.

    >>> messages = pd.DataFrame({"document_id": "t1", "Role": ["user", "assistant", "assistant"],
    ...     "Affective": [None, 4, "poor"], "Relational": [None, "Very good", "unknown"]})
    >>> truth = ground_truth(messages, dimensions=["Affective", "Relational"])
    >>> truth[["truth", "n_turns", "n_turns_rated", "n_ratings", "n_missing"]].iloc[0].tolist()
    [3.25, 2.0, 2.0, 3.0, 1.0]
    """
    check_arguments(ground_truth, locals())
    if not len(dimensions):
        raise TableError("ground_truth: expected a list of columns of ratings – found none – name them.")
    document_id = column_of(messages, document_id, "document_id")
    turns = turns_by_document(
        messages, document_id=document_id, role=role, position=_known(messages, position)
    )
    for name in dimensions:
        require_column(turns, name, frame_name="messages")
    _warn_of_absent(turns)
    by_turn = _by_turn(turns, dimensions)
    how = {name: "mean" if name == "truth" else "sum" for name in by_turn.columns[1:]}
    by_document = by_turn.groupby("document_id", sort=False).agg(how).reset_index()
    by_document.insert(1, "case_id", by_document["document_id"].map(_cases(turns, case_id)).astype("string"))
    missing = by_document["n_turns_rated"] * len(dimensions) - by_document["n_ratings"]
    by_document.insert(list(by_document).index("n_ratings") + 1, "n_missing", missing)
    reason = pd.Series(pd.NA, index=by_document.index, dtype="string").mask(
        by_document["truth"].isna(), Reason.NO_RATED_TURN
    )
    return by_document.assign(reason=reason)


def _known(messages: pd.DataFrame, position: str | None) -> str | None:
    """Return the column of positions: as given, or the usual one where it holds any."""
    column = column_of(messages, position, "position")
    blank = isinstance(messages, pd.DataFrame) and (column not in messages or messages[column].isna().all())
    return None if position is None and blank else column


def _by_turn(turns: pd.DataFrame, dimensions: Sequence[str]) -> pd.DataFrame:
    """Return the mean of each turn's ratings and its counts; a turn that is not the assistant's has none."""
    own = turns["role"] == ASSISTANT
    ratings = pd.DataFrame({name: sense7_levels(turns[name]).where(own) for name in dimensions})
    is_rated = ratings.notna()
    return pd.DataFrame(
        {
            "document_id": turns["document_id"],
            "truth": ratings.mean(axis=1),
            "n_turns": own.astype("int64"),
            "n_turns_rated": is_rated.any(axis=1).astype("int64"),
            "n_ratings": is_rated.sum(axis=1).astype("int64"),
            **{f"n_{name}": is_rated[name].astype("int64") for name in dimensions},
        }
    )


def _cases(turns: pd.DataFrame, case_id: str) -> dict[str, object]:
    """Return the participant of each conversation; none where the frame has no column of it."""
    if case_id == "case_id" and case_id not in turns:
        return {}
    require_column(turns, case_id, frame_name="messages")
    known = turns[["document_id", case_id]].dropna().drop_duplicates()
    twice = known["document_id"][known["document_id"].duplicated()]
    if len(twice):
        raise TableError(
            f"messages: expected one participant per conversation in column {case_id!r} – found more in "
            f"{twice.nunique()} conversations – correct them, or name the right columns."
        )
    return dict(zip(known["document_id"], known[case_id], strict=True))


def _warn_of_absent(turns: pd.DataFrame) -> None:
    """Warn where the contexts of the rows tell of turns of the assistant that have no row."""
    if "context" not in turns:
        return
    n_in_context = turns["context"].map(_assistant_turns).groupby(turns["document_id"]).max()
    n_present = (turns["role"] == ASSISTANT).groupby(turns["document_id"]).sum()
    fewer = int((n_present < n_in_context).sum())
    if fewer:
        warnings.warn(
            f"ground_truth: {fewer} of {len(n_in_context)} conversations have turns of the assistant that "
            "are not in the frame (a frame of explanations holds only turns with a comment): their truth is "
            "the mean over the turns in the frame. Pass all messages for the truth of the whole "
            "conversation.",
            stacklevel=3,
        )


def _assistant_turns(context: object) -> int:
    try:
        listed = json.loads(context) if isinstance(context, str) else []
    except (ValueError, RecursionError):
        return 0
    turns = listed if isinstance(listed, list) else []
    return sum(isinstance(turn, dict) and turn.get("role") == ASSISTANT for turn in turns)


def column_of(messages: pd.DataFrame, column: str | None, name: str) -> str:
    """Return the column that was given; else `name`, or what the sheet Messages of SENSE-7 calls it.

    >>> column_of(pd.DataFrame(columns=["TaskId", "Role"]), None, "document_id")
    'TaskId'
    """
    if column is not None:
        return column
    other = _IN_THE_WORKBOOK[name]
    columns = list(messages) if isinstance(messages, pd.DataFrame) else []
    return other if other in columns and name not in columns else name


def turns_by_document(
    messages: pd.DataFrame, *, document_id: str, role: str, position: str | None = None
) -> pd.DataFrame:
    """Return the rows that are turns, with columns `document_id` and `role` in one spelling; index 0 … n − 1.

    Rows of the role `error` are left out, in any case and padded. With `position` there is a column `order`
    as well: a number for every turn, each once in a conversation.
    """
    if not isinstance(messages, pd.DataFrame):
        raise TableError(
            f"messages: expected a pandas DataFrame – found {type(messages).__name__} – pass one row a turn."
        )
    for name in (document_id, role):
        require_column(messages, name, frame_name="messages")
    messages = messages.reset_index(drop=True)
    roles = messages[role].astype("string").str.strip().str.casefold()
    strange = ~roles.isin([USER, ASSISTANT, _SKIPPED]).to_numpy(dtype=bool)
    if strange.any():
        raise TableError(
            f"messages: expected user, assistant or error in column {role!r} – found something else in "
            f"{int(strange.sum())} rows (first: row {first_three(messages.index[strange])}) – correct them."
        )
    documents = messages[document_id].astype("string")
    nameless = (documents.isna() | (documents.str.strip() == "")).to_numpy(dtype=bool)
    if nameless.any():
        raise TableError(
            f"messages: expected a conversation's id in every row of column {document_id!r} – found none in "
            f"{int(nameless.sum())} rows (first: row {first_three(messages.index[nameless])}) – fill it in."
        )
    turns = messages.drop(columns=[name for name in ("document_id", "role") if name in messages])
    turns = turns.assign(document_id=documents, role=roles)
    turns = turns[turns["role"] != _SKIPPED].reset_index(drop=True)
    if position is not None:
        require_column(turns, position, frame_name="messages")
        turns = turns.assign(order=_positions(turns[position], position))
        _refuse_twice(turns, ["document_id", "order"], "each position")
    if "unit_id" in turns:
        _refuse_twice(turns[turns["unit_id"].notna()], ["document_id", "unit_id"], "each unit_id")
    return turns


def _positions(column: pd.Series, name: str) -> pd.Series:
    order = pd.to_numeric(column, errors="coerce").astype("float64")
    bad = order.index[~np.isfinite(order)]
    if len(bad):
        raise TableError(
            f"messages: expected a number in every row of column {name!r} – found none in {len(bad)} rows "
            f"(first: row {first_three(bad)}) – it gives the order of the turns."
        )
    return order


def _refuse_twice(turns: pd.DataFrame, key: list[str], what: str) -> None:
    twice = turns.duplicated(key, keep=False)
    if twice.any():
        named = first_three(turns.loc[twice, "document_id"].unique())
        raise TableError(
            f"messages: expected {what} once in a conversation – found {int(twice.sum())} rows that share "
            f"one, in {named} – a repeated message would count twice; keep one of each."
        )
