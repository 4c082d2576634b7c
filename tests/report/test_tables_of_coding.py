"""The tables of how the coding went, from disagreements and revisions to conditions and models."""

from __future__ import annotations

import doctest
import traceback
from collections.abc import Callable
from dataclasses import replace

import pandas as pd
import pytest

from sense7_qual import acts, adjudication, agreement, links, report, suggestions
from sense7_qual.codebook import Code, Codebook, Revision, changes
from sense7_qual.errors import CodebookError, QualError, TableError
from tests.helpers import documents
from tests.helpers.calls import Call, calls

SENSE7 = documents.SENSE7


def notes_of(table: report.Table) -> str:
    return " ".join(table.notes)


def decided(code: str, coder: str, applied: list[bool]) -> pd.DataFrame:
    ids = [f"m{n}" for n in range(len(applied))]
    return pd.DataFrame({"unit_id": ids, "coder": coder, "code": code, "applied": applied})


def test_codes_by_condition_are_counted_as_by_hand() -> None:
    units, _, decisions = documents.record()
    system = ["b", "a", "c"] * len(units)
    units = units.assign(system=pd.Categorical(system[: len(units)], categories=["c", "b", "a", "unused"]))
    table = report.tables.condition(
        decisions, units, condition="system", source="ana", cluster="case_id", codebook=SENSE7
    )
    assert table.headers == ("Code", "c", "b", "a")
    assert [row[0] for row in table.rows] == [SENSE7[code].label for code in SENSE7.ids]
    own = decisions[decisions["coder"] == "ana"].merge(units, on="unit_id")
    for code, row in zip(SENSE7.ids, table.rows, strict=True):
        for name, cell in zip("cba", row[1:], strict=True):
            some = own[(own["code"] == code) & (own["system"] == name)]
            n, having = len(some), some[some["applied"]]
            counts, people = cell.split("\n")
            assert counts.startswith(f"{len(having)} / {n} (")
            assert abs(float(counts.split("(")[1][:-1]) - 100 * len(having) / n) <= 0.05
            assert people == f"{having['case_id'].nunique()} / {some['case_id'].nunique()}"


def test_codes_by_condition_say_what_is_left_out() -> None:
    units = pd.DataFrame({"unit_id": ["m0", "m1", "m2"], "system": ["x", "y", None]})
    two = [decided("warm", "ana", [True, True, False]), decided("warm", "ben", [True, False, False])]
    table = report.tables.condition(pd.concat(two), units, condition="system", source="majority")
    assert table.rows == (("warm", "1 / 1 (100.0)"),)  # m1 is tied, m2 has no condition
    assert "Texts without a condition, which are left out: 1." in notes_of(table)
    assert "tied" in notes_of(table)
    cold = pd.concat([*two, decided("cold", "ana", [True, False, True]).head(1)])
    gap = report.tables.condition(cold, units, condition="system", source="ana")
    assert gap.rows == (("warm", "1 / 1 (100.0)", "1 / 1 (100.0)"), ("cold", "1 / 1 (100.0)", "–"))
    assert "– = no text of the condition was decided on." in notes_of(gap)


def test_codes_by_condition_refuse_what_they_cannot_count() -> None:
    units = pd.DataFrame({"unit_id": [f"m{n}" for n in range(13)], "system": list("abcdefghijklm")})
    decisions = decided("warm", "ana", [True] * 13)
    with pytest.raises(TableError, match="found 13"):
        report.tables.condition(decisions, units, condition="system", source="ana")
    with pytest.raises(TableError, match="source of decisions"):
        report.tables.condition(decisions, units, condition="system", source="ben")
    with pytest.raises(TableError, match="found others: 'm12'"):
        report.tables.condition(decisions, units.head(12), condition="system", source="ana")


def pairs_of_three() -> pd.DataFrame:
    frames = [
        decided("warm", "ana", [True, True, True, False]),
        decided("cold", "ana", [True, False, True, False]),
        decided("none", "ana", [False] * 4),
    ]
    return links.co_occurrence(pd.concat(frames), source="ana")


def test_co_occurrence_as_a_matrix() -> None:
    table = report.tables.co_occurrence(pairs_of_three())
    assert table.headers == ("Code", "1", "2", "3")
    assert table.rows == (
        ("1 warm", "3", ".58", "–"),
        ("2 cold", "2", "2", "–"),
        ("3 none", "0", "0", "0"),
    )
    assert "(warm – none, cold – none)" in notes_of(table)
    assert "(number: 4)" in notes_of(table)
    assert "A range" not in notes_of(table)
    some = links.co_occurrence(
        pd.concat(
            [
                decided("warm", "ana", [True, True]),
                decided("cold", "ana", [True]),
                decided("none", "ana", [False, True]),
            ]
        ),
        source="ana",
    )
    assert report.tables.co_occurrence(some).rows[0][1] == "1–2"
    assert "A range on the diagonal" in notes_of(report.tables.co_occurrence(some))
    book = Codebook(
        name="b", codes=tuple(Code(id=one, label=one.upper()) for one in ("none", "cold", "warm"))
    )
    turned = report.tables.co_occurrence(pairs_of_three(), codebook=book)
    assert turned.rows == (
        ("1 NONE", "0", "–", "–"),
        ("2 COLD", "0", "2", ".58"),
        ("3 WARM", "0", "2", "3"),
    )


@pytest.mark.parametrize(("n", "rows", "columns"), [(14, 14, 15), (15, 35, 8)])
def test_co_occurrence_of_more_codes_than_a_page_holds_is_by_pair(n: int, rows: int, columns: int) -> None:
    frames = [decided(f"c{i:02}", "ana", [(k + i) % 3 == 0 for k in range(12)]) for i in range(n)]
    pairs = links.co_occurrence(pd.concat(frames), source="ana")
    table = report.tables.co_occurrence(pairs)
    assert (len(table.rows), len(table.headers)) == (rows, columns)
    left = f"{n * (n - 1) // 2 - rows} further pairs"
    assert (left in table.notes[1]) == (columns == 8)
    assert len(report.tables.co_occurrence(pairs, form="matrix").rows) == n
    assert len(report.tables.co_occurrence(pairs, form="pairs").rows) == n * (n - 1) // 2
    assert len(report.tables.co_occurrence(pairs, form="pairs", most=2).rows) == 2


def test_co_occurrence_by_pair() -> None:
    table = report.tables.co_occurrence(pairs_of_three(), form="pairs")
    assert table.rows[0] == ("warm", "cold", "4", "3", "2", "2", ".58", "1.33")
    assert table.rows[1] == ("warm", "none", "4", "3", "0", "0", "–", "–")
    with pytest.raises(TableError, match="expected 3 pairs of 3 codes"):
        report.tables.co_occurrence(pairs_of_three().head(2))
    with pytest.raises(TableError, match="one source"):
        report.tables.co_occurrence(pd.concat([pairs_of_three(), pairs_of_three().assign(source="ben")]))


def test_disagreements_by_reason_add_up() -> None:
    decisions = pd.concat(
        [
            decided(code, coder, [True] * 6 if coder == "ana" else [False] * 6)
            for code in ("interest", "prosocial")
            for coder in ("ana", "ben")
        ]
    )
    said = {"m0": "slip", "m1": "unclear_rule", "m2": "ambiguous_text", "m3": "different_reading", "m4": None}
    rulings = [
        acts.rule(
            coder="lead",
            unit_id=unit,
            code="interest",
            reason=reason,
            codebook=SENSE7,
            applied=None if reason == "different_reading" else True,
        )
        for unit, reason in said.items()
    ]
    queue = adjudication.queue(decisions, rulings=rulings)
    table = report.tables.disagreement(queue, codebook=SENSE7)
    assert table.rows == (
        ("Prosocial Expression", "6", "6", "0", "0", "0", "0", "0"),
        ("Interest", "6", "1", "1", "1", "1", "1", "1"),
        ("All codes", "12", "7", "1", "1", "1", "1", "1"),
    )
    assert "No ruling gives as its reason: missing code." in table.notes[1]
    assert all(int(row[1]) == sum(map(int, row[2:])) for row in table.rows)
    bare = report.tables.disagreement(adjudication.queue(decisions), codebook=SENSE7)
    assert bare.headers == ("Code", "Disagreements", "Open", "No reason given")
    assert "No ruling gives a reason." in bare.notes[1]
    with pytest.raises(TableError, match="12 more"):
        report.tables.disagreement(pd.concat([queue, queue]))


def test_reasons_of_the_table_are_those_of_rulings() -> None:
    from sense7_qual.report.tables._adjudication import _HEADS

    assert list(_HEADS) == list(acts.REASONS)


def test_the_table_of_two_alphas_has_their_difference_and_p() -> None:
    before = pd.concat(
        [
            decided("interest", "ana", [n % 2 == 0 for n in range(40)]),
            decided("interest", "ben", [n % 2 == 0 or n % 5 == 1 for n in range(40)]),
        ]
    )
    talked = before[before["unit_id"].isin(["m1", "m11", "m21"])].assign(applied=False)
    result = agreement.difference(before, talked, discussion=True)
    table = report.tables.difference(
        result, names=("before", "after"), codebook=SENSE7, cluster_name="people"
    )
    row = result.iloc[0]
    assert table.headers[1:8] == (
        "n before",
        "n after",
        "Changed",
        "α before",
        "α after",
        "Difference",
        "95% CI",
    )
    assert table.rows[0][:4] == ("Interest", "40", "40", "3")
    assert [float(cell) for cell in table.rows[0][4:7]] == [
        pytest.approx(row[name], abs=0.005) for name in ("first", "second", "difference")
    ]
    assert float(table.rows[0][8]) == pytest.approx(row["p"], abs=0.0005)
    assert "from leaving out each of the people (number: 40) of both" in notes_of(table)
    fallen = report.tables.difference(result.assign(difference=-1.25, low=float("nan"), high=float("nan")))
    assert fallen.rows[0][6:8] == ("−1.25", "–")
    others = report.tables.difference(result.assign(other="response"))
    assert "Compared: interest with response." in notes_of(others)


def test_every_kind_of_revision_is_told_with_who_when_and_why() -> None:
    one, two = Code(id="one", label="One"), Code(id="two", label="Two")
    others = (Code(id=name, label=name.title()) for name in ("old", "wide", "gone", "plain"))
    first = Codebook(name="b", codes=(one, two, *others))
    last = replace(
        first,
        codes=(
            replace(one, label="First"),
            replace(two, definition="Another one.", parent="one"),
            Code(id="part", label="Part"),
            Code(id="rest", label="Rest"),
            Code(id="new", label="New"),
            replace(first["plain"], examples=("an example",)),
        ),
    )
    steps = changes(first, last, merged={"old": "one"}, split={"wide": ["part", "rest"]})
    step = Revision(
        coder="lea",
        at="2026-02-03T14:05:00Z",
        why="They were mixed up.",
        changes=steps,
        base=first.fingerprint,
        codebook=last.fingerprint,
    )
    books = {book.fingerprint: book for book in (first, last)}
    table = report.tables.revision([step], codebooks=books)
    assert table.rows[0] == ("1", "–", "–", "as coding began", "–", "6")
    number, date, by, told, why, n = table.rows[1]
    assert (number, date, by, why, n) == ("2", "2026-02-03", "lea", "They were mixed up.", "6")
    assert set(told.split("\n")) == {
        "• New: added",
        "• One: renamed First",
        "• Two: moved under First",
        "• Two: redefined",
        "• Old: merged into First",
        "• Wide: split into Part, Rest",
        "• Gone: retired",
        "• Plain: annotated",
    }
    assert f"fingerprint {first.fingerprint}" in notes_of(table)
    assert f"fingerprint {last.fingerprint}" in notes_of(table)
    assert len(report.tables.revision([], codebooks={first.fingerprint: first}).rows) == 1
    for wrong in ({"revisions": [step], "codebooks": {}}, {"revisions": [], "codebooks": books}):
        with pytest.raises(CodebookError, match="of the codebook by fingerprint"):
            report.tables.revision(**wrong)


def test_models_are_apart_from_humans_and_what_is_not_stated_is_said() -> None:
    _, _, decisions = documents.record()
    model = decisions[decisions["coder"] == "ana"].assign(coder="gpt")
    other = model.assign(coder="llm", applied=False)
    result = agreement.human_model(
        pd.concat([decisions, model, other], ignore_index=True), models=["gpt", "llm"], n_boot=50, seed=7
    )
    table = report.tables.human_model(
        result.sample(frac=1, random_state=1), codebook=SENSE7, models={"gpt": "gpt-x, prompt in appendix B."}
    )
    assert table.rows[0][1] == "humans"
    assert {row[1] for row in table.rows[1:3]} == {"humans – gpt", "humans – llm"}
    assert [row[0] for row in table.rows[::3]] == [SENSE7[code].label for code in SENSE7.ids]
    humans = report.tables.reliability(agreement.by_code(decisions, n_boot=50, seed=7), codebook=SENSE7)
    assert [row[6:] for row in table.rows[::3]] == [row[4:] for row in humans.rows]
    assert "gpt: gpt-x, prompt in appendix B." in table.notes
    assert "Not stated here: version, prompt and settings of llm." in table.notes
    with pytest.raises(TableError, match="one row per code and comparison"):
        report.tables.human_model(pd.concat([result, result]))


def test_suggestions_are_counted_by_what_became_of_them() -> None:
    given = ["agreed", "withdrawn", "accepted", "accepted", "edited", "rejected", "none", "none"]
    answers = pd.DataFrame(
        {
            "unit_id": [f"m{n // 2}" for n in range(8)],
            "coder": ["ana", "ben"] * 4,
            "model": "words",
            "code": ["prosocial"] * 7 + ["interest"],
            "when": ["finished"] * 5 + ["shown"] * 3,
            "before": [one in ("agreed", "withdrawn") for one in given],
            "answer": given,
        }
    )
    table = report.tables.suggestion(answers, codebook=SENSE7, models={"words": "logistic, version 3"})
    assert table.headers[2:8] == ("Agreed", "Withdrawn", "Accepted", "Edited", "Rejected", "No answer")
    assert table.rows == (
        ("Prosocial Expression", "7", "1", "1", "2", "1", "1", "1", "60.0"),
        ("Interest", "1", "0", "0", "0", "0", "0", "1", "0.0"),
        ("All codes", "8", "1", "1", "2", "1", "1", "2", "50.0"),
    )
    notes = notes_of(table)
    assert (
        "4 texts to coders (number: 2): 5 after the coder had finished the text, 3 from the start." in notes
    )
    assert "words: logistic, version 3." in table.notes
    had = report.tables.suggestion(answers[answers["before"]])
    assert had.rows[-1][-1] == "–"
    assert "Not stated here: version, prompt and settings of words." in had.notes


def test_answers_of_the_record_make_a_table() -> None:
    mine = {"coder": "ana", "unit_id": "m1", "codebook": SENSE7}
    done = [
        acts.finish(**mine),
        acts.contents.show_suggestions(
            **mine, model="words", suggestions=[acts.contents.Suggestion(code="interest")]
        ),
        acts.contents.reject_suggestion(**mine, code="interest"),
    ]
    table = report.tables.suggestion(suggestions.answers(done), codebook=SENSE7)
    assert table.rows[0] == ("Interest", "1", "0", "0", "0", "0", "1", "0", "0.0")
    assert report.tables.suggestion(suggestions.answers([])).rows[0][:2] == ("All codes", "0")


def test_the_page_on_tables_names_every_function_and_its_examples_run() -> None:
    page = (documents.ROOT / "docs" / "tables.md").read_text("utf-8")
    assert [name for name in report.tables.__all__ if f"report.tables.{name}" not in page] == []
    example = doctest.DocTestParser().get_doctest(page.replace("```", ""), {}, "tables.md", None, 0)
    assert doctest.DocTestRunner().run(example) == (0, len(example.examples))


WORDS = "zqcanary told us in confidence"


@pytest.fixture(scope="module")
def every_call(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Callable[[], Call]]:
    return calls(tmp_path_factory.mktemp("calls"))


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        "suggestion",
        "co_occurrence",
        "condition",
        "disagreement",
        "difference",
        "human_model",
    ],
)
def test_no_error_shows_what_stands_in_a_column_of_the_wrong_kind(
    name: str, every_call: dict[str, Callable[[], Call]]
) -> None:
    function, arguments = every_call[f"report.tables.{name}"]()
    frames = [(key, value) for key, value in arguments.items() if isinstance(value, pd.DataFrame)]
    shown = []
    for key, frame in frames:
        for column in set(frame.columns) - {"unit_id", "coder", "code", "case_id"}:
            changed = arguments | {key: frame.assign(**{column: WORDS})}
            try:
                function(**changed)
            except QualError as error:
                shown.append("".join(traceback.format_exception(error)))
    assert shown
    assert [text for text in shown if "zqcanary" in text] == []
