"""How positions are counted is inferred from what is selected, or not guessed."""

from __future__ import annotations

import re

import numpy as np
import pytest

from sense7_qual.exchange._positions import RULES, Rule, Selection, Source, infer, placed, positions

SENTENCES = [
    "I felt heard 🙂 and it remembered what I said.",
    "Then it lectured me 👩‍👩‍👧 for a while, which hurt.",
    "שלום, it said – and asked me again!",
    "The e\u0301tude of my brother, 🇩🇪 of all places, mattered to it.",
    "Nothing else to say about that part of the conversation.",
]
BY_NAME = {rule.name: rule for rule in RULES}


def text_of(rng: np.random.Generator, newline: str, mark: str) -> str:
    return mark + newline.join(rng.choice(SENTENCES, size=6).tolist())


def selected(rng: np.random.Generator, raw: str, rule: Rule, n: int, *, noted: bool) -> Source:
    """A source with selections of whole words, counted by the rule."""
    source = Source("t", raw, ())
    at = positions(raw, rule)
    words = [match.span() for match in re.finditer(r"\w+", source.text)]
    chosen = []
    for first in rng.integers(0, len(words) - 3, size=n):
        start, end = words[first][0], words[first + rng.integers(0, 3)][1]
        quote = source.text[start:end] if noted else ""
        chosen.append(Selection(int(at[start]), int(at[end]), quote))
    return Source("t", raw, tuple(chosen))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
@pytest.mark.parametrize("noted", [True, False], ids=["quotes", "no quotes"])
def test_every_way_of_counting_is_inferred(rule: Rule, noted: bool) -> None:
    """Where it is not sure it says so; where it is, the words are those that were selected."""
    rng = np.random.default_rng(5)
    unsure = 0
    for _ in range(20):
        raw = text_of(rng, "\r\n", "\ufeff")
        source = selected(rng, raw, rule, 8, noted=noted)
        place = placed(source, infer([source])[0])
        if place is None:
            unsure += 1
            continue
        at = positions(raw, rule).tolist()
        assert place.spans == tuple((at.index(each.start), at.index(each.end)) for each in source.selections)
        assert place.on_borders == 16
        assert place.quotes == place.quotes_noted
    assert unsure <= 1


def test_a_source_that_shows_little_is_read_as_the_others_of_its_program() -> None:
    rng = np.random.default_rng(6)
    clear = selected(rng, text_of(rng, "\n", ""), BY_NAME["utf-16"], 20, noted=False)
    text = "🙂 田田田田田田田田"  # no borders between words that would show anything
    unclear = Source("few", text, (Selection(4, 6, ""),))
    assert placed(unclear, infer([unclear])[0]) is None
    place = placed(unclear, infer([clear, unclear])[1])
    assert place is not None
    assert (place.rule, place.spans) == ("utf-16", ((3, 5),))


def test_where_all_ways_agree_there_is_nothing_to_infer() -> None:
    source = Source("t", "plain words", (Selection(0, 5, "plain"), Selection(2, 4, "")))
    place = placed(source, infer([source])[0])
    assert place is not None
    assert (place.score, place.rule, place.spans) == (1.0, "code-points", ((0, 5), (2, 4)))
    assert (place.on_borders, place.quotes, place.quotes_noted) == (2, 1, 1)


def test_ends_inside_a_character_or_outside_the_text_are_moved_and_named() -> None:
    source = Source("t", "one 🙂 two", (Selection(0, 3, "one"), Selection(5, 99, "")))
    place = placed(source, infer([source], among=[BY_NAME["utf-16"]])[0])
    assert place is not None
    assert (place.spans, place.inside) == (((0, 3), (5, 9)), (1,))


def test_positions_of_each_way_by_hand() -> None:
    counted = {name: positions("\ufeffa🙂\r\nb", rule).tolist() for name, rule in BY_NAME.items()}
    assert counted["code-points"] == [0, 1, 2, 3, 4]
    assert counted["utf-16"] == [0, 1, 3, 4, 5]
    assert counted["code-points, CRLF as two"] == [0, 1, 2, 4, 5]
    assert counted["utf-16, CRLF as two, BOM counted"] == [1, 2, 4, 6, 7]
