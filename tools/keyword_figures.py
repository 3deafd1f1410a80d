"""Counts what the documents say of each keyword: how many real schemas use it, and how the official suite judges it.

    python tools/keyword_figures.py --schemas maskbench.tar.xz    # writes tools/keyword_figures.json
    python tools/keyword_figures.py                               # the suite only; what was counted of schemas is kept
    python tools/keyword_figures.py --table                       # prints the suite file by file, in markdown, and writes nothing

Idea. The data are large and not part of the repository, so their counts are kept in a small file, and `make_docs.py` reads that: the
documents can be written where the data are absent. The suite is found as the tests find it (`tests/conformance`).

A schema *uses* a keyword if the keyword stands in a place where a schema stands: a property that is called `format` is none.
"""

from __future__ import annotations

import argparse
import json
import sys
import tarfile
from collections import Counter
from pathlib import Path
from typing import Any

from grammar_engine.frontends.json_schema.reading.keywords import LIST_OF_SCHEMAS, MAP_OF_SCHEMAS, ONE_SCHEMA, REGISTRY
from grammar_engine.frontends.json_schema.scalars.formats import FORMATS

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "tools" / "keyword_figures.json"


def main() -> None:
    parser = argparse.ArgumentParser(description="Write tools/keyword_figures.json.")
    parser.add_argument("--schemas", type=Path, metavar="ARCHIVE", help="a tar archive of JSON files, each with a `schema`")
    parser.add_argument("--table", action="store_true", help="print the suite file by file, and write nothing")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT / "tests"))
    from conformance import suite

    if not suite.files():
        sys.exit(f"{suite.ARCHIVE} is not there; GRAMMAR_ENGINE_DATA names the folder")
    if options.table:
        print(suite.table())
        return
    figures = {"usage": usage(options.schemas)} if options.schemas else json.loads(TARGET.read_text(encoding="utf-8"))
    figures["conformance"] = suite.counts_of_files()
    TARGET.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def usage(archive: Path) -> dict[str, Any]:
    """In how many schemas each keyword and each format that the engine knows occurs."""
    keywords: Counter[str] = Counter()
    formats: Counter[str] = Counter()
    known = {keyword.name for keyword in REGISTRY}
    known_formats = FORMATS.keys()
    n_schemas = 0
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.isfile() and member.name.endswith(".json"):
                used: set[tuple[str, str]] = set()
                visit(json.load(tar.extractfile(member))["schema"], used)
                keywords.update({word for word, _ in used if word in known})
                formats.update({name for word, name in used if name in known_formats})
                n_schemas += 1
    return {"schemas": n_schemas, "keywords": dict(sorted(keywords.items())), "formats": dict(sorted(formats.items()))}


def visit(schema: Any, used: set[tuple[str, str]]) -> None:
    """Add (keyword, its value if it is the name of a format) for all keywords of a schema and its subschemas."""
    todo = [schema]
    while todo:
        here = todo.pop()
        if not isinstance(here, dict):
            continue
        for word, value in here.items():
            used.add((word, value if word == "format" and isinstance(value, str) else ""))
            if word in ONE_SCHEMA:
                todo.append(value)
            if word in LIST_OF_SCHEMAS and isinstance(value, list):
                todo += value
            if word in MAP_OF_SCHEMAS and isinstance(value, dict):
                todo += value.values()


if __name__ == "__main__":
    main()
