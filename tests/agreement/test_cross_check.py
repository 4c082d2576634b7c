"""The second opinion finds no difference where there is none, and any that there is."""

from __future__ import annotations

import builtins

import numpy as np
import pandas as pd
import pytest

from sense7_qual import report
from sense7_qual.agreement import diagnosis
from sense7_qual.agreement._by_code import by_code
from sense7_qual.agreement.diagnosis import cross_check
from sense7_qual.errors import TableError


def study(seed: int, *, coders: int, missing: float = 0.0, units: int = 40) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    truth = rng.random((units, 2)) < [0.4, 0.1]
    rows = [
        (f"u{unit:03}", f"c{coder}", f"code{code}", bool(truth[unit, code] ^ (rng.random() < 0.15)))
        for unit in range(units)
        for coder in range(coders)
        if rng.random() >= missing
        for code in range(2)
    ]
    return pd.DataFrame(rows, columns=["unit_id", "coder", "code", "applied"])


@pytest.mark.parametrize(("coders", "missing"), [(2, 0.0), (2, 0.2), (3, 0.0), (5, 0.3)])
def test_all_packages_agree(coders: int, missing: float) -> None:
    found = cross_check(study(coders, coders=coders, missing=missing))
    kappa = "cohen_kappa" if coders == 2 else "light_kappa"
    assert found[found["code"] == "code0"][["statistic", "package"]].values.tolist() == [
        ["alpha", "krippendorff"],
        ["percent", "Python"],
        [kappa, "scikit-learn"],
        [kappa, "statsmodels"],
        ["fleiss_kappa", "statsmodels"],
    ]
    assert found["reason"].isna().all()
    assert found["difference"].max() < 1e-12
    assert found["version"].str.match(r"\d+\.").all()
    assert (found["ours"] < 1).all()


def test_ours_are_the_numbers_of_the_table() -> None:
    decisions = study(7, coders=3, missing=0.3)
    found = cross_check(decisions).set_index(["statistic", "code"])["ours"]
    agreement = by_code(decisions, n_boot=50, seed=1).set_index("code")
    for name in ("alpha", "percent"):
        assert found[name].to_dict() == pytest.approx(agreement[name].to_dict(), abs=1e-12)


def test_a_wrong_number_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check is itself checked: with one coefficient spoilt it reports the difference."""
    decisions = study(7, coders=3)
    right = diagnosis.krippendorff_alpha
    monkeypatch.setattr(diagnosis, "krippendorff_alpha", lambda v, *, level: right(v, level=level) + 0.01)
    found = cross_check(decisions)
    assert found.loc[found["statistic"] == "alpha", "difference"].to_numpy() == pytest.approx(0.01)
    monkeypatch.setattr(diagnosis, "krippendorff_alpha", lambda v, *, level: float("nan"))
    found = cross_check(decisions)
    assert found.loc[found["statistic"] == "alpha", "reason"].tolist() == ["one_side_undefined"] * 2


def test_what_cannot_be_compared_says_why() -> None:
    rows = [(f"u{i}", coder, "never", False) for i in range(4) for coder in ("ana", "ben")]
    rows += [(f"u{i}", "ana" if i < 2 else "ben", "apart", i == 0) for i in range(4)]
    rows += [("u0", "ana", "alone", True)]
    decisions = pd.DataFrame(rows, columns=["unit_id", "coder", "code", "applied"])
    found = cross_check(decisions).set_index(["code", "statistic", "package"]).sort_index()
    never = found.loc["never"]
    assert never["reason"].fillna("").tolist() == [*["no_variation"] * 4, ""]  # percent comes last
    assert never.loc[("percent", "Python"), "ours"] == 1
    assert (found.loc["apart", "reason"] == "no_pairable_units").all()
    assert (found.loc["alone", "reason"] == "no_pairable_units").all()
    assert found.loc["apart", "difference"].isna().all()


def test_two_coders_who_never_vary_leave_lights_kappa_undefined_on_both_sides() -> None:
    """Of three pairs of coders one has no kappa: then the mean has none, here and in the packages."""
    given = {"a": [1, 1, 1, 1], "b": [1, 1, 1, 1], "c": [1, 0, 1, 0]}
    rows = [(f"u{i}", coder, "x", bool(v)) for coder, vs in given.items() for i, v in enumerate(vs)]
    found = cross_check(pd.DataFrame(rows, columns=["unit_id", "coder", "code", "applied"]))
    assert found.loc[found["statistic"] == "light_kappa", "reason"].tolist() == ["no_variation"] * 2


def test_a_package_that_is_absent_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: object) -> object:
        if name.startswith("statsmodels"):
            raise ImportError(name)
        return real(name, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", without)
    found = cross_check(study(1, coders=2))
    absent = found["package"] == "statsmodels"
    assert (found.loc[absent, "reason"] == "package_absent").all()
    assert found.loc[~absent, "reason"].isna().all()


def test_nothing_gives_no_rows() -> None:
    found = cross_check(
        pd.DataFrame(columns=["unit_id", "coder", "code", "applied"]).astype({"applied": bool})
    )
    assert len(found) == 0
    assert list(found)[:3] == ["code", "statistic", "n_units"]


# ---- the foot of the reliability table ----------------------------------------------------------------


def test_the_table_prints_the_second_opinion() -> None:
    decisions = study(5, coders=3)
    agreement, checked = by_code(decisions, n_boot=50, seed=1), cross_check(decisions)
    notes = report.tables.reliability(agreement, cross_check=checked).notes
    note = next(line for line in notes if line.startswith("Second opinion"))
    assert note.startswith(
        "Second opinion: alpha, percent, light_kappa, fleiss_kappa recomputed with krippendorff "
    )
    assert "scikit-learn" in note
    assert note.endswith("largest absolute difference below 1e-12.")
    off = checked.assign(difference=checked["difference"].where(checked["statistic"] != "percent", 0.0123))
    notes = report.tables.reliability(agreement, cross_check=off).notes
    assert any("difference 1.2e-02 (code" in line and ", percent)" in line for line in notes)
    assert not any("Second opinion" in line for line in report.tables.reliability(agreement).notes)


def test_a_cross_check_of_other_decisions_is_refused() -> None:
    agreement = by_code(study(5, coders=3), n_boot=50, seed=1)
    with pytest.raises(
        TableError, match="expected the alphas of the table – found others, or none, for 'code0'"
    ):
        report.tables.reliability(agreement, cross_check=cross_check(study(6, coders=3)))
    other = cross_check(study(5, coders=3)).drop(columns="difference")
    with pytest.raises(TableError, match="'difference'"):
        report.tables.reliability(agreement, cross_check=other)
