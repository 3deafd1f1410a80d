"""Token automata as files: what is loaded is what was built; the same file whatever the threads; a file that is not whole is refused."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from automata.reading import accepts, follow, mask_bytes, random_text
from exactness import grammars
from grammar_engine import Grammar, Guide, Matcher, TokenDFA, TokenDFAError, Vocabulary, ir
from grammar_engine._native import ffi, lib
from grammar_engine.errors import GrammarError, LimitExceededError, VocabularyError
from vocabularies import TinyVocabulary, random_vocabulary

TINY = TinyVocabulary((b"a", b"b", b"ab", b"\xc3", b"\xa9", b""), (5,), width=40)


def saved(dfa: TokenDFA, folder: Path, name: str = "automaton") -> bytes:
    dfa.save(folder / name)
    return (folder / name).read_bytes()


def assert_equal(one: TokenDFA, other: TokenDFA) -> None:
    """All masks and transitions."""
    assert one.stats.states == other.stats.states and one.stats.exact == other.stats.exact
    for state in range(one.num_states + 1):
        assert mask_bytes(one, state) == mask_bytes(other, state)
        assert accepts(one, state) == accepts(other, state)
        for token in range(-1, one.vocabulary.size + 1):
            assert follow(one, state, token) == follow(other, state, token)


def test_loaded_equals_built(tmp_path: Path) -> None:
    rng, automata = random.Random(81), 0
    for _ in range(80):
        builder = ir.Builder()
        builder = grammars.one_lexeme(builder, grammars.random_expr(rng, builder, 3))
        vocabulary = random_vocabulary(rng, grammars.LETTERS).build()
        try:
            dfa = TokenDFA.from_grammar(Grammar._from_builder(builder), vocabulary, max_states=500)
        except (GrammarError, VocabularyError, LimitExceededError):
            continue
        content = saved(dfa, tmp_path)
        loaded = TokenDFA.load(tmp_path / "automaton", vocabulary)
        assert_equal(loaded, dfa)
        assert saved(loaded, tmp_path, "again") == content
        assert repr(loaded) == repr(dfa)
        automata += 1
    assert automata > 40


def test_tokens_that_are_far_apart(tmp_path: Path) -> None:
    """A list holds the gaps from token to token in 16 bits each: those around 65,535, longer ones, and the first."""
    far = {0: b"a", 65_534: b"b", 65_535: b"c", 131_070: b"aa", 131_071: b"bb", 262_141: b"ca", 262_142: b"cc", 327_676: b"ccc"}
    tokens = [far.get(token, b"-%d" % token) for token in range(327_680)]
    vocabulary = Vocabulary([*tokens, b""], eos=[len(tokens)])
    for pattern in ("[abc]*", "b?c*", "(?:aa|b)+", "[ac]c*", "c{2,4}"):
        dfa, matcher = TokenDFA.from_regex(pattern, vocabulary), Matcher(Grammar.from_regex(pattern), vocabulary)
        saved(dfa, tmp_path)
        for each in (dfa, TokenDFA.load(tmp_path / "automaton", vocabulary)):
            guide = Guide(each)
            while (tokens_now := guide.get_tokens()) and len(matcher.tokens) < 3:
                assert matcher.mask() == mask_bytes(each, guide.get_state())
                assert tokens_now == [token for token in (*far, len(tokens)) if matcher.mask()[token >> 3] >> (token & 7) & 1]
                guide.advance(tokens_now[0], return_tokens=False)
                assert matcher.accept(tokens_now[0])
            matcher.reset()


@pytest.mark.parametrize("tiny", [TINY, TinyVocabulary((b"bb", b"ab", b"\xc3\xa9", b""), (3,), width=40)])
def test_the_grammar_of_a_loaded_automaton_is_an_equal_one(tiny: TinyVocabulary, tmp_path: Path) -> None:
    """Whether each byte is a token, so that the table of tokens is that of bytes, too, or none is."""
    built = TokenDFA.from_regex("(ab|é)*(bb)?", tiny.build())
    content = saved(built, tmp_path)
    loaded = TokenDFA.load(tmp_path / "automaton", tiny.build())
    again = TokenDFA.from_grammar(loaded.grammar, tiny.build())
    assert_equal(again, built)
    one, other = Matcher(loaded.grammar, tiny.build()), Matcher(built.grammar, tiny.build())
    for token in random_text(built, random.Random(1), 10):
        assert one.mask() == other.mask()
        assert one.accept(token) and other.accept(token)
    assert saved(loaded, tmp_path) == content


def test_a_loaded_automaton_with_dead_ends_is_for_guides_alone(tmp_path: Path) -> None:
    """Its grammar has none: the masks of a matcher would allow what it refuses then."""
    grammar = Grammar.from_lark('start: A "a" | "b"\nA: /a+/', lexing="longest")
    built = TokenDFA.from_grammar(grammar, TINY.build())
    saved(built, tmp_path)
    loaded = TokenDFA.load(tmp_path / "automaton", TINY.build())
    assert_equal(loaded, built)
    assert Matcher(built).allowed_tokens() == Guide(loaded).get_tokens() == [0, 1]
    with pytest.raises(ValueError, match="dead ends"):
        Matcher(loaded)
    assert Matcher(loaded.grammar, TINY.build()).allowed_tokens() == [1]
    for text in ('start: A "b"\nA: /a+/', 'start: (A "b")*\nA: /a+/'):  # without dead ends
        saved(TokenDFA.from_grammar(Grammar.from_lark(text, lexing="longest"), TINY.build()), tmp_path)
        assert Matcher(TokenDFA.load(tmp_path / "automaton", TINY.build())).accept(0)


@pytest.mark.skipif(sys.byteorder == "big", reason="files have the byte order of the machine")
def test_the_content_of_a_file(tmp_path: Path) -> None:
    """If this fails, raise the number of the format in csrc/dfa/td_file.c: files of before hold something else."""
    content = saved(TokenDFA.from_regex("(ab|é)*b?", TINY.build()), tmp_path)
    assert (len(content), hashlib.blake2b(content, digest_size=8).hexdigest()) == (720, "bf8e172459f83dd1")


def test_only_the_language_counts(tmp_path: Path) -> None:
    """However it is written."""
    vocabulary = TINY.build()
    files = {saved(TokenDFA.from_regex(p, vocabulary), tmp_path) for p in ("a(?:b|a)*", "a[ab]*", "(?:a+b*)+", "a|a[ab]+?")}
    assert len(files) == 1
    assert saved(TokenDFA.from_regex("a[ab]{0,100}", vocabulary), tmp_path) not in files


@pytest.mark.parametrize("pattern", [r"[\s\S]*", "(a|é|b){1,700}", "(?:a{300}|[^é]{400})b", r"(https?:\/\/)?([\da-z\.-]+)\.([a-z\.]{2,6})"])
@pytest.mark.parametrize("coalesce", [False, True])
def test_threads_change_nothing(pattern: str, coalesce: bool, tmp_path: Path) -> None:
    files = set()
    for threads in (1, 2, 3, 7, 64, 1000):
        vocabulary = Vocabulary.builtin()  # another fold each time
        files.add(saved(TokenDFA.from_regex(pattern, vocabulary, threads=threads, coalesce_literals=coalesce), tmp_path))
    assert len(files) == 1


def test_builds_at_the_same_time(tmp_path: Path) -> None:
    """Threads that share a vocabulary, and so its folds."""
    vocabulary, patterns = Vocabulary.builtin(), ["a.*", "[a-c]+z{0,40}", r"\d+-\w+", "(x|yz)*", r"[\s\S]{0,300}"]
    expected = [saved(TokenDFA.from_regex(pattern, Vocabulary.builtin(), threads=1), tmp_path) for pattern in patterns]
    failures: list[object] = []

    def work(number: int) -> None:
        rng = random.Random(number)
        for _ in range(6):
            index = rng.randrange(len(patterns))
            dfa = TokenDFA.from_regex(patterns[index], vocabulary, threads=rng.choice([1, 3]))
            if saved(dfa, tmp_path, f"of{number}") != expected[index]:
                failures.append(patterns[index])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


# --- refusals ---------------------------------------------------------------------------------------------------------------


def refusal(path: Path, content: bytes, vocabulary: Vocabulary) -> str:
    path.write_bytes(content)
    with pytest.raises(TokenDFAError) as caught:
        TokenDFA.load(path, vocabulary)
    assert isinstance(caught.value, ValueError)
    return str(caught.value)


def test_each_byte_counts(tmp_path: Path) -> None:
    vocabulary, rng, path = TINY.build(), random.Random(3), tmp_path / "damaged"
    content = saved(TokenDFA.from_regex("(ab|é)*", vocabulary), tmp_path)
    for index in range(len(content)):
        flipped = content[index] ^ (1 << rng.randrange(8))
        assert "cannot be loaded" in refusal(path, content[:index] + bytes([flipped]) + content[index + 1 :], vocabulary)
    for length in range(0, len(content), 24):
        assert "cannot be loaded" in refusal(path, content[:length], vocabulary)
    assert "it goes on after its end" in refusal(path, content + b"\0" * 8, vocabulary)
    path.write_bytes(content)
    TokenDFA.load(path, vocabulary)


def test_what_is_no_automaton(tmp_path: Path) -> None:
    vocabulary, path = TINY.build(), tmp_path / "other"
    assert "it is empty" in refusal(path, b"", vocabulary)
    assert "it is no saved token automaton" in refusal(path, b"ge-vocab" * 20, vocabulary)
    vocabulary.save(path)
    assert "it is no saved token automaton" in refusal(path, path.read_bytes(), vocabulary)
    with pytest.raises(FileNotFoundError):
        TokenDFA.load(tmp_path / "absent", vocabulary)
    with pytest.raises(TypeError):
        TokenDFA.load(path, "vocabulary")
    TokenDFA.from_regex("a", vocabulary).save(path)
    with pytest.raises(ValueError, match="it is no saved vocabulary"):
        Vocabulary.load(path)


@pytest.mark.parametrize("note", [b"[" * 100_000, b"1", b"null", b"\xff", b'{"kind": "\\ud800", "vocabulary": "%s"}'])
def test_forged_notes(note: bytes, tmp_path: Path) -> None:
    """Files that are right in all else."""
    vocabulary, path = TINY.build(), tmp_path / "forged"
    note = note.replace(b"%s", vocabulary.fingerprint.encode())
    handle = TokenDFA.from_regex("a", vocabulary)._handle
    memory = ffi.new("uint8_t[]", lib.ge_dfa_save(handle, note, len(note), ffi.NULL))
    lib.ge_dfa_save(handle, note, len(note), memory)
    assert "no note of this package" in refusal(path, bytes(ffi.buffer(memory)), vocabulary)


@pytest.mark.parametrize(
    "other",
    [
        TinyVocabulary((b"a", b"b", b"ab", b"\xc3", b"\xaa", b""), (5,), width=40),
        TinyVocabulary((b"a", b"b", b"ab", b"\xc3", b"\xa9", b""), (5,), width=41),
        TinyVocabulary((b"a", b"b", b"ab", b"\xc3", b"\xa9", b""), (4, 5), width=40),
        TinyVocabulary((b"a", b"b", b"ab", b"\xc3", b"\xa9", b"", b""), (5,), width=40),
    ],
)
def test_another_vocabulary(other: TinyVocabulary, tmp_path: Path) -> None:
    TokenDFA.from_regex("(ab|é)*", TINY.build()).save(tmp_path / "automaton")
    with pytest.raises(VocabularyError, match="made for another vocabulary"):
        TokenDFA.load(tmp_path / "automaton", other.build())
    assert TokenDFA.load(tmp_path / "automaton", TINY.build()).num_states > 0


# --- life of files ----------------------------------------------------------------------------------------------------------


def test_a_file_may_be_replaced_and_removed(tmp_path: Path) -> None:
    vocabulary, path = TINY.build(), tmp_path / "automaton"
    TokenDFA.from_regex("a*", vocabulary).save(path)
    loaded = TokenDFA.load(path, vocabulary)
    TokenDFA.from_regex("b*", vocabulary).save(path)
    assert Guide(loaded).get_tokens() == [0, 5] and Guide(TokenDFA.load(path, vocabulary)).get_tokens() == [1, 5]
    path.unlink()
    assert Guide(loaded).advance(0) == [0, 5]
    assert os.listdir(tmp_path) == []


def test_a_guide_keeps_its_automaton(tmp_path: Path) -> None:
    TokenDFA.from_regex("a*", TINY.build()).save(tmp_path / "automaton")
    guide = Guide(TokenDFA.load(tmp_path / "automaton", TINY.build()))
    assert guide.advance(0) == [0, 5]


def test_another_process_loads_it(tmp_path: Path) -> None:
    vocabulary = Vocabulary.builtin()
    dfa = TokenDFA.from_regex("[a-z]+@[a-z]+", vocabulary)
    dfa.save(tmp_path / "automaton")
    program = "import sys; from grammar_engine import *; print(Guide(TokenDFA.load(sys.argv[1], Vocabulary.builtin())).get_tokens())"
    run = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "automaton")], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == str(Guide(dfa).get_tokens())


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TokenDFAError, match="it is no file"):
        TokenDFA.load(tmp_path / "pipe", TINY.build())
