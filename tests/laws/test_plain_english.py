"""What a user reads has none of the phrases for which English has plainer words."""

from __future__ import annotations

import ast

import pytest

from scripts import plain_english
from scripts.plain_english import PHRASES, Text, counts, found, texts

OFFENDERS = {
    "Return what/which/where/how/who/whether": ["Return what stands after the acts."],
    "stand": ["A unit stands twice.", "acts that stand", "Two acts stood."],
    "whose": ["a file whose rows are", "(a column whose name is long)"],
    "such, as a noun": ["Missing if there is no such.", "of such which are open", "such is the case"],
    "beside": ["the notebook beside the folder"],
    "deal, dealt": ["deals the units to coders", "The texts are dealt.", "Deal the units"],
    "anew": ["ask anew"],
    "for good": ["gone for good"],
    "in the place of": ["600 draws in the place of 4,000"],
    "that is there": ["a file that is there already", "acts that are there", "a name that is not there"],
    "door": ["Every number is a door."],
    "of whom": ["three coders, of whom one"],
    "held against": ["held against the limits", "hold it against others"],
}
PLAIN = {
    "Return what/which/where/how/who/whether": ["Return the codings. Return what is left."],
    "stand": [
        "what it stands for",
        "two that stand out",
        "a standard, understood",
        "standing acts",
        "both readings stand",
        "as it stands",
    ],
    "whose": ["coders whose decisions are compared", "source: Whose decisions"],
    "such, as a noun": ["no such column", "words such as these", "such that the sum is 1", "such a file"],
    "beside": ["besides"],
    "deal, dealt": ["deal with it", "a great deal", "ideal"],
    "for good": ["for good reason"],
    "that is there": ["a value that is missing"],
    "door": ["indoors"],
    "held against": ["held by the coder"],
}


@pytest.mark.parametrize("phrase", PHRASES)
def test_no_text_has_the_phrase(phrase: str) -> None:
    assert [f"{text.place}: {words}" for text, words in found(phrase)] == []


@pytest.mark.parametrize("phrase", PHRASES)
def test_the_phrase_is_noticed_and_others_are_not(phrase: str) -> None:
    assert [words for words in OFFENDERS[phrase] if not PHRASES[phrase].search(words)] == []
    assert [words for words in PLAIN.get(phrase, []) if PHRASES[phrase].search(words)] == []


def test_all_kinds_of_text_are_read() -> None:
    """A sentence of each kind, each from another way of writing it."""
    read = {text.kind: " ".join(one.words for one in texts() if one.kind == text.kind) for text in texts()}
    assert "Krippendorff's alpha" in read["docstrings"]
    assert "put it in [ ]" not in read["docstrings"]  # code of a docstring
    assert "found duplicates" not in read["errors"]
    assert "expected a column …" in read["errors"]
    assert "make a study from a data file" in read["help"]
    assert {"docstrings", "errors", "help", "widgets", "pages"} == set(read)
    assert set(counts()) == set(PHRASES)


def test_offenders_in_each_kind_of_source_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    raised = ast.parse("def f(n):\n    raise ValueError(f'{n} rows stand' ' twice')\nsay = 'stands'")
    [error] = [
        one
        for node in ast.walk(raised)
        if plain_english._speaks(node)
        for one in plain_english._strings(node)
    ]
    assert error == (2, "… rows stand twice")
    source = 'const a = "it stands"; // it stands\n/* stands */ <p>It stood {n}</p>; `it ${n} stands`'
    strings = [match["text"] for match in plain_english._SCRIPT.finditer(source) if match["text"]]
    assert strings == ['"it stands"', "`it ${n} stands`"]
    assert plain_english._prose("It is `stood`.\n\n>>> stand()\n'stands'\n\nEnd.") == "It is …. End."
    planted = Text("errors", "acts", "acts._act:1", "It stands.")
    monkeypatch.setattr(plain_english, "texts", lambda: (planted,))
    assert [text for text, _ in plain_english.found("stand")] == [planted]
