"""Columns of personal data are left out of the units unless they are named."""

from __future__ import annotations

import tomllib
import warnings

import pandas as pd
import pytest

from sense7_qual import corpus
from sense7_qual._formats._recognise import is_personal
from tests.helpers.places import ROOT

SENTINEL = "quokka"
SAID = [f"It was kind to me, time {n}." for n in range(4)]


def read(variables: list[str] | None = None, **columns: list[str]) -> tuple[list[str], list[str]]:
    """Return the variables of the units, and what was said."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        units = corpus.read(pd.DataFrame({"said": SAID, **columns}), text="said", variables=variables)
    return units.columns.tolist()[6:], [str(one.message) for one in said]


PERSONAL = {
    "e-mail": ("reach", [f"{SENTINEL}{n}@example.org" for n in range(4)]),
    "half of them e-mail": (
        "reach",
        [f"{SENTINEL}@example.org", "none", f"{SENTINEL}@mail.example.org", "no"],
    ),
    "IP addresses": ("from", ["203.0.113.7", "2001:db8::8a2e:370:7334", "", "203.0.113.255"]),
    "ids of a crowd service": ("who", [f"5f1c{n}b2a9d0c8e7f6a5b4c3d"[:24].ljust(24, "0") for n in range(4)]),
}


@pytest.mark.parametrize("form", PERSONAL)
def test_a_column_is_personal_by_the_form_of_its_cells(form: str) -> None:
    name, cells = PERSONAL[form]
    kept, said = read(**{name: cells, "age": ["20", "30", "40", "50"]})
    assert kept == ["age"]
    assert said == [
        f"left out 1 column of personal data, '{name}' (variables=[…] would keep them, visible to coders)."
    ]
    assert read([name], **{name: cells}) == ([name], [])


def test_coordinates_are_two_columns() -> None:
    north, east = ["47.5118", "48.85661", "-33.86882", ""], ["7.96165", "22.35222", "151.20929", ""]
    assert read(a=north, b=east)[0] == []
    assert read(a=north, stars=["1", "2", "3", "4"], b=east)[0] == ["a", "stars", "b"]
    assert read(a=north, b=[*east[:2], "181.0001", ""])[0] == ["a", "b"]
    shares = ["0.51183", "0.85661", "3.86882", "1.00001"]
    assert read(warm=shares, cold=shares)[0] == ["warm", "cold"]


@pytest.mark.parametrize(
    "cells",
    [
        ["1.2.3", "1.2.4", "2.0.0", "2.0.1"],
        ["999.1.1.1", "1.2.3.4.5", "256.0.0.1", "1.2.3"],
        ["10:30:00", "11:30:00", "12:00:00", "12:00:01"],
        ["@ana", "@ben", "me@home", "a@b c.org"],
        ["8d1f0a7e-0000-4000-8000-000000000001", "", "", ""],
        ["", "", "", ""],
    ],
)
def test_other_forms_stay(cells: list[str]) -> None:
    assert read(other=cells) == (["other"], [])


@pytest.mark.parametrize(
    "name",
    [
        "RecipientFirstName",
        "IPAddress",
        "LocationLatitude",
        "E-Mail-Adresse",
        "Q3_email",
        "date_of_birth",
        "What is your name?",
        "ProlificNumericId",
        "Vorname",
        "Prénom",
        "Fecha de nacimiento",
        "ім'я",
        "Номер телефона",
        "फ़ोन",
        "姓名",
        "電話番号",
        "이메일",
        "ngày sinh",
        "doğum tarihi",
        "الاسم الكامل",
        "תאריך לידה",
    ],
)
def test_a_column_is_personal_by_its_name(name: str) -> None:
    assert is_personal(name)
    assert read(**{name: ["a", "b", "c", "d"]})[0] == []


@pytest.mark.parametrize(
    "name",
    [
        "filename",
        "model_name",
        "Name of the assistant",
        "platform",
        "latency",
        "Status",
        "id",
        "label",
        "date",
        "How well did the assistant address your concerns?",
        "Datum",
        "place",
        "user",
        "Codes",
        "text",
        "",
    ],
)
def test_other_names_stay(name: str) -> None:
    assert not is_personal(name)


def test_no_word_is_listed_twice() -> None:
    lists = tomllib.loads((ROOT / "sense7_qual" / "_formats" / "people.toml").read_text("utf-8"))
    assert all(len({*words}) == len(words) for words in lists.values())


def test_a_personal_column_may_have_a_role() -> None:
    table = pd.DataFrame({"said": SAID, "PROLIFIC_PID": PERSONAL["ids of a crowd service"][1]})
    units = corpus.read(table, text="said", case_id="PROLIFIC_PID")  # without a warning
    assert units["case_id"].tolist() == table["PROLIFIC_PID"].tolist()


def test_no_cell_is_in_the_warning() -> None:
    _, said = read(reach=[f"{SENTINEL}{n}@example.org" for n in range(4)])
    assert SENTINEL not in "".join(said)
