"""Codebooks in YAML and CSV files: from text to plain fields, and back; nothing here knows what a code is."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from sense7_qual._limits import open_file
from sense7_qual._messages import did_you_mean, first_three
from sense7_qual.errors import CodebookError

__all__ = [
    "Entries", "decoded", "load_yaml", "parse_csv", "parse_yaml", "read_file", "refuse_many",
    "refuse_twice", "right_names", "shipped", "to_csv", "to_yaml",
]  # fmt: skip

Entries = tuple[dict[str, Any], list[tuple[str, object]]]
"""The fields of a codebook, and each of its codes with its place in the file."""

_LARGEST: Final = 5_000_000  # bytes of a file; the largest in use have a twentieth of it
_MOST_NODES: Final = 200_000  # keys, texts and lists of a YAML file
_MOST_CODES: Final = 10_000
_SEPARATORS: Final = {"semicolons": ";", "tabs": "\t"}  # what spreadsheets of some languages write
_FACET: Final = ("facet", "facet_label", "facet_codes")  # columns of a CSV beside those of a code


def read_file(path: Path, *, lists: Collection[str]) -> Entries:
    """Read a YAML or CSV file; in a CSV the cells of the columns `lists` have one entry per line."""
    suffix = path.suffix.lower()
    content = decoded(path) if suffix in {"", ".yaml", ".yml", ".csv"} else ""
    if suffix in {".yaml", ".yml"}:
        return _of_mapping(load_yaml(content, path), path)
    if suffix == ".csv":
        return _of_csv(content, path, lists)
    raise CodebookError(
        f"codebook: expected a .yaml, .csv or .qdc file – found {path.name!r} – save it as one of these"
        f"{': export the codebook, not the project' if suffix == '.qdpx' else ''}."
    )


def parse_yaml(content: bytes, path: Path) -> Entries:
    """Parse the bytes of a YAML file; errors as in `read_file`."""
    return _of_mapping(load_yaml(_utf8(content, path), path), path)


def parse_csv(content: bytes, path: Path, *, lists: Collection[str]) -> Entries:
    """Parse the bytes of a CSV file; errors as in `read_file`."""
    return _of_csv(_utf8(content, path), path, lists)


def to_csv(content: Mapping[str, Any], columns: Sequence[str]) -> bytes:
    """Return codes and facets as CSV (UTF-8 with a mark that Excel reads), in the columns that any fills."""
    entries = [*content["codes"], *_facet_rows(content.get("facets", {}))]
    used = [name for name in (*columns, *_FACET) if any(entry.get(name) for entry in entries)]
    rows = [[_cell(entry.get(name, "")) for name in used] for entry in entries]
    return "".join(_csv_line(row) for row in [used, *rows]).encode("utf-8-sig")


def _csv_line(cells: Sequence[str]) -> str:
    """Return a row of a CSV; a writer quotes only the line ends that are its own, so that these are both."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\r\n").writerow(cells)
    return line.getvalue().removesuffix("\r\n") + "\n"


def _facet_rows(facets: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a row for each value of each facet; the facet's own label and codes stand in its first row."""
    for name, facet in facets.items():
        own = {"facet_label": facet.get("label", ""), "facet_codes": facet.get("codes", [])}
        values = facet["values"]
        for value in values:
            key_or_label = values[value] if isinstance(values, dict) else ""
            yield {"id": value, "facet": name, **own} | (
                {"key": key_or_label} if isinstance(key_or_label, str) else key_or_label
            )
            own = {}


def _cell(value: str | list[str]) -> str:
    return value if isinstance(value, str) else "\n".join(value)


def to_yaml(content: Mapping[str, Any]) -> bytes:
    """Return fields as YAML (UTF-8); equal fields give equal bytes."""
    text = yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100, indent=2)
    return text.encode()


def shipped(source: str | Path) -> Path:
    """Return the file of the codebook that the package ships under this name, or the path that it is."""
    return _shipped(source) if _is_name(source) else Path(source)


def _is_name(source: str | Path) -> bool:
    return isinstance(source, str) and not Path(source).suffix and "/" not in source and "\\" not in source


def _shipped(name: str | Path) -> Path:
    package = Path(__file__).parents[1]
    # A wheel carries the codebooks inside the package; a checkout has them beside it.
    folder = next((f for f in (package / "codebooks", package.parent / "codebooks") if f.is_dir()), package)
    names = sorted(path.stem for path in folder.glob("*.yaml"))
    if name not in names:
        raise CodebookError(
            f"codebook: expected the name of a shipped codebook or a path – found {str(name)!r} – "
            f"{did_you_mean(str(name), names)}"
        )
    return folder / f"{name}.yaml"


def decoded(path: Path) -> str:
    """Return the text of a file of at most 5 MB in UTF-8."""
    try:
        with open_file(path) as file:
            return _utf8(file.read(_LARGEST + 1), path)
    except OSError as error:
        raise CodebookError(
            f"codebook: expected a file at {str(path)!r} – found none that can be read ({error.strerror}) – "
            "check the path."
        ) from error


def _utf8(content: bytes, path: Path) -> str:
    if len(content) > _LARGEST:
        raise CodebookError(
            f"codebook: expected at most {_LARGEST:,} bytes in {path.name!r} – found more – leave out what "
            "is no part of the codebook."
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CodebookError(
            f"codebook: expected UTF-8 in {path.name!r} – found byte 0x{error.object[error.start]:02x} at "
            f"offset {error.start} – save the file as UTF-8."
        ) from None


class _Dumper(yaml.SafeDumper):
    """Writes block lists indented under their key, as people do."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text_node(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """Escape the line breaks other than LF: unescaped, YAML would read them as LF."""
    style = '"' if any(letter in text for letter in "\x85\u2028\u2029") else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text_node)


class _Loader(yaml.BaseLoader):
    """Reads every scalar as text; refuses a key that stands twice in one mapping, and what would unfold."""

    _n_nodes = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        self._n_nodes += 1
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            problem = "a name for a part, & or *: write the part out, or put the text in quotes"
            raise yaml.composer.ComposerError(None, None, problem, event.start_mark)
        if self._n_nodes > _MOST_NODES:
            problem = f"more than {_MOST_NODES:,} texts and lists"
            raise yaml.composer.ComposerError(None, None, problem, event.start_mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        refuse_twice("field", keys, "keep one of them")
        return super().construct_mapping(node, deep)


def load_yaml(content: str, path: Path) -> object:
    """Parse YAML into texts, lists and mappings, every scalar as text; errors as in `read_file`."""
    try:
        return yaml.load(content, Loader=_Loader)  # noqa: S506 – a BaseLoader builds text, lists and dicts only
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}" if mark else "somewhere"
        raise CodebookError(
            f"codebook: expected YAML in {path.name!r} – found a mistake in {where} "
            f"({getattr(error, 'problem', None) or type(error).__name__}) – correct it."
        ) from None  # the cause would show the line, which may be an example in a participant's words


def _of_mapping(content: object, path: Path) -> Entries:
    if not isinstance(content, dict) or not isinstance(content.get("codes"), list):
        raise CodebookError(
            f"codebook: expected a mapping with a list 'codes' in {path.name!r} – found "
            f"{type(content).__name__} – compare with the shipped codebooks/sense7.yaml."
        )
    codes = [(f"code {number}", entry) for number, entry in enumerate(content["codes"], start=1)]
    return {name: value for name, value in content.items() if name != "codes"}, codes


def _of_csv(content: str, path: Path, lists: Collection[str]) -> Entries:
    codes: list[tuple[str, object]] = []
    facets: dict[str, dict[str, Any]] = {}
    for line, entry in _csv_rows(content, path):
        for name in {*lists, "facet_codes"} & entry.keys():
            entry[name] = [text.strip() for text in entry[name].splitlines() if text.strip()]
        if "facet" in entry:
            _add_value(facets.setdefault(entry["facet"], {"values": {}}), entry, f"line {line}")
        else:
            codes.append((f"line {line}", entry))
    return {"name": path.stem, "title": path.stem, "facets": facets}, codes


def _add_value(facet: dict[str, Any], entry: Mapping[str, Any], where: str) -> None:
    """Take a row of a CSV that is a value of a facet into the facet."""
    unknown = sorted(entry.keys() - {"id", "label", "key", *_FACET})
    if unknown or "id" not in entry or entry["id"] in facet["values"]:
        wrong = first_three(unknown) or ("a value that stands there before" if "id" in entry else "no id")
        raise CodebookError(
            f"codebook: expected a value of facet {entry['facet'][:64]!r} in {where}, with its own id and "
            f"perhaps label and key – found {wrong} – correct it, or leave 'facet' empty for a code."
        )
    facet["values"][entry["id"]] = {name: entry[name] for name in ("label", "key") if name in entry}
    for name in ("label", "codes"):
        given = entry.get(f"facet_{name}")
        if given and facet.setdefault(name, given) != given:
            raise CodebookError(
                f"codebook: expected one facet_{name} of facet {entry['facet'][:64]!r} – found another in "
                f"{where} – write it only in the facet's first row."
            )


def _csv_rows(content: str, path: Path) -> list[tuple[int, dict[str, Any]]]:
    """Return the last line and the filled cells of every row that has any."""
    rows = csv.reader(io.StringIO(content, newline=""), strict=True)
    filled = []
    try:
        header = [name.strip() for name in next(rows, [])]
        _refuse_other_separators(header, path)
        refuse_twice("column", [name for name in header if name], "keep one of them")
        for row in (row for row in rows if any(cell.strip() for cell in row)):
            if len(row) != len(header):
                raise CodebookError(
                    f"codebook: expected {len(header)} cells in every row of {path.name!r} – found "
                    f"{len(row)} in the row that ends in line {rows.line_num} – quote texts with commas."
                )
            cells = zip(header, (cell.strip() for cell in row), strict=True)
            filled.append((rows.line_num, {name: cell for name, cell in cells if cell}))
            refuse_many(len(filled))
    except csv.Error as error:
        raise CodebookError(
            f"codebook: expected CSV in {path.name!r} – found a mistake in line {rows.line_num} ({error}) – "
            "export it again as CSV."
        ) from error
    return filled


def _refuse_other_separators(header: Sequence[str], path: Path) -> None:
    for name, mark in _SEPARATORS.items():
        if len(header) == 1 and mark in header[0]:
            raise CodebookError(
                f"codebook: expected columns with commas between them in {path.name!r} – found {name} – "
                "export it again with commas, or write it as .yaml."
            )


def refuse_many(n_codes: int) -> None:
    """Raise `CodebookError` if there are more codes than a codebook may have."""
    if n_codes > _MOST_CODES:
        raise CodebookError(
            f"codebook: expected at most {_MOST_CODES:,} codes – found {n_codes:,} or more – leave some out."
        )


def refuse_twice(what: str, values: Sequence[Any], to_do: str = "") -> None:
    """Raise `CodebookError` if a value occurs more than once among `values`."""
    twice = sorted(value for value, times in Counter(map(str, values)).items() if times > 1)
    if twice:
        raise CodebookError(
            f"codebook: expected every {what} once – found more than once: {first_three(twice)} – "
            f"{to_do or f'give each code a {what} of its own'}."
        )


_OTHER_NAMES: Final = {
    "id": ("code", "code id", "identifier"),
    "label": ("name", "title", "code name", "code label"),
    "definition": ("description", "desc", "meaning", "full definition", "brief definition", "comment"),
    "description": ("definition",),
    "use_when": ("rule", "rules", "include", "inclusion", "inclusion criteria", "when", "when to use"),
    "avoid_when": ("exclude", "exclusion", "exclusion criteria", "not when", "when not to use"),
    "examples": ("example", "positive examples", "quotes", "typical exemplars"),
    "counter_examples": ("counterexamples", "negative examples", "non examples", "near misses"),
    "parent": ("group", "category", "parent code", "parent id"),
    "colour": ("color", "code color", "rgb", "hex"),
    "key": ("shortcut", "hotkey", "keyboard shortcut"),
    "codable": ("codeable", "is codable", "iscodable"),
    "name": ("id",),
    "title": ("label",),
    "licence": ("license",),
}
"""Each field with other names for it, as `_plain` writes them; no name stands for two fields of one table."""

_HINTS: Final = 3


def right_names(names: Collection[str], known: Collection[str]) -> str:
    """Return a hint that names the field meant by each of the first `names` that are not `known`.

    >>> right_names(["id", "description", "color"], ["id", "definition", "colour"])
    "write 'definition' for 'description' and 'colour' for 'color'"
    """
    unknown = [name for name in names if name not in known]
    free = [field for field in known if field not in names]
    meant = {name: field for name in unknown if (field := _meant(name, free))}
    if not meant:
        return did_you_mean(unknown[0], known)
    *first, last = [f"{field!r} for {name!r}" for name, field in list(meant.items())[:_HINTS]]
    return f"write {', '.join(first)}{' and ' if first else ''}{last}"


def _meant(name: str, known: Collection[str]) -> str | None:
    plain = _plain(name)
    by_form = next((field for field in known if _plain(field) == plain), None)
    others = (field for field, names in _OTHER_NAMES.items() if field in known and plain in names)
    return by_form or next(others, None)


def _plain(name: str) -> str:
    return " ".join(re.split(r"[\W_]+", name.casefold())).strip()
