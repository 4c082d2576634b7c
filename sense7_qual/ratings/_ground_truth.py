"""The truth that a predictor must meet: one rating per conversation, turn first."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence

import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._rating_values import SENSE7_DIMENSIONS, sense7_levels
from sense7_qual._reasons import Reason
from sense7_qual.errors import TableError
from sense7_qual.frames import require_column
from sense7_qual.ratings._turns import ASSISTANT, column_of, turns_by_document

__all__ = ["ground_truth"]


def ground_truth(
    messages: pd.DataFrame,
    *,
    document_id: str | None = None,
    case_id: str = "case_id",
    role: str = "Role",
    position: str | None = None,
    dimensions: Sequence[str] = SENSE7_DIMENSIONS,
) -> pd.DataFrame:
    """Return one rating per conversation, turn first: the mean over its rated turns of each turn's mean.

    Parameters
    ----------
    messages : DataFrame
        One row per turn, in any order: **every** turn of the assistant that was rated, with a comment or
        without. The sheet Messages of the SENSE-7 workbook is one, as pandas reads it.
        `corpus.read_sense7` gives the turns with a comment only: the truth of such a frame is the mean over
        those, and a warning says where others are known to be missing.
    document_id : str, optional
        The column of the conversation; by default document_id, or TaskId where there is none.
    case_id : str
        The column of the participant, handed through where the frame has it.
    role : str
        The column that says whose turn it is: user, assistant or error (left out). Only the assistant's
        turns are rated; ratings on others are not used.
    position : str, optional
        The column that tells the messages of a conversation apart: numbers, each once. By default position,
        or MessageId, where the frame has one. A row that repeats a message (after a join with codings, or
        where files were put together) is refused, because it would count twice; so is a repeated unit_id
        where there is such a column. A frame with neither is taken to hold each message once.
    dimensions : sequence of str
        The columns of ratings: 1 to 5, or very poor, poor, neutral, good, very good in any case; blank and
        "unknown" are missing. `EmpathyOverall` is none of them.

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
        A column is missing, a rating is none of the levels, a role is unknown, a message stands twice, or a
        conversation has more than one participant.

    Warns
    -----
    UserWarning
        The column `context` shows more turns of the assistant than the frame has rows for them.

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
    """Return the participant of each conversation; none where the frame has no such column."""
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
            "the mean over the turns that are there. Pass all messages for the truth of the whole "
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
