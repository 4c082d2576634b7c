"""No statistic depends on the order of the rows that it is given."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.helpers.calls import calls, example, public_names
from tests.helpers.nightly import nightly_but

pytestmark = pytest.mark.long

PACKAGES = ("adjudication", "agreement", "codings", "links", "ratings", "suggestions")
SLOW = {"agreement.spans.gamma"}  # a minute; it takes four rows of spans, as `overlap_f1` does
NAMES = [
    name
    for name in public_names()
    if name.split(".")[0] in PACKAGES
    and not any(part[0].isupper() for part in name.split("."))
    and name not in SLOW
]
SECONDS_EACH = {
    "adjudication.dawid_skene",
    "adjudication.profile",
    "agreement.over_time",
    "agreement.stability",
    "links.code_to_rating",
    "links.corrected",
    "links.multiverse",
    "suggestions.fit",
}
FIRST_OF_TWO = {"agreement.diagnosis.confusion", "links.co_occurrence"}
"""Of two codes the one that comes first in the decisions is named first, as is documented."""
MORE: dict[str, dict[str, Any]] = {
    # Without `order`, the order of rows is the order of coding.
    "agreement.mastery": {"order": sorted(example().decisions["unit_id"].unique())},
    "links.code_to_rating": {"sources": ["ana", "pooled"], "details": True, "odds_ratios": True},
    "links.corrected": {"odds_ratios": True},
    "links.multiverse": {
        "sources": ["ana", "majority"],
        "analyses": ["rank_biserial", "mixed"],
        "exclusions": ["none", "single_texts"],
    },
}


def permuted(value: Any, seed: int | None, *, by_code: bool) -> Any:
    """Return a frame with its rows in another order; columns that run alike stay so: one seed for them."""
    if not isinstance(value, pd.DataFrame | pd.Series):
        return value
    if seed is not None:
        seed = seed if isinstance(value, pd.DataFrame) else 0
        value = value.iloc[np.random.default_rng(seed).permutation(len(value))]
    return value.sort_values("code", kind="stable") if by_code else value


def numbers(result: Any) -> Iterator[pd.DataFrame]:
    """Yield what a result holds as frames, each with its rows in an order of their own."""
    if isinstance(result, pd.DataFrame):
        words = [name for name in result if result[name].dtype.kind != "f"]
        order = result.assign(**{name: result[name].astype(str) for name in words}).sort_values(words).index
        yield result.loc[order].reset_index(drop=True) if result.index.is_unique else result
    elif isinstance(result, pd.Series):
        yield result.sort_index().to_frame()
    elif dataclasses.is_dataclass(result):
        for one in dataclasses.fields(result):
            yield from numbers(getattr(result, one.name))
    elif isinstance(result, Mapping):
        for key in sorted(result, key=str):
            yield from numbers(result[key])
    elif isinstance(result, tuple | list):
        for each in result:
            yield from numbers(each)
    elif isinstance(result, np.ndarray):
        yield pd.DataFrame(result.reshape(len(result), -1))
    else:
        yield pd.DataFrame({"value": [result]})


def results(name: str, folder: Path, *, seed: int | None, more: Mapping[str, Any]) -> list[pd.DataFrame]:
    function, arguments = calls(folder)[name]()
    arguments = {
        key: permuted(value, None if seed is None else seed + place, by_code=name in FIRST_OF_TWO)
        for place, (key, value) in enumerate(arguments.items())
    } | dict(more)
    result = function(**arguments)
    return list(numbers(result(example().units) if name == "suggestions.fit" else result))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # what a call warns of is tried elsewhere
@pytest.mark.parametrize("name", nightly_but(NAMES, here=set(NAMES) - SECONDS_EACH))
def test_another_order_of_rows_changes_no_number(name: str, tmp_path_factory: Any) -> None:
    folder = tmp_path_factory.getbasetemp()
    function, arguments = calls(folder)[name]()
    if not any(isinstance(one, pd.DataFrame | pd.Series) for one in arguments.values()):
        pytest.skip("takes no rows")
    known = inspect.signature(function).parameters
    changes = [MORE.get(name, {})]
    if {"units", "cluster", "n_boot"} <= known.keys() and known["units"].default is None:
        changes.append({"units": None, "cluster": None})  # then units are resampled in place of clusters
    for more in changes:
        expected = results(name, folder, seed=None, more=more)
        for seed in (10, 20):
            found = results(name, folder, seed=seed, more=more)
            assert len(found) == len(expected)
            for one, other in zip(found, expected, strict=True):
                pd.testing.assert_frame_equal(one, other, rtol=1e-12, atol=1e-12)
