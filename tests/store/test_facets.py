"""What codings say in facets survives the record, an archive and a merge, in a folder and in PostgreSQL."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from sense7_qual import acts
from sense7_qual.acts import Act
from sense7_qual.codebook import Code, Codebook
from sense7_qual.store import Store
from sense7_qual.store._postgres import server
from tests.helpers.small_study import TEXTS, facet, frame_of

CODES = ("warm", "cold")
BOOK = Codebook(
    name="faceted",
    facets=(
        facet("valence", met="m", unmet="u"),
        facet("heat", "low", "high", codes=("warm",)),
        facet("Ironic", "yes", "no"),
    ),
    codes=tuple(Code(id=code, label=code.title()) for code in CODES),
)


@st.composite
def deeds(draw: st.DrawFn) -> list[Act]:
    """Applications of codes, each with some of the facets that are for its code."""
    made = []
    for _ in range(draw(st.integers(1, 6))):
        code = draw(st.sampled_from(CODES))
        options = {one.name: st.sampled_from([None, *one.names]) for one in BOOK.facets_of(code)}
        stated = {name: value for name, value in draw(st.fixed_dictionaries(options)).items() if value}
        unit_id, coder = draw(st.sampled_from(list(TEXTS))), draw(st.sampled_from(["ana", "ben"]))
        made.append(acts.apply(coder=coder, unit_id=unit_id, code=code, codebook=BOOK, facets=stated))
    return made


def record(store: Store, made: list[Act]) -> None:
    for coder in ("ana", "ben"):
        store.append([act for act in made if act.coder == coder])


def stated(made: list[Act]) -> dict[tuple[str, str, str], dict[str, str]]:
    """What the last act on each coding said, by coder, unit and code."""
    return {(act.coder, str(act.unit_id), str(act.code)): act.facet_values for act in made}


def recorded(store: Store) -> dict[tuple[str, str, str], dict[str, str]]:
    codings = store.codings()
    assert codings.columns.tolist()[-3:] == ["valence", "heat", "Ironic"]
    rows = codings.astype(object).to_dict("records")
    return {
        (row["coder"], row["unit_id"], row["code"]): {
            one.name: row[one.name] for one in BOOK.facets if not pd.isna(row[one.name])
        }
        for row in rows
    }


@pytest.mark.long
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(deeds())
def test_facets_survive_the_record_an_archive_and_a_merge(made: list[Act]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        store = Store.create(place / "s", units=frame_of(), codebook=BOOK)
        store.copies.archive(place / "empty.zip")
        record(store, made)
        again = Store(store.path)
        assert again.acts() == store.acts()
        assert [act.facets for act in again.acts()] == [act.facets for act in store.acts()]
        assert recorded(again) == stated(made)
        assert again.verify()["ok"].all()
        store.copies.archive(place / "full.zip")
        assert recorded(Store.restore(place / "full.zip", place / "restored")) == stated(made)
        other = Store.restore(place / "empty.zip", place / "other")
        other.copies.merge(store)
        assert recorded(other) == stated(made)


@pytest.fixture
def team(postgres: Callable[..., str]) -> Iterator[Store]:
    made = Store.create(postgres(), units=frame_of(), codebook=BOOK)
    yield made
    server.connect(str(made.path)).engine.dispose()


@pytest.mark.postgres
def test_facets_survive_postgresql_and_the_way_to_a_folder(team: Store, tmp_path: Path) -> None:
    said = {"valence": "met", "Ironic": "no"}
    made = [
        acts.apply(coder="ana", unit_id="m1", code="cold", codebook=BOOK, facets=said),
        acts.apply(coder="ana", unit_id="m1", code="warm", codebook=BOOK, facets=said | {"heat": "high"}),
        acts.apply(coder="ben", unit_id="m2", code="warm", codebook=BOOK),
    ]
    record(team, made)
    assert recorded(Store(team.path)) == stated(made)
    assert team.acts()[1].facets == "Ironic=no heat=high valence=met"
    assert team.verify()["ok"].all()
    team.copies.archive(tmp_path / "one.zip")
    assert recorded(Store.restore(tmp_path / "one.zip", tmp_path / "s")) == stated(made)
