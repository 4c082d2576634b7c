"""What the texts of acts hold, kind by kind: how it is read, checked against the study, and withheld."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from sense7_qual._messages import did_you_mean, first_three, word
from sense7_qual.acts import Act, check_person, stamp
from sense7_qual.acts.contents import AnalysisPlan, Proposal, SpanMemo, Suggested, settings_of
from sense7_qual.codebook import Codebook, Revision
from sense7_qual.errors import ActError, CodebookError
from sense7_qual.rounds import Assignment, opened
from sense7_qual.themes import check_recorded

WITHHELD: Final = "[withheld]"
_PASSAGE: Final = 25  # letters and digits: as of what a withdrawal erases


@dataclass(frozen=True, slots=True, repr=False)
class Cover:
    """How what repeats a participant's words is covered in a bundle.

    Attributes
    ----------
    repeats : callable
        Whether a text does.
    models : dict of str to str
        The numbers that replace names of models: the same for the same model.
    """

    repeats: Callable[[str], bool]
    models: dict[str, str] = field(default_factory=dict)

    def words(self, text: str) -> str:
        """Return a text, or its replacement."""
        return WITHHELD if self.repeats(text) else text

    def model(self, name: str) -> str:
        """Return the name of a model, or its number."""
        if not self.repeats(name):
            return name
        return self.models.setdefault(name, f"[model {len(self.models) + 1}, withheld]")


@dataclass(frozen=True, slots=True)
class Content:
    """What the text of a kind of act holds.

    Attributes
    ----------
    read : callable
        Reads it; raises `ActError` or `CodebookError` where it does not say what it should.
    check : callable, optional
        Returns the act, with its quote where it has one, after checking it against the codebook that it names
        and the texts of the study; without it, reading is all.
    keeps : bool
        Whether something of it stays in a bundle without texts.
    stand_in : callable, optional
        Returns its replacement there, from its line of the record; without it, the whole text stays, or
        nothing but that it is withheld.
    """

    read: Callable[[Act], object]
    check: Callable[[Act, Codebook, Mapping[str, str]], Act] | None = None
    keeps: bool = False
    stand_in: Callable[[Mapping[str, Any], Cover], str] | None = None


def has_readable_change(act: Act) -> bool:
    """Return True if an act says what it opens, assigns, revises, sets, proposes, notes or registers."""
    content = CONTENTS.get(act.kind)
    try:
        if content is not None:
            content.read(act)
    except (ActError, CodebookError):
        return False
    return True


def checked_content(act: Act, codebook: Codebook, texts: Mapping[str, str]) -> Act:
    """Return `act` with its quote, after checking its text against the study."""
    content = CONTENTS.get(act.kind)
    if content is None:
        return _with_quote(act, codebook, texts)
    if content.check is not None:
        return content.check(act, codebook, texts)
    content.read(act)
    return act


def published_text(line: Mapping[str, Any], cover: Cover) -> str | None:
    """Return the text that a bundle has instead of an act's, given its line of the record; None: nothing."""
    text: str | None = line.get("text")
    content = CONTENTS.get(line["kind"])
    if not text:
        return text
    if content is None:
        return None
    if content.stand_in is not None:
        return content.stand_in(line, cover)
    return text if content.keeps else WITHHELD


def named(act: Act) -> str:
    """Return the name of an act in errors."""
    return f"{act.kind} on unit {word(act.unit_id)}" if act.unit_id is not None else act.kind


def _check_paraphrase(act: Act, _: Codebook, texts: Mapping[str, str]) -> Act:
    """Return the act, after checking that a paraphrase is none of the words for which it stands."""
    if act.text is not None:
        words, said = _letters(texts[str(act.unit_id)][act.start : act.end]), _letters(act.text)
        # A short word may well come again in a paraphrase; a whole passage is none.
        if not act.text.strip() or words == said or (len(words) >= _PASSAGE and words in said):
            raise ActError(
                f"{named(act)}: expected a paraphrase in words other than the participant's – found "
                f"{'the same words' if act.text.strip() else 'none'} – write it in words of your own; "
                "nothing was recorded."
            )
    return act


def _letters(words: str) -> str:
    """Return words without what makes no difference: case, white space and punctuation."""
    return "".join(filter(str.isalnum, words.casefold())) or words


def _check_suggested(act: Act, codebook: Codebook, texts: Mapping[str, str]) -> Act:
    """Return the act, after checking that what was shown are codes and words of the study."""
    length = len(texts[str(act.unit_id)])
    for one in Suggested.from_text(act.text).suggestions:
        if one.code not in codebook.ids or not codebook[one.code].codable:
            raise ActError(
                f"{named(act)}: expected suggestions of codes that can be applied – found "
                f"{word(one.code)} – "
                f"{did_you_mean(one.code, codebook.ids)}"
            )
        if one.end is not None and one.end > length:
            raise ActError(
                f"{named(act)}: expected suggestions on words inside the text – found one that ends after "
                "it – count code points, half-open."
            )
    return act


def _check_opened(act: Act, _: Codebook, texts: Mapping[str, str]) -> Act:
    return _of_units(act, {unit_id for one in opened([act]) for unit_id in one.units}, texts)


def _check_assigned(act: Act, _: Codebook, texts: Mapping[str, str]) -> Act:
    units = Assignment.from_act(act).units.values()
    return _of_units(act, {unit_id for unit_ids in units for unit_id in unit_ids}, texts)


def _of_units(act: Act, unit_ids: set[str], texts: Mapping[str, str]) -> Act:
    """Return the act, after checking that the units that it names are of the study."""
    unknown = sorted(unit_ids - texts.keys())
    if unknown:
        where = f" in round {act.round!r}" if act.round is not None else ""
        raise ActError(
            f"{act.kind}: expected units of this study{where} – found {first_three(unknown)} – "
            f"{did_you_mean(unknown[0], texts)}"
        )
    return act


def _check_memo(act: Act, _: Codebook, texts: Mapping[str, str]) -> Act:
    """Return the act of a memo; of one on a span with the words that it is about."""
    about = {"unit": act.unit_id, "span": act.unit_id, "code": act.code, "study": "study"}
    is_span = act.target_kind == "span"
    if about.get(str(act.target_kind)) is None or (is_span and act.start is None):
        raise ActError(
            f"{named(act)}: expected a memo on a unit, a span, a code or the study – found target_kind "
            f"{word(act.target_kind)} without what it is about – make it with acts.memo."
        )
    if not is_span or not act.text:
        return act
    memo, quote = SpanMemo.from_text(act.text), texts.get(str(act.unit_id), "")[act.start : act.end]
    if memo.quote not in ("", quote):
        raise ActError(
            f"{named(act)}: expected as quote the words of the span in the unit – found other words "
            f"({len(memo.quote)} code points) – make it with acts.memo, and leave the quote to the store."
        )
    return replace(act, text=replace(memo, quote=quote).to_text())


def _suggested(act: Act) -> Suggested | None:
    return None if act.text is None else Suggested.from_text(act.text)


def _revision(act: Act) -> Revision:
    return Revision.from_text(str(act.text), coder=act.coder, at=act.at, codebook=act.codebook)


def _check_proposal(act: Act, *_: object) -> Act:
    Proposal.from_text(act.text)
    return act


def _check_themes(act: Act, _: Codebook, texts: Mapping[str, str]) -> Act:
    check_recorded([act], units=texts)
    return act


def _with_quote(act: Act, _: Codebook, texts: Mapping[str, str]) -> Act:
    """Return `act` with the words of its span as its text (none for a whole unit and for other acts)."""
    is_quoted = act.traits.text == "quote" and act.start is not None
    quote = texts.get(str(act.unit_id), "")[act.start : act.end] if is_quoted else None
    if act.text is not None and act.text != quote:
        raise ActError(
            f"{named(act)}: expected the words of the span in the unit as text – found other words "
            f"({len(act.text)} code points) – leave text out to have it filled in."
        )
    return act if act.text == quote else replace(act, text=quote)


def published_plan(text: str, cover: Cover) -> str:
    """Return the text of an analysis plan without what repeats a participant's words.

    That is its question, hypotheses and answers; names of coders, rounds and columns stay.
    """
    content = json.loads(text)
    content["question"] = cover.words(content["question"])
    content["hypotheses"] = [
        f"[hypothesis {n}, withheld]" if cover.repeats(each) else each
        for n, each in enumerate(content["hypotheses"], start=1)
    ]
    content["answers"] = {name: cover.words(each) for name, each in content["answers"].items()}
    return json.dumps(content, ensure_ascii=False, sort_keys=True)


def _covered_proposal(text: str) -> str:
    """Return a proposal without its words, which still says that a model made it."""
    origin = Proposal.from_text(text).origin
    drafted = "; drafted by a language model" if "language model" in origin else ""
    return Proposal(label=WITHHELD, origin=WITHHELD + drafted if origin else "").to_text()


def _without_memo(line: Mapping[str, Any], _: Cover) -> str:
    return SpanMemo(text=WITHHELD).to_text() if line.get("target_kind") == "span" else WITHHELD


def _covered(text: str, name: str, cover: Callable[[Any], object]) -> str:
    """Return a text of JSON with one value covered; as it is where there is nothing to cover."""
    content = json.loads(text)
    shown = cover(content[name])
    if shown == content[name]:
        return text
    return json.dumps(content | {name: shown}, ensure_ascii=False, sort_keys=True)


def _covered_revision(text: str, cover: Cover) -> str:
    """Return a revision without the reasons that repeat a participant's words."""
    changes = json.loads(text)["changes"]
    covered = [one | {"why": cover.words(one["why"])} if "why" in one else one for one in changes]
    return _covered(_covered(text, "why", cover.words), "changes", lambda _: covered)


def _without_words(line: Mapping[str, Any], _: Cover) -> str:
    content = json.loads(line["text"])
    changed = content | dict.fromkeys({"name", "why"} & content.keys(), WITHHELD)
    return json.dumps(changed, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _covered_settings(line: Mapping[str, Any], cover: Cover) -> str:
    """Return the settings of a model without what repeats a participant's words."""

    def shown(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: shown(one) for name, one in value.items()}
        if isinstance(value, list):
            return [shown(one) for one in value]
        return cover.words(value) if isinstance(value, str) else value

    return json.dumps(shown(json.loads(line["text"])), ensure_ascii=False, sort_keys=True)


_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "new_codes": ("propose", "add"),
    "rating": ("hidden", "shown", "finished"),
    "suggestions": ("finished", "shown", "never"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How the coders of a study work, as its lead decided.

    Attributes
    ----------
    new_codes : {"propose", "add"}
        Whether a coder who misses a code proposes it to the lead, or adds it to the codebook at once.
    rating : {"hidden", "shown", "finished"}
        Whether the coding widget shows the rating with a text never, from the start, or once the coder has
        finished the text.
    suggestions : {"finished", "shown", "never"}
        Whether the coding widget shows a model's suggestions for a text once the coder has finished it, from
        the start, or never.
    rating_column : str
        The column of units with the study's rating; empty if none was named.
    leads : tuple of str
        The pseudonyms of the leads: the lead's widgets ask everybody else to leave them to these. Empty if
        nobody was named: then whoever opens the study may use them.
    """

    new_codes: str = "propose"
    rating: str = "hidden"
    suggestions: str = "finished"
    rating_column: str = ""
    leads: tuple[str, ...] = ()


def options_act(options: Options, *, coder: str, codebook: Codebook, **wished: Any) -> Act | None:
    """Return the act that sets what is `wished` (None: left as it is), or None if nothing changes."""
    named = {name: value for name, value in wished.items() if value is not None}
    _check_option(named)
    if not named:
        raise ActError(
            "set_options: expected an option to set – found none – name one: new_codes='add', or "
            "rating='hidden'."
        )
    if replace(options, **named) == options:
        return None
    text = json.dumps(named, sort_keys=True, ensure_ascii=False)
    return Act(kind="set_options", text=text, **stamp(coder, codebook, None, None))


def read_options(act: Act) -> dict[str, Any]:
    """Return the options that an act of kind ``set_options`` sets."""
    try:
        named: dict[str, Any] = json.loads(str(act.text))
        if json.dumps(named, sort_keys=True, ensure_ascii=False) != act.text or not named:
            raise ValueError("another form")
        named = {name: tuple(value) if name == "leads" else value for name, value in named.items()}
        _check_option(named)
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise ActError(
            f"set_options: expected the options that act {act.act_id!r} sets – found something else – set "
            "them with store.set_options."
        ) from None
    return named


def options_after(acts: Iterable[Act]) -> Options:
    """Return the options after `acts`: each as it was set last, by the act's time, then its id."""
    setting = sorted((act for act in acts if act.kind == "set_options"), key=lambda act: (act.at, act.act_id))
    options = Options()
    for act in setting:
        named = read_options(act)
        if options.leads and act.coder not in options.leads:
            named.pop("leads", None)  # only a lead names others
        options = replace(options, **named)
    return options


def _check_option(named: Mapping[str, object]) -> None:
    known = [field.name for field in fields(Options)]
    for name, value in named.items():
        if name not in known:
            raise ActError(
                f"set_options: expected the name of an option – found {word(name)} – "
                f"{did_you_mean(name, known)}"
            )
        if name == "leads" and value and isinstance(value, tuple):
            for each in value:
                check_person(each)
            continue
        if name == "rating_column" and isinstance(value, str) and value:
            continue
        choices = _CHOICES.get(name, ("columns of units, or pseudonyms",))
        if not isinstance(value, str) or value not in choices:
            raise ActError(
                f"set_options: expected {name} out of {', '.join(choices)} – found {word(value)} – "
                "choose one of these."
            )


CONTENTS: Final[Mapping[str, Content]] = {
    "memo": Content(lambda act: act.memo_text, _check_memo, stand_in=_without_memo),
    "answer": Content(lambda act: act.text),
    "propose": Content(
        lambda act: act.text and Proposal.from_text(act.text),
        _check_proposal,
        stand_in=lambda line, _: _covered_proposal(line["text"]),
    ),
    "rule": Content(lambda act: act.text),
    "quote": Content(lambda act: act.text, _check_paraphrase),
    "show_suggestions": Content(
        _suggested,
        _check_suggested,
        keeps=True,
        stand_in=lambda line, cover: _covered(line["text"], "model", cover.model),
    ),
    "describe": Content(settings_of, keeps=True, stand_in=_covered_settings),
    "open_round": Content(lambda act: opened([act]), _check_opened, keeps=True),
    "assign": Content(Assignment.from_act, _check_assigned, keeps=True),
    "revise": Content(
        _revision, keeps=True, stand_in=lambda line, cover: _covered_revision(line["text"], cover)
    ),
    "set_options": Content(read_options, keeps=True),
    "record_themes": Content(lambda act: check_recorded([act]), _check_themes, keeps=True),
    "edit_theme": Content(
        lambda act: check_recorded([act]), _check_themes, keeps=True, stand_in=_without_words
    ),
    "preregister": Content(
        lambda act: AnalysisPlan.from_text(act.text),
        keeps=True,
        stand_in=lambda line, cover: published_plan(line["text"], cover),
    ),
}
"""By the kind of act; the text of any other is the words of its span, or none. An erased one is empty."""
