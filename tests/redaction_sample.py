"""A labelled sample of texts with identifiers in them, SYNTHETIC, and how much of it is found.

`python -m tests.redaction_sample` prints recall and precision by kind. No person, number or address in it is
real: names are drawn from lists, domains and numbers are those kept for examples, or have a made-up checksum.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pandas as pd

from sense7_qual import redact

LISTED = [
    "Anna",
    "José",
    "Mehmet Öztürk",
    "Siobhán",
    "Łukasz",
    "Anna-Lena Groß",
    "O'Brien",
    "Nguyễn",
    "田中",
    "अनीता",
]
UNLISTED = ["Priya", "Kowalski", "Annabel", "Gro", "Anne"]
FRAMES = [
    "I told it to write to {} and it did not care.", "{} is what I typed, sorry.",
    "It kept asking ({}) why?!", "my friend said: {}, then nothing", "Reach me: {}\nThanks 😀",
    "“{}” was too much – it felt cold.",
    "It ignored {}. Again.", "so, {}; whatever", "When I mentioned {} it said “I hear you”.",
]  # fmt: skip
# What has the look of an identifier and is none.
HARMLESS = [
    "It took 3 of 10 tries, on 2024-03-17 at 12:30:45.", "version 2.10.3 was better than 1.9",
    "I rated it 4/5 on 12/03/2024 and 10.04.2025", "It cost 1,250,000 or 12 000 000 or 3.14159265 in all",
    "the order 4111 1111 1111 1112 was late", "GB29 is a level in my game", "i like c++::vector and @ home",
    "2001: a space odyssey, and pages 1034-1041", "e.g.this and no.that", "ID 20240317 in room 301",
    "we met @ 5 and I said ok.it was fine", "Error 0x80070057, code 404404", "about 50% of 1000-1500 people",
    "the years 1990 1995 2000", "an average of 4.25 (sd = 0.71, n = 109)",
    "1234567890123456789012 is a long number", "I scrolled 1200 2400 3600 px",
]  # fmt: skip


def _luhn(body: str) -> str:
    return next(body + str(n) for n in range(10) if _sum(body + str(n)) % 10 == 0)


def _sum(number: str) -> int:
    digits = list(map(int, reversed(number)))
    return sum(digits[::2]) + sum(d * 2 - 9 * (d > 4) for d in digits[1::2])


def _card(r: random.Random) -> str:
    prefix, length = r.choice([("4", 16), ("51", 16), ("37", 15), ("6011", 16)])
    number = _luhn(prefix + "".join(r.choices("0123456789", k=length - len(prefix) - 1)))
    part = r.choice(["", " ", "-"])
    return part.join(number[i : i + 4] for i in range(0, length, 4)) if length == 16 else number


def _iban(r: random.Random) -> str:
    country, length = r.choice([("DE", 22), ("NL", 18), ("FR", 27), ("GB", 22), ("NO", 15)])
    bank = "".join(r.choices("ABCDEF", k=4)) if country in {"NL", "GB"} else ""
    body = bank + "".join(r.choices("0123456789", k=length - 4 - len(bank)))
    check = 98 - int("".join(str(int(sign, 36)) for sign in f"{body}{country}00")) % 97
    number = f"{country}{check:02d}{body}"
    return " ".join(number[i : i + 4] for i in range(0, length, 4)) if r.random() < 0.5 else number


def _phone(r: random.Random) -> str:
    n = lambda k: "".join(r.choices("0123456789", k=k))  # noqa: E731
    return r.choice(
        [f"+49 30 {n(6)}", f"+44 (0)20 {n(4)} {n(4)}", f"(555) {n(3)}-{n(4)}", f"555-{n(3)}-{n(4)}",
         f"0171/{n(7)}", f"0049 171 {n(7)}", f"+1{n(10)}", f"020 7946 {n(4)}",
         f"06 {n(2)} {n(2)} {n(2)} {n(2)}", f"555-{n(4)}"]
    )  # fmt: skip


def _email(r: random.Random) -> str:
    name = r.choice(["anna.k", "j_doe+uni", "müller", "o'brien", "x", "first.last-name", "2fast"])
    return f"{name}@{r.choice(['example.org', 'mail.example.co.uk', 'uni-beispiel.de', 'EXAMPLE.COM'])}"


def _url(r: random.Random) -> str:
    return r.choice(
        ["https://example.org/u/anna?x=1", "http://user@example.com:8080/a", "www.example.org",
         "example.com/anna.k", "facebook.com/someone.example", "https://例え.jp/ひと", "https://t.example/AbC_1#x"]
    )  # fmt: skip


def _ip(r: random.Random) -> str:
    return r.choice([f"192.0.2.{r.randrange(256)}", f"2001:db8::{r.randrange(1, 9999)}", "203.0.113.77"])


def _handle(r: random.Random) -> str:
    return r.choice(["@anna_k", "@j.doe", "@Müller77", "@x1"])


def _name(r: random.Random) -> str:
    written = r.choice(LISTED)
    return r.choice([written, written, written.upper(), written.lower(), written.replace("-", " ")])


# What is known not to be found: the rate is told, not hidden.
HARD: dict[str, Callable[[random.Random], str]] = {
    "email": lambda r: r.choice(["anna at example dot org", "anna(at)example.org"]),
    "phone": lambda r: "five five five, " + "".join(r.choices("0123456789", k=4)),
    "handle": lambda r: r.choice(["insta: anna_k", "u/anna_k"]),
    "name": lambda r: r.choice([*UNLISTED, "Ana", "Jos", "Lucasz"]),
    "url": lambda r: "example.xyz",
}
MAKERS = {
    "email": _email, "url": _url, "phone": _phone, "card": _card, "iban": _iban, "ip": _ip, "handle": _handle,
    "name": _name,
}  # fmt: skip


def sample(seed: int = 7, *, per_kind: int = 200) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return units and the identifiers in them (unit_id, kind, start, end, hard)."""
    r = random.Random(seed)
    texts: list[str] = []
    labels = []
    for kind, make in MAKERS.items():
        hard = HARD.get(kind)
        for number in range(per_kind):
            difficult = hard is not None and number % 5 == 4
            written = hard(r) if difficult and hard is not None else make(r)
            before, after = r.choice(FRAMES).split("{}")
            labels.append((f"m{len(texts)}", kind, len(before), len(before + written), difficult))
            texts.append(before + written + after)
    texts += [r.choice(["", "Hm. "]) + r.choice(HARMLESS) for _ in range(per_kind * 2)]
    units = pd.DataFrame({"unit_id": [f"m{i}" for i in range(len(texts))], "text": texts})
    return units, pd.DataFrame(labels, columns=["unit_id", "kind", "start", "end", "hard"])


def scores(seed: int = 7) -> pd.DataFrame:
    """Return, by kind, how many identifiers there are, and which share is found, hidden to the last sign."""
    units, labels = sample(seed)
    found = redact.find(units, names=LISTED)
    hidden = {unit: set() for unit in units["unit_id"]}  # type: dict[str, set[int]]
    for unit, start, end in found[["unit_id", "start", "end"]].itertuples(index=False):
        hidden[unit] |= set(range(start, end))
    covered = [
        set(range(start, end)) <= hidden[unit]
        for unit, start, end in labels[["unit_id", "start", "end"]].itertuples(index=False)
    ]
    labels = labels.assign(covered=covered)
    true = labels.merge(found, on="unit_id", suffixes=("", "_found"))
    overlap = true[(true["start_found"] < true["end"]) & (true["start"] < true["end_found"])]
    right = overlap.drop_duplicates(["unit_id", "start_found"])["kind_found"].value_counts()
    plain = labels[~labels["hard"]].groupby("kind")["covered"]
    n_found = found["kind"].value_counts()
    return pd.DataFrame(
        {
            "n": plain.size(),
            "recall": plain.mean(),
            "n_hard": labels[labels["hard"]].groupby("kind").size(),
            "recall_hard": labels[labels["hard"]].groupby("kind")["covered"].mean(),
            "n_found": n_found,
            "precision": (right / n_found).reindex(n_found.index),
        }
    )


if __name__ == "__main__":
    print(scores().round(3).to_string())
