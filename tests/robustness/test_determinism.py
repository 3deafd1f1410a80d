"""The same inputs give the same masks, errors and reports: in every process, whatever the hash seed, and whatever was computed before."""

from __future__ import annotations

import os
import subprocess
import sys

SCRIPT = r"""
import hashlib, json, random
from pathlib import Path
from grammar_engine import Grammar, GrammarEngineError, Matcher, Vocabulary
digest = hashlib.sha256()
vocabulary = Vocabulary.builtin()
root = Path(ROOT)
def note(*values):
    digest.update(repr(values).encode())
sources = [(Grammar.from_json_schema, json.loads(path.read_text())) for path in sorted((root / "grammars/schemas").glob("*.json"))]
sources += [(Grammar.from_lark, path.read_text()) for path in sorted((root / "grammars").glob("*.lark"))]
sources += [
    (Grammar.from_json_schema, {"anyOf": [{"enum": ["b", "a", 1]}, {"required": ["z", "y", "x"]}, {"patternProperties": {"^q": {}, "^r": {"type": "null"}}}]}),
    (Grammar.from_json_schema, {"allOf": [{"properties": {c: {} for c in "gfedcba"}}, {"required": list("bxa")}], "type": "object"}),
    (Grammar.from_regex, r"(foo|bar|[a-c]{2,5}|\d+)*"),
    (Grammar.from_choices, {"one", "two", "three", "four"}),
    (Grammar.from_json_schema, {"properties": {"a": {"frobnicate": 1, "type": "nope"}}}),
    (Grammar.from_lark, "start: a b c d e"),
    (Grammar.from_json_schema, {"not": {"type": ["string", "null"]}, "uniqueItems": True}),
]
rng = random.Random(0)
for make, source in sources:
    try:
        grammar = make(source)
    except GrammarEngineError as error:
        note(type(error).__name__, str(error))
        continue
    note(repr(grammar), repr(grammar.report))
    for _ in range(3):
        matcher = Matcher(grammar, vocabulary)
        for _ in range(15):
            mask = matcher.mask()
            note(mask, matcher.explain(b"\xff"), matcher.forced_bytes(), matcher.forced_tokens())
            matcher.accept(rng.choice(matcher.allowed_tokens()))
    note(grammar.stats)
note(vocabulary.fingerprint)
print(digest.hexdigest())
"""


def test_hash_seeds(tmp_path):
    """Counters included: not only the answers are the same, but the way to them."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    answers = set()
    for seed in ("0", "1", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        code = f"ROOT = {root!r}\n" + SCRIPT  # in a folder where nothing hides the installed package
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=300)
        assert run.returncode == 0, run.stderr
        answers.add(run.stdout)
    assert len(answers) == 1
