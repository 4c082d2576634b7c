"""What a lead decides for everybody in a study: codes, the plan, options, analysis plans, themes.

The class bears the name of the whole `Store`, by which messages call its methods.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd

from sense7_qual._arguments import check_arguments, read_mapping
from sense7_qual._messages import did_you_mean, first_three, word
from sense7_qual.acts import Act, Preregistration, check_person, fold, preregister, preregistrations, stamp
from sense7_qual.acts.contents import AnalysisPlan
from sense7_qual.codebook import Codebook
from sense7_qual.corpus import assign
from sense7_qual.errors import ActError, TableError
from sense7_qual.frames import require_column
from sense7_qual.rounds import Assignment, Round, assignments, opened
from sense7_qual.store._operations import revise
from sense7_qual.store._operations.contents import Options, options_act
from sense7_qual.store._reading import Store as Reading
from sense7_qual.store._stored.acts_files import check_pseudonym
from sense7_qual.themes import Themes, edit, record


class Store(Reading):
    """Each decision is recorded as an act of the lead."""

    __slots__ = ()

    def assign(
        self,
        *,
        coders: Sequence[str],
        overlap: float,
        coder: str,
        seed: int = 0,
        stratify: str | Sequence[str] | None = None,
        coders_per_unit: int | None = None,
        calibration: int | None = None,
        round: str | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> pd.DataFrame:
        """Assign the units to coders, record it in the study, and return the plan (`plan`).

        The same call again changes nothing. A call with other coders or another overlap reassigns units that
        nobody has begun. A unit on which a coder has done anything stays with that coder, as far as this copy
        of the study knows (merge the coders' copies first). Coders with fewer units get more. A coder who is
        left out keeps what they have begun and gets no more; what they did not finish is assigned to somebody
        else as well.

        Parameters
        ----------
        coders : sequence of str
            The pseudonyms of all who code from now on.
        overlap, seed, stratify, coders_per_unit
            As for `corpus.assign`.
        coder : str
            The pseudonym of the lead who assigns; in PostgreSQL a coder of a leading role.
        calibration : int, optional
            How many units everybody codes first, all in the same order, so that agreement can be computed
            early. By default as many as in the current plan, else none. A coder who joins later gets the same
            units.
        round : str, optional
            An open round: its units are assigned to its coders, who otherwise code all of them.
        weights : mapping of str to float, optional
            Weights for drawing the overlap, as for `corpus.assign`. The study keeps only a fingerprint of
            them: keep the weights, or the result of `corpus.inclusion`, yourself.

        Returns
        -------
        DataFrame
            The plan of the whole study, as `plan` returns it.

        Raises
        ------
        TableError
            A value is out of range, or `units` has no such column.
        ActError
            A name cannot be a pseudonym, there is no such round, or a coder is not in it.
        StoreError
            Acts of a coder are damaged, the study cannot be written, or the role does not lead.
        """
        self._study.look_for_withdrawals()
        one = not isinstance(coders, Iterable) or isinstance(coders, str | pd.DataFrame)
        names = coders if one else list(coders)
        check_arguments(Store.assign, locals() | {"coders": names})
        act = assign_act(
            self._study.known.units,
            self.acts(),
            coder=coder,
            codebook=self.codebook,
            coders=names,
            overlap=overlap,
            seed=seed,
            stratify=stratify,
            coders_per_unit=coders_per_unit,
            calibration=calibration,
            round=round,
            weights=weights,
        )
        if act is not None:
            known = self._study.reads.coders()
            for each in names:
                check_pseudonym(each, known)
            self._study.append([act])
        return self.plan

    def revise(
        self,
        codebook: Codebook,
        *,
        why: str,
        coder: str,
        merged: Mapping[str, str] | None = None,
        split: Mapping[str, Sequence[str]] | None = None,
        meaning: Mapping[str, str | tuple[str, str]] | None = None,
    ) -> Codebook:
        """Make a changed codebook the current one, and return it; every version stays.

        `codebook` is a change of ``store.codebook`` as this store knows it. If somebody else revised the
        study's codebook meanwhile, both changes are combined unless they touch the same thing. `decisions`
        carries over what was coded under earlier versions, as far as its meaning stayed; `codings.stale`
        lists the rest. If two copies of the study were revised separately and merged, a revision joins both
        lines of versions.

        Parameters
        ----------
        codebook : Codebook
            The changed codebook.
        why : str
            The reason, as the methods section will give it.
        coder : str
            The pseudonym of the person who decides; in PostgreSQL a coder of a leading role.
        merged : mapping of str to str, optional
            Removed codes, and the code that each was merged into.
        split : mapping of str to sequence of str, optional
            Removed codes, and the new codes that each was split into.
        meaning : mapping of str to str, or to a pair of str, optional
            For codes with a changed definition or working rule, what that does to their meaning:
            ``{"blame": "reword"}``. By default "redefine": all decisions on the code must be made again. With
            "reword" (the same meaning) all of them stay; with "narrow" (applies to less) only what was
            applied must be decided again; with "widen" (applies to more) only what was absent. It is a claim,
            which the methods section reports; its reason is `why`, or one of its own, in a pair:
            ``{"blame": ("reword", "A typing error.")}``.

        Raises
        ------
        CodebookError
            Somebody else changed the same thing meanwhile (both changes are shown), or `merged`, `split` or
            `meaning` does not fit the two versions. Nothing was changed.
        ActError
            There is no reason, or no change.
        StoreError
            The study cannot be written, or the role does not lead.
        """
        check_arguments(Store.revise, locals())
        wish = revise.Wish(
            base=self.codebook,
            codebook=codebook,
            why=why,
            coder=coder,
            merged=read_mapping(merged),
            split=read_mapping(split),
            meaning=read_mapping(meaning),
            revisions=self._study.history,
        )
        self._study.revise(wish)
        return self.codebook

    def set_options(
        self,
        *,
        coder: str,
        new_codes: Literal["propose", "add"] | None = None,
        rating: Literal["hidden", "shown", "finished"] | None = None,
        suggestions: Literal["finished", "shown", "never"] | None = None,
        rating_column: str | None = None,
        leads: Sequence[str] | None = None,
    ) -> Options:
        """Set how the coders work, and return all `options`; what is left out stays as it is.

        Parameters
        ----------
        coder : str
            The pseudonym of the lead; in PostgreSQL a coder of a leading role.
        new_codes : {"propose", "add"}, optional
            What the coding widget does with a code that a coder misses: "propose" (the default) sends it to
            the lead (`proposals`); "add" puts it into the codebook at once, as a revision by the coder. In
            PostgreSQL only leading roles can revise; the others propose.
        rating : {"hidden", "shown", "finished"}, optional
            Whether the coding widget shows the rating never ("hidden", the default), from the start, or for
            each text once the coder has finished it; ``CodingWidget(…, show_rating=…)`` takes precedence.
        suggestions : {"finished", "shown", "never"}, optional
            When ``CodingWidget(…, suggest=…)`` shows a model's suggestions for a text: once the coder has
            finished it ("finished", the default), from the start, or never. A coder who sees suggestions
            first is not independent of them: `decisions` tells the two apart.
        rating_column : str, optional
            The column of `units` with the study's rating (``sense7-qual new`` sets it). ``sense7-qual
            report`` links the codes to it if no plan is registered and no ``--rating`` is given.
        leads : sequence of str, optional
            The pseudonyms of all who lead the study from now on (at first the `lead` of `create`). The lead's
            widgets ask everybody else to leave them to these. Once leads are named, only a lead can name
            others. In a folder this is an agreement, not a lock: whoever has the folder has its files.

        Raises
        ------
        ActError
            No option is given, or a value that it does not have.
        TableError
            The units have no such column.
        StoreError
            The study cannot be written, or the role does not lead.
        """
        check_arguments(Store.set_options, locals())
        if rating_column is not None:
            require_column(self._study.known.units, rating_column, frame_name="units")
        options = self.options
        if leads is not None and options.leads and check_person(coder) not in options.leads:
            raise ActError(
                f"set_options: expected a lead of this study ({first_three(options.leads)}) – found "
                f"{coder!r} – let one of them name the leads."
            )
        named = None if leads is None else tuple(map(check_person, leads))
        act = options_act(
            options,
            coder=coder,
            codebook=self.codebook,
            new_codes=new_codes,
            rating=rating,
            suggestions=suggestions,
            rating_column=rating_column,
            leads=named,
        )
        if act is not None:
            self._study.append([act])
        return self.options

    def preregister(self, plan: AnalysisPlan, *, coder: str) -> Preregistration:
        """Register the analysis plan permanently, and return it as recorded.

        A later call amends it: both stay, and `report.deviations` reports deviations from them. The plan
        registered last is not registered again. Publish ``.plan.fingerprint`` of the result elsewhere (OSF,
        an e-mail) to show that the plan was not replaced.

        Parameters
        ----------
        plan : AnalysisPlan
            What is decided beforehand (`acts.contents.AnalysisPlan`). Its rating and cluster are columns of
            `units`.
        coder : str
            The pseudonym of the lead who registers it; in PostgreSQL a coder of a leading role.

        Raises
        ------
        ActError
            The plan names a column that the units do not have, or repeats words of a participant who
            withdrew while this store was open.
        StoreError
            The study cannot be written, or the role does not lead.
        """
        check_arguments(Store.preregister, locals())
        columns = [name for name in self.units.columns if name not in ("text", "context")]
        for name in (plan.rating, plan.cluster):
            if name is not None and name not in columns:
                raise ActError(
                    f"preregister: expected a column of the study's units – found {word(name)} – "
                    f"{did_you_mean(name, columns)}"
                )
        before = self.preregistrations
        if before and before[-1].plan == plan:
            return before[-1]
        act = preregister(plan, coder=coder, codebook=self.codebook)
        self._study.append([act])
        return preregistrations([act])[0]

    def record_themes(self, themes: Themes, *, coder: str) -> pd.DataFrame:
        """Record the themes of a topic model, and return how they match the themes recorded before.

        A theme that shares at least half of its units with an earlier one keeps that theme's number, name and
        code, and whether people merged or dismissed it (`themes.match_recorded` says the same without
        recording).

        Parameters
        ----------
        themes : Themes
            The result of `themes.fit` for units of this study.
        coder : str
            The pseudonym of the lead who records them; in PostgreSQL a coder of a leading role.

        Returns
        -------
        DataFrame
            As `themes.match_recorded`: run_theme, theme, is_new, nearest, jaccard.

        Raises
        ------
        ActError
            The themes have units that the study does not have; nothing was recorded.
        StoreError
            The study cannot be written, or the role does not lead.
        """
        check_arguments(Store.record_themes, locals())
        act, numbers = record(themes, self._study.lead_acts("themes"), coder=coder, codebook=self.codebook)
        self._study.append([act])
        return numbers

    def edit_theme(
        self,
        theme: int,
        *,
        coder: str,
        name: str | None = None,
        merge_into: int | None = None,
        dismissed: bool | None = None,
        parts: Sequence[Collection[str]] | None = None,
        code: str | None = None,
        why: str = "",
    ) -> None:
        """Name, merge, dismiss or split a theme of the study, or link it to a code: one of these at a time.

        The opposite call takes it back. It stays through later runs (`record_themes`).

        Parameters
        ----------
        theme : int
            Its number in the study, as `themes` has it.
        coder : str
            The pseudonym of the lead; in PostgreSQL a coder of a leading role.
        name, merge_into, dismissed, parts, code, why : optional
            As for `themes.edit`.

        Raises
        ------
        TableError
            No themes were recorded.
        ArgumentError
            There is no such theme or code, no change or several changes are asked for, or one is impossible.
        ActError
            The name or the reason repeats words of a participant who withdrew while this store was open.
        StoreError
            The study cannot be written, or the role does not lead.
        """
        check_arguments(Store.edit_theme, locals())
        act = edit(
            theme,
            self._study.lead_acts("themes"),
            self.units,
            coder=coder,
            codebook=self.codebook,
            name=name,
            merge_into=merge_into,
            dismissed=dismissed,
            parts=parts,
            code=code,
            why=why,
        )
        self._study.append([act])


def assign_act(
    units: pd.DataFrame,
    acts: Sequence[Act],
    *,
    coder: str,
    codebook: Codebook,
    coders: Sequence[str],
    overlap: float,
    seed: int,
    stratify: str | Sequence[str] | None,
    coders_per_unit: int | None,
    calibration: int | None,
    round: str | None,
    weights: Mapping[str, float] | None,
) -> Act | None:
    """Return the act that assigns `units` to `coders`; None if the current plan is the same."""
    columns = (stratify,) if isinstance(stratify, str) else tuple(() if stratify is None else stratify)
    settings: dict[str, Any] = {"coders": coders, "overlap": overlap, "seed": seed, "stratify": columns}
    settings["coders_per_unit"] = coders_per_unit
    assign(units.head(0), **settings)  # refuses what it cannot take before anything below meets it
    if round is not None:
        units = _of_round(units, coders, acts, round)
    current = assignments(acts, round=round)
    known = set(units["unit_id"])
    first = _calibration(calibration, current)
    ids = [unit_id for unit_id in first if unit_id in known] if isinstance(first, list) else first
    begun = _begun(acts, current, coders, known, round)
    stay = _fixed(begun, coders, acts, round)
    parts = assign(units, calibration=ids, fixed=stay, weights=weights, **settings)
    without_part = {name: tuple(own) for name, own in begun.items() if name not in parts}
    dealt = {name: tuple(map(str, part["unit_id"])) for name, part in parts.items()}
    made = Assignment(
        units=dealt | without_part,
        coders=tuple(parts),
        overlap=float(overlap),
        seed=int(seed),
        stratify=columns,
        coders_per_unit=None if coders_per_unit is None else int(coders_per_unit),
        calibration=tuple(first) if isinstance(first, list) else dealt[coders[0]][: int(first)],
        replaces=tuple(act.act_id for act, _ in current),
        weights=_fingerprint(weights),
    )
    if len(current) == 1 and _settings(made) == _settings(current[0][1]):
        return None
    return Act(kind="assign", round=round, text=made.to_text(), **stamp(coder, codebook, None, None))


def _fingerprint(weights: Mapping[str, float] | None) -> str:
    """Return a fingerprint of weights, which may come from a coder's codings and are not to be read."""
    if weights is None:
        return ""
    listed = sorted((str(unit_id), float(weight)) for unit_id, weight in read_mapping(weights).items())
    return hashlib.sha256(json.dumps(listed).encode()).hexdigest()[:32]


def _settings(one: Assignment) -> dict[str, Any]:
    return {name: getattr(one, name) for name in one.__slots__ if name not in ("units", "replaces")}


def _of_round(units: pd.DataFrame, coders: Iterable[str], acts: Sequence[Act], round: str) -> pd.DataFrame:
    """Return the units of the round, whose coders `coders` must be."""
    rounds: dict[str, Round] = {one.name: one for one in opened(acts)}
    one = rounds.get(round)
    if one is None:
        raise ActError(
            f"assign: expected an open round – found {word(round)} – {did_you_mean(str(round), rounds)}"
        )
    others = [coder for coder in coders if coder not in one.coders]
    if others:
        raise ActError(
            f"assign: expected coders of round {one.name!r} – found {first_three(others)} – open the round "
            "again with them, or leave them out."
        )
    return units[units["unit_id"].isin(one.units)]


def _calibration(n_texts: int | None, current: Sequence[tuple[Act, Assignment]]) -> int | list[str]:
    """Return the texts that everybody codes first: those of the plan that stands, or how many to draw."""
    before = list(dict.fromkeys(unit_id for _, one in current for unit_id in one.calibration))
    if n_texts is None:
        return before or 0
    if not before or isinstance(n_texts, bool) or not isinstance(n_texts, int | np.integer) or n_texts < 0:
        return n_texts  # `corpus.assign` refuses what is no number of units
    if n_texts > len(before):
        raise TableError(
            f"assign: expected at most the {len(before)} calibration texts of the current plan – found "
            f"{n_texts} – calibrate further in a round (rounds.open_round), or leave `calibration` out."
        )
    return before[:n_texts]


def _begun(
    acts: Iterable[Act],
    current: Sequence[tuple[Act, Assignment]],
    coders: Sequence[str],
    known: Collection[str],
    round: str | None,
) -> dict[str, list[str]]:
    """Return the units that each coder, of now or of the plan that stands, has begun, in their order."""
    places: dict[str, dict[str, None]] = {name: {} for name in coders}
    for _, one in current:
        for name, unit_ids in one.units.items():
            places.setdefault(name, {}).update(dict.fromkeys(unit_ids))
    touched = {
        (act.coder, act.unit_id): None
        for act in acts
        if act.traits.is_own_step  # also where it is undone: they have read it
        and act.unit_id in known
        and (act.traits.subject == "memo" or act.round == round)
    }
    begun: dict[str, list[str]] = {
        name: [unit_id for unit_id in unit_ids if (name, unit_id) in touched]
        for name, unit_ids in places.items()
    }
    for name, unit_id in touched:
        if name in places and unit_id not in places[name]:  # without a plan, or another's
            begun[name].append(str(unit_id))
    return {name: unit_ids for name, unit_ids in begun.items() if unit_ids}


def _fixed(
    begun: Mapping[str, list[str]], coders: Sequence[str], acts: Iterable[Act], round: str | None
) -> dict[str, list[str]]:
    """Return the units that stay with each coder; what a former coder has not finished is assigned again."""
    if set(begun) <= set(coders):
        return dict(begun)
    coverage = fold(acts).coverage
    rows = coverage[coverage["round"].isna() if round is None else coverage["round"] == round]
    finished = set(zip(rows["coder"], rows["unit_id"], strict=True))
    return {
        name: [unit_id for unit_id in unit_ids if name in coders or (name, unit_id) in finished]
        for name, unit_ids in begun.items()
    }
