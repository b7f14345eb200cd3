# SPDX-License-Identifier: Apache-2.0
"""The licence texts that every Debian system has: what three of the trainings here learn from."""
import pathlib

FOLDER = "/usr/share/common-licenses"
TEXTS = ("GPL-1", "GPL-2", "GPL-3", "LGPL-2", "LGPL-2.1", "LGPL-3", "GFDL-1.2", "GFDL-1.3",
         "Apache-2.0", "Artistic", "MPL-1.1", "MPL-2.0")


def read(path):
    """Those in this folder, or the one file that it is."""
    path = pathlib.Path(path)
    files = [path / name for name in TEXTS if (path / name).exists()] if path.is_dir() else [path]
    return [file.read_text(encoding="utf-8", errors="replace") for file in files]
