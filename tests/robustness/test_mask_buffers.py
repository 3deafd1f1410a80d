"""Buffers that masks may and may not be written to. A refused one is not touched."""

from __future__ import annotations

import weakref
from array import array

import numpy as np
import pytest

from grammar_engine import BatchError, Grammar, MaskBuffer, Matcher, Vocabulary, allocate_masks, fill_masks, step_masks
from grammar_engine._native import Held

VOCABULARY = Vocabulary.bytes()  # 257 ids: 9 words
WORDS = 9


@pytest.fixture
def matcher():
    return Matcher(Grammar.from_regex("[a-f]{2}"), VOCABULARY)


def read_only(buffer):
    buffer.setflags(write=False)
    return buffer


REFUSED = {
    "too short": (lambda: bytearray(4 * WORDS - 4), ValueError, "36 bytes"),
    "too long": (lambda: bytearray(4 * WORDS + 4), ValueError, "36 bytes"),
    "no multiple": (lambda: bytearray(4 * WORDS + 1), ValueError, "36 bytes"),
    "empty": (lambda: bytearray(), ValueError, "36 bytes"),
    "bytes": (lambda: bytes(4 * WORDS), ValueError, "read-only"),
    "read-only array": (lambda: read_only(np.zeros((1, WORDS), np.int32)), ValueError, "read-only"),
    "read-only view": (lambda: memoryview(bytearray(4 * WORDS)).toreadonly(), ValueError, "read-only"),
    "narrow": (lambda: np.zeros((2, WORDS - 1), np.int32), ValueError, r"\(rows, 9\), not \(2, 8\)"),
    "wide": (lambda: np.zeros((2, WORDS + 1), np.int32), ValueError, r"\(rows, 9\)"),
    "transposed": (lambda: np.zeros((WORDS, 2), np.int32), ValueError, r"\(rows, 9\)"),
    "three dimensions": (lambda: np.zeros((1, 1, WORDS), np.int32), ValueError, r"\(rows, 9\)"),
    "no dimension": (lambda: np.array(5, np.int32), ValueError, r"\(rows, 9\)"),
    "no rows": (lambda: np.zeros((0, WORDS), np.int32), ValueError, r"\(0, 9\)"),
    "Fortran order": (lambda: np.zeros((4, WORDS), np.int32, order="F"), ValueError, "contiguous"),
    "strided": (lambda: np.zeros((4, 2 * WORDS), np.int32)[:, ::2], ValueError, "contiguous"),
    "backwards": (lambda: np.zeros((4, WORDS), np.int32)[::-1], ValueError, "contiguous"),
    "every other byte": (lambda: memoryview(bytearray(8 * WORDS))[::2], ValueError, "contiguous"),
    "not aligned": (lambda: memoryview(bytearray(4 * WORDS + 1))[1:], ValueError, "aligned"),
    "int64": (lambda: np.zeros((1, WORDS), np.int64), TypeError, "32-bit"),
    "float32": (lambda: np.zeros((1, WORDS), np.float32), TypeError, "32-bit"),
    "int16": (lambda: np.zeros((1, 2 * WORDS), np.int16), TypeError, "32-bit"),
    "bool": (lambda: np.zeros(4 * WORDS, bool), TypeError, "32-bit"),
    "big-endian": (lambda: np.zeros((1, WORDS), ">i4"), TypeError, "32-bit"),
    "records": (lambda: np.zeros((1, WORDS), [("a", np.int32)]), TypeError, "32-bit"),
    "objects": (lambda: np.zeros((1, WORDS), object), TypeError, "32-bit"),
    "array of long": (lambda: array("q", [0] * WORDS), TypeError, "32-bit"),
    "array of float": (lambda: array("f", [0] * WORDS), TypeError, "32-bit"),
    "list": (lambda: [0] * WORDS, TypeError, "list"),
    "str": (lambda: "\0" * 4 * WORDS, TypeError, "str"),
    "int": (lambda: 5, TypeError, "int"),
    "None": (lambda: None, TypeError, "NoneType"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(matcher, name):
    make, kind, reason = REFUSED[name]
    buffer = make()
    before = bytes(memoryview(buffer).cast("B")) if isinstance(buffer, bytearray) else repr(buffer)
    for call in (
        lambda: matcher.fill_mask(buffer),
        lambda: fill_masks([matcher], buffer),
        lambda: fill_masks([None, matcher], buffer, rows=[0, 0]),
    ):
        with pytest.raises(kind, match=reason):
            call()
    assert (bytes(buffer) if isinstance(buffer, bytearray) else repr(buffer)) == before
    assert matcher.tokens == []
    assert len(matcher.mask()) == 4 * WORDS


ACCEPTED = {
    "int32": lambda: np.zeros((3, WORDS), np.int32),
    "uint32": lambda: np.zeros((3, WORDS), np.uint32),
    "a slice of rows": lambda: np.zeros((9, WORDS), np.int32)[2:5],
    "memoryview": lambda: allocate_masks(3, VOCABULARY, kind="memoryview"),
    "array of int": lambda: array("i", [0] * 3 * WORDS),
    "bytearray": lambda: bytearray(3 * 4 * WORDS),
    "uint8": lambda: np.zeros(3 * 4 * WORDS, np.uint8),
    "int8": lambda: np.zeros(3 * 4 * WORDS, np.int8),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted_writes_its_row_and_no_other(matcher, name):
    buffer = ACCEPTED[name]()
    if name == "array of int":
        assert matcher.fill_mask(array("i", [0] * WORDS))
        with pytest.raises(ValueError):  # a flat buffer of 32-bit integers is one row
            matcher.fill_mask(buffer)
        return
    mask = matcher.mask()
    memoryview(buffer).cast("B")[:] = bytes(3 * 4 * WORDS)
    for row in range(3):
        matcher.fill_mask(buffer, row)
        assert bytes(memoryview(buffer).cast("B")) == mask * (row + 1) + bytes(len(mask) * (2 - row))
    twice = matcher.fork()
    twice.accept(97)
    twice.accept(97)
    assert fill_masks([twice, None, matcher], buffer, rows=[2, 0, 1]) == [True, True, True]
    assert bytes(memoryview(buffer).cast("B")) == mask + mask + twice.mask()


def test_torch(matcher):
    torch = pytest.importorskip("torch")
    buffer = torch.zeros((2, WORDS), dtype=torch.int32)
    matcher.fill_mask(buffer, 1)
    assert buffer.numpy().tobytes() == bytes(4 * WORDS) + matcher.mask()
    assert allocate_masks(2, VOCABULARY, kind="torch").shape == (2, WORDS)
    for bad, kind in [
        (torch.zeros((2, WORDS), dtype=torch.int64), TypeError),
        (torch.zeros((2, WORDS), dtype=torch.float32), TypeError),
        (torch.zeros((2, WORDS + 1), dtype=torch.int32), ValueError),
        (torch.zeros((WORDS, 2), dtype=torch.int32).T, ValueError),
        (torch.zeros((0, WORDS), dtype=torch.int32), ValueError),
        (torch.zeros((2, WORDS), dtype=torch.int32, device="meta"), ValueError),
        (torch.zeros((2, WORDS), dtype=torch.int32).to_sparse(), ValueError),
        (torch.zeros(WORDS + 1, dtype=torch.int32), ValueError),
        (torch.tensor(5, dtype=torch.int32), ValueError),
    ]:
        with pytest.raises(kind):
            matcher.fill_mask(bad)


def test_a_tensor_that_changes_between_calls(matcher):
    torch = pytest.importorskip("torch")
    buffer = torch.zeros((2, WORDS), dtype=torch.int32)
    matcher.fill_mask(buffer, 1)
    other = torch.zeros((4, WORDS), dtype=torch.int32)
    buffer.set_(other)
    matcher.fill_mask(buffer, 3)
    assert other[3].numpy().tobytes() == matcher.mask()
    buffer.resize_((1, WORDS))
    with pytest.raises(IndexError):
        matcher.fill_mask(buffer, 1)
    buffer.resize_((WORDS, 2))
    with pytest.raises(ValueError, match="shape"):
        matcher.fill_mask(buffer)

    class Mine(torch.Tensor):
        pass

    buffer = torch.zeros((1, WORDS), dtype=torch.int32).as_subclass(Mine)
    matcher.fill_mask(buffer)
    assert buffer.numpy().tobytes() == matcher.mask()


def test_an_array_that_changes_between_calls(matcher):
    """Nothing of a buffer is remembered."""
    buffer = np.zeros((2, WORDS), np.int32)
    matcher.fill_mask(buffer, 1)
    buffer.resize((1, 2 * WORDS), refcheck=False)
    with pytest.raises(ValueError, match="shape"):
        matcher.fill_mask(buffer)
    buffer.resize((2, WORDS), refcheck=False)
    buffer.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        matcher.fill_mask(buffer)
    buffer.setflags(write=True)
    buffer.resize((1, WORDS))
    with pytest.raises(IndexError):
        matcher.fill_mask(buffer, 1)
    buffer.resize((3, WORDS))
    assert matcher.fill_mask(buffer, 2)
    assert buffer[2].tobytes() == matcher.mask()


def test_no_buffer_is_held(matcher):
    """A buffer belongs to its owner again when a call ends, also when it ends with an exception."""

    def calls(buffer):
        matcher.fill_mask(buffer)
        fill_masks([matcher], buffer)
        step_masks([matcher], [None], buffer)
        with pytest.raises(IndexError):
            matcher.fill_mask(buffer, 1)

    flat = bytearray(4 * WORDS)
    calls(flat)
    flat.extend(b"x")
    words = array("i", [0] * WORDS)
    calls(words)
    words.append(1)
    view = memoryview(bytearray(4 * WORDS)).cast("i", (1, WORDS))
    calls(view)
    view.release()
    grid = np.zeros((1, WORDS), np.int32)
    calls(grid)
    grid.resize((5, WORDS))
    alive = weakref.ref(grid)
    del grid
    assert alive() is None


def test_the_error_of_a_batch_holds_no_buffer():
    vocabulary = Vocabulary([b"a", b""], eos=[1])
    matcher, buffer = Matcher(Grammar.from_regex("b"), vocabulary), bytearray(4)
    errors = []
    for _ in range(2):
        try:
            step_masks([matcher], [None], buffer)
        except BatchError as error:
            errors.append(error.errors[0])
    buffer.extend(b"x")
    assert len(errors) == 2


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        (2, IndexError),
        (-1, IndexError),
        (1 << 70, IndexError),
        (True, TypeError),
        (False, TypeError),
        (None, TypeError),
        ("0", TypeError),
        (0.0, TypeError),
    ],
)
def test_rows(matcher, row, kind):
    buffer = np.full((2, WORDS), 7, np.int32)
    with pytest.raises(kind, match="row"):
        matcher.fill_mask(buffer, row)
    with pytest.raises(kind, match="row"):
        fill_masks([matcher, matcher], buffer, rows=[0, row])
    assert (buffer == 7).all()


def test_batches_of_the_wrong_shape(matcher):
    buffer = np.full((2, WORDS), 7, np.int32)
    other = Matcher(matcher.grammar, Vocabulary([b"a", b""], eos=[1]))
    for call, kind in [
        (lambda: fill_masks([matcher] * 3, buffer), IndexError),
        (lambda: fill_masks([matcher], buffer, rows=[0, 1]), ValueError),
        (lambda: fill_masks([matcher, matcher], buffer, rows=[0]), ValueError),
        (lambda: fill_masks([matcher, other], buffer), ValueError),
        (lambda: fill_masks([matcher], buffer, threads=0), ValueError),
        (lambda: fill_masks([matcher], buffer, threads=-1), ValueError),
        (lambda: fill_masks([matcher], buffer, threads="2"), TypeError),
        (lambda: fill_masks([matcher], buffer, threads=1.5), TypeError),
        (lambda: fill_masks([matcher, 5], buffer), TypeError),
        (lambda: fill_masks([5], buffer), TypeError),
        (lambda: fill_masks(matcher, buffer), TypeError),
    ]:
        with pytest.raises(kind):
            call()
    assert (buffer == 7).all()
    assert fill_masks([], buffer) == []
    assert fill_masks([None, None], buffer) == [True, True]
    assert (buffer == 7).all()


def test_allocate():
    for rows, error in ((0, ValueError), (-1, ValueError), (True, TypeError), (1.0, TypeError), (None, TypeError), ("1", TypeError)):
        with pytest.raises(error, match="rows"):
            allocate_masks(rows, VOCABULARY)
    with pytest.raises(ValueError, match="kind"):
        allocate_masks(1, VOCABULARY, kind="list")
    with pytest.raises(MemoryError):
        allocate_masks(1 << 55, VOCABULARY)
    for kind in ("numpy", "memoryview"):
        assert bytes(memoryview(allocate_masks(2, VOCABULARY, kind=kind)).cast("B")) == b"\xff" * 8 * WORDS


@pytest.mark.parametrize("width", [1, 31, 32, 33, 63, 64, 65])
def test_the_answer_tells_whether_all_are_allowed(width):
    """`fill_mask` is False only if every id of the logits is allowed; bits beyond the width stay clear."""
    vocabulary = Vocabulary([b"a"] * width, eos=[])
    matcher = Matcher(Grammar.from_regex("a*"), vocabulary)
    buffer = bytearray(4 * ((width + 31) // 32))
    assert matcher.fill_mask(buffer) is False
    assert int.from_bytes(buffer, "little") == (1 << width) - 1
    padded = Vocabulary([b"a"] * width, eos=[], width=width + 1)
    buffer = bytearray(4 * ((width + 32) // 32))
    assert Matcher(matcher.grammar, padded).fill_mask(buffer) is True
    assert int.from_bytes(buffer, "little") == (1 << width) - 1


# --- buffers that are held ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in ACCEPTED if name != "array of int"])
def test_held_is_written_as_the_buffer_itself_is(matcher, name):
    buffer = ACCEPTED[name]()
    held = MaskBuffer(buffer, VOCABULARY)
    assert (held.rows, held.buffer) == (3, buffer) if not isinstance(buffer, np.ndarray) else held.buffer is buffer
    mask = matcher.mask()
    memoryview(buffer).cast("B")[:] = bytes(3 * 4 * WORDS)
    matcher.fill_mask(held, 1)
    assert bytes(memoryview(buffer).cast("B")) == bytes(len(mask)) + mask + bytes(len(mask))
    assert fill_masks([matcher, None], held, rows=[2, 0]) == [True, True]
    assert bytes(memoryview(buffer).cast("B")) == bytes(len(mask)) + mask + mask
    for row in (-1, 3, 2**70):
        with pytest.raises(IndexError, match="3 rows"):
            matcher.fill_mask(held, row)
    with pytest.raises(TypeError, match="a row is an int"):
        matcher.fill_mask(held, True)


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_cannot_be_held(name):
    make, kind, reason = REFUSED[name]
    if name == "not aligned":
        return  # is seen when it is written to: below
    with pytest.raises(kind, match=reason):
        MaskBuffer(make(), VOCABULARY)


def test_what_is_held_is_a_buffer():
    with pytest.raises(TypeError, match="not of another MaskBuffer"):
        MaskBuffer(MaskBuffer(bytearray(4 * WORDS), VOCABULARY), VOCABULARY)


def test_held_and_not_aligned():
    with pytest.raises(ValueError, match="aligned"):
        MaskBuffer(REFUSED["not aligned"][0](), VOCABULARY)


def test_held_for_another_vocabulary(matcher):
    wide = Vocabulary([b"a"] * 600, eos=[599])
    with pytest.raises(ValueError, match="19 words, not 9: it is for another vocabulary"):
        matcher.fill_mask(MaskBuffer(allocate_masks(1, wide), wide))


def test_held_memory_stays_where_it_is(matcher):
    """Whatever would move it raises; the end of the MaskBuffer gives the buffer back."""
    torch = pytest.importorskip("torch")
    flat, words, grid = bytearray(4 * WORDS), array("i", [0] * WORDS), np.zeros((1, WORDS), np.int32)
    tensor = torch.zeros((1, WORDS), dtype=torch.int32)
    view = memoryview(bytearray(4 * WORDS))
    held = [MaskBuffer(buffer, VOCABULARY) for buffer in (flat, words, grid, tensor, view)]
    with pytest.raises(BufferError):
        flat.extend(b"x")
    with pytest.raises(BufferError):
        words.append(1)
    with pytest.raises(ValueError, match="resize"):
        grid.resize((5, WORDS))
    with pytest.raises(RuntimeError, match="resiz"):
        tensor.untyped_storage().resize_(4096)
    owner = view.obj
    view.release()
    with pytest.raises(BufferError):
        owner.extend(b"x")
    for buffer in held:
        matcher.fill_mask(buffer)
    assert bytes(flat) == bytes(owner) == words.tobytes() == grid.tobytes() == tensor.numpy().tobytes() == matcher.mask()
    with pytest.raises(AttributeError):
        held[0].rows = 2
    del held, buffer
    flat.extend(b"x")
    words.append(1)
    owner.extend(b"x")
    grid.resize((5, WORDS))


def _set_data(tensor):
    tensor.data = tensor.clone()


@pytest.mark.parametrize(
    "share",
    [
        lambda tensor: tensor.share_memory_(),
        lambda tensor: tensor.untyped_storage().share_memory_(),
        lambda tensor: tensor.set_(tensor.clone()),
        _set_data,
    ],
)
def test_a_held_tensor_that_has_moved_is_refused(matcher, share):
    torch = pytest.importorskip("torch")
    tensor = torch.zeros((1, WORDS), dtype=torch.int32)
    held, moved = MaskBuffer(tensor, VOCABULARY), MaskBuffer(tensor.clone(), VOCABULARY)
    share(moved.buffer)
    matcher.fill_mask(held)
    assert tensor.numpy().tobytes() == matcher.mask()
    for call in (lambda: matcher.fill_mask(moved), lambda: fill_masks([matcher], moved), lambda: step_masks([matcher], [None], moved)):
        with pytest.raises(ValueError, match="other memory"):
            call()
    assert not moved.buffer.any()


@pytest.mark.skipif(Matcher.__base__ is Held, reason="GRAMMAR_ENGINE_NO_FAST_CALLS is set")
def test_usual_arrays_need_no_python(matcher, monkeypatch):
    def fail(*_):
        raise AssertionError

    wanted = matcher.mask()
    monkeypatch.setattr("grammar_engine.matcher.rows_of", fail)
    for kind in (np.int32, np.uint32):
        one, two = np.zeros(WORDS, kind), np.zeros((3, WORDS), kind)
        matcher.fill_mask(one)
        matcher.fill_mask(two, 1)
        assert one.tobytes() == two[1].tobytes() == wanted and not two[[0, 2]].any()
    for unusual in (np.zeros((1, WORDS), ">i4"), np.zeros((1, 2 * WORDS), np.int32)[:, ::2], read_only(np.zeros(WORDS, np.int32))):
        with pytest.raises(AssertionError):
            matcher.fill_mask(unusual)
        assert not unusual.any()
