"""Makes the modules of the recorder importable in its tests."""

import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parents[1]
REPOSITORY = FOLDER.parents[1]
sys.path.insert(0, str(FOLDER))
