"""Invented conversations, ratings and explanations for the synthetic example (see make_example.py)."""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

import yaml

N_TEXTS: Final = 300
N_PARTICIPANTS: Final = 40
TEXTS: Final = yaml.safe_load((Path(__file__).parent / "example_texts.yaml").read_text(encoding="utf-8"))
CODES: Final = tuple(TEXTS["dimensions"])

# How often a text is about a dimension, how often it then praises it (log odds), what it does to the rating.
PREVALENCE: Final = dict(zip(CODES, (0.24, 0.20, 0.24, 0.17, 0.13, 0.15, 0.12), strict=True))
PRAISE: Final = dict(zip(CODES, (1.5, 0.1, -1.8, 1.5, 0.6, -0.2, -1.4), strict=True))
WEIGHT: Final = dict(zip(CODES, (1.1, 0.6, 1.0, 0.6, 0.4, 0.4, 0.6), strict=True))
STYLES: Final = ("plain", "plain", "casual", "casual", "typos", "emoji", "lines", "quotes")

T = TypeVar("T")


class Draws:
    """Random draws made from `random()` alone, the one method that stays the same over Python versions."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 – a synthetic example, no secret

    def chance(self, p: float) -> bool:
        return self._random.random() < p

    def below(self, n: int) -> int:
        return int(self._random.random() * n)

    def pick(self, values: Sequence[T]) -> T:
        return values[self.below(len(values))]

    def shuffled(self, values: Sequence[T]) -> list[T]:
        rest = list(values)
        return [rest.pop(self.below(len(rest))) for _ in values]

    def normal(self, sd: float) -> float:
        return sd * (sum(self._random.random() for _ in range(12)) - 6)

    def uuid(self) -> str:
        digits = "".join(f"{self.below(16):x}" for _ in range(32))
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-8{digits[17:20]}-{digits[20:]}"


class Deck:
    """Lines dealt in a random order, each once before any comes again."""

    def __init__(self, lines: str, draws: Draws) -> None:
        self._lines, self._draws, self._rest = lines.splitlines(), draws, list[str]()

    def deal(self) -> str:
        if not self._rest:
            self._rest = self._draws.shuffled(self._lines)
        return self._rest.pop()


@dataclass(slots=True)
class Participant:
    pid: str
    style: str
    fact: str
    leniency: float  # how much higher this person rates throughout, in steps of the scale


@dataclass(slots=True)
class Piece:
    """A sentence of an explanation; `code` is None where it shows no dimension."""

    template: str
    code: str | None = None
    met: bool = False


@dataclass(slots=True)
class Span:
    code: str
    valence: str
    start: int
    end: int


@dataclass(slots=True)
class Turn:
    """A rated assistant turn; `text` is its explanation, empty where the participant gave none."""

    message: int
    overall: int | None = None
    dimensions: dict[str, int] = field(default_factory=dict)
    text: str = ""
    spans: list[Span] = field(default_factory=list)
    emerging: bool = False
    feeling: str = ""  # what the person says to have felt, in the follow-up


@dataclass(slots=True)
class Task:
    task_id: str
    participant: Participant
    system: str
    topic: dict[str, Any]
    messages: list[tuple[str, str]] = field(default_factory=list)  # role and content, in order
    turns: list[Turn] = field(default_factory=list)


class Writer:
    """Puts explanations together; gives no text twice."""

    def __init__(self, draws: Draws) -> None:
        self.draws = draws
        self.decks = {
            (code, met): Deck(TEXTS["dimensions"][code]["met" if met else "unmet"], draws)
            for code in CODES
            for met in (True, False)
        }
        self.other = {name: Deck(lines, draws) for name, lines in TEXTS["emerging"].items()}
        self.none = Deck(TEXTS["none"], draws)
        self.openers, self.closers = Deck(TEXTS["openers"], draws), Deck(TEXTS["closers"], draws)
        self.used: set[str] = set()

    def pieces(self, quality: float) -> tuple[list[Piece], bool]:
        """Draw what a text is about: its pieces, and whether it holds an emerging theme."""
        while True:
            found, emerging = self.subjects(quality)
            # With slots, connectives, opener and closer, a text of these has 60 words at most.
            if sum(len(piece.template.split()) for piece in found) <= 36:
                return found, emerging

    def subjects(self, quality: float) -> tuple[list[Piece], bool]:
        kind = self.draws.below(100)
        if kind < 8:
            return [Piece(self.none.deal())], False
        found = [code for code in CODES if self.draws.chance(PREVALENCE[code])]
        if kind < 21:
            theme = Piece(self.other[self.draws.pick(tuple(self.other))].deal())
            about = self.dimensions(self.draws.shuffled(found)[: self.draws.chance(0.35)], quality)
            return self.draws.shuffled([theme, *about]), True
        while not found:
            found = [code for code in CODES if self.draws.chance(PREVALENCE[code])]
        return self.dimensions(self.draws.shuffled(found)[:3], quality), False

    def dimensions(self, codes: Sequence[str], quality: float) -> list[Piece]:
        pieces = []
        for code in codes:
            met = self.draws.chance(1 / (1 + math.exp(-PRAISE[code] - 1.2 * quality)))
            both = (met, not met) if self.draws.chance(0.07) else (met,)
            pieces += [Piece(self.decks[code, side].deal(), code, side) for side in both]
        return pieces

    def write(self, task: Task, turn: Turn, pieces: list[Piece]) -> None:
        """Write the text of `turn` from `pieces`, with the spans of its dimensions."""
        while True:
            marked = self.styled(self.joined(task, turn, pieces), task.participant.style)
            text = marked.replace("[", "").replace("]", "")
            if text not in self.used and 4 <= len(text.split()) <= 60:
                break
        self.used.add(text)
        turn.text, turn.spans = text, spans(marked, [piece for piece in pieces if piece.code])

    def joined(self, task: Task, turn: Turn, pieces: list[Piece]) -> str:
        words = TEXTS["connectives"]
        parts = [self.opener(pieces)] if self.draws.chance(0.12) else []
        for number, piece in enumerate(pieces):
            sentence, link = self.subject(piece.template) if piece.code else piece.template, ""
            if number:
                before = pieces[number - 1]
                turned = piece.code is not None and before.code is not None and piece.met != before.met
                link = self.draws.pick(words["turn" if turned else "same"])
            parts.append(link + (lowered(sentence) if link else sentence))
        if self.draws.chance(0.2 if len(" ".join(parts)) > 40 else 0.5):
            parts.append(self.closer(turn))
        gap = "\n" if task.participant.style == "lines" and self.draws.chance(0.5) else " "
        return self.filled(gap.join(parts), task, turn)

    def opener(self, pieces: Sequence[Piece]) -> str:
        """Deal an opener that does not say what the text says again."""
        said = set(re.findall(r"\{(\w+)\}", " ".join(piece.template for piece in pieces).lower()))
        line = self.openers.deal()
        while said & set(re.findall(r"\{(\w+)\}", line)):
            line = self.openers.deal()
        return line

    def closer(self, turn: Turn) -> str:
        line = self.closers.deal()
        while turn.overall is None and "{rating}" in line:
            line = self.closers.deal()
        return line

    def subject(self, sentence: str) -> str:
        """Let some sentences about "it" name the system."""
        if self.draws.chance(0.3):
            name = self.draws.pick(TEXTS["slots"]["bot"])
            return re.sub(r"^(\[?)It (?!would|took|fitted)", rf"\1{name[0].upper()}{name[1:]} ", sentence)
        return sentence

    def filled(self, text: str, task: Task, turn: Turn | None) -> str:
        """Fill in the slots; a capital slot ({Fact}) starts a sentence."""
        values = {name: task.topic[name] for name in ("about", "person", "detail", "wish")}
        if self.draws.chance(0.5):
            values["about"] = "all this"
        values["fact"] = task.participant.fact
        values["rating"] = str(turn.overall) if turn else ""

        def fill(match: re.Match[str]) -> str:
            name = match[1].lower()
            value = values[name] if name in values else self.draws.pick(TEXTS["slots"][name])
            values.update({"about": "all this"} if name == "about" else {})  # nobody says it twice in full
            values.update({"detail": "that part"} if name == "detail" else {})
            return value if match[1].islower() else value[0].upper() + value[1:]

        return re.sub(r"\{(\w+)\}", fill, text)

    def styled(self, text: str, style: str) -> str:
        if style == "casual":
            text = text.lower().removesuffix(".")
        if style in ("typos", "casual"):
            text = re.sub(r"[A-Za-z']+", lambda word: self.misspelt(word[0]), text)
        if style == "quotes":
            text = text.replace("'", "’")
        if style == "emoji" and self.draws.chance(0.6):
            sign = self.draws.pick(TEXTS["emoji"])
            text = f"{sign} {text}" if self.draws.chance(0.5) else f"{text} {sign}"
        return text

    def misspelt(self, word: str) -> str:
        if word.lower() in TEXTS["misspellings"] and self.draws.chance(0.4):
            return str(TEXTS["misspellings"][word.lower()])
        if len(word) > 5 and self.draws.chance(0.02):
            at = 1 + self.draws.below(len(word) - 3)
            return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        return word


class FollowUp(Writer):
    """Puts the answers of the follow-up together: one matter each, and what the person felt.

    Two of five texts are about what no code is for: privacy, and speed, which is the matter more often where
    the conversation was poor. Feelings have nothing to do with the matter, and much with the rating.
    """

    def __init__(self, draws: Draws) -> None:
        super().__init__(draws)
        self.feelings = {name: Deck(lines, draws) for name, lines in TEXTS["feelings"].items()}

    def subjects(self, quality: float) -> tuple[list[Piece], bool]:
        kind, slow = self.draws.below(100), 36 if quality < 0 else 6
        if kind < 20 + slow:
            return [Piece(self.other["privacy" if kind < 20 else "speed"].deal())], True
        code = self.draws.pick([code for code in CODES for _ in range(round(100 * PREVALENCE[code]))])
        return self.dimensions([code], quality), False

    def write(self, task: Task, turn: Turn, pieces: list[Piece]) -> None:
        turn.feeling = "" if self.draws.chance(0.2) else self.draws.pick(tuple(self.feelings))
        if turn.overall and turn.feeling:
            turn.overall = level(turn.overall + (1 if turn.feeling == "pleased" else -1))
        super().write(task, turn, pieces)

    def joined(self, task: Task, turn: Turn, pieces: list[Piece]) -> str:
        text = super().joined(task, turn, pieces)
        if not turn.feeling:
            return text
        felt = self.feelings[turn.feeling].deal()
        return f"{felt} {text}" if self.draws.chance(0.5) else f"{text} {felt}"


def lowered(sentence: str) -> str:
    """Return `sentence` as it goes on after a connective: no capital, unless its first word keeps one."""
    first = re.match(r"\W*(\w+)", sentence)
    if first is None or first[1] in ("I", "AI") or sentence.startswith(('"', "{")):
        return sentence
    at = first.start(1)
    return sentence[:at] + sentence[at].lower() + sentence[at + 1 :]


def spans(marked: str, pieces: Sequence[Piece]) -> list[Span]:
    """Return where the marked words of `pieces` stand in the text without marks, in code points."""
    places, removed, start = [], 0, 0
    for at, letter in enumerate(marked):
        if letter in "[]":
            if letter == "[":
                start = at - removed
            else:
                places.append((start, at - removed))
            removed += 1
    return [
        Span(str(piece.code), "met" if piece.met else "unmet", *place)
        for piece, place in zip(pieces, places, strict=True)
    ]


def participants(draws: Draws, first: int = 1) -> list[Participant]:
    facts = draws.shuffled(TEXTS["facts"]) + draws.shuffled(TEXTS["facts"])
    styles = draws.shuffled(STYLES * (N_PARTICIPANTS // len(STYLES)))
    return [
        Participant(f"S{number + first:02}", styles[number], facts[number], draws.normal(0.55))
        for number in range(N_PARTICIPANTS)
    ]


def conversations(writer: Writer, *, n_texts: int = N_TEXTS, task: str = "T", first: int = 1) -> list[Task]:
    """Return the tasks with their rated turns and texts: `n_texts` texts, unevenly spread over people.

    Ids of tasks begin with `task`, those of participants with the number `first`.
    """
    draws, people = writer.draws, participants(writer.draws, first)
    counts = [3] * N_PARTICIPANTS
    while sum(counts) < n_texts:
        person = draws.below(N_PARTICIPANTS)
        counts[person] += counts[person] < 14
    tasks: list[Task] = []
    for person, count in zip(people, counts, strict=True):
        topics = draws.shuffled(TEXTS["topics"])
        while count:
            n_here = min(count, 3 + draws.below(3))
            count -= n_here
            system = "system-b" if draws.chance(0.5) else "system-a"
            tasks.append(
                conversation(Task(f"{task}{len(tasks) + 1:03}", person, system, topics.pop()), n_here, writer)
            )
    return tasks


def conversation(task: Task, n_texts: int, writer: Writer) -> Task:
    draws = writer.draws
    asked = [*task.topic["say"], f"One more thing, {task.participant.fact}.", "Yes. That's it, more or less."]
    n_turns = min(len(asked), n_texts + draws.below(3))
    explained = set(draws.shuffled(range(n_turns))[:n_texts])
    for number in range(n_turns):
        quality = (
            0.9 * (task.system == "system-b") - 0.45 + 0.5 * task.participant.leniency + draws.normal(0.7)
        )
        kind = "warm" if draws.chance(1 / (1 + math.exp(-1.5 * quality))) else "plain"
        task.messages.append(("user", asked[number]))
        if draws.chance(0.03):
            task.messages.append(("error", "The request timed out."))
        task.messages.append(("assistant", writer.filled(draws.pick(TEXTS["replies"][kind]), task, None)))
        turn = Turn(len(task.messages))
        pieces, turn.emerging = writer.pieces(quality)
        rate(turn, pieces, task.participant.leniency, draws)
        if number in explained:
            writer.write(task, turn, pieces)
        task.turns.append(turn)
    return task


def rate(turn: Turn, pieces: Sequence[Piece], leniency: float, draws: Draws) -> None:
    """Rate a turn: what it met raises the rating and what it missed lowers it; some ratings are missing."""
    felt = {piece.code: 0.0 for piece in pieces if piece.code}
    for piece in pieces:
        if piece.code:
            felt[piece.code] += 1 if piece.met else -1
    overall = 3.1 + leniency - 0.3 * turn.emerging + sum(WEIGHT[code] * felt[code] for code in felt)
    overall += draws.normal(0.6)
    turn.overall = None if draws.chance(0.05) else level(overall)
    for code in CODES:
        if draws.chance(0.75 if code in felt else 0.25):
            own = 3 + 1.2 * felt[code] if code in felt else 1.2 + 0.6 * overall
            turn.dimensions[code] = level(own + 0.5 * leniency + draws.normal(0.5))


def level(value: float) -> int:
    return min(5, max(1, math.floor(value + 0.5)))


def unit_id(task: Task, turn: Turn) -> str:
    """Return the id under which `corpus.read_sense7` knows the turn, so that the acts fit both files."""
    return f"{task.task_id}/{turn.message}"


def earlier(task: Task, turn: Turn) -> str:
    """Return the conversation up to the rated turn, as a JSON list of turns."""
    turns = [{"role": role, "text": text} for role, text in task.messages[: turn.message] if role != "error"]
    return json.dumps(turns, ensure_ascii=False)
