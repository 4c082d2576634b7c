"""A labelled sample of texts with identifiers in them, SYNTHETIC, and how much of it is found.

`python -m tests.helpers.redaction_sample` prints recall and precision on the half that the patterns were not tuned
on, with `tuning` on the other, and with `page` writes the tables of docs/redaction.md. The halves share no
locale, no form of harmless text and no random number. Addresses, numbers and names are made by Faker, in 46
locales, and written as people write them (`FORMS`), in sentences of their language. No person, number or
address in it is real.
"""
# ruff: noqa: E501, SIM905 – a form or a row of locales a line reads best

from __future__ import annotations

import random
import re
import sys
import unicodedata
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import pandas as pd
from faker import Faker

from sense7_qual import redact
from tests.helpers.places import ROOT
from tests.helpers.redaction_sentences import AT, CALL, CARRIERS, DOT, HANDLE, HARMLESS, ZERO, language

LOCALES = {
    "tuning": "en_US en_IN en_IE de_DE de_CH fr_FR es_ES es_AR pt_BR it_IT sv_SE da_DK pl_PL hu_HU hr_HR tr_TR "
    "uk_UA el_GR ar_AA fa_IR bn_BD th_TH zh_CN".split(),
    "held out": "en_GB en_AU en_CA de_AT fr_CA fr_CH es_MX es_CO pt_PT nl_NL no_NO fi_FI cs_CZ ro_RO ru_RU bg_BG "
    "he_IL ar_SA hi_IN ta_IN vi_VN ja_JP ko_KR".split(),
}
SEEDS = {"tuning": 11, "held out": 20261}
PER_FORM = 4
# Countries of which ISO 13616's registry has an IBAN; Faker makes some for others, too.
IBAN = set("AT BR CH CZ DE DK ES FI FR GB GR IE IT NL NO PL PT RO RU TR UA".split())
WORDS = {
    "en": "zero one two three four five six seven eight nine",
    "de": "null eins zwei drei vier fünf sechs sieben acht neun",
    "fr": "zéro un deux trois quatre cinq six sept huit neuf",
    "es": "cero uno dos tres cuatro cinco seis siete ocho nueve",
    "pt": "zero um dois três quatro cinco seis sete oito nove",
    "it": "zero uno due tre quattro cinque sei sette otto nove",
    "nl": "nul een twee drie vier vijf zes zeven acht negen",
    "tr": "sıfır bir iki üç dört beş altı yedi sekiz dokuz",
    "ru": "ноль один два три четыре пять шесть семь восемь девять",
    "zh": "零 一 二 三 四 五 六 七 八 九",
    "hi": "शून्य एक दो तीन चार पाँच छह सात आठ नौ",
    "ar": "صفر واحد اثنان ثلاثة أربعة خمسة ستة سبعة ثمانية تسعة",
}
# Case endings, and others that are written to a name, of its language; a final vowel gives way to some.
ENDINGS = {
    "ru": "а у ом е ы ой",
    "uk": "а у ом і и ою",
    "bg": "",
    "pl": "a owi em ie y",
    "cs": "a ovi em y ou",
    "hr": "a u om i",
    "fi": "n lle lta",
    "hu": "nak tól ék",
    "de": "s",
    "sv": "s",
    "no": "s",
    "da": "s",
    "nl": "s",
    "en": "s",
}


class Maker:
    """The identifiers of one locale."""

    def __init__(self, locale: str, seed: int) -> None:
        self.r = random.Random(f"{seed} {locale}")
        self.fake = Faker(locale)
        self.fake.seed_instance(self.r.randrange(2**32))
        self.german = Faker("de_DE")
        self.german.seed_instance(self.r.randrange(2**32))
        self.language = language(locale)
        self.unparted = self.language in {"zh", "ja", "ko"}
        self.people = [(self.fake.first_name(), self.fake.last_name()) for _ in range(14)]
        named = [self.full(person) for person in self.people[:6]]
        alone = [] if self.unparted else [first for first, _ in self.people[6:9]]
        self.listed = sorted({name for name in (*named, *alone) if sum(map(str.isalnum, name)) > 1})

    def full(self, person: tuple[str, str]) -> str:
        first, last = person
        return last + first if self.unparted else f"{first} {last}"

    def person(self) -> tuple[str, str]:
        return self.r.choice(self.people[:6])

    def name(self) -> str:
        return self.r.choice(self.listed)

    def stranger(self) -> str:
        return self.r.choice([name for name in map(self.full, self.people[9:]) if name not in self.listed])

    def word(self, words: dict[str, list[str]], english: str) -> str:
        return self.r.choice([english, *words.get(self.language, [english])])

    def email(self) -> str:
        return self.r.choice([self.fake.email, self.fake.company_email, self.fake.free_email])()

    def mailbox(self) -> tuple[str, str]:
        local = self.r.choice(
            [f"{self.fake.user_name()}", f"ana.{self.fake.user_name()}", f"j_{self.r.randrange(99)}"]
        )
        return local, self.r.choice(
            ["gmail.com", "yahoo.com", "web.de", "hotmail.co.uk", self.fake.domain_name()]
        )

    def digits(self, n: int) -> str:
        return "".join(self.r.choices("0123456789", k=n))

    def own_digits(self, text: str) -> str:
        zero = ord(ZERO.get(self.language, "0"))
        return "".join(chr(zero + int(sign)) if sign in "0123456789" else sign for sign in text)


def _dotted(m: Maker) -> str:
    at, dot = m.word(AT, "at"), m.word(DOT, "dot")
    local, domain = m.mailbox()
    return f"{local.replace('.', f' {dot} ')} {at} {domain.replace('.', f' {dot} ')}"


def _in_brackets(m: Maker) -> str:
    at = m.r.choice(["(at)", "[at]", " (at) ", "{at}", " [AT] ", "(@)", "<at>"])
    dot = m.r.choice([".", "(dot)", "[dot]", " (dot) ", " [DOT] "])
    local, domain = m.mailbox()
    return f"{local}{at}{domain.replace('.', dot)}"


def _phone(m: Maker) -> str:
    return str(m.fake.phone_number())


def _abroad(m: Maker) -> str:
    code, area = (
        m.r.choice(["49", "44", "33", "55", "90", "91", "86", "1", "380"]),
        m.r.choice(["30", "171", "0"]),
    )
    form = m.r.choice(
        [
            "+{c} ({z}){a} / {x} {y}",
            "00{c} {a} {x}{y}",
            "+{c}-{a}-{x}-{y}",
            "+ {c} {a} {x} {y}",
            "(+{c}) {a} {x} {y}",
            "+{c}.{a}.{x}{y}",
            "+{c}{a}{x}{y}",
            "+{c} {a}\u00a0{x}\u202f{y}",
            "+{c}–{a}–{x}–{y}",
        ]
    )
    return form.format(c=code, z="0", a=area, x=m.digits(3), y=m.digits(4))


def _home(m: Maker) -> str:
    form = m.r.choice(
        [
            "030-{a}{b}",
            "0171/{a}{b}",
            "030 {a} {c}",
            "06.{c}.{c}.{c}.{c}",
            "(030) {a}{b}",
            "06 {c} {c} {c} {c}",
            "0{a}{b}{c}",
            "555-{a}-{b}",
            "(555) {a}-{b}",
            "555.{a}.{b}",
            "555 {a} {b}",
            "0 1 7 1 2 3 4 {d} {d} {d}",
            "030_{a}_{b}",
        ]
    )
    while "{" in form:
        form = form.replace("{a}", m.digits(3), 1).replace("{b}", m.digits(4), 1)
        form = form.replace("{c}", m.digits(2), 1).replace("{d}", m.digits(1), 1)
    return form


def _short(m: Maker) -> str:
    return m.r.choice(
        [
            f"555 {m.digits(4)}",
            f"555-{m.digits(4)}",
            f"6{m.digits(2)} {m.digits(2)} {m.digits(2)}",
            f"8{m.digits(6)}",
        ]
    )


def _in_words(m: Maker) -> str:
    words = WORDS.get(m.language, WORDS["en"]).split()
    join = "" if m.language == "zh" else m.r.choice([" ", " ", ", ", "-"])
    return join.join(words[int(digit)] for digit in f"5{m.digits(8)}")


def _grouped(number: str, join: str) -> str:
    return join.join(number[i : i + 4] for i in range(0, len(number), 4))


def _iban(m: Maker) -> str:
    number = str(m.fake.iban())
    known = number[:2] in IBAN and (number[:2] != "GB" or len(number) == 22)
    return number if known else str(m.german.iban())


def _card(m: Maker) -> str:
    return str(m.fake.credit_card_number())


def _listed(m: Maker, how: Callable[[str], str]) -> str:
    return how(m.name())


def _without_marks(name: str) -> str:
    spelled = name.translate(
        str.maketrans({"ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "ı": "i", "ß": "ss", "đ": "d", "æ": "ae"})
    )
    latin = "LATIN" in unicodedata.name(spelled[0], "") or "GREEK" in unicodedata.name(spelled[0], "")
    parts = unicodedata.normalize("NFD", spelled) if latin else spelled
    return unicodedata.normalize("NFC", "".join(s for s in parts if not (latin and unicodedata.combining(s))))


def _initialled(m: Maker) -> str:
    first, last = m.person()
    if m.unparted:
        return last + first
    return m.r.choice(
        [
            f"{first[0]}. {last}",
            f"{first[0]} {last}",
            f"{first} {last[0]}.",
            f"{last}, {first}",
            f"{last} {first}",
        ]
    )


def _inflected(m: Maker) -> str:
    name = m.name()
    endings = ENDINGS.get(m.language, "").split()
    if not endings or m.unparted:
        return name
    stem = (
        name[:-1]
        if name[-1] in "аяйьоa" and m.language not in {"de", "sv", "no", "da", "nl", "en", "fi", "hu"}
        else name
    )
    return stem + m.r.choice(endings)


def _misspelt(m: Maker) -> str:
    name = m.name()
    at = m.r.randrange(1, len(name) - 1) if len(name) > 2 else 0
    wrong = name[:at] + name[at + 1 :]
    return wrong if len(wrong) > 1 and wrong not in m.listed else m.stranger()


def _affixed(m: Maker) -> tuple[str, str, str]:
    """A name with what its language writes to it: what comes before, the name, what comes after."""
    after = {
        "tr": ["'ya", "’nın", "'la"],
        "ko": ["이가", "는", "를", "씨"],
        "ja": ["さん", "ちゃん", "は"],
        "zh": ["说", "老师", "的"],
        "hi": ["जी"],
        "fr": [],
        "it": [],
    }.get(m.language, ["'s", "’s", "s'"[1:] + "s"])
    before = {"ar": ["و", "ل", "ب"], "he": ["ו", "ל", "ב", "ש"], "fr": ["d'", "qu’"], "it": ["d'", "l'"]}.get(
        m.language, [""]
    )
    return m.r.choice(before), m.name(), m.r.choice(after) if after and before == [""] else ""


# By kind and form: how it is written. Those that stand in BEYOND cannot be found by their form, and are told apart.
FORMS: dict[str, dict[str, Callable[[Maker], str]]] = {
    "email": {
        "plain": lambda m: m.email(),
        "in capitals": lambda m: m.r.choice([m.email().upper(), m.email().title()]),
        "with a tag": lambda m: m.email().replace("@", f"+{m.r.choice(['x', 'study', '22'])}@"),
        "with spaces or wide signs": lambda m: m.r.choice(
            [
                m.email().replace("@", " @ "),
                m.email().replace("@", "＠"),
                m.email().replace("@", " @").replace(".", " . "),
            ]
        ),
        "at and dot in brackets": _in_brackets,
        "at and dot in words": _dotted,
    },
    "phone": {
        "as in its country": _phone,
        "with its country code": _abroad,
        "common ways": _home,
        "own digits": lambda m: m.own_digits(_phone(m)),
        "short, after a word": _short,
        "digits in words": _in_words,
        "bare digits": lambda m: re.sub(r"[^0-9]", "", _phone(m).partition("x")[0])[:15],
    },
    "iban": {
        "in one": _iban,
        "in fours": lambda m: _grouped(_iban(m), m.r.choice([" ", "\u00a0", "-", "."])),
        "in small letters": lambda m: _iban(m).lower(),
        "mistyped": lambda m: (lambda n: n[:6] + n[7] + n[6] + n[8:])(_iban(m)),
    },
    "card": {
        "in one": _card,
        "in fours": lambda m: _grouped(_card(m), m.r.choice([" ", "-", "\u00a0", ".", "–"])),
        "own digits": lambda m: m.own_digits(_card(m)),
    },
    "url": {
        "whole": lambda m: m.r.choice([m.fake.url(), m.fake.uri()]),
        "without https": lambda m: (
            m.r.choice(["www.", ""]) + m.fake.domain_name() + m.r.choice(["/u/ana", "/", "/~ana?x=1"])
        ),
        "domain alone": lambda m: m.fake.domain_name(),
        "www": lambda m: "www." + m.fake.domain_name(),
        "of a service": lambda m: m.r.choice(
            [
                "t.me/{}",
                "wa.me/49171{}",
                "linktr.ee/{}",
                "instagram.com/{}",
                "youtu.be/{}",
                "bit.ly/{}",
                "discord.gg/{}",
                "vk.com/{}",
            ]
        ).format(m.fake.user_name()),
        "dot in words": lambda m: m.fake.domain_name().replace(".", f" {m.word(DOT, 'dot')} "),
    },
    "ip": {
        "v4": lambda m: m.fake.ipv4(),
        "v6": lambda m: m.fake.ipv6(),
        "v4 with a port": lambda m: m.fake.ipv4() + ":8080",
    },
    "handle": {
        "with @": lambda m: "@" + m.fake.user_name(),
        "dotted with @": lambda m: f"@ana.{m.fake.user_name()}_",
        "after its service": lambda m: m.fake.user_name(),
        "dotted, after its service": lambda m: f"ana.{m.fake.user_name()}",
        "reddit or discord": lambda m: m.r.choice(["u/{}", "/u/{}", "{}#1234"]).format(m.fake.user_name()),
        "alone": lambda m: m.fake.user_name(),
    },
    "name": {
        "as listed": lambda m: m.name(),
        "small or large letters": lambda m: m.r.choice([m.name().lower(), m.name().upper()]),
        "without its accents": lambda m: _without_marks(m.name()),
        "decomposed accents": lambda m: unicodedata.normalize("NFD", m.name()),
        "with an ending or a particle": lambda m: m.name(),
        "inflected": _inflected,
        "initials or turned round": _initialled,
        "first name of a listed full name": lambda m: m.person()[0],
        "misspelt": _misspelt,
        "not listed": lambda m: m.stranger(),
    },
}
BEYOND = {
    ("handle", "alone"),
    ("name", "first name of a listed full name"),
    ("name", "misspelt"),
    ("name", "not listed"),
}


def _around(m: Maker, kind: str, form: str, written: str) -> tuple[str, str, str]:
    """Return the text before, the identifier and the text after."""
    carriers = CARRIERS[m.language]
    if kind == "phone" and (form == "short, after a word" or m.r.random() < 0.5):
        carriers = CALL[m.language]
    if kind == "handle" and "service" in form:
        carriers = HANDLE
    before, after = m.r.choice(carriers).split("{}")
    if form == "mistyped":
        before += "IBAN "
    if form == "initials or turned round" and written.endswith("."):
        written, after = written[:-1], "." + after
    if form == "with an ending or a particle":
        prefix, written, suffix = _affixed(m)
        return before + prefix, written, suffix + after
    return before, written, after


@lru_cache(maxsize=4)
def sample(
    half: str = "held out", *, seed: int | None = None, per_form: int = PER_FORM
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return units (with locale and the kind of harmless text) and the identifiers that stand in them."""
    chosen = SEEDS[half] if seed is None else seed
    texts: list[tuple[str, str, str | None]] = []
    labels = []
    for locale in LOCALES[half]:
        m = Maker(locale, chosen)
        for kind, form, make in (
            (kind, form, make) for kind, forms in FORMS.items() for form, make in forms.items()
        ):
            for _ in range(per_form):
                before, written, after = _around(m, kind, form, make(m))
                labels.append((f"m{len(texts)}", locale, kind, form, len(before), len(before + written)))
                texts.append((locale, before + written + after, None))
        for like, makers in HARMLESS.items():
            for make in makers[half != "tuning" :: 2]:
                before, after = m.r.choice(CARRIERS[m.language]).split("{}")
                texts.append((locale, before + make(m.r) + after, like))
    units = pd.DataFrame(texts, columns=["locale", "text", "harmless"])
    units.insert(0, "unit_id", [f"m{i}" for i in range(len(texts))])
    return units, pd.DataFrame(labels, columns=["unit_id", "locale", "kind", "form", "start", "end"])


def names(half: str, *, seed: int | None = None) -> dict[str, list[str]]:
    """Return the list of names of each locale: of one study's participants, as it were."""
    return {locale: Maker(locale, SEEDS[half] if seed is None else seed).listed for locale in LOCALES[half]}


@lru_cache(maxsize=4)
def searched(
    half: str = "held out", *, seed: int | None = None
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return units, labels (hidden: to the last sign) and what is found (right: some of it is an identifier)."""
    units, labels = sample(half, seed=seed)
    lists = names(half, seed=seed)
    found = pd.concat(
        [
            redact.find(rows.reset_index(drop=True), names=lists[locale])
            for locale, rows in units.groupby("locale", sort=False)
        ],
        ignore_index=True,
    )
    spans = {unit: rows[["start", "end"]].to_numpy().tolist() for unit, rows in found.groupby("unit_id")}
    true = labels.set_index("unit_id")[["start", "end"]]
    labels = labels.assign(
        hidden=[
            set(range(start, end)) <= {place for span in spans.get(unit, []) for place in range(*span)}
            for unit, start, end in labels[["unit_id", "start", "end"]].itertuples(index=False)
        ]
    )
    found = found.merge(units[["unit_id", "locale", "harmless"]], on="unit_id")
    at = true.reindex(found["unit_id"]).to_numpy()
    # NaN where the text holds no identifier.
    overlap = np.fmax(np.minimum(found["end"], at[:, 1]) - np.maximum(found["start"], at[:, 0]), 0)
    found = found.assign(right=overlap > 0, excess=found["end"] - found["start"] - overlap)
    return (
        units,
        labels.assign(beyond=[pair in BEYOND for pair in zip(labels["kind"], labels["form"], strict=True)]),
        found,
    )


def shares(rows: pd.DataFrame, share: str, by: list[str]) -> pd.DataFrame:
    """Return n, the share of rows in which `share` holds, and its 95 % interval (Wilson), by group."""
    from statsmodels.stats.proportion import proportion_confint

    counted = rows.groupby(by, sort=False)[share].agg(n="size", k="sum")
    low, high = proportion_confint(counted["k"].astype(int), counted["n"], method="wilson")
    return pd.DataFrame({"n": counted["n"], share: counted["k"] / counted["n"], "low": low, "high": high})


def untouched(units: pd.DataFrame, found: pd.DataFrame) -> pd.DataFrame:
    """Return the harmless texts, and whether nothing is found in each."""
    harmless = units[units["harmless"].notna()]
    return harmless.assign(untouched=~harmless["unit_id"].isin(found["unit_id"]))


def report(half: str = "held out") -> str:
    """Return the tables of the page on redaction."""
    units, labels, found = searched(half)
    within, kept = labels[~labels["beyond"]], untouched(units, found)
    tables = {
        "Recall by kind": shares(within, "hidden", ["kind"]),
        "Recall by form": shares(labels, "hidden", ["kind", "form"]),
        "Recall by locale": shares(within, "hidden", ["locale"]),
        "Precision by kind": shares(found, "right", ["kind"]),
        "Precision by locale": shares(found, "right", ["locale"]),
        "Harmless texts left alone": shares(kept, "untouched", ["harmless"]),
        "Harmless texts left alone, in all": shares(kept.assign(all="all"), "untouched", ["all"]),
    }
    grid = within.pivot_table(index="locale", columns="kind", values="hidden", aggfunc="mean", sort=False)
    excess = found["excess"].sum() / (found["end"] - found["start"]).sum()
    return "\n\n".join(
        [
            f"{half}: {len(units)} texts, {len(labels)} identifiers, {excess:.3f} of what is hidden is no part of one"
        ]
        + [
            f"{name}\n{table.round(3).to_string()}"
            for name, table in [*tables.items(), ("Recall by locale and kind", grid)]
        ]
    )


def figures(half: str = "held out") -> str:
    """Return the tables that docs/redaction.md shows."""
    units, labels, found = searched(half)
    within, kept = labels[~labels["beyond"]], untouched(units, found)
    lines = []
    for title, by in (("kind", "kind"), ("locale", "locale")):
        recall, precision = shares(within, "hidden", [by]), shares(found, "right", [by])
        lines += ["", f"| {title} | identifiers | recall | found | precision |", "|---|---|---|---|---|"]
        lines += [
            f"| {name} | {recall.loc[name, 'n']} | {_interval(recall.loc[name])} | {precision.loc[name, 'n']} "
            f"| {_interval(precision.loc[name])} |"
            for name in recall.index
        ]
    forms = shares(labels, "hidden", ["kind", "form"])
    lines += [
        "",
        "By form, where recall is below .99:",
        "",
        "| kind, form | n | recall |",
        "|---|---|---|",
    ]
    lines += [
        f"| {', '.join(form)} | {row['n']:.0f} | {_interval(row)} |"
        for form, row in forms.iterrows()
        if row["hidden"] < 0.99
    ]
    alone = shares(kept.assign(all="all"), "untouched", ["all"]).loc["all"]
    excess = found["excess"].sum() / (found["end"] - found["start"]).sum()
    lines += [
        "",
        f"Of {len(kept)} harmless texts (dates, versions, sums, DOIs, code …) {_interval(alone)} were left alone. Of the hidden",
        f"characters, {100 * excess:.1f} % are not part of an identifier.",
        "",
    ]
    return "\n".join(lines)


def _interval(row: pd.Series) -> str:
    share = next(row[name] for name in ("hidden", "right", "untouched") if name in row)
    return f"{share:.3f} [{row['low']:.3f}, {row['high']:.3f}]"


if __name__ == "__main__":
    if sys.argv[1:] == ["page"]:
        page = ROOT / "docs" / "redaction.md"
        start, _, rest = page.read_text("utf-8").partition("Wilson.\n")
        page.write_text(f"{start}Wilson.\n{figures()}{rest[rest.index('## What') - 1 :]}", "utf-8")
    else:
        print(report(*sys.argv[1:]))
