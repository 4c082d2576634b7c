# Builds a folder in that of the argument, says so, and waits to be killed.
import sys
import time
from pathlib import Path

from sense7_qual.store._stored import whole_files

folder, target = Path(sys.argv[1]), Path(sys.argv[2])
with whole_files.making(target, "backup", folder) as place:
    place.write_text("It listened to me.")
    print(place, flush=True)
    time.sleep(60)
