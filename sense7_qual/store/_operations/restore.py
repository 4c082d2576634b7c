"""An archive becomes a study again, if its acts are such as a study takes and nobody has withdrawn since."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sense7_qual._messages import first_three
from sense7_qual.acts import Act
from sense7_qual.errors import StoreError
from sense7_qual.store._operations import archive
from sense7_qual.store._operations.append import Heads
from sense7_qual.store._operations.gate import Gate, Recorded, together
from sense7_qual.store._stored import acts_files, acts_tables, layout, study_notes


def restored(source: Path, building: Path, *, place: str, forget_again: bool) -> None:
    """Build the study folder of the archive `source`; `place` is what this computer remembers its place by.

    Without `forget_again`, texts of participants who have withdrawn since are refused.
    """
    archive.unpack(source, building)
    study = layout.read(building)
    if not forget_again:
        _refuse_withdrawn(source, building, Heads(study.id, place).seen().withdrawn)
    if layout.handed_out(building) is None:  # its lead's study took the acts of a hand-out, which has some
        _refuse_unfit(source, building)


def _refuse_withdrawn(source: Path, building: Path, withdrawn: frozenset[str]) -> None:
    units = layout.read_units(building, layout.read(building))
    back = units.loc[units["unit_id"].isin(withdrawn), "case_id"].dropna().unique()
    if len(back):
        raise StoreError(
            f"archive {source.name!r}: expected no texts of participants who have withdrawn – found those of "
            f"{first_three(back)}, since it was written before – restore it with forget_again=True (in the "
            "command --forget-again), which removes them; nothing was restored."
        )


def _refuse_unfit(source: Path, building: Path) -> None:
    """Raise `StoreError` where an act is none that the study would take.

    Rounds are not asked: they were when the act was recorded, and clocks may tell their order otherwise.
    """
    study = layout.read(building)
    units = layout.read_units(building, study)
    gone = study_notes.withdrawn_units(building)
    texts = dict(zip(units["unit_id"], units["text"], strict=True)) | dict.fromkeys(gone, "")
    gate = Gate(texts, layout.read_codebooks(building, study), None, gone)
    for file in acts_files.acts_files(building):
        recorded = Recorded()
        for batch in _together(file, study.id):
            why = gate.refusal(batch, recorded)
            if why:
                raise archive.refused(source, f"an act that no study takes: {why}")


def _together(file: Path, study_id: str) -> Iterator[list[Act]]:
    """Yield the acts of a coder in their order, those of a step together."""
    with acts_files.transaction(file) as connection:
        chain = acts_tables.read_chain(connection, file, study=study_id, coder=acts_files.coder_of(file))
    yield from together([link.act for link in chain if link.act is not None], lambda act: act)
