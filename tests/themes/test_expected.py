"""Themes that a codebook expects, beside those that no code covers."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sense7_qual import report, themes
from sense7_qual.codebook import Code, Codebook
from sense7_qual.store import Store
from sense7_qual.themes._communities import fuzzy_graph
from sense7_qual.themes._expected import expected
from sense7_qual.themes._neighbours import nearest_neighbours
from sense7_qual.themes._texts import embedded
from tests.helpers.small_themes import frame

MATTERS = {
    "speed": ["queue", "waiting", "minutes", "slow", "delay", "hours"],
    "warmth": ["kind", "caring", "gentle", "warmth", "listened", "comfort"],
    "facts": ["wrong", "error", "invented", "source", "incorrect", "mistake"],
}


def words_of(texts: list[str]) -> np.ndarray:
    """Embed a text as the counts of the words of the matters in it."""
    words = [word for listed in MATTERS.values() for word in listed]
    return np.array([[text.split().count(word) for word in words] for text in texts], dtype=float)


def study() -> pd.DataFrame:
    """Return 90 units, each of four words of one matter."""
    rng = np.random.default_rng(4)
    matters = rng.permutation(np.repeat(list(MATTERS), [36, 30, 24]))
    texts = [f"{' '.join(rng.permutation(MATTERS[one])[:4])} n{row}" for row, one in enumerate(matters)]
    return frame(texts).assign(matter=matters)


#: Speed and warmth are among the texts, cost is not; facts are in no code.
BOOK = Codebook(
    name="three",
    codes=(
        Code(
            id="fast", label="queue", definition="waiting minutes slow", examples=("delay hours queue slow",)
        ),
        Code(
            id="warm",
            label="kind",
            definition="caring gentle warmth",
            examples=("warmth listened comfort kind",),
        ),
        Code(id="cost", label="price", definition="What it costs", examples=("Far too dear",)),
    ),
)


def words_or_else(texts: list[str]) -> np.ndarray:
    """Embed a text by its planted words and its spelling, in which no two texts are alike."""
    counts = words_of([text.lower().replace(".", " ") for text in texts])
    drawn = [np.random.default_rng(zlib.crc32(text.encode())).normal(size=40) for text in texts]
    return np.hstack([counts, 0.15 * np.array(drawn)])


@pytest.fixture(scope="module")
def fitted() -> themes.Themes:
    return themes.fit(study(), embed=words_or_else, codebook=BOOK, seed=7, n_resamples=4)


def majority(found: themes.Themes, theme: int) -> str:
    of_unit = study().set_index("unit_id")["matter"]
    own = found.assignments.loc[found.assignments["theme"] == theme, "unit_id"].map(of_unit)
    return str(own.mode().iloc[0])


def test_codes_have_their_themes_and_new_themes_stay(fitted: themes.Themes) -> None:
    codes = fitted.codes.set_index("code")
    assert majority(fitted, int(codes.loc["fast", "theme"])) == "speed"
    assert majority(fitted, int(codes.loc["warm", "theme"])) == "warmth"
    new = fitted.summary.loc[fitted.summary["expected"].isna(), "theme"]
    assert "facts" in {majority(fitted, int(theme)) for theme in new}
    sizes = fitted.summary.set_index("theme")["n_units"]
    assert codes.loc["fast", "n_units"] == sizes[codes.loc["fast", "theme"]]


def test_a_code_that_no_text_shows_is_told(fitted: themes.Themes) -> None:
    codes = fitted.codes.set_index("code")
    assert codes["shown"].to_dict() == {"fast": True, "warm": True, "cost": False}
    assert pd.isna(codes.loc["cost", "theme"])
    assert codes.loc["cost", "closeness"] < 0.2 < codes.loc["fast", "closeness"]
    assert fitted.parameters["codes_not_shown"] == ["cost"]
    assert fitted.parameters["codebook"] == BOOK.fingerprint


def test_a_group_of_two_codes_is_divided_and_two_groups_of_one_are_joined() -> None:
    matter = study()["matter"].to_numpy()
    vectors = embedded(study()["text"].tolist(), words_or_else, lambda *at: None)
    near = nearest_neighbours(vectors, 30)
    places = expected(vectors, near, fuzzy_graph(near.nearest(15)), BOOK, words_or_else)
    every = np.arange(len(matter))
    heap = np.where(matter == "facts", 1, 0)
    labels, own = places.themes(vectors, heap, every, min_size=5)
    for code, of_code in (("fast", "speed"), ("warm", "warmth")):
        found = own == places.codes.index(code)
        assert (matter[found] == of_code).mean() > 0.9
        assert found.sum() > 0.9 * (matter == of_code).sum()
    assert set(labels[matter == "facts"]) == {1}
    assert set(own[matter == "facts"]) == {-1}
    # The eight texts nearest to a code, four in one group and four in another, make one theme of both.
    fast = places.codes.index("fast")
    first = np.argsort(-places.similarity[:, fast])[:8]
    apart = np.where(matter == "speed", 2, heap)
    apart[first[:4]] = 3
    labels, own = places.themes(vectors, apart, every, min_size=2)
    assert len(set(labels[matter == "speed"])) == 1
    # A part under `min_size` is not parted.
    labels, own = places.themes(vectors, heap, every, min_size=60)
    assert len(set(own[matter != "facts"])) == 1


def test_without_a_codebook_nothing_is_expected() -> None:
    plain = themes.fit(study(), embed=words_or_else, granularity=1.0, n_resamples=0)
    assert "expected" not in plain.summary
    assert plain.codes.empty


def test_rows_and_order_of_codes_change_no_theme(fitted: themes.Themes) -> None:
    turned = Codebook(name="three", codes=BOOK.codes[::-1])
    again = themes.fit(study().iloc[::-1], embed=words_or_else, codebook=turned, seed=7, n_resamples=4)
    pd.testing.assert_frame_equal(fitted.assignments, again.assignments)
    pd.testing.assert_frame_equal(fitted.summary, again.summary)


def test_the_record_keeps_what_was_expected_through_merges_and_splits(
    fitted: themes.Themes, tmp_path: Path
) -> None:
    store = Store.create(tmp_path / "s", units=study().drop(columns="matter"), codebook=BOOK, lead="lead")
    store.record_themes(fitted, coder="lead")
    now = store.themes.summary.set_index("theme")["expected"]
    assert now.fillna("").to_dict() == fitted.summary.set_index("theme")["expected"].fillna("").to_dict()
    fast = int(fitted.codes.set_index("code").loc["fast", "theme"])
    of_units = store.themes.assignments
    some = of_units.loc[of_units["theme"] == fast, "unit_id"].head(3).tolist()
    store.edit_theme(fast, coder="lead", parts=[some])
    after = store.themes
    part = after.assignments.set_index("unit_id").loc[some[0], "theme"]
    assert part != fast
    assert after.summary.set_index("theme").loc[part, "expected"] == "fast"
    assert store.themes.parameters["codes_not_shown"] == ["cost"]


def test_the_report_says_what_was_expected_and_what_is_new(fitted: themes.Themes, tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s", units=study().drop(columns="matter"), codebook=BOOK, lead="lead")
    store.record_themes(fitted, coder="lead")
    foot = " ".join(report.tables.theme(store).notes)
    fast = int(fitted.codes.set_index("code").loc["fast", "theme"])
    assert f"“queue” (theme {fast})" in foot
    assert "Codes that no text seemed to show: “price”." in foot
    told = [str(one) for one in report.methods(store).sentences if "looked for the codes" in str(one)]
    n_new = int(fitted.summary["expected"].isna().sum())
    [said] = told
    assert "2 codes had a theme, 1 code seemed to be in no text" in said
    assert f"{n_new} theme" in said
