"""Links in print: each coefficient with its own interval and p, also where there is no odds ratio."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sense7_qual import _present, acts, links, report
from sense7_qual.codebook import Code, Codebook
from sense7_qual.store import Store

pytestmark = pytest.mark.long

CODES = Codebook(
    name="two",
    codes=tuple(
        Code(id=one, label=one.capitalize(), definition=f"It is {one}.") for one in ("warm", "brief")
    ),
)


def study_of(
    folder: Path, units: pd.DataFrame, applied: dict[str, np.ndarray]
) -> tuple[Store, pd.DataFrame, pd.DataFrame]:
    """Return a study that one person coded, its links, and its units."""
    store = Store.create(folder / "study", units=units, codebook=CODES)
    made = []
    for at, unit in enumerate(units["unit_id"]):
        made += [
            acts.apply(unit_id=unit, code=code, coder="ana", codebook=CODES)
            for code in applied
            if applied[code][at]
        ]
        made.append(acts.finish(unit_id=unit, coder="ana", codebook=CODES))
    store.append(made)
    found = links.code_to_rating(store.decisions(), store.units, rating="stars", cluster="case_id", n_boot=50)
    return store, found, units


def units_of(case: np.ndarray, stars: np.ndarray) -> pd.DataFrame:
    ids = [f"u{i:03}" for i in range(len(case))]
    return pd.DataFrame(
        {
            "unit_id": ids,
            "text": [f"Text number {i}." for i in range(len(case))],
            "document_id": ids,
            "case_id": [f"p{c:02}" for c in case],
            "position": 0,
            "context": "",
            "stars": stars,
        }
    )


@cache
def constant_within() -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Forty participants who rate once and answer twice; those who rate high write warmly."""
    rng = np.random.default_rng(2)
    case, stars = np.repeat(np.arange(40), 2), rng.integers(1, 6, 40)
    warm = rng.random(80) < np.where(stars[case] > 3, 0.95, 0.05)
    return case, stars[case].astype(float), {"warm": warm, "brief": rng.random(80) < 0.4}


def test_a_rating_that_is_constant_within_participants_has_the_test_of_r(tmp_path: Path) -> None:
    case, stars, applied = constant_within()
    store, found, _ = study_of(tmp_path, units_of(case, stars), applied)
    warm = found.set_index("code").loc["warm"]
    assert warm["odds_ratio_reason"] == "no_variation_within_clusters"
    assert warm["p"] < 1e-6
    table = report.tables.link(found, source="ana", codebook=CODES, cluster_name="participants")
    cells = dict(zip(table.headers, table.rows[0], strict=True))
    assert cells["p"] == _present.p_value(warm["p"])
    assert cells["Adjusted p"] == _present.p_value(warm["p_adjusted"])
    assert "Odds ratio" not in " ".join(table.headers)
    assert "same in all texts" in " ".join(table.notes)
    assert re.search(r"number of tests\): codes of ana \(2\)", " ".join(table.notes))
    text = str(report.results(store, rating="stars", cluster="case_id", n_boot=5))
    assert "No test could be computed" not in text
    assert "no test could be computed" not in text
    (said,) = re.findall(r"Texts with “Warm”[^“]*", text)
    assert f"p {_present.p_value(warm['p'])}" in said.replace("= ", "")
    method = str(report.methods(store, rating="stars", cluster="case_id", n_boot=5))
    assert "same in all texts" in method
    assert "mixed model" not in method
    kinds = [one.kind for one in report.review(store, rating="stars", cluster="case_id", n_boot=5)]
    assert "rating_of_participants" in kinds


def test_each_coefficient_is_printed_with_its_own_interval_and_p(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    case = np.repeat(np.arange(40), 5)
    warm = rng.random(200) < rng.beta(1, 2, 40)[case]
    latent = rng.normal(size=40)[case] + 0.9 * warm + rng.logistic(size=200)
    stars = 1.0 + np.digitize(latent, [-1.5, -0.5, 0.5, 1.5])
    applied = {"warm": warm, "brief": rng.random(200) < 0.4}
    store, found, _ = study_of(tmp_path, units_of(case, stars), applied)
    warm_row = found.set_index("code").loc["warm"]
    table = report.tables.link(found, source="ana", codebook=CODES)
    cells = dict(zip(table.headers, table.rows[0], strict=True))
    assert cells["p"] == _present.p_value(warm_row["odds_ratio_p"])
    assert cells["p of r"] == _present.p_value(warm_row["p"])
    assert _present.p_value(warm_row["p"]) != _present.p_value(warm_row["odds_ratio_p"])
    text = str(report.results(store, rating="stars", cluster="case_id", n_boot=50))
    (said,) = re.findall(r"Texts with “Warm”.*?\.(?= |$)(?=[^“]*)", text)[:1]
    (own,) = re.findall(r"rank-biserial r = [^;]*?, p (?:= )?([<.\d ]+)", text[text.index(said) :])[:1]
    assert own.strip(" .") == _present.p_value(warm_row["p"]).strip(" .")
    review = report.review(store, rating="stars", cluster="case_id", n_boot=5)
    assert "rating_of_participants" not in [one.kind for one in review]
