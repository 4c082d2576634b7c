"""A study in PostgreSQL: it behaves as one in a folder does, and survives what only a network does to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from sense7_qual import acts, server
from sense7_qual.errors import ActError
from sense7_qual.store import Store
from tests.test_store import (
    CODEBOOK,
    REFUSED,
    SENTINEL,
    changed,
    finish,
    frame_of,
    put,
    # The behaviour that both kinds of store share: run here with this module's `store`.
    test_a_new_study_holds_what_it_was_given,
    test_a_second_store_sees_and_continues_the_first,
    test_a_span_gets_its_quote_in_code_points,
    test_acts_come_coder_by_coder_in_the_order_of_recording,
    test_no_text_is_shown_by_the_store_or_its_acts,
    test_reading_asks_for_a_real_kind_and_pseudonym,
    test_the_units_handed_out_are_a_copy,
    test_threads_write_one_coders_file_without_losing_an_act,
    test_undo_names_an_earlier_act_of_the_same_coder,
    test_what_is_appended_comes_back_from_the_disk,
)

pytestmark = pytest.mark.postgres

SHARED = [
    test_a_new_study_holds_what_it_was_given,
    test_a_second_store_sees_and_continues_the_first,
    test_a_span_gets_its_quote_in_code_points,
    test_acts_come_coder_by_coder_in_the_order_of_recording,
    test_no_text_is_shown_by_the_store_or_its_acts,
    test_reading_asks_for_a_real_kind_and_pseudonym,
    test_the_units_handed_out_are_a_copy,
    test_threads_write_one_coders_file_without_losing_an_act,
    test_undo_names_an_earlier_act_of_the_same_coder,
    test_what_is_appended_comes_back_from_the_disk,
]

Address = Callable[..., str]


@pytest.fixture
def store(postgres: Address) -> Iterator[Store]:
    made = Store.create(postgres(), units=frame_of(), codebook=CODEBOOK)
    yield made
    server.connect(made.path).engine.dispose()


def test_the_shared_behaviour_runs_here() -> None:
    assert all(case.__name__ in globals() for case in SHARED)


def test_repeats_change_nothing(store: Store) -> None:
    deeds = [put(start=0, end=2), finish()]
    assert store.append(deeds) == 2
    before = store.acts()
    later = changed(deeds[1], at="2030-01-01T00:00:00.000Z")
    assert store.append(deeds) == store.append(store.acts()) == store.append([later]) == 0
    assert store.acts() == before
    twice = put(code="relational")
    assert store.append([twice, twice]) == 1
    assert store.append([]) == 0


@pytest.mark.parametrize(
    ("make", "message"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_an_act_that_cannot_stand_is_refused_with_its_whole_batch(
    study: Store, make: Callable[[], list[acts.Act]], message: str
) -> None:
    before, wrong = study.acts(), make()
    batch = [finish("m3", wrong[0].coder), *wrong] if isinstance(wrong, list) else wrong
    with pytest.raises(ActError, match=message) as refused:
        study.append(batch)
    assert SENTINEL not in f"{refused.value} {refused.value!r}"
    assert study.acts() == before


@pytest.fixture(scope="module")
def study(postgres: Address) -> Iterator[Store]:
    """One study for all acts that must not change it."""
    made = Store.create(postgres(), units=frame_of(), codebook=CODEBOOK)
    made.append([put(coder="kim")])
    made.append([put()])
    yield made
    server.connect(made.path).engine.dispose()


def test_one_act_id_stands_for_one_act(store: Store) -> None:
    act = put(start=0, end=2)
    store.append([act])
    before = store.acts()
    for other in (changed(act, code="affective"), changed(act, start=1, text=None), finish()):
        with pytest.raises(ActError, match="to stand for one act"):
            store.append([put(), changed(other, act_id=act.act_id)])
    assert store.acts() == before
