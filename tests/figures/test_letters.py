"""Labels of any letters in every figure: no line leaves the drawing, no letter is a box, no writer ends."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from sense7_qual.figures import _lettering
from sense7_qual.figures._lettering import widths, with_names, wrapped
from tests.helpers.engines import program
from tests.helpers.labelled_figures import LABELS, labelled
from tests.helpers.nightly import nightly_but
from tests.helpers.pictures import texts

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore:figure. no font on this machine")]

FIGURES = list(labelled("a", 1))
_WORD = re.compile(r'<word xMin="(.*?)" yMin=".*?" xMax="(.*?)" yMax=".*?">')
#: A font of emoji in colour, which holds pictures and no outlines: fonts-noto-color-emoji.
_EMOJI = Path("/usr/share/fonts/truetype/noto/NotoColorEmoji.ttf")


@pytest.mark.long
@pytest.mark.parametrize("name", nightly_but(FIGURES, here=["power_curve", "unit_plot"]))
def test_no_letter_is_cut_off(name: str, tmp_path: Path) -> None:
    """Poppler says where each word of the PDF stands: within the page, whatever the labels are."""
    reader = program("pdftotext")
    for label in LABELS.values():
        for columns in (1, 2):
            figure = labelled(label, columns)[name]()  # type: ignore[arg-type]
            figure.write(tmp_path / "a.pdf", overwrite=True)
            command = [reader, "-bbox", str(tmp_path / "a.pdf"), "-"]
            page = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            width = float(re.search(r'<page width="(.*?)"', page)[1])  # type: ignore[index]
            places = [(float(left), float(right)) for left, right in _WORD.findall(page)]
            assert len(places) >= 3  # a label of emoji may be a picture
            assert min(left for left, _ in places) > -0.1
            assert max(right for _, right in places) < width + 0.1


@pytest.mark.long
@pytest.mark.parametrize("name", nightly_but(FIGURES, here=["power_curve", "unit_plot"]))
def test_a_letter_that_no_font_has_is_named_and_not_a_box(name: str) -> None:
    """What is drawn is the same for letters that no font has, and for those that do not exist."""
    for label in LABELS.values():
        drawn = texts(labelled(label, 1)[name]())
        assert [text for text in drawn if _lettering._boxes(text)] == []


def test_a_warning_says_which_letters_are_named() -> None:
    with pytest.warns(UserWarning, match=r"no font on this machine has 'U\+0378', 'U\+10FFFD' – names in"):
        assert with_names(["well \u0378", "\U0010fffd"]) == ["well [U+0378]", "[U+10FFFD]"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert with_names(["Ärger", "e\u0301", "Ωmega ✓"]) == ["Ärger", "e\u0301", "Ωmega ✓"]


@pytest.mark.parametrize("label", LABELS.values())
@pytest.mark.parametrize("room", [40, 120])
def test_lines_are_no_wider_than_their_room(label: str, room: int) -> None:
    (lines,) = wrapped([label], room)
    assert max(widths(lines)) <= room
    assert "".join("".join(lines).split()) == "".join("".join(with_names([label])).split())
    (short,) = wrapped([label], room, most=1)
    assert len(short) == 1
    assert widths(short)[0] <= room


@pytest.mark.skipif(not _EMOJI.exists(), reason="fonts-noto-color-emoji is not installed")
def test_a_font_of_pictures_does_not_end_the_pdf(tmp_path: Path) -> None:
    """In a process of its own: a font that is registered stays."""
    code = f"""
import vl_convert
vl_convert.register_font_directory({str(_EMOJI.parent)!r})
from tests.helpers.labelled_figures import labelled
for name, draw in labelled("Warm 👍 reply", 1).items():
    figure = draw()
    pdf = figure.pdf()
    if name in ("granularity_plot", "power_curve"):  # without a label of a code
        continue
    assert name != "link_plot" or figure.pdf() == pdf
    assert b"/Subtype /Image" in pdf, name
    assert "👍" in figure.svg(), name
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
