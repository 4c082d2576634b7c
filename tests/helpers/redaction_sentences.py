"""What stands around an identifier, by language, and what merely looks like one; SYNTHETIC, nobody wrote it.

The sentences were put down before the patterns were tuned. In `CARRIERS` each {} is an identifier; `CALL` leads
up to a telephone number; `AT` and `DOT` are what people write out in an address.
"""

# ruff: noqa: E501 – one language or kind a line reads best

from __future__ import annotations

import random
from collections.abc import Callable

__all__ = ["AT", "CALL", "CARRIERS", "DOT", "HANDLE", "HARMLESS", "ZERO", "language"]

CARRIERS = {
    "en": [
        "I told it {} and it just said it understood",
        "When it asked who I was I typed {}. It felt cold.",
        "Cold. {} was all it needed, and it still went on about itself!",
        "({})",
        "It kept asking\n{}\nwhy?",
    ],
    "de": [
        "Ich habe ihm {} geschrieben und es kam nichts",
        "Als es fragte, schrieb ich {}. Das war kalt.",
        "Kalt. „{}“ stand da, und es ging nicht darauf ein!",
    ],
    "fr": [
        "Je lui ai donné {} et il n'a pas réagi",
        "Quand il a demandé, j'ai écrit {}. C'était froid.",
        "Froid : « {} », et rien ensuite !",
    ],
    "es": ["Le dije {} y no le importó", "Cuando preguntó escribí {}. Fue muy frío.", "¿Por qué quiere {}?"],
    "pt": ["Eu disse {} e ele não ligou", "Quando perguntou, escrevi {}. Foi frio.", "Para que quer {}?"],
    "it": ["Gli ho scritto {} e non ha capito", "Quando ha chiesto ho messo {}. Freddo.", "Perché vuole {}?"],
    "nl": ["Ik gaf {} door en het deed niets", "Toen typte ik {}. Het voelde koud.", "Waarom wil het {}?"],
    "sv": ["Jag skrev {} och den brydde sig inte", "Då skrev jag {}. Det kändes kallt.", "Varför {}?"],
    "no": ["Jeg skrev {} og den brydde seg ikke", "Da skrev jeg {}. Det føltes kaldt.", "Hvorfor {}?"],
    "da": ["Jeg skrev {} og den var ligeglad", "Så skrev jeg {}. Det føltes koldt.", "Hvorfor {}?"],
    "fi": ["Kirjoitin {} eikä se välittänyt", "Sitten kirjoitin {}. Tuntui kylmältä.", "Miksi {}?"],
    "pl": ["Napisałem {} i nic go to nie obeszło", "Wtedy wpisałem {}. Było chłodno.", "Po co mu {}?"],
    "cs": ["Napsal jsem {} a nic", "Pak jsem napsal {}. Bylo to chladné.", "Proč chce {}?"],
    "hu": ["Megírtam neki: {} és nem érdekelte", "Aztán beírtam, {}. Hideg volt.", "Minek neki {}?"],
    "ro": ["I-am scris {} și nu i-a păsat", "Apoi am scris {}. A fost rece.", "De ce vrea {}?"],
    "hr": ["Napisao sam {} i ništa", "Onda sam upisao {}. Bilo je hladno.", "Zašto traži {}?"],
    "tr": ["Ona {} yazdım ama umursamadı", "Sorunca {} yazdım. Soğuktu.", "Neden {} istiyor?"],
    "ru": ["Я написал ему {} и он не понял", "Тогда я написал {}. Было холодно.", "Зачем ему {}?"],
    "uk": ["Я написав йому {} а він не зрозумів", "Тоді я написав {}. Було холодно.", "Навіщо йому {}?"],
    "bg": ["Написах му {} и не го интересуваше", "Тогава написах {}. Беше студено.", "Защо иска {}?"],
    "el": ["Του έγραψα {} και δεν τον ένοιαξε", "Μετά έγραψα {}. Ήταν ψυχρό.", "Γιατί θέλει {};"],
    "he": ["כתבתי לו {} והוא לא הבין", "אז כתבתי {}. זה היה קר.", "למה הוא רוצה {}?"],
    "ar": ["كتبت له {} ولم يهتم", "عندما سأل كتبت {}. كان باردا.", "لماذا يريد {}؟"],
    "fa": ["به او نوشتم {} و اهمیت نداد", "بعد نوشتم {}. سرد بود.", "چرا {} را می‌خواهد؟"],
    "hi": ["मैंने उसे {} लिखा और उसने ध्यान नहीं दिया", "फिर मैंने {} लिखा। यह ठंडा लगा।", "उसे {} क्यों चाहिए?"],
    "bn": ["আমি তাকে {} লিখেছিলাম, সে বোঝেনি", "তারপর লিখলাম {}। ঠান্ডা লাগল।", "কেন {} চায়?"],
    "ta": ["நான் {} என்று எழுதினேன், அது கவனிக்கவில்லை", "பிறகு {} எழுதினேன்.", "ஏன் {} வேண்டும்?"],
    "th": ["ฉันพิมพ์ {} ไปแล้วมันไม่สนใจ", "ฉันพิมพ์{}แล้วมันก็เงียบ", "ทำไมต้องการ {}?"],
    "vi": ["Tôi viết {} và nó không quan tâm", "Rồi tôi gõ {}. Thật lạnh lùng.", "Tại sao cần {}?"],
    "zh": ["我告诉它{}但是它不在乎", "它问我的时候，我写了{}。很冷淡。", "为什么要 {} 呢？", "“{}”，就这样"],
    "ja": ["私は{}と書いたのに冷たかった", "聞かれたので{}を入力しました。冷たい。", "なぜ「{}」が必要？"],
    "ko": ["나는 {}라고 썼는데 관심이 없었다", "물어봐서 {}을 입력했다. 차가웠다.", "왜 {} 필요해?"],
    "id": ["Saya tulis {} dan dia tidak peduli", "Lalu saya ketik {}. Rasanya dingin.", "Kenapa mau {}?"],
}

CALL = {
    "en": ["call me on {}", "my number is {} ok", "Tel. {}", "text {} after six", "cell: {}"],
    "de": ["ruf mich an: {}", "meine Nummer ist {}", "Tel.: {}", "Handy {} abends"],
    "fr": ["appelle-moi au {}", "mon numéro est le {}", "tél : {}"],
    "es": ["llámame al {}", "mi número es {}", "tel. {}", "mi móvil: {}"],
    "pt": ["me liga no {}", "meu número é {}", "telefone {}", "zap {}"],
    "it": ["chiamami al {}", "il mio numero è {}", "cell. {}"],
    "nl": ["bel me op {}", "mijn nummer is {}"],
    "sv": ["ring mig på {}", "mitt nummer är {}"],
    "no": ["ring meg på {}", "nummeret mitt er {}"],
    "da": ["ring til mig på {}", "mit nummer er {}"],
    "fi": ["soita {}", "numeroni on {}"],
    "pl": ["zadzwoń {}", "mój numer to {}"],
    "cs": ["zavolej mi na {}", "moje číslo je {}"],
    "hu": ["hívj fel: {}", "a számom {}"],
    "ro": ["sună-mă la {}", "numărul meu este {}"],
    "hr": ["nazovi me na {}", "moj broj je {}"],
    "tr": ["beni ara {}", "numaram {}", "telefonum {}"],
    "ru": ["позвони мне {}", "мой номер {}", "тел. {}"],
    "uk": ["подзвони мені {}", "мій номер {}"],
    "bg": ["обади ми се на {}", "номерът ми е {}"],
    "el": ["πάρε με στο {}", "το τηλέφωνό μου είναι {}"],
    "he": ["תתקשר אלי {}", "הטלפון שלי {}"],
    "ar": ["اتصل بي على {}", "رقمي هو {}", "هاتف {}"],
    "fa": ["به من زنگ بزن {}", "شماره من {}"],
    "hi": ["मुझे {} पर कॉल करो", "मेरा नंबर {} है"],
    "bn": ["আমার নম্বর {}", "ফোন করো {}"],
    "ta": ["என் எண் {}", "தொலைபேசி {}"],
    "th": ["โทรหาฉันที่ {}", "เบอร์ของฉัน {}"],
    "vi": ["gọi cho tôi {}", "số điện thoại {}"],
    "zh": ["我的电话是{}", "手机{}", "打给我 {}"],
    "ja": ["電話は{}です", "携帯:{}"],
    "ko": ["전화번호는 {}입니다", "연락처 {}"],
    "id": ["telepon saya {}", "nomor saya {}", "hp {}"],
}

AT = {
    "de": ["at", "ät"],
    "fr": ["arobase", "at"],
    "es": ["arroba"],
    "pt": ["arroba"],
    "it": ["chiocciola"],
    "nl": ["apenstaartje", "at"],
    "pl": ["małpa"],
    "cs": ["zavináč"],
    "hu": ["kukac"],
    "tr": ["at", "et"],
    "ru": ["собака"],
    "uk": ["равлик", "собака"],
    "he": ["שטרודל"],
    "ar": ["آت"],
    "hi": ["एट"],
    "zh": ["艾特", "at"],
    "ja": ["アットマーク", "at"],
    "ko": ["골뱅이"],
}
DOT = {
    "de": ["punkt"],
    "fr": ["point"],
    "es": ["punto"],
    "pt": ["ponto"],
    "it": ["punto"],
    "nl": ["punt"],
    "pl": ["kropka"],
    "cs": ["tečka"],
    "hu": ["pont"],
    "tr": ["nokta"],
    "ru": ["точка"],
    "uk": ["крапка"],
    "he": ["נקודה"],
    "ar": ["نقطة"],
    "hi": ["डॉट"],
    "zh": ["点"],
    "ja": ["ドット"],
    "ko": ["점", "닷"],
}
#: The zero of the digits that are written beside 0–9.
ZERO = {"ar": "٠", "fa": "۰", "hi": "०", "bn": "০", "th": "๐", "zh": "０", "ja": "０"}
#: Where a user name is given without an @; names of services are the same in most languages.
HANDLE = [
    "instagram: {}",
    "insta {}",
    "IG: {}",
    "my insta is {}",
    "twitter: {}",
    "Telegram – {}",
    "snap: {}",
    "discord: {}",
    "I am {} on reddit",
    "tiktok {}",
    "add me on snapchat: {}",
    "Skype-ID {}",
]


def language(locale: str) -> str:
    """Return the language of a locale, English where there are no sentences in it."""
    return locale[:2] if locale[:2] in CARRIERS else "en"


def _digits(r: random.Random, n: int) -> str:
    return r.choice("123456789") + "".join(r.choices("0123456789", k=n - 1))


def _isbn(r: random.Random) -> str:
    body = "978" + _digits(r, 9)
    check = -sum(int(digit) * (1, 3)[place % 2] for place, digit in enumerate(body)) % 10
    return f"978-{body[3]}-{body[4:6]}-{body[6:12]}-{check}"


def _hour(r: random.Random) -> str:
    return f"{r.randrange(24):02d}:{r.randrange(60):02d}"


def _date(r: random.Random, form: str) -> str:
    return form.format(y=r.randrange(1950, 2030), m=r.randrange(1, 13), d=r.randrange(1, 29))


#: By kind of look-alike; every other one is for tuning, the rest for the report (redaction_sample.halves).
HARMLESS: dict[str, list[Callable[[random.Random], str]]] = {
    "year": [
        lambda r: f"in {r.randrange(1900, 2030)}",
        lambda r: f"{r.randrange(1900, 1999)}-{r.randrange(2000, 2030)}",
        lambda r: f"{r.randrange(1980, 1999)} {r.randrange(2000, 2010)} {r.randrange(2010, 2030)}",
        lambda r: f"1990/1995/2000/{r.randrange(2001, 2030)}",
    ],
    "date": [
        lambda r: _date(r, "{y}-{m:02d}-{d:02d}"),
        lambda r: _date(r, "{d}.{m}.{y}"),
        lambda r: _date(r, "{m}/{d}/{y} ") + _hour(r),
        lambda r: _date(r, "{y}{m:02d}{d:02d}"),
        lambda r: _date(r, "{d:02d}.{m:02d}.{y}, ") + _hour(r),
        lambda r: _date(r, "{y}年{m}月{d}日"),
        lambda r: _date(r, "{d:02d}-{m:02d}-{y}"),
        lambda r: _date(r, "{y}-{m:02d}-{d:02d}T") + _hour(r) + ":07Z",
        lambda r: _date(r, "{d}. {m}. {y}"),
        lambda r: _date(r, "{d:02d}/{m:02d}/{y}-") + _date(r, "{d:02d}/{m:02d}/{y}"),
    ],
    "time": [
        _hour,
        lambda r: f"{_hour(r)}-{_hour(r)}",
        lambda r: f"{_hour(r)}:{r.randrange(60):02d}.{_digits(r, 3)}",
        lambda r: f"{_hour(r)} - {_hour(r)} and {_hour(r)}",
    ],
    "rating": [
        lambda r: f"{r.randrange(1, 6)}/5",
        lambda r: f"{r.randrange(1, 10)} out of 10",
        lambda r: "1 2 3 4 5 6 7",
        lambda r: " ".join(str(r.randrange(1, 6)) for _ in range(7)),
        lambda r: "-".join(str(r.randrange(1, 6)) for _ in range(7)),
        lambda r: f"{r.randrange(1, 6)}.{r.randrange(10)}/5 and {r.randrange(60, 100)} %",
    ],
    "version": [
        lambda r: f"version {r.randrange(9)}.{r.randrange(20)}.{r.randrange(9)}",
        lambda r: f"v{r.randrange(9)}.{r.randrange(20)}",
        lambda r: f"Chrome {r.randrange(90, 140)}.0.{_digits(r, 4)}.{_digits(r, 2)}",
        lambda r: f"iOS {r.randrange(12, 19)}.{r.randrange(9)}.1",
        lambda r: f"build {_digits(r, 5)}.{_digits(r, 4)}",
        lambda r: f"version 1.2.3.{r.randrange(1, 9)}",
    ],
    "money": [
        lambda r: f"${r.randrange(1, 999)},{_digits(r, 3)}.{_digits(r, 2)}",
        lambda r: f"{r.randrange(1, 99)} 000 000 kr",
        lambda r: f"€ {r.randrange(1, 999)}.{_digits(r, 3)},{_digits(r, 2)}",
        lambda r: f"{r.randrange(1, 99)},00,000 rupees",
        lambda r: f"{r.randrange(1, 99)}.{_digits(r, 3)}.{_digits(r, 3)} TL",
        lambda r: f"{r.randrange(100, 999)} {_digits(r, 3)} {_digits(r, 3)} Ft",
        lambda r: f"CHF {r.randrange(1, 9)}'{_digits(r, 3)}'{_digits(r, 3)}.50",
        lambda r: f"{_digits(r, 9)} ₫",
    ],
    "number": [
        lambda r: f"{_digits(r, 1)},{_digits(r, 3)},{_digits(r, 3)}",
        lambda r: f"0.{_digits(r, 9)}",
        lambda r: _digits(r, 7),
        lambda r: f"3.14159265{_digits(r, 3)}",
        lambda r: f"{r.randrange(1, 90)} 000 000 people",
        lambda r: f"{_digits(r, 4)} {_digits(r, 4)} {_digits(r, 4)} px",
        lambda r: f"{_digits(r, 4)}x{_digits(r, 4)}",
        lambda r: _digits(r, 24),
        lambda r: f"10 20 30 40 {r.randrange(41, 99)}",
        lambda r: f"-0.{_digits(r, 4)} -1.{_digits(r, 4)}",
        lambda r: f"1e-{_digits(r, 2)}",
        lambda r: f"0 0 1 0 1 1 0 {r.randrange(2)}",
        lambda r: f"0.{_digits(r, 8)} and 2.{_digits(r, 7)}",
        lambda r: f"weights 0.{_digits(r, 5)} 0.{_digits(r, 5)} 0.{_digits(r, 5)}",
        lambda r: f"-{r.randrange(1, 9)}.{_digits(r, 6)} +0.{_digits(r, 6)}",
        lambda r: f"{_digits(r, 5)}.{_digits(r, 4)} ms",
        lambda r: "1 0 0 1 1 1 0 1 0",
        lambda r: f"{_digits(r, 2)}:{_digits(r, 2)} {_digits(r, 2)}:{_digits(r, 2)}",
    ],
    "doi": [
        lambda r: f"10.{_digits(r, 4)}/{_digits(r, 7)}.{_digits(r, 7)}",
        lambda r: f"doi:10.1038/s41586-0{_digits(r, 2)}-{_digits(r, 4)}-2",
        lambda r: f"arXiv:2509.{_digits(r, 5)}",
        lambda r: f"10.1016/j.chb.2020.{_digits(r, 6)}",
        lambda r: f"arXiv 2{_digits(r, 3)}.{_digits(r, 5)}v2",
        lambda r: f"PMID {_digits(r, 8)}",
    ],
    "isbn": [
        _isbn,
        lambda r: f"ISBN {_isbn(r).replace('-', '')}",
        lambda r: f"ISBN {_isbn(r).replace('-', ' ')}",
        lambda r: f"ISBN 0-{_digits(r, 3)}-{_digits(r, 5)}-X",
        lambda r: f"ISSN {_digits(r, 4)}-{_digits(r, 4)}",
        lambda r: f"ISSN 1364-{_digits(r, 3)}X",
    ],
    "order": [
        lambda r: f"order {_digits(r, 8)}",
        lambda r: f"order #{_digits(r, 10)}",
        lambda r: f"ticket {_digits(r, 3)}-{_digits(r, 5)}",
        lambda r: f"invoice 2024-{_digits(r, 6)}",
        lambda r: f"order no. {_digits(r, 3)}-{_digits(r, 7)}-{_digits(r, 7)}",
        lambda r: f"ref AB{_digits(r, 9)}",
        lambda r: f"tracking 1Z{_digits(r, 16)}",
        lambda r: f"Prolific ID {r.getrandbits(96):024x}",
        lambda r: f"case ID {_digits(r, 12)}",
        lambda r: f"flight LH{_digits(r, 4)} seat 12A",
    ],
    "code": [
        lambda r: f"x[{_digits(r, 2)}].y = foo.bar({_digits(r, 3)})",
        lambda r: f"0x{r.getrandbits(32):08x}",
        lambda r: f"{r.getrandbits(160):040x}",
        lambda r: "df.groupby('code').size().sort_values()",
        lambda r: "std::vector<int> and a::b",
        lambda r: "np.array([1, 2, 3]).mean()",
        lambda r: f"{r.getrandbits(32):08x}-1a2b-4c3d-8e9f-{r.getrandbits(48):012x}",
        lambda r: f"sha256 {r.getrandbits(256):064x}",
        lambda r: f"Error 0x8007{_digits(r, 4)}, code {_digits(r, 6)}",
        lambda r: "for i in range(1000000): pass",
        lambda r: f"#{r.getrandbits(24):06x} and #fff",
        lambda r: "if a@b then @ c",
    ],
    "file": [
        lambda r: f"scan_{_digits(r, 4)}.jpg",
        lambda r: "notes.txt and main.py",
        lambda r: f"IMG_2024{_digits(r, 4)}_{_digits(r, 6)}.png",
        lambda r: "index.html",
        lambda r: "README.md",
        lambda r: "../data/raw.csv",
        lambda r: "report-final.v2.docx",
        lambda r: "config.yaml or setup.sh",
    ],
    "full stop": [
        lambda r: "it was ok.it was fine",
        lambda r: "no.I mean yes",
        lambda r: "e.g.this",
        lambda r: "I said so.Me too",
        lambda r: "good.In the end bad",
        lambda r: "nice.De verdad",
        lambda r: "p.m.and a.m.",
        lambda r: "etc...and so on",
        lambda r: "bad.be honest",
        lambda r: "U.S.A. or i.e. that",
    ],
    "at": [
        lambda r: "we met at 5",
        lambda r: "@ home",
        lambda r: "look at the dot on the map",
        lambda r: "3 @ 4.50",
        lambda r: "good at maths, point taken",
        lambda r: "at that point it stopped",
        lambda r: "smile :@ or @_@",
        lambda r: "at this point in time",
    ],
    "statistics": [
        lambda r: f"M = {r.randrange(1, 5)}.{_digits(r, 2)}, SD = 0.{_digits(r, 2)}, N = {_digits(r, 3)}",
        lambda r: f"p < .001, r = .{_digits(r, 2)}",
        lambda r: f"F(2, {_digits(r, 3)}) = {_digits(r, 2)}.{_digits(r, 2)}",
        lambda r: f"[{r.randrange(1, 5)}.{_digits(r, 2)}, {r.randrange(5, 9)}.{_digits(r, 2)}]",
        lambda r: f"about {r.randrange(10, 99)}% of 1000-1500 people",
        lambda r: f"pp. 1{_digits(r, 3)}-1{_digits(r, 3)}",
    ],
    "place": [
        lambda r: f"room {_digits(r, 3)}",
        lambda r: f"{r.randrange(10, 60)}.{_digits(r, 4)}, {r.randrange(10, 60)}.{_digits(r, 4)}",
        lambda r: f"page {_digits(r, 4)} line {_digits(r, 2)}",
        lambda r: f"bus {_digits(r, 3)} or {_digits(r, 3)}",
        lambda r: f"chapter 3.2.{r.randrange(1, 9)}.1",
        lambda r: f"GB{r.randrange(10, 99)} is a level",
    ],
    "service": [
        lambda r: "I use Instagram and Reddit",
        lambda r: "like on Twitter, people shout",
        lambda r: "Facebook is full of it",
        lambda r: "worse than Discord chats",
        lambda r: "my phone died twice",
        lambda r: "it is on my mobile 24/7",
        lambda r: "call it 50/50",
        lambda r: "Instagram: never again, Telegram: maybe",
        lambda r: "it said it would call 3 times in 2024",
        lambda r: "a snap decision is what",
    ],
}
