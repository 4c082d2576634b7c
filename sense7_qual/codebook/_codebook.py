"""The values: a code, and the codebook of all codes."""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Final, get_type_hints

from sense7_qual._arguments import check_arguments, read_mapping
from sense7_qual._atomic import write_by_suffix
from sense7_qual._messages import did_you_mean, first_three, word
from sense7_qual.codebook import _code_table, _qdc, _yaml_csv
from sense7_qual.codebook._facets import Facet, check_facets, check_key, facets_of_entries, plain_facets
from sense7_qual.codebook._field_names import (
    COLOUR,
    ID,
    as_plain,
    check_texts,
    right_names,
    value_in,
    without_defaults,
)
from sense7_qual.codebook._yaml_csv import Entries, refuse_many, refuse_twice
from sense7_qual.errors import ActError, CodebookError

ORIGINS: Final = ("deductive", "inductive", "model")
"""Where a code comes from: the theory, the data, or a model's proposal that a person accepted."""

_TABLES: Final = frozenset({".xlsx", ".docx", ".csv", ".tsv"})
_SENTENCE = re.compile(r"(?<=[.!?])\s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """One code of a codebook.

    Parameters
    ----------
    id : str
        Stable identifier: a letter, then letters, digits, ``_``, ``.`` or ``-`` (64 at most).
    label : str
        The name that people read; changing it does not change what was coded.
    definition : str
        The meaning of the code; `source` gives the author of these words.
    use_when, avoid_when : tuple of str
        Working rules: when the code applies, and when it does not (with the code that does).
    examples, counter_examples : tuple of str
        Texts that get the code, and near misses that do not. Their source is `rules_source`.
    parent : str, optional
        The id of the parent code.
    colour : str, optional
        ``#rrggbb``.
    key : str, optional
        The one character that applies the code in the coding widget.
    origin : {"", "deductive", "inductive", "model"}
        From theory, from the data, or proposed by a model; "" where nobody stated it.
    source, rules_source : str
        Where the definition and the working rules come from.
    codable : bool
        False for a code that only groups others.

    Raises
    ------
    CodebookError
        A value does not have the form above.
    """

    id: str
    label: str
    definition: str = ""
    use_when: tuple[str, ...] = ()
    avoid_when: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    counter_examples: tuple[str, ...] = ()
    parent: str | None = None
    colour: str | None = None
    key: str | None = None
    origin: str = ""
    source: str = ""
    rules_source: str = ""
    codable: bool = True

    def __post_init__(self) -> None:
        named = f"code {word(self.id)}"
        check_texts(self, named)
        if not isinstance(self.codable, bool):  # the word "no" would be true
            raise CodebookError(
                f"codebook: expected codable of {named} to be True or False – found "
                f"{type(self.codable).__name__} – pass one of them."
            )
        if not ID.fullmatch(self.id):
            raise CodebookError(
                "codebook: expected a code id of a letter followed by letters, digits, '_', '.' or '-' – "
                f"found {word(self.id)} – give the code a short stable id and keep the wording for its label."
            )
        if not self.label.strip():
            raise CodebookError(f"codebook: expected a label for {named} – found none – add one.")
        if self.origin and self.origin not in ORIGINS:
            raise CodebookError(
                f"codebook: expected origin {', '.join(ORIGINS)} for {named} – found "
                f"{word(self.origin)} – {did_you_mean(self.origin[:64], ORIGINS)}"
            )
        if self.colour is not None and not COLOUR.fullmatch(self.colour):
            raise CodebookError(
                f"codebook: expected a colour like '#2a7f62' for {named} – found {word(self.colour)} – "
                "correct it or leave it out."
            )
        if self.key is not None:
            check_key(self.key, named)


@dataclass(frozen=True, kw_only=True)
class Codebook:
    """The codes that coders work with, as a frozen value.

    Parameters
    ----------
    name : str
        A short stable name of the codebook.
    title, version, description, source, licence : str
        Information for people and papers.
    facets : tuple of Facet
        What a coding can say in addition to its code, each with its values; may be empty.
    codes : tuple of Code
        In the order in which they are shown and reported.
    appeared : tuple of tuple of Code
        The codes of each version of the study, oldest first: a `Store` fills it in, and a code keeps the
        colour of its first appearance. It is not part of the content: not compared, written or hashed.

    Raises
    ------
    CodebookError
        No code, two codes with the same id or key, an unknown parent, or parents in a circle; two facets with
        the same name, a facet for a code that cannot be applied, or two values with the same key.

    Examples
    --------
    >>> codebook = Codebook.read("sense7")
    >>> codebook.ids
    ('affective', 'cognitive', 'response', 'prosocial', 'interest', 'contextual', 'relational')
    >>> codebook["prosocial"].label
    'Prosocial Expression'
    >>> len(codebook), "prosocial" in codebook, [code.id for code in codebook][:2]
    (7, True, ['affective', 'cognitive'])
    """

    name: str
    title: str = ""
    version: str = ""
    description: str = ""
    source: str = ""
    licence: str = ""
    facets: tuple[Facet, ...] = ()
    codes: tuple[Code, ...]
    appeared: tuple[tuple[Code, ...], ...] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        check_texts(self, "the codebook")
        if not self.name.strip():
            raise CodebookError("codebook: expected a name – found none – add one.")
        versions = self.appeared if isinstance(self.appeared, tuple) else (self.appeared,)
        for name, codes in (("codes", self.codes), *(("appeared", each) for each in versions)):
            if not isinstance(codes, tuple) or not all(isinstance(code, Code) for code in codes):
                raise CodebookError(
                    f"codebook: expected a tuple of Code as {name} – found {type(codes).__name__} – pass "
                    f"{name}=(Code(…), …)."
                )
        if not self.codes:
            raise CodebookError("codebook: expected at least one code – found none – add codes.")
        refuse_many(len(self.codes))
        refuse_twice("id", [code.id for code in self.codes])
        refuse_twice("key", [code.key for code in self.codes if code.key is not None])
        check_facets(self.facets, [code.id for code in self.codable])
        self._check_parents()

    def _check_parents(self) -> None:
        sound: set[str] = set()  # codes whose parents end at a top code
        for code in self.codes:
            at, ancestors = code, {code.id: None}  # in order
            while at.parent is not None and at.id not in sound:
                if at.parent in ancestors:
                    raise CodebookError(
                        f"codebook: expected parents that end at a top code – found a circle "
                        f"{' → '.join([*ancestors, at.parent][-10:])} – remove one of these parents."
                    )
                if at.parent not in self._by_id:
                    raise CodebookError(
                        f"codebook: expected a code's id as the parent of {word(at.id)} – found "
                        f"{at.parent[:64]!r} – {did_you_mean(at.parent, self.ids)}"
                    )
                at = self._by_id[at.parent]
                ancestors[at.id] = None
            sound |= ancestors.keys()

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all codes, in order."""
        return tuple(code.id for code in self.codes)

    @property
    def codable(self) -> tuple[Code, ...]:
        """The codes that can be applied (without those that only group others)."""
        return tuple(code for code in self.codes if code.codable)

    @property
    def tree(self) -> tuple[tuple[Code, int], ...]:
        """Each code with its depth (from 0), followed by the codes under it; siblings in the given order."""
        placed = _qdc.in_tree([{"id": code.id, "parent": code.parent} for code in self.codes])
        return tuple((self[code["id"]], depth) for code, depth in placed)

    def facets_of(self, code_id: str) -> tuple[Facet, ...]:
        """Return the facets of the code with this id, in order."""
        check_arguments(Codebook.facets_of, locals())
        return tuple(facet for facet in self.facets if not facet.codes or code_id in facet.codes)

    def check_facets(self, code_id: str, facets: Mapping[str, str]) -> dict[str, str]:
        """Check the facets of a coding of this code, such as ``{"valence": "met"}``, and return them.

        Raises
        ------
        ArgumentError
            `facets` is not a mapping.
        CodebookError
            The codebook lacks the facet or value, or the facet is for other codes.

        Examples
        --------
        >>> Codebook.read("sense7").check_facets("prosocial", {"valence": "met"})
        {'valence': 'met'}
        """
        check_arguments(Codebook.check_facets, locals())
        stated = read_mapping(facets)
        for name, value in stated.items():
            facet = self.facet(name)
            if facet.codes and code_id not in facet.codes:
                raise CodebookError(
                    f"facet {name!r}: expected one of its codes ({first_three(facet.codes)}) – found "
                    f"{word(code_id)} – leave the facet out."
                )
            facet[value]
        return stated

    def facet(self, name: str) -> Facet:
        """Return the facet with this name, or raise `CodebookError` with the nearest name."""
        check_arguments(Codebook.facet, locals())
        for facet in self.facets:
            if facet.name == name:
                return facet
        raise CodebookError(
            f"codebook {self.name!r}: expected one of its facets – found {word(name)} – "
            f"{did_you_mean(str(name), [facet.name for facet in self.facets])}"
        )

    @cached_property
    def _by_id(self) -> dict[str, Code]:
        return {code.id: code for code in self.codes}

    def __len__(self) -> int:
        return len(self.codes)

    def __iter__(self) -> Iterator[Code]:
        return iter(self.codes)

    def __contains__(self, code: object) -> bool:
        """Return True for the id of one of the codes, or one of the codes."""
        return code in self._by_id if isinstance(code, str) else code in self.codes

    def __getitem__(self, code_id: str) -> Code:
        """Return the code with this id, or raise `CodebookError` with the nearest id."""
        try:
            return self._by_id[code_id]
        except (KeyError, TypeError):
            raise CodebookError(
                f"codebook {self.name!r}: expected the id of one of its codes – found {word(code_id)} – "
                f"{did_you_mean(str(code_id), self.ids)}"
            ) from None

    @cached_property
    def fingerprint(self) -> str:
        """32 hexadecimal digits that change if and only if the content changes."""
        content = json.dumps(self._as_dict(), ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(content.encode()).hexdigest()[:32]

    def _as_dict(self) -> dict[str, Any]:
        """Return the content in the canonical order, without empty values."""
        own = {
            f.name: as_plain(getattr(self, f.name)) for f in fields(self) if f.name != "codes" and f.compare
        }
        own["facets"] = plain_facets(self.facets)
        codes = [
            without_defaults({f.name: as_plain(getattr(code, f.name)) for f in fields(Code)})
            for code in self.codes
        ]
        return {**without_defaults(own), "codes": codes}

    def _repr_html_(self) -> str:
        """Show a line per code in a notebook: key, label, first sentence; the whole rule folds out."""
        return "".join(_folded(code, depth) for code, depth in self.tree)

    def to_yaml(self) -> bytes:
        """Return the codebook as YAML (UTF-8); equal codebooks give equal bytes."""
        return _yaml_csv.to_yaml(self._as_dict())

    def write(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the codebook to `path`: .yaml, .qdc, or .csv if that can hold all of it (see `read`).

        A .qdc is REFI-QDA, which ATLAS.ti, MAXQDA, NVivo, QualCoder and others read: names, tree, colours and
        definitions are in its own elements, everything else in labelled lines under the definitions.

        Raises
        ------
        ArgumentError
            The path has another suffix; nothing was written.
        CodebookError
            A CSV would lose some of it: title, version, description, source, licence, a name other than
            the file's, or line breaks and white space in its texts. A .qdc cannot hold control characters.
        StoreError
            The file exists and `overwrite` is false; it is unchanged.
        """
        check_arguments(Codebook.write, locals())
        formats = {
            ".yaml": self.to_yaml,
            ".yml": self.to_yaml,
            ".qdc": lambda: _qdc.to_qdc(self._as_dict()),
            ".csv": lambda: self._to_csv(Path(path)),
        }
        write_by_suffix(path, formats, what="codebook", overwrite=overwrite)

    def _to_csv(self, path: Path) -> bytes:
        content = _yaml_csv.to_csv(self._as_dict(), [field.name for field in fields(Code)])
        names = [field.name for field in fields(self) if field.compare]
        try:
            again = _codebook(_of_table(content, path))
            lost = [name for name in names if getattr(self, name) != getattr(again, name)]
        except CodebookError:  # no CSV at all, as with NUL in a text
            lost = ["codes"]
        if lost:
            raise CodebookError(
                f"codebook {self.name!r}: a CSV file cannot hold its {first_three(lost)}, which "
                f"{path.name!r} would lose or change – write it as .yaml."
            )
        return content

    @classmethod
    def read(
        cls,
        source: str | Path,
        *,
        columns: Mapping[str, str | None] | None = None,
        sheet: str | None = None,
        encoding: str | None = None,
        split: str | None = None,
    ) -> Codebook:
        """Read a shipped codebook by its name, or one from a YAML, REFI-QDA (.qdc), Excel, Word or CSV file.

        In YAML every scalar is read as text, exactly as written (``007`` stays ``007``, ``no`` stays
        ``no``). YAML has facets as ``facets: {valence: {values: {met: m, unmet: u}}}``: each value with its
        key, a list of values without keys, or with ``{label: …, key: …}``; next to ``values`` a ``label`` and
        the ``codes`` of the facet.

        A table (.xlsx, .docx, .csv, .tsv) has one row per code; the file name is the name of the codebook,
        and each line of a cell is an entry of a list. In the columns of `Code`, with ``id`` and ``label``, it
        is read as `write` wrote it: each value of a facet is a row of its own, with the facet's name in the
        column ``facet``, its own in ``id``, and a ``label`` and ``key`` if it has them; ``facet_label`` and
        ``facet_codes`` are in the facet's first row.

        Other names of columns are understood (Code, Brief definition, When not to use, Example quote …), and
        one warning says which column was taken as what and which were left out. Ids are made from labels
        unless a column has valid ones. Several definitions are joined by a blank line. Columns such as Theme
        and Category are headings: codes that only group others (`codable` is False) unless they have no
        codes below them. A blank cell to the left of the codes belongs to the heading above it, and a
        definition to the nearest name to its left.

        In a .qdc of another program a code's description is its definition, and its id is made from its name;
        sets of codes are listed in the codebook's description. A warning counts them and what was not read.

        Parameters
        ----------
        source : str or Path
            The name of a shipped codebook, or a file.
        columns : mapping of str to str or None, optional
            Of a table: what columns are, such as ``{"Codes": "label", "Notes": None}``; ``None`` leaves one
            out, and "parent" is a heading. Columns that are not named are understood by their names.
        sheet : str, optional
            The sheet of a workbook, or ``"table 2"`` of a document; needed if several have codes.
        encoding : str, optional
            Of a CSV or TSV that is not UTF-8, such as "cp1252".
        split : str, optional
            The separator of labels that are paths: with ``">"`` "Trust > Help" becomes Help under Trust.

        Raises
        ------
        CodebookError
            The file is missing or cannot be read as a codebook, or the codebook is invalid.
        """
        check_arguments(Codebook.read, locals())
        path = _yaml_csv.shipped(source)
        how = {"columns": read_mapping(columns), "sheet": sheet, "encoding": encoding, "split": split}
        if path.suffix.lower() in _TABLES:
            return _codebook(_of_table(_yaml_csv.packed(path), path, **how))
        if unfit := [name for name, value in how.items() if value]:
            raise CodebookError(
                f"codebook: expected no {unfit[0]} for {path.name!r}, which is no table – leave it out."
            )
        if path.suffix.lower() == ".qdc":
            return _codebook(_qdc.parse_qdc(_yaml_csv.decoded(path), path))
        return _codebook(_yaml_csv.read_file(path))

    @classmethod
    def from_yaml(cls, content: bytes) -> Codebook:
        """Read a codebook that `to_yaml` wrote.

        Raises
        ------
        CodebookError
            The bytes are not UTF-8, or not a valid codebook.
        """
        check_arguments(Codebook.from_yaml, locals())
        return _codebook(_yaml_csv.parse_yaml(content, Path("codebook.yaml")))


def check_codebook(codebook: Codebook) -> Codebook:
    """Return `codebook`, or raise `ActError` if it is anything else (such as a name)."""
    if not isinstance(codebook, Codebook):
        raise ActError(
            f"codebook: expected a Codebook – found {type(codebook).__name__} – pass store.codebook, or "
            "Codebook.read(…)."
        )
    return codebook


def _folded(code: Code, depth: int) -> str:
    """Return a code as a line of HTML that folds out."""
    parts = [
        ("", (code.definition,)),
        ("Use when", code.use_when),
        ("Do not use when", code.avoid_when),
        ("Examples", code.examples),
        ("Counter-examples", code.counter_examples),
    ]
    rules = "".join(
        f"<p>{f'<b>{head}:</b> ' if head else ''}{'<br>'.join(map(html.escape, texts))}</p>"
        for head, texts in parts
        if any(texts)
    )
    key = f"<kbd>{html.escape(code.key)}</kbd> " if code.key else ""
    first = html.escape(_SENTENCE.split(code.definition, maxsplit=1)[0])
    line = f"{key}<b>{html.escape(code.label)}</b> {first}"
    return f'<details style="margin-left: {1.5 * depth}em"><summary>{line}</summary>{rules}</details>\n'


def _of_table(packed: bytes, path: Path, **how: Any) -> Entries:
    given = {"columns": {}, "sheet": None, "encoding": None, "split": None, **how}
    names = [field.name for field in fields(Code)]
    lists = {name for name, hint in get_type_hints(Code).items() if "tuple" in str(hint)}
    return _code_table.read_table(packed, path, fields=names, lists=lists, **given)


def _codebook(entries: Entries) -> Codebook:
    own, codes = entries
    facets = own.pop("facets", "") or {}
    return Codebook(
        **_typed(Codebook, own, "codebook"),
        facets=facets_of_entries(facets),
        codes=tuple(_code(entry, where) for where, entry in codes),
    )


def _code(entry: object, where: str) -> Code:
    if not isinstance(entry, dict):
        raise CodebookError(
            f"codebook: expected a mapping with 'id' and 'label' for {where} – found "
            f"{type(entry).__name__} – write it as '- id: …'."
        )
    return Code(**_typed(Code, entry, where))


def _typed(cls: type, values: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return `values` as keyword arguments of `cls`: lists as tuples, an empty scalar as left out."""
    hints = {
        name: hint
        for name, hint in get_type_hints(cls).items()
        if name not in ("codes", "facets", "appeared")
    }
    unknown = [name for name in values if name not in hints]
    if unknown:
        names = [field.name for field in fields(cls) if field.compare]
        raise CodebookError(
            f"codebook: expected the fields {', '.join(names)} in {where} – found {first_three(unknown)} – "
            f"{right_names(values, names)}"
        )
    required = [f for f in ("id", "label", "name") if f in hints and not values.get(f)]
    if required:
        raise CodebookError(f"codebook: expected {' and '.join(required)} in {where} – found none – add it.")
    return {
        name: value_in(value, hints[name], f"{where}, {name}")
        for name, value in values.items()
        if value != ""
    }
