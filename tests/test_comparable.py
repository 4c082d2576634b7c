"""A coder whose decisions hold what applies and nothing that is absent, in every statistic of decisions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from sense7_qual import adjudication, agreement, codings, links, report
from sense7_qual._coder_names import applied_only
from sense7_qual.errors import TableError
from sense7_qual.frames import DECISIONS

ANA, BEN = [1, 1, 0, 0, 0, 0, 1], [1, 1, 1, 0, 0, 0, 0]
UNITS = pd.DataFrame(
    {
        "unit_id": [f"m{unit}" for unit in range(7)],
        "text": "One.",
        "document_id": None,
        "case_id": [f"p{unit}" for unit in range(7)],
        "position": None,
        "EmpathyOverall": [1, 2, 3, 4, 5, 4, 3],
    }
)


def decided(code: str = "interest", **marks: list[int]) -> pd.DataFrame:
    rows = [(f"m{at}", who, code, bool(mark)) for who, of in marks.items() for at, mark in enumerate(of)]
    return pd.DataFrame(rows, columns=["unit_id", "coder", "code", "applied"])


WHOLE = decided(ana=ANA, ben=BEN)
ONE_EXPORTED = WHOLE[(WHOLE["coder"] == "ana") | WHOLE["applied"]]
BOTH_EXPORTED = WHOLE[WHOLE["applied"]]

STATISTICS: dict[str, Callable[[pd.DataFrame], object]] = {
    "by_code": lambda frame: agreement.by_code(frame, n_boot=10),
    "overall": lambda frame: agreement.overall(frame, n_boot=10),
    "pairwise": agreement.pairwise,
    "by_unit": agreement.diagnosis.by_unit,
    "confusion": agreement.diagnosis.confusion,
    "cross_check": agreement.diagnosis.cross_check,
    "sequential": lambda frame: agreement.sequential(frame, width=0.3),
    "tally": codings.tally,
    "majority": codings.majority,
    "consensus": adjudication.consensus,
    "disagreements": adjudication.disagreements,
    "queue": adjudication.queue,
    "remaining": adjudication.remaining,
    "dawid_skene": adjudication.dawid_skene,
    "profile": adjudication.profile,
    "links": lambda frame: links.code_to_rating(frame, UNITS, rating="EmpathyOverall", cluster="case_id"),
    "condition_table": lambda frame: report.tables.condition(
        frame, UNITS.assign(system=list("xxxyyyy")), condition="system", source="ana"
    ),
    "from_table": lambda frame: codings.from_table(
        frame.assign(mark=1), unit_id="unit_id", coder="coder", codes={"mark": "interest"}, finished="rows"
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("exported", [ONE_EXPORTED, BOTH_EXPORTED], ids=["ben", "both"])
@pytest.mark.parametrize("statistic", STATISTICS)
def test_a_coder_without_a_single_absent_decision_is_refused(statistic: str, exported: pd.DataFrame) -> None:
    if statistic == "from_table":
        exported = BOTH_EXPORTED  # its marks are all yes
    with pytest.raises(TableError, match=r"each coder\'s absent decisions, too – found \d decisions of"):
        STATISTICS[statistic](exported)


def test_complete_decisions_give_their_alpha() -> None:
    assert agreement.by_code(WHOLE, n_boot=10)["alpha"].round(3).tolist() == [0.458]


def test_codes_that_lack_on_a_coded_text_tell_a_few_decisions_already() -> None:
    both = pd.concat([WHOLE, decided("listening", ana=[0, 1, 0, 1, 0, 0, 0], ben=[0, 1, 0, 0, 0, 0, 0])])
    exported = both[(both["coder"] == "ana") | both["applied"]].head(14 + 2)
    assert applied_only(exported) == ["ben"]


@pytest.mark.parametrize(
    "given",
    [
        decided(ana=ANA, ben=[1] * 7),  # applied everywhere, on all texts
        decided(ana=[1, 1, 1], ben=[1, 1, 1]),
        decided(ana=ANA, ben=[1, 1]),  # two decisions tell nothing
        decided(ana=[1] * 18 + [0] * 2, ben=[1] * 10),  # ten in a row come by chance
        ONE_EXPORTED[ONE_EXPORTED["coder"] == "ben"],  # one person
        WHOLE[(WHOLE["coder"] == "ana") | WHOLE["applied"]].replace({"coder": {"ben": "consensus"}}),
        DECISIONS.empty(),
    ],
    ids=["everywhere", "all alike", "few", "prevalent", "one person", "computed", "none"],
)
def test_decisions_that_may_be_whole_are_taken(given: pd.DataFrame) -> None:
    codings.tally(given)
    DECISIONS.check(given)


@pytest.mark.long
def test_of_whole_decisions_of_small_parts_hardly_any_are_refused() -> None:
    """Coders who decide on a few texts of one code are refused in one study out of four at most."""
    random = np.random.default_rng(5)
    for prevalence in (0.1, 0.3, 0.5, 0.7, 0.9):
        refused = 0
        for _ in range(100):
            truth, parts = random.random(30) < prevalence, []
            for coder in ("ana", "ben", "cleo"):
                own = random.choice(30, 6, replace=False)
                unit_ids = [f"m{unit}" for unit in own]
                parts.append(pd.DataFrame({"unit_id": unit_ids, "coder": coder, "applied": truth[own]}))
            refused += bool(applied_only(pd.concat(parts).assign(code="interest")))
        assert refused <= 25, prevalence


@pytest.mark.long
def test_of_exported_decisions_all_are_refused() -> None:
    random = np.random.default_rng(6)
    for prevalence in (0.1, 0.3, 0.5, 0.7):
        for _ in range(50):
            truth = random.random(60) < prevalence
            noise = random.random((2, 60)) < 0.1
            ana, ben = (np.where(row, ~truth, truth).astype(int).tolist() for row in noise)
            whole = decided(ana=ana, ben=ben)
            assert applied_only(whole) == []
            assert applied_only(whole[(whole["coder"] == "ana") | whole["applied"]]) == ["ben"]
            assert applied_only(whole[whole["applied"]])


def test_units_and_codes_that_differ_in_case_alone_are_refused() -> None:
    capital = WHOLE.assign(
        unit_id=WHOLE["unit_id"].where(WHOLE["coder"] == "ana", WHOLE["unit_id"].str.upper())
    )
    with pytest.raises(
        TableError, match="every unit_id to differ in more than upper and lower case – found 'm0'"
    ):
        agreement.by_code(capital, n_boot=10)
    code = WHOLE["code"].where(WHOLE["coder"] == "ana", "Interest")
    with pytest.raises(TableError, match=r"every code to differ in more than .* found 'interest', 'I"):
        adjudication.consensus(WHOLE.assign(code=code))
    both = pd.concat([WHOLE, WHOLE.assign(unit_id=WHOLE["unit_id"].str.upper())])
    assert agreement.by_code(both, n_boot=10)["n_units"].tolist() == [14]  # each coder decided on both
