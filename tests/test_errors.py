from __future__ import annotations

import ast
import copy
from pathlib import Path

import pytest

from sense7_qual import errors
from sense7_qual.errors import QualError, did_you_mean, first_three
from sense7_qual.models import EndpointError, NoAnswer

PACKAGE = Path(__file__).parents[1] / "sense7_qual"


def test_every_error_is_a_qual_error_and_they_are_siblings() -> None:
    values = [
        errors.ArgumentError,
        errors.CodebookError,
        errors.TableError,
        errors.ActError,
        errors.ImportRefused,
    ]
    assert all(error.__bases__ == (QualError, ValueError) for error in values)
    outside = [errors.StoreError, EndpointError, NoAnswer]
    assert all(error.__bases__ == (QualError, OSError) for error in outside)
    assert QualError.__bases__ == (Exception,)


def test_an_error_of_the_disk_says_its_sentence_and_survives_a_copy() -> None:
    error = errors.StoreError("study 's': expected … – found … – do …")
    assert str(error) == str(copy.copy(error)) == "study 's': expected … – found … – do …"


def test_no_bare_qual_error_is_raised() -> None:
    """`except ValueError` or `except OSError` around a call catches whatever the package raises."""
    bare = [
        f"{path.name}:{node.lineno}"
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "QualError"
    ]
    assert not bare


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([], ""),
        (["m1"], "'m1'"),
        (["m1", "m2", "m3"], "'m1', 'm2', 'm3'"),
        (["m1", "m2", "m3", "m4"], "'m1', 'm2', 'm3' (4 in all)"),
        ((number for number in range(1000)), "'0', '1', '2' (1000 in all)"),
        (["it's\n"], '"it\'s\\n"'),
    ],
)
def test_first_three_names_three_and_counts_all(values: list[object], said: str) -> None:
    assert first_three(values) == said


@pytest.mark.parametrize(
    ("found", "known", "hint"),
    [
        ("prosical", ["affective", "prosocial"], "did you mean 'prosocial'?"),
        ("PROSOCIAL", ["affective", "prosocial"], "did you mean 'prosocial'?"),
        ("comment", ["Comment", "PID"], "did you mean 'Comment'?"),
        ("zzz", ["affective", "prosocial"], "known are 'affective', 'prosocial'"),
        ("zzz", ["a", "b", "c", "d"], "known are 'a', 'b', 'c' (4 in all)"),
        ("zzz", [], "there are none"),
        ("", ["a"], "known are 'a'"),
    ],
)
def test_did_you_mean_names_the_nearest_word_or_what_is_known(
    found: str, known: list[str], hint: str
) -> None:
    assert did_you_mean(found, known) == hint


def test_did_you_mean_does_not_repeat_what_was_found() -> None:
    """A wrong value may be a participant's text; the hint is built from the known words alone."""
    assert "felt" not in did_you_mean("I felt that it did not listen", ["affective", "prosocial"])
