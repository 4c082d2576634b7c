"""Which language a text is in: no English is taken for another language, and what no model reads is said."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sense7_qual import _languages, models, themes
from sense7_qual._languages import in_share, languages, unread

TABLE = pd.read_csv(Path(__file__).parent / "data" / "languages.csv", keep_default_na=False)
LISTED = sorted(_languages._WORDS)
VIETNAMESE = [f"Tôi không biết phải làm gì {row}" for row in range(30)]
ENGLISH = [f"I do not know what to do about the number {row}" for row in range(60)]


@pytest.mark.parametrize(
    "text",
    ["what do i do when it stops", "I do like how it asked me", "i do to some extent", "do i go to my mum"],
)
def test_english_is_not_taken_for_polish(text: str) -> None:
    assert set(languages([text] * 5)) <= {"English"}


def test_no_language_has_a_common_word_of_english() -> None:
    for name in set(LISTED) - {"English"}:
        assert not _languages._WORDS[name] & _languages._WORDS["English"], name
    assert not _languages._WORDS["Polish"] & {"i", "do", "to", "on", "my", "no", "me", "by", "ten"}
    assert _languages._WORDS["German"] >= {"wurde", "jedoch", "mal", "immer"}


@pytest.mark.parametrize("language", sorted(set(TABLE["language"])))
def test_sentences_say_their_language_or_none(language: str) -> None:
    told = TABLE.loc[TABLE["language"] == language, "text"].map(_languages._language)
    also = {"", "Cyrillic script"} if language == "Russian" else {""}
    assert set(told) <= {language} | also
    if language != "English":  # of English, scraps such as "no idea" are in the table
        assert (told == language).mean() >= 0.75


def test_the_table_has_every_language_that_is_told() -> None:
    assert set(LISTED) <= set(TABLE["language"])


def test_short_texts_do_not_tip_a_study() -> None:
    scraps = ["das ist nicht"] * 20
    assert in_share(languages(ENGLISH + scraps)) == {"English": 60}
    assert in_share(languages(scraps)) == {"German": 20}
    assert in_share(languages(["no", "de la", "a la carte", "ok", "so so"] * 40)) == {}


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_composed_and_decomposed_letters_are_the_same(form: str) -> None:
    assert languages(list(pd.Series(VIETNAMESE).str.normalize(form))) == {"Vietnamese": 30}


def test_what_no_installed_model_reads_is_named() -> None:
    spoken = in_share(languages([*ENGLISH, *VIETNAMESE, *["Η απάντηση ήταν μεγάλη"] * 9]))
    assert unread(spoken, "use-multilingual-v3@sha256:0") == ["Vietnamese", "Greek script"]
    assert unread(spoken, "all-MiniLM-L6-v2@sha256:0") == ["Vietnamese", "Greek script"]
    assert unread(spoken, "a-model-of-somebody@sha256:0") == []
    assert unread(["Russian", "Cyrillic script"], "use-multilingual-v3@sha256:0") == []


class Drawn:
    """Vectors drawn by text, under the name of a model."""

    multilingual = True

    def __init__(self, model_id: str) -> None:
        self.model_id = model_id

    def __call__(self, texts: list[str]) -> np.ndarray:
        return np.array([np.random.default_rng(zlib.crc32(text.encode())).normal(size=8) for text in texts])


def test_themes_of_texts_that_no_model_reads_are_warned_of() -> None:
    texts = [*ENGLISH, *VIETNAMESE]
    ids = [f"u{row:03}" for row in range(len(texts))]
    units = pd.DataFrame({"unit_id": ids, "text": texts, "document_id": ids, "case_id": ids, "position": 0})
    how = {"seed": 1, "n_resamples": 0, "granularity": 0.5}
    with pytest.warns(UserWarning, match=r"Vietnamese \(30 of the texts"):
        themes.fit(units, embed=Drawn("use-multilingual-v3@sha256:0"), **how)
    themes.fit(units, embed=Drawn("a-model-of-vietnamese"), **how)  # warnings are errors


@pytest.mark.model
def test_the_choice_of_a_model_says_what_it_does_not_read() -> None:
    with pytest.warns(UserWarning, match="Vietnamese"):
        embed = models.embedder(texts=[*ENGLISH, *VIETNAMESE])
    assert embed.multilingual
    assert not models.embedder(
        texts=[*ENGLISH, *TABLE.loc[TABLE["language"] == "English", "text"]]
    ).multilingual
