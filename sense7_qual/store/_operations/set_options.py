"""What the lead settles for all who work on a study: new codes, the rating and who sees it, suggestions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from sense7_qual._messages import did_you_mean, word
from sense7_qual.acts import Act, check_person, stamp
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError

__all__ = ["Options", "act_of", "options_after", "read_options"]

_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "new_codes": ("propose", "add"),
    "rating": ("hidden", "shown", "finished"),
    "suggestions": ("finished", "shown", "never"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How the coders of a study work, as its lead settled it.

    Attributes
    ----------
    new_codes : {"propose", "add"}
        What a coder does who sees something that no code names: propose a code to the lead, or add it to the
        codebook at once.
    rating : {"hidden", "shown", "finished"}
        Whether the coding widget shows the rating beside a text from the start, and with "finished" once the
        coder has finished it.
    suggestions : {"finished", "shown", "never"}
        Whether the coding widget shows what a model suggests for a text once the coder has finished it, from
        the start, or not at all.
    rating_column : str
        The column of units that is the study's rating; empty where none was named.
    leads : tuple of str
        Who leads the study: the lead's widgets ask others to leave them to these. Empty where nobody was
        named: then whoever opens the study may.
    """

    new_codes: str = "propose"
    rating: str = "hidden"
    suggestions: str = "finished"
    rating_column: str = ""
    leads: tuple[str, ...] = ()


def act_of(options: Options, *, coder: str, codebook: Codebook, **wished: Any) -> Act | None:
    """Return the act that sets what is `wished` (None: left as it is), or None where all of it stands."""
    named = {name: value for name, value in wished.items() if value is not None}
    _check(named)
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
    """Return what an act of kind ``set_options`` sets."""
    try:
        named: dict[str, Any] = json.loads(str(act.text))
        if json.dumps(named, sort_keys=True, ensure_ascii=False) != act.text or not named:
            raise ValueError("another form")
        named = {name: tuple(value) if name == "leads" else value for name, value in named.items()}
        _check(named)
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise ActError(
            f"set_options: expected the options that act {act.act_id!r} sets – found something else – set "
            "them with store.set_options."
        ) from None
    return named


def options_after(acts: Iterable[Act]) -> Options:
    """Return what stands after `acts`: of each option what was set last, by the act's time, then its id."""
    setting = sorted((act for act in acts if act.kind == "set_options"), key=lambda act: (act.at, act.act_id))
    options = Options()
    for act in setting:
        named = read_options(act)
        if options.leads and act.coder not in options.leads:
            named.pop("leads", None)  # only a lead names others
        options = replace(options, **named)
    return options


def _check(named: Mapping[str, object]) -> None:
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
