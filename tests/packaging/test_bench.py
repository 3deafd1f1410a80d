"""What can be told of the benchmarks without measuring: their texts are right and wrong as they say, and unknown engines are named."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from grammar_engine import Grammar, Matcher, Vocabulary

BENCH = Path(__file__).parents[2] / "bench"


def test_texts_of_regular_expressions(monkeypatch: pytest.MonkeyPatch) -> None:
    """By Python's `re`, and by the engine."""
    monkeypatch.syspath_prepend(str(BENCH))
    from suites.patterns import patterns

    vocabulary = Vocabulary.bytes()
    for pattern in patterns():
        grammar = Grammar.from_regex(pattern.regex)
        for text, right in [(text, True) for text in pattern.texts] + [(text, False) for text in pattern.wrong]:
            matcher = Matcher(grammar, vocabulary)
            assert bool(re.fullmatch(pattern.regex, text)) is right, (pattern.name, text)
            assert (matcher.accept_bytes(text.encode()) and matcher.is_complete) is right, (pattern.name, text)


@pytest.mark.parametrize("script", ["hard.py", "regexes.py", "grammars.py", "maskbench.py"])
@pytest.mark.parametrize(
    ("engines", "named"), [("ours,nosuch", "'nosuch' is no engine; there are ours,"), ("ours-without-typo", "no switch 'typo'")]
)
def test_unknown_engines_are_a_usage_error(script: str, engines: str, named: str) -> None:
    pytest.importorskip("numpy")
    done = subprocess.run([sys.executable, str(BENCH / script), "--engines", engines], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and named in done.stderr and "Traceback" not in done.stderr
