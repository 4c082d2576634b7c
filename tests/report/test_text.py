"""Texts of a study's record: every number has a call that gives it, and nothing is said that is not there."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from sense7_qual import acts, report, rounds
from sense7_qual._basis import Basis
from sense7_qual.errors import ArgumentError, StoreError
from sense7_qual.report import Text
from sense7_qual.report._review_facts import read_once
from sense7_qual.store import Store
from tests.helpers.nightly import nightly_but
from tests.helpers.small_study import CODEBOOK, frame_of
from tests.helpers.small_themes import to_record
from tests.helpers.written_studies import FLAWED, STUDIES

pytestmark = pytest.mark.long  # half a minute

PACKAGES = (
    "acts",
    "adjudication",
    "agreement",
    "codebook",
    "codings",
    "corpus",
    "links",
    "report",
    "rounds",
    "suggestions",
)
#: What may stand in the words themselves: years and the conventions of the literature.
IN_WORDS = re.compile(r"\((?:[^()]*, )?(?:19|20)\d\d\)|\.800|\.667|below \.05|sense7_qual")
#: Numbers that are written out.
WRITTEN = {"no": 0, "none": 0, "once": 1}
OF_AGREEMENT = re.compile(
    r"agree|alpha|α|kappa|κ|reliab|coefficient|cross-check|MASI|inter-?coder|inter-?rater", re.IGNORECASE
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Store]:
    there: dict[str, Store] = {}

    def one(name: str) -> Store:
        if name not in there:
            there[name] = {**STUDIES, **FLAWED}[name](tmp_path_factory.mktemp("studies") / "study")
        return there[name]

    return one


@cache
def as_read(store: Store) -> Any:
    """Return a study that nothing is added to, read once, as for a whole paper."""
    return read_once(store, function="test")


@cache
def texts(store: Store, *, with_agreement: bool = True) -> tuple[Text, ...]:
    """Return the texts of a study, made once."""
    store = as_read(store)
    named = {"with_agreement": with_agreement, "n_boot": 20, "seed": 3}
    rating = next((name for name in store.units.columns if name.startswith("Rat")), None)
    told = {"rating": rating if with_agreement else None}
    counted = told | {"settled_by": "rulings" if with_agreement else "any"}
    return (
        report.methods(store, **counted, **named),
        report.results(store, **counted, **named),
        report.ai_statement(store, **named),
    )


def value_of(call: str, where: str, store: Store, known: dict[str, Any]) -> Any:
    """Return what the expression gives, each call made once."""
    names = {name: importlib.import_module(f"sense7_qual.{name}") for name in PACKAGES}
    names |= {"store": store, "metadata": metadata, "json": json, "Basis": Basis}
    if call not in known:
        known[call] = eval(call, names)  # noqa: S307
    return eval(f"it{where}", names | {"it": known[call]}) if where else known[call]  # noqa: S307


def as_number(printed: str) -> tuple[float, float]:
    """Return what is printed, and half a unit of its last decimal."""
    plain = printed.replace("−", "-").replace(",", "")
    return float(plain), 0.5 * 10.0 ** -len(plain.partition(".")[2]) + 1e-9


def same(printed: str, value: Any) -> bool:
    if isinstance(value, str):
        plain = " ".join(value.split())
        return printed == plain or printed == plain[:10] or "_" in value or value.islower()
    if printed.startswith(("<", ">")):
        limit = float(printed[1:].strip())
        limit = limit / 100 if limit >= 0.1 else limit
        return bool(value < limit if printed[0] == "<" else value > limit)
    if printed in WRITTEN:
        return bool(value == WRITTEN[printed])
    shown, tolerance = as_number(printed)
    return any(abs(shown - size * float(value)) <= tolerance for size in (1, 100))


@pytest.mark.parametrize("name", nightly_but(STUDIES, here=["discussed", "no_participant", "empty"]))
def test_every_number_is_what_its_call_gives(name: str, made: Callable[[str], Store]) -> None:
    store, known = made(name), {}
    rows = pd.concat([text.frame for agreed in (True, False) for text in texts(store, with_agreement=agreed)])
    assert len(rows) >= 8
    for row in rows.itertuples():
        found = value_of(row.call, row.where, store, known)
        both_missing = pd.isna(found) if pd.api.types.is_scalar(found) else False
        assert both_missing or found == row.value, (row.call, row.where)
        assert same(row.printed, row.value), (row.printed, row.value)


@pytest.mark.parametrize("name", STUDIES)
def test_no_number_stands_in_the_words(name: str, made: Callable[[str], Store]) -> None:
    for agreed in (True, False):
        for text in texts(made(name), with_agreement=agreed):
            assert all(one.sentences for one in text.paragraphs)
            for sentence in text.sentences:
                words = "".join("" if not isinstance(part, str) else part for part in sentence.parts)
                assert not re.search(r"\d", IN_WORDS.sub("", words)), words
                assert str(sentence).endswith((".", ".”", "?")), str(sentence)
                assert "nan" not in str(sentence).split(), str(sentence)


@pytest.mark.parametrize("name", [name for name in STUDIES if name != "hostile"])  # its labels hold α
def test_without_agreement_there_is_none(name: str, made: Callable[[str], Store]) -> None:
    store = made(name)
    for text in texts(store, with_agreement=False):
        assert not OF_AGREEMENT.findall(str(text))
        assert not text.frame["call"].str.contains("agreement.", regex=False).any()
    for guideline in ("coreq", "srqr", "rtarg"):
        table = report.checklist(as_read(store), guideline, with_agreement=False)
        assert not OF_AGREEMENT.findall(" ".join(cell for row in table.rows for cell in row))
    assert OF_AGREEMENT.search(str(texts(store)[0])), "or else nothing would be found"


def test_what_happened_is_told(made: Callable[[str], Store]) -> None:
    told = str(report.methods(as_read(made("discussed")), settled_by="rulings", n_boot=20)) + str(
        report.results(as_read(made("discussed")), settled_by="rulings", n_boot=20)
    )
    for words in (
        "In the round “one”, 2 coders were given 24 texts to code blind to each other until the round",
        "the round “one, discussed”, 2 coders discussed 4 texts",
        "assigned to 2 coders at random (seed 3), 50.0% of them to all coders",
        "All of them coded the same 4 texts first",
        "1 adjudicator ruled on them",
        "for 1 both readings were ruled legitimate",
        "“The rule of the code is unclear” once",
    ):
        assert words in told
    alone = str(report.methods(as_read(made("alone")), with_agreement=False))
    for words in (
        "(6 pseudonyms in 3 texts)",
        "revised in 1 step",
        "4 codes were added",
        "2 memos were written (1 on codes and 1 on the study as a whole)",
        "1 code was proposed",
    ):
        assert words in alone
    assert "no agreement to report" in str(report.methods(as_read(made("alone"))))
    assert "no text of" not in str(report.methods(as_read(made("empty"))))
    assert "first finished after the round" in str(
        report.methods(as_read(made("finished_after_unblinding")), settled_by="rulings", n_boot=20)
    )
    assert "changed in a round after" in str(
        report.methods(as_read(made("changed_after_unblinding")), settled_by="rulings", n_boot=20)
    )
    assert "saw the participants' ratings" in str(
        report.methods(as_read(made("rating_seen")), settled_by="rulings", n_boot=20)
    )
    assert "by someone who had coded the text" in str(
        report.methods(as_read(made("ruled_own")), settled_by="rulings", n_boot=20)
    )


def test_saturation_is_told_with_its_band(made: Callable[[str], Store]) -> None:
    told = str(report.results(as_read(made("alone"))))
    assert re.search(r"threshold was (not )?reached.*\d over other orders", told)


def test_use_of_ai_is_told_from_the_record(made: Callable[[str], Store]) -> None:
    text = report.ai_statement(as_read(made("suggested")))
    for words in ("“a model” for 20 texts; for 4 texts, drawn at random", "40 suggestions", "from the start"):
        assert words in str(text)
    nothing = report.ai_statement(as_read(made("flawless")))
    assert "no use of a model" in str(nothing)
    assert len(nothing.questions) == 2
    models = report.ai_statement(as_read(made("flawless")), models=["ben"], n_boot=20)
    assert "“ben”" in str(models)
    assert "cross-kappa" in str(models)
    assert "cross-kappa" not in str(
        report.ai_statement(as_read(made("flawless")), models=["ben"], with_agreement=False)
    )
    with pytest.raises(ArgumentError, match="did you mean 'ben'"):
        report.ai_statement(as_read(made("flawless")), models=["benn"])


def test_what_models_proposed_is_told_apart_from_what_people_read(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s", units=frame_of(), codebook=CODEBOOK)
    store.record_themes(to_record({"m1": 0, "m2": 0}), coder="lead")
    named = {"label": "Hope", "unit_id": "m1", "codebook": CODEBOOK}
    store.append([acts.propose(coder="ana", **named)])
    for origin in ("theme 0", "theme 0; drafted by a language model", "theme 0"):
        store.append([acts.propose(coder="lead", origin=origin, theme=0, **named)])
    assert "From themes, 3 codes were proposed, 1 of them in the words of a language model" in str(
        report.ai_statement(store)
    )
    alone = str(report.methods(store, with_agreement=False))
    assert "During coding, 1 code was proposed" in alone
    assert "From themes found by a topic model, 3 codes were proposed" in alone


def test_a_positionality_memo_is_put_in_as_it_is(made: Callable[[str], Store]) -> None:
    store = made("alone")
    memos = store.memos().set_index("target_kind")["memo_id"]
    text = report.methods(store, with_agreement=False, positionality=memos["study"])
    assert "I come to these texts as a nurse." in str(text)
    assert "nurse" not in repr(text)
    assert "nurse" not in repr(list(text.sentences))
    assert not any("position" in one for one in text.questions)
    rows = {row[0]: row for row in report.checklist(store, "coreq", positionality=memos["study"]).rows}
    assert rows["8"][2].startswith("I come to these texts")
    with pytest.raises(ArgumentError, match="memo on the study"):
        report.methods(store, positionality=memos["code"])


def test_it_is_written_in_every_format(made: Callable[[str], Store], tmp_path: Path) -> None:
    text = report.results(as_read(made("hostile")), settled_by="rulings", n_boot=20)
    for suffix in (".md", ".docx", ".tex", ".txt"):
        text.write(tmp_path / f"text{suffix}")
        assert (tmp_path / f"text{suffix}").stat().st_size > 400
    assert "passwd" in text.latex(), "a label that would read a file is printed"
    assert "\\input" not in text.latex()
    assert "\\write18" not in text.latex()
    assert "<script>" not in text.markdown()
    with pytest.raises(StoreError, match="file"):
        text.write(tmp_path / "text.md")
    with pytest.raises(ArgumentError, match="docx"):
        text.write(tmp_path / "text.pdf")


@pytest.mark.parametrize(("guideline", "n", "least"), [("coreq", 32, 10), ("srqr", 21, 8), ("rtarg", 18, 6)])
def test_a_checklist_has_every_item_and_counts_them(
    guideline: Any, n: int, least: int, made: Callable[[str], Store]
) -> None:
    table = report.checklist(as_read(made("discussed")), guideline, settled_by="rulings", n_boot=20)
    assert len(table.rows) == n
    assert table.headers[-2:] == ("From the record", "To be answered")
    assert ("Item" in table.headers) == (guideline != "rtarg")
    if guideline != "rtarg":
        assert [row[0] for row in table.rows] == [str(i + 1) for i in range(n)]
    said, asked = ([row[place] != "–" for row in table.rows] for place in (-2, -1))
    assert all(one or other for one, other in zip(said, asked, strict=True))
    assert sum(said) >= least
    counts = [int(one) for one in re.findall(r"\d+", table.notes[0])]
    in_part = sum(one and other for one, other in zip(said, asked, strict=True))
    assert counts == [sum(said) - in_part, n, in_part, n - sum(said)]
    bare = report.checklist(as_read(made("empty")), guideline)
    assert all(row[-2] != "–" or row[-1] != "–" for row in bare.rows)


def test_what_is_wrong_is_refused(made: Callable[[str], Store]) -> None:
    store = made("flawless")
    with pytest.raises(ArgumentError, match="methods: expected an open study"):
        report.methods(pd.DataFrame())  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="rating to be a column"):
        report.methods(store, rating="text")
    with pytest.raises(ArgumentError, match="cluster to be a column"):
        report.results(store, cluster="case")
    with pytest.raises(ArgumentError, match="coreq"):
        report.checklist(store, "coreqs")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="n_boot"):
        report.results(store, n_boot=0)


def test_a_coder_who_sees_their_own_acts_alone_can_have_it_written(
    made: Callable[[str], Store], tmp_path: Path
) -> None:
    store = STUDIES["discussed"](tmp_path / "study")
    named = {"coder": "chair", "codebook": store.codebook}
    store.append([rounds.open_round("two", units=["m1", "m2"], coders=["cy"], **named)])
    store.copies.hand_out("two", "cy", tmp_path / "cy")
    seen, known = Store(tmp_path / "cy"), {}
    for text in texts(seen):
        for row in text.frame.itertuples():
            assert value_of(row.call, row.where, seen, known) == row.value or pd.isna(row.value)


def test_rulings_made_together_are_counted_from_the_record(tmp_path: Path) -> None:
    store = STUDIES["discussed"](tmp_path / "study")
    assert "ruled on them one by one" in str(report.methods(store, settled_by="rulings", n_boot=20))
    ruled, book = store.rulings(), store.codebook
    assert len(ruled) >= 3
    again = [
        acts.rule(
            unit_id=one.unit_id, code=one.code, applied=True, reason="slip", coder=one.coder, codebook=book
        )
        for one in ruled[:2]
    ]
    store.append(acts.in_one_step(again))
    told = str(report.methods(store, settled_by="rulings", n_boot=20))
    together = sum(one.step is not None for one in store.rulings())
    assert f"{together} of {len(store.rulings())} rulings were made together" in told
    assert together == 2
    assert "one by one" not in told
