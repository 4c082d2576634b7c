"""How codes look: colours that can be told apart in both themes, and that stay when the codebook changes."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import pytest

from sense7_qual import _present, corpus
from sense7_qual._present import LINES, PAGES, PALETTE, TINT, VISIONS, colour_distance, contrast, looks, mixed
from sense7_qual.codebook import Code, Codebook
from sense7_qual.rounds import open_round
from sense7_qual.store import Store
from tests.helpers.places import ROOT

THEMES = [(theme, [pair[at] for pair in PALETTE]) for at, theme in enumerate(PAGES)]
# JupyterLab's, its high contrast, and the widget's own where there is no JupyterLab (base.css).
GROUNDS = {"light": ["#ffffff"], "dark": ["#212121", "#111111", "#1b1d21"]}
LETTERS = {"light": [mixed("#000000", 0.87, "#ffffff"), "#1f2328"], "dark": ["#ffffff", "#eef0f2"]}


def tints() -> list[float]:
    """The shares of colour behind words, of the marked one, and how many lie over one another."""
    source = (ROOT / "frontend/src/shared/colours.ts").read_text(encoding="utf-8")
    two = re.search(r"\[TINT, ACTIVE_TINT\] = \[(\d+), (\d+)\]", source)
    most = re.search(r"MOST_TINTS = (\d)", source)
    assert two
    assert most
    return [int(two[1]) / 100, int(two[2]) / 100, int(most[1])]


@pytest.mark.parametrize(("theme", "colours"), THEMES)
def test_lines_stand_out_from_the_page_and_from_their_own_tint(theme: str, colours: list[str]) -> None:
    assert tints()[1] == TINT
    for page in GROUNDS[theme]:
        assert min(contrast(colour, page) for colour in colours) >= 3
        assert min(contrast(colour, mixed(colour, TINT, page)) for colour in colours) >= 3
    tinted = [mixed(colour, TINT, PAGES[theme]) for colour in colours]
    assert min(map(contrast, colours * 2, [PAGES[theme]] * len(colours) + tinted)) >= 3.1
    # In the text of the desk only the marked coding has a tint: the words on it.
    assert min(contrast(ink, behind) for ink in LETTERS[theme] for behind in tinted) >= 8


@pytest.mark.parametrize(("theme", "colours"), THEMES)
def test_words_can_be_read_on_as_many_tints_as_lie_over_one_another(theme: str, colours: list[str]) -> None:
    tint, active, most = tints()
    for page in GROUNDS[theme]:
        for colour in colours:
            behind = mixed(colour, active, page)
            for _ in range(int(most) - 1):
                behind = mixed(colour, tint, behind)
            assert min(contrast(ink, behind) for ink in LETTERS[theme]) >= 4.5


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize(("theme", "colours"), THEMES)
def test_every_two_colours_can_be_told_apart(theme: str, colours: list[str], vision: str) -> None:
    """0.02 is just noticeable; those that share a line differ more."""
    apart = {
        pair: colour_distance(colours[pair[0]], colours[pair[1]], vision)
        for pair in combinations(range(len(colours)), 2)
    }
    assert min(apart.values()) > (0.12 if vision == "usual vision" else 0.055)
    assert min(value for (one, two), value in apart.items() if (one - two) % len(LINES) == 0) > 0.08


def book(*ids: str, **codes: Code) -> Codebook:
    return Codebook(name="b", codes=tuple(codes.get(one, Code(id=one, label=one.title())) for one in ids))


def test_forty_eight_codes_differ_and_neighbours_share_neither_colour_nor_line() -> None:
    all_looks = list(looks(book(*(f"c{n}" for n in range(60)))).values())
    assert len({(look.light, look.dark, look.line) for look in all_looks[:48]}) == 48
    for one, two in pairwise(all_looks):
        assert one.light != two.light
        assert one.line != two.line


@pytest.mark.parametrize("colour", ["#dd8452", "#ffff00", "#000000", "#ffffff", "#808080", "#00FF00"])
def test_a_code_keeps_its_own_colour_or_a_shade_of_it_that_stands_out(colour: str) -> None:
    look = looks(book("a", a=Code(id="a", label="A", colour=colour)))["a"]
    for shade, page in zip((look.light, look.dark), PAGES.values(), strict=True):
        assert contrast(shade, page) >= 3
        assert contrast(shade, mixed(shade, TINT, page)) >= 3
    assert looks(book("a", a=Code(id="a", label="A", colour="#C44E52")))["a"].light == "#c44e52"


@pytest.mark.parametrize(
    ("labels", "short"),
    [
        (["Affective Understanding", "Cognitive Understanding"], ["Affective", "Cognitive"]),
        (["Aims self near", "Aims self far", "Aims others"], ["self near", "self far", "others"]),
        (["Trust", "Trust in the agent", "Trust in oneself"], ["Trust", "Trust in the", "Trust in…"]),
        (["Feels understood", "Feels understood"], ["understood", "understood"]),
        (["Rücksichtnahme"], ["Rücksichtnahme"]),
        (["Donaudampfschifffahrt"], ["Donaudampfschi…"]),
    ],
)
def test_short_names_are_cut_between_words(labels: list[str], short: list[str]) -> None:
    codes = {f"c{n}": Code(id=f"c{n}", label=label) for n, label in enumerate(labels)}
    assert [look.short for look in looks(book(*codes, **codes)).values()] == short


def test_no_short_name_of_sixty_codes_is_cut_inside_a_word_of_fourteen_letters() -> None:
    words = ["seeks", "advice", "comfort", "validation", "company", "gratitude", "of", "the", "understanding"]
    codes = {
        f"c{n}": Code(id=f"c{n}", label=f"{words[n % 9]} {words[n // 9]} {words[n % 7]} {n}")
        for n in range(60)
    }
    for one, look in looks(book(*codes, **codes)).items():
        assert set(look.short.rstrip("…").split()) <= set(codes[one].label.split())
        assert len(look.short) <= 15


@pytest.fixture
def store(tmp_path: Path) -> Store:
    (tmp_path / "texts.csv").write_text("id,said\nm1,It listened.\nm2,It lectured me.\n", encoding="utf-8")
    units = corpus.read(tmp_path / "texts.csv", text="said", unit_id="id")
    return Store.create(tmp_path / "study", units=units, codebook=book(*"abcdefgh"))


def test_ten_merges_removals_and_moves_leave_all_other_colours_as_they_are(store: Store) -> None:
    before = looks(store.codebook)
    store.revise(book(*"bcdefgh"), why="one", coder="lead", merged={"a": "b"})
    store.revise(book(*"hgcdefb"), why="order", coder="lead")
    store.revise(book(*"hgcdefb", "new"), why="seen in texts", coder="lead")
    store.revise(book("g", "new", *"cdefb"), why="not used", coder="lead")
    store.revise(book("g", "x", "y", *"cdefb"), why="two things", coder="lead", split={"new": ["x", "y"]})
    for opened in (store, Store(store.path)):
        now = looks(opened.codebook)
        assert {one: now[one] for one in "gcdefb"} == {one: before[one] for one in "gcdefb"}
        assert [now[one].light for one in ("x", "y")] == [PALETTE[9][0], PALETTE[10][0]]  # after a … h, new
        assert len({each.appeared for each in opened.codebooks.values()}) == 1


def test_a_handed_out_folder_an_archive_have_the_same_colours(store: Store, tmp_path: Path) -> None:
    store.revise(book(*"cdefgh"), why="two went into one", coder="lead", merged={"a": "c", "b": "c"})
    store.append([open_round("one", units=["m1"], coders=["ana"], coder="lead", codebook=store.codebook)])
    store.copies.hand_out("one", "ana", tmp_path / "ana")
    store.copies.archive(tmp_path / "study.zip")
    restored = Store.restore(tmp_path / "study.zip", tmp_path / "restored")
    for other in (Store(tmp_path / "ana"), restored):
        assert looks(other.codebook) == looks(store.codebook) != looks(book(*"cdefgh"))


def test_the_order_of_appearance_is_no_content(store: Store) -> None:
    store.revise(book(*"hgfedcb"), why="order", coder="lead", merged={"a": "b"})
    plain = book(*"hgfedcb")
    assert store.codebook.appeared == (book(*"abcdefgh").codes, book(*"hgfedcb").codes)
    assert plain.appeared == ()
    assert store.codebook == plain
    assert store.codebook.fingerprint == plain.fingerprint
    assert store.codebook.to_yaml() == plain.to_yaml()
    assert "appeared" not in repr(store.codebook)
    assert replace(store.codebook, title="T").appeared == store.codebook.appeared


SENSE7 = Codebook.read("sense7")


def more(n: int, **colours: str) -> Codebook:
    """Return SENSE-7, which gives seven colours, with more codes and other colours."""
    seven = [replace(code, colour=colours.get(code.id, code.colour)) for code in SENSE7]
    return replace(SENSE7, codes=(*seven, *(Code(id=f"c{one}", label=f"Code {one}") for one in range(n))))


@pytest.mark.parametrize("n", [1, 5, 20, 41])
def test_codes_without_a_colour_look_like_none_that_the_codebook_gives(n: int) -> None:
    drawn = looks(more(n))
    assert len({(look.light, look.dark, look.line) for look in drawn.values()}) == 7 + n
    given, chosen = ([look.light for look in list(drawn.values())[part]] for part in (slice(7), slice(7, 27)))
    assert not set(given) & set(chosen), "as long as there are others, with all four lines"


def test_a_colour_close_to_one_of_the_palette_is_left_to_its_code() -> None:
    drawn = looks(more(5, contextual="#7a6c0a"))
    apart = [
        colour_distance(drawn["contextual"].light, look.light, "usual vision")
        for one, look in drawn.items()
        if one != "contextual"
    ]
    assert min(apart) > 0.1


def test_a_colour_that_is_given_changed_or_taken_away_changes_its_code_alone(store: Store) -> None:
    steps = [looks(store.codebook)]
    for colour in ("#80364f", "#c44e52", None):  # the first is wine, which b has
        code = Code(id="h", label="H", colour=colour)
        store.revise(book(*"abcdefgh", h=code), why="colour", coder="lead")
        steps.append(looks(store.codebook))
    assert len({look.light for look in (one["h"] for one in steps)}) == 3
    for one in steps:
        assert {code: one[code] for code in "abcdefg"} == {code: steps[0][code] for code in "abcdefg"}
        assert len({(look.light, look.line) for look in one.values()}) == 8


def test_a_code_that_is_decided_on_by_a_facet_looks_as_the_code() -> None:
    sense7 = Codebook.read("sense7")
    assert _present.looks_of(["interest.valence=met"], sense7) == [looks(sense7)["interest"]]
    assert _present.looks_of(["interest"], None) == [None]
