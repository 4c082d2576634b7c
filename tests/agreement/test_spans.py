from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from sense7_qual import acts
from sense7_qual.agreement import spans as sp
from sense7_qual.agreement.spans import _unitizing_alphas
from sense7_qual.agreement.spans._values import continuum
from sense7_qual.codebook import Codebook
from sense7_qual.errors import TableError
from sense7_qual.frames import CODINGS, COVERAGE
from tests.helpers.reference import reference_rows

COLUMNS = ["unit_id", "coder", "code", "start", "end"]

Span = tuple[str, str, str, int | None, int | None]


def frame(rows: list[Span]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=COLUMNS).astype({"start": "Int64", "end": "Int64"})


@pytest.mark.parametrize("row", reference_rows("u_alpha_2016"))
def test_u_alphas_of_the_reference(row: dict[str, Any]) -> None:
    spans = pd.DataFrame(row["data"]["rows"]).rename(columns={"category": "code"}).assign(unit_id="t")
    found = sp.unitizing_alphas(spans, {"t": row["data"]["length"]})
    assert found.u_alpha == pytest.approx(row["value"], abs=row["tolerance"])


# Krippendorff (2004), Content Analysis (2nd ed.), p. 254; the continuum begins at 150 and is 300 long.
KRIPPENDORFF_2004: list[Span] = [
    ("t", "i", "c", 75, 145),
    ("t", "i", "c", 220, 250),
    ("t", "j", "c", 70, 150),
    ("t", "j", "c", 205, 225),
    ("t", "j", "c", 250, 270),
    ("t", "i", "k", 30, 90),
    ("t", "i", "k", 150, 200),
    ("t", "j", "k", 30, 90),
    ("t", "j", "k", 150, 200),
]


@pytest.mark.parametrize(("code", "alpha"), [("c", 0.7286), ("k", 1.0)])
def test_the_example_of_krippendorff_2004_by_code(code: str, alpha: float) -> None:
    spans = frame([row for row in KRIPPENDORFF_2004 if row[2] == code])
    assert sp.alpha_u_2004(spans, {"t": 300}) == pytest.approx(alpha, abs=5e-5)


def test_the_example_of_krippendorff_2004_over_both_codes() -> None:
    # Observed .0144 + .0000, expected .0532 + .0490: 1 − .0144 / .1022, with rounding.
    assert sp.alpha_u_2004(frame(KRIPPENDORFF_2004), {"t": 300}) == pytest.approx(0.8591, abs=5e-4)


# Krippendorff (1995), Sociological Methodology 25, p. 57: two coders, a continuum of 24, each category alone.
CATEGORIES_1995 = {
    "A": [[(2, 10), (14, 20)], [(4, 8), (15, 17)]],
    "B": [[(0, 18)], [(0, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 9), (9, 10)]],
    "C": [[(2, 8), (10, 12), (14, 18), (20, 22)], [(0, 2), (4, 8), (10, 14), (16, 18), (20, 22)]],
    "D": [
        [(0, 2), (2, 10), (10, 14), (14, 20), (20, 24)],
        [(0, 4), (4, 8), (8, 15), (15, 17), (17, 24)],
    ],
}
FINELY = 50_000  # the continuum is cut into 24 · 50,000, where rounding to whole places no longer matters


def example_of_1995(category: str, length: int) -> list[np.ndarray]:
    """The spans of both coders, the continuum of 24 stretched to `length`."""
    return [np.array(spans, dtype=np.float64) * length / 24 for spans in CATEGORIES_1995[category]]


def alpha_of_1995(category: str, length: int) -> float:
    rows: list[Span] = [
        ("t", f"coder{i}", category, int(start), int(end))
        for i, spans in enumerate(example_of_1995(category, length))
        for start, end in spans
    ]
    return sp.alpha_u_2004(frame(rows), {"t": length})


@pytest.mark.parametrize(
    ("category", "observed"), [("A", 0.03125), ("B", 2.26736), ("C", 0.02777), ("D", 0.38715)]
)
def test_observed_disagreements_of_krippendorff_1995(category: str, observed: float) -> None:
    spans = example_of_1995(category, 24)
    assert _unitizing_alphas._observed_borders(spans, 24) == pytest.approx(observed, abs=1e-5)


@pytest.mark.parametrize(
    ("category", "length", "expected", "alpha"),
    [("A", 24 * FINELY, 0.06990, 0.553), ("D", 24 * FINELY, 0.41445, 0.066), ("C", 12, 0.05494, 0.494)],
)
def test_alphas_of_krippendorff_1995(category: str, length: int, expected: float, alpha: float) -> None:
    """As quoted in the tests of DKPro Statistics, which meets them to .005 and .02 only."""
    spans = example_of_1995(category, length)
    assert _unitizing_alphas._expected_borders(spans, length) == pytest.approx(expected, abs=1e-5)
    assert alpha_of_1995(category, length) == pytest.approx(alpha, abs=6e-4)


def test_what_is_wrong_in_two_figures_of_krippendorff_1995() -> None:
    """Category C: .08642 and an alpha of .679 for finely cut continua. A span cannot be compared with itself:
    Σ l (l − 1) is taken out of the number of pairs (2004, p. 253). So it was for A and D, and for C at a
    length of 12, but not for C beyond that: taken out, the figures are .09051 and .693. Category B: 1.17731
    is .13 % above the finely cut 1.17578, because each gap was counted one place longer at a length of 24.
    """
    length = 24 * FINELY
    spans = example_of_1995("C", length)
    long = np.concatenate([end - start for start, end in (one.T for one in spans)])
    all_pairs = 2 * length * (2 * length - 1)
    expected = _unitizing_alphas._expected_borders(spans, length)
    with_itself = expected * (all_pairs - (long * (long - 1)).sum()) / all_pairs
    assert with_itself == pytest.approx(0.08642, abs=1e-5)
    assert 1 - _unitizing_alphas._observed_borders(spans, length) / with_itself == pytest.approx(
        0.679, abs=6e-4
    )
    assert expected == pytest.approx(0.09051, abs=1e-5)
    assert alpha_of_1995("C", length) == pytest.approx(0.693, abs=5e-4)

    b = example_of_1995("B", 24)
    long = np.concatenate([end - start for start, end in (one.T for one in b)])
    longer = sum(n**2 for n in long for gap in (6, 14) if gap >= n)  # one place more in each gap it fits into
    pairs = 48**2 - np.square(long).sum()
    coarse = 2 / 24 * (7 * 2 / 3 * (long**3).sum() + _room(long, (6, 14)) + longer) / pairs
    assert coarse == pytest.approx(1.17731, abs=1e-5)
    fine = _unitizing_alphas._expected_borders(example_of_1995("B", length), length)
    assert fine == pytest.approx(1.17578, abs=1e-5)


def _room(long: np.ndarray, gaps: tuple[int, ...]) -> float:
    return float(sum(n**2 * (gap - n) for n in long for gap in gaps if gap >= n))


def test_three_coders_as_another_program_has_them() -> None:
    """The example of A. Lindahl's unitized alpha (NoDaLiDa 2025), three coders, spans that overlap in part:
    u-alpha .474, |u-alpha .433, cu-alpha .779 covering 38.33 %, (k)u-alphas .769 and .787."""
    rows: list[Span] = [
        ("t", "alex", "1", 2, 5),
        ("t", "alex", "1", 9, 11),
        ("t", "alex", "2", 12, 20),
        ("t", "paul", "1", 2, 5),
        ("t", "paul", "2", 7, 15),
        ("t", "susan", "1", 2, 5),
        ("t", "susan", "2", 10, 15),
    ]
    found = sp.unitizing_alphas(frame(rows), {"t": 20})
    assert round(found.u_alpha, 3) == 0.474
    assert round(found.binary_u_alpha, 3) == 0.433
    assert round(found.cu_alpha, 3) == 0.779
    assert round(100 * found.coded_share, 2) == 38.33
    assert {code: round(alpha, 3) for code, alpha in found.ku_alpha.items()} == {"1": 0.769, "2": 0.787}


@st.composite
def studies(draw: st.DrawFn, *, overlap: bool = False) -> tuple[pd.DataFrame, dict[str, int], pd.DataFrame]:
    """A few coders' spans on a few short texts, some texts unfinished by some."""
    coders = draw(st.integers(2, 4))
    lengths = {f"t{i}": draw(st.integers(3, 14)) for i in range(draw(st.integers(1, 3)))}
    rows: list[Span] = []
    finished = []
    for unit, length in lengths.items():
        for coder in range(coders):
            if draw(st.integers(0, 5)):
                finished.append((unit, f"c{coder}"))
            for code in "abc" if overlap else "a":
                cuts = draw(st.lists(st.integers(0, length), max_size=6, unique=True).map(sorted))
                for start, end in zip(cuts[::2], cuts[1::2], strict=False):
                    chosen = code if overlap else draw(st.sampled_from("abc"))
                    rows.append((unit, f"c{coder}", chosen, start, end))
    return frame(rows), lengths, pd.DataFrame(finished, columns=["unit_id", "coder"])


def by_character(
    spans: pd.DataFrame, lengths: dict[str, int], coverage: pd.DataFrame
) -> list[tuple[list[str], list[dict[str, set[str]]]]]:
    """For each text two or more finished: its coders, and what each gave each character."""
    texts = []
    for unit, length in lengths.items():
        coders = sorted(set(coverage.loc[coverage["unit_id"] == unit, "coder"]))
        if len(coders) < 2:
            continue
        characters: list[dict[str, set[str]]] = [{coder: set() for coder in coders} for _ in range(length)]
        for row in spans[spans["unit_id"] == unit].itertuples():
            for place in range(int(row.start), int(row.end)):
                if row.coder in coders:
                    characters[place][str(row.coder)].add(str(row.code))
        texts.append((coders, characters))
    return texts


def brute_alphas(
    spans: pd.DataFrame, lengths: dict[str, int], coverage: pd.DataFrame, code: str | None
) -> tuple[float, float, dict[str, float]]:
    """u-alpha, cu-alpha and (k)u-alphas, character by character and span by span (2016, equations 4–13).

    With a code, everything else is a gap.
    """
    texts = by_character(spans, lengths, coverage)
    observed: dict[tuple[str, str], float] = {}
    for coders, characters in texts:
        for character in characters:
            for i in coders:
                for j in coders:
                    if i == j:
                        continue
                    pair = []
                    for coder in (i, j):
                        (value,) = character[coder] or {"gap"}
                        pair.append(value if code is None or value == code else "gap")
                    key = (pair[0], pair[1])
                    observed[key] = observed.get(key, 0.0) + 1 / (len(coders) - 1)
    squares: dict[str, float] = {}
    parts: dict[str, float] = {}
    finished = {(row.unit_id, row.coder) for row in coverage.itertuples()}
    characters_of = dict(
        zip([u for u in lengths if sum(x[0] == u for x in finished) > 1], texts, strict=True)
    )
    for row in spans.itertuples():
        if (row.unit_id, row.coder) not in finished or row.unit_id not in characters_of:
            continue
        value = str(row.code)
        if code is not None and value != code:
            continue
        squares[value] = squares.get(value, 0.0) + (row.end - row.start) ** 2
        coders, characters = characters_of[str(row.unit_id)]
        for other in coders:
            if other != row.coder:
                part = sum(bool(characters[place][other]) for place in range(row.start, row.end))
                parts[value] = parts.get(value, 0.0) + part**2 / (len(coders) - 1)
    squares["gap"] = sum(n for (a, _), n in observed.items() if a == "gap")

    def margins(table: dict[tuple[str, str], float]) -> dict[str, float]:
        return {v: sum(n for (a, _), n in table.items() if a == v) for v in {a for a, _ in table}}

    def alpha(table: dict[tuple[str, str], float], own: dict[str, float]) -> tuple[float, dict[str, float]]:
        margin = margins(table)
        total = sum(margin.values())
        denominator = total - sum(own.get(v, 0.0) for v in margin) / total if total else 0.0
        if denominator <= 1e-9 or len(margin) < 2:
            return math.nan, dict.fromkeys(margin, math.nan)
        expected = {
            (a, b): (margin[a] * margin[b] - (a == b) * own.get(a, 0.0)) / denominator
            for a in margin
            for b in margin
        }
        apart = [sum(n for (a, b), n in values.items() if a != b) for values in (table, expected)]
        each = {}
        for k in margin:
            e_k = sum(expected[k, b] for b in margin)
            e_kk, o_kk = expected[k, k], table.get((k, k), 0.0)
            each[k] = 1 - e_k / margin[k] * (margin[k] - o_kk) / (e_k - e_kk) if e_k > 1e-9 else math.nan
        return 1 - apart[0] / apart[1], each

    coded = {key: n for key, n in observed.items() if "gap" not in key}
    u_alpha, _ = alpha(observed, squares)
    cu_alpha, each = alpha(coded, parts)
    return u_alpha, cu_alpha, each


@pytest.mark.long
@given(study=studies())
@settings(max_examples=60, deadline=None)
def test_the_family_equals_its_definition_character_by_character(
    study: tuple[pd.DataFrame, dict[str, int], pd.DataFrame],
) -> None:
    spans, lengths, coverage = study
    found = sp.unitizing_alphas(spans, lengths, coverage=coverage)
    u_alpha, cu_alpha, each = brute_alphas(spans, lengths, coverage, None)
    assert found.u_alpha == pytest.approx(u_alpha, abs=1e-9, nan_ok=True)
    assert found.cu_alpha == pytest.approx(cu_alpha, abs=1e-9, nan_ok=True)
    for code, alpha in found.ku_alpha.items():
        assert alpha == pytest.approx(each.get(code, math.nan), abs=1e-9, nan_ok=True)
    assert (found.reason is None) or math.isnan(found.u_alpha) or math.isnan(found.cu_alpha)
    merged = spans.assign(code="any")
    touching = spans.merge(spans, left_on=["unit_id", "coder", "end"], right_on=["unit_id", "coder", "start"])
    if touching.empty:
        binary = brute_alphas(merged, lengths, coverage, None)[0]
        assert found.binary_u_alpha == pytest.approx(binary, abs=1e-9, nan_ok=True)


def full(codings: pd.DataFrame, coverage: pd.DataFrame, lengths: dict[str, int]) -> list[pd.DataFrame]:
    """The frames as a store returns them."""
    units = pd.DataFrame(
        {
            "unit_id": list(lengths),
            "text": ["é" * n for n in lengths.values()],
            "document_id": "d",
            "case_id": "p",
            "position": 0,
        }
    )
    blank = {name: pd.NA for name in [*CODINGS.columns, *COVERAGE.columns] if name not in COLUMNS}
    return [
        codings.assign(**{name: blank[name] for name in CODINGS.columns if name not in COLUMNS}),
        coverage.assign(**{name: blank[name] for name in COVERAGE.columns if name in blank}),
        units,
    ]


@pytest.mark.long
@given(study=studies(overlap=True))
@settings(max_examples=25, deadline=None)
def test_each_code_of_overlapping_ones_equals_its_definition(
    study: tuple[pd.DataFrame, dict[str, int], pd.DataFrame],
) -> None:
    spans, lengths, coverage = study
    found = sp.span_agreement(*full(spans, coverage, lengths), n_boot=20, seed=7).set_index("code")
    assert list(found.index) == list(spans["code"].unique())
    for code, row in found.iterrows():
        own = spans[spans["code"] == code]
        assert row["alpha_all_text"] == pytest.approx(
            brute_alphas(own, lengths, coverage, str(code))[0], abs=1e-9, nan_ok=True
        )
        for name, reason in REASONS.items():
            assert math.isnan(row[f"{name}_low"]) == isinstance(row[reason], str)
            without = {"no_pairable_units", "no_variation", "not_coded_by_two", "one_code", "too_few_spans"}
            assert math.isnan(row[name]) == (isinstance(row[reason], str) and row[reason] in without)
        texts = by_character(own, lengths, coverage)
        marked = [len(given) > 0 for _, line in texts for character in line for given in character.values()]
        prevalence = np.mean(marked) if marked else math.nan
        assert row["prevalence"] == pytest.approx(prevalence, abs=1e-12, nan_ok=True)
        assert row["overlap_f1"] == pytest.approx(brute_f1(texts), abs=1e-12, nan_ok=True)


REASONS = {
    "alpha_all_text": "reason",
    "alpha_coded_text": "reason_coded_text",
    "alpha_u_2004": "reason_2004",
    "overlap_f1": "reason_f1",
}


def brute_f1(texts: list[tuple[list[str], list[dict[str, set[str]]]]]) -> float:
    coders = sorted({coder for names, _ in texts for coder in names})
    scores = []
    for i, a in enumerate(coders):
        for b in coders[i + 1 :]:
            lines = [c for names, line in texts if {a, b} <= set(names) for c in line]
            both = sum(bool(c[a] and c[b]) for c in lines)
            either = sum(bool(c[a]) + bool(c[b]) for c in lines)
            if either:
                scores.append(2 * both / either)
    return float(np.mean(scores)) if scores else math.nan


def brute_alpha_u_2004(spans: pd.DataFrame, length: int) -> float:
    """Krippendorff (2004), pp. 251–253, segment by segment, gaps among them."""
    coders = list(spans["coder"].unique())
    observed = expected = 0.0
    for code in spans["code"].unique():
        lines = []
        for coder in coders:
            rows = spans[(spans["code"] == code) & (spans["coder"] == coder)].sort_values("start")
            line, last = [], 0
            for start, end in zip(rows["start"], rows["end"], strict=True):
                line += [(last, start, 0)] * int(start > last) + [(start, end, 1)]
                last = end
            lines.append(line + [(last, length, 0)] * int(length > last))
        for i, mine in enumerate(lines):
            for j, theirs in enumerate(lines):
                for a, b, v in mine if i != j else []:
                    for c, d, w in theirs:
                        if v and w and max(a, c) < min(b, d):
                            observed += (a - c) ** 2 + (b - d) ** 2
                        elif v and not w and c <= a and b <= d:
                            observed += (b - a) ** 2
                        elif w and not v and a <= c and d <= b:
                            observed += (d - c) ** 2
        units = [b - a for line in lines for a, b, v in line if v]
        gaps = [b - a for line in lines for a, b, v in line if not v]
        total = sum(
            (len(units) - 1) / 3 * (2 * n**3 - 3 * n**2 + n) + n**2 * sum(g - n + 1 for g in gaps if g >= n)
            for n in units
        )
        size = len(coders) * length
        pairs = size * (size - 1) - sum(n * (n - 1) for n in units)
        expected += 2 / length * total / pairs if pairs else 0
    observed /= len(coders) * (len(coders) - 1) * length**2
    return 1 - observed / expected if expected else math.nan


@pytest.mark.long
@given(study=studies())
@settings(max_examples=50, deadline=None)
def test_the_older_alpha_equals_its_definition(
    study: tuple[pd.DataFrame, dict[str, int], pd.DataFrame],
) -> None:
    spans, lengths, _ = study
    spans, length = spans[spans["unit_id"] == "t0"], lengths["t0"]
    if spans["coder"].nunique() < 2:
        return
    line = continuum(spans, {"t0": length}, None, by_all=True)
    found, reason = _unitizing_alphas.border_alpha(line, range(len(line.codes)))
    assert found == pytest.approx(brute_alpha_u_2004(spans, length), abs=1e-9, nan_ok=True)
    assert math.isnan(found) == (reason is not None)


@pytest.mark.long
@given(study=studies(overlap=True), seed=st.integers(0, 99))
@settings(max_examples=12, deadline=None)
def test_neither_order_nor_names_matter(
    study: tuple[pd.DataFrame, dict[str, int], pd.DataFrame], seed: int
) -> None:
    spans, lengths, coverage = study
    numbers = ["prevalence", "alpha_all_text", "alpha_coded_text", "overlap_f1", "coded_share", "n_spans"]
    before = sp.span_agreement(*full(spans, coverage, lengths), n_boot=20, seed=7).set_index("code")[numbers]
    rng = np.random.default_rng(seed)
    names = dict(zip([f"c{i}" for i in range(4)], rng.permutation(list("wxyz")).tolist(), strict=True))
    renamed = spans.sample(frac=1, random_state=seed).assign(coder=lambda f: f["coder"].map(names))
    order = {unit: lengths[unit] for unit in rng.permutation(list(lengths)).tolist()}
    done = coverage.sample(frac=1, random_state=seed).assign(coder=lambda f: f["coder"].map(names))
    after = sp.span_agreement(*full(renamed, done, order), n_boot=20, seed=7).set_index("code")[numbers]
    pd.testing.assert_frame_equal(before, after.loc[before.index], atol=1e-9, rtol=0)


@pytest.mark.long
@given(study=studies())
@settings(max_examples=15, deadline=None)
def test_equal_spans_agree_perfectly(study: tuple[pd.DataFrame, dict[str, int], pd.DataFrame]) -> None:
    spans, lengths, _ = study
    one = spans[spans["coder"] == "c0"]
    same = pd.concat([one.assign(coder=coder) for coder in ("x", "y", "z")], ignore_index=True)
    found = sp.unitizing_alphas(same, lengths)
    for alpha in (found.u_alpha, found.binary_u_alpha, found.cu_alpha, *found.ku_alpha.values()):
        assert alpha == pytest.approx(1, abs=1e-12) or math.isnan(alpha)
    if len(one):
        assert sp.overlap_f1(one, one) == 1
        assert math.isnan(found.u_alpha) == (found.reason == "no_variation")


def test_a_unit_that_is_not_finished_is_missing_and_a_finished_one_without_spans_is_data() -> None:
    spans = frame([("m1", "ana", "a", 0, 5), ("m1", "ben", "a", 0, 5), ("m2", "ana", "a", 0, 5)])
    lengths = {"m1": 10, "m2": 10}
    columns = ["unit_id", "coder"]
    seen = pd.DataFrame([("m1", "ana"), ("m1", "ben"), ("m2", "ana")], columns=columns)
    assert sp.unitizing_alphas(spans, lengths, coverage=seen).u_alpha == 1
    both = pd.DataFrame([*seen.itertuples(index=False), ("m2", "ben")], columns=columns)
    found = sp.unitizing_alphas(spans, lengths, coverage=both)
    assert found.u_alpha < 0.6
    assert (found.n_units, found.n_characters, found.n_spans, found.n_coders) == (2, 20, 3, 2)
    # A span where its coder has not finished is not data.
    early = pd.concat([spans, frame([("m2", "ben", "a", 3, 4)])])
    assert sp.unitizing_alphas(early, lengths, coverage=seen).u_alpha == 1


def test_unseen_units_and_computed_coders_change_nothing() -> None:
    spans = frame([("m1", "ana", "a", 0, 5), ("m1", "ben", "a", 2, 5)])
    alone = sp.unitizing_alphas(spans, {"m1": 10})
    more = pd.concat([spans, frame([("m1", "consensus", "a", 0, 9)])])
    coverage = pd.DataFrame({"unit_id": "m1", "coder": ["ana", "ben", "consensus"]})
    found = sp.unitizing_alphas(more, {"m1": 10, "m2": 50}, coverage=coverage)
    assert found == alone


def test_a_coding_of_the_whole_text_counts_as_a_span_over_it() -> None:
    whole = frame([("m1", "ana", "a", None, None), ("m1", "ben", "a", 0, 4), ("m2", "ben", "b", 1, 2)])
    spelled = frame([("m1", "ana", "a", 0, 10), ("m1", "ben", "a", 0, 4), ("m2", "ben", "b", 1, 2)])
    lengths = {"m1": 10, "m2": 10}
    assert sp.unitizing_alphas(whole, lengths) == sp.unitizing_alphas(spelled, lengths)


def test_overlapping_spans_of_one_code_are_joined_and_adjoining_ones_are_not() -> None:
    other = ("m1", "ben", "a", 0, 8)
    parts = sp.unitizing_alphas(
        frame([("m1", "ana", "a", 0, 5), ("m1", "ana", "a", 3, 8), other]), {"m1": 20}
    )
    one = sp.unitizing_alphas(frame([("m1", "ana", "a", 0, 8), other]), {"m1": 20})
    two = sp.unitizing_alphas(frame([("m1", "ana", "a", 0, 5), ("m1", "ana", "a", 5, 8), other]), {"m1": 20})
    assert parts == one
    assert two.n_spans == 3
    within = [("m1", "ana", "a", 0, 8), ("m1", "ana", "a", 1, 2), ("m1", "ana", "a", 6, 8), other]
    assert sp.unitizing_alphas(frame(within), {"m1": 20}) == one


def test_codes_that_overlap_have_no_alpha_in_common() -> None:
    spans = frame([("m1", "ana", "a", 0, 5), ("m1", "ana", "b", 3, 8), ("m1", "ben", "a", 0, 7)])
    found = sp.unitizing_alphas(spans, {"m1": 10})
    assert math.isnan(found.u_alpha)
    assert found.reason == "overlapping_codes"
    assert math.isfinite(found.ku_alpha["a"])


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([("m1", "ana", "a", 0, 5)], "no_pairable_units"),
        ([("m1", "ana", "a", 0, 9), ("m1", "ben", "a", 0, 9)], "no_variation"),
        ([("m1", "ana", "a", 0, 3), ("m1", "ben", "a", 0, 3)], "one_code"),
        ([("m1", "ana", "a", 0, 3), ("m1", "ben", "b", 5, 6)], "not_coded_by_two"),
    ],
)
def test_what_cannot_be_computed_has_a_reason(rows: list[Span], reason: str) -> None:
    assert sp.unitizing_alphas(frame(rows), {"m1": 9}).reason == reason


def test_nobody_has_coded_anything() -> None:
    coverage = pd.DataFrame({"unit_id": "m1", "coder": ["ana", "ben"]})
    found = sp.unitizing_alphas(frame([]), {"m1": 9}, coverage=coverage)
    assert (found.reason, found.n_units, found.n_coders) == ("no_variation", 1, 2)
    with pytest.warns(RuntimeWarning, match="no_variation"):
        assert math.isnan(sp.alpha_u_2004(frame([]), {"m1": 9}, coverage=coverage))
    with pytest.warns(RuntimeWarning, match="no_pairable_units"):
        assert math.isnan(sp.alpha_u_2004(frame([("m1", "ana", "a", 0, 5)]), {"m1": 9}))
    empty = sp.span_agreement(*full(frame([]), coverage, {"m1": 9}), n_boot=20, seed=7)
    assert list(empty.columns)[:2] == ["code", "n_units"]
    assert len(empty) == 0


def test_overlap_f1_of_two_coders() -> None:
    ana = frame([("m1", "ana", "a", 0, 10), ("m2", "ana", "a", 0, 4), ("m2", "ana", "b", 0, 4)])
    ben = frame([("m1", "ben", "a", 5, 15), ("m2", "ben", "b", 2, 4)])
    # 5 + 2 characters shared; 18 and 12 marked.
    assert sp.overlap_f1(ana, ben) == pytest.approx(14 / 30)
    assert sp.overlap_f1(ben, ana) == sp.overlap_f1(ana, ben)
    assert sp.overlap_f1(ana, ben.iloc[:0]) == 0
    with pytest.warns(RuntimeWarning, match="neither coder has a span"):
        assert math.isnan(sp.overlap_f1(ana.iloc[:0], ben.iloc[:0]))
    whole = frame([("m1", "ben", "a", None, None)])
    assert sp.overlap_f1(ana.iloc[:1], whole, lengths={"m1": 20}) == pytest.approx(20 / 30)
    with pytest.raises(TableError, match="codings of whole texts on 'm1'"):
        sp.overlap_f1(ana, whole)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([("m1", "ana", "a", 0, 11)], "0 ≤ start < end ≤ length of the text – found others on units 'm1'"),
        ([("m1", "ana", "a", 3, 3)], "start < end"),
        ([("m1", "ana", "a", -1, 3)], "start < end"),
        ([("m1", "ana", "a", 3, None)], "leave both out for the whole text"),
        ([("m7", "ana", "a", 0, 3)], "units with a length – found none for 'm7'"),
        ([("m1", "ana", "a", 0, 3), ("m1", "ana", "a", 0, 3)], "once"),
    ],
)
def test_spans_that_are_none(rows: list[Span], said: str) -> None:
    with pytest.raises(TableError, match=said):
        sp.unitizing_alphas(frame(rows), {"m1": 10})


@pytest.mark.parametrize("length", [0, 2.5, float("nan"), "long", None])
def test_lengths_that_are_none(length: object) -> None:
    with pytest.raises(TableError, match="whole numbers of characters from 1 – found others for 'm1'"):
        sp.unitizing_alphas(frame([]), {"m1": length})  # type: ignore[dict-item]


def test_more_bad_input() -> None:
    spans = frame([("m1", "ana", "a", 0, 3)])
    with pytest.raises(TableError, match="one label per unit_id – found several for 'm1'"):
        sp.unitizing_alphas(spans, pd.Series([5, 6], index=["m1", "m1"]))
    with pytest.raises(TableError, match=r"lengths: .* found row numbers"):
        sp.unitizing_alphas(frame([("0", "ana", "a", 0, 3)]), pd.Series([5, 6]))
    with pytest.raises(TableError, match="expected a column 'coder'"):
        sp.unitizing_alphas(spans, {"m1": 5}, coverage=pd.DataFrame({"unit_id": ["m1"]}))
    coverage = pd.DataFrame({"unit_id": ["m9"], "coder": ["ana"]})
    with pytest.raises(TableError, match="coverage: expected units with a length – found none for 'm9'"):
        sp.unitizing_alphas(spans, {"m1": 5}, coverage=coverage)
    seen = coverage.assign(unit_id="m1")
    with pytest.raises(TableError, match="codings of code 'b' – found none"):
        sp.span_agreement(*full(spans, seen, {"m1": 5}), code="b", seed=7)


def test_codings_of_a_record_from_act_to_table() -> None:
    """Code points, not bytes or UTF-16 units: the text has an emoji and an accent before the span."""
    sense7 = Codebook.read("sense7")
    text = "😀 é: it asked how I was, and it waited."
    spans = {"ana": [("interest", 6, 24), ("prosocial", 30, 39)], "ben": [("interest", 6, 24)], "cleo": []}
    done = []
    for coder, found in spans.items():
        for code, start, end in found:
            done.append(
                acts.apply(coder=coder, unit_id="m1", code=code, start=start, end=end, codebook=sense7)
            )
        if coder != "cleo":
            done.append(acts.finish(coder=coder, unit_id="m1", codebook=sense7))
    record = acts.fold(done)
    units = pd.DataFrame(
        {"unit_id": ["m1"], "text": [text], "document_id": ["d"], "case_id": ["p"], "position": [0]}
    )
    table = sp.span_agreement(record.codings, record.coverage, units, seed=7).set_index("code")
    assert table.loc["interest", "alpha_all_text"] == 1
    assert table.loc["interest", "n_characters"] == len(text)
    assert table.loc["interest", "overlap_f1"] == 1
    assert table.loc["prosocial", "overlap_f1"] == 0
    assert table.loc["prosocial", "alpha_all_text"] < 0
    assert table.loc["prosocial", "reason_coded_text"] == "not_coded_by_two"
    assert table.loc["interest", "prevalence"] == pytest.approx(18 / len(text))
    only = sp.span_agreement(record.codings, record.coverage, units, code=["prosocial"], seed=7)
    pd.testing.assert_frame_equal(only.set_index("code"), table.loc[["prosocial"]])


@pytest.mark.long
def test_many_spans_take_no_long_time() -> None:
    """20,000 texts of three coders, two spans each, in well under the seconds that pairs would take."""
    import time

    rng = np.random.default_rng(3)
    n = 20_000
    unit = np.tile(np.repeat(np.arange(n), 3), 2)
    start = np.concatenate([rng.integers(0, 80, 3 * n), rng.integers(100, 180, 3 * n)])
    spans = pd.DataFrame(
        {
            "unit_id": [f"u{i}" for i in unit],
            "coder": np.tile(["x", "y", "z"], 2 * n),
            "code": rng.choice(list("ab"), 6 * n),
            "start": start,
            "end": start + rng.integers(1, 20, 6 * n),
        }
    )
    began = time.process_time()
    found = sp.unitizing_alphas(spans, {f"u{i}": 200 for i in range(n)})
    assert found.n_spans == 6 * n
    assert abs(found.u_alpha) < 0.05
    assert time.process_time() - began < 5
