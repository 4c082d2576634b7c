"""Numbers in APA style, labels and reasons."""

from __future__ import annotations

import json
import pickle
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from sense7_qual import _present, _reasons
from sense7_qual.agreement import AGREEMENT
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import CodebookError, QualError, TableError
from tests.helpers.small_study import facet

CODEBOOK = Codebook(
    name="two",
    codes=(Code(id="b", label="Same"), Code(id="a", label="Same"), Code(id="c", label="Other")),
)


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (0.7681, ".77"),
        (0.8, ".80"),
        (-0.046, "−.05"),
        (-0.001, ".00"),
        (0.999, "1.00"),
        (1, "1.00"),
        (-1.0, "−1.00"),
        (-1.25, "−1.25"),
        (float("nan"), "–"),
        (None, "–"),
        (pd.NA, "–"),
    ],
)
def test_coefficient(value: object, printed: str) -> None:
    assert _present.coefficient(value, 2) == printed


@pytest.mark.parametrize(
    ("value", "printed"),
    [(0.35, "0.35"), (-0.351, "−0.35"), (-0.004, "0.00"), (12.3456, "12.35"), (pd.NA, "–")],
)
def test_number(value: object, printed: str) -> None:
    assert _present.number(value, 2) == printed


# APA Publication Manual (7th ed.), section 6.36: exact p with two or three decimals, "p < .001" below.
@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (0.0, "< .001"),
        (0.000999, "< .001"),
        (0.001, ".001"),
        (0.0496, ".050"),
        (0.9996, "> .999"),
        (1, "> .999"),
        (float("nan"), "–"),
    ],
)
def test_p_value(value: float, printed: str) -> None:
    assert _present.p_value(value) == printed


@pytest.mark.parametrize(
    ("share", "printed"), [(0, "0.0"), (1e-6, "< 0.1"), (0.254, "25.4"), (1 - 1e-6, "> 99.9"), (1, "100.0")]
)
def test_percent_is_none_or_all_only_when_it_is(share: float, printed: str) -> None:
    assert _present.percent(share) == printed


def test_interval() -> None:
    assert _present.interval(-0.012, 0.41, 2) == "[−.01, .41]"
    assert _present.interval(float("nan"), float("nan"), 2) == "–"
    assert _present.interval(float("nan"), 0.5, 2) == "[–, .50]"


def test_counts() -> None:
    assert _present.count(1860) == "1,860"
    assert _present.count(pd.NA) == "–"
    assert _present.count_range([3, 2, pd.NA]) == "2–3"
    assert _present.count_range([]) == "none"


@pytest.mark.parametrize("digits", [0, 7, -1])
def test_digits_out_of_range_are_refused(digits: int) -> None:
    with pytest.raises(QualError, match="digits from 1 to 6"):
        _present.number(0.5, digits)


def test_rows_take_labels_and_order_from_the_codebook() -> None:
    result = pd.DataFrame({"code": ["c", "a", "b"], "alpha": [0.3, 0.1, 0.2]}, index=[9, 9, 9])
    rows = _present.rows(result, frame_name="agreement", codebook=CODEBOOK)
    assert [(row["label"], row["alpha"]) for row in rows] == [
        ("Same (b)", 0.2),
        ("Same (a)", 0.1),
        ("Other", 0.3),
    ]


def test_rows_without_a_codebook_keep_ids_and_order() -> None:
    rows = _present.rows(pd.DataFrame({"code": ["c", "a"]}), frame_name="agreement", codebook=None)
    assert [row["label"] for row in rows] == ["c", "a"]


def test_rows_refuse_what_they_cannot_label() -> None:
    with pytest.raises(TableError, match="several for 'a'"):
        _present.rows(pd.DataFrame({"code": ["a", "a"]}), frame_name="agreement", codebook=None)
    with pytest.raises(CodebookError, match="found 'z'"):
        _present.rows(pd.DataFrame({"code": ["z"]}), frame_name="agreement", codebook=CODEBOOK)
    with pytest.raises(TableError, match="did you mean 'alhpa'"):
        AGREEMENT.require(AGREEMENT.example().rename(columns={"alpha": "alhpa"}))


def test_intervals_are_named_by_their_level() -> None:
    for level, name in ((0.95, "95% CI"), (0.999, "99.9% CI"), (0.57, "57% CI"), (0.9999999, "99.99999% CI")):
        assert _present.interval_name([{"confidence_level": level}] * 2, frame_name="x") == name
    assert _present.interval_name([], frame_name="x") == "CI"


def test_seeds_are_printed_whole() -> None:
    rows = pd.DataFrame({"seed": pd.array([2**63 - 1], dtype="Int64")}).to_dict("records")
    assert _present.seed(rows, frame_name="x") == "seed 9223372036854775807"
    assert _present.seed([], frame_name="x") == "no seed"


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
        _present.interval_name([{"confidence_level": value} for value in values], frame_name="agreement")


@pytest.mark.parametrize("values", [[7, 8], [7, None], [None], [7.5], ["7"]])
def test_seeds_that_cannot_be_stated_are_refused(values: list[object]) -> None:
    with pytest.raises(TableError, match=r"expected (one seed in all rows|a whole number as seed)"):
        _present.seed([{"seed": value} for value in values], frame_name="agreement")


def test_source_is_named_and_nearly_named() -> None:
    frame = pd.DataFrame({"code": ["a", "a"], "source": ["majority", "ana"]})
    assert _present.of_source(frame, "ana")["source"].tolist() == ["ana"]
    with pytest.raises(TableError, match="did you mean 'majority'"):
        _present.of_source(frame, "majorty")


@pytest.mark.parametrize("storage", ["python", "pyarrow"])
def test_reasons_are_plain_text_in_frames_files_and_pickles(storage: str, tmp_path: Path) -> None:
    reason, caution = _reasons.Reason.ONE_CODER, _reasons.Caution.FEW_CLUSTERS
    plain = pd.DataFrame({"reason": ["one_coder", None], "caution": ["few_clusters", None]})
    frame = pd.DataFrame({"reason": [reason, None], "caution": [caution, None]})
    for dtype in (object, pd.StringDtype(storage)):
        expected, typed = plain.astype(dtype), frame.astype(dtype)
        pd.testing.assert_frame_equal(typed, expected)
        assert (repr(typed), typed.to_csv()) == (repr(expected), expected.to_csv())
        assert repr(typed.to_dict()) == repr(expected.to_dict())
        assert pickle.dumps(typed.iloc[0].tolist()) == pickle.dumps(expected.iloc[0].tolist())
        typed.to_parquet(tmp_path / "typed")
        expected.to_parquet(tmp_path / "plain")
        assert (tmp_path / "typed").read_bytes() == (tmp_path / "plain").read_bytes()
    assert json.dumps([reason]) == '["one_coder"]'
    assert f"{reason} {reason!r}" == "one_coder 'one_coder'"


@pytest.mark.long
def test_the_statistics_name_reasons_by_the_enum_which_the_type_checker_knows() -> None:
    literal = re.compile(r"""\b(?:\w+_)?(?:reason|caution)\w*["']?\]?(?:=| = |: )"[a-z]+_[a-z_]+\"""")
    assert literal.search('row | {"reason": "no_such_reason"}')
    assert literal.search('row["odds_ratio_reason"] = "no_such_reason"')
    package = Path(_present.__file__).parents[1]
    sources = {str(path): path.read_text("utf-8") for path in package.rglob("*.py")}
    assert {name: literal.findall(source) for name, source in sources.items() if literal.search(source)} == {}
    members = [f"{each.__name__}.{one.name}" for each in (_reasons.Reason, _reasons.Caution) for one in each]
    assert [name for name in members if not re.search(rf"\b{name}\b", "".join(sources.values()))] == []


def test_a_new_reason_is_printed_as_it_is() -> None:
    assert _reasons.reason_words("some_new_reason") == "some new reason"
    assert _reasons.reason_words(pd.NA) == "the result gives no reason"


def test_codes_by_facet_have_their_codes_label_and_place() -> None:
    """What `decisions(facet="valence")` calls them can be printed with the codebook, in its order."""
    sense7 = Codebook.read("sense7")
    given = [("interest", "unstated"), ("relational", "unmet"), ("affective", "unmet"), ("affective", "met")]
    codes = [f"{code}.valence={value}" for code, value in (*given, ("interest", "met"))]
    result = pd.DataFrame({"code": codes})
    found = _present.rows(result, frame_name="links", codebook=sense7)
    assert [row["label"] for row in found] == [
        "Affective Understanding (met)",
        "Affective Understanding (unmet)",
        "Interest (met)",
        "Interest (unstated)",
        "Relational Continuity (unmet)",
    ]
    by_source = pd.concat([result.assign(source=source) for source in ("ana", "ben")])
    several = _present.of_sources(by_source, ["ana", "ben"], sense7)
    assert [row["label"] for row in several[::2]] == [row["label"] for row in found]
    for unknown in ("affective.valence=mte", "afective.valence=met", "affective.valence=", "affective.met"):
        with pytest.raises(CodebookError, match="expected the id of one of its codes"):
            _present.label(unknown, sense7)
    facets = (facet("heat", "low", "high"), replace(facet("light", "low"), label="Light"))
    both = Codebook(name="d", codes=(Code(id="a", label="A"), Code(id="a.heat", label="Own")), facets=facets)
    codes = ["a.light=low", "a.heat.heat=low", "a.heat=unstated", "a.heat=low", "a.heat", "a"]
    of_both = _present.rows(pd.DataFrame({"code": codes}), frame_name="links", codebook=both)
    assert [row["label"] for row in of_both] == [
        "A",
        "A (heat: low)",
        "A (heat: unstated)",
        "A (Light: low)",
        "Own",
        "Own (heat: low)",
    ]
