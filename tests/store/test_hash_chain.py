"""The chain of acts: read fast by the chunk, and the same as a plain check that takes one row at a time."""

from __future__ import annotations

import hashlib
import json
import uuid
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from sense7_qual.errors import StoreError
from sense7_qual.store._stored import hash_chain
from sense7_qual.store._stored.hash_chain import BOOKKEEPING, chained, genesis, links

NAMES = [
    "seq",
    "act_id",
    "kind",
    "coder",
    "at",
    "codebook",
    "unit_id",
    "code",
    "start",
    "end",
    "round",
    "applied",
    "text_hash",
    "previous",
    "hash",
]
FIRST = genesis("study", "ana")
TEXTS = {"words": "listened"}
AT = "2026-01-31T12:00:00.000Z"


def act_id(number: int) -> str:
    return str(uuid.UUID(int=number))


def applied(number: int, **more: object) -> dict[str, Any]:
    plain = {
        "act_id": act_id(number),
        "kind": "apply",
        "coder": "ana",
        "at": AT,
        "codebook": "b",
        "code": "c",
    }
    return {**plain, "unit_id": f"m{number}", **more}


def table(deeds: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """The rows that a writer makes of these fields."""
    rows, previous = [], FIRST
    for seq, fields in enumerate(deeds, start=1):
        link = chained(previous, fields)
        # SQLite gives a truth value back as 0 or 1.
        kept = {name: int(value) if type(value) is bool else value for name, value in fields.items()}
        row = {**kept, "seq": seq, "previous": previous, "hash": link}
        rows.append(tuple(row.get(name) for name in NAMES))
        previous = link
    return rows


def read(rows: list[tuple[Any, ...]], **options: Any) -> list[hash_chain.Link]:
    return list(links(NAMES, rows, TEXTS, first=FIRST, broken=StoreError, **options))


def problem(rows: list[tuple[Any, ...]]) -> str:
    with pytest.raises(StoreError) as caught:
        read(rows)
    return str(caught.value)


def plainly(rows: list[tuple[Any, ...]]) -> bool:
    """Whether the rows are a chain, told by the definition and nothing of the package."""
    last = FIRST
    for number, row in enumerate(rows, start=1):
        fields = {k: v for k, v in zip(NAMES, row, strict=True) if v is not None and k not in BOOKKEEPING}
        if fields.get("applied") in (0, 1):
            fields["applied"] = bool(fields["applied"])
        content = json.dumps(fields, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=repr)
        found = dict(zip(NAMES, row, strict=True))
        if repr((found["seq"], found["previous"])) != repr((number, last)):
            return False
        last = hashlib.sha256((last + content).encode()).hexdigest()
        if found["hash"] != last:
            return False
    return True


def test_long_chains_of_every_shape_come_back_whole_and_in_order() -> None:
    deeds = []
    for number in range(1, 1_234):
        more: dict[str, object] = [
            {"start": number, "end": number + 3, "text_hash": "words"},
            {},
            {"round": "one"},
            {"kind": "rule", "applied": bool(number % 8)},
        ][number % 4]
        deeds.append(applied(number, **more))
    rows = table(deeds)
    found = read(rows)
    assert plainly(rows)
    assert [link.act.act_id for link in found] == [act_id(number) for number in range(1, 1_234)]
    assert [link.hash for link in found] == [row[-1] for row in rows]
    assert [link.fields for link in found] == deeds
    spans = [link.act for link in found if link.act.start is not None]
    assert {act.text for act in spans} == {"listened"}
    assert all(act.end == act.start + 3 for act in spans)
    assert [link.act.applied for link in found if link.act.kind == "rule"] == [
        bool(number % 8) for number in range(3, 1_234, 4)
    ]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.text(alphabet=st.sampled_from('a"\\\n\x00\x1f\x7fé😀\u2028%{},:')), min_size=1, max_size=6)
)
def test_words_that_json_escapes_are_read_as_they_were_written(unit_ids: list[str]) -> None:
    rows = table([applied(n, unit_id=f"m{each}") for n, each in enumerate(unit_ids, start=1)])
    assert plainly(rows)
    assert [link.act.unit_id for link in read(rows)] == [f"m{each}" for each in unit_ids]


def test_one_value_cannot_pass_for_two() -> None:
    # Both rows have the same characters in the same order where the values are put into JSON as they are.
    true, forged = applied(1, unit_id="m1"), applied(1)
    del forged["unit_id"]
    forged["kind"] = 'apply","unit_id":"m1'
    row = list(table([true])[0])
    for name in ("kind", "unit_id"):
        row[NAMES.index(name)] = forged.get(name)
    assert not plainly([tuple(row)])
    assert problem([tuple(row)]) == "another content than was written in act 1"


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(st.data())
def test_what_is_changed_in_any_place_is_found_where_it_is(data: st.DataObject) -> None:
    deeds = [applied(n, **({"start": n, "end": n + 2} if n % 2 else {"round": "é"})) for n in range(1, 251)]
    rows = table(deeds)
    at = data.draw(st.integers(0, len(rows) - 1))
    place = data.draw(st.integers(0, len(NAMES) - 1))
    was = rows[at][place]
    other = data.draw(st.sampled_from([None, 0, 1, 7, "", "x", "é", 1.0, b"x", f"{was}", f"{was} ", '"']))
    rows[at] = (*rows[at][:place], other, *rows[at][place + 1 :])
    if type(other) is type(was) and other == was:
        assert plainly(rows)
        assert len(read(rows)) == len(rows)
    else:
        assert not plainly(rows)
        assert f"act {at + 1}" in problem(rows)


@pytest.mark.parametrize("change", ["lost", "doubled", "swapped", "inserted"])
@pytest.mark.parametrize("at", [0, 99, 100, 101, 248])
def test_rows_that_are_lost_doubled_swapped_or_put_in_are_found(change: str, at: int) -> None:
    rows = table([applied(n) for n in range(1, 251)])
    wrong = {
        "lost": rows[:at] + rows[at + 1 :],
        "doubled": rows[: at + 1] + rows[at:],
        "swapped": [*rows[:at], rows[at + 1], rows[at], *rows[at + 2 :]],
        "inserted": [*rows[:at], table([applied(999)])[0], *rows[at:]],
    }[change]
    assert "at act" in problem(wrong) or "in act" in problem(wrong)


def test_values_of_a_kind_that_no_version_wrote_are_damage_whatever_their_hash() -> None:
    for name, value in {"start": "1", "end": 2.5, "unit_id": 7, "code": b"c"}.items():
        fields = applied(1, start=1, end=3) | {name: value}
        if isinstance(value, bytes):
            rows = table([applied(1)])
            rows = [tuple(value if n == name else v for n, v in zip(NAMES, rows[0], strict=True))]
        else:
            rows = table([fields])
        assert problem(rows) == "another content than was written in act 1"


def test_half_a_span_and_an_id_that_is_none_are_damage() -> None:
    good = [applied(n, start=1, end=4) for n in range(1, 4)]
    for wrong in ({"start": None}, {"end": None}, {"end": 1}, {"start": -1}, {"act_id": "4"}):
        fields = {
            name: value for name, value in (applied(4, start=1, end=4) | wrong).items() if value is not None
        }
        assert problem(table([*good, fields])) == "an act 4 that cannot be one"


def test_a_column_that_a_later_version_added_is_read_past() -> None:
    names = [*NAMES[:-2], "speed", *NAMES[-2:]]
    fields = applied(1) | {"speed": 3}
    row = {**fields, "seq": 1, "previous": FIRST, "hash": chained(FIRST, fields)}
    rows = [tuple(row.get(name) for name in names)]
    (link,) = links(names, rows, {}, first=FIRST, broken=StoreError, newer=True)
    assert link.act is not None
    assert link.fields == fields


def test_a_kind_of_act_that_a_later_version_added_has_no_act() -> None:
    rows = table([applied(1), applied(2, kind="wave"), applied(3)])
    assert [link.act is None for link in read(rows, newer=True)] == [False, True, False]
    assert problem(rows) == "an act 2 that cannot be one"
