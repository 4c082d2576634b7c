"""The shipped bundles are what their sources make, and neither fetch anything nor build HTML from text.

The sources lie in `frontend/src`: one folder for each widget, and what they share in `shared`.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.helpers.frontend import FRONTEND, SOURCES, WIDGETS, node_modules, run
from tests.helpers.places import ROOT

__all__ = ["node_modules"]  # a fixture

STATIC = ROOT / "sense7_qual" / "widgets" / "static"
NAMESPACES = {
    "http://www.w3.org/2000/svg",
    "http://www.w3.org/1998/Math/MathML",
    "http://www.w3.org/1999/xhtml",
}


SHIPPED = {path: path.read_text(encoding="utf-8") for path in sorted(STATIC.iterdir())}


def sources(suffixes: tuple[str, ...] = (".ts", ".tsx", ".css"), *, tests: bool = False) -> list[Path]:
    """Return the sources that are bundled, and with `tests` their tests too."""
    files = [path for path in SOURCES.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} <= {".ts", ".tsx", ".css"}
    return sorted(path for path in files if path.suffix in suffixes and (tests or ".test." not in path.name))


def hash_of_sources() -> str:
    """Return the hash that `build.mjs` writes into the first line of a bundle."""
    names = [path.relative_to(FRONTEND).as_posix() for path in sources()]
    names = sorted([*names, "build.mjs", "package-lock.json"])
    digest = hashlib.sha256()
    for name in names:
        digest.update(f"{name}\n".encode() + (FRONTEND / name).read_bytes())
    return digest.hexdigest()


def style_rules(sheet: str) -> list[tuple[str, str]]:
    """Return selector and declarations of every rule, those within at-rules too."""
    rules = []
    plain = re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL)
    for begin, declarations in re.findall(r"([^{}]*)\{(?=([^{}]*))", plain):
        beginning = begin.strip()
        if beginning.startswith("@"):
            assert re.match(r"@(media|container)\b", beginning), f"{beginning}: its name would be the page's"
        else:
            rules.append((" ".join(beginning.split()), " ".join(declarations.split())))
    return rules


def classes_defined(sheet: str) -> set[str]:
    """Return the classes that a sheet styles wherever they stand, at any width."""
    plain = re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL)
    at_rule = re.compile(r"@[^{}]*\{(?:[^{}@]*\{[^{}]*\})*[^{}@]*\}")
    while at_rule.search(plain):  # the innermost first
        plain = at_rule.sub("", plain)
    selectors = re.split(r",\s*(?![^()]*\))", ",".join(re.findall(r"([^{}]*)\{", plain)))
    alone = [re.fullmatch(r"(?:\.s7 )?\.(s7-[\w-]+)(?:::?[\w-]+)*", one.strip()) for one in selectors]
    return {found[1] for found in alone if found}


def test_the_bundles_were_built_from_their_sources() -> None:
    sources_hash = hash_of_sources()
    made = {path.name: f"sense7_qual {path.stem} widget; sources {sources_hash}" for path in SHIPPED}
    firsts = {path.name: SHIPPED[path].partition("\n")[0].strip("/* ") for path in SHIPPED}
    assert firsts == made, "run `make frontend`"
    assert sorted(made) == sorted(f"{widget}.{suffix}" for widget in WIDGETS for suffix in ("js", "css"))


def strange_selectors(widget: str, sheet: str) -> list[str]:
    """Return the selectors of a sheet that match outside of its widget too."""
    plain, strange, depth = re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL), [], 0
    for words, brace in re.findall(r"([^{};]*)([{};])", plain):
        if brace == "{" and not words.strip().startswith("@"):
            selectors = [one.strip() for one in re.split(r",\s*(?![^()]*\))", words)]
            # All rules are nested in one, whose selector is the widget's root; "&" is that root itself.
            own = rf":where\(\.s7-{widget}-widget\)" if depth == 0 else r"(&\.s7(?![\w-]))?[^&]*"
            strange += [one for one in selectors if not re.fullmatch(own, one)]
        depth += {"{": 1, "}": -1, ";": 0}[brace]
    return strange


def test_a_style_sheet_changes_no_other_widget() -> None:
    # Several widgets stand in one page, and class names are used by more than one of them.
    for widget in WIDGETS:
        sheet = SHIPPED[STATIC / f"{widget}.css"]
        assert len(style_rules(sheet)) > 150
        assert strange_selectors(widget, sheet) == [], widget
        # The frame makes the class of its root, `s7-…-widget`, of the name that the page gives it.
        page = (SOURCES / widget / "page.tsx").read_text("utf-8")
        assert re.search(rf'<Frame\b[^>]*\bname="{widget}"', page)
    bad = ":where(.s7-coding-widget){.a{top:0}&.s7 .d{}@media print{body &{}}}.b,.c{}"
    assert strange_selectors("coding", bad) == ["body &", ".b", ".c"]


def test_a_style_sheet_has_the_rules_of_every_class_that_its_script_names() -> None:
    # Rules of classes that only other widgets have are left out.
    for widget in WIDGETS:
        shipped = SHIPPED[STATIC / f"{widget}.css"]
        folders = [SOURCES / widget, SOURCES / "shared"]
        written = [path.read_text(encoding="utf-8") for folder in folders for path in folder.glob("*.css")]
        styled = set().union(*map(classes_defined, written))
        named = styled & set(re.findall(r"[\w-]+", SHIPPED[STATIC / f"{widget}.js"]))
        assert len(named) > 40
        assert sorted(named - set(re.findall(r"\.(s7-[\w-]+)", shipped))) == [], widget


def test_a_class_is_defined_in_one_sheet() -> None:
    # "s7-below" was a fade in one sheet and a count in another, and each element got both. What two widgets
    # define alike belongs to the shared sheets.
    defined = {path: classes_defined(path.read_text(encoding="utf-8")) for path in sources((".css",))}
    n_sheets = Counter(name for classes in defined.values() for name in classes)
    assert len(n_sheets) > 300
    assert [name for name, n in n_sheets.items() if n > 1] == []


def test_a_class_in_two_sheets_is_noticed() -> None:
    sheet = ".s7-a { color: red }\n.s7 .s7-b:hover,\n.s7-c .s7-d { top: 0 }\n"
    sheet += "@media print {\n.s7-e {}\n@media (x) {\n.s7-g {}\n}\n}\n.s7-f > p {}"
    assert classes_defined(sheet) == {"s7-a", "s7-b"}


def unnamed(sheet: str, scripts: str) -> list[str]:
    """Return the classes that a sheet styles and no script names, whole or in two parts."""
    beginnings = set(re.findall(r"s7-(?:[\w-]+-)?(?=\$\{)", scripts))
    words = set(re.findall(r"[\w-]+", scripts))
    styled = set(re.findall(r"\.(s7-[\w-]+)", re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL)))
    made = {f"{one}{word}" for one in beginnings for word in words} | words
    return sorted(styled - made)


def test_every_class_that_is_styled_is_used() -> None:
    scripts = {path: path.read_text(encoding="utf-8") for path in sources((".ts", ".tsx"))}
    for sheet in sources((".css",)):
        widget = sheet.parent.name
        used = [text for path, text in scripts.items() if widget in ("shared", path.parent.name)]
        used += [text for path, text in scripts.items() if path.parent.name == "shared"]
        assert unnamed(sheet.read_text(encoding="utf-8"), "\n".join(used)) == [], sheet.name
    assert unnamed(".s7-a {} .s7-b-c {} .s7-d-e {}", "`s7-a s7-b-${x}`; x = 'c'; y = 'e'") == ["s7-d-e"]


def test_shared_parts_import_no_widget_and_no_widget_another() -> None:
    wrong = []
    for path in sources((".ts", ".tsx"), tests=True):
        folder, *_ = path.relative_to(SOURCES).parts
        for target in re.findall(r"""["'](\.{1,2}/[^"']*)["']""", path.read_text(encoding="utf-8")):
            package, *_ = (path.parent / target).resolve().relative_to(SOURCES).parts
            if package not in (folder, "shared"):
                wrong.append(f"{folder}/{path.name}: {target}")
    assert wrong == []


def test_what_is_known_imports_nothing_of_what_is_on_screen() -> None:
    # State (`.ts`) is drawn by views (`.tsx`) and can be read, and tested, without any of them.
    wrong = []
    for path in sources((".ts",)):
        for target in re.findall(r"""["'](\.{1,2}/[^"']*)["']""", path.read_text(encoding="utf-8")):
            if (path.parent / f"{target}.tsx").resolve().is_file():
                wrong.append(f"{path.parent.name}/{path.name}: {target}")
    assert wrong == []


def test_each_source_says_in_its_first_line_what_it_is() -> None:
    paths = [*sources(tests=True), FRONTEND / "build.mjs"]
    firsts = {path.name: path.read_text(encoding="utf-8").split("\n")[0] for path in paths}
    assert [name for name, first in firsts.items() if not re.match(r"// \w|/\* \w", first)] == []


def loaded(content: str, *, sheet: bool) -> list[str]:
    """Return what a script or a style sheet would load."""
    # Names of XML namespaces look like addresses and are never fetched.
    found = set(re.findall(r"""https?://[^\s"'`)]*""", content)) - NAMESPACES
    # "//host/path" in a string or url() takes the page's own scheme.
    found |= {
        each[0] for each in re.finditer(r"""["'`(]//[a-z0-9-]+(\.[a-z0-9-]+)+""", content, re.IGNORECASE)
    }
    return sorted(found) + re.findall(r"@import|url\(", content if sheet else "")


def test_nothing_is_loaded_from_anywhere() -> None:
    assert {
        path.name: found
        for path, content in SHIPPED.items()
        if (found := loaded(content, sheet=path.suffix == ".css"))
    } == {}
    bad = """@import "x"; a { b: url(c) } 'https://e.org/f' "//g.org/h" """
    assert loaded(bad, sheet=True) == ['"//g.org', "https://e.org/f", "@import", "url("]


REACHING = (
    r"\bfetch\s*\(",
    r"\bXMLHttpRequest\b",
    r"\bWebSocket\b",
    r"\bEventSource\b",
    r"\bsendBeacon\b",
    r"\bimportScripts\b",
    r"\bimport\s*\(",
    r"(^|[;}\s])import\s*[\"'{*\w]",
    r"\bnew Worker\b",
    r"\beval\s*\(",
    r"\bFunction\s*\(",
    r"\bset(Timeout|Interval)\s*\(\s*[\"'`]",  # code in a string
    r"\blocalStorage\b|\bsessionStorage\b|\bindexedDB\b|document\.cookie",
)


def test_no_bundle_talks_to_a_network_or_keeps_anything_in_the_browser() -> None:
    scripts = {path.stem: content for path, content in SHIPPED.items() if path.suffix == ".js"}
    assert [
        (widget, found[0])
        for widget, code in scripts.items()
        for pattern in REACHING
        if (found := re.search(pattern, code))
    ] == []
    bad = "fetch(a); new Worker(b); eval(c); setTimeout('d'); localStorage.e"
    assert sum(bool(re.search(pattern, bad)) for pattern in REACHING) == 5


BUILDING = (
    "innerHTML",
    "outerHTML",
    "dangerouslySetInnerHTML",
    "insertAdjacentHTML",
    "document.write",
    "DOMParser",
    "createContextualFragment",
    "srcdoc",
    "setHTMLUnsafe",
)


def test_no_source_builds_html_from_text() -> None:
    scripts = {path.name: path.read_text(encoding="utf-8") for path in sources((".ts", ".tsx"))}
    assert len(scripts) >= 8
    assert [(name, word) for name, code in scripts.items() for word in BUILDING if word in code] == []


@pytest.mark.frontend
@pytest.mark.usefixtures("node_modules")
def test_building_again_gives_the_same_bytes(tmp_path) -> None:
    run("node", "build.mjs", str(tmp_path))
    built = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    shipped = {path.name: path.read_bytes() for path in STATIC.iterdir()}
    assert sorted(built) == sorted(shipped)
    assert [name for name in built if built[name] != shipped[name]] == [], "run `make frontend`"


@pytest.mark.frontend
@pytest.mark.usefixtures("node_modules")
def test_frontend_units() -> None:
    run("npx", "--no-install", "vitest", "run")


@pytest.mark.frontend
@pytest.mark.usefixtures("node_modules")
def test_frontend_types_format_and_lint() -> None:
    run("npm", "run", "--silent", "check")


def test_the_help_of_the_coding_widget_names_every_command() -> None:
    from sense7_qual.widgets._coding import COMMANDS

    shown = (SOURCES / "coding" / "keyhelp.tsx").read_text("utf-8")
    assert [name for name in COMMANDS if not re.search(rf"^ +{name}: \"", shown, re.MULTILINE)] == []
