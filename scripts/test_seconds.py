"""Print how many seconds the tests of each file took, the longest first.

    python -m pytest -q -n 2 --junitxml=report.xml
    python scripts/test_seconds.py report.xml

They are seconds on the clock, as pytest writes them: of one processor where as many tests run at a time as
there are processors, and longer where more do.
"""

from __future__ import annotations

import sys
from collections import Counter

from defusedxml import ElementTree


def main(report: str) -> None:
    """Print the seconds, the number of cases and the file of each row, and their sums last."""
    seconds, cases = Counter[str](), Counter[str]()
    for case in ElementTree.parse(report).iter("testcase"):
        file = case.get("classname", "")
        seconds[file] += float(case.get("time", 0))
        cases[file] += 1
    for file, taken in seconds.most_common():
        print(f"{taken:8.1f} {cases[file]:6,} {file}")
    print(f"{seconds.total():8.1f} {cases.total():6,} in all")


if __name__ == "__main__":
    main(sys.argv[1])
