"""The themes of a study: what the widget shows of them, how they are edited, the code made of one."""

from __future__ import annotations

import json
import re
import threading
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
import pandas as pd

from sense7_qual import themes as models
from sense7_qual._messages import word
from sense7_qual.acts import Act, propose
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError, QualError, TableError
from sense7_qual.themes import Themes
from sense7_qual.widgets._base import field
from sense7_qual.widgets._lead_view import Board

_FEW: Final = 3  # themes with a verdict: of so few, "most" says nothing
_PAGE: Final = 5
_TERMS: Final = 10


class Reading:
    """The themes of a study as they stand, with what `viewer` may see of the coding.

    Attributes
    ----------
    board : Board
        What may be seen.
    """

    def __init__(self, board: Board) -> None:
        self.board, self.acts, self.units = board, board.acts, board.units
        self.themes: Themes | None = None
        if any(act.traits.subject == "themes" for act in self.acts):
            self.themes = models.recorded(self.acts, self.units)

    def __repr__(self) -> str:
        return f"Reading({self.themes!r})"

    def is_still(self, acts: Sequence[Act], units: pd.DataFrame) -> bool:
        """Return True if the study has these acts and units still: nothing came, nobody withdrew."""
        return [one.act_id for one in acts] == [one.act_id for one in self.acts] and list(
            units["unit_id"]
        ) == list(self.units["unit_id"])

    @property
    def n_themes(self) -> int:
        """How many themes there are that nobody dismissed."""
        return 0 if self.themes is None else int((~self.themes.summary["dismissed"]).sum())

    @cached_property
    def texts(self) -> dict[str, str]:
        """The text of each unit."""
        return self.board.read.texts

    def theme(self, number: int) -> Mapping[str, Any]:
        """Return the row of a theme in the summary."""
        if self.themes is not None:
            rows = self.themes.summary[self.themes.summary["theme"] == number]
            if len(rows):
                return {str(name): value for name, value in rows.iloc[0].items()}
        raise TableError(
            f"theme: the study has no theme {number}; it may have been merged or split – choose another."
        )

    def members(self, number: int) -> pd.DataFrame:
        """Return the rows of a theme's units, the most typical first."""
        if self.themes is None:
            return pd.DataFrame(columns=["unit_id", "similarity", "sub"])
        rows = self.themes.assignments
        rows = rows[rows["theme"] == number].sort_values("unit_id", kind="stable")
        return rows.sort_values("similarity", ascending=False, kind="stable")

    def subs(self, number: int) -> list[list[str]]:
        """Return the units of each sub-theme of a theme, the largest first; fewer than two: none."""
        rows = self.members(number)
        rows = rows[rows["sub"] >= 0]
        parts = [sorted(group["unit_id"]) for _, group in rows.groupby("sub")]
        return sorted(parts, key=len, reverse=True) if len(parts) > 1 else []

    def terms(self, number: int) -> list[str]:
        """Return the first terms of a theme."""
        if self.themes is None:
            return []
        rows = self.themes.terms
        listed: list[str] = rows.loc[rows["theme"] == number, "term"].head(_TERMS).tolist()
        return listed

    def quotes(self, number: int, first: int) -> dict[str, Any]:
        """Return a page of a theme's texts in full, the most typical first, each equal text once."""
        rows = self.members(number)
        texts = rows["unit_id"].map(self.texts).fillna("")
        rows = rows.assign(text=texts, key=texts.str.strip())
        rows["n"] = rows.groupby("key")["unit_id"].transform("size")
        rows = rows.drop_duplicates("key")
        shown = rows.iloc[first : first + _PAGE]
        return {
            "theme": number,
            "first": first,
            "n": len(rows),
            "rows": [
                {"unit_id": unit_id, "text": text, "n_same": n - 1}
                for unit_id, text, n in zip(shown["unit_id"], shown["text"], shown["n"].tolist(), strict=True)
            ],
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of the themes by size, dismissed themes last."""
        if self.themes is None:
            return []
        cover = self.cover
        summary = self.themes.summary
        summary = summary.assign(near=summary["theme"].map(_nearness(cover)) if self.floods else 0.0)
        summary = summary.sort_values(
            ["dismissed", "near", "n_units", "theme"], ascending=[True, True, False, True], kind="stable"
        )
        return [
            {
                "theme": int(row["theme"]),
                "label": "" if pd.isna(row["label"]) else row["label"],
                "named": not pd.isna(row["name"]),
                "n_units": int(row["n_units"]),
                "n_texts": int(row["n_texts"]),
                "n_cases": int(row["n_cases"]),
                "dismissed": bool(row["dismissed"]),
                "merged": int(row["merged"]),
                "code": None if pd.isna(row["code"]) else row["code"],
                "proposed": self.proposals.get(int(row["theme"]), ""),
                "n_subs": len(self.subs(int(row["theme"]))),
                "terms": self.terms(int(row["theme"])),
                **_stability(row["stability"], merged=row["merged"] > 1),
                **self._covered(cover, int(row["theme"])),
                "expected": self._expected(row),
            }
            for row in summary.to_dict("records")
        ]

    @cached_property
    def floods(self) -> bool:
        """True where the codebook covers fewer than half of the themes that have a verdict."""
        if isinstance(self.cover, str):
            return False
        verdicts = self.cover["verdict"].dropna()
        return len(verdicts) > _FEW and bool((verdicts == "uncovered").mean() > 0.5)

    @property
    def words(self) -> str:
        """What is to be known of all themes at once, in sentences."""
        said = [self.board.read.words(self.board.read.decided)]
        low, high = (self.themes.parameters.get("n_themes_as_good") if self.themes else None) or (0, 0)
        if low < high:
            said.append(f"{low} to {high} themes would do as well.")
        said += self._lacking()
        if self.floods:
            said.append(
                "The codebook covers few of them: it may code something else than what texts are about. The "
                "themes that are furthest from any code come first."
            )
        return " ".join(filter(None, said))

    def _lacking(self) -> list[str]:
        """Say which codes no text of the run seems to show, and which have no theme of their own."""
        found = {} if self.themes is None else self.themes.parameters
        told = {"codes_not_shown": "No text seems to show", "codes_scattered": "In several themes"}
        return [
            f"{words}: {', '.join(f'“{self.board.label(code)}”' for code in found[name])}."
            for name, words in told.items()
            if found.get(name)
        ]

    @cached_property
    def proposals(self) -> dict[int, str]:
        """The themes of which a code was proposed: "waiting" for an answer, or "answered"."""
        read = self.board.read
        told = [(said.theme, one in read.answered) for one, said in read.proposed.items()]
        answered = {theme: "answered" for theme, done in told if theme is not None and done}
        return answered | {theme: "waiting" for theme, done in told if theme is not None and not done}

    @cached_property
    def cover(self) -> pd.DataFrame | str:
        """What the codebook covers, by theme; words where that cannot be said."""
        if self.themes is None:
            return ""
        board = self.board
        try:
            frame = models.against_codebook(
                self.themes, board.read.decided, board.codebook, units=self.units, cluster=board.cluster
            )
        except QualError as error:
            return str(error)
        return frame.set_index("theme")

    def _covered(self, cover: pd.DataFrame | str, number: int) -> dict[str, Any]:
        if isinstance(cover, str):
            return {"verdict": "", "coverage": cover}
        row = cover.loc[number]
        words = f"{row['n_decided']} of {row['n_units']} texts decided by coders you may see"
        if pd.isna(row["verdict"]):
            return {"verdict": "", "coverage": f"No verdict: only {words}."}
        clear = (
            ""
            if row["clear"] is True or bool(row["clear"])
            else " Another sample might give another verdict."
        )
        best = "No code was applied to them"
        if not pd.isna(row["best_code"]):
            share, label = round(100 * row["best_share"]), self.board.label(row["best_code"])
            best = f"Nearest: “{label}”, on {share} % of them ({row['best_lift']:.1f} × as often as overall)"
        return {"verdict": str(row["verdict"]), "coverage": f"{words}. {best}.{clear}"}

    def _expected(self, row: Mapping[Any, Any]) -> str:
        """Say of which code a run that began with the codebook has a theme; "" after any other run."""
        if "expected" not in row:
            return ""
        if pd.isna(row["expected"]):
            return "No code: no definition and no example is near."
        return f"“{self.board.label(row['expected'])}”, by its definition and examples."

    def colours(self, ids: list[str], by: str) -> list[int]:
        """Return for each unit its theme (−1: none, −2: not in the run); with a code 2 where somebody whose
        codings may be seen applied it, 1 where they decided against it, 0 where nobody decided."""
        if by == "":
            if self.themes is None:
                return [-2] * len(ids)
            rows = self.themes.assignments
            of_theme = dict(zip(rows["unit_id"], rows["theme"].astype(int), strict=True))
            return [int(of_theme.get(one, -2)) for one in ids]
        tally = self.board.tally
        rows = tally[tally["code"] == by]
        value = np.where(rows["n_applied"] > 0, 2, 1)
        of_unit = dict(zip(rows["unit_id"], value.tolist(), strict=True))
        return [int(of_unit.get(one, 0)) for one in ids]


def _nearness(cover: pd.DataFrame | str) -> pd.Series:
    """Return for each theme how near its best code comes to covering it (1: it does); 0 without a code."""
    if isinstance(cover, str):
        return pd.Series(dtype=float)
    near = np.minimum(cover["best_share"] * 3, cover["best_lift"] / 1.5)
    return pd.Series(near, index=cover.index).fillna(0.0)


def _stability(value: float, *, merged: bool) -> dict[str, Any]:
    if pd.isna(value):
        why = (
            "merged or split by a person"
            if merged
            else "not known: split by a person, or run without resamples"
        )
        return {"stability": None, "stable": "", "stability_words": f"Stability {why}."}
    if value < 0.5:
        word, words = "dissolves", "another sample of texts would not reproduce it"
    elif value < 0.75:
        word, words = "pattern", "a pattern, but its texts vary from sample to sample"
    else:
        word, words = "stable", "other samples of texts reproduce it"
    return {"stability": float(value), "stable": word, "stability_words": f"{words} ({value:.2f})"}


def foretold(themes: Themes, numbers: pd.DataFrame, labels: dict[int, str]) -> dict[str, Any]:
    """List the themes that keep their number, that are new and that end.

    `numbers` are as `themes.match_recorded` gives them, `labels` what the study's themes are called now, by
    number; a merged one is in none.
    """
    summary = themes.summary.set_index("theme")
    rows: list[dict[str, Any]] = []
    for row in numbers.to_dict("records"):
        ends, number = pd.isna(row["run_theme"]), int(row["theme"])
        ran: Any = None if ends else summary.loc[int(row["run_theme"])]
        rows.append(
            {
                "theme": number,
                "what": "ends" if ends else "new" if row["is_new"] else "stays",
                "label": labels.get(number, "") if ran is None else ran["label"],
                "before": labels.get(number, "") if ran is not None and not row["is_new"] else "",
                "n_units": 0 if ran is None else int(ran["n_units"]),
                "alike": None if pd.isna(row["jaccard"]) else round(100 * float(row["jaccard"])),
            }
        )
    counts = {what: sum(row["what"] == what for row in rows) for what in ("stays", "new", "ends")}
    return {
        "rows": rows,
        **counts,
        "n_units": len(themes.assignments),
        "n_nowhere": int((themes.assignments["theme"] < 0).sum()),
        "granularity": float(themes.parameters["granularity"]),
    }


class Remembered:
    """A model that remembers the vectors of the texts that it was given, as long as the widget lives.

    Attributes
    ----------
    embed : callable
        Texts to an array of vectors.
    """

    def __init__(self, embed: Callable[[list[str]], Any]) -> None:
        self._embed = embed
        self._lock = threading.Lock()
        self._vectors: dict[str, Any] = {}
        named = getattr(embed, "model_id", None) or getattr(embed, "__qualname__", type(embed).__qualname__)
        self.model_id = str(named)
        self.multilingual = bool(getattr(embed, "multilingual", False))

    def __repr__(self) -> str:
        return f"Remembered({self.model_id}, {len(self._vectors)} texts)"

    def __call__(self, texts: list[str]) -> Any:
        """Return one vector per text."""
        with self._lock:
            new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
            if new:
                vectors = np.asarray(self._embed(new), dtype=np.float32)
                if vectors.ndim != 2 or len(vectors) != len(new):
                    return vectors  # the caller says what is wrong with it
                self._vectors.update(zip(new, vectors, strict=True))
            return np.array([self._vectors[text] for text in texts])


@dataclass(frozen=True, slots=True)
class Step:
    """One edit of a theme: what is done to it (`themes.edit`), and the value."""

    theme: int
    what: str
    value: Any


def sub_id(act_id: str, number: int) -> str:
    """Return the id of the act `number` of several that are done together; the first has `act_id`."""
    return act_id if number == 0 else str(uuid.uuid5(uuid.NAMESPACE_OID, f"{act_id} {number}"))


def step_asked(asked: Mapping[str, Any], reading: Reading, selected: Collection[str]) -> Step:
    """Return the step that a browser asks for."""
    theme, what = field(asked, "theme", int), asked.get("what")
    match what:
        case "name":
            return Step(theme, "name", " ".join(field(asked, "value", str).split()))
        case "merge_into":
            return Step(theme, "merge_into", field(asked, "value", int))
        case "dismissed":
            return Step(theme, "dismissed", field(asked, "value", bool))
        case "parts":
            return Step(theme, "parts", _parts(theme, asked.get("value"), reading, selected))
        case other:
            raise ActError(
                f"theme: expected to name, merge, split or dismiss it – found {word(other)} – reload the "
                "page."
            )


def _parts(theme: int, by: object, reading: Reading, selected: Collection[str]) -> list[list[str]]:
    if by == "subs":
        parts = reading.subs(theme)
        if not parts:
            raise ActError("split: this theme has no sub-themes – select some of its texts on the map.")
        return parts
    own = set(reading.members(theme)["unit_id"])
    inside = sorted(own & set(selected))
    if not inside or len(inside) == len(own):
        raise ActError(
            f"split: {len(inside)} of the {len(own)} texts of the theme are selected – select some of them, "
            "but not all, on the map."
        )
    return [inside]


def opposite(step: Step, before: Mapping[str, Any], numbers: tuple[set[int], set[int]]) -> list[Step]:
    """Return the steps that undo a step."""
    theme = step.theme
    match step.what:
        case "name":
            name = before["name"]
            return [Step(theme, "name", name if isinstance(name, str) else "")]
        case "merge_into":
            return [Step(theme, "merge_into", theme)]
        case "dismissed":
            return [Step(theme, "dismissed", not step.value)]
        case "code":
            code = before["code"]
            return [Step(theme, "code", code if isinstance(code, str) else "")]
        case _:
            had, has = numbers
            return [Step(number, "merge_into", theme) for number in sorted(has - had)]


Chat = Callable[[Sequence[Mapping[str, str]]], str]

_REPLY_TOKENS: Final = 150
_INSTRUCTION: Final = (
    "You help a researcher to write a codebook. You get the most typical words and some texts of a group "
    "that a topic model proposes. Say what the texts have in common as one code: a label of at most five "
    "words, and a definition of one or two sentences that says when the code applies. Do not quote the "
    'texts. Answer with JSON alone: {"label": "…", "definition": "…"}'
)


def draft(label: str, terms: Sequence[str]) -> dict[str, str]:
    """Return a label and a definition to begin with."""
    words = ", ".join(terms[:6])
    return {
        "label": label[:1].upper() + label[1:],
        "definition": f"The text speaks of: {words}." if words else "",
    }


def origin_words(theme: int, *, by_chat: bool) -> str:
    """Return in words which model a code comes from.

    >>> origin_words(3, by_chat=True)
    'theme 3 of this study, proposed by a topic model; drafted by a language model'
    """
    drafted = "; drafted by a language model" if by_chat else ""
    return f"theme {theme} of this study, proposed by a topic model{drafted}"


def proposed(
    theme: int,
    words: Mapping[str, str],
    units: Sequence[str],
    *,
    by_chat: bool,
    coder: str,
    codebook: Codebook,
    act_id: str,
) -> Act:
    """Return the act that proposes a code of a theme, with the texts that show it."""
    if not units:
        raise ActError("proposal: no text of the theme is ticked – tick one that shows the code.")
    return propose(
        coder=coder,
        label=" ".join(words["label"].split()),
        definition=words["definition"].strip(),
        unit_id=units[0],
        examples=list(dict.fromkeys(units[1:])),
        theme=theme,
        codebook=codebook,
        origin=origin_words(theme, by_chat=by_chat),
        act_id=act_id,
    )


def messages_for(terms: Sequence[str], texts: Sequence[str]) -> list[dict[str, str]]:
    """Return the messages for the language model."""
    quoted = "\n\n".join(f"Text {n}: {text}" for n, text in enumerate(texts, start=1))
    content = f"Typical words: {', '.join(terms)}\n\n{quoted}"
    return [{"role": "system", "content": _INSTRUCTION}, {"role": "user", "content": content}]


def cost_words(chat: Any, messages: Sequence[Mapping[str, str]], n_texts: int) -> str:
    """Return in words what would be sent where; a chat of `models.chat` knows, another function is named."""
    if hasattr(chat, "estimate"):
        cost = chat.estimate([messages], reply_tokens=_REPLY_TOKENS)
        return f"{n_texts} quotes in one question: {cost}."
    n = sum(len(message["content"]) for message in messages)
    return (
        f"{n_texts} quotes ({n:,} characters with the terms) would be passed to your chat function. Where it "
        "sends them is not known here."
    )


def asked_words(chat: Any, messages: Sequence[Mapping[str, str]]) -> str:
    """Ask the language model, which the person has consented to just now, and return its reply."""
    if hasattr(chat, "estimate"):
        cost = chat.estimate([messages], reply_tokens=_REPLY_TOKENS)
        chat = replace(chat, consent=cost.consent)
    return str(chat(messages))


def drafted_by(reply: str) -> dict[str, str]:
    """Read label and definition from the reply of a language model."""
    object_in = re.search(r"\{.*\}", reply, re.DOTALL)
    try:
        read = json.loads(object_in[0]) if object_in else None
    except ValueError:
        read = None
    label, definition = (
        read.get(name) if isinstance(read, dict) else None for name in ("label", "definition")
    )
    if not isinstance(label, str) or not isinstance(definition, str):
        raise ActError(
            "chat: the reply was not JSON with label and definition – try again, or write them yourself."
        )
    return {"label": " ".join(label.split())[:200], "definition": definition.strip()}
