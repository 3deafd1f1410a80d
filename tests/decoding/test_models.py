"""Sessions: whatever is cut, replaced or appended, the scores are those of a pass over the whole text."""

from __future__ import annotations

import copy
import pickle
import random
from types import SimpleNamespace

import numpy as np
import pytest

from grammar_engine import Grammar, Vocabulary
from grammar_engine.decoding import GroupedSampler, as_model, generate, keys_values
from grammar_engine.decoding.ids import common_prefix
from grammar_engine.decoding.models import NoiseModel

WIDTH = 50


def table(ids):
    """Scores that depend on the last id and on how many there are."""
    rng = np.random.default_rng(3).standard_normal((WIDTH, WIDTH))
    return np.stack([rng[token % WIDTH] + position for position, token in enumerate(ids)])


# --- callables ------------------------------------------------------------------------------------------------------


def test_a_callable():
    model = as_model(table, width=WIDTH)
    session = model.start()
    scores = session.logits([1, 2, 3], rows=2)
    assert scores.dtype == np.float32
    assert np.array_equal(scores, table([1, 2, 3])[1:].astype(np.float32))
    scores[:] = 0  # the caller's
    assert session.logits([1, 2, 3]).any()
    assert (model.width, model.max_length, model.passes) == (WIDTH, None, 2)


@pytest.mark.filterwarnings("error")
def test_scores_that_float32_has_not():
    session = as_model(lambda ids: np.full((len(ids), 2), [np.finfo(np.float64).min, 1.0])).start()
    assert session.logits([1]).tolist() == [[-np.inf, 1.0]]


def test_the_width_of_a_callable_is_learnt():
    model = as_model(table)
    with pytest.raises(ValueError, match="after the first pass"):
        _ = model.width
    model.start().logits([1])
    assert model.width == WIDTH
    with pytest.raises(ValueError, match="gives 50 scores, and its width is 40"):
        as_model(table, width=40).start().logits([1])


def test_a_text_that_is_too_long_is_cut_at_its_beginning():
    seen = []

    def model(ids):
        seen.append(list(ids))
        return table(ids)

    session = as_model(model, max_length=3).start()
    session.logits([1, 2, 3, 4, 5], rows=3)
    session.logits([1, 2])
    assert seen == [[3, 4, 5], [1, 2]]
    with pytest.raises(ValueError, match="4 rows of scores were asked for, of 3 ids"):
        session.logits([1, 2, 3, 4, 5], rows=4)


@pytest.mark.parametrize("rows", [0, -1, 3])
def test_rows_that_are_not_there(rows):
    with pytest.raises(ValueError, match="rows of scores"):
        as_model(table).start().logits([1, 2], rows)


def test_an_empty_text_has_no_scores():
    with pytest.raises(ValueError, match="of 0 ids"):
        as_model(table).start().logits([])


@pytest.mark.parametrize("shape", [(WIDTH,), (2, WIDTH), (1, 1, WIDTH)])
def test_scores_of_a_wrong_shape(shape):
    with pytest.raises(ValueError, match=r"the scores of 1 ids have the shape \(1, V\)"):
        as_model(lambda ids: np.zeros(shape)).start().logits([1])


@pytest.mark.parametrize("scores", [[[0.0, 1.0]], None])
def test_scores_that_are_no_array(scores):
    with pytest.raises(TypeError, match="scores as an array or a tensor"):
        as_model(lambda ids: scores).start().logits([1])


def test_a_callable_has_no_keys_and_values():
    session = as_model(table).start()
    with pytest.raises(TypeError, match="no keys and values"):
        session.export(0, 1, 1)
    with pytest.raises(TypeError, match="no keys and values"):
        session.resume([], [])


def test_noise_depends_on_the_last_token_and_the_seed():
    model = NoiseModel(WIDTH, seed=1)
    scores = model.start().logits([1, 2, 1], rows=3)
    assert scores.dtype == np.float32
    assert np.array_equal(scores[0], scores[2])
    assert not np.array_equal(scores[0], scores[1])
    assert not np.array_equal(scores[0], NoiseModel(WIDTH, seed=2).start().logits([1])[0])
    assert as_model(model) is model
    assert model.passes == 1


def test_what_is_a_model():
    model = as_model(table)
    assert as_model(model) is model
    with pytest.raises(ValueError, match="its own width"):
        as_model(model, width=3)
    with pytest.raises(TypeError, match="not int"):
        as_model(3)
    for option in ("width", "max_length"):
        for value in (0, -1, 1.5, True):  # wrong values, and wrong types
            with pytest.raises(ValueError if type(value) is int else TypeError, match=option):
                as_model(table, **{option: value})


# --- torch ----------------------------------------------------------------------------------------------------------


def tiny(torch):
    from grammar_engine.decoding.tiny.model import TinyDecoder

    return TinyDecoder(WIDTH, dim=16, layers=2, heads=2, max_length=40)


SIZES = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2}
IDS = {"vocab_size": WIDTH, "bos_token_id": 0, "eos_token_id": 1}


def llama(transformers):
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**SIZES, **IDS, max_position_embeddings=40))


def gpt2(transformers):
    return transformers.GPT2LMHeadModel(transformers.GPT2Config(**IDS, n_embd=16, n_layer=2, n_head=2, n_positions=40))


def windowed(transformers):
    """Keys and values that slide out of a window: such a cache can be cut only while the window is not full."""
    return transformers.MistralForCausalLM(transformers.MistralConfig(**SIZES, **IDS, max_position_embeddings=40, sliding_window=8))


def gemma(transformers):
    """Windows in every other layer, and scores that are bounded."""
    return transformers.Gemma2ForCausalLM(
        transformers.Gemma2Config(**SIZES, **IDS, head_dim=8, max_position_embeddings=40, sliding_window=8)
    )


def build(kind):
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    if kind is tiny:
        return kind(torch).eval()
    return kind(pytest.importorskip("transformers")).eval()


@pytest.mark.parametrize("kind", [tiny, llama, gpt2, windowed])
def test_scores_after_any_change_are_those_of_a_fresh_session(kind):
    model = as_model(build(kind))
    assert (model.width, model.max_length) == (WIDTH, 40)
    rng = np.random.default_rng(0)
    session, ids = model.start(), [1]
    for _ in range(25):
        change = rng.integers(4)
        if change == 0:
            ids = ids + rng.integers(0, WIDTH, rng.integers(1, 10)).tolist()
        elif change == 1:
            ids = ids[: max(1, len(ids) - int(rng.integers(0, 5)))]
        elif change == 2:
            ids = [*ids[: max(1, len(ids) // 2)], 3, 4]
        ids = ids[:60]  # longer than the model can see, now and then
        rows = int(rng.integers(1, min(len(ids), 40) + 1))
        before = model.passes
        scores = session.logits(ids, rows)
        assert model.passes == before + 1
        assert scores.shape == (rows, WIDTH)
        assert np.allclose(scores, model.start().logits(ids, rows), atol=1e-5)


@pytest.mark.parametrize("kind", [tiny, llama, gpt2, windowed, gemma])
def test_all_ids_are_seen_pads_too(kind):
    """Each pass has a mask of ones over all columns, with those that are kept, and scores are what they are without one."""
    torch = pytest.importorskip("torch")
    module = build(kind)
    model, pads = as_model(module), [0, 0]
    assert kind is tiny or module.config.pad_token_id in (0, None)
    masks = []
    hook = module.register_forward_pre_hook(lambda _, __, given: masks.append(given["attention_mask"]), with_kwargs=True)
    first, resumed, ids = model.start(), model.start(), list(range(12))
    first.resume([], [])
    first.logits(ids)
    resumed.resume(ids[:8], first.export(0, 8, 8))
    answers = [session.logits([*ids, *more, *pads], 3) for more in ([], [5], [5, 6, 7]) for session in (model.start(), first, resumed)]
    hook.remove()
    assert [mask.tolist() for mask in masks] == [[[1] * n] for n in (12, 14, 14, 14, 15, 15, 15, 17, 17, 17)]
    for number, more in enumerate(([], [5], [5, 6, 7])):
        with torch.inference_mode():
            whole = module(input_ids=torch.tensor([[*ids, *more, *pads]]), use_cache=False).logits[0, -3:].numpy()
        assert all(np.allclose(answer, whole, atol=1e-5) for answer in answers[3 * number : 3 * number + 3])


def test_a_longer_text_passes_only_its_new_tokens():
    torch = pytest.importorskip("torch")
    module = build(tiny)
    lengths = []
    module.register_forward_pre_hook(lambda _, __, given: lengths.append(given["input_ids"].shape[1]), with_kwargs=True)
    session = as_model(module).start()
    for ids, rows in (([1, 2, 3, 4], 1), ([1, 2, 3, 4, 5], 1), ([1, 2, 3, 4, 5], 1), ([1, 2, 3, 9, 9, 9], 1), ([1, 2, 3, 9, 9, 9], 4)):
        session.logits(ids, rows)
    assert lengths == [4, 1, 1, 3, 4]
    assert isinstance(module, torch.nn.Module)


def test_a_pass_that_fails_leaves_a_session_that_works():
    module = build(llama)
    model = as_model(module)
    session = model.start()
    session.logits([1, 2, 3])
    with pytest.raises(ValueError, match=f"the module refuses ids of up to {WIDTH} at 4 positions"):
        session.logits([1, 2, 3, WIDTH])
    assert np.allclose(session.logits([1, 2, 3, 4]), model.start().logits([1, 2, 3, 4]), atol=1e-5)


@pytest.mark.parametrize("kind", [tiny, llama])
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_copies_of_a_model(kind, copied):
    model = as_model(build(kind))
    other = copied(model)
    assert other.width == model.width and other.max_length == model.max_length
    assert np.allclose(other.start().logits([1, 2, 3]), model.start().logits([1, 2, 3]), atol=1e-6)


def test_a_module_without_keys_and_values():
    torch = pytest.importorskip("torch")
    inner = build(tiny)

    class Plain(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = inner

        def forward(self, input_ids, past_key_values=None, use_cache=False):
            assert past_key_values is None
            return self.inner(input_ids)

    session = as_model(Plain()).start()
    for ids in ([1, 2], [1, 2, 3], [1, 2, 3, 4]):
        assert np.allclose(session.logits(ids), as_model(inner).start().logits(ids), atol=1e-6)
    with pytest.raises(TypeError, match="a Plain returns no keys and values"):
        session.export(0, 1, 1)
    shared = as_model(Plain())
    for expected in (1, 0):  # what the first pass has shown is known from then on
        session = shared.start()
        before, words = shared.passes, "a Plain returns no keys and values"
        if expected:
            session.resume([], [])
        with pytest.raises(TypeError, match=words):
            session.logits([1, 2]) if expected else session.resume([], [])
        assert shared.passes == before + expected


@pytest.mark.parametrize("output", [lambda scores: scores, lambda scores: (scores, None), lambda scores: {"logits": scores}])
def test_a_module_that_returns_something_else(output):
    torch = pytest.importorskip("torch")

    class Other(torch.nn.Module):
        def forward(self, input_ids, past_key_values=None, use_cache=False):
            return output(torch.zeros((*input_ids.shape, 5)))

    with pytest.raises(TypeError, match="a module returns an object with logits"):
        as_model(Other()).start().logits([1])


def test_a_module_that_returns_scores_of_one_text_only():
    torch = pytest.importorskip("torch")

    class Flat(torch.nn.Module):
        def forward(self, input_ids, past_key_values=None, use_cache=False):
            return SimpleNamespace(logits=torch.zeros((input_ids.shape[1], 5)))

    with pytest.raises(ValueError, match=r"logits of the shape \(texts, length, V\), not \(2, 5\)"):
        as_model(Flat()).start().logits([1, 2])


# --- keys and values that travel ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [tiny, llama, gpt2, windowed])
def test_resumed_sessions_need_no_pass_for_what_they_have(kind):
    module = build(kind)
    model, ids = as_model(module), list(range(30))
    session = model.start()
    session.resume([], [])  # keeps what slides out of a window
    session.logits(ids)
    payloads = session.export(0, 30, 16)
    assert [payload[0].shape[-2] for payload in payloads] == [16, 14]
    assert payloads[0].nbytes == 2 * 2 * 16 * 16 * 4  # layers, keys and values, positions, dim, float32
    lengths = []
    module.register_forward_pre_hook(lambda _, __, given: lengths.append(given["input_ids"].shape[1]), with_kwargs=True)
    for text, length in (([*ids, 5], 1), (ids, 1), ([*ids[:20], 7], 1), ([*ids[:3], 7], 1)):
        resumed = model.start()
        resumed.resume(ids, payloads)
        scores = resumed.logits(text)
        assert lengths.pop() == length
        assert np.allclose(scores, model.start().logits(text), atol=1e-5)
    again = model.start()
    again.resume(ids[:16], payloads[:1])
    again.logits(ids)
    assert all((a == b).all() for a, b in zip(again.export(0, 16, 16)[0], payloads[0], strict=True))


def test_a_session_that_keeps_all_does_so_after_any_change():
    """Also after a text that has nothing in common with the one before, and after a pass that has failed."""
    model = as_model(build(windowed))
    session = model.start()
    session.resume([], [])
    for ids in ([1] * 20, [2] * 15, [2] * 15 + [3] * 9):
        session.logits(ids)
        assert len(session.export(0, len(ids), 4)) == -(-len(ids) // 4)
        with pytest.raises(ValueError, match="the module refuses ids"):
            session.logits([*ids[:12], WIDTH])


def test_a_model_with_another_state_cannot_be_resumed():
    transformers = pytest.importorskip("transformers")
    module = transformers.MambaForCausalLM(transformers.MambaConfig(**IDS, hidden_size=16, num_hidden_layers=1, state_size=4)).eval()
    for _ in range(2):
        with pytest.raises(TypeError, match="a MambaForCausalLM keeps a state that is not one of keys and values of each position"):
            as_model(module).start().resume([], [])


@pytest.mark.parametrize("kind", ["Mamba", "FalconMamba", "Jamba", "RecurrentGemma"])
def test_a_recurrent_state_takes_in_no_more_than_one_token(kind):
    """Some modules begin their state anew with the first of several tokens
    that follow a pass, and say nothing; and one keeps its state to itself."""
    transformers, torch = pytest.importorskip("transformers"), pytest.importorskip("torch")
    torch.manual_seed(3)
    options = {"num_hidden_layers": 2, "hidden_size": 32, "initializer_range": 0.4}
    if kind == "Jamba":
        options |= {
            "intermediate_size": 32,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "attn_layer_period": 2,
            "attn_layer_offset": 1,
        }
        options |= {"num_experts": 1, "num_experts_per_tok": 1, "mamba_d_state": 8, "mamba_dt_rank": 4, "use_mamba_kernels": False}
    if kind == "RecurrentGemma":
        options |= {"num_hidden_layers": 3, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16, "intermediate_size": 64}
        options |= {"lru_width": 32, "attention_window_size": 64}
        del options["initializer_range"]
    config = getattr(transformers, f"{kind}Config")(**IDS, **options)
    module = getattr(transformers, f"{kind}ForCausalLM")(config).eval()
    model = as_model(module)
    session, ids = model.start(), [2, 3, 4]
    for more, rows in (([], 1), ([5], 1), ([6], 1), ([6, 7], 1), ([8], 1), ([9], 1), ([9, 2, 3], 3), ([4], 2), ([5, 6, 7], 1)):
        ids = ids + more
        with torch.inference_mode():
            whole = module(input_ids=torch.tensor([ids]), use_cache=False).logits[0, -rows:].numpy()
        assert session.logits(ids, rows) == pytest.approx(whole, abs=1e-3)


def test_exported_keys_and_values_are_copies():
    session = as_model(build(tiny)).start()
    session.logits([1, 2, 3])
    payload = session.export(0, 2, 2)[0]
    kept = copy.deepcopy(payload)
    session.logits([4, 5, 6])
    assert all((a == b).all() for a, b in zip(kept, payload, strict=True))
    assert all(stack.base is None and stack.flags.owndata for stack in payload), "arrays of numpy: the model is on the CPU"


def test_exported_keys_and_values_that_numpy_cannot_hold_are_copies():
    session = as_model(build(tiny).bfloat16()).start()
    session.logits([1, 2, 3, 4, 5])
    payloads = session.export(0, 5, 2)
    kept = copy.deepcopy(payloads)
    session.logits([4, 5, 6])
    assert [payload[0].shape[3] for payload in payloads] == [2, 2, 1]
    for before, after in zip(kept, payloads, strict=True):
        assert all((a == b).all() for a, b in zip(before, after, strict=True))
        assert all(stack.untyped_storage().nbytes() == stack.nbytes == after.nbytes for stack in after)
    again = as_model(build(tiny).bfloat16()).start()
    again.resume([4, 5, 6], [session.export(0, 3, 3)[0]])
    assert (again.logits([4, 5, 6, 7]) == session.logits([4, 5, 6, 7])).all()


def test_layers_of_different_shapes():
    """Keys and values are stacked where they can be, and come back in their order."""

    torch = pytest.importorskip("torch")

    class Uneven(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(1))

        def forward(self, input_ids, past_key_values=None, use_cache=False):
            ids = input_ids[0].float()
            layers = []
            for index, (heads, dims) in enumerate([(1, (2, 2)), (1, (2, 2)), (3, (2, 5)), (1, (2, 2))]):
                layer = tuple(ids[None, None, :, None].expand(1, heads, -1, dim) * (10 * index + dim) for dim in dims)
                if past_key_values is not None:
                    layer = tuple(torch.cat(both, dim=2) for both in zip(past_key_values[index], layer))
                layers.append(layer)
            logits = torch.cat([layer[0].sum((0, 1, 3)) for layer in layers])[-len(ids) :, None].expand(-1, 4)
            return SimpleNamespace(logits=logits[None], past_key_values=layers)

    model, ids = as_model(Uneven()), [1, 2, 3, 4, 5, 6, 7]
    session = model.start()
    session.logits(ids)
    payloads = session.export(0, 6, 4)
    assert [[tuple(stack.shape) for stack in payload] for payload in payloads] == [
        [(4, 1, 1, n, 2), (1, 1, 3, n, 2), (1, 1, 3, n, 5), (2, 1, 1, n, 2)] for n in (4, 2)
    ]
    resumed = model.start()
    resumed.resume(ids[:6], payloads)
    for ours, theirs in zip(resumed.past, session.past, strict=True):
        assert all((a == b[:, :, :6]).all() for a, b in zip(ours, theirs, strict=True))


def test_keys_and_values_of_different_types():
    """Each comes back in its own."""
    torch = pytest.importorskip("torch")
    model = as_model(build(tiny))
    session = model.start()
    keys = torch.arange(24.0).reshape(1, 2, 3, 4)
    session.past, session.ids = [(keys, keys.double()), (keys, keys + 1)], [1, 2, 3]
    [payload] = session.export(1, 3, 2)
    assert [(stack.shape, stack.dtype) for stack in payload] == [
        ((n, 1, 2, 2, 4), kind) for n, kind in ((1, np.float32), (1, np.float64), (2, np.float32))
    ]
    assert (payload[1][0] == keys[:, :, 1:].numpy()).all() and (payload[2][1] == keys[:, :, 1:].numpy() + 1).all()


def test_misuse_of_export_and_resume():
    model = as_model(build(tiny))
    session = model.start()
    session.logits([1, 2, 3])
    for start, stop in ((0, 4), (-1, 2), (2, 2), (3, 1)):
        with pytest.raises(ValueError, match="not among"):
            session.export(start, stop, 2)
    [payload] = session.export(0, 2, 2)
    with pytest.raises(ValueError, match="2 positions, and there are 3 ids"):
        session.resume([1, 2, 3], [payload])
    with pytest.raises(ValueError, match="more than the 40"):
        session.resume([1] * 41, [payload])
    session.resume([], [])
    assert np.allclose(session.logits([1]), model.start().logits([1]), atol=1e-6)
    session.logits(list(range(45)))
    with pytest.raises(ValueError, match="a text that was cut"):
        session.export(0, 2, 2)


def test_a_window_that_has_slid_is_not_exported():
    session = as_model(build(windowed)).start()
    session.logits(list(range(20)))
    with pytest.raises(TypeError, match="each position"):
        session.export(0, 2, 2)


@pytest.mark.parametrize(
    ("scores", "error"),
    [
        (np.zeros(3, np.float32), ValueError),
        (np.zeros((9, 3), np.float32), ValueError),
        (np.zeros((0, 3), np.float32), ValueError),
        ([[0.0] * 3], TypeError),
        (None, TypeError),
    ],
)
def test_what_a_session_of_ones_own_has_to_answer(scores, error):
    model = NoiseModel(3)
    model.start = lambda: SimpleNamespace(logits=lambda ids, rows=1: scores)
    vocabulary, grammar = Vocabulary([b"a", b"b", b""], eos=[2]), Grammar.from_regex("[ab]{3}")
    reason = "have the shape" if error is ValueError else "a session returns scores as an array"
    with pytest.raises(error, match=reason):
        generate(model, [0], grammar, vocabulary)
    with pytest.raises(error, match=reason):
        GroupedSampler(model, vocabulary, 2, padding_id=0).generate([[0]], 5, grammar=grammar)


@pytest.mark.parametrize(
    ("options", "error"), [({"width": 0}, ValueError), ({"width": "4"}, TypeError), ({"width": 4, "seed": -1}, ValueError)]
)
def test_options_of_noise(options, error):
    with pytest.raises(error, match=" is "):
        NoiseModel(**options)


def test_the_longest_common_prefix():
    rng = random.Random(0)
    for _ in range(3000):
        ours = [rng.randrange(2) for _ in range(rng.randrange(12))]
        theirs = ours[: rng.randrange(len(ours) + 1)] + [rng.randrange(2) for _ in range(rng.randrange(5))]
        length = next((at for at, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
        assert common_prefix(ours, theirs) == common_prefix(theirs, ours) == length


def test_a_cache_with_more_than_keys_and_values_of_each_position_is_not_cut():
    """Layers that compress what they have seen can be cropped without an
    error, and are wrong then; a batch cannot select its rows either."""
    torch = pytest.importorskip("torch")

    def cache(kind):
        layer = type(kind, (), {"keys": torch.zeros(1, 1, 8, 4), "values": torch.zeros(1, 1, 8, 4)})()

        def crop(change):
            layer.keys, layer.values = layer.keys[:, :, :change], layer.values[:, :, :change]

        return SimpleNamespace(layers=[layer], crop=crop)

    for kind, is_known in (("DynamicLayer", True), ("CompressedLayer", False)):
        past = cache(kind)
        assert (keys_values.select(past, 8, [keys_values.Span(0, 0, 5)]) is not None) == is_known
        assert keys_values.cut_past(past, 8, 5, 9)[1] == (5 if is_known else 0)
        assert keys_values.cut_past(cache(kind), 8, 8, 9)[1] == 8, "one token more is what any state takes in"
        assert keys_values.cut_past(cache(kind), 8, 8, 10)[1] == (8 if is_known else 0)


@pytest.mark.parametrize("left", [0, 4, 6, 8])
def test_what_a_cache_has_left_is_counted_when_it_was_cut(left):
    """A cut that leaves another number of positions, and says nothing: a pass that went on from it would score another text."""
    torch = pytest.importorskip("torch")
    whole, short = (type("DynamicLayer", (), {"keys": torch.zeros(1, 1, 8, 4), "values": torch.zeros(1, 1, 8, 4)})() for _ in range(2))

    def crop(change):
        whole.keys, whole.values = whole.keys[:, :, :change], whole.values[:, :, :change]
        short.keys, short.values = short.keys[:, :, :left], short.values[:, :, :change]

    past = SimpleNamespace(layers=[whole, short], crop=crop)
    assert keys_values.cut_past(past, 8, 5, 9) == (None, 0)


def test_a_model_that_says_it_can_see_any_number() -> None:
    """XLNet has -1 there."""
    config = SimpleNamespace(vocab_size=5, max_position_embeddings=-1)
    module = pytest.importorskip("torch").nn.Linear(1, 1)
    module.config = config
    assert as_model(module).max_length is None
