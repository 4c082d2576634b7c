"""Codes in a widget: keys, colours, what a browser is told about them, and codes similar to a new one."""

from __future__ import annotations

import colorsys
import difflib
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from sense7_qual._messages import did_you_mean, first_three
from sense7_qual._present import PAGES, VISIONS, colour_distance, looks, shades
from sense7_qual.acts.contents import Proposal
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ActError, CodebookError
from sense7_qual.widgets._offsets import folded

COMMANDS: Final[Mapping[str, str]] = {
    "finish_and_next": "Enter",
    "finish": "f",
    "next": "ArrowRight",
    "back": "ArrowLeft",
    "next_unfinished": "n",
    "next_word": "w",
    "next_sentence": "s",
    "select_by_letters": " ",
    "next_coding": "ArrowDown",
    "previous_coding": "ArrowUp",
    "remove_coding": "Delete",
    "facet": "v",
    "unsure": "u",
    "memo": "m",
    "code_memo": "M",
    "memos": ":",
    "history": "<",
    "new_code": "+",
    "rating": "r",
    "context": "c",
    "filter": "/",
    "pin": "-",
    "find_text": ".",
    "next_hit": ")",
    "previous_hit": "(",
    "passages": '"',
    "texts": ",",
    "accept_suggestion": "*",
    "reject_suggestion": "!",
    "colleagues": "=",
    "next_colleague": ";",
    "layout": "#",
    "take_codebook": ">",
    "large_view": "F",
    "undo": "z",
    "redo": "y",
    "inbox": "I",
    "help": "?",
}
"""Commands with their default keys."""

Embed = Callable[[list[str]], Any]

_ALIKE: Final = 0.6
_NEAR: Final = 0.5  # cosine
_MOST: Final = 4
_FREE_KEYS: Final = "1234567890abdeghijklopqtx"


def commands(defaults: Mapping[str, str], keys: Mapping[str, str]) -> dict[str, str]:
    """Return the key of each command: those given in `keys`, of the others the default."""
    unknown = [name for name in keys if name not in defaults]
    if unknown:
        raise ActError(
            f"keys: no command is called {first_three(unknown)} – {did_you_mean(unknown[0], defaults)}"
        )
    unfit = [name for name, key in keys.items() if not isinstance(key, str) or key in ("", "Tab", "Escape")]
    if unfit:
        raise ActError(
            f"keys: expected keys as the browser names them – found {first_three(keys[n] for n in unfit)} "
            f"for {first_three(unfit)} – use one such as 'i' or 'ArrowUp'; Tab and Escape cannot be changed."
        )
    commands = {**defaults, **keys}
    twice = sorted(key for key, times in Counter(commands.values()).items() if times > 1)
    if twice:
        names = [name for name, key in commands.items() if key == twice[0]]
        raise ActError(f"keys: {twice[0]!r} is the key of both {' and '.join(names)} – choose another.")
    return commands


def code_keys(codebook: Codebook, commands: Mapping[str, str]) -> dict[str, str]:
    """Return code id → key: the codebook's own, then free ones in order; codes beyond them have none."""
    command_of = {key: name for name, key in commands.items()}
    keys = {code.id: code.key for code in codebook.codable if code.key is not None}
    for code_id, key in keys.items():
        if key in command_of:
            raise ActError(
                f"keys: {key!r} is the key of code {code_id!r} and of the command "
                f"{command_of[key].replace('_', ' ')!r} – give the command another key: "
                f"CodingWidget(…, keys={{{command_of[key]!r}: …}})."
            )
    free = iter([key for key in _FREE_KEYS if key not in {*keys.values(), *command_of}])
    for code in codebook.codable:
        if code.id not in keys and (spare := next(free, None)) is not None:
            keys[code.id] = spare
    return keys


def _described_facets(codebook: Codebook) -> list[dict[str, Any]]:
    """Describe the facets for the browser.

    One facet whose values have no keys goes round at its command's key; of others each value gets a key.
    """
    values = [value for facet in codebook.facets for value in facet.values]
    keys = {value.key for value in values} - {None}
    free = iter([key for key in _FREE_KEYS if key not in keys] if keys or len(codebook.facets) > 1 else ())
    return [
        {
            "name": facet.name,
            "label": facet.label,
            "codes": list(facet.codes),
            "values": [
                {"name": value.name, "label": value.label, "key": value.key or next(free, None)}
                for value in facet.values
            ],
        }
        for facet in codebook.facets
    ]


def code_keys_of_others(codebook: Codebook, commands: Mapping[str, str]) -> dict[str, str]:
    """Return the keys of a codebook that others changed, without theirs that are a command's."""
    taken = set(commands.values())
    codes = tuple(replace(code, key=None) if code.key in taken else code for code in codebook)
    return code_keys(replace(codebook, codes=codes), commands)


def described(codebook: Codebook, keys: Mapping[str, str]) -> dict[str, Any]:
    """Describe the codebook for the browser."""
    return {
        "title": codebook.title or codebook.name,
        "version": codebook.version,
        "facets": _described_facets(codebook),
        "codes": _described_codes(codebook, keys),
    }


def described_book(codebook: Codebook, *, without: Collection[str] = ()) -> dict[str, Any]:
    """Describe the codebook for a lead's browser; code lists in `without` are empty."""
    return {"title": codebook.title or codebook.name, "codes": _described_codes(codebook, without=without)}


def _described_codes(
    codebook: Codebook, keys: Mapping[str, str] | None = None, *, without: Collection[str] = ()
) -> list[dict[str, Any]]:
    """Describe each code for the browser, with the codebook's keys or `keys`; lists in `without` are
    empty."""
    look = looks(codebook)
    names = ("id", "label", "definition", "parent", "colour", "codable", "key")
    lists = ("use_when", "avoid_when", "examples", "counter_examples")
    return [
        {name: getattr(code, name) for name in names}
        | {name: [] if name in without else list(getattr(code, name)) for name in lists}
        | {"look": look[code.id]._asdict()}
        | ({} if keys is None else {"key": keys.get(code.id)})
        for code in codebook
    ]


def code_made(
    before: Codebook, versions: Iterable[Codebook], *, label: str, definition: str, **named: Any
) -> Code:
    """Return a new code, with an id that none had before; refuse the label of another."""
    proposal = Proposal(label=label, definition=definition)
    same = [code.id for code in before if folded(code.label) == folded(proposal.label)]
    if same:
        raise ActError(
            f"new code: code {same[0]!r} already has this label – use that code, or choose another label."
        )
    taken = {one for version in versions for one in version.ids}
    return Code(
        id=code_id(proposal.label, {*taken, *before.ids}),
        label=proposal.label,
        definition=proposal.definition,
        **named,
    )


def code_id(label: str, taken: Collection[str]) -> str:
    """Return an id for the code called `label` that is none of those `taken`, in any case.

    >>> code_id("Being lectured", ["being_lectured"])
    'being_lectured_2'
    >>> code_id("Überraschung!", []), code_id("希望", []), code_id("2nd try", [])
    ('uberraschung', 'code', 'code_2nd_try')
    """
    plain = unicodedata.normalize("NFKD", label).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")[:50].strip("_")
    if not slug or not slug[0].isalpha():
        slug = f"code_{slug}".strip("_")
    used = {one.casefold() for one in taken}
    names = (slug if n == 1 else f"{slug}_{n}" for n in range(1, len(used) + 2))
    return next(name for name in names if name not in used)


def alike(codebook: Codebook, label: str, definition: str, *, embed: Embed | None = None) -> dict[str, Any]:
    """Return the codes that are like a new one: by words, then, with `embed`, by meaning.

    The answer has ``codes``, the ids, each once, those most alike first, with how (``words`` or ``meaning``),
    and ``note``: why there are none by meaning.
    """
    scored = [(_by_words(code, label, definition), code.id) for code in codebook.codable]
    near = sorted(((-score, n, one) for n, (score, one) in enumerate(scored) if score >= _ALIKE))
    how = {one: "words" for _, _, one in near[:_MOST]}
    note = ""
    if embed is not None and label:
        try:
            for one in _by_meaning(codebook, f"{label}. {definition}", embed):
                how.setdefault(one, "meaning")
        except Exception as error:  # noqa: BLE001 – a model that fails keeps nobody from naming a code
            note = f"Compared by words only: the comparison by meaning failed ({type(error).__name__})."
    return {"codes": [{"id": one, "how": by} for one, by in how.items()], "note": note}


def _by_words(code: Code, label: str, definition: str) -> float:
    mine, theirs = folded(label), folded(code.label)
    if not mine:
        return 0.0
    scores = [difflib.SequenceMatcher(None, mine, theirs).ratio(), _shared(_words(mine), _words(theirs))]
    their_words = _words(folded(f"{code.label} {code.definition}"))
    long = {word for word in _words(mine) if len(word) > 3}
    scores.append(0.7 * _shared(long, their_words))
    new_words, code_words = (
        {word for word in _words(folded(text)) if len(word) > 3} for text in (definition, code.definition)
    )
    if len(new_words & code_words) > 1:
        scores.append(_shared(new_words, code_words))
    return max(scores)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def _shared(some: set[str], others: set[str]) -> float:
    """Return the share of the smaller set that is in the other."""
    return len(some & others) / min(len(some), len(others)) if some and others else 0.0


def _by_meaning(codebook: Codebook, described: str, embed: Embed) -> Iterator[str]:
    codes = codebook.codable
    vectors = np.asarray(embed([described, *(f"{code.label}. {code.definition}" for code in codes)]), float)
    lengths = np.linalg.norm(vectors, axis=1)
    cosines = vectors[1:] @ vectors[0] / np.where(lengths[1:] * lengths[0] > 0, lengths[1:] * lengths[0], 1)
    order: Sequence[int] = np.argsort(-cosines, kind="stable").tolist()
    yield from (codes[n].id for n in order[:_MOST] if cosines[n] >= _NEAR)


_APART: Final = 0.08
_JUST_SEEN: Final = 0.02
"""Distances in Oklab (Ottosson 2020), where 0.02 is just seen: the first for the usual vision, the second for
the others, to whom the lines under the words tell codes apart as well."""


def refuse_unfit_colour(code: Code, others: Iterable[Code]) -> None:
    """Raise `CodebookError` where a code's colour is hard to tell from another code's.

    The distance to the colour of each other code is at least 0.08 in Oklab, and 0.02 as people with each kind
    of colour blindness see it, in the shades that each theme shows (which stand out from its page).
    """
    colour = str(code.colour)
    given = {one.id: one.colour for one in others if one.colour is not None}
    problem = _problem(colour, given)
    if problem is not None:
        fit = _suggested(list(given.values()))
        raise CodebookError(
            f"draft: {colour} of {code.id!r} {problem} – "
            f"{f'take {fit}, for example' if fit else 'leave the colour out, and one is chosen'}."
        )


def _problem(colour: str, given: dict[str, str]) -> str | None:
    for other, its_colour in given.items():
        for theme, one, another in zip(PAGES, shades(colour), shades(its_colour), strict=True):
            for vision, least in _least().items():
                if colour_distance(one, another, vision) < least:
                    where = f"with {vision} on the {theme} page"
                    return f"is too similar to that of {other!r} ({its_colour}) {where}"
    return None


def _least() -> dict[str, float]:
    return {vision: _APART if vision == "usual vision" else _JUST_SEEN for vision in VISIONS}


def _suggested(taken: list[str]) -> str | None:
    """Return of 180 colours the one that is farthest from all that are taken, where it is far enough."""
    colours = [
        "#" + "".join(f"{round(255 * part):02x}" for part in colorsys.hls_to_rgb(hue / 36, light, strength))
        for hue in range(36)
        for light in (0.4, 0.45, 0.5, 0.55, 0.6)
        for strength in (0.5,)
    ]
    fit = [one for one in colours if _problem(one, {str(n): other for n, other in enumerate(taken)}) is None]
    return max(
        fit,
        key=lambda one: min([colour_distance(one, other, "usual vision") for other in taken] or [1.0]),
        default=None,
    )
