"""Numbers in APA style, labels and reasons."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from sense7_qual import _present
from sense7_qual._present import reasons
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
    [(0.0, "< .001"), (0.000999, "< .001"), (0.001, ".001"), (0.0496, ".050"), (0.9996, "> .999"),
     (1, "> .999"), (float("nan"), "–")],
)  # fmt: skip
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
    rows = _present.rows(result, ("code", "alpha"), frame_name="agreement", codebook=CODEBOOK)
    assert [(row["label"], row["alpha"]) for row in rows] == [
        ("Same (b)", 0.2),
        ("Same (a)", 0.1),
        ("Other", 0.3),
    ]


def test_rows_without_a_codebook_keep_ids_and_order() -> None:
    rows = _present.rows(pd.DataFrame({"code": ["c", "a"]}), ("code",), frame_name="agreement", codebook=None)
    assert [row["label"] for row in rows] == ["c", "a"]


def test_rows_refuse_what_they_cannot_label() -> None:
    with pytest.raises(TableError, match="several for 'a'"):
        _present.rows(pd.DataFrame({"code": ["a", "a"]}), ("code",), frame_name="agreement", codebook=None)
    with pytest.raises(CodebookError, match="found 'z'"):
        _present.rows(pd.DataFrame({"code": ["z"]}), ("code",), frame_name="agreement", codebook=CODEBOOK)
    with pytest.raises(TableError, match="did you mean 'alhpa'"):
        _present.rows(
            pd.DataFrame({"code": ["a"], "alhpa": [1]}), ("alpha",), frame_name="agreement", codebook=None
        )


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


def reason_codes(source: str) -> set[str]:
    """The reason codes in a module: strings under a name, key or column `reason…`, and those that a function
    returns which is named for reasons or returns `str | None`, alone or last."""
    values: list[ast.expr | None] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.keyword) and (node.arg or "").startswith("reason"):
            values.append(node.value)
        elif isinstance(node, ast.Dict):
            values += [value for key, value in zip(node.keys, node.values, strict=True) if names(key)]
        elif isinstance(node, ast.Assign) and any(names(target) for target in node.targets):
            values.append(node.value)
        elif isinstance(node, ast.FunctionDef) and gives_reasons(node):
            values += [inner.value for inner in ast.walk(node) if isinstance(inner, ast.Return)]
    # A single word would not be told from a column's type; the few reasons of one word are in results.py.
    found = {leaf.value for value in values if value is not None for leaf in leaves(value)}
    return {code for code in found if isinstance(code, str) and re.fullmatch(r"[a-z]+(_[a-z]+)+", code)}


def gives_reasons(function: ast.FunctionDef) -> bool:
    returned = ast.unparse(function.returns) if function.returns else ""
    return "reason" in function.name or re.search(r"(^|, )str \| None\]?$", returned) is not None


def names(node: ast.expr | None) -> bool:
    """Whether a key, or what is assigned to, is called `reason…`."""
    if isinstance(node, ast.Subscript):
        node = node.value if names(node.value) else node.slice
    called = getattr(node, "id", None) or getattr(node, "value", None)
    return isinstance(called, str) and called.startswith("reason")


def leaves(node: ast.expr) -> Iterator[ast.Constant]:
    """The constants that a value can be made of: not column names in subscripts, keys, or compared ones."""
    if isinstance(node, ast.Constant):
        yield node
    elif isinstance(node, ast.Dict):
        # `reason` in a dictionary is found by its key.
        return
    elif not isinstance(node, ast.Subscript | ast.Compare):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from leaves(child)


SOURCES = sorted(Path(_present.__file__).parents[1].rglob("*.py"))


def test_every_reason_of_the_package_has_words() -> None:
    found: dict[str, set[str]] = {}
    for path in SOURCES:
        for code in reason_codes(path.read_text("utf-8")):
            found.setdefault(code, set()).add(path.name)
    # The search finds what is known to be there, each in another form.
    assert {"few_clusters", "few_units", "one_coder", "one_pattern", "no_disagreement"} <= set(found)
    assert {"not_coded_by_two", "overlapping_codes", "few_humans", "few_coders", "one_cluster"} <= set(found)
    silent = {code: where for code, where in found.items() if code not in reasons.REASONS}
    assert silent == {}, "add words for them in _present/reasons.py"


def test_the_search_for_reasons_finds_every_form() -> None:
    source = """
def _reason(x) -> str | None:
    return "in_function" if x["a_column"] == "compared_with" else None
def other() -> tuple[float, str | None]:
    return nan, "in_tuple"
row = {"reason": "in_dict", "alpha_low": "no_reason"}
row["reason_f1"] = row["reason"] or "in_assignment"
reason[x == 0] = "in_subscript"
Found(reason="in_call")
"""
    forms = ("function", "tuple", "dict", "assignment", "subscript", "call")
    assert reason_codes(source) == {f"in_{form}" for form in forms}


def test_a_new_reason_is_printed_as_it_is() -> None:
    assert _present.reason_words("some_new_reason") == "some new reason"
    assert _present.reason_words(pd.NA) == "the result gives no reason"


def test_codes_by_valence_have_their_codes_label_and_place() -> None:
    """What `decisions(valence=True)` calls them can be printed with the codebook, in its order."""
    sense7 = Codebook.read("sense7")
    codes = ["interest.unstated", "relational.unmet", "affective.unmet", "affective.met", "interest.met"]
    result = pd.DataFrame({"code": codes})
    found = _present.rows(result, (), frame_name="links", codebook=sense7)
    assert [row["label"] for row in found] == [
        "Affective Understanding (met)", "Affective Understanding (unmet)", "Interest (met)",
        "Interest (unstated)", "Relational Continuity (unmet)",
    ]  # fmt: skip
    by_source = pd.concat([result.assign(source=source) for source in ("ana", "ben")])
    several = _present.of_sources(by_source, ["ana", "ben"], sense7)
    assert [row["label"] for row in several[::2]] == [row["label"] for row in found]
    for unknown in ("affective.mte", "afective.met", "affective."):
        with pytest.raises(CodebookError, match="expected the id of one of its codes"):
            _present.label(unknown, sense7)
    dotted = Codebook(
        name="d", codes=(Code(id="a", label="A"), Code(id="a.met", label="Own")), valence=("met",)
    )
    of_both = _present.rows(pd.DataFrame({"code": ["a.met", "a"]}), (), frame_name="links", codebook=dotted)
    assert [row["label"] for row in of_both] == ["A", "Own"]
