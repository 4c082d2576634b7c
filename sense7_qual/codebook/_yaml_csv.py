"""Codebooks in YAML, and in tables of our own, as plain fields; nothing here knows what a code is."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from sense7_qual._limits import open_file
from sense7_qual._messages import did_you_mean, first_three
from sense7_qual.errors import CodebookError

Entries = tuple[dict[str, Any], list[tuple[str, object]]]
"""The fields of a codebook, and each of its codes with its place in the file."""

_LARGEST: Final = 5_000_000  # bytes of a file; the largest in use have a twentieth of it
_MOST_NODES: Final = 200_000  # keys, texts and lists of a YAML file
_MOST_CODES: Final = 10_000
FACET: Final = ("facet", "facet_label", "facet_codes")  # columns of a CSV beside those of a code


def read_file(path: Path) -> Entries:
    """Read a YAML file."""
    content = decoded(path) if path.suffix.lower() in {"", ".yaml", ".yml"} else ""
    if path.suffix.lower() in {".yaml", ".yml"}:
        return _of_mapping(load_yaml(content, path), path)
    is_project = path.suffix.lower() == ".qdpx"
    raise CodebookError(
        f"codebook: expected a .yaml, .csv, .tsv, .xlsx, .docx or .qdc file – found {path.name!r} – "
        f"{'export the codebook, not the project' if is_project else 'save it as one of these'}."
    )


def parse_yaml(content: bytes, path: Path) -> Entries:
    """Parse the bytes of a YAML file; errors as in `read_file`."""
    return _of_mapping(load_yaml(_utf8(content, path), path), path)


def to_csv(content: Mapping[str, Any], columns: Sequence[str]) -> bytes:
    """Return codes and facets as CSV (UTF-8 with a mark that Excel reads), in the columns that any fills."""
    entries = [*content["codes"], *_facet_rows(content.get("facets", {}))]
    used = [name for name in (*columns, *FACET) if any(entry.get(name) for entry in entries)]
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
    return _utf8(packed(path), path)


def packed(path: Path) -> bytes:
    """Return the bytes of a file of at most 5 MB."""
    try:
        with open_file(path) as file:
            content = file.read(_LARGEST + 1)
    except OSError as error:
        raise CodebookError(
            f"codebook: expected a file at {str(path)!r} – found none that can be read ({error.strerror}) – "
            "check the path."
        ) from error
    if len(content) > _LARGEST:
        raise CodebookError(
            f"codebook: expected at most {_LARGEST:,} bytes in {path.name!r} – found more – leave out what "
            "is no part of the codebook."
        )
    return content


def _utf8(content: bytes, path: Path) -> str:
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


def of_rows(rows: Iterable[tuple[str, dict[str, Any]]], path: Path, lists: Collection[str]) -> Entries:
    """Return the entries of a table in the columns of `to_csv`; a row is its place and its filled cells."""
    codes: list[tuple[str, object]] = []
    facets: dict[str, dict[str, Any]] = {}
    for where, entry in rows:
        for name in {*lists, "facet_codes"} & entry.keys():
            entry[name] = lines(entry[name])
        if "facet" in entry:
            _add_value(facets.setdefault(entry["facet"], {"values": {}}), entry, where)
        else:
            codes.append((where, entry))
            refuse_many(len(codes))
    return {"name": path.stem, "title": path.stem, "facets": facets}, codes


def lines(cell: str) -> list[str]:
    """Return the entries of a list in one cell, one a line."""
    return [text.strip() for text in cell.splitlines() if text.strip()]


def _add_value(facet: dict[str, Any], entry: Mapping[str, Any], where: str) -> None:
    """Take a row of a CSV that is a value of a facet into the facet."""
    unknown = sorted(entry.keys() - {"id", "label", "key", *FACET})
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
