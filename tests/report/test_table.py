"""Texts survive every format: what a real parser reads back is what was typed, and nothing is mark-up."""

from __future__ import annotations

import csv
import io
import os
import re
import unicodedata
import zipfile
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import docx
import mistune
import pytest
from hypothesis import given, settings, strategies as st

from sense7_qual.errors import QualError, StoreError, TableError
from sense7_qual.report._entries import entries
from sense7_qual.report._escape import escape_html, escape_latex, escape_markdown
from sense7_qual.report._latex import _over_pages
from sense7_qual.report._table import Table
from tests.helpers.hostile_strings import HOSTILE


def seen(text: str) -> str:
    """What a reader sees of `text`: one space for white space, U+FFFD for what cannot be shown."""
    text = re.sub("[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]", " ", text)
    text = re.sub("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]", "\ufffd", text)
    return " ".join(text.split())


class Page(HTMLParser):
    """Reads cells, notes and caption of a page, and every tag and attribute in it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag == "br":
            self.found[-1] += " "
        elif tag in {"td", "th", "p", "caption"}:
            self.found.append("")

    def handle_data(self, data: str) -> None:
        if self.found:
            self.found[-1] += data

    @property
    def texts(self) -> list[str]:
        return [seen(text) for text in self.found]


def hostile_table(text: str) -> Table:
    return Table(f"T {text}", ("Code", f"H {text}"), ((text, "x"), ("x", text)), notes=(f"N {text}", text))


def expected(text: str, *, foot_cell: bool) -> list[str]:
    shown, cells = seen(text), ["Code", seen(f"H {text}"), seen(text), "x", "x", seen(text)]
    return [seen(f"T {text}"), *cells, *([""] if foot_cell else []), seen(f"Note. N {text}"), shown]


# Every plug-in that could read a text as something else.
READ_MARKDOWN = mistune.create_markdown(
    escape=False,
    plugins=[
        "table",
        "url",
        "strikethrough",
        "math",
        "footnotes",
        "mark",
        "insert",
        "superscript",
        "subscript",
        "spoiler",
        "task_lists",
        "def_list",
        "abbr",
    ],
)


def check_markdown(text: str) -> None:
    page = Page(str(READ_MARKDOWN(hostile_table(text).markdown())))
    assert [found for found in page.texts if found] == [f for f in expected(text, foot_cell=False) if f]
    assert page.tags <= {"p", "strong", "em", "table", "thead", "tbody", "tr", "th", "td", "br"}


def check_html(text: str) -> None:
    page = Page(hostile_table(text).html())
    assert [found for found in page.texts if found] == [f for f in expected(text, foot_cell=True) if f]
    assert page.tags <= {"table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td", "p", "em", "br"}
    assert page.attributes <= {"class", "scope", "dir", "colspan", "style"}


# All that `escape_latex` may write, and what each prints.
PRINTS = {
    r"\textbackslash{}": "\\",
    r"\{": "{",
    r"\}": "}",
    r"\#": "#",
    r"\$": "$",
    r"\%": "%",
    r"\&": "&",
    r"\_": "_",
    r"\textasciitilde{}": "~",
    r"\textasciicircum{}": "^",
    r"\textless{}": "<",
    r"\textgreater{}": ">",
    r"\ensuremath{|}": "|",
    r"{\symbol{34}}": '"',
    r"\`{}": "`",
    "{[}": "[",
    "{]}": "]",
    "{*}": "*",
    r"\ensuremath{-}": "−",
    r"\ensuremath{\leq}": "≤",
    r"\ensuremath{\geq}": "≥",
    r"\ensuremath{\leftarrow}": "←",
    r"\ensuremath{\rightarrow}": "→",
    r"\ensuremath{\alpha}": "α",
    r"\ensuremath{\infty}": "∞",
    r"\allowbreak{}": "",
    r"{\kern0pt}": "",
    r"\newline ": "\n",
    "~": "\xa0",
} | {
    rf"\ensuremath{{\{name}}}": letter
    for letter in "αβγδεζηθικλμνξπρστυφχψω"
    for name in [unicodedata.name(letter).split()[-1].lower().replace("lamda", "lambda")]
}
NAMED = re.compile(
    r"\\(?:latintext|unicodetext|unicodertl)\{([^{}]+)\}\{((?:[^{}]|\{[^{}]*\})*)\}(?:\\hspace\{0pt\})?"
)
TOKENS = re.compile("|".join(re.escape(token) for token in sorted(PRINTS, key=len, reverse=True)))


def printed(latex: str) -> str:
    """What TeX prints, or an AssertionError where a character or command is left that TeX would act on."""
    assert all(printed(name).isascii() for _, name in NAMED.findall(latex))
    latex = NAMED.sub(r"\1", latex)
    plain = TOKENS.split(latex)
    for part in plain:
        assert not re.search(r'[\\{}#$%&_~^"`*\[\]<>|]', part), part
        assert "\n" not in part
    joins = [PRINTS[token] for token in TOKENS.findall(latex)]
    return "".join(part + join for part, join in zip(plain, [*joins, ""], strict=True))


def check_latex(text: str) -> None:
    """Accents come with their letter, a possible break without a sign, and the unprintable as a question."""
    composed = seen(unicodedata.normalize("NFC", text)).replace("\u200b", "").replace("\ufffd", "[?]")
    assert seen(printed(escape_latex(text))) == seen(composed)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_read_back_from_markdown(text: str) -> None:
    check_markdown(text)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_read_back_from_html(text: str) -> None:
    check_html(text)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_printed_by_latex(text: str) -> None:
    check_latex(text)


@given(st.text(max_size=30))
def test_any_text_is_read_back_from_every_format(text: str) -> None:
    check_markdown(text)
    check_html(text)
    check_latex(text)


@given(st.text(alphabet="|\\`*_~$<>&[]()#-+=:.!{}^%\"',?/@ \nab1α", max_size=16))
def test_any_mix_of_signs_is_read_back_from_every_format(text: str) -> None:
    check_markdown(text)
    check_html(text)
    check_latex(text)


def test_latex_breaks_ligatures_that_would_change_a_quote() -> None:
    assert escape_latex("a--b") == r"a-{\kern0pt}-b"
    assert escape_latex("''") == r"'{\kern0pt}'"


def test_latex_alpha_is_the_statistic_but_not_a_letter_of_a_greek_word() -> None:
    assert escape_latex("α = .80") == r"\ensuremath{\alpha} = .80"
    assert escape_latex("χ² = 3") == r"\ensuremath{\chi}² = 3"
    assert "ensuremath" not in escape_latex("καλά")


def test_markdown_leaves_ordinary_text_readable() -> None:
    text = "It asked, twice: how are you? (I wasn't – well…) 3.5 of 5!"
    assert escape_markdown(text) == text


def test_markdown_intervals_are_not_mathematics() -> None:
    assert escape_markdown("[.61, .80]") == r"\[.61, .80]"


def test_line_breaks_stay_in_the_cell() -> None:
    assert escape_markdown("a\nb") == "a<br> b"
    assert escape_html("a\r\nb") == "a<br>b"
    assert escape_latex("a\nb") == "a\\newline b"


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("text", HOSTILE)
def test_latex_table_keeps_its_frame(text: str, long: bool) -> None:
    table = hostile_table(text)
    source = replace(table, rows=table.rows * (20 if long else 1)).latex(label="tab:x")
    begun = re.findall(r"\\begin\{(\w+)\}", source)
    assert begun == (["longtable"] if long else ["table", "tabular"])
    assert re.findall(r"\\end\{(\w+)\}", source) == begun[::-1]
    rows = [
        line for line in source.splitlines() if line.endswith(r" \\") and not line.startswith(r"\caption")
    ]
    assert len(rows) == (42 if long else 3)
    # One separator in each row: every other ampersand is escaped.
    assert all(len(re.findall(r"(?<!\\)&", row)) == 1 for row in rows)
    assert source.count(r"\label{tab:x}") == 1
    depth = 0
    for brace in re.findall(r"(?<!\\)[{}]", source.replace(r"\\", "")):
        depth += 1 if brace == "{" else -1
        assert depth >= 0
    assert depth == 0


def test_latex_label_is_refused_where_it_is_not_one() -> None:
    with pytest.raises(QualError, match="'tab:reliability'"):
        hostile_table("x").latex(label="a}b")


def test_html_has_caption_and_scopes_and_every_cell_its_alignment() -> None:
    page = Table("T", ("Code", "n"), (("a", "1"),), notes=("N",), alignments=("left", "right")).html()
    left, right = 'style="text-align: left"', 'style="text-align: right'
    assert f"<caption {left}>T</caption>" in page
    assert f'<th scope="col" {left}>Code</th><th scope="col" {right}">n</th>' in page
    assert f'<th scope="row" dir="auto" {left}>a</th>' in page
    assert f'<td dir="auto" {right}; white-space: nowrap">1</td>' in page
    assert f'<td colspan="2" {left}><p>' in page
    assert page.count("style=") == len(re.findall("<(?:caption|t[hd]) ", page)) == 6
    assert "<style" not in page


def test_repr_has_counts_and_no_cell() -> None:
    table = Table("T", ("Code", "Quote"), (("a", "secret words"),), notes=("secret note",))
    assert repr(table) == "Table('T', 1 rows, 2 columns)"
    assert "secret words" in table._repr_html_()


def test_rows_must_fit_the_columns() -> None:
    with pytest.raises(TableError, match="expected 2 cells in every row") as refused:
        Table("T", ("Code", "Quote"), (("a", "b"), ("secret words",)))
    assert "row 1" in str(refused.value)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("suffix", [".md", ".tex", ".html", ".HTML", ".csv"])
def test_write_by_suffix(tmp_path, suffix: str) -> None:
    table = hostile_table("é 👍 α")
    path = tmp_path / f"table{suffix}"
    path.write_bytes(b"an earlier one")
    table.write(path, overwrite=True)
    content = path.read_bytes().decode("utf-8-sig")
    if suffix.lower() == ".html":
        assert content.startswith("<!DOCTYPE html>")
        assert '<meta charset="utf-8">' in content
        assert table.html() in content
    else:
        assert content == {".md": table.markdown, ".tex": table.latex, ".csv": table.csv}[suffix]()
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_write_refuses_another_suffix(tmp_path) -> None:
    with pytest.raises(
        QualError, match=r"\.md, \.tex, \.html, \.docx, \.csv – found 'table.doc' – did you mean"
    ):
        hostile_table("x").write(str(tmp_path / "table.doc"))
    with pytest.raises(QualError, match="path – found None"):
        hostile_table("x").write(None)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [".md", ".tex", ".html", ".docx", ".csv"])
def test_no_table_is_overwritten_unless_told(tmp_path, suffix: str) -> None:
    path = tmp_path / f"table{suffix}"
    hostile_table("first").write(path)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=f"the file 'table{suffix}' already exists and was left unchanged"):
        hostile_table("second").write(path)
    assert path.read_bytes() == before
    hostile_table("second").write(path, overwrite=True)
    assert path.read_bytes() != before
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    with pytest.raises(FileNotFoundError):
        hostile_table("x").write(tmp_path / "nowhere" / f"table{suffix}")


def test_the_cells_come_as_a_frame_and_as_csv() -> None:
    table = Table(
        "T", ("Code", "n", "n"), (("=cmd()", "-.21", "−.21"), ("@x", "-a", 'say "a,\nb"')), notes=("N",)
    )
    assert table.frame.columns.tolist() == ["Code", "n", "n"]
    assert table.frame.to_numpy().tolist() == [list(row) for row in table.rows]
    assert list(csv.reader(io.StringIO(table.csv()))) == [
        ["Code", "n", "n"],
        ["'=cmd()", "-.21", "−.21"],
        ["'@x", "'-a", 'say "a,\nb"'],
    ]


def read_back(path: Path) -> tuple[list[str], list[list[str]]]:
    """The paragraphs and the cells of a Word document, as its reader gives them."""
    opened = docx.Document(str(path))
    cells = [[seen(cell.text) for cell in row.cells] for row in opened.tables[0].rows]
    return [seen(paragraph.text) for paragraph in opened.paragraphs], cells


def test_word_reads_back_what_was_typed(tmp_path) -> None:
    rows = tuple((text, text) for text in HOSTILE)
    sides = ("left", "right")
    table = Table("T " + "".join(HOSTILE), ("Code", "H\n|"), rows, tuple(HOSTILE), sides)
    table.write(tmp_path / "table.docx")
    paragraphs, cells = read_back(tmp_path / "table.docx")
    assert paragraphs[0] == seen(table.title)
    assert cells == [[seen(cell) for cell in row] for row in [table.headers, *rows]]
    assert paragraphs[1:] == [seen(f"Note. {HOSTILE[0]}"), *map(seen, HOSTILE[1:])]


@pytest.mark.long
@settings(max_examples=20)
@given(st.text(st.characters(codec=None), max_size=30))
def test_any_text_is_a_word_document(text: str) -> None:
    content = hostile_table(text)._word()
    cells = docx.Document(io.BytesIO(content)).tables[0].rows[1].cells
    assert seen(cells[0].text) == seen(text)


def word_parts(table: Table) -> str:
    with zipfile.ZipFile(io.BytesIO(table._word())) as packed:
        assert packed.testzip() is None
        return packed.read("word/document.xml").decode()


def test_word_has_caption_head_and_no_field_or_link() -> None:
    table = Table("T", ("Code", "n"), (("a", "1 2"),) * 60, notes=("N",), alignments=("left", "right"))
    source = word_parts(table)
    assert source.count("<w:tblHeader/>") == 1
    assert source.index("<w:tblHeader/>") < source.index("</w:tr>")
    assert source.count("<w:cantSplit/>") == 61
    assert '<w:pStyle w:val="Caption"/>' in source
    assert "1\xa02" in source
    assert 'w:orient="landscape"' not in source
    assert not re.search(
        "fldChar|instrText|fldSimple|hyperlink|altChunk", word_parts(hostile_table(HOSTILE[1]))
    )
    assert word_parts(hostile_table("עברית שלום")).count("<w:bidi/>") == 3  # two cells and a note


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "table.md"
    hostile_table("first").write(path)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        hostile_table("second").write(path, overwrite=True)
    assert path.read_text("utf-8") == hostile_table("first").markdown()
    assert [file.name for file in tmp_path.iterdir()] == ["table.md"]


def test_a_wide_table_is_on_a_page_in_landscape_in_columns_of_unbroken_numbers() -> None:
    heads = ("Code", *["A head of words"] * 5)
    table = Table("T", heads, (("warm", *["−1.23 [−2.34, −0.12]"] * 5),) * 2, (), ("left", *["right"] * 5))
    source = table.latex()
    assert "array,booktabs,longtable,pdflscape" in source
    assert re.findall(r"\\(begin|end)\{landscape\}", source) == ["begin", "end"]
    assert "−1.23 [−2.34, −0.12]" not in source
    assert r"\ensuremath{-}1.23~{[}\ensuremath{-}2.34,~\ensuremath{-}0.12{]} &" in source
    assert 'w:orient="landscape"' in word_parts(table)
    lines = replace(table, rows=(("warm", *[".21\n[.16, .25]"] * 5),)).latex()
    assert "& .21\\linebreak {[}.16,~.25{]} &" in lines  # \newline would leave .21 in the middle
    narrow = replace(table, headers=heads[:2], rows=tuple(row[:2] for row in table.rows), alignments=())
    assert "landscape" not in narrow.latex() + word_parts(narrow)


def test_a_character_that_an_engine_lacks_is_named_and_what_is_needed_is_defined() -> None:
    assert escape_latex("well 👍🏽") == (
        "well \\unicodetext{👍🏽}{{[}thumbs up sign, emoji modifier fitzpatrick type-4{]}}"
    )
    assert escape_latex("כן, „cafe\u0301“") == (
        "\\unicodertl{כן}{{[}U+05DB U+05DF{]}}, \\latintext{„}{,,}café“"
    )
    plain = Table("T", ("Code",), (("café",),)).latex()
    named = Table("T 👍", ("Code",), (("café",),)).latex()
    assert "\\protected\\def" not in plain
    assert named.count("\\protected\\def\\unicodetext") == 1
    assert "\\caption[{T {[}thumbs up sign{]}}]{T \\unicodetext{👍}{{[}thumbs up sign{]}}}" in named


def test_a_very_long_word_may_break() -> None:
    assert escape_latex("Appropriateness") == "Appropriateness"
    assert escape_latex("https://example.org/supplement") == (
        "https://\\allowbreak{}example.\\allowbreak{}org/\\allowbreak{}supplement"
    )


def word_widths(table: Table) -> list[int]:
    return [int(width) for width in re.findall(r'<w:gridCol w:w="(\d+)"', word_parts(table))]


def test_columns_are_as_wide_as_what_is_in_them() -> None:
    quotes = Table("T", ("Code", "Quote", "n"), (("Appropriateness", "What was said, " * 20, "12"),) * 3)
    code, quote, number = word_widths(quotes)
    assert quote > 3 * code > 6 * number
    assert code > 20 * 9 * 15 * 0.5  # 15 letters of half an em in a size of 9 points
    assert sum(word_widths(quotes)) == pytest.approx(20 * 170 * 72 / 25.4, abs=3)  # the whole line
    assert '<w:tblLayout w:type="fixed"/>' in word_parts(quotes)
    numbers = Table("T", ("Code", "n"), (("a", "12"),))
    assert sum(word_widths(numbers)) < 20 * 100


def test_a_column_without_any_text_or_space_has_a_width() -> None:
    table = Table("T", ("", "Quote"), (("", "你好今天我觉得很好谢谢你的帮助和理解" * 3),) * 2)
    narrow, wide = word_widths(table)
    assert 0 < narrow < 600 < wide
    assert "\\begin{table}" in table.latex()
    assert "landscape" not in table.latex() + word_parts(table)


RULES = Table(
    "T",
    ("Code", "Rule", "Not", "Source", "n", "Share"),
    (
        ("warm\n(under kind)", "• first\n• second", "–", "–", "12", ".5"),
        ("cold", "one\ntwo", "x", "y", "–", "1"),
    ),
    notes=("N",),
    alignments=("left",) * 4 + ("right",) * 2,
    layout="list",
)


def test_a_list_has_every_cell_under_its_head() -> None:
    warm, cold = entries(RULES.headers, RULES.rows, [False] * 4 + [True] * 2)
    assert (warm.name, warm.remarks) == ("warm", ("(under kind)",))
    assert [part.beside for part in warm.parts] == [
        (("Rule", ""),),
        (("Not, Source", "–"),),
        (("n", "12"), ("Share", ".5")),
    ]
    assert [part.below for part in warm.parts] == [("• first", "• second"), (), ()]
    assert [(part.beside[0], part.below) for part in cold.parts[:2]] == [
        (("Rule", "one"), ("two",)),
        (("Not", "x"), ()),
    ]
    assert "*n:* 12; *Share:* .5\n" in RULES.markdown()
    assert "**warm** (under kind)\n\n*Rule:*\n\n- first\n- second\n" in RULES.markdown()
    assert '<dd dir="auto"><em>Rule:</em> <ul><li dir="auto">first</li>' in RULES.html()
    assert RULES.csv() == replace(RULES, layout="grid").csv()


def words_of(texts: list[str]) -> list[str]:
    return [word for text in texts for word in seen(text).replace("•", "").split()]


def test_hostile_texts_are_read_back_from_a_list_in_every_format() -> None:
    table = Table(
        "T", ("Code", "Quote"), tuple((f"c{n}", text) for n, text in enumerate(HOSTILE)), layout="list"
    )
    expected_words = words_of([f"c{n} Quote: {text}" for n, text in enumerate(HOSTILE)])
    page = ListPage(table.html())
    assert page.tags <= {"figure", "figcaption", "dl", "dt", "dd", "strong", "em", "ul", "li", "br", "span"}
    assert words_of(["".join(page.texts)]) == ["T", *expected_words]
    markdown = ListPage(str(READ_MARKDOWN(table.markdown())))
    assert markdown.tags <= {"p", "strong", "em", "ul", "li", "br"}
    assert words_of(["".join(markdown.texts)]) == ["T", *expected_words]
    word = docx.Document(io.BytesIO(table._word()))
    assert words_of([line.text for line in word.paragraphs]) == ["T", *expected_words]
    assert not word.tables
    source = table.latex().partition("% To print")[0]
    assert "\\input{" not in source


class ListPage(HTMLParser):
    """Reads all texts of a page, and its tags."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.tags: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.texts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self.texts.append("\n")

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_a_table_that_is_wider_than_any_page_is_a_list_of_its_rows() -> None:
    heads = ("Code", *(f"Value {n}" for n in range(12)))
    table = Table("T", heads, (("warm", *["−1.23 [−2.34, −0.12]"] * 12),), (), ("left", *["right"] * 12))
    for source in (table.latex(), table.latex(page_columns=2)):
        assert "tabular" not in source
        assert source.count("\\emph{Value ") == 12
    assert word_parts(table).count("Value ") == 12
    assert "w:tbl>" not in word_parts(table)


@given(st.lists(st.integers(1, 30), min_size=1, max_size=80), st.integers(0, 40))
def test_parts_of_a_table_have_every_row_once_and_fit_their_page(heights: list[int], rest: int) -> None:
    places = _over_pages(heights, rest)
    if not places:
        assert max(heights) + rest > 50
        return
    rows = [place for part in places for place in range(len(heights))[part]]
    assert rows == list(range(len(heights)))
    assert all(sum(heights[part]) <= 50 - 5 or len(heights[part]) == 1 for part in places[:-1])
    assert sum(heights[places[-1]]) + rest <= 50


def test_a_long_table_on_pages_of_two_columns_repeats_its_head_and_has_its_notes_once() -> None:
    rows = tuple((f"code {n}", str(n)) for n in range(100))
    source = Table("T", ("Code", "n"), rows, ("The note.",)).latex(page_columns=2, label="tab:x")
    assert source.count("Code & n") == source.count("\\begin{table}") == 3
    assert source.count("\\caption{T}\\label{tab:x}") == source.count("The note.") == 1
    assert source.count("(continued)") == 2
    assert re.findall(r"code (\d+) &", source) == [str(n) for n in range(100)]
    assert _over_pages([1] * 45, 10) == [slice(0, 23), slice(23, 45)]  # no row stands alone with the notes
    wide = Table("T", ("Code", *["A head of words"] * 9), (("a", *["12.34"] * 9),)).latex(page_columns=2)
    assert "\\begin{table*}" in wide
    assert "longtable" not in source.partition("\n")[2] + wide.partition("\n")[2]


def test_captions_in_the_styles_of_journals() -> None:
    table = Table("The title", ("Code",), (("a",),))
    assert "captionsetup" not in table.latex()
    assert "\\captionsetup{labelfont=bf,textfont=it,labelsep=newline" in table.latex(style="apa")
    assert "ver@acmart.cls" in table.latex(style="acm")
    assert "caption}" in table.latex(style="acm").partition("\n")[0]
    shown = {
        style: [line.text for line in docx.Document(io.BytesIO(table._word(style=style))).paragraphs]
        for style in ("plain", "acm", "apa")
    }
    assert shown["plain"] == ["The title"]
    assert shown["acm"][0].replace("1", "") == "Table : The title"  # the number is a field
    assert shown["apa"][1] == "The title"
    assert "SEQ Table" in word_parts_of(table._word(style="apa"))
    assert 'w:w="12240"' in word_parts_of(table._word(paper="letter"))
    with pytest.raises(QualError, match="style"):
        table.latex(style="mla")  # type: ignore[arg-type]
    with pytest.raises(QualError, match="page_columns"):
        table.latex(page_columns=3)  # type: ignore[arg-type]


def word_parts_of(content: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        return packed.read("word/document.xml").decode()


def test_characters_that_not_every_engine_prints_are_named_in_a_comment() -> None:
    source = Table("T", ("Code",), (("well 👍, α = .80, כ",),)).latex()
    assert "%   U+1F44D thumbs up sign\n%   U+05DB hebrew letter kaf\n" in source
    many = Table("T", ("Code",), (("".join(map(chr, range(0x1F600, 0x1F628))),),)).latex()
    assert "and 10 more" in many
