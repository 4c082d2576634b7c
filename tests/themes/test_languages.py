"""Themes of texts in several languages: the model that reads them, their terms, and what is said of it."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sense7_qual as qual
from sense7_qual._languages import in_share, languages
from sense7_qual.errors import ImportRefused
from sense7_qual.themes._terms import Terms

pytestmark = pytest.mark.model

# The same said in English, German and Spanish.
TWINS = [
    (
        "It remembered what I had told it.",
        "Es hat sich gemerkt, was ich erzählt hatte.",
        "Se acordaba de lo que le había contado.",
    ),
    ("The answer was far too long.", "Die Antwort war viel zu lang.", "La respuesta era demasiado larga."),
    (
        "It lectured me about my health.",
        "Es hielt mir einen Vortrag über meine Gesundheit.",
        "Me dio un sermón sobre mi salud.",
    ),
    (
        "I had to wait for half an hour.",
        "Ich musste eine halbe Stunde warten.",
        "Tuve que esperar media hora.",
    ),
    (
        "It asked how my sister was doing.",
        "Es fragte, wie es meiner Schwester geht.",
        "Me preguntó cómo estaba mi hermana.",
    ),
    ("The facts were wrong.", "Die Fakten waren falsch.", "Los datos eran incorrectos."),
    ("It was warm and friendly.", "Es war warm und freundlich.", "Fue cálido y amable."),
    ("I felt alone afterwards.", "Danach fühlte ich mich allein.", "Después me sentí solo."),
    ("It suggested to see a doctor.", "Es schlug vor, zum Arzt zu gehen.", "Sugirió ir al médico."),
    ("My boss does not listen.", "Mein Chef hört nicht zu.", "Mi jefe no escucha."),
    ("The app crashed twice.", "Die App ist zweimal abgestürzt.", "La aplicación se bloqueó dos veces."),
    ("It helped me plan the exam.", "Es half mir, die Prüfung zu planen.", "Me ayudó a planear el examen."),
    ("I would not pay for it.", "Ich würde dafür nicht bezahlen.", "No pagaría por ello."),
    ("It made me laugh.", "Es hat mich zum Lachen gebracht.", "Me hizo reír."),
    ("The weather was never mentioned.", "Das Wetter wurde nie erwähnt.", "Nunca se mencionó el tiempo."),
    ("It spoke like a machine.", "Es sprach wie eine Maschine.", "Hablaba como una máquina."),
    ("My dog died last week.", "Mein Hund ist letzte Woche gestorben.", "Mi perro murió la semana pasada."),
    ("It gave me three good ideas.", "Es gab mir drei gute Ideen.", "Me dio tres buenas ideas."),
    ("I do not trust it with my data.", "Ich vertraue ihm meine Daten nicht an.", "No le confío mis datos."),
    ("It apologised for the mistake.", "Es entschuldigte sich für den Fehler.", "Se disculpó por el error."),
]

# Three matters, a text's end, its language.
MATTERS = {
    "en": [
        ("I waited so long for an answer", "the reply was slow and late"),
        ("it was warm and kind to me", "it listened and was friendly"),
        ("the price is too high", "I will not pay so much money for it"),
    ],
    "de": [
        ("ich habe so lange auf eine Antwort gewartet", "die Antwort kam langsam und spät"),
        ("es war warm und nett zu mir", "es hat zugehört und war freundlich"),
        ("der Preis ist zu hoch", "ich zahle nicht so viel Geld dafür"),
    ],
}
ENDS = {
    "en": [
        "today",
        "again",
        "this morning",
        "in the evening",
        "on Monday",
        "of course",
        "I think",
        "really",
        "as always",
        "last week",
    ],
    "de": [
        "heute",
        "wieder",
        "heute Morgen",
        "am Abend",
        "am Montag",
        "natürlich",
        "finde ich",
        "wirklich",
        "wie immer",
        "letzte Woche",
    ],
}


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    rows = [
        (f"{said} {end}", matter, language)
        for language, matters in MATTERS.items()
        for matter, sayings in enumerate(matters)
        for said in sayings
        for end in ENDS[language]
    ]
    path = tmp_path_factory.mktemp("mixed") / "answers.csv"
    pd.DataFrame(rows, columns=["text", "matter", "language"]).to_csv(path, index=False)
    return qual.corpus.read(path, text="text", variables=["matter", "language"])


@pytest.fixture(scope="module")
def embed(mixed: pd.DataFrame) -> qual.models.Embedder:
    return qual.models.embedder(texts=mixed["text"])


def test_the_nearest_text_in_another_language_is_the_translation() -> None:
    embed = qual.models.embedder("multilingual")
    english, german, spanish = (embed([row[at] for row in TWINS]) for at in range(3))
    assert np.allclose(np.linalg.norm(english, axis=1), 1, atol=1e-5)
    for other in (german, spanish):
        assert ((english @ other.T).argmax(axis=1) == np.arange(len(TWINS))).mean() >= 0.95


def test_the_texts_choose_the_model() -> None:
    english, german, _ = (list(texts) for texts in zip(*TWINS, strict=True))
    one = qual.models.embedder(texts=english)
    assert one.model_id.startswith("all-MiniLM-L6-v2@")
    assert not one.multilingual
    for texts in (german, pd.Series([*english, *german, "", float("nan")])):
        many = qual.models.embedder(texts=texts)
        assert many.model_id.startswith("use-multilingual-v3@sha256:")
        assert many.multilingual
    assert qual.models.embedder(texts=[*english, german[0]]).model_id == one.model_id
    with pytest.raises(ImportRefused, match="float32"):
        qual.models.embedder("multilingual", precision="int8")


def test_a_vector_depends_on_its_text_alone_and_is_kept(tmp_path: Path) -> None:
    texts = [text for row in TWINS for text in row]
    embed = qual.models.embedder("multilingual", cache=tmp_path / "vectors")
    together = embed(texts)
    assert np.abs(together - np.vstack([embed([text]) for text in texts])).max() == 0  # from the cache
    alone = qual.models.embedder("multilingual")
    assert np.abs(together - np.vstack([alone([text]) for text in texts])).max() < 1e-5
    long = alone(["It listened. " * 2_000])  # no text is too long, and none is warned of
    assert long.shape == (1, 512)


def test_themes_of_a_mixed_set_are_not_parted_by_language(
    mixed: pd.DataFrame, embed: qual.models.Embedder
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = qual.themes.fit(mixed, embed=embed, seed=7, granularity=0.5)
    assert "in none; texts in German, English" in repr(found)
    assert found.parameters["languages"] == in_share(languages(list(mixed["text"])))
    assert found.parameters["stop_words"] == "german, english"
    rows = found.assignments.merge(mixed, on="unit_id")
    shares = rows.groupby("theme")["language"].value_counts(normalize=True)
    assert shares.max() < 0.8
    terms = set(found.terms["term"])
    assert not terms & {"und", "war", "ich", "nicht", "the", "was", "not"}
    assert any("preis" in term for term in terms)
    assert any("price" in term for term in terms)


def test_a_model_of_one_language_is_warned_of(mixed: pd.DataFrame) -> None:
    with pytest.warns(UserWarning, match=r"German \(60\), English \(57\)"):
        qual.themes.fit(mixed, embed=qual.models.embedder(), seed=7, granularity=0.5, n_resamples=0)


def test_words_without_blanks_between_them_are_terms() -> None:
    texts = ["等待时间太长了", "我的等待时间很长", "回答很亲切", "非常亲切的回答"]
    terms = Terms(texts, None).of(np.array([0, 0, 1, 1]))
    first = terms.groupby("theme")["term"].agg(" ".join)
    assert "时间" in first[0]
    assert "回答" in first[1]
    assert "<unk>" not in " ".join(terms["term"])
