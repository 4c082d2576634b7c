"""Numbers in APA style, labels and reasons."""

from __future__ import annotations

import ast
import inspect
import textwrap

import pandas as pd
import pytest

from sense7_qual import agreement, links, results
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import CodebookError, QualError, TableError

CODEBOOK = Codebook(
    name="two",
    codes=(Code(id="b", label="Same"), Code(id="a", label="Same"), Code(id="c", label="Other")),
)


@pytest.mark.parametrize(
    ("value", "printed"),
    [(0.7681, ".77"), (0.8, ".80"), (-0.046, "−.05"), (-0.001, ".00"), (0.999, "1.00"), (1, "1.00"),
     (-1.0, "−1.00"), (-1.25, "−1.25"), (float("nan"), "–"), (None, "–"), (pd.NA, "–")],
)  # fmt: skip
def test_coefficient(value: object, printed: str) -> None:
    assert results.coefficient(value, 2) == printed


@pytest.mark.parametrize(
    ("value", "printed"),
    [(0.35, "0.35"), (-0.351, "−0.35"), (-0.004, "0.00"), (12.3456, "12.35"), (pd.NA, "–")],
)
def test_number(value: object, printed: str) -> None:
    assert results.number(value, 2) == printed


# APA Publication Manual (7th ed.), section 6.36: exact p with two or three decimals, "p < .001" below.
@pytest.mark.parametrize(
    ("value", "printed"),
    [(0.0, "< .001"), (0.000999, "< .001"), (0.001, ".001"), (0.0496, ".050"), (0.9996, "> .999"),
     (1, "> .999"), (float("nan"), "–")],
)  # fmt: skip
def test_p_value(value: float, printed: str) -> None:
    assert results.p_value(value) == printed


@pytest.mark.parametrize(
    ("share", "printed"), [(0, "0.0"), (1e-6, "< 0.1"), (0.254, "25.4"), (1 - 1e-6, "> 99.9"), (1, "100.0")]
)
def test_percent_is_none_or_all_only_when_it_is(share: float, printed: str) -> None:
    assert results.percent(share) == printed


def test_interval() -> None:
    assert results.interval(-0.012, 0.41, 2) == "[−.01, .41]"
    assert results.interval(float("nan"), float("nan"), 2) == "–"
    assert results.interval(float("nan"), 0.5, 2) == "[–, .50]"


def test_counts() -> None:
    assert results.count(1860) == "1,860"
    assert results.count(pd.NA) == "–"
    assert results.count_range([3, 2, pd.NA]) == "2–3"
    assert results.count_range([]) == "none"


@pytest.mark.parametrize("digits", [0, 7, -1])
def test_digits_out_of_range_are_refused(digits: int) -> None:
    with pytest.raises(QualError, match="digits from 1 to 6"):
        results.number(0.5, digits)


def test_rows_take_labels_and_order_from_the_codebook() -> None:
    result = pd.DataFrame({"code": ["c", "a", "b"], "alpha": [0.3, 0.1, 0.2]}, index=[9, 9, 9])
    rows = results.rows(result, ("code", "alpha"), frame_name="agreement", codebook=CODEBOOK)
    assert [(row["label"], row["alpha"]) for row in rows] == [
        ("Same (b)", 0.2),
        ("Same (a)", 0.1),
        ("Other", 0.3),
    ]


def test_rows_without_a_codebook_keep_ids_and_order() -> None:
    rows = results.rows(pd.DataFrame({"code": ["c", "a"]}), ("code",), frame_name="agreement", codebook=None)
    assert [row["label"] for row in rows] == ["c", "a"]


def test_rows_refuse_what_they_cannot_label() -> None:
    with pytest.raises(TableError, match="several for 'a'"):
        results.rows(pd.DataFrame({"code": ["a", "a"]}), ("code",), frame_name="agreement", codebook=None)
    with pytest.raises(CodebookError, match="found 'z'"):
        results.rows(pd.DataFrame({"code": ["z"]}), ("code",), frame_name="agreement", codebook=CODEBOOK)
    with pytest.raises(TableError, match="did you mean 'alhpa'"):
        results.rows(
            pd.DataFrame({"code": ["a"], "alhpa": [1]}), ("alpha",), frame_name="agreement", codebook=None
        )


def test_intervals_are_named_by_their_level() -> None:
    for level, name in ((0.95, "95% CI"), (0.999, "99.9% CI"), (0.57, "57% CI"), (0.9999999, "99.99999% CI")):
        assert results.interval_name([{"confidence_level": level}] * 2, frame_name="x") == name
    assert results.interval_name([], frame_name="x") == "CI"


def test_seeds_are_printed_whole() -> None:
    rows = pd.DataFrame({"seed": pd.array([2**63 - 1], dtype="Int64")}).to_dict("records")
    assert results.seed(rows, frame_name="x") == "seed 9223372036854775807"
    assert results.seed([], frame_name="x") == "no seed"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0.95, 0.9], "agreement: expected one confidence_level in all rows – found '0.95', '0.9'"),
        ([0.95, None], "found '0.95', 'None'"),
        ([float("nan")] * 2, "found 'None'"),
        ([pd.NA], "found 'None'"),
        ([0.0], "between 0 and 1 – found 0.0"),
        ([95.0], "between 0 and 1 – found 95.0"),
        (["0.95"], "between 0 and 1 – found '0.95'"),
    ],
)
def test_levels_that_cannot_be_stated_are_refused(values: list[object], message: str) -> None:
    with pytest.raises(TableError, match=message):
        results.interval_name([{"confidence_level": value} for value in values], frame_name="agreement")


@pytest.mark.parametrize("values", [[7, 8], [7, None], [None], [7.5], ["7"]])
def test_seeds_that_cannot_be_stated_are_refused(values: list[object]) -> None:
    with pytest.raises(TableError, match=r"expected (one seed in all rows|a whole number as seed)"):
        results.seed([{"seed": value} for value in values], frame_name="agreement")


def test_source_is_named_and_nearly_named() -> None:
    frame = pd.DataFrame({"code": ["a", "a"], "source": ["majority", "ana"]})
    assert results.of_source(frame, "ana")["source"].tolist() == ["ana"]
    with pytest.raises(TableError, match="did you mean 'majority'"):
        results.of_source(frame, "majorty")


@pytest.mark.parametrize("module", [agreement.codes, links])
def test_every_reason_has_words(module: object) -> None:
    tree = ast.parse(textwrap.dedent(inspect.getsource(module._reason)))  # type: ignore[attr-defined]
    returned = [node.value for node in ast.walk(tree) if isinstance(node, ast.Return) and node.value]
    reasons = {leaf.value for value in returned for leaf in ast.walk(value) if isinstance(leaf, ast.Constant)}
    reasons = {reason for reason in reasons if isinstance(reason, str)}
    assert "few_clusters" in reasons
    assert {reason for reason in reasons if results.reason_words(reason) == reason.replace("_", " ")} == set()


def test_a_new_reason_is_printed_as_it_is() -> None:
    assert results.reason_words("some_new_reason") == "some new reason"
    assert results.reason_words(pd.NA) == "the result gives no reason"
