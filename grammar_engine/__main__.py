"""`python -m grammar_engine` is `grammar-engine`."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
