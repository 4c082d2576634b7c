"""Agreement compared over time and with oneself: slices hold what they say, and no more."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sense7_qual.agreement import difference, over_time, stability
from sense7_qual.agreement._by_code import by_code
from sense7_qual.errors import QualError, TableError

START = pd.Timestamp("2026-01-05T08:00:00Z")  # a Monday, of week 2


def study(seed: int, *, units: int = 40, coders: tuple[str, ...] = ("ana", "ben", "cleo")) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    truth = rng.random((units, 2)) < 0.5
    rows = [
        (f"u{unit:03}", coder, f"code{code}", bool(truth[unit, code] ^ (rng.random() < 0.2)))
        for unit in range(units)
        for coder in coders
        for code in range(2)
    ]
    return pd.DataFrame(rows, columns=["unit_id", "coder", "code", "applied"])


def covered(decisions: pd.DataFrame, days: dict[str, float] | None = None) -> pd.DataFrame:
    """Coverage: unit n finished n hours after the start by all coders, some coders `days` later."""
    finished = decisions[["unit_id", "coder"]].drop_duplicates().reset_index(drop=True)
    hours = finished["unit_id"].str[1:].astype(int) + 24 * finished["coder"].map(days or {}).fillna(0.0)
    at = [(START + pd.Timedelta(hours=float(value))).isoformat() for value in hours]
    return finished.assign(round="r1", finished_at=at, codebook="v1")


def numbers(frame: pd.DataFrame) -> pd.DataFrame:
    apart = ["code", "by", "slice", "place", "change", "change_low", "change_high", "change_p"]
    apart.append("basis")  # that of a slice is of fewer texts than that of them all
    return frame.drop(columns=apart, errors="ignore").reset_index(drop=True)


def test_order_cuts_the_units_into_equal_parts() -> None:
    decisions = study(1)
    found = over_time(decisions, covered(decisions), by="order", n_slices=3, n_boot=50, seed=1)
    assert found["slice"].tolist() == ["1–14", "15–27", "28–40"] * 2
    assert found["place"].tolist() == [1, 2, 3] * 2
    assert found["code"].tolist() == ["code0"] * 3 + ["code1"] * 3
    assert found["n_units"].tolist() == [14, 13, 13] * 2
    part = decisions[decisions["unit_id"].between("u014", "u026")]
    expected = by_code(part, n_boot=50, seed=1)
    pd.testing.assert_frame_equal(numbers(found[found["place"] == 2]), numbers(expected), check_dtype=False)


def test_a_unit_belongs_where_its_last_coder_finished_it() -> None:
    """Cleo is six days behind: all units move into the week in which she finished them."""
    decisions = study(1, units=30)
    found = over_time(decisions, covered(decisions), by="week", n_boot=20, seed=1)
    assert found["slice"].tolist() == ["2026-W02"] * 2
    late = over_time(decisions, covered(decisions, {"cleo": 6}), by="week", n_boot=20, seed=1)
    # 8:00 on Monday + 6 days + n hours: the first 16 units fall into the Sunday of week 2.
    assert late[late["code"] == "code0"][["slice", "n_units"]].values.tolist() == [
        ["2026-W02", 16],
        ["2026-W03", 14],
    ]


def test_iso_weeks_at_the_turn_of_the_year() -> None:
    decisions = study(1, units=2)
    coverage = covered(decisions)
    # 2027-01-01 is a Friday of the 53rd week of 2026; 00:30 in Berlin on Monday the 4th is Sunday in UTC.
    times = {"u000": "2027-01-01T10:00:00Z", "u001": "2027-01-04T00:30:00+01:00"}
    found = over_time(
        decisions, coverage.assign(finished_at=coverage["unit_id"].map(times)), by="week", n_boot=20, seed=1
    )
    assert set(found["slice"]) == {"2026-W53"}


def test_coders_meet_only_within_a_round_or_a_codebook() -> None:
    decisions = study(2)
    coverage = covered(decisions)
    unit = coverage["unit_id"].str[1:].astype(int)
    # Units 0–9 in the pilot; of units 10–19 cleo alone coded in the pilot.
    pilot = (unit < 10) | ((unit < 20) & (coverage["coder"] == "cleo"))
    for name in ("round", "codebook"):
        sliced = coverage.assign(**{name: np.where(pilot, "z-pilot", "a-main")})
        found = over_time(decisions, sliced, by=name, n_boot=20, seed=1)
        first = found[found["code"] == "code0"]
        assert first["slice"].tolist() == ["z-pilot", "a-main"]  # in time, not by name
        assert first["n_units"].tolist() == [10, 30]
        assert set(found["by"]) == {name}
        late = decisions[decisions["unit_id"] >= "u010"]
        main = late[(late["coder"] != "cleo") | (late["unit_id"] >= "u020")]
        expected = by_code(main, n_boot=20, seed=1)
        pd.testing.assert_frame_equal(
            numbers(found[found["place"] == 2]), numbers(expected), check_dtype=False
        )


def test_a_decision_belongs_to_the_round_in_which_the_unit_was_last_finished() -> None:
    decisions = study(3, units=10)
    first = covered(decisions)
    again = first[first["unit_id"] < "u004"].assign(round="r2", finished_at="2026-03-01T00:00:00Z")
    found = over_time(decisions, pd.concat([again, first]), by="round", n_boot=20, seed=1)
    assert found[found["code"] == "code1"][["slice", "n_units"]].values.tolist() == [["r1", 6], ["r2", 4]]


def test_rounds_without_times_or_names() -> None:
    decisions = study(4, units=6)
    coverage = covered(decisions).assign(finished_at=None, round=None)
    found = over_time(decisions, coverage, by="round", n_boot=20, seed=1)
    assert found["slice"].tolist() == ["none"] * 2


def test_what_cannot_be_sliced_is_refused() -> None:
    decisions = study(5, units=6)
    coverage = covered(decisions)
    settings = {"n_boot": 20, "seed": 1}
    with pytest.raises(QualError, match="did you mean 'week'"):
        over_time(decisions, coverage, by="weeks", **settings)  # type: ignore[arg-type]
    with pytest.raises(QualError, match="n_slices"):
        over_time(decisions, coverage, by="order", n_slices=1, **settings)
    with pytest.raises(TableError, match="found none for 'u000 / ana', 'u000 / ben', 'u000 / cleo'"):
        over_time(decisions, coverage[coverage["unit_id"] > "u000"], by="round", **settings)
    with pytest.raises(TableError, match="found none for 18 units × coders"):
        over_time(decisions, coverage.assign(finished_at=None), by="week", **settings)
    with pytest.raises(TableError, match="other values in 18 rows"):
        over_time(decisions, coverage.assign(finished_at="yesterday"), by="round", **settings)


def test_nothing_gives_no_rows() -> None:
    decisions = study(5, units=2)
    found = over_time(decisions.head(0), covered(decisions), by="round", n_boot=20, seed=1)
    assert len(found) == 0
    assert list(found)[:4] == ["code", "by", "slice", "place"]


# ---- stability ----------------------------------------------------------------------------------------


def test_stability_by_hand() -> None:
    """Krippendorff (2011, section A) with the two observers as two times: alpha .095, 60 % agreement."""
    times = [[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]]
    first, second = (
        pd.DataFrame(
            [(f"u{i}", "ana", "x", bool(v)) for i, v in enumerate(values)],
            columns=["unit_id", "coder", "code", "applied"],
        )
        for values in times
    )
    # Units of one time alone, and coders of one time alone, do not count.
    alone = pd.DataFrame([("u99", "ana", "x", True), ("u1", "ben", "x", True)], columns=list(first))
    found = stability(pd.concat([first, alone]), second, n_boot=50, seed=1)
    assert found["coder"].tolist() == ["ana"]
    assert found.loc[0, ["n_units", "n_coders", "percent"]].tolist() == [10, 2, 0.6]
    assert found.loc[0, "alpha"] == pytest.approx(0.095, abs=0.0005)


def test_every_coder_is_compared_with_herself() -> None:
    first, second = study(1), study(1)
    second.loc[second["coder"] == "ben", "applied"] ^= True
    with pytest.warns(UserWarning, match="run against"):  # ben's are the reverse
        found = stability(first, second, n_boot=20, seed=1).set_index(["coder", "code"])
    assert found["percent"].to_dict() == {
        (coder, code): float(coder != "ben")
        for coder in ("ana", "ben", "cleo")
        for code in ("code0", "code1")
    }
    with pytest.raises(TableError, match="expected a coder with decisions at both times"):
        stability(first[first["coder"] == "ana"], second[second["coder"] == "ben"], n_boot=20, seed=1)


def test_what_was_looked_at_again_keeps_its_place_in_time() -> None:
    decisions = study(6)
    coverage = covered(decisions)
    again = coverage.assign(first_finished_at=coverage["finished_at"])
    again.loc[decisions[decisions["applied"]].index.intersection(again.index)[::2], "finished_at"] = (
        "2027-01-01T00:00:00Z"
    )
    for by in ("order", "week"):
        settings = {"by": by, "n_boot": 20, "seed": 1}
        pd.testing.assert_frame_equal(
            over_time(decisions, again, **settings),  # type: ignore[arg-type]
            over_time(decisions, coverage, **settings),  # type: ignore[arg-type]
        )


def test_the_change_from_the_slice_before_is_that_of_the_two() -> None:
    decisions = study(1)
    units = pd.DataFrame({"unit_id": decisions["unit_id"].unique()})
    units["case_id"] = units["unit_id"].str[1:].astype(int) % 9
    named = {"units": units, "cluster": "case_id"}
    found = over_time(decisions, covered(decisions), by="order", n_slices=2, n_boot=50, seed=1, **named)
    parts = [
        decisions[decisions["unit_id"].isin([f"u{n:03}" for n in places])]
        for places in (range(20), range(20, 40))
    ]
    expected = difference(*parts, **named)
    second = found[found["place"] == 2]
    for ours, theirs in (
        ("change", "difference"),
        ("change_low", "low"),
        ("change_high", "high"),
        ("change_p", "p"),
    ):
        assert second[ours].tolist() == pytest.approx(expected[theirs].tolist(), nan_ok=True)
    assert found.loc[found["place"] == 1, "change"].isna().all()
