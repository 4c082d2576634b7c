"""Files that people bring: what they are, and the table that they hold.

=============================================  ==============================  =======================
question                                       function                        file
=============================================  ==============================  =======================
What is this file, and what is in it?          `recognise`, `Recognised`      ``_recognise.py``,
                                                                               ``_recognised.py``
By which marks is a program known?                                             ``kinds.toml``
Which cells are in it?                         `read_cells`, `read_strings`    ``_files.py`` and a file
                                                                               for each format
Which tables are in it, as they are?           `read_grids`                    ``_grids.py``
Where does the table begin?                                                    ``_header.py``
Which rows below the first are headers?                                        ``_header_rows.py``
What may a column be?                          `Recognised.columns`            ``_recognised.py``
Which columns name or place people?                                            ``_recognise.py``
Which cells hold turns, or labels?             `listed_turns`                  ``_json.py``
=============================================  ==============================  =======================
"""

from __future__ import annotations

from sense7_qual._formats._cells import cells_of as cells_of, frame_of as frame_of
from sense7_qual._formats._files import (
    bytes_of as bytes_of,
    decoded as decoded,
    read_cells as read_cells,
    read_parquet as read_parquet,
    read_strings as read_strings,
)
from sense7_qual._formats._grids import Grid as Grid, grid_of_text as grid_of_text, read_grids as read_grids
from sense7_qual._formats._harmless import BROKEN_ZIP as BROKEN_ZIP
from sense7_qual._formats._json import listed_turns as listed_turns
from sense7_qual._formats._recognise import (
    CROWD_ID as CROWD_ID,
    KINDS as KINDS,
    kind_by_names as kind_by_names,
    recognise as recognise,
)
from sense7_qual._formats._recognised import Ask as Ask, Recognised as Recognised

__all__ = ["Ask", "Recognised", "recognise"]
