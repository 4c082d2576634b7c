"""Frames of values: their axes are named, and none is read the other way round or by position."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sense7_qual import agreement
from sense7_qual.errors import QualError, TableError

RNG = np.random.default_rng(8)
TRUTH = RNG.integers(1, 5, 40)
WIDE = pd.DataFrame(
    {name: np.where(RNG.random(40) < 0.8, TRUTH, RNG.integers(1, 5, 40)) for name in ("ana", "ben", "cleo")},
    index=[f"m{i}" for i in range(40)],
)
PAIR = WIDE[["ana", "ben"]]
SETS = WIDE.map(lambda value: frozenset({value}))
COEFFICIENTS: dict[str, Callable[[object], float]] = {
    "krippendorff_alpha": lambda values: agreement.coefficients.krippendorff_alpha(values, level="ordinal"),
    "percent_agreement": agreement.coefficients.percent_agreement,
    "fleiss_kappa": agreement.coefficients.fleiss_kappa,
    "conger_kappa": agreement.coefficients.conger_kappa,
    "light_kappa": agreement.coefficients.light_kappa,
    "brennan_prediger": agreement.coefficients.brennan_prediger,
    "gwet_ac": agreement.coefficients.gwet_ac,
    "specific_agreement": lambda values: agreement.coefficients.specific_agreement(values, category=2),
    "icc": lambda values: agreement.coefficients.icc(values, kind="agreement"),
    "kendall_w": agreement.coefficients.kendall_w,
    "estimate": lambda values: agreement.coefficients.estimate(values, "gwet_ac").low,
    "per_category": lambda values: agreement.coefficients.per_category(values)["alpha"].sum(),
}


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_a_frame_of_units_by_coders_is_refused_or_read_by_its_names(name: str) -> None:
    coefficient = COEFFICIENTS[name]
    expected = coefficient(WIDE.T.to_numpy())
    with pytest.raises(
        TableError, match=r"found a DataFrame of 40 rows × 3 columns .*from_wide.*\.T\.to_numpy"
    ):
        coefficient(WIDE)
    long = WIDE.rename_axis("unit_id").melt(var_name="coder", ignore_index=False).reset_index()
    for named in (
        agreement.from_wide(WIDE, coders="columns"),
        agreement.from_wide(WIDE.T, coders="rows"),
        agreement.from_wide(WIDE.rename_axis("unit_id").reset_index(), coders="columns"),
        long.pivot(index="unit_id", columns="coder", values="value"),
        long.pivot(index="coder", columns="unit_id", values="value"),
    ):
        assert coefficient(named) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("coefficient", [agreement.coefficients.cohen_kappa, agreement.coefficients.scott_pi])
def test_a_frame_of_two_coders(coefficient: Callable[[object], float]) -> None:
    with pytest.raises(TableError, match="from_wide"):
        coefficient(PAIR.head(2))  # 2 × 2: nothing in its shape says which are the coders
    assert coefficient(agreement.from_wide(PAIR, coders="columns")) == coefficient(PAIR.T.to_numpy())


def test_a_frame_of_sets_is_refused_or_read_by_its_names() -> None:
    expected = agreement.sets.set_alpha(SETS.T.to_numpy(), distance="masi")
    for alpha in (
        lambda sets: agreement.sets.set_alpha(sets, distance="masi"),
        agreement.sets.multivalued_alpha,
    ):
        with pytest.raises(TableError, match="found a DataFrame of 40 rows × 3 columns"):
            alpha(SETS)
    named = agreement.from_wide(SETS, coders="columns")
    assert agreement.sets.set_alpha(named, distance="masi") == expected
    assert agreement.coefficients.estimate(named.T, "set_alpha", distance="masi").estimate == pytest.approx(
        expected
    )


@pytest.mark.parametrize(
    "convert",
    [
        pl.from_pandas,
        pa.Table.from_pandas,
        lambda frame: ibis.memtable(pa.Table.from_pandas(frame)),
        lambda frame: pl.from_pandas(frame).lazy(),
    ],
)
def test_frames_of_other_packages_are_not_read_by_position(convert: Callable[[pd.DataFrame], object]) -> None:
    frame = convert(WIDE.reset_index(drop=True))
    for read in (agreement.coefficients.percent_agreement, agreement.sets.multivalued_alpha):
        with pytest.raises(TableError, match=r"which is not read by position – pass .*to_pandas\(\)"):
            read(frame)
    with pytest.raises(TableError, match="expected a pandas DataFrame"):
        agreement.from_wide(frame, coders="columns")


def test_series_of_different_units_are_not_matched_by_position() -> None:
    ana, ben = PAIR["ana"], PAIR["ben"]
    expected = agreement.coefficients.cohen_kappa(PAIR.T.to_numpy())
    assert agreement.coefficients.cohen_kappa([ana, ben]) == expected
    assert agreement.coefficients.cohen_kappa([ana.reset_index(drop=True), ben.to_numpy()]) == expected
    for rows in ([ana, ben[::-1]], [ana, ben.rename(str.upper)], [ana, ben.to_numpy()]):
        with pytest.raises(TableError, match="rows of the same units in the same order"):
            agreement.coefficients.cohen_kappa(rows)
    with pytest.raises(TableError, match="rows of the same units in the same order"):
        agreement.sets.multivalued_alpha([SETS["ana"], SETS["ben"][::-1]])


def test_computed_decisions_in_a_frame_are_no_coders() -> None:
    with_consensus = WIDE.assign(consensus=TRUTH)
    expected = agreement.coefficients.gwet_ac(WIDE.T.to_numpy())
    assert agreement.coefficients.gwet_ac(agreement.from_wide(with_consensus, coders="columns")) == expected


def test_white_space_around_ids_does_not_count() -> None:
    wide = agreement.from_wide(WIDE.rename(index=lambda unit: f" {unit}\t"), coders="columns")
    cluster = pd.Series([f"p{i // 4}" for i in range(40)], index=WIDE.index)
    found = agreement.coefficients.estimate(wide, "gwet_ac", groups=cluster[::-1], seed=1)
    expected = agreement.coefficients.estimate(
        WIDE.T.to_numpy(), "gwet_ac", groups=cluster.to_numpy(), seed=1
    )
    assert found == expected


@pytest.mark.parametrize(
    ("frame", "coders", "message"),
    [
        (WIDE.set_axis(["ana", "ana ", "cleo"], axis=1), "columns", "every coder once – found .* 'ana'"),
        (
            WIDE.set_axis(["ana", "Ana", "cleo"], axis=1),
            "columns",
            "differ in more than upper and lower case",
        ),
        (WIDE.assign(Consensus=1), "columns", "in lower case.*'Consensus' – write 'consensus'"),
        (WIDE.set_axis(["ana", " ", "cleo"], axis=1), "columns", "a coder for every row"),
        (WIDE.set_axis([*WIDE.index[:-1], "m0"]), "columns", "every unit_id once – found .* 'm0'"),
        (WIDE.assign(subject=range(1, 41)), "columns", "column 'subject' – make the ids the index"),
        (WIDE.assign(text=[f"words {i}" for i in range(40)]), "columns", "column 'text' – make the ids"),
        (WIDE.rename_axis("coder"), "columns", "rows of unit_id and columns of coder"),
        (pd.concat({"x": WIDE}, axis=1), "columns", "one label each"),
        (WIDE.T.to_numpy(), "rows", "found ndarray"),
    ],
)
def test_what_from_wide_refuses(frame: pd.DataFrame, coders: str, message: str) -> None:
    with pytest.raises(TableError, match=message):
        agreement.from_wide(frame, coders=coders)


def test_from_wide_asks_where_the_coders_are() -> None:
    with pytest.raises(QualError, match="did you mean 'columns'"):
        agreement.from_wide(WIDE, coders="column")


def test_an_array_with_far_more_coders_than_units_gets_a_warning() -> None:
    table = WIDE.to_numpy()
    for read in (
        agreement.coefficients.gwet_ac,
        agreement.coefficients.per_category,
        agreement.coefficients.kendall_w,
        agreement.sets.multivalued_alpha,
    ):
        values = SETS.to_numpy() if read is agreement.sets.multivalued_alpha else table
        with pytest.warns(RuntimeWarning, match=r"40 coders × 3 units.*3 coders × 40 units") as caught:
            read(values)
        assert caught[0].filename == __file__
    with pytest.warns(RuntimeWarning, match="40 coders × 3 units"):
        agreement.coefficients.estimate(table, "gwet_ac")


@pytest.mark.parametrize("shape", [(5, 3), (5, 4), (8, 3), (10, 2), (12, 5)])
def test_a_small_array_of_units_by_coders_gets_it_too(shape: tuple[int, int]) -> None:
    values = RNG.integers(0, 2, shape)
    for read in (agreement.coefficients.gwet_ac, agreement.coefficients.per_category):
        with pytest.warns(RuntimeWarning, match=rf"read as {shape[0]} coders × {shape[1]} units"):
            read(values)


def test_what_is_likely_right_gets_no_warning() -> None:
    named = WIDE.set_axis([f"rater {i}" for i in range(40)]).set_axis(["m1", "m2", "m3"], axis=1)
    crowd = agreement.from_wide(named, coders="rows")  # 40 coders of three units, and it says so
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agreement.coefficients.gwet_ac(crowd)
        for shape in ((4, 2), (5, 5), (13, 4), (30, 10), (400, 500), (3, 40)):
            agreement.coefficients.gwet_ac(RNG.integers(0, 2, shape))


@pytest.mark.long
def test_decisions_of_many_coders_get_no_warning() -> None:
    rows = [
        (f"m{unit}", f"c{coder}", "interest", (unit + coder) % 3 == 0)
        for unit in range(3)
        for coder in range(40)
    ]
    decisions = pd.DataFrame(rows, columns=["unit_id", "coder", "code", "applied"])
    assert agreement.by_code(decisions, seed=1)["n_coders"].tolist() == [40]
    assert agreement.overall(decisions, seed=1)["n_coders"].tolist() == [40]
    assert len(agreement.diagnosis.cross_check(decisions))


def test_clusters_are_found_by_unit_id_and_never_by_position() -> None:
    table = WIDE.T.to_numpy()
    cluster = pd.Series([f"p{i // 4}" for i in range(40)], index=WIDE.index)
    expected = agreement.coefficients.estimate(table, "gwet_ac", groups=cluster.to_numpy(), seed=1)
    wide = agreement.from_wide(WIDE, coders="columns")
    for labels in (cluster, cluster.sample(frac=1, random_state=1), cluster.rename(lambda unit: f"{unit} ")):
        assert agreement.coefficients.estimate(wide, "gwet_ac", groups=labels, seed=1) == expected
        with pytest.raises(TableError, match="found a Series with an index of its own"):
            agreement.coefficients.estimate(table, "gwet_ac", groups=labels, seed=1)
    for labels in (cluster.to_numpy(), cluster.tolist(), cluster.reset_index(drop=True), cluster.iloc[:30]):
        with pytest.raises(TableError, match="groups: expected"):
            agreement.coefficients.estimate(wide, "gwet_ac", groups=labels, seed=1)
    assert (
        agreement.coefficients.estimate(table, "gwet_ac", groups=cluster.reset_index(drop=True), seed=1)
        == expected
    )
    numbered = agreement.from_wide(WIDE.reset_index(drop=True), coders="columns")  # units without ids
    for labels in (cluster.tolist(), cluster.reset_index(drop=True)):
        assert agreement.coefficients.estimate(numbered, "gwet_ac", groups=labels, seed=1) == expected


def test_white_space_around_a_cluster_is_no_other_cluster() -> None:
    table = WIDE.T.to_numpy()
    labels = [f"p{i // 4}" for i in range(40)]
    expected = agreement.coefficients.estimate(table, "gwet_ac", groups=labels, seed=1)
    padded = [f"{label} " if i % 2 else label for i, label in enumerate(labels)]
    assert agreement.coefficients.estimate(table, "gwet_ac", groups=padded, seed=1) == expected
    with pytest.raises(TableError, match="found none for units '0'"):
        agreement.coefficients.estimate(table, "gwet_ac", groups=[" ", *labels[1:]], seed=1)


# ---- what stands in a sheet beside the values ---------------------------------------------------------

SHEET = pd.DataFrame({"unit_id": ["m1", "m2", "m3", "m4"], "ana": [1, 2, 2, 1], "ben": [1, 2, 1, 1]})


def alpha_of(sheet: pd.DataFrame, **options: object) -> float:
    return agreement.coefficients.krippendorff_alpha(
        agreement.from_wide(sheet, coders="columns", **options), level="interval"
    )


@pytest.mark.parametrize("name", ["Total", "Sum", "mean:", "Mittelwert", "Σ".replace("Σ", "Итого"), "合計"])
def test_a_row_or_column_of_totals_is_asked_about(name: str) -> None:
    """It made an alpha of .533 one of .939."""
    with_total = pd.concat([SHEET, pd.DataFrame({"unit_id": [name], "ana": [6], "ben": [5]})])
    with pytest.raises(
        TableError, match=f"found unit_id '{name}', as totals and means are called – drop it, or"
    ):
        alpha_of(with_total)
    with pytest.raises(TableError, match="as totals and means are called"):
        agreement.from_wide(with_total.set_index("unit_id").T, coders="rows")
    assert alpha_of(with_total, keep=[name]) == pytest.approx(0.939, abs=5e-4)  # a text of that name
    with pytest.raises(TableError, match=f"found coder '{name}'"):
        alpha_of(SHEET.assign(**{name: [1, 2, 1, 1]}))
    assert alpha_of(SHEET) == pytest.approx(0.533, abs=5e-4)


@pytest.mark.parametrize(
    ("column", "problem"),
    [
        ([3, 4, 5, 2], "numbers on another scale than all others"),
        ([80, 20, 65, 90], "numbers on another scale than all others"),
        (["m", "f", "f", "m"], "no numbers, which others hold"),
        (pd.to_datetime(["2026-01-01"] * 4), "no numbers, which others hold"),
    ],
)
def test_a_column_of_another_kind_or_scale_is_refused(column: object, problem: str) -> None:
    """Ratings from 2 to 5, read as a third coder, made an alpha of .533 one of .010."""
    with pytest.raises(TableError, match=rf"found {problem}.* in 'rating' – drop what is not a coder"):
        alpha_of(SHEET.assign(rating=column))
    by_row = SHEET.assign(rating=column).set_index("unit_id").T
    with pytest.raises(TableError, match=problem):
        agreement.from_wide(by_row, coders="rows")


def test_a_coder_with_another_part_of_the_scale_can_be_kept() -> None:
    sheet = SHEET.assign(cleo=[5, 2, 4, 5])
    with pytest.raises(TableError, match=r"another scale than all others in 'cleo' – .* keep=\['cleo'\]"):
        alpha_of(sheet)
    assert alpha_of(sheet, keep=["cleo"]) < 0
    assert alpha_of(SHEET.assign(cleo=[1, 2, 3, 2])) > 0  # one more point of the scale is no other scale


def test_words_that_nobody_else_uses_are_no_coders_values() -> None:
    sheet = pd.DataFrame(
        {"ana": ["warm", "cold", "warm"], "ben": ["warm", "warm", None], "cond": ["a", "b", "a"]}
    )
    with pytest.raises(TableError, match="no word that another column has in 'cond'"):
        agreement.from_wide(sheet, coders="columns")
    agreement.from_wide(sheet[["ana", "ben"]], coders="columns")


def test_a_coder_of_ones_and_blanks_is_refused() -> None:
    sheet = pd.DataFrame({"ana": [1, 1, 0, 0, 0, 0, 1], "ben": [1, 1, 1, *[None] * 4]})
    with pytest.raises(TableError, match=r"ones and blanks alone \(write 0 where it is absent\) in 'ben'"):
        alpha_of(sheet)
    assert alpha_of(sheet.fillna(0)) == pytest.approx(0.458, abs=5e-4)
    assert alpha_of(sheet, keep=["ben"]) == pytest.approx(0, abs=5e-4)


def test_units_that_differ_in_case_alone_are_refused() -> None:
    sheet = SHEET.assign(unit_id=["m1", "M1", "m3", "m4"])
    with pytest.raises(
        TableError, match="every unit_id to differ in more than upper and lower case – found 'm1', 'M1'"
    ):
        alpha_of(sheet)
    assert alpha_of(sheet, keep=["m1", "M1"]) == alpha_of(SHEET)


def test_values_half_way_between_two_points_get_a_warning() -> None:
    sheet = pd.DataFrame({"ana": [1, 2, 3, 2.5, 4], "ben": [1, 2, 3, 3, 4]})
    with pytest.warns(RuntimeWarning, match="1 of 10 values are half-way between two points") as caught:
        agreement.from_wide(sheet, coders="columns")
    assert caught[0].filename == __file__
    for silent in (sheet / 2, sheet.round(), sheet.replace(2.5, 2.7)):
        agreement.from_wide(silent, coders="columns")
