"""Codebooks that people keep as tables (.xlsx, .docx, .csv): their columns and the tree of the codes.

A table in the columns of `Code` is read as it is. In any other the columns are mapped to these by name,
ids are made of labels and headings become parents; one warning says what was taken as what and left out.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from sense7_qual._formats import Grid, decoded, grid_of_text, kind_by_names, read_grids
from sense7_qual._limits import Limits
from sense7_qual._messages import did_you_mean, first_three, outside, shown
from sense7_qual.codebook._field_names import COLOUR, ID, free_id, meant, plain
from sense7_qual.codebook._yaml_csv import FACET, Entries, lines, of_rows, refuse_many, refuse_twice
from sense7_qual.errors import CodebookError, ImportRefused

Names = Mapping[str, str | None]
"""By column the field that it is, or None for none."""

_ORIGINS: Final = {
    "a priori": "deductive",
    "apriori": "deductive",
    "deductive": "deductive",
    "emergent": "inductive",
    "inductive": "inductive",
}
_FORMS: Final = {
    "id": ID,
    "colour": COLOUR,
    "key": re.compile(r"\S"),
    "codable": re.compile("(?i)true|false"),
}
"""A column of such a field counts only where every value has the form."""
_NUMBER: Final = re.compile(r"[\d.,%\s]+")
_SIGNS: Final = re.compile(r">|\\|::")
_BULLET: Final = re.compile(r"[○●•▪◦]\s+")  # as ATLAS.ti marks codes and groups
_LONGEST_NAME: Final = 120
_WITHIN: Final = 25  # rows in which a header is looked for
_VARIABLES: Final = re.compile(r"(\w+ )?variable( \w+)?")
_PATHS: Final = {frozenset({"code", "memo"}): ">"}  # MAXQDA's table of codes to import
# What the readers of data advise, and a codebook has not: to raise a limit, to name a delimiter.
_OF_DATA: Final = re.compile('(; or, if you trust the file|, pass delimiter="…", or pass header=).*')


def read_table(
    packed: bytes,
    path: Path,
    *,
    fields: Collection[str],
    lists: Collection[str],
    columns: Names,
    sheet: str | None,
    encoding: str | None,
    split: str | None,
) -> Entries:
    """Read the codes of a table, given as bytes; `fields` are those of a code, `lists` those with several."""
    try:
        grids: Sequence[Grid | ImportRefused]
        if path.suffix.lower() in {".csv", ".tsv"}:
            grids = [grid_of_text(decoded(packed, encoding, path.name), path.name, Limits())]
        else:
            grids = read_grids(packed, path.name, sheet, Limits())
        table = _table_of_codes(grids, path, fields, columns)
    except ImportRefused as error:
        raise CodebookError(f"codebook: {_OF_DATA.sub('.', str(error))}") from None
    if not columns and table.is_own({*fields, *FACET}):
        return of_rows(table.own_rows(), path, lists)
    held = _held(table, fields, columns)
    separator = split or _PATHS.get(frozenset(map(plain, table.names)))
    tree = _Tree(table, held, separator)
    warnings.warn(f"codebook {path.name!r}: {' '.join(_said(table, held, tree))}", stacklevel=outside())
    return {"name": path.stem, "title": path.stem}, tree.entries(lists)


# The table, and its header


@dataclass(frozen=True, slots=True, repr=False)
class _Table:
    """A header and the rows below it."""

    grid: Grid
    header: int
    names: Sequence[str]

    @property
    def rows(self) -> Iterator[tuple[int, dict[int, str]]]:
        """The filled cells of each row by column."""
        for number, row in self.grid.rows.items():
            cells = {at: cell.strip() for at, cell in enumerate(row) if cell and cell.strip()}
            if number > self.header and cells:
                yield number, cells

    def is_section(self, number: int, cells: Mapping[int, str]) -> bool:
        """Return True for a row that is one cell, merged across all columns with names."""
        first, named = next(iter(cells)), [at for at, name in enumerate(self.names) if name]
        covered = first + self.grid.across.get((number, first), 1)
        return first <= named[0] < named[-1] < covered

    def values(self, at: int) -> list[str]:
        """Return the filled cells of a column."""
        return [
            cells[at] for number, cells in self.rows if at in cells and not self.is_section(number, cells)
        ]

    def is_merged_down(self, at: int) -> bool:
        """Return True where the column holds names, some of which are shown for several rows."""
        merged = any(self.grid.across.get((number, at)) == 1 for number, _ in self.rows)
        return merged and all(len(value) <= _LONGEST_NAME for value in self.values(at))

    def called(self, at: int) -> str:
        """Return the name of a column, equal ones numbered."""
        name, times = self.names[at], self.names[: at + 1].count(self.names[at])
        if not name:
            return f"column {at + 1}"
        is_merged = any(self.grid.across.get((self.header, before), 1) > at - before for before in range(at))
        return name if times == 1 or is_merged else f"{name} ({times})"

    def is_own(self, fields: Collection[str]) -> bool:
        """Return True where the columns are those of `Codebook.write`."""
        filled = {name for at, name in enumerate(self.names) if name or self.values(at)}
        return {"id", "label"} <= filled <= set(fields)

    def own_rows(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield each row as its place and its filled cells by name."""
        refuse_twice("column", [name for name in self.names if name], "keep one of them")
        for number, cells in self.rows:
            yield f"{self.grid.counted} {number}", {self.names[at]: cell for at, cell in cells.items()}


def _table_of_codes(
    grids: Sequence[Grid | ImportRefused], path: Path, fields: Collection[str], columns: Names
) -> _Table:
    """Return the one table with a header of codes."""
    tables = [
        table
        for grid in grids
        if isinstance(grid, Grid) and (table := _with_header(grid, fields, columns)) is not None
    ]
    if len(tables) > 1:
        raise CodebookError(
            f"codebook: expected one table of codes in {path.name!r} – found "
            f"{first_three(table.grid.title for table in tables)} – pass sheet=… to read one of them."
        )
    for error in () if tables else grids:
        if isinstance(error, ImportRefused):
            raise error
    if not tables:
        raise _no_codes([grid for grid in grids if isinstance(grid, Grid)], path, columns)
    if not columns:
        _refuse_others(tables[0], path)
    return tables[0]


def _refuse_others(table: _Table, path: Path) -> None:
    """Refuse the columns of a program's texts or codings, and name the door for these."""
    kind = kind_by_names(table.names)
    door = {"texts": "corpus.read", "codings": "codings.read"}.get(kind.get("holds", "codes"))
    if door:
        raise CodebookError(
            f"codebook: expected a table of codes in {path.name!r} – found {kind.get('what', 'a table')} of "
            f"{kind['program']} – read it with {door}."
        )


def _with_header(grid: Grid, fields: Collection[str], columns: Names) -> _Table | None:
    """Return the table below the first row that has the columns named, or a name of codes among others."""
    tables = [_Table(grid, number, _names(grid, number)) for number in list(grid.rows)[:_WITHIN]]
    if columns:
        wanted = columns.keys()
        return next((t for t in tables if wanted <= set(map(t.called, range(len(t.names))))), None)
    tables = [table for table in tables if not _are_variables(table.names)]
    for table in tables:
        found = {meant(name, fields) for name in table.names if name} - {None}
        if len(found) > 1 and found & {"label", "parent"}:
            return table
    return next((t for t in tables[:1] if any(meant(name, ["label"]) for name in t.names if name)), None)


def _are_variables(names: Sequence[str]) -> bool:
    """Return True for the header of a list of variables, which it names first."""
    return bool(_VARIABLES.fullmatch(plain(next(filter(None, names), ""))))


def _names(grid: Grid, number: int) -> list[str]:
    """Return the names in a row; one that is merged across columns names them all."""
    names = [" ".join((cell or "").split()) for cell in grid.rows[number]]
    for at in range(len(names)):
        for beside in range(at + 1, min(at + grid.across.get((number, at), 1), len(names))):
            names[beside] = names[at]
    return names


def _no_codes(grids: Sequence[Grid], path: Path, columns: Names) -> CodebookError:
    rows = [_names(grid, number) for grid in grids for number in list(grid.rows)[:_WITHIN]]
    of_variables = [names for names in rows if _are_variables(names)]
    names = list(map(shown, filter(None, (of_variables or rows or [[]])[0])))
    if columns:
        missing = next((name for name in columns if name not in names), "")
        return CodebookError(
            f"codebook: expected the columns {first_three(columns)} in one row of {path.name!r} – found "
            f"{first_three(names) or 'nothing'} – {did_you_mean(missing, names)}"
        )
    if not names:
        return CodebookError(
            f"codebook: expected a table with a row per code in {path.name!r} – found none – write the codes "
            "into one."
        )
    return CodebookError(
        f"codebook: expected a column of codes in {path.name!r} – found {first_three(names)}"
        f"{', as a list of variables has' if of_variables else ''} – if it is a codebook, pass "
        f"columns={{{names[0]!r}: 'label'}}."
    )


# What each column holds


@dataclass(slots=True)
class _Held:
    """The column of the names of codes, those of their headings (outer ones first), and other fields."""

    label: int
    above: list[int]
    beside: list[int]
    """Headings to the right of the names, inner ones first."""
    fields: dict[int, str]


def _held(table: _Table, fields: Collection[str], columns: Names) -> _Held:
    given = _given(table, fields, columns)
    found = {at: _field(table, at, fields) for at in range(len(table.names)) if table.values(at)} | given
    # A column of parents that names no code of the table is a heading above the codes in its rows.
    headings = [at for at, each in found.items() if each == "parent" and not _is_reference(table, at)]
    labels = [at for at, each in found.items() if each == "label"]
    label, above, ids = _of_names(table, _labels(labels, given, headings))
    merged = [at for at in range(label) if _shows_headings(table, at, found, given)]
    above = sorted({*above, *merged, *(at for at in headings if at < label)})
    beside = [] if above else [at for at in headings if at > label]
    tree = {label, *above, *beside, *labels, *headings}
    rest = {at: each for at, each in found.items() if each and at not in tree}
    return _Held(label, above, beside, rest | _ids(table, ids, rest))


def _ids(table: _Table, ids: Collection[int], others: Mapping[int, str]) -> dict[int, str]:
    """Return the columns that can be the codes' ids, where no other column is."""
    return {} if "id" in others.values() else {at: "id" for at in ids if _fits(table, at, "id")}


def _given(table: _Table, fields: Collection[str], columns: Names) -> dict[int, str | None]:
    """Return by the place of each column named in `columns` which field it holds."""
    places = {table.called(at): at for at in reversed(range(len(table.names)))}
    for name, wanted in columns.items():
        if wanted is not None and wanted not in fields:
            raise CodebookError(
                f"codebook: expected fields of a code in columns={{…}} – found {wanted!r} for {name!r} – "
                f"{did_you_mean(wanted, fields)}"
            )
    return {places[name]: wanted for name, wanted in columns.items()}


def _labels(labels: Sequence[int], given: Mapping[int, str | None], headings: Sequence[int]) -> list[int]:
    """Return the columns that may be the codes' names: those that were told, else found, else a heading."""
    chosen = [at for at in labels if at in given] or [*labels] or [*headings[-1:]]
    if not chosen:
        raise CodebookError(
            "codebook: expected at least one code below its column's name – found none – add codes."
        )
    return chosen


def _shows_headings(
    table: _Table, at: int, found: Mapping[int, str | None], given: Mapping[int, str | None]
) -> bool:
    """Whether a column of which nothing else is known has names that are merged down over several rows."""
    return found.get(at) is None and at not in given and table.is_merged_down(at)


def _field(table: _Table, at: int, fields: Collection[str]) -> str | None:
    """Return the field that a column's name means and its values allow."""
    values = {plain(value) for value in table.values(at)}
    if values <= _ORIGINS.keys():
        return "origin"
    name = meant(table.names[at], fields) if table.names[at] else None
    return name if name not in (None, "origin") and _fits(table, at, name) else None


def _fits(table: _Table, at: int, name: str) -> bool:
    form = _FORMS.get(name)
    if form:
        return all(form.fullmatch(value) for value in table.values(at))
    return name == "label" or not all(map(_NUMBER.fullmatch, table.values(at)))


def _is_reference(table: _Table, at: int) -> bool:
    """Return True for a column that names another row of the table, rather than the heading of its own."""
    return plain(table.names[at]).startswith("parent")


def _of_names(table: _Table, labels: Sequence[int]) -> tuple[int, Sequence[int], Sequence[int]]:
    """Divide the columns of names: that of the codes, the headings above it, and those that may hold ids."""
    first = labels[0]
    levels = table.grid.across.get((table.header, first), 1)
    if levels > 1:  # a tree by indentation below one name
        return first + levels - 1, range(first, first + levels - 1), ()
    labels = list({table.names[at]: at for at in reversed(labels)}.values())[::-1]  # the first of equal ones
    if plain(table.names[labels[-1]]).startswith("sub"):
        return labels[-1], labels[:-1], ()
    codes = [at for at in labels if plain(table.names[at]) == "code"]
    rest = [at for at in labels if at not in codes]
    return (rest or codes)[0], (), codes if rest else ()


# The tree


@dataclass(slots=True, eq=False, repr=False)
class _Node:
    """A code, or a heading above codes."""

    label: str
    where: str
    parent: _Node | None
    texts: dict[str, list[str]] = field(default_factory=dict)
    is_code: bool = False
    is_above: bool = False
    id: str = ""

    def add(self, name: str, text: str) -> None:
        known = self.texts.setdefault(name, [])
        if text not in known:
            known.append(text)


class _Tree:
    """The codes and headings of a table, in its order."""

    def __init__(self, table: _Table, held: _Held, separator: str | None) -> None:
        self.nodes: dict[tuple[str, ...], _Node] = {}
        self.filled = self.again = self.nameless = 0
        self._table, self._held, self._separator = table, held, separator
        self._levels = [*held.above, held.label]
        self._section: tuple[str, ...] = ()
        self._before: list[str | None] = [None] * len(self._levels)
        for number, cells in table.rows:
            self._row(number, cells)
        self._resolve_references()

    def _row(self, number: int, cells: Mapping[int, str]) -> None:
        if self._table.is_section(number, cells):
            self._section, self._before = (_one_line(*cells.values()),), [None] * len(self._levels)
            return
        names = self._names(cells)
        outer = (*self._section, *(_one_line(cells[at]) for at in reversed(self._held.beside) if at in cells))
        own = self._path(outer, names)
        if len(own) == len(outer):
            self.nameless += 1
            return
        where = f"{self._table.grid.counted} {number}"
        self.again += own in self.nodes and names[-1] != self._before[-1]
        node = self._at(own, where)
        node.is_code |= names[-1] is not None
        for at, name in self._held.fields.items():
            if at in cells:
                level = sum(column < at for column in self._held.above) if at < self._held.label else 0
                above = self._path(outer, names[:level])
                (self._at(above, where) if len(above) > len(outer) else node).add(name, cells[at])
        self._before = names

    def _names(self, cells: Mapping[int, str]) -> list[str | None]:
        """Return the names in a row; a blank one is that above it, up to where an outer one is new."""
        names: list[str | None] = []
        is_new = False
        for at, before in zip(self._levels, self._before, strict=True):
            name = _one_line(cells[at]) if at in cells else None if is_new else before
            self.filled += at not in cells and name is not None and at < self._held.label in cells
            is_new |= name != before
            names.append(name)
        return names

    def _path(self, outer: tuple[str, ...], names: Sequence[str | None]) -> tuple[str, ...]:
        steps = [name for name in names if name]
        if self._separator and steps and len(names) == len(self._levels) and names[-1]:
            parted = [step.strip() for step in steps[-1].split(self._separator)]
            steps[-1:] = parted if all(parted) else steps[-1:]
        return (*outer, *steps)

    def _at(self, path: tuple[str, ...], where: str) -> _Node:
        """Return the node of a path, and make it, and those above it, where it is not there."""
        parent = None
        for depth in range(1, len(path) + 1):
            node = self.nodes.get(path[:depth])
            if node is None:
                refuse_many(len(self.nodes) + 1)
                node = self.nodes[path[:depth]] = _Node(path[depth - 1], where, parent)
            if depth < len(path):
                node.is_above = True
            parent = node
        return self.nodes[path]

    def _resolve_references(self) -> None:
        """Take the parents that a column names by id or label; a name that is no row's is a heading."""
        known = {
            name.casefold(): node
            for node in self.nodes.values()
            for name in (*node.texts.get("id", ()), node.label)
        }
        for node in list(self.nodes.values()):
            for name in map(_one_line, node.texts.pop("parent", ())[:1]):
                parent = known.get(name.casefold()) or self._at((*self._section, name), node.where)
                known[name.casefold()] = parent
                node.parent, parent.is_above = parent, True

    def entries(self, lists: Collection[str]) -> list[tuple[str, object]]:
        """Return the fields of each code; codes get the plainer ids, and headings those that are left."""
        nodes = list(self.nodes.values())
        taken = {each for node in nodes for each in node.texts.get("id", ())[:1]}
        times: Counter[str] = Counter()
        for node in sorted(nodes, key=lambda node: not node.is_code):
            node.id = node.texts.get("id", [""])[0] or free_id(node.label, taken, times)
            taken.add(node.id)
        return [(node.where, _entry(node, lists)) for node in nodes]


def _one_line(name: str) -> str:
    return _BULLET.sub("", " ".join(name.split()), count=1)


def _entry(node: _Node, lists: Collection[str]) -> dict[str, Any]:
    entry: dict[str, Any] = {"id": node.id, "label": node.label}
    for name, texts in node.texts.items():
        if name in lists:
            entry[name] = [line for text in texts for line in lines(text)]
        elif name == "definition":
            entry[name] = "\n\n".join(texts)
        elif name != "id":
            entry[name] = _ORIGINS.get(plain(texts[0]), texts[0]) if name == "origin" else texts[0]
    if node.parent:
        entry["parent"] = node.parent.id
    if node.is_above and not node.is_code:
        entry["codable"] = "false"
    return entry


def _said(table: _Table, held: _Held, tree: _Tree) -> Iterator[str]:
    """Yield what was taken as what, and what was left out, in sentences."""
    taken: dict[str, list[int]] = {"label": [held.label], "headings": [*held.above, *held.beside]}
    for at, name in held.fields.items():
        taken.setdefault(name, []).append(at)
    columns = [f"{name} from {_listed(table, at)}" for name, at in taken.items() if at]
    yield f"Columns: {'; '.join(columns)}."
    used = {at for columns in taken.values() for at in columns}
    left = [at for at in range(len(table.names)) if at not in used and table.values(at)]
    if left:
        yield f"Left out: {_listed(table, left)}."
    if "id" not in taken:
        yield "Ids were made from labels."
    if tree.filled:
        yield f"Blank cells below a heading that belong to it: {tree.filled}."
    if tree.again:
        yield f"Rows that name a code again, joined with the first: {tree.again}."
    if tree.nameless:
        yield f"Rows without a code, left out: {tree.nameless}."
    signs = sum(bool(_SIGNS.search(node.label)) for node in tree.nodes.values())
    if signs:
        yield f"Names with >, \\ or :: in them: {signs}; if these are paths, pass split=…"


def _listed(table: _Table, columns: Sequence[int]) -> str:
    return ", ".join(dict.fromkeys(repr(shown(table.called(at))) for at in columns))
