"""Plausible wrong calls: none gives a wrong number without a word, where the data show the mistake."""

from __future__ import annotations

import math
import warnings
from collections import Counter

import pytest

from sense7_qual.errors import QualError
from tests.helpers.wrong_calls import Answer, Call
from tests.helpers.wrong_frames import FRAMES
from tests.helpers.wrong_sheets import SHEETS

CALLS = (*SHEETS, *FRAMES)
NEAR = 0.02
REFUSED, SAID, RIGHT, WRONG = "refused", "said", "silently right", "SILENTLY WRONG"


def outcome(call: Call) -> str:
    """Return what comes of a wrong call."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            answer = _answer(call.wrong())
        except (QualError, TypeError) as error:
            return REFUSED if isinstance(error, QualError) else f"an error of another kind: {error}"
    if any(issubclass(one.category, UserWarning | RuntimeWarning) for one in heard):
        return SAID
    right = _right(call)
    if math.isnan(answer.value) or set(answer.cautions) - set(right.cautions):
        return SAID
    return RIGHT if abs(answer.value - right.value) <= NEAR else WRONG


def _answer(found: float | Answer) -> Answer:
    return found if isinstance(found, Answer) else Answer(float(found))


def _right(call: Call) -> Answer:
    assert call.right is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _answer(call.right())


def test_there_are_a_hundred_and_no_two_alike() -> None:
    names = [call.name for call in CALLS]
    assert len(names) == len(set(names)) >= 100


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_no_wrong_call_is_silently_wrong_where_the_data_show_it(call: Call) -> None:
    found = outcome(call)
    assert found in (REFUSED, SAID, RIGHT) or (not call.shows and found == WRONG)


def test_the_right_calls_are_heard_of_by_nobody() -> None:
    for right in {call.right for call in CALLS if call.right is not None}:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            right()


def counts() -> dict[str, int]:
    """Count the outcomes; wrong ones that the data cannot show by themselves."""
    found = [outcome(call) if call.shows else f"{outcome(call)}, not shown by the data" for call in CALLS]
    return dict(Counter(found))


if __name__ == "__main__":
    for call in CALLS:
        print(f"{outcome(call):16} {'' if call.shows else '(not shown) '}{call.name}")
    print(len(CALLS), counts())
