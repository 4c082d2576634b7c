"""Make the synthetic example data in data/: invented explanations, ratings, conversations and coders' acts.

Nothing here comes from a participant. Every text is put together from the wording in example_texts.yaml, by
a seed; running the script again gives the same bytes (the workbook: under the same openpyxl):

    python scripts/make_example.py            # writes into data/
    python scripts/make_example.py FOLDER     # writes into FOLDER

What is planted, so that the tutorials have something to find: which dimensions a text praises or faults
(and on which words), ratings that depend on them, participants who rate higher or lower throughout, a better
and a worse system, two themes that no code covers (privacy, speed), and coders who overlook and confuse. In
the follow-up, a second study of other participants, these two themes make two of five texts, and most
texts say a feeling that moves the rating and has nothing to do with what the text is about.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from example_conversations import (
    CODES,
    TEXTS,
    Draws,
    FollowUp,
    Span,
    Task,
    Turn,
    Writer,
    conversations,
    earlier,
    level,
    unit_id,
)

from sense7_qual import acts
from sense7_qual.codebook import Codebook

SEED: Final = 14
N_FOLLOW_UP: Final = 240
LABELS: Final = ("very poor", "poor", "neutral", "good", "very good")

# How often a coder sees a dimension that is there, per code; how often one that is not; how often on a span.
SEES: Final = {
    "ana": (0.97, 0.92, 0.93, 0.95, 0.92, 0.76, 0.93),
    "ben": (0.92, 0.88, 0.90, 0.86, 0.90, 0.44, 0.88),
    "chi": (0.90, 0.80, 0.84, 0.92, 0.84, 0.47, 0.90),
}
IMAGINES: Final = {"ana": 0.008, "ben": 0.016, "chi": 0.022}
SPANS: Final = {"ana": 0.6, "ben": 0.4, "chi": 0.5}
# What a coder who overlooks a dimension takes it for.
CONFUSED: Final = {
    "affective": "prosocial",
    "cognitive": "contextual",
    "response": "cognitive",
    "prosocial": "affective",
    "interest": "relational",
    "contextual": "cognitive",
    "relational": "contextual",
}


def explanations_csv(tasks: Sequence[Task], *, feelings: bool = False) -> bytes:
    """Return one row per explained turn, with the planted feeling where it is asked for."""
    out = io.StringIO(newline="")
    rows = csv.writer(out, lineterminator="\n")
    head = ["MessageId", "TaskId", "PID", "Model", "Position", "EmpathyOverall"]
    last = ["Comment", "Context", *(["Feeling"] if feelings else []), "Origin"]
    rows.writerow([*head, *(code.capitalize() for code in CODES), *last])
    for task in tasks:
        for turn in (turn for turn in task.turns if turn.text):
            ids = [unit_id(task, turn), task.task_id, task.participant.pid, task.system, turn.message]
            ratings = [
                "" if turn.overall is None else turn.overall,
                *(turn.dimensions.get(c, "") for c in CODES),
            ]
            felt = [turn.feeling] if feelings else []
            rows.writerow([*ids, *ratings, turn.text, earlier(task, turn), *felt, "synthetic"])
    return out.getvalue().encode()


# The columns that Qualtrics writes before those of the questions: name, heading, import id.
QUALTRICS: Final = (
    ("StartDate", "Start Date", "startDate"),
    ("EndDate", "End Date", "endDate"),
    ("Status", "Response Type", "status"),
    ("IPAddress", "IP Address", "ipAddress"),
    ("Progress", "Progress", "progress"),
    ("Duration (in seconds)", "Duration (in seconds)", "duration"),
    ("Finished", "Finished", "finished"),
    ("RecordedDate", "Recorded Date", "recordedDate"),
    ("ResponseId", "Response ID", "_recordId"),
    ("RecipientLastName", "Recipient Last Name", "recipientLastName"),
    ("RecipientFirstName", "Recipient First Name", "recipientFirstName"),
    ("RecipientEmail", "Recipient Email", "recipientEmail"),
    ("ExternalReference", "External Data Reference", "externalDataReference"),
    ("LocationLatitude", "Location Latitude", "locationLatitude"),
    ("LocationLongitude", "Location Longitude", "locationLongitude"),
    ("DistributionChannel", "Distribution Channel", "distributionChannel"),
    ("UserLanguage", "User Language", "userLanguage"),
)
QUESTIONS: Final = (
    ("Q1", "Overall, how empathetic was the AI?\n1 = very poor, 5 = very good", "QID1"),
    ("Q2", "Why did you give this rating?", "QID2_TEXT"),
    ("Q3", "Think of another answer of the AI. How empathetic was it?", "QID3"),
    ("Q4", "Why?", "QID4_TEXT"),
)
N_PREVIEWS: Final = 2


def survey_export(tasks: Sequence[Task], draws: Draws) -> bytes:
    """Return the first two explanations of each participant as Qualtrics would export them, after previews.

    The addresses are of the blocks that RFC 5737 reserves for documentation, the places are drawn.
    """
    said: dict[str, list[Turn]] = {}
    for task in tasks:
        said.setdefault(task.participant.pid, []).extend(turn for turn in task.turns if turn.text)
    out = io.StringIO(newline="")
    rows = csv.writer(out, lineterminator="\r\n", quoting=csv.QUOTE_MINIMAL)
    columns = (*QUALTRICS, *QUESTIONS)
    rows.writerow(name for name, _, _ in columns)
    rows.writerow(heading for _, heading, _ in columns)
    rows.writerow(json.dumps({"ImportId": each}, separators=(",", ":")) for _, _, each in columns)
    clock = datetime(2026, 1, 12, 9)
    for number in range(N_PREVIEWS):
        clock += timedelta(minutes=3)
        rows.writerow([*_response(clock, draws, status=1, number=number), 3, "test test test", 3, ""])
    for number, pid in enumerate(sorted(said), start=1):
        clock += timedelta(minutes=10 + draws.below(240))
        first, *others = said[pid]
        second = others[0] if others and draws.chance(0.85) else Turn(0)
        answers = [first.overall or "", first.text, second.overall or "", second.text]
        rows.writerow([*_response(clock, draws, status=0, number=number), *answers])
    return out.getvalue().encode("utf-8-sig")


def _response(start: datetime, draws: Draws, *, status: int, number: int) -> list[object]:
    """Return the cells of the columns before those of the questions."""
    seconds = 150 + draws.below(900)
    end = start + timedelta(seconds=seconds)
    response = f"R_{draws.uuid().replace('-', '')[:15]}"
    place = [f"{47 + draws.normal(0.2):.4f}", f"{8 + draws.normal(0.2):.4f}"]
    return [
        *(f"{start:%Y-%m-%d %H:%M:%S}", f"{end:%Y-%m-%d %H:%M:%S}", status, f"198.51.100.{number}"),
        *(100, seconds, 1, f"{end:%Y-%m-%d %H:%M:%S}", response, "", "", "", "synthetic"),
        *(*place, "preview" if status else "anonymous", "EN"),
    ]


def workbook(tasks: Sequence[Task], draws: Draws) -> bytes:
    """Return the same conversations in the shape of the SENSE-7 workbook: Tasks and Messages."""
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None  # noqa: S101 – a new workbook has a sheet
    sheet.title = "Tasks"
    after = [f"PostTaskEmpathy_{code.capitalize()}" for code in CODES]
    items = [
        f"PostTaskExperience_{name}" for name in ("Successful", "Engaged", "PositiveInteraction", "UseAgain")
    ]
    before = ["PreTaskChoice", "PreTaskImportance", "PreTaskDesiredEmpathy"]
    sheet.append(["PID", "Model", "TaskId", *before, *items, *after])
    messages = book.create_sheet("Messages")
    rated = ["EmpathyOverall", *(code.capitalize() for code in CODES)]
    messages.append(
        ["TaskId", "MessageId", "TimeOffsetSeconds", "Role", "Content", "Retry", *rated, "Comment"]
    )
    for task in tasks:
        given = [turn.overall for turn in task.turns if turn.overall]
        mean = sum(given) / len(given) if given else 3.0
        answers = [level(mean + draws.normal(0.6)) for _ in (*items, *after)]
        chosen = [task.topic["about"], 1 + draws.below(5), 1 + draws.below(3)]
        sheet.append([task.participant.pid, task.system, task.task_id, *chosen, *answers])
        _messages(messages, task, draws)
    about = book.create_sheet("About")
    about.append(["SYNTHETIC. Made by scripts/make_example.py; no row comes from a participant."])
    return _same_bytes(book)


def _messages(sheet: Any, task: Task, draws: Draws) -> None:
    """Add the rows of one conversation, with ratings written in the ways that the data set has."""
    turns, seconds = {turn.message: turn for turn in task.turns}, 0
    for number, (role, text) in enumerate(task.messages, start=1):
        seconds += 5 + draws.below(60)
        row = [task.task_id, number, seconds, role, text, 0]
        if number in turns:
            turn = turns[number]
            values = [turn.overall, *(turn.dimensions.get(code) for code in CODES)]
            row += [_label(value, draws) for value in values] + [turn.text or None]
        sheet.append(row)


def _label(value: int | None, draws: Draws) -> str | int | None:
    if value is None:
        return "unknown" if draws.chance(0.3) else None
    word = LABELS[value - 1]
    written: tuple[str | int, ...] = (word, word, word, word.title(), f" {word} ", value)
    return draws.pick(written)


def _same_bytes(book: Any) -> bytes:
    """Save a workbook without the clock: fixed times, members stored unpacked."""
    packed, same = io.BytesIO(), io.BytesIO()
    book.save(packed)
    stamp = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
    with zipfile.ZipFile(packed) as old, zipfile.ZipFile(same, "w", zipfile.ZIP_STORED) as new:
        for name in sorted(old.namelist()):
            content = old.read(name)
            if name == "docProps/core.xml":
                content = stamp.sub(b"2026-01-05T09:00:00Z", content)
            new.writestr(zipfile.ZipInfo(name, (2026, 1, 5, 9, 0, 0)), content)
    return same.getvalue()


@dataclass(slots=True)
class Desk:
    """One coder at work: their acts so far and their clock."""

    coder: str
    codebook: Codebook
    draws: Draws
    clock: datetime
    done: list[acts.Act]

    def do(self, verb: Any, *about: Any, seconds: int = 8, **values: Any) -> acts.Act:
        """Do one act, a few seconds after the last."""
        self.clock += timedelta(seconds=2 + self.draws.below(seconds), milliseconds=self.draws.below(1000))
        at = self.clock.isoformat(timespec="milliseconds") + "Z"
        by = {} if about else {"coder": self.coder}
        act = verb(*about, **by, **values, codebook=self.codebook, act_id=self.draws.uuid(), at=at)
        assert isinstance(act, acts.Act)  # noqa: S101 – for the type checker
        self.done.append(act)
        return act

    def next_day(self) -> None:
        self.clock = (self.clock + timedelta(days=1)).replace(hour=9, minute=self.draws.below(50))


def example_acts(tasks: Sequence[Task], draws: Draws) -> bytes:
    """Return the acts of three synthetic coders and of the lead who rules, one JSON object a line."""
    units = [(unit_id(task, turn), turn) for task in tasks for turn in task.turns if turn.text]
    codebook = Codebook.read("sense7")
    dealt = draws.shuffled(units)
    half = len(units) // 2
    # ana codes everything; ben and chi each code half, half of that half in common.
    plan = {"ana": units, "ben": dealt[:half], "chi": dealt[half // 2 : half // 2 + half]}
    record: list[acts.Act] = []
    for day, (coder, theirs) in enumerate(plan.items()):
        desk = Desk(coder, codebook, draws, datetime(2026, 2, 2 + day, 9), [])
        unfinished = 0 if coder == "ana" else 7
        for number, (unit, turn) in enumerate(theirs):
            if number and number % 60 == 0:
                desk.next_day()
            code_unit(desk, unit, turn, finish=number < len(theirs) - unfinished)
        record += desk.done
    lead = Desk("lead", codebook, draws, datetime(2026, 3, 2, 9), [])
    lead.do(
        acts.memo,
        target_kind="study",
        text="SYNTHETIC: these acts were drawn by scripts/make_example.py; nobody coded anything.",
    )
    for unit, code, applied in rulings(dict(units), acts.fold(record), draws):
        lead.do(acts.rule, unit_id=unit, code=code, applied=applied, seconds=40)
    return "".join(f"{line(act)}\n" for act in (*record, *lead.done)).encode()


def line(act: acts.Act) -> str:
    """Return an act as JSON, without the fields that it does not have."""
    return json.dumps(
        {name: value for name, value in asdict(act).items() if value is not None}, ensure_ascii=False
    )


def code_unit(desk: Desk, unit: str, turn: Turn, *, finish: bool) -> None:
    """Let the coder read a unit, apply what they see, have second thoughts, and finish it."""
    draws = desk.draws
    desk.clock += timedelta(seconds=4 + len(turn.text) // 12)
    seen = list(judged(desk, turn))
    if draws.chance(0.04):
        slip = desk.do(acts.apply, unit_id=unit, code=draws.pick(CODES))
        if draws.chance(0.5):
            desk.do(acts.undo, slip, seconds=3)
        else:
            desk.do(acts.remove, unit_id=unit, code=slip.code, seconds=5)
    for values in seen:
        act = desk.do(acts.apply, unit_id=unit, **values)
        if draws.chance(0.02):
            desk.do(acts.undo, act, seconds=3)
            desk.do(acts.redo, act, seconds=6)
    if draws.chance(0.05):
        desk.do(acts.memo, unit_id=unit, text=draws.pick(TEXTS["memos"]), seconds=40)
    if not finish and seen:
        return
    desk.do(acts.finish, unit_id=unit, seconds=4)
    if seen and draws.chance(0.02):
        desk.do(acts.reopen, unit_id=unit, seconds=20)
        desk.do(acts.apply, unit_id=unit, **(seen[0] | {"confidence": "unsure"}))
        desk.do(acts.finish, unit_id=unit)


def judged(desk: Desk, turn: Turn) -> Iterator[dict[str, Any]]:
    """Yield what the coder applies to a text: each code once a span, or once on the whole unit."""
    draws, coder = desk.draws, desk.coder
    for number, code in enumerate(CODES):
        there = [span for span in turn.spans if span.code == code]
        if there and draws.chance(SEES[coder][number]):
            yield from applied(desk, turn, code, there)
        elif there and draws.chance(0.4):
            taken = CONFUSED[code]
            if taken not in {span.code for span in turn.spans}:
                yield from applied(desk, turn, taken, there[:1])
        elif not there and draws.chance(IMAGINES[coder]):
            yield {"code": code, "confidence": "unsure" if draws.chance(0.5) else None}


def applied(desk: Desk, turn: Turn, code: str, there: Sequence[Span]) -> Iterator[dict[str, Any]]:
    draws = desk.draws
    doubt = {"confidence": "unsure"} if draws.chance(0.3 if code == "contextual" else 0.08) else {}
    if draws.chance(SPANS[desk.coder]):
        for span in there:
            start, end = drawn(turn.text, span, draws)
            yield {"code": code, "start": start, "end": end, **perceived([span], draws), **doubt}
    else:
        yield {"code": code, **perceived(there, draws), **doubt}


def perceived(there: Sequence[Span], draws: Draws) -> dict[str, Any]:
    """Return the facets with the valence that a coder gives: the planted one, but for slips and omissions."""
    planted = {span.valence for span in there}
    valence = "mixed" if len(planted) > 1 else planted.pop()
    if draws.chance(0.04):
        return {}
    if draws.chance(0.05):
        valence = draws.pick(("met", "unmet", "mixed"))
    return {"facets": {"valence": valence}}


def drawn(text: str, span: Span, draws: Draws) -> tuple[int, int]:
    """Return the span as a coder drew it: exactly, up to the end of the sentence, or a word short."""
    kind = draws.below(100)
    if kind < 20:
        stop = re.compile(r"[.!?\n]").search(text, span.end - 1)
        return span.start, max(span.end, stop.start() if stop else span.end)
    words = text[span.start : span.end].split(" ")
    if kind < 35 and len(words) > 3:
        return span.start + len(words[0]) + 1, span.end
    return span.start, span.end


def rulings(units: dict[str, Turn], record: acts.Record, draws: Draws) -> Iterator[tuple[str, str, bool]]:
    """Yield the lead's verdict on most unit × code pairs on which finished coders differ."""
    finished: dict[str, set[str]] = {}
    given: dict[tuple[str, str], set[str]] = {}
    for unit, coder in record.coverage[["unit_id", "coder"]].to_numpy():
        finished.setdefault(unit, set()).add(coder)
    for unit, code, coder in record.codings[["unit_id", "code", "coder"]].to_numpy():
        given.setdefault((unit, code), set()).add(coder)
    for unit, turn in units.items():
        for code in CODES:
            coders = finished.get(unit, set())
            yes = given.get((unit, code), set()) & coders
            if yes and yes != coders and draws.chance(0.8):
                truth = any(span.code == code for span in turn.spans)
                yield unit, code, truth if draws.chance(0.95) else not truth


def main(folder: Path) -> None:
    """Write the example into `folder`."""
    tasks = conversations(Writer(Draws(SEED)))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "explanations.csv").write_bytes(explanations_csv(tasks))
    (folder / "sense7_synthetic.xlsx").write_bytes(workbook(tasks, Draws(SEED + 1)))
    (folder / "example_acts.jsonl").write_bytes(example_acts(tasks, Draws(SEED + 2)))
    (folder / "survey_export.csv").write_bytes(survey_export(tasks, Draws(SEED + 5)))
    later = conversations(FollowUp(Draws(SEED + 3)), n_texts=N_FOLLOW_UP, task="F", first=41)
    (folder / "follow_up.csv").write_bytes(explanations_csv(later, feelings=True))
    (folder / "follow_up_acts.jsonl").write_bytes(example_acts(later, Draws(SEED + 4)))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "data")
