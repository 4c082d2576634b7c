"""A script for R with its data: R finds what is fitted here, and nobody's words are in the files."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sense7_qual import Codebook, Store, acts, corpus
from sense7_qual.errors import QualError, StoreError
from sense7_qual.links import code_to_rating
from sense7_qual.links.models import cumulative_mixed, r_script
from tests.helpers.example_papers import shipped

MODEL: dict[str, Any] = {"rating": "EmpathyOverall", "cluster": "case_id", "source": "ana"}
CODES = ["affective", "interest"]

needs_r = [
    pytest.mark.nightly,
    pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed"),
]


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> tuple[pd.DataFrame, pd.DataFrame]:
    store = shipped(tmp_path_factory.mktemp("example") / "study")
    return store.decisions(), store.units


def by_r(script: Path) -> pd.DataFrame:
    ran = subprocess.run(
        ["Rscript", script.name], cwd=script.parent, capture_output=True, text=True, check=False
    )
    if "there is no package" in ran.stderr:
        pytest.skip("R's ordinal is not installed")
    assert ran.returncode == 0, ran.stderr
    return pd.read_csv(script.parent / f"{script.stem}_estimates.csv").set_index("term")


@pytest.mark.parametrize(
    "nested", [pytest.param(None, marks=needs_r), pytest.param("document_id", marks=needs_r)]
)
def test_r_finds_what_is_fitted_here(
    example: tuple[pd.DataFrame, pd.DataFrame], nested: str | None, tmp_path: Path
) -> None:
    decisions, units = example
    found = by_r(r_script(*example, tmp_path / "link.R", **MODEL, codes=CODES, nested=nested))
    own = decisions[decisions["coder"] == "ana"].pivot(index="unit_id", columns="code", values="applied")[
        CODES
    ]
    rows = own.reset_index().merge(units, on="unit_id").dropna(subset=["EmpathyOverall", *CODES])
    share = rows.groupby("case_id")[CODES].transform("mean")
    parts = (rows[CODES].astype(float) - share).join(share.add_suffix("_share"))
    model = cumulative_mixed(
        rows["EmpathyOverall"],
        parts,
        groups=rows["case_id"],
        nested=None if nested is None else rows[nested],
    )
    here = model.intervals().head(2)
    assert found.loc[["x1", "x2"], "predictor"].tolist() == CODES
    for theirs, ours in (("estimate", "coefficient"), ("standard_error",) * 2):
        assert found.loc[["x1", "x2"], theirs].tolist() == pytest.approx(here[ours].tolist(), abs=1e-4)
    assert found.loc["sd (Intercept) participant", "estimate"] == pytest.approx(model.cluster_sd, abs=1e-3)
    if nested:
        assert found.loc["sd (Intercept) conversation", "estimate"] == pytest.approx(
            model.nested_sd, abs=1e-3
        )


@pytest.mark.nightly
@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_r_fits_slopes_and_crossed_effects_that_are_there(tmp_path: Path) -> None:
    """60 participants, 12 topics that cross them, a code whose effect differs between people (sd 1)."""
    rng = np.random.default_rng(5)
    case, topic = np.repeat(np.arange(60), 24), np.tile(np.arange(12), 120)
    applied, effect = rng.random(1440) < 0.4, 1.2 + rng.normal(size=60)
    latent = rng.normal(size=60)[case] + rng.normal(size=12)[topic] + effect[case] * applied
    stars = 1.0 + np.digitize(latent + rng.logistic(size=1440), [-2, 0, 1, 3])
    units = pd.DataFrame(
        {
            "unit_id": [f"u{i}" for i in range(1440)],
            "case_id": [f"p{c}" for c in case],
            "topic": [f"t{t}" for t in topic],
            "stars": stars,
        }
    )
    decisions = pd.DataFrame(
        {"unit_id": units["unit_id"], "coder": "ana", "code": 'a "warm" one\n#', "applied": applied}
    )
    found = by_r(
        r_script(
            decisions,
            units,
            tmp_path / "slopes.R",
            rating="stars",
            cluster="case_id",
            source="ana",
            codes=['a "warm" one\n#'],
            slopes=['a "warm" one\n#'],
            crossed=["topic"],
        )
    )
    assert found.loc["x1", "predictor"] == 'a "warm" one\n#'
    assert found.loc["x1", "low"] < 1.2 < found.loc["x1", "high"]
    for term in ("sd (Intercept) participant", "sd x1 participant", "sd (Intercept) group1"):
        assert found.loc[term, "estimate"] == pytest.approx(1, abs=0.4), term


def test_the_data_give_the_odds_ratios_of_a_link(
    example: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path
) -> None:
    """The predictors in the file have the coefficients and degrees of freedom of the link."""
    script = r_script(*example, tmp_path / "link.R", **MODEL, codes=["affective"])
    data = pd.read_csv(tmp_path / "link.csv")
    model = cumulative_mixed(data["rating"], data[["x1", "s1"]], groups=data["participant"])
    link = (
        code_to_rating(
            *example, rating="EmpathyOverall", cluster="case_id", sources=["ana"], n_boot=1, seed=1
        )
        .set_index("code")
        .loc["affective"]
    )
    expected = np.log([link["odds_ratio"], link["between_odds_ratio"]])
    assert model.coefficients[["x1", "s1"]].tolist() == pytest.approx(expected.tolist(), abs=1e-4)
    words = script.read_text("utf-8")
    assert "rating ~ x1 + s1 + (1 | participant)" in words
    assert f"df <- c({link['odds_ratio_df']:.0f}, " in words


# What is in the files, from a study that was read from a file ------------------------------------------


@pytest.fixture
def study(tmp_path: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    lines = ["id,who,said,topic,age,stars"]
    for i in range(36):
        stars = "" if i % 9 == 8 else i % 5 + 1
        lines.append(f"msg{i},Zqmaria{i % 6},My zqbrother left me {i},zqtopic{i % 4},{20 + i % 7},{stars}")
    (tmp_path / "texts.csv").write_text("\n".join(lines), encoding="utf-8")
    units = corpus.read(
        tmp_path / "texts.csv",
        text="said",
        unit_id="id",
        case_id="who",
        ratings=["stars", "age"],
        variables=["topic"],
    )
    book = Codebook.read("sense7")
    store = Store.create(tmp_path / "study", units=units, codebook=book)
    for place, unit_id in enumerate(units["unit_id"]):
        named = {"coder": "ana", "unit_id": unit_id, "codebook": book}
        applied = [acts.apply(code="affective", **named)] if place % 4 == 0 else []
        store.append([*applied, acts.finish(**named)])
    return store.decisions(), store.units


OWN: dict[str, Any] = {"rating": "stars", "cluster": "case_id", "source": "ana", "codes": ["affective"]}


def test_files_hold_numbers_only(study: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path) -> None:
    script = r_script(
        *study, tmp_path / "link.R", **OWN, variables=["age"], slopes=["affective"], crossed=["topic"]
    )
    data = pd.read_csv(tmp_path / "link.csv")
    assert list(data.columns) == ["rating", "participant", "group1", "x1", "x2", "s1"]
    assert all(np.issubdtype(kind, np.number) for kind in data.dtypes)
    assert len(data) == 32
    assert data["participant"].nunique() == 6
    words = (tmp_path / "link.csv").read_text("utf-8") + script.read_text("utf-8")
    assert "zq" not in words.lower()
    assert "msg" not in words
    assert "rating ~ x1 + x2 + s1 + (1 + x1" in words
    assert "(1 + x1 | participant) + (1 | group1)" in words
    assert (script.stat().st_mode & 0o077, (tmp_path / "link.csv").stat().st_mode & 0o077) == (0, 0)


@pytest.mark.parametrize("there", ["link.R", "link.csv"])
def test_nothing_is_written_over(
    there: str, study: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path
) -> None:
    (tmp_path / there).write_text("mine")
    with pytest.raises(StoreError, match="already exists"):
        r_script(*study, tmp_path / "link.R", **OWN)
    assert sorted(path.name for path in tmp_path.glob("link*")) == [there]
    assert (tmp_path / there).read_text() == "mine"
    r_script(*study, tmp_path / "link.R", **OWN, overwrite=True)
    assert "clmm(" in (tmp_path / "link.R").read_text("utf-8")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"codes": ["afective"]}, "did you mean"),
        ({"codes": []}, "one or more codes and variables"),
        ({"codes": ["affective", "affective"]}, "'affective' twice"),
        ({"slopes": ["interest"]}, "slopes of codes and variables of the model"),
        ({"codes": ["interest"]}, "'interest' to vary"),
        ({"variables": ["text"]}, "expected finite numbers in column 'text'"),
        ({"crossed": ["nowhere"]}, "nowhere"),
        ({"source": "pooled"}, "one source of decisions"),
    ],
)
def test_what_makes_no_model_is_refused_and_nothing_written(
    changed: dict[str, Any], words: str, study: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path
) -> None:
    with pytest.raises(QualError, match=words) as refused:
        r_script(*study, tmp_path / "link.R", **{**OWN, **changed})
    assert "zq" not in str(refused.value)
    assert not list(tmp_path.glob("link*"))


def test_two_groups_and_another_suffix_are_refused(
    study: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path
) -> None:
    decisions, units = study
    units = units.assign(topic=np.where(units["topic"] == "zqtopic1", "zqa", "zqb"))
    with pytest.raises(QualError, match=r"three or more groups in 'topic' .* found 2"):
        r_script(decisions, units, tmp_path / "link.R", **OWN, crossed=["topic"])
    with pytest.raises(QualError, match=r"ends in \.R"):
        r_script(decisions, units, tmp_path / "link.csv", **OWN)


def test_a_column_of_units_may_have_any_name(
    study: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path
) -> None:
    decisions, units = study
    units = units.rename(columns={"stars": "rating", "age": "cluster", "topic": "x1"})
    named = {"rating": "rating", "variables": ["cluster"], "crossed": ["x1"]}
    r_script(decisions, units, tmp_path / "link.R", **{**OWN, **named})
    data = pd.read_csv(tmp_path / "link.csv")
    assert data["x2"].between(20, 26).all()
    assert data["group1"].nunique() == 4


def test_many_levels_are_merged_as_in_a_link(
    study: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path
) -> None:
    decisions, units = study
    units = units.assign(stars=np.arange(36) * 2.5)
    r_script(decisions, units, tmp_path / "link.R", **OWN, rating_range=(0, 100))
    assert 8 <= pd.read_csv(tmp_path / "link.csv")["rating"].nunique() <= 12
