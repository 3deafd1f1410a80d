"""apply_mask: every kind of logits and of masks, against a bit by bit definition; what does not fit is refused."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from grammar_engine import Grammar, MaskBuffer, Matcher, Vocabulary, allocate_masks, fill_masks
from grammar_engine.decoding import apply_mask, generate
from grammar_engine.decoding.apply import _FEW as FEW
from grammar_engine.decoding.apply import RowMask

DENSITIES = [0.0, 0.001, 0.01, 0.5, 0.99, 0.999, 1.0]
WIDTH = 20_011  # no multiple of 32


def random_bits(density, rows=3, width=WIDTH, seed=0):
    return np.random.default_rng(seed).random((rows, width)) < density


def packed(bits):
    rows, width = bits.shape
    padded = np.zeros((rows, (width + 31) // 32 * 32), dtype=bool)
    padded[:, :width] = bits
    return np.packbits(padded, axis=1, bitorder="little").view(np.int32)


def random_logits(rows=3, width=WIDTH):
    logits = np.random.default_rng(1).standard_normal((rows, width)).astype(np.float32)
    logits[:, ::7] = np.nan  # what is allowed keeps its bits, whatever they are
    logits[:, 1::7] = np.inf
    logits[:, 2::7] = -0.0
    return logits


def expected(logits, bits, rows=None):
    """By the definition; `bits` may be narrower."""
    result = logits.copy()
    for row, allowed in zip(range(len(bits)) if rows is None else rows, bits):
        result[row, : len(allowed)][~allowed] = -np.inf
        result[row, len(allowed) :] = -np.inf
    return result


def same(left, right):
    return left.tobytes() == right.tobytes()


# --- numpy ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("density", DENSITIES)
def test_numpy_by_definition(dtype, density):
    logits, bits = random_logits().astype(dtype), random_bits(density)
    wanted = expected(logits, bits)
    assert apply_mask(logits, packed(bits)) is None
    assert same(logits, wanted)


@pytest.mark.parametrize("density", DENSITIES)
def test_logits_wider_than_the_mask(density):
    logits, bits = random_logits(width=WIDTH + 100), random_bits(density)
    wanted = expected(logits, bits)
    apply_mask(logits, packed(bits))
    assert same(logits, wanted)
    assert (logits[:, WIDTH:] == -np.inf).all()


@pytest.mark.parametrize("density", DENSITIES)
def test_bits_of_the_last_word_beyond_the_logits_are_for_no_token(density):
    bits = random_bits(density)
    mask = packed(bits)
    mask[:, -1] |= -1 << (WIDTH % 32)
    logits = random_logits()
    wanted = expected(logits, bits)
    apply_mask(logits, mask)
    assert same(logits, wanted)


@pytest.mark.parametrize("density", DENSITIES)
def test_named_rows_only(density):
    logits, bits = random_logits(rows=5), random_bits(density, rows=2)
    wanted = expected(logits, bits, [4, 1])
    apply_mask(logits, packed(bits), [4, 1])
    assert same(logits, wanted)


def test_one_row_in_one_dimension():
    logits, bits = random_logits(rows=1), random_bits(0.5, rows=1)
    wanted = expected(logits, bits)
    for array, mask in ((logits[0].copy(), packed(bits)[0]), (logits[0].copy(), packed(bits)), (logits.copy(), packed(bits)[0])):
        apply_mask(array, mask)
        assert same(array, wanted)


def test_a_row_named_twice_is_allowed_by_both():
    logits, bits = random_logits(rows=2), random_bits(0.5, rows=2)
    wanted = expected(expected(logits, bits[:1], [1]), bits[1:], [1])
    apply_mask(logits, packed(bits), [1, np.int64(1)])
    assert same(logits, wanted)


@pytest.mark.parametrize("density", DENSITIES)
def test_strides_of_logits_and_mask(density):
    bits = random_bits(density)
    logits = np.zeros((3, 2 * WIDTH), dtype=np.float32)[:, ::2]
    logits[:] = random_logits()
    wanted = expected(np.ascontiguousarray(logits), bits)
    apply_mask(logits, np.asfortranarray(packed(bits)))
    assert same(np.ascontiguousarray(logits), wanted)
    columns = np.asfortranarray(random_logits())
    apply_mask(columns, packed(bits)[::-1])
    assert same(np.ascontiguousarray(columns), expected(random_logits(), bits[::-1]))


def any_mask(rng, rows, words):
    """Words of all kinds that the core tells apart."""
    one = np.int64(1) << rng.integers(0, 32, (rows, words))
    kinds = np.stack([np.zeros_like(one), np.full_like(one, -1), one, ~one, rng.integers(0, 2**32, (rows, words))])
    return (
        np.take_along_axis(kinds, rng.choice(5, (1, rows, words), p=[0.2, 0.5, 0.1, 0.1, 0.1]), axis=0)[0].astype(np.uint32).view(np.int32)
    )


def any_problem(rng):
    """A mask, the rows that it is for (or None) of four, the width of the logits, and what is allowed."""
    words, width = int(rng.integers(1, 20)), int(rng.integers(1, 600))
    words = min(words, (width + 31) // 32)
    rows = None if rng.random() < 0.5 else rng.permutation(4)[: int(rng.integers(0, 5))].tolist()
    mask = any_mask(rng, 4 if rows is None else len(rows), words)
    return mask, rows, width, np.unpackbits(mask.view(np.uint8), axis=1, bitorder="little")[:, :width].astype(bool)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_small_arrays_in_wider_memory(dtype):
    """Rows of a larger block, in either direction, aligned or not: nothing around them is written."""
    rng = np.random.default_rng(2)
    for _ in range(300):
        mask, rows, width, allowed = any_problem(rng)
        pitch, size = width + int(rng.integers(0, 5)), np.dtype(dtype).itemsize
        offset = int(rng.choice([0, size, 1]))
        block = rng.integers(0, 256, offset + 4 * pitch * size, dtype=np.uint8)
        copy = block.copy()
        turned = slice(None, None, -1 if rng.random() < 0.3 else 1)
        logits, wanted = (one[offset:].view(dtype).reshape(4, pitch)[turned, :width] for one in (block, copy))
        wanted[:] = expected(wanted, allowed, rows)
        apply_mask(logits, mask, rows)
        assert same(block, copy)


def test_masks_that_are_not_aligned():
    bits = random_bits(0.5)
    logits, wanted = random_logits(), expected(random_logits(), bits)
    shifted = np.frombuffer(b"?" + packed(bits).tobytes(), dtype=np.int32, offset=1).reshape(3, -1)
    assert not shifted.flags.aligned
    apply_mask(logits, shifted)
    assert same(logits, wanted)


def test_unsigned_masks_bytes_and_memoryviews():
    grammar, vocabulary = Grammar.from_regex("[0-9]{3}"), Vocabulary.builtin()
    matcher = Matcher(grammar, vocabulary)
    buffer = allocate_masks(1, vocabulary, "memoryview")
    matcher.fill_mask(buffer)
    allowed = matcher.allowed_tokens()
    for mask in (matcher.mask(), bytearray(matcher.mask()), buffer, np.frombuffer(matcher.mask(), dtype=np.uint32)):
        logits = np.zeros(vocabulary.width, dtype=np.float32)
        apply_mask(logits, mask)
        assert np.flatnonzero(logits == 0).tolist() == allowed


@pytest.mark.parametrize("kind", ["numpy", "torch", "memoryview", "bytearray"])
@pytest.mark.parametrize("rows", [1, 2])
def test_mask_buffers(kind, rows):
    if kind == "torch":
        pytest.importorskip("torch")
    vocabulary = Vocabulary.builtin()
    words = (vocabulary.width + 31) // 32
    masks = MaskBuffer(bytearray(4 * words * rows) if kind == "bytearray" else allocate_masks(rows, vocabulary, kind), vocabulary)
    matchers = [Matcher(Grammar.from_regex(pattern), vocabulary) for pattern in ("[0-9]{3}", "[a-z]{3}")][:rows]
    fill_masks(matchers, masks)
    logits = np.zeros((rows, vocabulary.width), dtype=np.float32)
    apply_mask(logits, masks)
    for row, matcher in zip(logits, matchers):
        assert np.flatnonzero(row == 0).tolist() == matcher.allowed_tokens()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_mask_that_is_kept_is_applied_as_it_is_then(dtype):
    bits = random_bits(0.5, rows=2)
    words = np.zeros_like(packed(bits)[0])
    kept = RowMask(words)
    for row, words[:] in enumerate(packed(bits)):
        for width in (WIDTH, WIDTH + 100):
            logits = random_logits(rows=1, width=width).astype(dtype)[0]
            wanted = expected(logits[None], bits[row : row + 1])[0]
            spread = np.zeros(2 * width, dtype=dtype)[::2]
            spread[:] = logits
            assert kept.masked(logits)[0] is kept.masked(spread)[0] is None
            assert same(logits, wanted) and same(np.ascontiguousarray(spread), wanted)
    with pytest.raises(ValueError, match="scores of 32"):
        kept.masked(np.zeros(32, dtype=dtype))
    with pytest.raises(ValueError, match="read-only"):
        kept.masked(np.broadcast_to(np.zeros(1, dtype=dtype), WIDTH))


@pytest.mark.parametrize("n", [0, 1, 30, FEW - 1, FEW, FEW + 1, 2 * FEW])
def test_few_scores_are_gathered(n):
    """Those that are allowed, whatever they are; scores may end within the last word of the mask."""
    rng = np.random.default_rng(n)
    for width in (2 * FEW, 2 * FEW + 7, 5000):
        bits = np.zeros(-(-width // 32) * 32, dtype=bool)
        bits[rng.permutation(width)[:n]] = True
        allowed = np.flatnonzero(bits)
        bits[width:] = True
        logits = random_logits(rows=1, width=width)[0]
        before = logits.copy()
        tokens, scores = RowMask(packed(bits[None])[0]).masked(logits)
        if n > FEW:
            assert tokens is None and scores is logits and same(logits[None], expected(before[None], bits[None, :width]))
        else:
            assert tokens[: len(scores)].tolist() == allowed.tolist() and same(scores, before[allowed]) and same(logits, before)


def test_no_rows():
    apply_mask(np.zeros((0, 64), dtype=np.float32), np.zeros((0, 2), dtype=np.int32))
    logits = np.zeros((2, 64), dtype=np.float32)
    apply_mask(logits, np.zeros((0, 2), dtype=np.int32), [])
    assert not logits.any()


F32, I32 = np.float32, np.int32


@pytest.mark.parametrize(
    ("logits", "mask", "rows", "error", "words"),
    [
        ([0.0] * 32, np.zeros(1, I32), None, TypeError, "a numpy array or a torch tensor, not list"),
        (np.zeros(32, np.int64), np.zeros(1, I32), None, TypeError, "not int64"),
        (np.zeros(32, np.dtype(">f4")), np.zeros(1, I32), None, TypeError, "not >f4"),
        (np.zeros(32, F32), np.zeros(1, np.int64), None, TypeError, "a mask is int32, not int64"),
        (np.zeros(32, F32), np.zeros(32, bool), None, TypeError, "a mask is int32, not bool"),
        (np.zeros(32, F32), [1], None, TypeError, "not list"),
        (np.zeros((1, 1, 32), F32), np.zeros(1, I32), None, ValueError, "shape"),
        (np.zeros((), F32), np.zeros(1, I32), None, ValueError, "shape"),
        (np.zeros((1, 0), F32), np.zeros((1, 0), I32), None, ValueError, "shape"),
        (np.zeros(32, F32), np.zeros((1, 1, 1), I32), None, ValueError, "a mask has the shape"),
        (np.zeros(32, F32), np.zeros(2, I32), None, ValueError, "64 tokens, and there are scores of 32"),
        (np.zeros(32, F32), np.zeros(0, I32), None, ValueError, "0 words"),
        (np.zeros((2, 32), F32), np.zeros((1, 1), I32), None, ValueError, "1 masks for 2 rows"),
        (np.zeros((2, 32), F32), np.zeros((3, 1), I32), None, ValueError, "3 masks for 2 rows"),
        (np.zeros((2, 32), F32), np.zeros((2, 1), I32), [0], ValueError, "2 masks for the 1 rows"),
        (np.zeros((2, 32), F32), np.zeros((1, 1), I32), [2], ValueError, "row 2 of logits with 2 rows"),
        (np.zeros((2, 32), F32), np.zeros((1, 1), I32), [-1], ValueError, "row -1"),
        (np.zeros((2, 32), F32), np.zeros((1, 1), I32), [True], TypeError, "a row is an int, not bool"),
        (np.zeros((2, 32), F32), np.zeros((1, 1), I32), ["0"], TypeError, "a row is an int, not str"),
        (np.broadcast_to(np.zeros(32, F32), (2, 32)), np.zeros((2, 1), I32), None, ValueError, "read-only"),
    ],
)
def test_misuse(logits, mask, rows, error, words):
    before = np.array(logits)
    with pytest.raises(error, match=words):
        apply_mask(logits, mask, rows)
    assert (np.array(logits) == before).all()


# --- torch ----------------------------------------------------------------------------------------------------------


def torch_expected(torch, logits, bits, rows=None):
    result = logits.clone()
    refused = torch.ones(len(bits), logits.shape[1], dtype=torch.bool)
    refused[:, : bits.shape[1]] = torch.from_numpy(~bits)
    for row, one in zip(range(len(bits)) if rows is None else rows, refused.to(logits.device)):
        result[row] = result[row].masked_fill(one, float("-inf"))
    return result


def same_tensors(torch, left, right):
    kind = {2: torch.int16, 4: torch.int32, 8: torch.int64}[left.element_size()]
    return torch.equal(left.contiguous().view(kind), right.contiguous().view(kind))


DTYPES = ["float16", "bfloat16", "float32", "float64"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("density", DENSITIES)
def test_torch_in_cpu_memory(dtype, density):
    torch = pytest.importorskip("torch")
    bits = random_bits(density)
    logits = torch.from_numpy(random_logits(width=WIDTH + 64)).to(getattr(torch, dtype))
    wanted = torch_expected(torch, logits, bits)
    for mask in (packed(bits), torch.from_numpy(packed(bits)), torch.from_numpy(packed(bits)).view(torch.uint32)):
        got = logits.clone()
        apply_mask(got, mask)
        assert same_tensors(torch, got, wanted)
    got = logits.clone().t().contiguous().t()  # other strides
    apply_mask(got, packed(bits)[:2], [2, 0])
    assert same_tensors(torch, got, torch_expected(torch, logits, bits[:2], [2, 0]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_small_tensors_in_wider_memory(dtype):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(3)
    for _ in range(200):
        mask, rows, width, allowed = any_problem(rng)
        pitch, offset = width + int(rng.integers(0, 5)), int(rng.integers(0, 3))
        block = torch.from_numpy(rng.standard_normal(offset + 4 * pitch)).to(getattr(torch, dtype))
        copy = block.clone()
        logits, wanted = (one[offset:].view(4, pitch)[:, :width] for one in (block, copy))
        wanted.copy_(torch_expected(torch, wanted, allowed, rows))
        apply_mask(logits, torch.from_numpy(mask), rows)
        assert same_tensors(torch, block, copy)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows", [None, [2, 0, 2]])
def test_torch_operations_by_definition(dtype, rows):
    """What is done on devices without a kernel, reached by logits that need a gradient."""
    torch = pytest.importorskip("torch")
    bits = random_bits(0.5)
    leaf = torch.from_numpy(np.nan_to_num(random_logits(width=WIDTH + 64))).to(getattr(torch, dtype)).requires_grad_()
    logits = leaf * 1
    apply_mask(logits, packed(bits), rows)
    assert same_tensors(torch, logits.detach(), torch_expected(torch, leaf.detach() * 1, bits, rows))
    logits[logits > float("-inf")].sum().backward()
    assert torch.equal(leaf.grad != 0, logits.detach() > float("-inf"))


def test_tensors_that_cannot_be_changed_in_place():
    torch = pytest.importorskip("torch")
    mask = packed(random_bits(0.5))
    leaf = torch.zeros(mask.shape[0], WIDTH, requires_grad=True)
    with pytest.raises(ValueError, match=r"a leaf that needs a gradient.*detach"):
        apply_mask(leaf, mask)
    assert not leaf.detach().any()
    with torch.no_grad():
        apply_mask(leaf, mask)
    assert torch.equal(leaf.detach(), torch_expected(torch, torch.zeros(leaf.shape), random_bits(0.5)))
    with pytest.raises(TypeError, match="dense tensor, not one with the layout sparse_coo"):
        apply_mask(torch.ones(mask.shape[0], WIDTH).to_sparse(), mask)


def test_numpy_logits_and_a_torch_mask():
    torch = pytest.importorskip("torch")
    logits, bits = random_logits(), random_bits(0.5)
    wanted = expected(logits, bits)
    apply_mask(logits, torch.from_numpy(packed(bits)))
    assert same(logits, wanted)


@pytest.mark.parametrize("kind", ["numpy", "torch", "of an array"])
def test_tensors_of_no_rows(kind):
    torch = pytest.importorskip("torch")
    mask = np.random.default_rng(0).integers(0, 9, (0, 2)).astype(np.int32)
    mask = {"numpy": mask, "torch": torch.zeros((0, 2), dtype=torch.int32), "of an array": torch.from_numpy(mask)}[kind]
    apply_mask(torch.zeros((0, 64)), mask)
    apply_mask(torch.from_numpy(np.zeros((0, 64), dtype=np.float32)), mask)
    for logits in (torch.zeros((2, 64)), torch.zeros((2, 128))[:, ::2]):
        apply_mask(logits, mask, [])
        assert not logits.any()


def test_misuse_of_tensors():
    torch = pytest.importorskip("torch")
    mask = torch.zeros(1, 1, dtype=torch.int32)
    with pytest.raises(TypeError, match="not int64"):
        apply_mask(torch.zeros(1, 32, dtype=torch.int64), mask)
    with pytest.raises(TypeError, match="a mask is int32, not bool"):
        apply_mask(torch.zeros(1, 32), mask.bool())
    with pytest.raises(ValueError, match="1 masks for 2 rows"):
        apply_mask(torch.zeros(2, 32), mask)
    with pytest.raises(ValueError, match="2 masks for the 1 rows"):
        apply_mask(torch.zeros(2, 32), torch.zeros(2, 1, dtype=torch.int32), [0])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("density", DENSITIES)
@pytest.mark.parametrize("rows", [None, [4, 1, 0]])
def test_on_cuda(dtype, density, rows, monkeypatch):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA")
    from grammar_engine.decoding import apply

    bits = random_bits(density)
    logits = torch.from_numpy(random_logits(rows=3 if rows is None else 5, width=WIDTH + 64)).to("cuda", getattr(torch, dtype))
    wanted = torch_expected(torch, logits, bits, rows)
    for has_triton in {apply._has_triton(), False}:
        monkeypatch.setattr(apply, "_has_triton", lambda found=has_triton: found)
        for mask in (packed(bits), torch.from_numpy(packed(bits)).cuda()):
            got = logits.clone()
            apply_mask(got, mask, rows)
            assert same_tensors(torch, got, wanted)
        got = logits.clone().t().contiguous().t()
        apply_mask(got, packed(bits), rows)
        assert same_tensors(torch, got, wanted)


def test_torch_that_another_thread_is_importing(monkeypatch):
    """Such a module is in `sys.modules`, and has hardly any names."""
    monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))
    logits, bits = random_logits(rows=1), random_bits(0.5, rows=1)
    wanted = expected(logits, bits)
    apply_mask(logits[0], packed(bits).tobytes())
    assert same(logits, wanted)
    written = generate(
        lambda ids: np.zeros((len(ids), 3), dtype=np.float32), [0], Grammar.from_regex("a{3}"), Vocabulary([b"a", b"b", b""], eos=[2])
    )
    assert written.tokens == [0, 0, 0, 2]


def test_importing_the_package_imports_neither_numpy_nor_torch():
    code = "import sys, grammar_engine.decoding; assert not {'numpy', 'torch', 'transformers'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", f"import sys; sys.path[:0] = {sys.path!r}; {code}"], check=True)


def test_masks_of_one_word_with_any_stride() -> None:
    """A row of one word may have any stride, and torch keeps it when it makes a tensor contiguous."""
    torch = pytest.importorskip("torch")
    mask = torch.from_numpy(np.full((1, 2), 5, np.int32))[:, ::2]
    logits = torch.zeros(1, 16)[:, ::2]
    apply_mask(logits, mask)
    assert logits.isneginf().tolist() == [[bit not in (0, 2) for bit in range(8)]]


def test_tensors_that_only_look_negative() -> None:
    torch = pytest.importorskip("torch")
    logits = torch._neg_view(torch.arange(4.0))
    apply_mask(logits, np.array([5], np.int32))
    assert logits.tolist() == [-0.0, float("-inf"), -2.0, float("-inf")]


def test_torch_is_told_that_scores_have_changed() -> None:
    torch = pytest.importorskip("torch")
    scores, weights = torch.randn(40), torch.randn(40, requires_grad=True)
    product = (weights * scores).sum()
    apply_mask(scores, np.array([5, 0], np.int32))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()


@pytest.mark.parametrize("strides", [(0, 1), (40, 0), (1, 1), (39, 1), (1, 2)])
def test_scores_that_share_memory(strides: tuple[int, int]) -> None:
    torch = pytest.importorskip("torch")
    mask, memory = np.zeros((3, 2), np.int32), np.ones(200, np.float32)
    in_bytes = (4 * strides[0], 4 * strides[1])
    for logits in (torch.from_numpy(memory).as_strided((3, 40), strides), as_strided(memory, (3, 40), in_bytes)):
        with pytest.raises(ValueError, match="share memory"):
            apply_mask(logits, mask)
    assert memory.all()


def test_scores_that_share_parts_of_their_bytes() -> None:
    memory = np.zeros(200, np.float32)
    with pytest.raises(ValueError, match="share memory"):
        apply_mask(as_strided(memory, (40,), (2,)), np.zeros(2, np.int32))


@pytest.mark.parametrize(
    ("shape", "strides"), [((3, 40), (40, 1)), ((3, 40), (1, 3)), ((3, 40), (1, 4)), ((1, 40), (0, 2)), ((3, 1), (7, 0)), ((0, 40), (0, 0))]
)
def test_scores_that_do_not(shape: tuple[int, int], strides: tuple[int, int]) -> None:
    torch = pytest.importorskip("torch")
    mask = np.zeros((shape[0], (shape[1] + 31) // 32), np.int32)
    for kind in ("torch", "numpy"):
        memory = np.ones(200, np.float32)
        in_bytes = (4 * strides[0], 4 * strides[1])
        logits = torch.from_numpy(memory).as_strided(shape, strides) if kind == "torch" else as_strided(memory, shape, in_bytes)
        apply_mask(logits, mask)
        assert np.isneginf(memory).sum() == shape[0] * shape[1]
