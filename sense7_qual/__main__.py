"""`python -m sense7_qual` does what `sense7-qual` does."""

from __future__ import annotations

import sys

from sense7_qual._commands import main

if __name__ == "__main__":
    sys.exit(main())
