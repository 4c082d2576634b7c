"""A model among the coders changes no number of any statistic of people, and each of them says so.

Every working call of `tests/helpers/calls.py` that takes a frame with coders is made twice: as it is, and
with rows of a coder ``model-x`` drawn into each of its frames. What need not come out alike stands in
`ELSEWHERE`, with the reason.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal, assert_series_equal

import sense7_qual as qual
from tests.helpers.calls import calls, example
from tests.helpers.nightly import nightly_but

STATISTICS = (
    "adjudication.consensus",
    "adjudication.dawid_skene",
    "adjudication.disagreements",
    "adjudication.overruled",
    "adjudication.profile",
    "adjudication.queue",
    "adjudication.remaining",
    "agreement.spans.alpha_u_2004",
    "agreement.diagnosis.alternative_annotator_test",
    "agreement.difference",
    "agreement.by_code",
    "agreement.diagnosis.by_unit",
    "agreement.diagnosis.confusion",
    "agreement.diagnosis.cross_check",
    "agreement.diagnosis.model_card",
    "agreement.drift",
    "agreement.spans.gamma",
    "agreement.human_model",
    "agreement.mastery",
    "agreement.over_time",
    "agreement.overall",
    "agreement.pairwise",
    "agreement.coefficients.patterns",
    "agreement.spans.segmentation_agreement",
    "agreement.sequential",
    "agreement.spans.span_agreement",
    "agreement.stability",
    "agreement.spans.unitizing_alphas",
    "codings.development",
    "codings.majority",
    "codings.new_information",
    "codings.saturation",
    "codings.tally",
    "links.by_dimension",
    "links.co_occurrence",
    "links.code_to_rating",
    "links.disruption",
    "links.distributions",
    "links.joint",
    "links.models.missing_ratings",
    "links.models.r_script",
    "links.models.with_model",
    "links.multiverse",
    "report.tables.condition",
    "suggestions.effect",
    "suggestions.fit",
    "suggestions.screen",
    "themes.against_codebook",
    "themes.codes_by_theme",
)
ELSEWHERE = {
    # what becomes of the rows, not what is computed from them
    "codings.after_discussion",
    "codings.carried",
    "codings.decisions",
    "codings.of_round",
    "codings.stale",
    "frames.Contract.check",
    "frames.Contract.frame",
    "frames.Contract.require",
    "frames.as_models",
    "frames.as_people",
    "frames.check_people",
    "frames.people",
    "frames.without_models",
    # of one coder, or of two, whose rows the caller chooses
    "agreement.spans.overlap_f1",
    # a listing of who is how far, and of passages with who coded them
    "codings.finish_order",
    "rounds.progress",
    "report.quote_candidates",
    "report.tables.quote",
    # results of other statistics
    "report.tables.overruled",
    "report.tables.suggestion",
}
NO_CODINGS = {"memo_id", "role", "proposal_id"}
PACKAGES = (
    "adjudication",
    "agreement",
    "codings",
    "figures",
    "links",
    "ratings",
    "redact",
    "report",
    "rounds",
    "frames",
    "suggestions",
    "themes",
)


def with_model(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """The frame and rows of a model: decisions on every unit, and on a code of its own; else others' rows."""
    if {"code", "applied"} <= set(frame.columns):
        units = pd.Index([*frame["unit_id"].unique(), *example().units["unit_id"].head(40)]).unique()
        codes = [*frame["code"].unique(), "of the model alone"]
        rows = pd.MultiIndex.from_product([units, codes], names=["unit_id", "code"]).to_frame(index=False)
        rows = rows.assign(coder="model-x", applied=rng.random(len(rows)) < 0.5)
        rows = rows.sample(frac=0.9, random_state=int(rng.integers(1 << 30)))
    else:
        key = [one for one in ("unit_id", "code", "start", "end", "position", "round") if one in frame]
        rows = frame.drop_duplicates(key)
        rows = rows.sample(frac=0.8, random_state=int(rng.integers(1 << 30))).assign(coder="model-x")
        for name in {"code", "finished_at"} & set(rows):
            rows[name] = rng.permutation(rows[name].to_numpy(dtype=object))
        rows = rows.drop_duplicates(key)
    return pd.concat([frame, rows], ignore_index=True)


def has_coders(value: Any) -> bool:
    return (
        isinstance(value, pd.DataFrame) and "coder" in value.columns and not NO_CODINGS & set(value.columns)
    )


def given(name: str, folder: Path) -> tuple[Callable[..., Any], dict[str, Any]]:
    function, arguments = calls(folder)[name]()
    people = {"with_models": False, "sources": None, "source": "majority"}
    people |= {"coder": None} if name.startswith("suggestions") else {}
    return function, arguments | {key: value for key, value in people.items() if key in arguments}


def same(one: Any, other: Any) -> None:
    if isinstance(one, pd.DataFrame):
        assert_frame_equal(one, other)
    elif isinstance(one, pd.Series):
        assert_series_equal(one, other)
    elif isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            same(one[key], other[key])
    elif isinstance(one, qual.suggestions.Suggester):
        for name in ("codes", "quotes", "parameters", "learned_units", "learned_groups"):
            same(getattr(one, name), getattr(other, name))
    elif dataclasses.is_dataclass(one):
        for field in dataclasses.fields(one):
            same(getattr(one, field.name), getattr(other, field.name))
    elif isinstance(one, np.ndarray | float | np.floating):
        np.testing.assert_array_equal(one, other)
    else:
        assert one == other


SECONDS_EACH = {
    "agreement.spans.gamma",
    "agreement.spans.span_agreement",
    "suggestions.fit",
    "suggestions.screen",
}


@pytest.mark.long
@pytest.mark.parametrize("name", nightly_but(STATISTICS, here=set(STATISTICS) - SECONDS_EACH))
def test_a_model_changes_no_number_and_is_named(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        function, arguments = given(name, tmp_path)
        alone = function(**arguments)
        for seed in range(2):
            rng = np.random.default_rng(seed)
            function, arguments = given(name, tmp_path)
            added = {
                key: with_model(value, rng) if has_coders(value) else value
                for key, value in arguments.items()
            }
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always", UserWarning)
                same(alone, function(**added))
            assert any("model-x" in str(one.message) for one in said)


@pytest.mark.long
def test_every_function_that_takes_coders_is_tested_or_excused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    taking = {
        name
        for name in calls(tmp_path)
        if name.split(".")[0] in PACKAGES and any(map(has_coders, given(name, tmp_path)[1].values()))
    }
    assert taking - ELSEWHERE == set(STATISTICS)
    assert taking >= ELSEWHERE
