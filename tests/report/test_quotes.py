"""Quotes for print: screened, with a case against each code, and in the words that were approved."""

from __future__ import annotations

import zipfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from sense7_qual import acts, codings, report
from sense7_qual.acts import Act
from sense7_qual.acts.contents import AnalysisPlan
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.frames import CODINGS
from sense7_qual.report import Table
from sense7_qual.store import Store

BOOK = Codebook(name="two", codes=(Code(id="warm", label="Warm"), Code(id="cold", label="Cold")))
TEXTS = {
    "m0": "It asked how I was. Then it asked 👩‍👩‍👧 again, and again.",
    "m1": "So kind of it, write to ann@example.org for more.",
    "m2": "It did not listen.",
    "m3": "שלום, it was warm to me.",
    "m4": "It was warm and then it was cold.",
    "m5": "Nothing.",
}
UNITS = pd.DataFrame(
    {
        "unit_id": list(TEXTS),
        "text": list(TEXTS.values()),
        "document_id": "d",
        "case_id": ["p0", "p1", "p2", None, "p4", "p5"],
        "position": range(6),
        "stars": [5.0, 5, 1, 4, 4, 2],
    }
)


def coded(*rows: tuple[str, str, int | None, int | None], coder: str = "ana") -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["unit_id", "code", "start", "end"]).assign(coder=coder)
    return CODINGS.check(frame.reindex(columns=list(CODINGS.columns)))


CODED = coded(
    ("m0", "warm", 0, 19),
    ("m1", "warm", None, None),
    ("m3", "warm", None, None),
    ("m4", "warm", 0, 11),
    ("m4", "cold", None, None),
)


def decided(**of: dict[str, str]) -> pd.DataFrame:
    """Return decisions: by code, for each text a letter per coder (y or n), and after ":" what was ruled."""
    rows = []
    for code, texts in of.items():
        for unit_id, said in texts.items():
            votes, _, ruled = said.partition(":")
            rows += [
                (unit_id, coder, code, vote == "y")
                for coder, vote in zip(("ana", "ben"), votes, strict=False)
            ]
            rows += [(unit_id, "consensus", code, vote == "y") for vote in ruled]
    return pd.DataFrame(rows, columns=["unit_id", "coder", "code", "applied"])


def quoted(*made: Act) -> pd.DataFrame:
    return codings.quotes(made, BOOK, revisions=())


def quote(unit_id: str, state: str = "approved", code: str = "warm", **more: object) -> Act:
    return acts.quote(
        coder="lead",
        unit_id=unit_id,
        code=code,
        state=state,
        codebook=BOOK,
        **{"at": "2026-03-01T09:00:00.000Z", **more},
    )


def table(**named: object) -> Table:
    return report.tables.quote(CODED, UNITS, codebook=BOOK, seed=7, **named)


def cells(of: Table) -> list[tuple[str, str]]:
    return [row[:2] for row in of.rows]


def foot(of: Table) -> str:
    return " ".join(of.notes)


@pytest.mark.long
@given(most=st.integers(1, 3), seed=st.integers(0, 3))
@settings(max_examples=8, deadline=None)
def test_no_participant_has_more_quotes_than_asked_for_and_no_code_starves(most: int, seed: int) -> None:
    """One person carries every code: each code must still get the quotes that others can give."""
    book = Codebook(name="b", codes=tuple(Code(id=f"c{n}", label=f"C{n}") for n in range(6)))
    units = pd.DataFrame(
        {
            "unit_id": [f"m{n}" for n in range(12)],
            "text": "words",
            "document_id": "d",
            "case_id": ["p0"] * 6 + [f"p{n}" for n in range(1, 7)],
            "position": range(12),
        }
    )
    many = coded(
        *((f"m{n}", f"c{n}", None, None) for n in range(6)),
        *((f"m{6 + n}", f"c{n}", None, None) for n in range(6)),
    )
    found = report.quote_candidates(many, units, codebook=book, per_participant=most, seed=seed)
    drawn = found[found["drawn"]]
    assert Counter(drawn["case_id"])["p0"] == most
    assert set(drawn["code"]) == {code.id for code in book.codes}
    assert len(drawn) == 6 + most
    free = report.quote_candidates(many, units, codebook=book, seed=seed)
    assert free["drawn"].sum() == 12
    shown = report.tables.quote(many, units, codebook=book, per_participant=most, seed=seed)
    assert f"at most {most} per participant in the whole table" in foot(shown)
    with pytest.raises(ArgumentError, match="per_participant of 1 or more"):
        report.tables.quote(many, units, codebook=book, per_participant=0)


def test_the_code_with_least_to_choose_from_draws_first() -> None:
    """Cold is borne by one participant alone, who must not be used up for warm, the first of the codebook."""
    both = coded(*((f"m{n}", "warm", None, None) for n in (0, 1, 2, 4)), ("m4", "cold", None, None))
    for seed in range(12):
        found = report.quote_candidates(both, UNITS, codebook=BOOK, per_participant=1, seed=seed)
        assert found.loc[found["drawn"] & (found["code"] == "cold"), "unit_id"].tolist() == ["m4"]


def test_what_may_tell_who_somebody_is_comes_last_and_is_not_printed() -> None:
    # The whole of m1 has an address; three others for the code have none.
    assert not any("ann@" in str(row) or "†" in str(row) for row in table(per_code=3).rows)
    four = table(per_code=4)
    assert ("Warm", "[not printed: email] †") in cells(four)
    assert "ann@example.org" not in four.markdown()
    assert "not printed unless approved – Warm: email" in foot(four)
    named = table(per_code=4, names=["Listen", "Warm"])
    assert cells(named).count(("Warm", "[not printed: name] †")) == 2
    assert "names (2 listed)" in foot(named)
    # Half of an address in the quoted words is as good as all of it.
    part = coded(("m1", "warm", 24, 32))
    assert report.quote_candidates(part, UNITS, codebook=BOOK)["identifies"].tolist() == ["email"]


@pytest.mark.parametrize(
    ("warm", "expected"),
    [
        # A near miss comes before a case against the trend, and that before a disputed one.
        ({"m0": "yy", "m1": "yy", "m3": "yn:n", "m4": "yn"}, ("m3", "near miss: 1 of 2 coders applied it")),
        ({"m0": "yy", "m1": "yn", "m3": "yy", "m4": "yn"}, ("m1 m4", "disputed: 1 of 2 coders applied it")),
        ({"m0": "yy", "m1": "yn:y", "m3": "yy", "m4": "yy"}, None),
    ],
)
def test_the_case_against_a_code(warm: dict[str, str], expected: tuple[str, str] | None) -> None:
    of = decided(warm=warm, cold={"m4": "nn"})
    found = report.quote_candidates(CODED, UNITS, codebook=BOOK, decisions=of, per_code=1)
    case = found[found["drawn"] & (found["role"] == "disconfirms")]
    printed = report.tables.quote(CODED, UNITS, codebook=BOOK, decisions=of, per_code=1)
    if expected is None:
        assert case.empty
        assert "Without a disconfirming case, because none was found: Warm, Cold." in foot(printed)
        return
    assert case["unit_id"].item() in expected[0].split()
    assert case["why"].item().startswith(expected[1])
    assert expected[1] in foot(printed)
    assert "Lincoln & Guba 1985" in foot(printed)
    assert [row[0] for row in printed.rows][-1] == "Warm (disconfirming case)"
    assert "none was found: Cold." in foot(printed)
    shows = found[found["drawn"] & (found["role"] == "shows")]
    assert case["case_id"].item() not in set(shows["case_id"])


def test_a_case_against_the_trend_lies_beyond_the_mean_of_those_without_the_code() -> None:
    units = UNITS.assign(case_id=[f"p{n}" for n in range(6)], stars=[5.0, 5, 2, 3, 1.0, 3])
    of = decided(warm={"m0": "yy", "m1": "yy", "m3": "yy", "m4": "yy", "m2": "nn", "m5": "nn"})
    named = {"codebook": BOOK, "decisions": of, "rating": "stars", "seed": 1}
    cases = set()
    for seed in range(8):
        found = report.quote_candidates(CODED, units, **{**named, "seed": seed, "per_code": 1})
        cases |= set(
            found.loc[found["drawn"] & (found["role"] == "disconfirms"), ["unit_id", "why"]].itertuples(
                index=False, name=None
            )
        )
    # (5 + 5 + 3 + 1) / 4 = 3.5 with the code, (2 + 3) / 2 = 2.5 without: 3 lies below the first alone.
    assert cases == {
        ("m4", "against the trend: rating 1, where texts with the code have a mean of 3.50, others of 2.50")
    }


def test_a_text_on_which_coders_disagree_shows_no_code() -> None:
    of = decided(warm={"m0": "yn", "m1": "yn:n", "m3": "yy", "m4": "y:y"}, cold={})
    found = report.quote_candidates(CODED, UNITS, codebook=BOOK, decisions=of).set_index(["unit_id", "code"])
    drawn = found[found["drawn"] & (found["role"] == "shows")]
    assert {unit_id for unit_id, _ in drawn.index} == {"m3", "m4"}
    assert found.loc[("m0", "warm"), "why"] == "coders disagree on it"
    assert found.loc[("m4", "cold"), "why"] == "nobody has finished the text"


def test_approved_quotes_are_the_table_in_the_words_that_were_approved() -> None:
    quotes = quoted(
        quote("m0", start=3, end=8),
        quote("m1"),
        quote("m4", start=0, end=11, paraphrase="Found it kind; see bob@example.org."),
        quote("m4", code="cold", role="disconfirms", paraphrase="Kind, then not."),
        quote("m3", state="chosen"),
    )
    printed = table(quotes=quotes, rating="stars", per_code=2, per_participant=1)
    assert printed.rows == (
        ("Warm", "Found it kind; see bob@example.org. [paraphrase] †", "p4", "4", "ana"),
        ("Warm", "[…] asked […]", "p0", "5", "ana"),
        ("Warm", "So kind of it, write to ann@example.org for more. †", "p1", "5", "ana"),
        ("Cold (disconfirming case)", "Kind, then not. [paraphrase]", "p4", "4", "ana"),
    )
    told = foot(printed)
    assert "approved by lead (4), the last on 2026-03-01" in told
    assert "More than 2 approved: Warm (3)." in told
    assert "Fewer than 2 approved: Cold (0)." in told
    assert "More than 1 of one participant: p4 (2)." in told
    assert "printed, since approved – Warm: email (×2)" in told
    assert "It was warm" not in printed.markdown()


def test_words_that_stand_in_a_paraphrase_are_printed_under_no_other_code() -> None:
    quotes = quoted(quote("m4", start=0, end=11, paraphrase="It was kind."), quote("m4", code="cold"))
    printed = table(quotes=quotes)
    assert cells(printed) == [("Warm", "It was kind. [paraphrase]")]
    assert "Cold: 1 (a paraphrase under Warm replaces its words)" in foot(printed)


def test_an_approved_quote_without_a_coding_or_a_code_is_left_out_and_said() -> None:
    quotes = quoted(quote("m0", start=19, end=30), quote("m2"), quote("m3"))
    printed = table(quotes=quotes)
    assert cells(printed) == [("Warm", TEXTS["m3"])]
    assert "Warm: 2 (its words are no longer coded)" in foot(printed)
    gone = quotes.assign(code="gone")
    assert table(quotes=gone).rows == ()
    assert "gone: 3 (its code or its text no longer exists)" in foot(table(quotes=gone))
    with pytest.raises(TableError, match="quotes: expected spans inside their text"):
        table(quotes=quotes.assign(end=99))


@pytest.mark.parametrize(
    "made",
    [
        quote("m0", state="refused"),
        quote("m0", state="chosen", paraphrase="It enquired."),
        quote("m0", start=10, end=40, code="cold", paraphrase="It enquired."),
    ],
)
def test_what_was_refused_or_is_paraphrased_is_not_drawn(made: Act) -> None:
    stands = quoted(made)
    if made.code == "cold":  # approved for another code, which changed since
        stands = stands.assign(state="stale")
    assert "It asked" in table(per_code=4).markdown()
    assert "It asked" not in table(per_code=4, quotes=stands).markdown()


def study(path: Path) -> Store:
    store = Store.create(path, units=UNITS, codebook=BOOK)
    for coder in ("ana", "ben"):
        done = [
            acts.apply(coder=coder, unit_id=row.unit_id, code=row.code, codebook=BOOK)
            for row in CODED.drop_duplicates(["unit_id", "code"]).itertuples()
        ]
        store.append(
            [*done, *(acts.finish(coder=coder, unit_id=unit_id, codebook=BOOK) for unit_id in TEXTS)]
        )
    store.append([acts.memo(coder="ana", unit_id="m4", text="About it.", codebook=BOOK)])
    return store


@pytest.mark.long
def test_a_paper_holds_no_word_of_what_stands_in_a_paraphrase(tmp_path: Path) -> None:
    store = study(tmp_path / "study")
    plan = AnalysisPlan(question="Why?", n_boot=5, with_agreement=False, settled_by="any")
    store.append([quote("m4", paraphrase="It was kind first."), quote("m0")])
    made = report.paper(store, plan, tmp_path / "paper", formats=["md", "docx"], with_texts=True)
    assert {"coded data with the texts", "memos"} <= set(made.left_out["what"])
    for file in (tmp_path / "paper").iterdir():
        parts = [file.read_bytes()]
        if zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as inner:
                parts += [inner.read(name) for name in inner.namelist()]
        assert not any(b"It was warm and then" in part for part in parts), file.name
    assert "It was kind first." in (tmp_path / "paper" / "quotes.md").read_text()
    # The codebook is revised and the participant withdraws: the quote goes along, then goes.
    store.revise(
        replace(BOOK, codes=(replace(BOOK.codes[0], label="Warmth"),)),
        why="One.",
        coder="lead",
        merged={"cold": "warm"},
    )
    report.paper(store, plan, tmp_path / "paper", formats=["md"], with_texts=True, overwrite=True)
    assert "Warmth" in (tmp_path / "paper" / "quotes.md").read_text()
    store.forget("p4", why="asked")
    made = report.paper(store, plan, tmp_path / "paper", formats=["md"], with_texts=True, overwrite=True)
    assert "kind first" not in (tmp_path / "paper" / "quotes.md").read_text()
    assert "coded.xlsx" in set(made.files["file"])
