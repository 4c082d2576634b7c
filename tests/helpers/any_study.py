"""What a study does wherever it is kept: tests that a module runs with its own `store`."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sense7_qual import acts
from sense7_qual.errors import ActError
from sense7_qual.store import Store
from tests.helpers.small_study import CODEBOOK, MEMO, SENTINEL, TEXTS, changed, finish, put

# the study ------------------------------------------------------------------------------------------


def test_a_new_study_holds_what_it_was_given(store: Store) -> None:
    again = Store(store.path)
    pd.testing.assert_frame_equal(again.units, store.units)
    assert again.units["text"].tolist() == list(TEXTS.values())
    assert again.codebook == CODEBOOK
    assert dict(again.codebooks) == {CODEBOOK.fingerprint: CODEBOOK}
    assert again.coders == ()
    assert again.acts() == []
    assert again.codings().empty
    assert again.coverage().empty
    assert again.memos().empty
    assert again.verify()["ok"].all()
    assert repr(again) == "Store(3 units, 4 codes, 0 coders)"


def test_the_units_handed_out_are_a_copy(store: Store) -> None:
    units = store.units
    units.loc[0, "text"] = "other"
    assert store.units["text"][0] == TEXTS["m1"]


# append and read ------------------------------------------------------------------------------------


def test_what_is_appended_comes_back_from_the_disk(store: Store) -> None:
    memo = acts.memo(coder="ana", unit_id="m1", text="wörter 👩‍👩‍👧\x00", codebook=CODEBOOK)
    ruling = acts.rule(coder="ana", unit_id="m1", code="interest", applied=np.True_, codebook=CODEBOOK)
    deeds = [
        put(facets={"valence": "met"}, confidence="unsure", round="one"),
        acts.remove(coder="ana", unit_id="m1", code="interest", start=0, end=2, codebook=CODEBOOK),
        finish(),
        memo,
        acts.memo(coder="ana", target_kind="study", text="", codebook=CODEBOOK),
        acts.memo(coder="ana", target_kind="code", code="interest", text="x", codebook=CODEBOOK),
        ruling,
        acts.propose(
            coder="ana", label="Hope 👋", definition="a\nb", unit_id="m1", start=0, end=2, codebook=CODEBOOK
        ),
        acts.undo(memo, codebook=CODEBOOK),
        acts.redo(memo, codebook=CODEBOOK),
    ]
    assert store.append(deeds) == 10
    assert Store(store.path).acts() == deeds
    assert store.acts(kind="rule") == [ruling]
    assert store.acts(coder="ben") == []
    assert store.coders == ("ana",)


def test_a_span_gets_its_quote_in_code_points(store: Store) -> None:
    for start, end, quote in [(6, 11, "👩‍👩‍👧"), (12, 16, "שלום"), (0, 16, TEXTS["m2"])]:
        assert store.append([put(unit_id="m2", start=start, end=end)]) == 1
        assert store.acts()[-1].text == quote
    assert store.append([put(unit_id="m3", start=1, end=2, code="affective")]) == 1
    assert store.acts()[-1].text == "\x00"


def test_acts_come_coder_by_coder_in_the_order_of_recording(store: Store) -> None:
    late, early = put(at="2030-01-01T00:00:00Z"), put(code="affective", at="2020-01-01T00:00:00Z")
    of_ben, of_ana = [put(coder="ben"), finish(coder="ben")], [late, early]
    store.append(of_ben)
    store.append(of_ana)
    assert store.acts() == of_ana + of_ben
    assert store.acts(coder="ben", kind="finish") == of_ben[1:]
    assert store.codings(coder="ben")["coder"].unique().tolist() == ["ben"]
    pd.testing.assert_frame_equal(store.codings(), acts.fold(of_ana + of_ben, codebook=CODEBOOK).codings)


def test_a_second_store_sees_and_continues_the_first(store: Store) -> None:
    other = Store(store.path)
    first = put()
    store.append([first])
    other.append([acts.undo(first, codebook=CODEBOOK)])
    assert store.codings().empty
    assert store.verify()["ok"].all()


# acts that cannot stand -----------------------------------------------------------------------------

UNKNOWN_ID = "00000000-0000-4000-8000-00000000dead"


def test_undo_names_an_earlier_act_of_the_same_coder(store: Store) -> None:
    act, of_ben = put(), put(coder="ben")
    undo = acts.undo(act, codebook=CODEBOOK)
    store.append([of_ben])
    with pytest.raises(ActError, match="found no such act of theirs"):
        store.append([undo, act])  # before the act itself
    with pytest.raises(ActError, match="found no such act of theirs"):
        store.append([changed(acts.undo(of_ben, codebook=CODEBOOK), coder="ana")])
    assert store.append([act, undo]) == 2
    with pytest.raises(ActError, match="found an act of kind 'undo'"):
        store.append([changed(undo, act_id=UNKNOWN_ID, target=undo.act_id)])


def test_reading_asks_for_a_real_kind_and_pseudonym(store: Store) -> None:
    with pytest.raises(ActError, match="did you mean 'apply'"):
        store.acts(kind="appply")
    with pytest.raises(ActError, match="pseudonym"):
        store.acts(coder="../ana")
    store.append([put()])
    with pytest.raises(ActError, match="use 'ana'"):
        store.acts(coder="ANA")


def test_no_text_is_shown_by_the_store_or_its_acts(store: Store) -> None:
    store.append([put(start=0, end=len(TEXTS["m1"])), MEMO])
    assert SENTINEL in store.acts()[0].text
    assert SENTINEL not in f"{store!r} {store} {store.acts()!r} {store.verify()}"
