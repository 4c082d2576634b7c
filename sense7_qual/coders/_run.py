"""What a model answered about each text and code, and what becomes of it: decisions, acts, a file."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._atomic import save
from sense7_qual._contract import holding
from sense7_qual._limits import Limits, read_file
from sense7_qual.acts import Act, apply, finish
from sense7_qual.acts.contents import abstain, describe
from sense7_qual.codebook import Codebook
from sense7_qual.coders._prompt import BASE
from sense7_qual.coders._results import ANSWERS
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.frames import CODINGS, DECISIONS, SUGGESTIONS

_NAMESPACE: Final = uuid.UUID("5b1a1f5c-6a0f-5c0c-9a53-0d1a4ac5e7f1")


@dataclass(frozen=True, slots=True, repr=False, eq=False)
@holding(answers=ANSWERS)
class Run:
    """What a model answered, text by text and code by code. Made by `code`; its repr has only counts.

    Parameters
    ----------
    coder : str
        The pseudonym of the model, ``model-…``.
    answers : DataFrame
    card : mapping
        The settings: model, destination, parameters, prompts, plan, counts. No words of a participant.
    """

    coder: str
    answers: pd.DataFrame = field(repr=False)
    card: Mapping[str, Any]

    def __post_init__(self) -> None:
        check_arguments(Run, {name: getattr(self, name) for name in Run.__slots__})
        ANSWERS.require(self.answers)

    def __repr__(self) -> str:
        base = self._base
        missing = int(base["reason"].notna().sum())
        return (
            f"Run({self.coder!r}, {base['unit_id'].nunique():,} texts, {base['code'].nunique():,} codes, "
            f"{missing:,} of {len(base):,} answers missing, {self.answers['variant'].nunique() - 1} variants)"
        )

    @property
    def refused(self) -> pd.DataFrame:
        """The answers without a decision, of all variants; `reason` says why."""
        return self.answers[self.answers["reason"].notna()].reset_index(drop=True)

    @property
    def decisions(self) -> pd.DataFrame:
        """The decisions of the base variant (`frames.DECISIONS`); what is missing has no row."""
        decided = self._decided
        applied = (decided["verdict"] == "yes").to_numpy(dtype=bool)
        return DECISIONS.frame(decided.assign(coder=self.coder, applied=applied))

    @property
    def codings(self) -> pd.DataFrame:
        """The codes that the base variant applied, each with its words (`frames.CODINGS`)."""
        applied = self._decided.query("verdict == 'yes'").assign(coder=self.coder, at=self.card["ended"])
        ids = [self._id("apply", *key) for key in zip(applied["unit_id"], applied["code"], strict=True)]
        return CODINGS.frame(applied.assign(act_id=ids, codebook=self.card["codebook"]))

    @property
    def _base(self) -> pd.DataFrame:
        return self.answers[self.answers["variant"] == BASE]

    @property
    def _decided(self) -> pd.DataFrame:
        return self._base[self._base["reason"].isna()].reset_index(drop=True)

    def as_suggester(self) -> Callable[[pd.DataFrame], pd.DataFrame]:
        """Return the answers as a suggester, for ``CodingWidget(…, suggest=run.as_suggester())``.

        It suggests the codes to which the base variant said yes, on the quoted words. A probability is the
        share of runs that said yes, and missing with one run. Nothing is asked again.
        """
        runs = self.answers[self.answers["variant"].eq(BASE) | self.answers["variant"].str.startswith("run ")]
        runs = runs[runs["reason"].isna()].assign(yes=runs["verdict"].eq("yes"))
        share = runs.groupby(["unit_id", "code"])["yes"].agg(["mean", "size"])
        probability = share["mean"].where(share["size"] > 1).rename("probability")
        rows = self._decided.merge(probability.reset_index(), on=["unit_id", "code"])
        frame = SUGGESTIONS.frame(rows.assign(suggested=rows["verdict"].eq("yes").to_numpy(dtype=bool)))

        def suggest(units: pd.DataFrame) -> pd.DataFrame:
            return frame[frame["unit_id"].isin(units["unit_id"])].reset_index(drop=True)

        suggest.__name__ = self.coder
        return suggest

    def acts(self, codebook: Codebook) -> list[Act]:
        """Return the acts that record the base variant, in a round named as the model.

        The first says how the model was asked (``describe``). A decision that is missing is an act of its own
        (``abstain``), and a text without any decision is not finished. Their ids follow from the run, text
        and code, so recording them twice records them once.

        Parameters
        ----------
        codebook : Codebook
            The codebook of the run.

        Raises
        ------
        ArgumentError
            Another codebook.
        """
        check_arguments(Run.acts, locals())
        if codebook.fingerprint != self.card["codebook"]:
            raise ArgumentError(
                f"Run.acts: expected the codebook of the run ({self.card['codebook'][:12]}…) – found "
                f"{codebook.fingerprint[:12]}… – run coders.code again with the current codebook."
            )
        codes, asked = {code.id for code in codebook.codable}, self._base.groupby("unit_id", sort=False)
        # In a text that was finished, a code without an answer would count as absent.
        if any(set(rows["code"]) != codes for _, rows in asked):
            raise ArgumentError(
                "Run.acts: expected every text with an answer, or the reason for none, to each codable code "
                "– found fewer – record a whole run."
            )
        shared: dict[str, Any] = {
            "coder": self.coder,
            "codebook": codebook,
            "round": self.coder,
            "at": self.card["ended"],
        }
        settings = {name: value for name, value in self.card.items() if name not in ("started", "ended")}
        made = [describe(settings=settings, act_id=self._id("describe"), **shared)]
        for unit_id, rows in asked:
            for row in rows.astype(object).where(rows.notna(), None).to_dict("records"):
                named = {"unit_id": unit_id, "code": row["code"], **shared}
                if row["reason"] is not None:
                    act_id = self._id("abstain", unit_id, row["code"])
                    made.append(abstain(reason=row["reason"], act_id=act_id, **named))
                elif row["verdict"] == "yes":
                    act_id = self._id("apply", unit_id, row["code"])
                    made.append(apply(act_id=act_id, start=row["start"], end=row["end"], **named))
            if rows["reason"].isna().any():
                made.append(finish(unit_id=str(unit_id), act_id=self._id("finish", unit_id), **shared))
        return made

    def _id(self, *about: object) -> str:
        named = json.dumps([self.card["run_id"], *map(str, about)])
        return str(uuid.uuid5(_NAMESPACE, named))

    def write(self, path: str | Path, *, with_why: bool = False, overwrite: bool = False) -> None:
        """Write the run as JSON lines, for `read`: the settings first, then one answer a line.

        Parameters
        ----------
        path : str or Path
            The file.
        with_why : bool
            Whether to write the model's reasons, which may repeat a participant's words.
        overwrite : bool
            Whether to replace an existing file.

        Raises
        ------
        StoreError
            The file exists and `overwrite` is false, or it cannot be written.
        """
        check_arguments(Run.write, locals())
        answers = self.answers if with_why else self.answers.assign(why=None)
        rows = answers.astype(object).where(answers.notna(), None).to_dict("records")
        head = {"coder": self.coder, "card": dict(self.card)}
        lines = [json.dumps(one, ensure_ascii=False) for one in (head, *rows)]
        save(Path(path), ("\n".join(lines) + "\n").encode("utf-8", "surrogatepass"), overwrite=overwrite)


def read(path: str | Path) -> Run:
    """Read a run that `Run.write` wrote.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    Run
        Its settings and answers; without the model's reasons unless they were written.

    Raises
    ------
    TableError
        The file cannot be read, or holds something else.
    """
    check_arguments(read, locals())
    try:
        head, *rows = map(json.loads, read_file(Path(path), Limits().file_bytes).decode().splitlines())
        run = Run(head["coder"], ANSWERS.frame(rows), head["card"])
        run.card["run_id"], run.card["codebook"], run.card["ended"]
    except OSError as error:
        raise TableError(
            f"read: {str(path)!r} cannot be read: {error.strerror or type(error).__name__}."
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise TableError(
            f"read: expected a file that Run.write wrote – found something else in {str(path)!r} – name "
            "another file."
        ) from None
    return run
