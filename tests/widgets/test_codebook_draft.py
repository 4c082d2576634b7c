"""A draft of a codebook: each step checked at once, undone and done again, the same from the same steps."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from sense7_qual._present import looks
from sense7_qual.codebook import Change, Code, Codebook, Facet, FacetValue
from sense7_qual.errors import CodebookError
from sense7_qual.widgets._codebook.draft import Draft
from sense7_qual.widgets._codes import refuse_unfit_colour

SENSE7 = Codebook.read("sense7")
BOOK = Codebook(
    name="b",
    facets=(Facet(name="valence", values=(FacetValue("met"),), codes=("kind",)),),
    codes=(
        Code(id="tone", label="Tone", codable=False),
        Code(id="warm", label="Warm", parent="tone", key="1", colour="#c44e52"),
        Code(id="kind", label="Kind", parent="tone"),
        Code(id="soft", label="Soft", parent="kind"),
        Code(id="cold", label="Cold", key="2"),
        Code(id="other", label="Other"),
    ),
)


def drafted(*steps: dict[str, Any], base: Codebook = BOOK, **options: Any) -> Draft:
    draft = Draft(base, **options)
    for step in steps:
        assert draft.do(step)
    return draft


def refused(match: str, *steps: dict[str, Any], **options: Any) -> None:
    """The last of the steps is refused, and changes nothing."""
    draft = drafted(*steps[:-1], **options)
    before = draft.state
    with pytest.raises(CodebookError, match=match):
        draft.do(steps[-1])
    assert draft.state == before
    assert len(draft.steps) == len(steps) - 1


def edit(code: str, **values: object) -> dict[str, Any]:
    return {"do": "edit", "code": code, "values": values}


def merge(code: str, into: str) -> dict[str, Any]:
    return {"do": "merge", "code": code, "into": into}


def split(code: str, *labels: str) -> dict[str, Any]:
    return {"do": "split", "code": code, "parts": [{"label": label} for label in labels]}


def kinds(draft: Draft) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(one.kind, one.code, one.into) for one in draft.state.changes()]


ADD = {"do": "add", "label": "Being lectured", "definition": "It teaches.", "parent": "tone"}


def test_each_kind_of_step_is_a_change_of_its_kind() -> None:
    draft = drafted(
        ADD,
        edit("warm", label="Warmth"),
        edit("cold", definition="No warmth.", use_when=["it is curt", " "]),
        edit("other", examples=["“Fine.”"], colour="#2f8f9d", key="9"),
        {"do": "move", "code": "other", "parent": "tone", "before": "warm"},
        merge("soft", "kind"),
    )
    book = draft.state.codebook
    assert set(kinds(draft)) == {
        ("add", "being_lectured", ()),
        ("rename", "warm", ()),
        ("redefine", "cold", ()),
        ("annotate", "other", ()),
        ("move", "other", ()),
        ("merge", "soft", ("kind",)),
    }
    assert book.ids == ("tone", "other", "warm", "kind", "being_lectured", "cold")
    assert (book["being_lectured"].origin, book["cold"].use_when) == ("", ("it is curt",))
    split_one = drafted(split("cold", "Curt", "Distant"), {"do": "retire", "code": "other"})
    assert set(kinds(split_one)) == {("split", "cold", ("curt", "distant")), ("retire", "other", ())}
    assert split_one.state.codebook.ids == ("tone", "warm", "kind", "soft", "curt", "distant")


def test_every_step_is_undone_and_done_again_and_the_same_steps_give_the_same_state() -> None:
    steps = [ADD, edit("warm", label="Warmth"), split("cold", "Curt", "Distant"), merge("soft", "kind")]
    draft = Draft(BOOK)
    states = [draft.state]
    for step in steps:
        draft.do(step)
        states.append(draft.state)
    for state in reversed(states[:-1]):
        assert draft.undo()
        assert draft.state == state
    assert not draft.undo()
    for state in states[1:]:
        assert draft.redo()
        assert draft.state == state
    assert not draft.redo()
    kept = json.loads(json.dumps([draft.steps[:3], draft.steps[3:]]))
    again = Draft(BOOK)
    again.restore(*kept)
    assert again.state == states[3]
    assert again.redo()
    assert again.state == states[4]


def test_a_new_step_forgets_what_was_undone_and_one_that_changes_nothing_is_no_step() -> None:
    draft = drafted(ADD, edit("warm", label="Warmth"))
    draft.undo()
    assert not draft.do(edit("warm", label="Warm"))
    assert draft.redo()
    draft.undo()
    draft.do(edit("warm", key="7"))
    assert not draft.redo()
    assert len(draft.steps) == 2


def test_one_step_is_left_out_unless_a_later_one_builds_on_it() -> None:
    draft = drafted(ADD, edit("warm", label="Warmth"), edit("being_lectured", definition="Unasked."))
    draft.leave_out(1)
    assert draft.state.codebook["warm"].label == "Warm"
    with pytest.raises(CodebookError, match="take the later one back first"):
        draft.leave_out(0)
    assert len(draft.steps) == 2
    with pytest.raises(CodebookError, match="one of its 2 steps"):
        draft.leave_out(2)


@pytest.mark.parametrize(
    ("match", "steps"),
    [
        ("code 'warm' already has this label", [edit("kind", label=" wÁrm ")]),
        ("already has this label", [{"do": "add", "label": "Cold"}]),
        ("already has this label", [split("cold", "Curt", "curt")]),
        ("a label for", [edit("kind", label="  ")]),
        ("'1' is already the key of 'warm'", [edit("kind", key="1")]),
        ("the key 'z' of 'kind' is the command 'undo'", [edit("kind", key="z")]),
        ("parents that end at a top code", [{"do": "move", "code": "kind", "parent": "soft"}]),
        ("which has another parent", [{"do": "move", "code": "cold", "parent": None, "before": "warm"}]),
        ("the id 'warm' was used in an earlier version", [{**ADD, "code": "warm"}]),
        ("the id 'GONE' was used in an earlier version", [{**ADD, "code": "GONE"}]),
        ("only groups other codes", [merge("tone", "warm")]),
        ("only groups other codes", [merge("warm", "tone")]),
        ("cannot be merged into itself", [merge("warm", "warm")]),
        ("at least two parts", [split("cold", "Curt")]),
        ("because 'warm' was merged into it", [merge("warm", "kind"), split("kind", "A", "B")]),
        ("because 'warm' was merged into it", [merge("warm", "kind"), {"do": "retire", "code": "kind"}]),
        ("a part of 'cold'", [split("cold", "A", "B"), {"do": "retire", "code": "a"}]),
        ("a part of 'cold'", [split("cold", "A", "B"), merge("a", "warm")]),
        ("the id of one of its codes", [edit("warn", label="x")]),
        ("expected a step – found 'fly'", [{"do": "fly"}]),
        ("lines of text as examples", [edit("warm", examples="one")]),
        ("text as definition", [edit("warm", definition=3)]),
        ("a code has no field 'id'", [edit("warm", id="x")]),
        ("no changed fields of 'warm'", [{"do": "edit", "code": "warm"}]),
    ],
)
def test_a_step_that_cannot_be_is_refused_with_one_sentence(match: str, steps: list[dict[str, Any]]) -> None:
    gone = replace(BOOK, codes=(*BOOK.codes, Code(id="gone", label="Gone")))
    refused(match, *steps, versions=[gone], reserved={"z": "undo"})


def test_steps_that_no_kernel_answered_get_their_ids_when_they_are_restored() -> None:
    steps = [{"do": "add", "label": "Hope"}, split("warm", "Near", "Mild"), edit("hope", definition="So.")]
    made, again = drafted(*steps), Draft(BOOK)
    again.restore(steps)
    assert (again.steps, again.state) == (made.steps, made.state)
    assert {"hope", "near", "mild"} <= set(again.state.codebook.ids)


def test_ids_are_never_given_again_not_even_within_a_draft() -> None:
    draft = drafted(ADD, merge("being_lectured", "warm"), ADD)
    assert "being_lectured_2" in draft.state.codebook
    assert kinds(draft) == [("add", "being_lectured_2", ())]


def test_what_was_merged_goes_on_with_the_code_it_went_into() -> None:
    draft = drafted(merge("soft", "kind"), merge("kind", "warm"))
    assert dict(draft.state.merged) == {"soft": "warm", "kind": "warm"}
    assert draft.state.codebook.facets[0].codes == ("warm",)


def test_what_stood_under_a_code_goes_up_and_its_facets_go_to_the_parts() -> None:
    draft = drafted(split("kind", "Patient", "Gentle"))
    book = draft.state.codebook
    assert (book["soft"].parent, book["patient"].parent) == ("tone", "tone")
    assert book.facets[0].codes == ("patient", "gentle")
    gone = drafted({"do": "retire", "code": "kind"})
    assert gone.state.codebook.facets == ()  # for no code it would be for all


def test_a_code_that_was_retired_in_the_draft_can_still_be_merged() -> None:
    draft = drafted({"do": "retire", "code": "other"}, merge("other", "warm"))
    assert kinds(draft) == [("merge", "other", ("warm",))]


def test_a_proposal_becomes_a_code_or_goes_into_one_and_follows_it() -> None:
    take = {"do": "take", "proposal": "p1", "label": "Hope", "definition": "Looks forward."}
    draft = drafted(take, {"do": "take", "proposal": "p2", "into": "warm"}, merge("hope", "warm"))
    assert dict(draft.state.taken) == {"p1": "warm", "p2": "warm"}
    refused("already became code 'hope'", take, {**take, "label": "Other hope"})


def test_a_file_is_one_step_whose_changes_are_told_code_by_code() -> None:
    wished = replace(
        BOOK, codes=tuple(replace(one, parent=None, key=None) for one in BOOK.codes if one.id != "soft")
    )
    draft = drafted({"do": "load", "yaml": wished.to_yaml().decode()})
    assert draft.state.codebook == wished
    assert ("retire", "soft", ()) in kinds(draft)
    again = replace(wished, codes=(*wished.codes, Code(id="gone", label="Gone")))
    refused(
        "of new codes were used in an earlier version",
        {"do": "load", "yaml": again.to_yaml().decode()},
        versions=[again],
    )


def test_half_an_emoji_and_line_breaks_of_a_field_do_no_harm() -> None:
    draft = drafted(edit("warm", label="A\n b", definition="\ud83d!"))
    assert (draft.state.codebook["warm"].label, draft.state.codebook["warm"].definition) == ("A b", "\ufffd!")


def test_a_colour_is_told_from_every_other() -> None:
    with pytest.raises(CodebookError, match="too similar to that of 'warm'") as error:
        drafted(edit("kind", colour="#c34d51"))
    suggested = str(error.value).split("take ")[1][:7]
    assert drafted(edit("kind", colour=suggested))


def test_a_colour_that_is_hard_to_see_is_taken_and_told_from_others_as_it_is_shown() -> None:
    assert drafted(edit("kind", colour="#ffee88"))  # looks.shades darkens it on the light page
    black = Code(id="black", label="Black", colour="#000000")
    with pytest.raises(CodebookError, match=r"too similar to that of 'black' \(#000000\)"):
        refuse_unfit_colour(replace(black, id="night", colour="#101010"), [black])


def test_colours_that_only_some_cannot_tell_apart_are_refused_for_them() -> None:
    red = Code(id="red", label="Red", colour="#a65959")
    with pytest.raises(CodebookError, match=r"with (prot|deuter)anopia"):
        refuse_unfit_colour(replace(red, id="other", colour="#478552"), [red])


def test_the_draft_says_no_words_of_its_codes() -> None:
    draft = drafted(edit("warm", definition="Sentinel-Quokka"))
    assert "Quokka" not in repr(draft)
    assert Change("redefine", "warm") in draft.state.changes()


def test_merges_and_splits_of_a_draft_leave_the_looks_of_all_other_codes_as_they_are() -> None:
    draft = Draft(replace(SENSE7, appeared=(SENSE7.codes,)))
    steps = [
        split("affective", "Sees", "Names"),
        merge("cognitive", "sees"),
        split("interest", "Asks", "Hears"),
    ]
    for step in (*steps, merge("prosocial", "asks"), {"do": "add", "label": "Later"}):
        before = looks(draft.state.codebook)
        assert draft.do(step)
        now = looks(draft.state.codebook)
        assert {one: now[one] for one in before if one in now} == {
            one: before[one] for one in now if one in before
        }
        assert len({look.light for look in now.values()}) == len(now)
