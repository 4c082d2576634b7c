"""A study whose first two coders disagree on every text, for the browser tests of settling."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pandas as pd

import sense7_qual as qual
from sense7_qual import acts, rounds
from tests.helpers.places import ROOT


def disputed(folder: Path, texts: list[str]) -> qual.Store:
    """Make a study whose first two coders disagree on one code of each text, in a round that is unblinded."""
    n = len(texts)
    units = pd.DataFrame(
        {
            "unit_id": [f"t{at:02}" for at in range(n)],
            "text": texts,
            "document_id": "d1",
            "case_id": [f"p{at % 7}" for at in range(n)],
            "position": range(n),
            "context": '[{"role": "user", "text": "Before it."}]',
        }
    )
    book = qual.Codebook.read("sense7")
    store = qual.Store.create(folder, units=units, codebook=book)
    ids, codes = units["unit_id"].tolist(), [code.id for code in book.codable]
    opened = {"units": ids, "coders": ["anabel", "benno"], "coder": "chair", "codebook": book}
    store.append([rounds.open_round("one", **opened)])
    for at, unit_id in enumerate(ids):
        named = {"unit_id": unit_id, "codebook": book, "round": "one"}
        span = {"start": 0, "end": min(6, len(texts[at]))} if at % 2 else {}
        store.append([acts.apply(code=codes[at % 3], coder="anabel", **named, **span)])
        store.append([acts.finish(coder=coder, **named) for coder in ("anabel",)])
        store.append([acts.finish(coder="benno", **named)])
    store.append([rounds.unblind("one", coder="chair", codebook=book)])
    return store


def sentences(n: int) -> list[str]:
    return [f"It listened to me {at} times 👍🏽 and then it lectured me." for at in range(n)]


GROUPS = {"three": 3, "four": 4, "five": 5, "six": 6}
"""Rounds of `ordinary`, each with so many coders."""


def ordinary(folder: Path) -> qual.Store:
    """Make a study in which three to six coders disagree, over short and long texts, on words, with memos.

    Each of the twelve texts, which are 1, 3, 8 or 20 messages of the shipped example, has two disagreements.
    """
    told = qual.corpus.read(ROOT / "data" / "explanations.csv", text="Comment", unit_id="MessageId")["text"]
    sizes, begin = [1, 3, 8, 20, 3, 1, 8, 3, 20, 1, 3, 8], 0
    folder.mkdir(parents=True)
    source = folder / "texts.csv"
    with source.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "text", "person", "before"])
        for at, size in enumerate(sizes):
            before = json.dumps([{"role": "user", "text": told.iloc[-1 - at]}] * 2) if at % 3 else ""
            rows.writerow([f"t{at:02}", " ".join(told.iloc[begin : begin + size]), f"p{at % 5}", before])
            begin += size
    named = {"text": "text", "unit_id": "id", "case_id": "person", "context": "before"}
    units = qual.corpus.read(source, **named)
    book = qual.Codebook.read("sense7")
    store = qual.Store.create(folder / "study", units=units, codebook=book)
    texts = dict(zip(units["unit_id"], units["text"], strict=True))
    for place, (round_, n) in enumerate(GROUPS.items()):
        coders = ["anabel", "benno", "chi", "dee", "eli", "fay"][:n]
        ids = list(texts)[3 * place : 3 * place + 3]
        store.append([rounds.open_round(round_, units=ids, coders=coders, coder="chair", codebook=book)])
        for at, unit_id in enumerate(ids):
            _decide(store, unit_id, texts[unit_id], coders, round_, n_applied=1 + at % (n - 1))
        store.append([rounds.unblind(round_, coder="chair", codebook=book)])
    return store


def long_texts(folder: Path, *, n_coders: int, n: int = 30) -> qual.Store:
    """Make a study with one disagreement on words of each of `n` texts of 300 to 800 letters."""
    told = qual.corpus.read(ROOT / "data" / "explanations.csv", text="Comment", unit_id="MessageId")["text"]
    texts, words = [], list(told)
    while len(texts) < n:
        text = words.pop()
        while len(text) < 300 + 17 * len(texts) % 400:
            text += " " + words.pop()
        texts.append(text[:800])
    folder.mkdir(parents=True)
    source = folder / "texts.csv"
    rows = {
        "id": [f"t{at:02}" for at in range(n)],
        "text": texts,
        "person": [f"p{at % 7}" for at in range(n)],
    }
    pd.DataFrame(rows).to_csv(source, index=False)
    units = qual.corpus.read(source, text="text", unit_id="id", case_id="person")
    store = qual.Store.create(folder / "study", units=units, codebook=qual.Codebook.read("sense7"))
    coders = ["anabel", "benno", "chi", "dee", "eli", "fay"][:n_coders]
    named = {"coder": "chair", "codebook": store.codebook}
    store.append([rounds.open_round("one", units=list(units["unit_id"]), coders=coders, **named)])
    for at, (unit_id, text) in enumerate(zip(units["unit_id"], units["text"], strict=True)):
        _decide(store, unit_id, text, coders, "one", n_applied=1 + at % (n_coders - 1))
    store.append([rounds.unblind("one", **named)])
    return store


def _decide(
    store: qual.Store, unit_id: str, text: str, coders: list[str], round_: str, *, n_applied: int
) -> None:
    """The last coders apply a code to some words; the first and the last one say why, at some length."""
    book = store.codebook
    for place, coder in enumerate(coders):
        named = {"unit_id": unit_id, "coder": coder, "codebook": book, "round": round_}
        steps = [acts.apply(code=code, **named) for code in ("prosocial", "response")[: 1 + place % 2]]
        if place >= len(coders) - n_applied:
            start = len(text) // 3 + place
            steps.append(acts.apply(code="cognitive", start=start, end=start + len(text) // 3, **named))
        if coder in (coders[0], coders[-1]):
            why = "What was understood here is a feeling, not an opinion, as far as I can tell. " * 2
            steps.append(acts.memo(target_kind="unit", text=why, **named))
        store.append([*steps, acts.finish(**named)])


def discussing(folder: Path) -> qual.Store:
    """Make the study of `long_texts` with three coders, who have discussed four texts and read each other."""
    store = long_texts(folder, n_coders=3, n=12)
    ids, talk = store.units["unit_id"].tolist()[:4], "one, discussed"
    named = {"coder": "chair", "codebook": store.codebook}
    coders = list(store.rounds[0].coders)
    store.append([rounds.open_round(talk, units=ids, coders=coders, discusses="one", **named)])
    for coder, done in zip(coders, (ids, ids[:3], ids[:1]), strict=True):
        own = {"coder": coder, "codebook": store.codebook, "round": talk}
        steps = rounds.own_codings(store.acts(), store.rounds[-1], coder=coder, codebook=store.codebook)
        if coder == coders[0]:
            steps += [
                acts.apply(unit_id=ids[0], code="cognitive", start=40, end=160, **own),
                acts.remove(unit_id=ids[1], code="prosocial", **own),
            ]
        store.append([*steps, *(acts.finish(unit_id=one, **own) for one in done)])
    asked = acts.memo(
        unit_id=ids[0],
        round=talk,
        coder=coders[1],
        codebook=store.codebook,
        text="Is putting words in my mouth a failure to understand, or is it only rude? " * 2,
    )
    reply = acts.memo(
        unit_id=ids[0],
        round=talk,
        coder=coders[0],
        codebook=store.codebook,
        answers=asked.memo_id,
        text="It is one: the rule says that what was meant has to come back in other words.",
    )
    store.append([asked])
    store.append([reply])
    store.append([rounds.unblind(talk, **named)])
    return store


def many_codes(folder: Path) -> qual.Store:
    """Make a study of 66 codes of three words in four levels; two coders applied one to each text."""
    first = ["Warm", "Cold", "Distant", "Careful", "Practical"]
    second = ["attention", "encouragement", "understanding", "disappointment"]
    codes: list[qual.codebook.Code] = []

    def add(path: str, label: str, *, codable: bool = True) -> None:
        above = path[:-1] or None
        codes.append(
            qual.codebook.Code(id=f"c{path}", label=label, codable=codable, parent=above and f"c{above}")
        )

    for a in range(3):
        add(f"{a}", f"{first[a]} response quality", codable=False)
        for b in range(3):
            add(f"{a}{b}", f"{second[b].capitalize()} after disclosure", codable=False)
            for c in range(2):
                add(f"{a}{b}{c}", f"{first[c]} {second[(b + c) % 4]} given")
                for d in range(2):
                    add(f"{a}{b}{c}{d}", f"{first[2 + c + d]} {second[(b + d) % 4]} received")
    book = qual.Codebook(name="many", title="Many codes", codes=tuple(codes))
    told = qual.corpus.read(
        ROOT / "data" / "explanations.csv",
        text="Comment",
        unit_id="MessageId",
        document_id="TaskId",
        case_id="PID",
        position="Position",
    )
    store = qual.Store.create(folder, units=told.head(40), codebook=book)
    for at, unit_id in enumerate(told["unit_id"][:39]):
        for number, coder in enumerate(("anabel", "benno")):
            named = {"unit_id": unit_id, "coder": coder, "codebook": book}
            applied = book.codable[(at + number * (at % 5 == 0)) % len(book.codable)]
            store.append([acts.apply(code=applied.id, **named), acts.finish(**named)])
    return store
