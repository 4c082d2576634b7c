"""The workbook of the SENSE-7 data set: its explanations as units, its turns as messages."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Final

import pandas as pd

from sense7_qual._arguments import canonical, check_arguments
from sense7_qual._formats import read_strings
from sense7_qual._limits import Limits
from sense7_qual._messages import did_you_mean, places, shown
from sense7_qual._rating_values import LEVEL_WORDS, NUMBER, SENSE7_DIMENSIONS, ratings_of
from sense7_qual.corpus._columns import ids_of, positions_of, require, unit_ids
from sense7_qual.errors import TableError
from sense7_qual.frames import UNITS

_TASK_COLUMNS: Final = ("PID", "Model", "TaskId")
_MESSAGE_COLUMNS: Final = (
    *("TaskId", "MessageId", "TimeOffsetSeconds", "Role", "Content", "Retry", "EmpathyOverall", "Comment"),
)
_RATINGS: Final = ("EmpathyOverall", *SENSE7_DIMENSIONS)
_SENSE7_VARIABLES: Final = (*_RATINGS, "TimeOffsetSeconds", "Retry", "Role")
_CORRECT_THEM: Final = "correct these cells."


@UNITS.returns
def read_sense7(path: str | os.PathLike[str], *, limits: Limits | None = None) -> pd.DataFrame:
    """Read the explanations of ratings in the workbook of the SENSE-7 data set, one per row.

    Every row of the sheet Messages with a Comment becomes a unit, whether the turn is the user's or the
    model's (see `Role`); rows with the role `error` are left out, also from the context.

    Parameters
    ----------
    path
        The .xlsx workbook, with the sheets Tasks and Messages.
    limits
        The most that the file may hold (default: `corpus.Limits()`).

    Returns
    -------
    pandas.DataFrame
        One row per explanation, in the order of Tasks, then of MessageId. unit_id is "TaskId/MessageId",
        document_id the TaskId (the conversation), case_id the PID (the participant), position the MessageId,
        text the Comment, context the conversation up to and including the explained turn. Variables:
        Model and Role (as written, Role in lower case), EmpathyOverall and the seven dimensions (`float64`,
        1 = very poor … 5 = very good, NaN where blank or "unknown"), TimeOffsetSeconds (`float64`), Retry
        (`string`), and each PreTask… and PostTask… column: `float64` if it holds only numbers or
        "unknown", and `string` otherwise; PreTaskChoice is always `string`.

    Raises
    ------
    TableError
        A column is missing, a TaskId or MessageId is missing, duplicated or without a task, or a rating is
        not one of the five levels.
    ImportRefused
        The workbook could only be read by guessing, or a sheet is missing.

    Notes
    -----
    The columns of the dimensions may be called Affective, EmpathyAffective or Empathy_Affective; in the
    units they are Affective, Cognitive, Response, Prosocial, Interest, Contextual and Relational.

    References
    ----------
    Suh et al. (2025), SENSE-7: Taxonomy and Dataset for Measuring User Perceptions of Empathy in Sustained
    Human-AI Conversations, arXiv:2509.16437; the data set's own description of its columns.

    Examples
    --------
    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/sense-7.xlsx"
    >>> task = {"PID": "p1", "Model": "a model", "TaskId": "t1", "PreTaskImportance": 5}
    >>> turn = {"TaskId": "t1", "TimeOffsetSeconds": 9, "Retry": None, "Affective": "unknown", "Cognitive": 2,
    ...         "Response": 2, "Prosocial": 1, "Interest": 1, "Contextual": 2, "Relational": "unknown"}
    >>> asked = {**turn, "MessageId": 1, "Role": "user", "Content": "I failed."}
    >>> reply = {**turn, "MessageId": 2, "Role": "assistant", "Content": "Oh.", "EmpathyOverall": "Very poor"}
    >>> with pd.ExcelWriter(path) as book:
    ...     pd.DataFrame([task]).to_excel(book, sheet_name="Tasks", index=False)
    ...     turns = pd.DataFrame([asked, {**reply, "Comment": "It did not care."}])
    ...     turns.to_excel(book, sheet_name="Messages", index=False)
    >>> units = read_sense7(path)
    >>> units[["unit_id", "case_id", "text", "EmpathyOverall"]].iloc[0].astype(str).tolist()
    ['t1/2', 'p1', 'It did not care.', '1.0']
    >>> units.loc[0, "context"]
    '[{"role": "user", "text": "I failed."}, {"role": "assistant", "text": "Oh."}]'
    """
    check_arguments(read_sense7, locals())
    tasks, turns = _tasks_and_turns(path, limits)
    task_variables = [name for name in map(str, tasks) if _is_of_task(name)]
    of_task = tasks.loc[turns["TaskId"]].set_index(turns.index)
    explained = turns["Comment"].map(str.strip) != ""
    units = pd.DataFrame(
        _keys(turns, of_task)
        | {"text": turns["Comment"], "context": _contexts(turns, explained), "Model": of_task["Model"]}
        | {name: turns[name] for name in _SENSE7_VARIABLES}
        | {name: of_task[name] for name in task_variables}
    )
    first = ["unit_id", "text", "document_id", "case_id", "position", "context"]
    columns = [*first, *(name for name in units if name not in first)]
    return UNITS.check(units.loc[explained, columns], as_written=True)


def read_sense7_messages(path: str | os.PathLike[str], *, limits: Limits | None = None) -> pd.DataFrame:
    """Read every turn of the conversations in the workbook of the SENSE-7 data set, one per row.

    These are the rows for `ratings.ground_truth` and `ratings.judge`: the truth of a conversation is computed
    from all rated turns, and a judge reads all of it. `read_sense7` keeps only the turns with a comment.

    Parameters
    ----------
    path
        The .xlsx workbook, with the sheets Tasks and Messages.
    limits
        The most that the file may hold (default: `corpus.Limits()`).

    Returns
    -------
    pandas.DataFrame
        One row per turn, in the order of Tasks, then of MessageId; rows of the role `error` are left out.
        Columns unit_id ("TaskId/MessageId", as in `read_sense7`), document_id (the TaskId), case_id (the
        PID), position (the MessageId), Role (user or assistant, in lower case), Content (the words of the
        turn in canonical form; empty if none), Model, EmpathyOverall and the seven dimensions
        (`float64`, 1 = very poor … 5 = very good, NaN where blank or "unknown"), TimeOffsetSeconds
        (`float64`) and Retry (`string`). The comments are not among the columns.

    Raises
    ------
    TableError, ImportRefused
        As for `read_sense7`.

    References
    ----------
    Suh et al. (2025), arXiv:2509.16437; the data set's own description of its columns.

    Examples
    --------
    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/sense-7.xlsx"
    >>> rated = dict.fromkeys(SENSE7_DIMENSIONS, "Good")
    >>> turn = {"TaskId": "t1", "TimeOffsetSeconds": 9, "Retry": None, **rated}
    >>> turns = [{**turn, "MessageId": 1, "Role": "user", "Content": "I failed."},
    ...          {**turn, "MessageId": 2, "Role": "Assistant", "Content": "Oh."}]
    >>> with pd.ExcelWriter(path) as book:
    ...     tasks = pd.DataFrame([{"PID": "p1", "Model": "a model", "TaskId": "t1"}])
    ...     tasks.to_excel(book, sheet_name="Tasks", index=False)
    ...     messages = pd.DataFrame(turns).assign(EmpathyOverall=None, Comment=None)
    ...     messages.to_excel(book, sheet_name="Messages", index=False)
    >>> messages = read_sense7_messages(path)
    >>> messages[["unit_id", "Role", "Content", "Affective"]].values.tolist()
    [['t1/1', 'user', 'I failed.', 4.0], ['t1/2', 'assistant', 'Oh.', 4.0]]
    """
    check_arguments(read_sense7_messages, locals())
    tasks, turns = _tasks_and_turns(path, limits)
    of_task = tasks.loc[turns["TaskId"]].set_index(turns.index)
    messages = {
        "Role": turns["Role"],
        "Content": turns["Content"].astype("string"),
        "Model": of_task["Model"],
    }
    numbers = {name: turns[name] for name in (*_RATINGS, "TimeOffsetSeconds", "Retry")}
    return pd.DataFrame(_keys(turns, of_task) | messages | numbers).reset_index(drop=True)


def _tasks_and_turns(
    path: str | os.PathLike[str], limits: Limits | None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tasks by TaskId, their variables typed, and the turns in order."""
    tasks = _sense7_sheet(path, "Tasks", _TASK_COLUMNS, limits)
    task_variables = {name: _task_variable(tasks[name]) for name in map(str, tasks) if _is_of_task(name)}
    tasks = tasks.assign(PID=ids_of(tasks, "PID"), **task_variables).set_index(
        pd.Index(unit_ids(tasks, ["TaskId"]))
    )
    messages = _sense7_sheet(path, "Messages", _MESSAGE_COLUMNS, limits)
    return tasks, _sense7_turns(messages, list(tasks.index))


def _keys(turns: pd.DataFrame, of_task: pd.DataFrame) -> dict[str, pd.Series]:
    return {
        "unit_id": turns["TaskId"] + "/" + turns["MessageId"].astype("string"),
        "document_id": turns["TaskId"],
        "case_id": of_task["PID"],
        "position": turns["MessageId"],
    }


def _sense7_sheet(
    path: str | os.PathLike[str], sheet: str, columns: Sequence[str], limits: Limits | None
) -> pd.DataFrame:
    table = read_strings(path, sheet=sheet, limits=limits)
    table.index.name = f"{sheet} row"
    for name in columns:
        require(table, name)
    return table


def _sense7_turns(messages: pd.DataFrame, tasks: list[str]) -> pd.DataFrame:
    """Return the turns that are no errors, ordered by task and MessageId, typed and in canonical form."""
    messages = messages.assign(Role=messages["Role"].fillna("").map(str.strip).map(str.casefold))
    messages = messages[messages["Role"] != "error"]
    numbers = positions_of(messages, "MessageId", ids_of(messages, "MessageId"))
    _refuse_turns(messages, numbers, tasks)
    scale = {name: _dimension_column(messages, name) for name in SENSE7_DIMENSIONS} | {
        "EmpathyOverall": "EmpathyOverall"
    }
    turns = messages.assign(
        MessageId=numbers,
        Role=messages["Role"].astype("string"),
        Content=messages["Content"].fillna("").map(canonical),
        Comment=messages["Comment"].fillna("").map(canonical),
        TimeOffsetSeconds=ratings_of(messages["TimeOffsetSeconds"], {}, remedy=_CORRECT_THEM),
        **{
            name: ratings_of(messages[column], LEVEL_WORDS, low=1, high=5, remedy=_CORRECT_THEM)
            for name, column in scale.items()
        },
    )
    order = turns["TaskId"].map({task: place for place, task in enumerate(tasks)})
    return turns.assign(order=order).sort_values(["order", "MessageId"], kind="stable")


def _refuse_turns(messages: pd.DataFrame, numbers: pd.Series, tasks: list[str]) -> None:
    task_ids = ids_of(messages, "TaskId")
    strange = ~task_ids.isin(tasks)
    if strange.any():
        first = str(task_ids[strange].iloc[0])
        raise TableError(
            "expected the TaskId of every message in the sheet Tasks – found "
            f"{shown(first, limit=40, words=1)!r} in {places(messages.index[strange])} – "
            f"{did_you_mean(first, tasks)}"
        )
    twice = pd.DataFrame({"task": task_ids, "number": numbers}).duplicated(keep=False)
    if twice.any():
        raise TableError(
            f"expected each TaskId and MessageId once – found the same in {places(messages.index[twice])} – "
            "keep one of each."
        )
    nobody = messages["Role"] == ""
    if nobody.any():
        raise TableError(
            "expected user, assistant or error in column 'Role' – found none in "
            f"{places(messages.index[nobody])} – fill it in."
        )


def _dimension_column(messages: pd.DataFrame, name: str) -> str:
    spellings = (name, f"Empathy{name}", f"Empathy_{name}")
    columns = [spelling for spelling in spellings if spelling in messages.columns]
    if not columns:
        require(messages, name)
    if len(columns) > 1:
        raise TableError(
            f"expected one column for {name} – found {' and '.join(columns)} – delete the one that is not "
            "the rating."
        )
    return columns[0]


def _contexts(turns: pd.DataFrame, explained: pd.Series) -> pd.Series:
    contexts: list[str | None] = []
    for _, conversation in turns.groupby("order", sort=True):
        messages = [
            {"role": role, "text": content}
            for role, content in zip(conversation["Role"], conversation["Content"], strict=True)
        ]
        explained_here = explained[conversation.index]
        contexts += [
            json.dumps(messages[: last + 1], ensure_ascii=False) if want else None
            for last, want in enumerate(explained_here)
        ]
    return pd.Series(contexts, index=turns.index, dtype="string")


def _is_of_task(name: str) -> bool:
    return name.startswith(("PreTask", "PostTask"))


def _task_variable(column: pd.Series) -> pd.Series:
    written = column.fillna("").map(str.strip).map(str.casefold)
    numbers = all(value in {"", "unknown"} or NUMBER.fullmatch(value) for value in written)
    if column.name == "PreTaskChoice" or not numbers:
        return column
    return ratings_of(column, {"unknown": None})
