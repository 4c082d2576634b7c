"""The coding widget without a browser: its answer to every message, its keys, and whole sessions."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from sense7_qual import Store, acts
from sense7_qual.acts import Act
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ActError, ArgumentError, CodebookError, StoreError, TableError
from sense7_qual.widgets._coding import COMMANDS
from sense7_qual.widgets._offsets import utf16_units
from tests.helpers.browser import CODES, SENSE7, SENTINEL, TEXTS, Browser, new_id, units

# the widget's messages --------------------------------------------------------------------------------


def test_hello_is_answered_with_all_that_is_needed_to_begin() -> None:
    browser = Browser([].extend, round="one", show_rating=True)
    browser.do("finish")
    answer = Browser([].extend).ask("hello")
    assert {key: answer[key] for key in ("type", "client", "coder", "flags", "show_rating")} == {
        "type": "welcome",
        "client": "c1",
        "coder": "ana",
        "flags": "....",
        "show_rating": False,
    }
    assert answer["unit"]["text"] == TEXTS[0]
    assert [code["id"] for code in answer["codebook"]["codes"]] == [code.id for code in SENSE7.codes]
    assert answer["commands"] == dict(COMMANDS)
    again = browser.ask("hello")
    assert (again["flags"], again["n_finished"], again["show_rating"]) == ("f...", 1, True)


def test_the_rating_may_be_shown_on_finished_texts_alone() -> None:
    options = {"units": units(Empathy=[1.0, 2.0, 3.0, 4.0]), "rating": "Empathy"}
    assert Browser([].extend, show_rating="finished", **options).ask("hello")["show_rating"] == "finished"
    with pytest.raises(ArgumentError, match="show_rating to be True or False or 'finished'"):
        Browser([].extend, show_rating="after", **options)


def test_what_unsent_deeds_belong_to_is_named_by_coder_codebook_round_and_units() -> None:
    first = Browser([].extend).ask("hello")["work_id"]
    assert Browser([].extend).ask("hello")["work_id"] == first
    others = [{"coder": "ben"}, {"round": "two"}, {"units": units().head(3)}]
    assert first not in {Browser([].extend, **other).ask("hello")["work_id"] for other in others}
    assert SENTINEL not in first


def test_without_units_there_is_nothing_to_show() -> None:
    browser = Browser([].extend, units=units().head(0))
    assert browser.ask("hello")["unit"] is None
    assert browser.ask("unit", place=0)["type"] == "refused"


def test_a_unit_is_shown_and_the_kernel_remembers_where_the_coder_is() -> None:
    browser = Browser([].extend)
    assert browser.ask("unit", place=2)["unit"]["text"] == TEXTS[2]
    assert browser.ask("unit", place=3, peek=True)["unit"]["place"] == 3
    assert browser.ask("hello")["unit"]["place"] == 2


def test_a_deed_is_saved_before_it_is_acknowledged() -> None:
    browser: Browser
    seen: list[tuple[int, int]] = []

    def save(batch: Sequence[Act]) -> None:
        seen.append((len(batch), len(browser.heard)))

    browser = Browser(save)
    answer = browser.do("apply", code="affective", facets={"valence": "met"}, confidence="unsure")
    assert seen == [(1, 0)]
    assert (answer["type"], answer["kind"], answer["flag"]) == ("done", "apply", "c")
    assert answer["unit"]["codings"] == [
        {
            "code": "affective",
            "start": None,
            "end": None,
            "facets": {"valence": "met"},
            "confidence": "unsure",
        }
    ]
    assert (answer["can_undo"], answer["can_redo"], answer["n_finished"]) == (True, False, 0)


def test_every_kind_of_deed() -> None:
    saved: list[Act] = []
    browser = Browser(saved.extend, round="one")
    browser.do("apply", code="affective", start=0, end=2)
    browser.do("remove", code="affective", start=0, end=2)
    browser.do("memo", text="a thought")
    browser.do("finish")
    assert browser.widget.n_finished == 1
    browser.do("reopen")
    browser.do("undo", unit_id=None)
    answer = browser.do("redo", unit_id=None)
    assert [act.kind for act in saved] == ["apply", "remove", "memo", "finish", "reopen", "undo", "redo"]
    assert {act.coder for act in saved} == {"ana"}
    assert {act.codebook for act in saved} == {SENSE7.fingerprint}
    assert [act.round for act in saved[:2]] == ["one", "one"]
    assert (answer["unit"]["finished"], browser.widget.n_finished, browser.widget.revision) == (False, 0, 7)


def test_the_same_deed_twice_is_recorded_once() -> None:
    saved: list[Act] = []
    browser = Browser(saved.extend)
    act_id = new_id()
    answers = [browser.do("apply", code="affective", act_id=act_id) for _ in range(2)]
    assert [answer["type"] for answer in answers] == ["done", "done"]
    assert answers[0]["unit"] == answers[1]["unit"]
    assert [act.act_id for act in saved] == [act_id]
    # A new widget, made after the kernel was restarted, gets the deed whose answer was lost.
    answer = Browser(saved.extend, acts=tuple(saved)).do("apply", code="affective", act_id=act_id)
    assert (answer["type"], len(saved)) == ("done", 1)


class Disk:
    """A `save` that fails with the errors it is given, one after the other, and then saves."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.tried: list[Act] = []
        self.saved: list[Act] = []

    def __call__(self, batch: Sequence[Act]) -> None:
        self.tried.extend(batch)
        if self.errors:
            raise self.errors.pop(0)
        self.saved.extend(batch)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OSError(28, "No space left on device"), "saving failed: No space left on device"),
        (OSError(), "saving failed: OSError"),
        (StoreError("acts file: expected …"), "acts file: expected …"),
        (TableError("units: expected …"), "units: expected …"),
        (RuntimeError(SENTINEL), "saving failed (RuntimeError)"),
        (UnicodeEncodeError("utf-8", SENTINEL, 0, 1, SENTINEL), "saving failed (UnicodeEncodeError)"),
        (KeyError(SENTINEL), "saving failed (KeyError)"),
    ],
)
def test_what_could_not_be_saved_is_sent_again_as_the_same_act(error: Exception, message: str) -> None:
    disk = Disk(error)
    browser = Browser(disk)
    act_id = new_id()
    answer = browser.do("apply", code="affective", act_id=act_id)
    assert (answer["type"], answer["message"], answer["id"]) == ("failed", message, act_id)
    assert browser.ask("unit", place=0)["unit"]["codings"] == []
    assert browser.widget.revision == 0
    assert browser.do("apply", code="affective", act_id=act_id)["type"] == "done"
    assert disk.tried[0] == disk.tried[1]
    assert disk.saved == disk.tried[1:]
    assert SENTINEL not in json.dumps(answer)


def test_an_undo_that_failed_undoes_the_same_act_when_it_is_sent_again() -> None:
    disk = Disk()
    browser = Browser(disk)
    browser.do("apply", code="affective")
    browser.do("apply", code="cognitive")
    disk.errors.append(OSError(5, "I/O error"))
    act_id = new_id()
    assert browser.do("undo", unit_id=None, act_id=act_id)["type"] == "failed"
    browser.do("finish", "m1")
    assert browser.do("undo", unit_id=None, act_id=act_id)["type"] == "done"
    assert disk.saved[-1].target == disk.saved[1].act_id
    assert browser.ask("hello")["flags"] == "cf.."


@pytest.mark.parametrize("error", [ActError("act: expected …"), CodebookError("code: expected …")])
def test_what_the_record_refuses_is_forgotten(error: Exception) -> None:
    disk = Disk(error)
    browser = Browser(disk)
    act_id = new_id()
    answer = browser.do("apply", code="affective", act_id=act_id)
    assert (answer["type"], answer["message"]) == ("refused", str(error))
    assert browser.do("apply", code="cognitive", act_id=act_id)["type"] == "done"
    assert [act.code for act in disk.saved] == ["cognitive"]


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"kind": "apply", "code": "afective"}, "did you mean 'affective'"),
        ({"kind": "apply", "code": None}, "'None'"),
        (
            {"kind": "apply", "code": "affective", "facets": {"valence": "great"}},
            "one of its values – found 'great'",
        ),
        (
            {"kind": "apply", "code": "affective", "facets": {"valence": ["met"]}},
            "one of its values – found list",
        ),
        (
            {"kind": "apply", "code": "affective", "facets": ["met"]},
            "expected facets with their values – found list",
        ),
        ({"kind": "apply", "code": "affective", "facets": {"valance": "met"}}, "did you mean 'valence'"),
        ({"kind": "apply", "code": "affective", "confidence": True}, "expected confidence out of"),
        ({"kind": "apply", "code": "affective", "start": 0, "end": 999}, "outside the text of"),
        ({"kind": "apply", "code": "affective", "start": 3, "end": 3}, "outside the text of"),
        ({"kind": "apply", "code": "affective", "start": 3}, "two whole numbers"),
        ({"kind": "apply", "code": "affective", "end": 3}, "two whole numbers"),
        ({"kind": "remove", "code": "affective", "start": 0, "end": 2.5}, "two whole numbers"),
        ({"kind": "apply", "code": "affective", "start": False, "end": True}, "two whole numbers"),
        ({"kind": "apply", "code": "affective", "start": math.nan, "end": 3}, "two whole numbers"),
        ({"kind": "apply", "code": "affective", "start": 0, "end": math.inf}, "two whole numbers"),
        ({"kind": "apply", "code": "affective", "start": "0", "end": "3"}, "two whole numbers"),
        ({"kind": "finish", "unit_id": "m9"}, "found 'm9' – known are 'm0', 'm1', 'm2' (4 in all)"),
        ({"kind": "finish", "unit_id": None}, "expected a unit that is coded here"),
        ({"kind": "finish", "unit_id": ["m0"]}, "expected a unit that is coded here"),
        ({"kind": "memo", "text": 5}, "expected text as memo"),
        ({"kind": "memo", "text": "x", "memo_id": 5}, "is not your memo on this"),
        ({"kind": "rule", "code": "affective", "applied": True}, "expected one of apply"),
        ({}, "expected one of apply"),
        ({"kind": "undo"}, "there is nothing to undo"),
    ],
)
def test_a_deed_that_cannot_stand_is_refused(named: dict[str, Any], message: str) -> None:
    saved: list[Act] = []
    browser = Browser(saved.extend)
    body = {"unit_id": "m0", **named}
    answer = browser.ask("act", act=body)
    assert answer["type"] == "refused"
    assert message in answer["message"]
    assert saved == []
    assert browser.do("apply", code="affective")["type"] == "done"


@pytest.mark.parametrize(
    "message",
    [
        {},
        None,
        5,
        "hello",
        ["hello"],
        {"type": None},
        {"type": "goodbye", "id": "x"},
        {"type": "unit"},
        {"type": "unit", "place": "1"},
        {"type": "unit", "place": None},
        {"type": "unit", "place": 1.5},
        {"type": "unit", "place": math.nan},
        {"type": "unit", "place": True},
        {"type": "unit", "place": -1},
        {"type": "unit", "place": 4},
        {"type": "act"},
        {"type": "act", "id": "x", "act": {"kind": "finish", "unit_id": "m0"}},
        {"type": "act", "id": 7, "act": {"kind": "finish", "unit_id": "m0"}},
        {"type": "act", "act": {"kind": "finish", "unit_id": "m0"}},
        {"type": "act", "id": "00000000-0000-4000-8000-000000000000", "act": None},
        {"type": "act", "id": "00000000-0000-4000-8000-000000000000", "act": [1]},
    ],
)
def test_a_malformed_message_is_answered(message: object) -> None:
    saved: list[Act] = []
    browser = Browser(saved.extend)
    answer = browser.send(message)
    assert answer["type"] == "refused"
    assert " – found " in answer["message"]
    assert saved == []


@pytest.mark.parametrize("kind", ["hello", "unit", "nonsense"])
def test_an_answer_is_filled_up_where_the_browser_asks_for_it_and_says_the_same(kind: str) -> None:
    """On one computer what is shorter than 64 KB is held back by up to 40 ms."""
    browser, named = Browser([].extend), {"place": 1} if kind == "unit" else {}
    plain = browser.ask(kind, **named)
    filled = browser.ask(kind, **named, fill=True)
    assert filled.pop("fill").isspace()
    assert len(json.dumps(browser.heard[-1])) > 2**16
    assert {**filled, "id": None} == {**plain, "id": None}
    assert "fill" not in browser.ask(kind, **named, fill="yes")


def test_a_unit_that_cannot_be_shown_says_so_without_its_content() -> None:
    browser = Browser([].extend, units=units(context=[f"{SENTINEL} is no JSON"] * 4))
    answer = browser.ask("unit", place=0)
    assert (answer["type"], answer["message"]) == ("failed", "showing the text failed (JSONDecodeError)")


def test_deeds_of_several_threads_are_recorded_one_after_the_other() -> None:
    saved: list[Act] = []
    inside: list[None] = []

    def save(batch: Sequence[Act]) -> None:
        if inside:
            raise RuntimeError("two at once")
        inside.append(None)
        time.sleep(0.002)
        saved.extend(batch)
        inside.clear()

    browser = Browser(save)
    with ThreadPoolExecutor(4) as pool:
        for code in CODES:
            for place in range(4):
                message = {"kind": "apply", "unit_id": f"m{place}", "code": code}
                pool.submit(
                    browser.widget._receive, None, {"type": "act", "id": new_id(), "act": message}, []
                )
    assert [answer["type"] for answer in browser.heard] == ["done"] * 12
    assert len(saved) == browser.widget.revision == 12
    assert browser.ask("hello")["flags"] == "cccc"


# keys -------------------------------------------------------------------------------------------------


def keys_of(browser: Browser) -> dict[str, str | None]:
    return {code["id"]: code["key"] for code in browser.ask("hello")["codebook"]["codes"]}


def book(*codes: Code) -> Codebook:
    return Codebook(name="book", version="1", codes=codes)


def a_code(code_id: str, **named: Any) -> Code:
    return Code(id=code_id, label=code_id.title(), definition="What it means.", **named)


def test_codes_without_a_key_get_free_ones_in_order() -> None:
    codebook = book(
        a_code("one"),
        a_code("two", key="1"),
        a_code("group", codable=False),
        a_code("low", parent="group"),
        a_code("b2", key="b"),
    )
    browser = Browser([].extend, codebook=codebook)
    assert keys_of(browser) == {"one": "2", "two": "1", "group": None, "low": "3", "b2": "b"}


def test_forty_codes_get_keys_as_far_as_they_reach_and_none_twice() -> None:
    browser = Browser([].extend, codebook=book(*[a_code(f"code{number}") for number in range(40)]))
    keys = list(keys_of(browser).values())
    given_keys = [key for key in keys if key is not None]
    assert "".join(given_keys) == "1234567890abdeghijklopqtx"
    assert keys[len(given_keys) :] == [None] * 15
    assert not {*given_keys} & {*COMMANDS.values()}
    assert browser.do("apply", code="code39")["type"] == "done"


def test_a_code_that_takes_a_commands_key_is_refused_until_the_command_has_another() -> None:
    codebook = book(a_code("memory", key="m"), a_code("other"))
    with pytest.raises(ActError, match=r"'m' is the key of code 'memory' and of the command 'memo'.*keys="):
        Browser([].extend, codebook=codebook)
    browser = Browser([].extend, codebook=codebook, keys={"memo": "1"})
    assert keys_of(browser) == {"memory": "m", "other": "2"}
    assert browser.ask("hello")["commands"]["memo"] == "1"


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"memo": "u"}, r"'u' is the key of both unsure and memo"),
        ({"memo": "i", "undo": "i"}, r"'i' is the key of both memo and undo"),
        ({"mem": "i"}, r"no command is called 'mem' – did you mean 'memo'\?"),
        ({"memo": ""}, r"as the browser names them – found '' for 'memo'"),
        ({"memo": None}, r"found 'None' for 'memo'"),
        ({"memo": "Escape", "undo": "Tab"}, r"found 'Escape', 'Tab' for 'memo', 'undo'"),
    ],
)
def test_keys_that_cannot_work_are_refused(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ActError, match=message):
        Browser([].extend, keys=keys)


def test_commands_may_change_places() -> None:
    browser = Browser([].extend, keys={"memo": "u", "unsure": "m"})
    commands = browser.ask("hello")["commands"]
    assert (commands["memo"], commands["unsure"]) == ("u", "m")


@pytest.mark.parametrize("coder", ["", "Ana Müller", "consensus", "../ana"])
def test_a_coder_who_is_no_pseudonym(coder: str) -> None:
    with pytest.raises(ActError, match="coder: expected"):
        Browser([].extend, coder=coder)


# whole sessions ---------------------------------------------------------------------------------------

SPANS = st.one_of(st.none(), st.tuples(st.integers(0, 6), st.integers(0, 24)))
DEEDS = st.tuples(
    st.sampled_from(
        ["apply", "apply", "remove", "finish", "reopen", "memo", "undo", "undo", "redo", "restart"]
    ),
    st.sampled_from(["m0", "m1", "m2", "m3"]),
    st.sampled_from(CODES),
    SPANS,
    st.sampled_from([None, "met", "unmet"]),
    st.sampled_from(["", f"{SENTINEL} one", "two"]),
    st.sampled_from(["ok", "ok", "ok", "fails", "fails after saving"]),
)


def play(browser: Browser, played: tuple[Any, ...]) -> None:
    """Do one act; where it failed, do it again as the browser would."""
    kind, unit_id, code, span, valence, text, _ = played
    start, end = span or (None, None)
    facets = (
        {"facets": {"valence": valence} if valence else {}, "confidence": "unsure"} if kind == "apply" else {}
    )
    memo = browser.ask("unit", place=int(unit_id[1:]))["unit"]["memo"]
    named = {"text": text, "memo_id": memo and memo["memo_id"]} if kind == "memo" else {}
    act_id = new_id()
    for _attempt in range(2):
        answer = browser.do(kind, unit_id, act_id=act_id, code=code, start=start, end=end, **facets, **named)
        if answer["type"] != "failed":
            break
    assert answer["type"] in ("done", "refused")


def what_is_shown(browser: Browser) -> tuple[set[tuple[object, ...]], set[str], set[tuple[str, str]]]:
    shown = [browser.ask("unit", place=place)["unit"] for place in range(len(TEXTS))]
    codings = {
        (
            unit["unit_id"],
            coding["code"],
            coding["start"],
            coding["end"],
            coding["facets"].get("valence"),
            coding["confidence"],
        )
        for unit in shown
        for coding in unit["codings"]
    }
    memos = {(unit["memo"]["memo_id"], unit["memo"]["text"]) for unit in shown if unit["memo"]}
    return codings, {unit["unit_id"] for unit in shown if unit["finished"]}, memos


def what_is_recorded(saved: Sequence[Act]) -> tuple[set[tuple[object, ...]], set[str], set[tuple[str, str]]]:
    record = acts.fold(saved, codebook=SENSE7)
    codings = set()
    for row in record.codings.astype(object).itertuples():
        span: tuple[int | None, int | None] = (None, None)
        if not pd.isna(row.start):
            span = utf16_units(TEXTS[int(row.unit_id[1:])], row.start, row.end)
        facets = [None if pd.isna(value) else value for value in (row.valence, row.confidence)]
        codings.add((row.unit_id, row.code, *span, *facets))
    memos = set(record.memos[["memo_id", "text"]].itertuples(index=False, name=None))
    return codings, set(record.coverage["unit_id"]), memos


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(st.lists(DEEDS, max_size=25))
def test_what_is_shown_is_what_was_saved_and_no_text_is_kept_outside(played: list[tuple[Any, ...]]) -> None:
    saved: list[Act] = []
    fate = "ok"

    def save(batch: Sequence[Act]) -> None:
        nonlocal fate
        now, fate = fate, "ok"
        if now != "fails":
            known = {act.act_id: act for act in saved}
            assert all(known.get(act.act_id, act) == act for act in batch)
            saved.extend(act for act in batch if act.act_id not in known)
        if now != "ok":
            raise RuntimeError(SENTINEL)

    browser = Browser(save)
    for one in played:
        if one[0] == "restart":
            browser = Browser(save, acts=tuple(saved))
            continue
        fate = one[-1]
        play(browser, one)
        fate = "ok"
    assert what_is_shown(browser) == what_is_recorded(saved)
    assert browser.widget.n_finished == len(acts.fold(saved).coverage)
    again = Browser(save, acts=tuple(saved))
    assert what_is_shown(again) == what_is_shown(browser)
    assert again.ask("hello")["flags"] == browser.ask("hello")["flags"]
    _refuse_texts(browser)


def _refuse_texts(browser: Browser) -> None:
    """No text in what a notebook, a log or a traceback could keep: traits, state, reprs, refusals."""
    widget = browser.widget
    kept = [
        json.dumps(widget.get_state(), default=str),
        repr(widget),
        repr(widget._session),
        str(widget._repr_mimebundle_()),
        *(str(answer) for answer in browser.heard if answer["type"] in ("refused", "failed")),
    ]
    for text in (SENTINEL, "listened", "cafe\u0301", "كان"):  # none that a random id could spell ("cafe")
        for written in (text, json.dumps(text)[1:-1]):
            assert not [place for place, words in enumerate(kept) if written in words]


def test_the_state_of_a_widget_holds_counts_alone() -> None:
    browser = Browser([].extend, units=units(empathy=[2.0, 3.0, 4.0, 5.0]), rating="empathy")
    browser.ask("hello")
    browser.do("memo", text=SENTINEL)
    browser.do("apply", code="affective", start=0, end=2)
    browser.do("finish")
    own = {"n_units", "n_finished", "revision"}
    state = browser.widget.get_state()
    assert {name: state[name] for name in own} == {"n_units": 4, "n_finished": 1, "revision": 3}
    known = {"_esm", "_css", "_anywidget_id", "layout", "tabbable", "tooltip"}
    assert {name for name in state if not name.startswith(("_model", "_view", "_dom"))} == own | known
    assert repr(browser.widget) == "CodingWidget('ana', 1 of 4 units finished)"
    _refuse_texts(browser)


@pytest.mark.long
def test_with_a_real_study_folder(tmp_path) -> None:
    store = Store.create(tmp_path / "study", units=units(), codebook=SENSE7)
    named = {"units": store.units, "codebook": store.codebook}
    browser = Browser(store.append, **named)
    start, end = utf16_units(TEXTS[0], 3, 14)
    browser.do("apply", code="affective", start=start, end=end, facets={"valence": "unmet"})
    browser.do("memo", text="cut \ud83d")
    browser.do("finish")
    browser.do("undo", unit_id=None)
    again = Browser(store.append, acts=store.acts(coder="ana"), **named)
    assert what_is_shown(again) == what_is_shown(browser) == what_is_recorded(store.acts())
    assert store.acts()[0].text == "👍🏽 listened"
    assert again.do("redo", unit_id=None)["n_finished"] == 1
    assert store.coverage()["unit_id"].tolist() == ["m0"]
    assert store.verify()["ok"].all()
