# The extension module that cffi generates from csrc/include/ge_api.h; only `_native` uses it.
from typing import Any

ffi: Any
lib: Any
