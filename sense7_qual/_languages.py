"""Which languages texts are in, and the words of each language that say nothing by themselves."""

from __future__ import annotations

import importlib.util
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

#: Common words of each language that are no common words of English. Related languages share some: these
#: count for each of them, and tell none from another.
_COMMON: Final = {
    "English": (
        "the and is was to of it that for with this are you not have be my they but do what how we at "
        "if or by from when who which would could should about there their them he she his her your "
        "just very really because been were had has did does don can will more than some any all out "
        "up get got its too only then into over after before why where much many felt feel think know "
        "like again never always something nothing someone make made want wanted these those our us"
    ),
    "German": (
        "der die das und ist nicht ich ein eine einen einem zu mit auf für sich auch wir sehr es "
        "wurde wurden jedoch mal immer aber wie oder dass mir mich habe haben hatte sind wenn nur "
        "noch schon bei nach von dem den des im kann keine kein etwas viel weil zum zur sein wäre gut "
        "dann mein meine er sie beim über diese dieser doch hier nie wieder ihm"
    ),
    "French": (
        "le la les et est des une pas je que pour dans qui ce il vous avec très mais un ne sur au du "
        "cette était ça elle nous moi mon ma être fait bien comme été même trop beaucoup aussi ont "
        "sont ou mes ses leur peut suis cela de en ils tout tu se quand alors jamais"
    ),
    "Spanish": (
        "el los las es un una que por con para se muy pero mi lo del como la de en más está fue yo su "
        "al esta este también cuando porque todo era hay eso bien nada sí tiene te le si ser sus ella "
        "estaba me "
        "mismo siempre qué cómo demasiado demasiada tan mucho"
    ),
    "Italian": (
        "il gli che non di un una sono con mi molto ma della ho si anche è più la le lo del nel alla "
        "questo questa perché ci cosa era quando bene mia suo tutto stato io se ne al dei delle però "
        "da lui lei hai troppo "
        "sempre stessa stesso niente molta"
    ),
    "Portuguese": (
        "os um uma que não por com para se muito mas eu da foi é ao dos das na em mais está você isso "
        "ele ela também como quando minha meu tem são sem já ser bem seu sua de nos pelo era este "
        "esta nada "
        "sempre mesma mesmo demais tudo muita"
    ),
    "Dutch": (
        "de het een en niet ik van dat op te zijn voor maar ook wij er je dit die naar als bij aan "
        "wel nog om uit kan heb mijn hij zij worden werd geen veel wat zo goed mij moet deze zou "
        "omdat meer hoe gaat ze heeft altijd iets hem"
    ),
    "Polish": (
        "na nie się że jest jak ale tak bardzo po co mnie mi czy był była było jestem tylko przez dla "
        "już tym też są ja jego od jej ich ma za mogę być może która który kiedy gdy sobie mam moje "
        "bo aby jeszcze nigdy "
        "zawsze samo tego trochę"
    ),
    "Turkish": (
        "ve bir bu çok için ama da de ne gibi daha ben bana mi değil var olarak kadar sonra mı mu şey "
        "ki benim en ise çünkü hiç yok oldu olan şu nasıl bunu onu beni ile iyi olduğunu sen biz "
        "zaman"
    ),
    "Vietnamese": (
        "và là của không có được tôi một những này rất đã với các người khi để nhưng cũng nó thì đó "
        "như rồi sẽ bạn chúng từ vì làm phải nhiều gì ở về trong tớ thấy"
    ),
    "Indonesian or Malay": (
        "yang dan di itu ini tidak saya dengan untuk dari dia akan pada ke ada sudah juga kami kita "
        "bisa karena atau apa tapi sangat lebih orang mereka seperti adalah aku kamu anda saat boleh "
        "bukan telah sedang oleh"
    ),
    "Swedish": (
        "och att det som är på för inte jag den en ett av med har om var hade mig vi mycket så han "
        "hon kan när eller från ska mer mitt min bara också du vad sig detta"
    ),
    "Danish or Norwegian": (
        "og det er som på ikke jeg den en et av med har om var til meget min mig meg vi så han hun "
        "kan når eller fra skal mere også af blev ble hvad hva være noget noe du de der sig seg nå nu"
    ),
    "Finnish": (
        "ei se että hän olen oli mutta kun niin joka mitä minä hyvin myös kuin tai ovat ole sen minun "
        "tämä voi jos nyt vain olisi siitä kanssa sitä minulla hänen mikä"
    ),
    "Hungarian": (
        "az és hogy nem egy volt ez de meg csak már még nagyon ki kell mi én azt vagy lehet minden "
        "ezt jól sem amikor nekem van volna ő"
    ),
    "Czech or Slovak": (
        "se na je že jsem jsou ale jak tak nebo byl bylo který když mě mi co už jen bych není velmi "
        "také až ještě kde protože som nie čo pre bol bolo sú aby len veľmi keď jsi máš"
    ),
    "Romanian": (
        "și în este nu că mai cu pe din pentru sunt la de un ce fost foarte mi dar acest dacă ar fi "
        "sau ca eu mă îmi prea poate când lui să au te"
    ),
}
_WORDS: Final = {name: frozenset(words.split()) for name, words in _COMMON.items()}
COMMON_WORDS: Final = frozenset[str]().union(*_WORDS.values())
"""Words that are common in one of the languages."""
_LISTED_IN: Final = Counter(word for words in _WORDS.values() for word in words)
_RUSSIAN_WORDS: Final = (
    "что это мне очень был была меня он она ты вы мы его чтобы всё или есть когда не тебя знаю чем"
)
_RUSSIAN: Final = frozenset(_RUSSIAN_WORDS.split())
_RUSSIAN_ALPHABET: Final = frozenset("абвгдеёжзийклмнопрстуфхцчшщъыьэюя")
#: No letters of Bulgarian, Serbian, Macedonian or Ukrainian.
_RUSSIAN_ALONE: Final = frozenset("ыэё")
_PERSIAN: Final = frozenset("یکگپچ")
_OF_A_SCRIPT: Final = {
    "HIRAGANA": "Japanese",
    "KATAKANA": "Japanese",
    "CJK": "Chinese",
    "HANGUL": "Korean",
    "THAI": "Thai",
    "ARABIC": "Arabic",
}
_WORD: Final = re.compile(r"[^\W\d_]+")
#: Texts with fewer words decide only where hardly any are longer.
_SHORT: Final = 4
#: A text says its language with so many different words of it, and more of them than of any other language.
_LEAST_WORDS: Final = 2
_LEAST_SHARE: Final = 0.05
_FEWEST_OF_A_LANGUAGE: Final = 5
#: Texts that are looked at, evenly spaced.
_MOST_READ: Final = 1_000

#: What the installed models read, as they begin their `model_id`; other models may read anything.
_READ: Final = frozenset(
    {
        "Arabic",
        "Chinese",
        "Dutch",
        "English",
        "French",
        "German",
        "Italian",
        "Japanese",
        "Korean",
        "Polish",
        "Portuguese",
        "Russian",
        "Spanish",
        "Thai",
        "Turkish",
    }
)
_INSTALLED: Final = ("all-MiniLM-L6-v2", "use-multilingual-v3")

#: Kept beside another word ("not helpful"), no term alone.
NEGATIONS: Final = {
    "English": frozenset({"not", "no", "never"}),
    "German": frozenset({"nicht", "kein", "keine", "keinen", "keiner", "nie"}),
    "French": frozenset({"pas", "jamais", "aucun", "aucune"}),
    "Spanish": frozenset({"no", "nunca"}),
    "Italian": frozenset({"non", "mai"}),
    "Portuguese": frozenset({"não", "nunca"}),
    "Dutch": frozenset({"niet", "geen", "nooit"}),
    "Polish": frozenset({"nie", "nigdy"}),
    "Turkish": frozenset({"değil"}),
    "Russian": frozenset({"не", "нет", "никогда"}),
}


def languages(texts: Sequence[str]) -> Counter[str]:
    """Count the texts by language, or by script where that is all one can say.

    At most 1,000 texts are looked at. Those that do not say are left out, and those of one to three words
    where five or more of the longer ones say it: a handful of scraps must not decide for a study.
    """
    looked_at = texts[:: -(-len(texts) // _MOST_READ) or 1]
    found: Counter[str] = Counter()
    for fewest in (_SHORT, 1):
        found = Counter(_language(text, fewest) for text in looked_at)
        del found[""]
        if found.total() >= _FEWEST_OF_A_LANGUAGE:
            break
    return found


def in_share(found: Counter[str]) -> dict[str, int]:
    """Return the languages that five texts and one in twenty are in, the commonest first."""
    least = max(_FEWEST_OF_A_LANGUAGE, _LEAST_SHARE * found.total())
    return {name: number for name, number in found.most_common() if number >= least}


def unread(spoken: Iterable[str], model_id: object) -> list[str]:
    """Return the languages that no installed model reads; none for a model of another maker.

    Cyrillic letters beside Russian texts are taken for Russian.
    """
    if not str(model_id).startswith(_INSTALLED):
        return []
    listed = list(spoken)
    read = _READ | {"Cyrillic script"} if "Russian" in listed else _READ
    return [name for name in listed if name not in read]


def stop_words_of(language: str) -> frozenset[str]:
    """Return the stop words of a language other than English; none where no list of them is installed."""
    if importlib.util.find_spec("stop_words") is None:
        return frozenset()
    from stop_words import AVAILABLE_LANGUAGES, get_stop_words

    name = language.casefold()
    if name not in AVAILABLE_LANGUAGES:
        return frozenset()
    # Of "c'est" a text has "est".
    return frozenset(re.findall(r"\w\w+", " ".join(get_stop_words(name)).casefold()))


def _language(text: str, fewest: int = 1) -> str:
    """Return the language of a text, "" where it does not say, or has fewer than so many words."""
    text = unicodedata.normalize("NFC", text.lower())
    words = frozenset(_WORD.findall(text))
    script, letters = _script(text)
    if script and script != "LATIN":
        return _of_script(script, letters, words)
    if len(_WORD.findall(text)) < fewest:
        return ""
    hits = sorted((len(words & listed), name) for name, listed in _WORDS.items())
    (second, _), (first, name) = hits[-2:]
    of_no_other = any(_LISTED_IN[word] == 1 for word in words & _WORDS[name])
    return name if first >= _LEAST_WORDS and first > second and of_no_other else ""


def _script(text: str) -> tuple[str, frozenset[str]]:
    """Return the script that most letters are of ("" for ASCII alone), and the letters."""
    letters = "" if text.isascii() else [character for character in text if character.isalpha()]
    scripts = Counter(unicodedata.name(letter, "").partition(" ")[0] for letter in letters)
    script = max(scripts, key=scripts.__getitem__, default="")
    if script == "CJK" and {"HIRAGANA", "KATAKANA"} & set(scripts):
        script = "HIRAGANA"
    return script, frozenset(letters)


def _of_script(script: str, letters: frozenset[str], words: frozenset[str]) -> str:
    """Return the language of a text in another script than the Latin, or the script."""
    says = letters & _RUSSIAN_ALONE or len(words & _RUSSIAN) >= _LEAST_WORDS
    if script == "CYRILLIC" and letters <= _RUSSIAN_ALPHABET and says:
        return "Russian"
    if script == "ARABIC" and letters & _PERSIAN:
        return "Persian or Urdu"
    return _OF_A_SCRIPT.get(script, f"{script.capitalize()} script")
