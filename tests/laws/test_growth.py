"""Four times as much takes about four times as long, wherever a user chooses how much there is."""

from __future__ import annotations

import time
from collections.abc import Callable
from unittest import mock

import pandas as pd
import pytest

from sense7_qual import _present, acts, codings, rounds
from sense7_qual.codebook import Code, Codebook
from sense7_qual.corpus._assign import _coder_names
from sense7_qual.frames import CODINGS
from sense7_qual.report import _choose_quotes, _quote_passages
from sense7_qual.store._operations import check_acts

pytestmark = pytest.mark.nightly

Work = Callable[[], object]


def codebook(n: int) -> Codebook:
    return Codebook(name="large", codes=tuple(Code(id=f"c{i}", label=f"Label {i}") for i in range(n)))


def rows_of_codes(n: int) -> Work:
    book, frame = codebook(n), pd.DataFrame({"code": [f"c{i}" for i in reversed(range(n))]})
    return lambda: _present.rows(frame, frame_name="links", codebook=book)


def rows_of_sources(n: int) -> Work:
    frame = pd.DataFrame({"code": [f"c{i}" for i in range(n)], "source": "ana"})
    return lambda: _present.of_sources(frame, ["ana"], None)


def names_of_coders(n: int) -> Work:
    names = [f"coder-{i}" for i in range(n)]
    return lambda: _coder_names(names)


def rulings_on_codes(n: int) -> Work:
    book = codebook(n)
    one = acts.rule(coder="ana", unit_id="m1", code="c0", applied=True, codebook=book)
    made = [acts.rule(coder="ana", unit_id="m1", code=f"c{i}", applied=True, codebook=book) for i in range(n)]
    assert codings.rulings([one], book, revisions=()) == [one]
    return lambda: codings.rulings(made, book, revisions=())


def rounds_that_are_unblinded(n: int) -> Work:
    book, named = codebook(1), {"coder": "lead"}
    opened = [
        rounds.open_round(f"r{i}", units=["m1"], coders=["ana"], codebook=book, **named) for i in range(n)
    ]
    unblinded = [rounds.unblind(f"r{i}", codebook=book, **named) for i in range(n)]
    assert all(one.unblinded_by == "lead" for one in rounds.opened([*opened[:9], *unblinded[:9]]))
    return lambda: rounds.opened([*opened, *unblinded])


def codes_of_acts(n: int) -> Work:
    book = codebook(n)
    done = [acts.apply(coder="ana", unit_id="m1", code=f"c{i}", codebook=book) for i in range(n)]
    known = {book.fingerprint: book}
    return lambda: [check_acts.knows_code(act, known) for act in done]


def quotes_of_codes(n: int) -> Work:
    book, codings = codebook(n), CODINGS.empty()
    units = pd.DataFrame(
        {"unit_id": ["m1"], "text": ["So."], "document_id": None, "case_id": None, "position": None}
    )
    frame = pd.DataFrame({"unit_id": "m1", "coder": "ana", "code": [f"c{i}" for i in range(n)]})
    codings = CODINGS.check(frame.reindex(columns=codings.columns))
    # Looking for identifiers takes some milliseconds a text, beside which nothing else would be seen.
    unscreened = mock.patch.object(
        _quote_passages, "identifying", lambda texts, spans, names: [""] * len(texts)
    )
    return unscreened(lambda: _choose_quotes.select(codings, units, codebook=book, per_code=1, seed=1))


def fastest(work: Work) -> float:
    times: list[float] = []
    while len(times) < 3 or sum(times) < 0.2:  # two milliseconds tell what else the machine does
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return min(times)


@pytest.mark.long
@pytest.mark.parametrize(
    ("make", "n"),
    [
        (rows_of_codes, 2_500),
        (rows_of_sources, 5_000),
        (names_of_coders, 2_500),
        (rulings_on_codes, 500),
        (rounds_that_are_unblinded, 1_000),
        (codes_of_acts, 2_500),
        (quotes_of_codes, 2_000),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_four_times_as_much_takes_about_four_times_as_long(make: Callable[[int], Work], n: int) -> None:
    for _ in range(4):  # a neighbour that empties the processor's caches makes milliseconds twice as long
        few, many = fastest(make(n)), fastest(make(4 * n))
        print(f"{make.__name__}: {few:.3f} s for {n:,}, {many:.3f} s for {4 * n:,}: × {many / few:.1f}")
        if many < 7 * few:
            return
    pytest.fail(f"× {many / few:.1f}: expected about 4; where each one asks all others it is 16")
