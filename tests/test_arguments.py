"""What counts as an argument of its kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import pytest

import sense7_qual as qual
from sense7_qual._arguments import check_arguments, read_mapping
from sense7_qual.errors import ArgumentError
from tests.helpers.calls import calls


def named(mapping: Mapping[str, Any] | None, either: Sequence[str] | Mapping[str, str] = ()) -> None:
    check_arguments(named, locals())


@pytest.mark.parametrize("index", [["a", "b"], pd.Index(["a", "b"], dtype="string"), pd.Index(list("ab"))])
def test_a_series_indexed_by_name_is_a_mapping(index: Any) -> None:
    given = pd.Series([1, pd.NA], index=index, dtype="Int64")
    named(given)
    assert read_mapping(given) == read_mapping({"a": 1, "b": None}) == {"a": 1, "b": None}
    assert type(read_mapping(given)["a"]) is int
    assert read_mapping(None) == {}


@pytest.mark.parametrize(
    "index", [["a", "a"], [0, 1], ["a", None], ["a", 1], pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])]
)
def test_no_other_series_is_one(index: Any) -> None:
    with pytest.raises(ArgumentError, match="found Series – index it by name, each name once"):
        named(pd.Series([1, 2], index=index))


def test_where_a_list_can_be_a_series_is_one() -> None:
    with pytest.raises(ArgumentError, match="expected either to be a list of text or a mapping"):
        named(None, pd.Series([1.0, 2.0], index=["a", "b"]))


def same(made: Callable[[Any], Any], mapping: dict[str, Any]) -> None:
    expected = made(mapping)
    for given in (pd.Series(mapping), pd.Series(mapping, dtype=object)):
        found = made(given)
        if isinstance(expected, pd.DataFrame):
            pd.testing.assert_frame_equal(found, expected)
        else:
            assert found == expected


@pytest.mark.long
def test_a_series_says_what_the_mapping_does(tmp_path: Any) -> None:
    table = calls(tmp_path)

    def with_(name: str, parameter: str, **more: Any) -> Callable[[Any], Any]:
        function, arguments = table[name]()
        return lambda given: function(**arguments | more | {parameter: given})

    _, arguments = table["links.by_dimension"]()
    same(with_("links.by_dimension", "mapping"), arguments["mapping"])
    same(with_("ratings.cross_validate", "predictors"), {"one": lambda train, test: [3.0] * len(test)})
    same(with_("report.tables.variance", "names"), {"case_id": "Person"})
    _, arguments = table["corpus.assign"]()
    assign = with_("corpus.assign", "fixed")
    same(lambda given: pd.concat(assign(given)), arguments["fixed"])
    units = pd.DataFrame({"text": ["x", "y", "z"], "liked": ["low", "high", "unknown"]})
    labels = {"low": 1, "high": 5, "unknown": None}
    same(lambda given: qual.corpus.read(units, text="text", ratings="liked", rating_labels=given), labels)

    def code(name: str) -> qual.Code:
        return qual.Code(id=name, label=name)

    old = qual.Codebook(name="old", codes=(code("kind"), code("warm")))
    new = qual.Codebook(name="new", codes=(code("warm"),))
    same(lambda given: qual.codebook.changes(old, new, merged=given), {"kind": "warm"})
    parted = qual.Codebook(name="new", codes=(code("soft"), code("kindly"), code("warm")))
    same(lambda given: qual.codebook.changes(old, parted, split=given), {"kind": ["soft", "kindly"]})
