"""Every public function that takes decisions states what they rest on, and its numbers rest on just that.

The functions are found by their signatures. Each is called three times: with decisions that say their basis,
with the same frame without the column, and with people's decisions of two bases. What the basis of the
study of `tests/helpers/basis_study.py` has to be, and the numbers that rest on it, stand below.
"""

from __future__ import annotations

import dataclasses
import inspect
import io
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from pandas.testing import assert_frame_equal

import sense7_qual as qual
from sense7_qual import acts, codings
from sense7_qual._basis import Basis, Waiting, is_mixed, line_of, parts, state
from sense7_qual._reasons import Caution, Reason
from sense7_qual.codebook import Code, Codebook
from sense7_qual.store import Store
from tests.helpers import basis_study
from tests.helpers.calls import calls, public_names

TAKES = frozenset(
    {
        "decisions",
        "discussed",
        "repeats",
        "gold",
        "first",
        "second",
        "before",
        "after",
        "people",
    }
)
"""The names under which a function takes decisions."""
OF_DECISIONS = frozenset({"unit_id", "coder", "code", "applied"})
NO_STATISTIC = {
    "frames.check_people",  # gives back the rows of people with the columns that they had
    "rounds.open_round",  # records what a round of training is to be compared with
}


def takers(folder: Path) -> dict[str, Callable[[], tuple[Callable[..., Any], dict[str, Any]]]]:
    """Return the calls of the public functions with a parameter for decisions, by their signature."""
    known = calls(folder)
    return {name: known[name] for name in public_names() if name in known and set(taken(name, folder))}


def taken(name: str, folder: Path) -> Iterator[str]:
    """Yield the parameters of a function that are annotated as frames and named as decisions are."""
    value = _found(name)
    if value is None:
        return
    for parameter in inspect.signature(value).parameters.values():
        if parameter.name in TAKES and "DataFrame" in str(parameter.annotation):
            yield parameter.name


def _found(name: str) -> Any:
    package, _, rest = name.partition(".")
    value: Any = getattr(qual, package)
    for part in rest.split("."):
        value = getattr(value, part, None)
    return value if callable(value) and not inspect.isclass(value) else None


def said(result: Any) -> str:
    """Return what a result says of its basis: in its column, its attribute, its notes or its script."""
    if isinstance(result, pd.DataFrame):
        lines = result["basis"]
        if not len(lines):
            return " ".join(map(str, lines.cat.categories))
        assert lines.notna().all()
        return " ".join(map(str, lines.unique()))
    if isinstance(result, qual.report.Table):
        return " ".join(note for note in result.notes if note.startswith("Basis"))
    if isinstance(result, Path):
        return next(line for line in result.read_text("utf-8").splitlines() if line.startswith("# Basis"))
    assert dataclasses.is_dataclass(result)
    return str(result.basis)


def made(call: Callable[[], tuple[Callable[..., Any], dict[str, Any]]], change: Callable[..., Any]) -> Any:
    """Return the result of a call whose decisions were changed."""
    function, arguments = call()
    changed = {
        name: change(value)
        if name in TAKES and isinstance(value, pd.DataFrame) and set(value) >= OF_DECISIONS
        else value
        for name, value in arguments.items()
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(**changed)


RULE = "drawn for this test"


def stating(decisions: pd.DataFrame) -> pd.DataFrame:
    return state(decisions, Basis(rule=RULE, rounds=("main",)).with_rows(decisions))


def silent(decisions: pd.DataFrame) -> pd.DataFrame:
    return decisions.drop(columns="basis", errors="ignore")


def mixed(decisions: pd.DataFrame) -> pd.DataFrame:
    """Return decisions of which each person's second half rests on something else."""
    n = decisions.groupby("coder")["unit_id"].transform(lambda ids: pd.factorize(ids)[0])
    late = (n >= n.groupby(decisions["coder"]).transform("max") / 2).to_numpy()
    lines = [f"{RULE} · rounds “{'late' if one else 'early'}”" for one in late]
    return decisions.assign(basis=lines)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("basis")


@pytest.mark.long
def test_every_function_that_takes_decisions_states_their_basis(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wrong, tried = [], 0
    for name, call in takers(folder).items():
        if name in NO_STATISTIC:
            continue
        for change, expected in ((stating, RULE), (silent, "not stated"), (mixed, "several –")):
            if change is mixed and not any(map(len, given_in(call))):
                continue  # of no rows, none rest on anything else
            line = said(made(call, change))
            wrong += [] if expected in line else [f"{name}, {change.__name__}: {line!r}"]
            tried += 1
    assert not wrong
    assert tried > 100


def given_in(call: Callable[[], tuple[Callable[..., Any], dict[str, Any]]]) -> list[pd.DataFrame]:
    return [value for name, value in call()[1].items() if name in TAKES and isinstance(value, pd.DataFrame)]


def test_an_offender_is_caught() -> None:
    lines = stating(FOUR)
    with pytest.raises(KeyError):
        said(FOUR)
    with pytest.raises(AssertionError):
        said(object())
    assert RULE in said(lines)
    assert "several –" in said(state(FOUR, Basis.parse(line_of(mixed(FOUR)))))


FOUR = pd.DataFrame(
    {
        "unit_id": list("abab"),
        "coder": ["ana", "ana", "ben", "ben"],
        "code": "warm",
        "applied": [True, False, True, True],
    }
)


# The line ----------------------------------------------------------------------------------------------

NAMES = st.text(
    st.one_of(
        st.sampled_from('“”\\",·;:()– \n\t😀é'),
        st.characters(codec="utf-8", exclude_categories=("Cs",)),
    ),
    min_size=1,
    max_size=8,
).filter(lambda name: name == name.strip())
COUNTS = st.integers(1, 20_000)
WORDS = st.sampled_from(["agreed", "ruled", "of a later round", "finished again after a suggestion"])


@st.composite
def bases(draw: st.DrawFn) -> Basis:
    """Return a basis as it may be stated: without texts nobody decided, and a part has no counts inside."""
    n_texts = draw(st.integers(0, 20_000))
    selected = draw(st.none() | st.integers(0, n_texts)) if n_texts else None
    coders = draw(st.lists(st.tuples(NAMES, COUNTS), max_size=3)) if n_texts else []
    counted = st.lists(st.tuples(WORDS, COUNTS), max_size=3).map(tuple)
    waits = st.builds(Waiting, NAMES, COUNTS, COUNTS, st.sampled_from(["", "narrowed", "widened", "split"]))
    rounds = st.just(("",)) | st.lists(NAMES | st.just(""), max_size=3).map(tuple)
    return Basis(
        rule=draw(st.sampled_from(["first independent", "last", "not stated", "settled by rulings"])),
        rounds=draw(rounds.filter(lambda names: names != ("",) * 2)),
        codebook=draw(st.sampled_from(["", "1dd3a7ea"])),
        n_texts=n_texts,
        selected=selected,
        coders=tuple(coders),
        inside=draw(counted) if selected is None else (),
        left_out=draw(counted),
        waiting=tuple(draw(st.lists(waits, max_size=3))),
        until=draw(st.sampled_from(["", "2027-01-04 09:11 UTC"])),
    )


@given(bases())
@settings(deadline=None)
def test_a_line_says_all_of_its_basis_whatever_the_names(basis: Basis) -> None:
    read = Basis.parse(str(basis))
    if str(basis) in ("first independent", "last", "settled by rulings"):
        return  # a rule of nothing: no decisions were made
    assert read == basis


def test_any_other_text_is_no_basis() -> None:
    for text in ("", "yes", "42", "why · not", "Basis"):
        assert Basis.parse(text) == Basis()
    assert Basis.parse("several – ana: last; ben: not stated").rule.startswith("several –")


@pytest.mark.parametrize("of", [{"basis": [1, 2, 3, 4]}, {"basis": None}, {"basis": list("abcd")}, {}])
def test_a_frame_that_says_nothing_computes_and_says_so(of: dict[str, Any]) -> None:
    result = qual.agreement.by_code(FOUR.assign(**of), n_boot=10)
    assert result["alpha"].notna().all()
    assert said(result) == "not stated · 2 texts: ana, ben"


def test_a_frame_without_rows_keeps_what_it_says() -> None:
    none = stating(FOUR).iloc[:0]
    assert RULE in said(qual.agreement.by_code(none))


# The study ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return basis_study.whole(tmp_path_factory.mktemp("study") / "basis")


def alphas(store: Store, **how: Any) -> pd.DataFrame:
    return qual.agreement.by_code(store.decisions(**how), n_boot=10).set_index("code")


def test_the_numbers_of_the_study_are_those_of_its_first_independent_decisions(store: Store) -> None:
    found = alphas(store)
    assert found.loc["warm", "n_units"] == 16
    assert found.loc["warm", "alpha"] == pytest.approx(0.458, abs=5e-4)
    for code in ("cold", "help"):
        row = found.loc[code].drop(["n_boot", "n_undefined", "confidence_level", "seed", "basis"])
        assert row.pop("reason") == Reason.WAITING_FOR_REVIEW
        assert row.isna().all()
    basis = Basis.parse(str(found["basis"].iloc[0]))
    assert (basis.rule, basis.rounds, basis.n_texts) == ("first independent", ("main", ""), 24)
    assert basis.coders == (("ana", 24), ("ben", 16), ("chi", 4))
    assert dict(basis.left_out) == {
        "of a later round": 16,
        "finished again after seeing others": 7,
        "finished again after a suggestion": 1,
        "by model-x": 24,
    }
    assert basis.waiting == (Waiting("cold", 15, 44, "narrowed"), Waiting("help", 44, 44))


def test_what_is_settled_counts_what_was_ruled_and_what_is_open(store: Store) -> None:
    settled = store.decisions(settled_by="rulings")
    warm = settled[settled["code"] == "warm"].set_index("unit_id")["applied"]
    assert (len(warm), int(warm.sum())) == (23, 12)
    assert "t13" not in warm.index
    basis = Basis.of(settled)
    assert dict(basis.inside)["ruled"] == 1
    assert dict(basis.left_out)["unsettled"] == 1
    by_hand = qual.adjudication.consensus(
        store.decisions(settled_by="nothing"), rulings=store.rulings(), single=True
    )
    assert_frame_equal(by_hand.drop(columns="basis"), settled.drop(columns="basis"))
    assert Basis.of(by_hand).rule == "settled by rulings"


def test_links_have_a_row_for_each_code_that_waits(store: Store) -> None:
    both = pd.concat([store.decisions(settled_by="nothing"), store.decisions(settled_by="rulings")])
    linked = qual.links.code_to_rating(
        both, store.units, rating=basis_study.RATING, cluster="case_id", n_boot=10, seed=1
    ).set_index(["source", "code"])
    cold = linked.xs("cold", level="code")
    assert (cold["reason"] == Reason.WAITING_FOR_REVIEW).all()
    assert cold[["n_with", "n_without", "rank_biserial", "odds_ratio", "p"]].isna().all().all()
    assert set(linked.loc[["ana", "consensus"], "caution"].xs("help", level="code")) == {
        Caution.PARTLY_REVIEWED
    }
    rules = {source: Basis.parse(str(line)).rule for (source, _), line in linked["basis"].items()}
    assert rules == {
        "ana": "last",
        "ben": "last",
        "chi": "last",
        "majority": "majority",
        "pooled": "last",
        "consensus": "settled by rulings",
    }


def test_two_bases_in_one_estimate_are_said_and_computed(store: Store) -> None:
    early = store.decisions()
    late = store.decisions(settled_by="nothing")
    both = pd.concat([early[early["coder"] == "ana"], late[late["coder"] == "ben"]])
    assert is_mixed(both)
    linked = qual.links.code_to_rating(
        both, store.units, rating=basis_study.RATING, cluster="case_id", odds_ratios=False, n_boot=10
    ).set_index(["source", "code"])
    for source in ("majority", "pooled"):
        assert Caution.MIXED_BASIS in linked.loc[(source, "warm"), "caution"]
        assert str(linked.loc[(source, "warm"), "basis"]).startswith("several –")
    assert Caution.MIXED_BASIS not in str(linked.loc[("ana", "warm"), "caution"])
    agreed = qual.agreement.by_code(both, n_boot=10)
    assert agreed["alpha"].notna().any()
    assert said(agreed).startswith("several –")
    table = qual.report.tables.reliability(agreed, codebook=store.codebook)
    assert table.notes[0].startswith("Basis: several –")


def test_people_beside_a_model_are_two_bases_and_no_mixture(store: Store) -> None:
    both = store.decisions(models=True)
    assert len(parts(both)) == 2
    assert not is_mixed(both)
    compared = qual.agreement.human_model(both, models=["model-x"], n_boot=10)
    assert said(compared).startswith("people: first independent")
    assert "; model-x: last" in said(compared)


# What changes no number --------------------------------------------------------------------------------


def test_what_comes_after_changes_no_agreement(tmp_path: Path) -> None:
    study = basis_study.blind(tmp_path / "study")
    before = alphas(study.store)
    study.unblind("main")
    study.open("again", range(8), ["ana", "ben"])
    for place in range(8):
        study.store.append(list(study.usual("ana", place, "again")))
        study.store.append(list(basis_study.copied(study, place)))
    study.store.append([basis_study.ruling(study, 4)])
    for place in range(12, 24):
        study.store.append(list(study.code("model-y", place, None, "warm")))
    study.store.append(list(study.usual("chi", 23, None)))  # the only one on it, but for ana
    after = alphas(study.store)
    named = study.named("ana", 20, None)
    study.store.append(
        [
            acts.contents.show_suggestions(
                model="words", suggestions=[acts.contents.Suggestion(code="warm")], **named
            )
        ]
    )
    study.store.append(list(study.code("ana", 20, None, "warm", "cold")))
    numbers = ["prevalence", "percent", "alpha", "alpha_low", "alpha_high", "kappa", "ac1"]
    assert_frame_equal(alphas(study.store)[numbers], after[numbers])
    assert after.loc["warm", "n_units"] == before.loc["warm", "n_units"] + 1  # t23, by chi
    assert_frame_equal(alphas(study.store, coder=["ana", "ben"])[numbers], alphas_of_main(study)[numbers])


def alphas_of_main(study: basis_study.Study) -> pd.DataFrame:
    """Return what ana and ben agreed on in the blind round alone."""
    decided = study.store.decisions(round="main", coder=["ana", "ben"])
    return qual.agreement.by_code(decided, n_boot=10).set_index("code")


def test_narrowing_one_code_changes_no_other_number(tmp_path: Path) -> None:
    study = basis_study.blind(tmp_path / "study")
    before = alphas(study.store)
    basis_study.revise(study.store)
    after = alphas(study.store)
    assert_frame_equal(after.loc[["warm"]].drop(columns="basis"), before.loc[["warm"]].drop(columns="basis"))
    assert after.loc["cold", "reason"] == Reason.WAITING_FOR_REVIEW


TEXTS = 20


def small(path: Path) -> tuple[Store, Codebook]:
    """Two coders on 20 texts, one code on every other text but two."""
    units = pd.DataFrame(
        {
            "unit_id": [f"t{n:02}" for n in range(TEXTS)],
            "text": "It said so.",
            "case_id": "p",
            "position": 0,
            "document_id": [f"d{n}" for n in range(TEXTS)],
        }
    )
    book = Codebook(name="small", codes=(Code(id="warm", label="Warm", definition="It is warm."),))
    store = Store.create(path, units=units, codebook=book)
    code_all(store, "ana", {n for n in range(TEXTS) if n % 2})
    code_all(store, "ben", {n for n in range(TEXTS) if n % 2} - {5} | {6})
    return store, book


def code_all(store: Store, coder: str, having: set[int]) -> None:
    for n in range(TEXTS):
        named = {"coder": coder, "unit_id": f"t{n:02}", "codebook": store.codebook}
        done = [acts.apply(code="warm", **named)] if n in having else []
        store.append([*done, acts.finish(**named)])


@pytest.mark.parametrize(("meaning", "n_waiting"), [("narrow", 20), ("widen", 20)])
def test_a_changed_code_has_no_figure_until_all_of_it_is_reviewed(
    tmp_path: Path, meaning: str, n_waiting: int
) -> None:
    store, book = small(tmp_path / "study")
    before = alphas(store)
    assert before.loc["warm", "n_units"] == TEXTS
    changed = replace(book, codes=(replace(book["warm"], definition="It is warm, and means it."),))
    store.revise(changed, why="Otherwise.", coder="lead", meaning={"warm": meaning})
    waiting = alphas(store)
    assert waiting.loc["warm", "reason"] == Reason.WAITING_FOR_REVIEW
    assert waiting[["n_units", "prevalence", "percent", "alpha"]].isna().all().all()
    [one] = Basis.of(store.decisions()).waiting
    assert (one.n, one.of, bool(one.how)) == (n_waiting, 2 * TEXTS, True)
    cells = qual.report.tables.reliability(alphas(store).reset_index()).rows[0]
    assert cells[1] == f"{n_waiting} of {2 * TEXTS} to be reviewed"
    tally = qual.report.tables.condition(store.decisions(), store.units, source="ana").rows[0]
    assert tally[1] == cells[1]
    figure = qual.figures.agreement_plot(alphas(store).reset_index())
    assert cells[1] in figure.description
    code_all(store, "ana", {n for n in range(TEXTS) if n % 2})
    still = alphas(store)
    assert still.loc["warm", "reason"] == Reason.WAITING_FOR_REVIEW
    code_all(store, "ben", {n for n in range(TEXTS) if n % 2} - {5} | {6})
    reviewed = alphas(store)
    assert_frame_equal(reviewed.drop(columns="basis"), before.drop(columns="basis"))


# What pandas does --------------------------------------------------------------------------------------


def test_the_line_survives_what_pandas_does(store: Store, tmp_path: Path) -> None:
    decided = store.decisions()
    line = said(decided)
    written = io.StringIO(decided.to_csv(index=False))
    decided.to_parquet(tmp_path / "decided.parquet")
    kept = {
        "merge": decided.merge(store.units, on="unit_id"),
        "query": decided.query("code == 'warm'"),
        "csv": pd.read_csv(written),
        "parquet": pd.read_parquet(tmp_path / "decided.parquet"),
        "concat": pd.concat([decided.head(5), decided.iloc[5:]]),
        "copied": pd.DataFrame(decided.to_dict("records")),
    }
    for name, frame in kept.items():
        assert str(Basis.of(frame)) == line, name


def test_a_filter_says_how_many_texts_of_how_many_are_left(store: Store) -> None:
    decided = store.decisions()
    few = decided[decided["unit_id"] < "t10"]
    basis = Basis.of(few)
    assert (basis.selected, basis.n_texts) == (10, 24)
    assert " · 10 of 24 texts" in said(qual.agreement.by_code(few, n_boot=10))


def test_two_bases_side_by_side_stay_two(store: Store) -> None:
    both = pd.concat([store.decisions(settled_by="nothing"), store.decisions(settled_by="rulings")])
    assert {basis.rule for _, basis in parts(both)} == {"last", "settled by rulings"}
    bare = pd.concat([store.decisions(), FOUR.assign(coder="dan")])
    assert is_mixed(bare)
    assert "dan: not stated" in line_of(bare)


def test_what_is_computed_from_people_says_by_what_rule(store: Store) -> None:
    last = store.decisions(settled_by="nothing")
    assert Basis.of(codings.majority(last)).rule == "majority"
    assert Basis.of(codings.majority(store.decisions())).rule == "majority (first independent)"
    assert Basis.of(codings.majority(FOUR)).rule == "majority (not stated)"
    assert dict(Basis.of(codings.majority(FOUR)).left_out) == {"tied": 1}
    assert Basis.of(qual.adjudication.consensus(FOUR)).rule == "settled by agreement (not stated)"
    talked = codings.after_discussion(store.decisions(), store.decisions(round="talk"))
    assert "talk" in Basis.of(talked).rounds
