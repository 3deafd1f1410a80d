"""Writing files that others may read at the same time, and opening those that are to be mapped."""

from __future__ import annotations

import os
import threading
from typing import Any, BinaryIO


def open_file(path: str | os.PathLike[str]) -> BinaryIO:
    """A file by its path, not by its number. A pipe does not block: the core refuses it."""
    return open(os.fspath(path), "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK))


def replace_file(path: str | os.PathLike[str], content: Any) -> None:
    """Write `content`, a buffer, under another name in the same folder, and rename it when it is whole: nobody ever sees a part of it."""
    unfinished = f"{os.fspath(path)}.{os.getpid()}.{threading.get_ident()}.tmp"
    try:
        with open(unfinished, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    except BaseException as error:
        if os.path.exists(unfinished):
            os.remove(unfinished)
        if isinstance(error, OSError) and error.errno:  # with the name that was asked for
            raise OSError(error.errno, error.strerror, os.fspath(path)) from None
        raise
