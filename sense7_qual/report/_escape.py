"""Any text written for Markdown, HTML and LaTeX, so that it is printed as typed and never becomes mark-up."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Literal

_BREAKS = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_UNPRINTABLE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")

_FORMULA = re.compile(r"\s*[=+@\t\r]|\s*-(?![\d.,]*\s*%?$)")  # what a spreadsheet would compute

# Characters with a meaning in HTML, in mathematics (Jupyter) or to the table parser become entities, which
# are never read as structure; the rest of Markdown's punctuation takes a backslash and stays readable. (Not
# the closing bracket: `\[ … \]` is mathematics to some readers.)
_MARKDOWN_ENTITIES: Final = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;", "\\": "&#92;", "$": "&#36;", "@": "&#64;"}
)
_MARKDOWN_SIGNS = re.compile(r"([*_`\[~^{}]|(?<==)=|=(?==)|(?<=\+)\+|\+(?=\+))")
_MARKDOWN_BLOCK_START = re.compile(r"^([-+#=:])|^(\d{1,9})(?=[.)](?:\s|$))")
_MARKDOWN_LINKS = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)

# `[` and `*` are in braces because a row that begins with one would be read as an argument of the `\\`
# before it; `"` is a command in several languages of babel.
_LATEX: Final = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "#": r"\#",
        "$": r"\$",
        "%": r"\%",
        "&": r"\&",
        "_": r"\_",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\ensuremath{|}",
        '"': r"{\symbol{34}}",
        "`": r"\`{}",
        "[": "{[}",
        "]": "{]}",
        "*": "{*}",
        "\xa0": "~",
        "−": r"\ensuremath{-}",
        "≤": r"\ensuremath{\leq}",
        "≥": r"\ensuremath{\geq}",
        "∞": r"\ensuremath{\infty}",
        "←": r"\ensuremath{\leftarrow}",
        "→": r"\ensuremath{\rightarrow}",
        "\u200b": r"\allowbreak{}",
        "\ufffd": "{[}?{]}",
    }
)
_LATEX_LIGATURES = re.compile(r"([-,'])(?=\1)")
_LATEX_STATISTIC = re.compile(r"(?<![^\W\d_])[α-ω](?=[²³]|(?![\w\u0300-\u036f]))")  # in no Greek word
_LONG_WORD = re.compile(r"[^ \n\xa0]{25,}")

# What the standard fonts of pdfLaTeX (OT1), XeLaTeX and LuaLaTeX all have beside ASCII.
_EVERYWHERE: Final = "¡-ª¬®-º¼-ÏÑ-ÝßŒœà-ïñ-ýÿĀ-ăĆ-ďĒ-ėĚ-ĥĨ-ĭİıĴ-ķĹ-ľŁ-ňŌ-őŔ-ťŨ-űŴ-žȘ-ț‐‑–—‖‘’“”†‡•…‰‱※€№™"
# What pdfLaTeX has too, but in the encoding T1 only.
_WESTERN: Final = "„‚«»‹›ÐÞðþĄąĐđĘęĮįŊŋŲų"
_QUOTATION_MARKS: Final = {"„": ",,", "‚": ",", "«": "<<", "»": ">>", "‹": "<", "›": ">"}
_IDEOGRAPHS: Final = "\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\uff01-\uff60\U00020000-\U0003ffff"
_RIGHT_TO_LEFT: Final = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
_LATEX_SPECIAL = re.compile(
    f"(?P<western>[{_WESTERN}])|(?P<ideograph>[{_IDEOGRAPHS}])"
    f"|(?P<rtl>[{_RIGHT_TO_LEFT}]+(?: +[{_RIGHT_TO_LEFT}]+)*)"
    f"|(?P<other>[^\n\xa0\u200b−≤≥∞←→ -~{_EVERYWHERE}{_WESTERN}{_IDEOGRAPHS}{_RIGHT_TO_LEFT}]+)"
)

LATEX_MACROS: Final = r"""
% A character that the font or pdfLaTeX lacks is printed as [its name or number]. To print
% it, use XeLaTeX or LuaLaTeX with a font that has it, or say how before the table:
% \newcommand\unicodetext[2]{{\emojifont #1}} % the second argument is the name
\ifdefined\latintext\else
  \def\unicodefirst#1#2{#1}\def\unicodesecond#1#2{#2}\def\unicodetone{T1}
  \ifdefined\Umathcode % XeLaTeX or LuaLaTeX
    \def\unicodelook#1{\ifx\relax#1\else
      \iffontchar\font`#1 \else\let\unicodeuse\unicodesecond\fi\expandafter\unicodelook\fi}
    \protected\def\latintext#1#2{{\let\unicodeuse\unicodefirst\unicodelook#1\relax\unicodeuse{#1}{#2}}}
    \ifdefined\XeTeXversion\TeXXeTstate=1 \def\unicodeturned#1{\beginR#1\endR}%
    \else\def\unicodeturned#1{{\textdir TRT #1}}\fi
    \protected\def\unicodertl#1#2{{%
      \let\unicodeuse\unicodefirst\unicodelook#1\relax\unicodeuse{\unicodeturned{#1}}{#2}}}
    \ifdefined\unicodetext\else\let\unicodetext\latintext\fi
  \else
    \protected\def\latintext#1#2{\expandafter\ifx\csname f@encoding\endcsname\unicodetone#1\else#2\fi}
    \protected\def\unicodertl#1#2{#2}
    \ifdefined\unicodetext\else\protected\def\unicodetext#1#2{#2}\fi
  \fi
\fi
""".lstrip()
"""What the results of `escape_latex` with a ``\\latintext``, ``\\unicodetext`` or ``\\unicodertl`` need."""


def escape_html(text: str) -> str:
    """Return `text` for the content of an HTML element; line breaks become ``<br>``.

    >>> escape_html('<b onclick="x">')
    '&lt;b onclick=&quot;x&quot;&gt;'
    """
    return html.escape(clean(text)).replace("\n", "<br>")


def escape_markdown(text: str) -> str:
    """Return `text` for a paragraph or a table cell of Markdown; line breaks become ``<br>``.

    >>> print(escape_markdown("# a|b *c*"))
    \\# a&#124;b \\*c\\*
    """
    text = _MARKDOWN_SIGNS.sub(r"\\\1", clean(text).translate(_MARKDOWN_ENTITIES))
    text = _MARKDOWN_LINKS.sub(lambda sign: f"&#{ord(sign.group())};", text)
    text = _MARKDOWN_BLOCK_START.sub(lambda at: f"\\{at[1]}" if at[1] else f"{at[2]}\\", text)
    # The space keeps words apart where a converter drops HTML (pandoc, on the way to Word).
    return text.replace("\n", "<br> ")


def escape_latex(text: str) -> str:
    r"""Return `text` for the text of a LaTeX document; line breaks become ``\newline``.

    Characters that not every engine prints come with their name as well (`LATEX_MACROS`).

    >>> print(escape_latex("50% of R&D_"))
    50\% of R\&D\_
    >>> print(escape_latex("well 👍"))
    well \unicodetext{👍}{{[}thumbs up sign{]}}
    """
    text = _LONG_WORD.sub(lambda word: "\u200b".join(pieces(word.group())), _composed(text))
    text = _LATEX_LIGATURES.sub(r"\1{\\kern0pt}", text.translate(_LATEX))
    text = _LATEX_STATISTIC.sub(lambda sign: _latex_greek(sign.group()), text)
    return _LATEX_SPECIAL.sub(_latex_special, text).replace("\n", "\\newline ")


def spelled_out(text: str) -> str:
    """Return `text` as LaTeX prints it at its longest: names for the characters that not every engine has.

    >>> spelled_out("well 👍")
    'well [thumbs up sign]'
    """
    return _LATEX_SPECIAL.sub(lambda run: _name(run.group()), _without_statistics(text))


def beyond_engines(texts: Iterable[str]) -> list[str]:
    """Return number and name of each character in `texts` that not every engine prints, in their order.

    >>> beyond_engines(["well 👍", "café"])
    ['U+1F44D thumbs up sign']
    """
    runs = (run.group() for text in texts for run in _LATEX_SPECIAL.finditer(_without_statistics(text)))
    letters = dict.fromkeys(letter for run in runs for letter in run if letter != " ")
    return [f"{_numbered(letter)} {_named(letter)}" for letter in letters if letter not in _QUOTATION_MARKS]


def clean(text: str) -> str:
    """Return `text` with every kind of line break as one and no character that breaks a file or a page."""
    return _UNPRINTABLE.sub("\ufffd", _BREAKS.sub("\n", text).replace("\t", " ")).strip()


def no_formula(cell: str) -> str:
    """Return `cell` with an apostrophe before it where a spreadsheet would take it for a formula.

    >>> no_formula("=1+1")
    "'=1+1"
    """
    return f"'{cell}" if _FORMULA.match(cell) else cell


def one_line(text: str, escape: Callable[[str], str]) -> str:
    """Return `text` without line breaks, escaped."""
    return escape(" ".join(clean(text).split("\n")))


def _composed(text: str) -> str:
    """Return `text` with letters and their accents as one character, which more fonts have."""
    return unicodedata.normalize("NFC", clean(text))


def _without_statistics(text: str) -> str:
    """Return `text` with a letter for what is printed as mathematics, and what stands for the unprintable."""
    return _LATEX_STATISTIC.sub("a", _composed(text)).replace("\ufffd", "[?]")


def _latex_greek(letter: str) -> str:
    name = unicodedata.name(letter).rpartition(" ")[2].lower().replace("lamda", "lambda")
    return letter if name in ("omicron", "sigma") and letter != "σ" else rf"\ensuremath{{\{name}}}"


def _latex_special(run: re.Match[str]) -> str:
    text, name = run.group(), _name(run.group()).translate(_LATEX)
    command = {"western": "latintext", "rtl": "unicodertl"}.get(str(run.lastgroup), "unicodetext")
    after = r"\hspace{0pt}" if run.lastgroup == "ideograph" else ""
    return rf"\{command}{{{text}}}{{{name}}}{after}"


def _name(run: str) -> str:
    """Return the names of signs and the numbers of letters in brackets; nothing for what is invisible."""
    if run in _QUOTATION_MARKS:
        return _QUOTATION_MARKS[run]
    shown = [letter for letter in run if unicodedata.category(letter) not in ("Cf", "Zs")]
    shown = [letter for letter in shown if not unicodedata.name(letter, "").startswith("VARIATION SEL")]
    named = [(unicodedata.category(letter)[0] in "LMN" and run not in _WESTERN, letter) for letter in shown]
    groups = [
        (" " if numbered else ", ").join(
            _numbered(letter) if numbered else _named(letter) for _, letter in some
        )
        for numbered, some in groupby(named, key=lambda each: each[0])
    ]
    return f"[{', '.join(groups)}]" if groups else ""


def _numbered(letter: str) -> str:
    return f"U+{ord(letter):04X}"


def _named(letter: str) -> str:
    return unicodedata.name(letter, _numbered(letter)).lower()


_LONGEST: Final = 24  # characters that stay together
_PROSE: Final = 24.0  # ems of a line from which a column holds prose
_NARROWEST: Final = 0.5
_COMFORTABLE: Final = 14.0  # ems of a column of prose below which it is a narrow strip
_SPACE: Final = re.compile(r"[ \n]+")
_WIDE: Final = "\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\uff01-\uff60"
_BETWEEN_IDEOGRAPHS: Final = re.compile(f"[{_WIDE}]|[^{_WIDE}]+")
_PARTS: Final = re.compile(rf"\w{{1,{_LONGEST}}}\W*|\W+")

# The widest of Computer Modern (TFM), Times and Times bold (AFM, URW), in thousandths of an em, rounded up.
_WIDTHS: Final = {
    letter: width
    for width, letters in {
        300: ",.il|",
        350: " !'-:;[]`fj\xa0",
        400: "()Ist",
        450: "cerz",
        500: "$*/0123456789?\\_ago{}–•",
        550: "Jvxy~",
        600: '"S^bdhknpqu',
        700: "EFLPZ",
        750: "ABCNRTUVXYw",
        800: "+<=>DGHKOQ−≤≥",
        850: "#&m",
        950: "@M",
        1000: "%—…",
        1050: "W",
    }.items()
    for letter in letters
}
_OTHER: Final = 800


@dataclass(frozen=True, slots=True)
class Column:
    """What a column needs, in ems of its type size.

    least: its longest piece that is not broken; comfortable: the same, but for a column of prose the width
    below which it is a narrow strip; natural: its longest line; weight: how much it holds.
    """

    least: float
    comfortable: float
    natural: float
    weight: float


def columns(
    headers: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool], *, spare: float
) -> list[Column]:
    """Return the needs of each column; the cells of those in `right` are never broken, their heads may be.

    `spare` is how much wider than those of `_WIDTHS` the letters of the font may be.
    """
    return [
        _column(head, [row[place] for row in rows], fixed, spare)
        for place, (head, fixed) in enumerate(zip(headers, right, strict=True))
    ]


def shared(columns: Sequence[Column], line: float) -> list[float]:
    """Return the width of each column on a line of `line` ems.

    As wide as its longest line where all fit; otherwise every column gets what it needs at least, and columns
    of words share the rest by how much they hold. Columns that do not fit are narrowed alike.
    """
    if sum(column.natural for column in columns) <= line:
        return [column.natural for column in columns]
    least = sum(column.least for column in columns)
    if least >= line:
        return [column.least * line / least for column in columns]
    low, high = 0.0, max(column.natural / column.weight for column in columns)
    for _ in range(100):
        middle = (low + high) / 2
        if sum(_width(column, middle) for column in columns) > line:
            high = middle
        else:
            low = middle
    return [_width(column, low) for column in columns]


def folded(text: str, width: float, *, spare: float) -> int:
    """Return over how many lines a text goes in a column of `width` ems.

    >>> folded("one two three", 4.0, spare=1.0)
    2
    """
    n_lines = 0
    for line in text.split("\n"):
        n_lines, used = n_lines + 1, 0.0
        for piece in _pieces(line):
            ems = spare * _ems(piece)
            if used and used + ems > width:
                n_lines, used = n_lines + 1, 0.0
            used += ems + spare * _WIDTHS[" "] / 1000
    return n_lines


def pieces(word: str) -> list[str]:
    """Return the parts of a word between which a line may break: the whole word, but for a very long one.

    >>> pieces("Appropriateness")
    ['Appropriateness']
    >>> pieces("https://example.org/supplement/codebook")
    ['https://', 'example.', 'org/', 'supplement/', 'codebook']
    """
    return _PARTS.findall(word) if len(word) > _LONGEST else [word]


def _column(head: str, cells: Sequence[str], fixed: bool, spare: float) -> Column:
    lines = [line for cell in cells for line in cell.split("\n")]
    unbroken = [*_pieces(head), *(lines if fixed else (piece for line in lines for piece in _pieces(line)))]
    least = max([_NARROWEST, *map(_ems, unbroken)])
    natural = max([_NARROWEST, *map(_ems, [head, *lines])])
    total = sum(map(_ems, lines)) + _ems(head)
    return Column(
        least=spare * least,
        comfortable=spare * (max(least, _COMFORTABLE) if natural > _PROSE else least),
        natural=spare * natural,
        weight=max(total, 1.0) ** 0.5 * (0.001 if fixed else 1),  # a head of numbers may well be broken
    )


def _pieces(text: str) -> Iterator[str]:
    for word in _SPACE.split(text):
        for piece in pieces(word):
            yield from _BETWEEN_IDEOGRAPHS.findall(piece)


def _width(column: Column, scale: float) -> float:
    return max(min(scale * column.weight, column.natural), column.least)


def _ems(text: str) -> float:
    return sum(_WIDTHS.get(letter) or _other(letter) for letter in text) / 1000


def _other(letter: str) -> int:
    if unicodedata.east_asian_width(letter) in "WF":
        return 1050
    base = unicodedata.normalize("NFD", letter)[0]
    return 0 if unicodedata.category(letter) in ("Mn", "Cf") else _WIDTHS.get(base, _OTHER)


Style = Literal["plain", "acm", "apa"]
Paper = Literal["a4", "letter"]


@dataclass(frozen=True, slots=True)
class Page:
    """What a paper's files are laid out for: style of captions, columns of text, and size of the paper."""

    style: Style
    columns: Literal[1, 2]
    size: Paper


# APA 7, section 7.10–7.12: the number in bold, the title in italics on a line below, both at the left.
_APA: Final = (
    "\\captionsetup{labelfont=bf,textfont=it,labelsep=newline,justification=raggedright,"
    "singlelinecheck=false}\n"
)
# As acmart sets it in proceedings; where that is the class, its own caption for each of ACM's formats.
_ACM: Final = (
    "\\ifcsname ver@acmart.cls\\endcsname\\else\\captionsetup{labelfont=bf,textfont=bf,labelsep=colon}\\fi\n"
)


def caption_setup(style: Style) -> str:
    """Return the set-up of a LaTeX caption: nothing for plain, which leaves it to the class."""
    return {"plain": "", "acm": _ACM, "apa": _APA}[style]
