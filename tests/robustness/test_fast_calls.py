"""Methods that are done in C do what the methods in Python do that they override: same results, same errors, same state."""

from __future__ import annotations

import copy
import ctypes
import gc
import inspect
import os
import random
import subprocess
import sys
import threading
import weakref
from array import array
from collections.abc import Callable
from importlib.util import find_spec
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from grammar_engine import Grammar, Guide, MaskBuffer, Matcher, Switches, TokenDFA, Vocabulary, _core, allocate_masks
from grammar_engine._native import Held, Record, ffi, lib

VOCABULARY = Vocabulary([b"a", b"b", b"ab", b"ba", b"aa", b"", b"c"], eos=[5], width=70)
WORDS, ROOM = 3, 70
PATTERN = "(a|ba){2,9}c?"
DFA = TokenDFA.from_regex(PATTERN, VOCABULARY)
OTHER = Vocabulary.bytes()
IN_C = {
    Guide: ("advance", "get_state", "get_tokens", "is_finished", "rollback_state", "write_mask_into"),
    Matcher: ("accept", "accept_tokens", "fill_mask", "validate"),
}

pytestmark = pytest.mark.skipif(Guide.__base__ is Held, reason="GRAMMAR_ENGINE_NO_FAST_CALLS is set")


class Number:
    def __index__(self) -> int:
        return 0


class Integer(int):
    pass


class Row(MaskBuffer):
    """A mask buffer of a class of its own."""


def environment(switch: str = "") -> dict[str, str]:
    """For another process with this package."""
    root = os.path.dirname(os.path.dirname(sys.modules["grammar_engine"].__file__ or ""))
    return os.environ | {"GRAMMAR_ENGINE_NO_FAST_CALLS": switch, "PYTHONPATH": root}


def outcome(call: Callable[[], Any]) -> Any:
    """What it returns or raises."""
    try:
        return call()
    except Exception as error:
        return type(error), str(error)


def numbers() -> list[Any]:
    return [*range(-1, 9), 70, True, Integer(2), Number(), 1 << 31, 1 << 32, 1 << 62, 1 << 63, 1 << 64, -(1 << 70), 1.0, None, "a"]


def arrays(fill: int) -> dict[str, Any]:
    """Arrays of numpy, such as are masks and such as are none."""
    if find_spec("numpy") is None:
        return {}
    import numpy as np

    class Mine(np.ndarray):
        pass

    row = np.full((1, WORDS), fill, np.uint32)
    frozen = row.copy()
    frozen.flags.writeable = False
    return {
        "uint32": row.copy(),
        "int32": row.view(np.int32).copy(),
        "flat": row[0].copy(),
        "rows": np.repeat(row, 4, axis=0),
        "columns": np.repeat(row, 4, axis=0).T,
        "strided": np.repeat(row, 2, axis=1)[:, ::2],
        "part": np.repeat(row, 4, axis=0)[1:3],
        "mine": row.copy().view(Mine),
        "frozen array": frozen,
        "swapped": row.astype(">u4"),
        "odd": np.zeros(4 * WORDS + 1, np.uint8)[1:].view(np.uint32),
        "uint8": row.view(np.uint8)[0].copy(),
        "int64": row.astype(np.int64),
        "float": row.astype(np.float32),
        "bool": row.astype(bool),
        "none of it": np.zeros((0, WORDS), np.int32),
        "no width": np.zeros((1, 0), np.int32),
        "scalar": np.zeros((), np.int32),
        "cube": np.zeros((1, 1, WORDS), np.int32),
        "wide": np.zeros((1, WORDS + 1), np.int32),
        "objects": np.full((1, WORDS), None),
    }


class Masks:
    """One of each kind, equal for equal `fill`."""

    def __init__(self, fill: int):
        row = [fill] * WORDS
        self.memory = {
            "held": array("I", row),
            "held rows": array("I", row * 2),
            "subclass": array("I", row),
            "array": array("I", row),
            "room": array("I", [fill] * (ROOM + 1)),
            "bytes": bytearray(4 * WORDS),
            "narrow": array("I", [fill]),
            "frozen": bytes(4 * WORDS),
            "held wide": array("I", [fill] * 9),
        }
        self.of: dict[str, Any] = dict(self.memory)
        self.of["held"] = MaskBuffer(self.memory["held"], VOCABULARY)
        self.of["held rows"] = MaskBuffer(memoryview(self.memory["held rows"]).cast("B").cast("I", (2, WORDS)), VOCABULARY)
        self.of["subclass"] = Row(self.memory["subclass"], VOCABULARY)
        self.of["held wide"] = MaskBuffer(self.memory["held wide"], OTHER)
        self.of |= arrays(fill)
        self.of["none"] = None
        self.of["list"] = [0] * WORDS

    def address(self) -> int:
        return self.memory["room"].buffer_info()[0]

    def content(self) -> list[bytes]:
        return [bytes(memory) for memory in self.memory.values()] + [of.tobytes() for of in self.of.values() if hasattr(of, "tobytes")]


class Drawn(NamedTuple):
    """Arguments of a call."""

    token: Any
    kind: str
    number: Any
    steps: int
    strict: bool


def is_beyond(number: Any) -> bool:
    """Whether there are fewer words at `Masks.address`."""
    return isinstance(number, int) and number > ROOM


def draw(rng: random.Random) -> Drawn:
    token = rng.choice([0, 0, 0, 1, 3, 4, 6, rng.choice(numbers())])
    kind = rng.choice(["held", "int32", *rng.choices(list(Masks(0).of), k=2)])
    return Drawn(token, kind, rng.choice(numbers()), rng.randrange(4), rng.random() < 0.5)


GUIDE_CALLS: list[Callable[[Any, Masks, Drawn], Any]] = [
    lambda guide, masks, it: guide.advance(it.token),
    lambda guide, masks, it: guide.advance(it.token, masks.of[it.kind]),
    lambda guide, masks, it: guide.advance(it.token, mask=masks.of[it.kind]),
    lambda guide, masks, it: guide.advance(it.token, return_tokens=False),
    lambda guide, masks, it: guide.advance(it.token, return_tokens=it.number),
    lambda guide, masks, it: guide.advance(it.token, it.strict),
    lambda guide, masks, it: guide.advance(token_id=it.token, return_tokens=False),
    lambda guide, masks, it: guide.advance(it.token, wrong=False),
    lambda guide, masks, it: guide.advance(it.token, masks.of[it.kind], return_tokens=True),
    lambda guide, masks, it: guide.get_tokens(),
    lambda guide, masks, it: guide.get_tokens(masks.of[it.kind]),
    lambda guide, masks, it: guide.get_tokens(mask=masks.of[it.kind]),
    lambda guide, masks, it: guide.rollback_state(it.number),
    lambda guide, masks, it: guide.rollback_state(it.steps),
    lambda guide, masks, it: guide.rollback_state(n=it.steps),
    lambda guide, masks, it: guide.write_mask_into(masks.address(), WORDS, 4),
    lambda guide, masks, it: guide.write_mask_into(masks.address(), numel=WORDS),
    lambda guide, masks, it: guide.write_mask_into(masks.address(), WORDS, Integer(4)),
    lambda guide, masks, it: guide.write_mask_into(masks.address(), WORDS if is_beyond(it.number) else it.number),
    lambda guide, masks, it: guide.write_mask_into(masks.address(), WORDS, it.number),
    lambda guide, masks, it: guide.write_mask_into(masks.address() + 1, WORDS),
    lambda guide, masks, it: guide.write_mask_into(0, WORDS, 4),
    lambda guide, masks, it: guide.write_mask_into(1 << 64, WORDS, 4),
    lambda guide, masks, it: guide.write_mask_into(-4, WORDS, 4),
    lambda guide, masks, it: guide.write_mask_into(None, WORDS, 4),
    lambda guide, masks, it: guide.write_mask_into(1, 2, 3, 4, 5),
    lambda guide, masks, it: guide.get_state(1),
    lambda guide, masks, it: guide.is_finished(wrong=1),
]
MATCHER_CALLS: list[Callable[[Any, Masks, Drawn], Any]] = [
    lambda matcher, masks, it: matcher.accept(it.token),
    lambda matcher, masks, it: matcher.accept(it.token, strict=it.strict),
    lambda matcher, masks, it: matcher.accept(token=it.token),
    lambda matcher, masks, it: matcher.accept(it.token, it.strict),
    lambda matcher, masks, it: matcher.accept(),
    *(
        lambda matcher, masks, it, name=name, listed=listed: getattr(matcher, name)(listed(it))
        for name in ("accept_tokens", "validate")
        for listed in (
            lambda it: [it.token],
            lambda it: [0] * it.steps + [it.token, 3, 1],
            lambda it: (0, it.token, 0),
            lambda it: [0, 0, it.number],
            lambda it: [0] * (511 + it.steps),  # about as long as what is read in C
            lambda it: [it.token, "0"],
            lambda it: array("q", [0, 3]),
            lambda it: [],
            lambda it: it.kind,
        )
    ),
    lambda matcher, masks, it: matcher.accept_tokens(tokens=[it.token, 0]),
    lambda matcher, masks, it: matcher.validate(),
    lambda matcher, masks, it: matcher.fill_mask(masks.of[it.kind]),
    lambda matcher, masks, it: matcher.fill_mask(masks.of[it.kind], it.number),
    lambda matcher, masks, it: matcher.fill_mask(masks.of["held rows"], 1),
    lambda matcher, masks, it: matcher.fill_mask(masks.of.get("rows"), it.steps),
    lambda matcher, masks, it: matcher.fill_mask(masks.of["held rows"], row=it.number),
    lambda matcher, masks, it: matcher.fill_mask(buffer=masks.of[it.kind]),
    lambda matcher, masks, it: matcher.fill_mask(),
    lambda matcher, masks, it: matcher.rollback(min(it.steps, len(matcher.tokens))),
]


def same(call: Callable[[Any, Masks, Drawn], Any], fast: Any, slow: Any, drawn: Drawn) -> None:
    seen = []
    for one in (fast, slow):
        masks = Masks(0xA5A5A5A5)
        seen.append((repr(outcome(lambda one=one, masks=masks: call(one, masks, drawn))), masks.content()))
    assert seen[0] == seen[1]


# --- results and errors -----------------------------------------------------------------------------------------------------


def test_they_are_the_ones_in_c() -> None:
    for cls, names in IN_C.items():
        assert sorted(name for name, value in vars(cls).items() if inspect.isroutine(value) and not inspect.isfunction(value)) == sorted(
            names
        )
        assert issubclass(cls.__base__, Held)


@pytest.mark.parametrize("seed", range(12))
def test_guides_do_the_same(seed: int) -> None:
    rng = random.Random(seed)
    most = rng.choice([0, 1, 3, 32])
    fast, slow = Guide(DFA, most), Guide.__base__(DFA, most)
    for _ in range(600):
        same(rng.choice(GUIDE_CALLS), fast, slow, draw(rng))
        assert fast.get_state() == slow.get_state() and fast.is_finished() == slow.is_finished()
        assert fast.get_allowed_rollback() == slow.get_allowed_rollback()
        if rng.random() < 0.02:
            fast = copy.copy(fast)
        if rng.random() < 0.02:
            fast.reset()
            slow.reset()


@pytest.mark.parametrize("switches", [Switches(), Switches(mask_cache=False), Switches(state_cache=False)])
@pytest.mark.parametrize("seed", range(6))
def test_matchers_do_the_same(seed: int, switches: Switches) -> None:
    rng = random.Random(seed)
    grammar = Grammar.from_lark('start: "(" start ")" | /[ab]+/ ("c" start)?') if seed % 2 else Grammar.from_regex(PATTERN)
    fast = Matcher(grammar, VOCABULARY, switches=switches)
    slow = Matcher.__base__(grammar, VOCABULARY, switches=switches)
    for _ in range(600):
        same(rng.choice(MATCHER_CALLS), fast, slow, draw(rng))
        assert fast.tokens == slow.tokens and fast.is_terminated == slow.is_terminated
        if rng.random() < 0.02:
            fast, slow = fast.fork(), rebuilt(slow, switches)


def rebuilt(matcher: Matcher, switches: Switches) -> Any:
    """The same text in a matcher whose methods are all in Python."""
    slow = Matcher.__base__(matcher.grammar, matcher.vocabulary, switches=switches)
    assert slow.accept_tokens(matcher.tokens) == len(matcher.tokens)
    return slow


def test_what_was_written_is_known() -> None:
    for cls in (Matcher, Matcher.__base__):
        matcher, held = cls(Grammar.from_regex("[ab]*c"), VOCABULARY), Masks(0).of["held rows"]
        changed = []
        for token, row in [(None, 0), (0, 0), (0, 1), (None, 1), (6, 1)]:
            if token is not None:
                assert matcher.accept(token)
            matcher.fill_mask(held, row)
            changed.append(matcher.mask_changed)
        assert changed == [True, False, True, False, True]


def test_a_tensor_is_asked_for_its_memory() -> None:
    """Of one that has other memory than it had a MaskBuffer knows nothing, so it is refused, not written to."""
    torch = pytest.importorskip("torch")
    tensor = torch.zeros((1, WORDS), dtype=torch.int32)
    held = MaskBuffer(tensor, VOCABULARY)
    guide, matcher = Guide(DFA), Matcher(DFA)
    guide.get_tokens(held)
    assert tensor.any()
    matcher.fill_mask(held)
    tensor.set_(torch.zeros((1, WORDS), dtype=torch.int32))
    for call in (guide.get_tokens, matcher.fill_mask, lambda mask: guide.advance(0, mask)):
        with pytest.raises(ValueError, match="other memory"):
            call(held)


# --- classes ------------------------------------------------------------------------------------------------------------------


def parameters(method: Any) -> list[tuple[Any, ...]]:
    return [(each.name, each.kind, each.default) for each in inspect.signature(method).parameters.values()][1:]


@pytest.mark.parametrize("cls", IN_C)
def test_documents_and_signatures_are_those_of_python(cls: type) -> None:
    base = cls.__base__
    assert (cls.__name__, cls.__module__, cls.__doc__) == (base.__name__, base.__module__, base.__doc__)
    for name in IN_C[cls]:
        here, there = getattr(cls, name), getattr(base, name)
        assert inspect.getdoc(here) == inspect.getdoc(there) is not None
        assert parameters(here) == parameters(there)


def test_classes_of_users() -> None:
    class Mine(Guide):
        def advance(self, token_id: int, mask: Any = None, *, return_tokens: bool = True) -> Any:
            self.seen = [*getattr(self, "seen", []), token_id]
            return super().advance(token_id, mask, return_tokens=return_tokens)

    class Strict(Matcher):
        def accept(self, token: int, *, strict: bool = True) -> bool:
            return super().accept(token, strict=strict)

    held = Masks(0).of["held"]
    guide, plain = Mine(DFA), Guide(DFA)
    assert guide.advance(0) == plain.advance(0) and guide.advance(0, held) is None and guide.seen == [0, 0]
    matcher = Strict(DFA)
    assert matcher.accept(0) and matcher.fill_mask(held)
    with pytest.raises(ValueError):
        matcher.accept(6)


@pytest.mark.parametrize("cls", IN_C)
def test_what_was_never_begun_holds_nothing(cls: Any) -> None:
    empty, held = cls.__new__(cls), Masks(0).of["held"]
    calls = {
        "advance": [(0, held)],
        "get_tokens": [(held,)],
        "rollback_state": [(0,)],
        "write_mask_into": [(8, WORDS, 4)],
        "accept": [(0,)],
        "accept_tokens": [([0],), ([],)],
        "validate": [([0],)],
        "fill_mask": [(held,), (held, 0)],
    }
    for name in IN_C[cls]:
        for arguments in calls.get(name, [()]):
            with pytest.raises(AttributeError):
                getattr(empty, name)(*arguments)
    with pytest.raises(TypeError):
        getattr(cls, IN_C[cls][0])(object())
    with pytest.raises(TypeError):
        Guide.get_tokens(Matcher(DFA), held)


def test_only_what_holds_can_be_made_fast() -> None:
    for wrong in (int, 3, None):
        with pytest.raises(TypeError):
            _core.fast_guide(wrong)
    assert Guide(DFA).get_tokens() == Guide.__base__(DFA).get_tokens()


# --- memory -------------------------------------------------------------------------------------------------------------------


def test_references_are_given_back() -> None:
    token, huge, masks = 1 << 20, 1 << 70, Masks(0)
    guide, matcher = Guide(DFA), Matcher(DFA)
    named = {"strict": True, "mask": masks.of["array"], "return_tokens": False}

    def every_way() -> None:
        for mask in masks.of.values():
            outcome(lambda mask=mask: guide.get_tokens(mask))
            outcome(lambda mask=mask: guide.advance(0, mask))
            outcome(lambda mask=mask: guide.advance(token, mask=mask))
            outcome(lambda mask=mask: matcher.fill_mask(mask, huge))
            outcome(lambda mask=mask: matcher.fill_mask(mask))
        for number in (token, huge):
            outcome(lambda number=number: guide.advance(number, return_tokens=False))
            outcome(lambda number=number: guide.write_mask_into(number, number, number))
            outcome(lambda number=number: guide.write_mask_into(huge, WORDS, 4))
            outcome(lambda number=number: guide.rollback_state(number))
            outcome(lambda number=number: matcher.accept(number))
            outcome(lambda number=number: matcher.accept(number, strict=named["strict"]))
            outcome(lambda number=number: matcher.accept(number, **named))
            outcome(lambda number=number: matcher.accept_tokens([0, 3, number, guide]))
            outcome(lambda number=number: matcher.validate([0, 0, number]))
            outcome(lambda number=number: matcher.accept_tokens([0, number]))
        guide.reset()
        matcher.reset()

    watched = [token, huge, guide, matcher, Guide, Matcher, Held, *masks.of.values(), *masks.memory.values(), *named]
    every_way()
    gc.collect()
    before = [sys.getrefcount(each) for each in watched]
    for _ in range(100):
        every_way()
    gc.collect()
    after = [sys.getrefcount(each) for each in watched]
    assert all(abs(now - then) < 10 for now, then in zip(after, before, strict=True))


def test_what_is_held_goes_with_its_holder() -> None:
    class Memory(array):  # type: ignore[type-arg]
        pass

    class MyGuide(Guide):
        pass

    class MyMatcher(Matcher):
        pass

    memory = Memory("I", [0] * WORDS)
    seen = [weakref.ref(memory)]
    memory.held = MaskBuffer(memory, VOCABULARY)  # a cycle through the cdata
    for one in (MyGuide(DFA), MyMatcher(DFA)):
        one.me = one
        seen.append(weakref.ref(one))
    del memory, one
    gc.collect()
    assert [reference() for reference in seen] == [None] * 3


def test_a_guide_that_grows_lets_its_record_go() -> None:
    guide, held = Guide(TokenDFA.from_regex("a{2000}", OTHER), 1000), MaskBuffer(allocate_masks(1, OTHER), OTHER)
    records = set()
    for step in range(1500):
        guide.advance(ord("a"), held)
        records.add(id(guide._handle))
        assert guide.get_state() == step + 1
    assert len(records) > 1
    guide.rollback_state(1000)
    assert guide.get_state() == 500


def test_records() -> None:
    for arguments, kind in [
        ((), TypeError),
        (("1",), TypeError),
        ((-1,), MemoryError),
        ((1 << 62,), MemoryError),
        ((1 << 70,), OverflowError),
    ]:
        with pytest.raises(kind):
            Record(*arguments)
    with pytest.raises(TypeError):
        Record(n=1)
    record = Record(3)
    words = ffi.cast("uint64_t *", record.pointer)
    assert list(words[0:3]) == [0, 0, 0] and record.pointer == words
    held = Held()
    with pytest.raises(TypeError):
        held._hold([], 1)
    held._hold(record, 1)
    assert held._handle is record


def test_what_the_holder_refers_to_lives_as_long() -> None:
    """A guide has one automaton for life: masks that were made for it are as wide as those that it writes."""
    guide, held = Guide(TokenDFA.from_regex(PATTERN, VOCABULARY)), Masks(0).of["held"]
    for other in (DFA, TokenDFA.__new__(TokenDFA)):
        with pytest.raises(TypeError, match="made once"):
            guide.__init__(other)  # type: ignore[misc]
    gc.collect()
    assert guide.advance(0, held) is None and guide.get_state() > 0
    masks = MaskBuffer(memoryview(bytearray(4 * WORDS)).cast("I", (1, WORDS)), VOCABULARY)
    masks.__init__(memoryview(bytearray(8 * WORDS)).cast("I", (2, WORDS)), VOCABULARY)  # type: ignore[misc]
    gc.collect()
    assert Matcher(DFA).fill_mask(masks, 1) and masks.rows == 2


@pytest.mark.parametrize("cls", [Guide, Guide.__base__])
def test_masks_are_aligned(cls: Any) -> None:
    odd = memoryview(bytearray(4 * WORDS + 1))[1:]
    guide = cls(DFA)
    for call in (
        lambda: guide.get_tokens(odd),
        lambda: guide.advance(0, odd),
        lambda: MaskBuffer(odd, VOCABULARY),
        lambda: Matcher(DFA).fill_mask(odd),
    ):
        with pytest.raises(ValueError, match="not aligned"):
            call()
    assert guide.get_state() == 0


def test_a_module_that_is_being_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("numpy", "torch"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    assert Matcher(DFA).fill_mask((ctypes.c_uint32 * WORDS)())


# --- interpreters -------------------------------------------------------------------------------------------------------------


def test_another_interpreter_changes_nothing(tmp_path) -> None:
    """The methods in Python belong to one interpreter: where another one has ended, they are still those of the first."""
    program = (
        "import gc, sys\n"
        "try: import _interpreters\n"
        "except ImportError: import _xxsubinterpreters as _interpreters\n"
        "begin, version = _interpreters.create, sys.version_info\n"
        "other = begin('legacy') if version >= (3, 13) else begin(isolated=False)\n"
        "text = 'from grammar_engine import *; print(Guide(TokenDFA.from_regex(chr(97), Vocabulary.bytes())).get_tokens())'\n"
        "exec(text)\n"
        "(_interpreters.exec if version >= (3, 13) else _interpreters.run_string)(other, f'import sys; sys.path[:] = {sys.path}; {text}; sys.stdout.flush()')\n"
        "_interpreters.destroy(other)\n"
        "gc.collect()\n"
        "exec(text)"
    )
    ran = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["[97]"] * 3


# --- threads ------------------------------------------------------------------------------------------------------------------


def test_many_threads_at_one_grammar() -> None:
    """Warm calls hold the GIL, cold ones do not and hold the engine's lock: neither waits for the other for ever, and masks are right."""
    vocabulary = Vocabulary.builtin()
    pattern = "[a-z]{1,60}([0-9]{3}|[A-Z][a-z]+){2,40}"
    grammar, failures, texts = Grammar.from_regex(pattern), list[str](), 12

    def walk(index: int) -> None:
        rng = random.Random(index)
        matcher, held = Matcher(grammar, vocabulary), MaskBuffer(allocate_masks(1, vocabulary), vocabulary)
        other = Matcher.__base__(Grammar.from_regex(pattern), vocabulary)
        for _ in range(40):
            matcher.fill_mask(held)
            if bytes(memoryview(held.buffer).cast("B")) != other.mask():
                failures.append(f"{index}: {matcher.tokens}")
            token = rng.choice(other.allowed_tokens())
            if not (matcher.accept(token) and other.accept(token)) or token in vocabulary.eos:
                break

    threads = [threading.Thread(target=walk, args=(index,)) for index in range(texts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads) and not failures


def test_one_guide_in_two_threads_stays_whole() -> None:
    """Misuse: its states are mixed up, but nothing breaks, also where one thread moves it to more memory."""
    dfa = TokenDFA.from_regex("a*", OTHER)
    guide, done = Guide(dfa, 100_000), threading.Event()

    def write() -> None:
        held = MaskBuffer(allocate_masks(1, OTHER), OTHER)
        while not done.is_set():
            guide.advance(ord("a"), held)
            guide.advance(ord("a"), return_tokens=False)

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(200):
        guide.reset()
        guide.get_tokens()
    done.set()
    for thread in threads:
        thread.join()
    assert guide.get_state() < dfa.num_states


# --- the switch -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["", "1"])
def test_the_switch(value: str, tmp_path) -> None:
    program = (
        "from grammar_engine import *; from grammar_engine._native import Held\n"
        "print(Guide.__base__ is Held, Matcher.__base__ is Held)\n"
        "matcher = Matcher(Grammar.from_regex('ab+'), Vocabulary.bytes())\n"
        "masks = MaskBuffer(allocate_masks(1, matcher.vocabulary, 'memoryview'), matcher.vocabulary)\n"
        "print(matcher.fill_mask(masks), matcher.accept(97), matcher.fork().accept(98))"
    )
    ran = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=environment(value), capture_output=True, text=True, check=True)
    assert ran.stdout.split() == [str(bool(value))] * 2 + ["True"] * 3


def test_the_core_says_the_same() -> None:
    """What `is_finished` asks is what the automaton says of the state."""
    guide = Guide(DFA)
    for token in (0, 0, 6, 5):
        guide.advance(token, return_tokens=False)
        assert guide.is_finished() == bool(lib.ge_dfa_accepts(DFA._handle, guide.get_state()))


@pytest.mark.parametrize("cls", [Guide, Matcher])
def test_documentation_tools_find_all_names_in_the_class(cls):
    assert {name for name in vars(cls.__base__) if not name.startswith("_")} <= vars(cls).keys()
    assert all(inspect.getdoc(getattr(cls, name)) for name in IN_C[cls])


def test_a_second_beginning_that_fails_changes_nothing():
    matcher = Matcher(Grammar.from_choices(["ab"]), VOCABULARY)
    matcher.accept(0)
    before = matcher.grammar, matcher.vocabulary, matcher.mask(), matcher.tokens
    with pytest.raises(AttributeError):
        matcher.__init__(Grammar.__new__(Grammar), OTHER)
    assert (matcher.grammar, matcher.vocabulary, matcher.mask(), matcher.tokens) == before
    assert matcher.explain(2) is not None
