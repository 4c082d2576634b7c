from __future__ import annotations

import pytest

from sense7_qual._messages import did_you_mean, first_three


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
