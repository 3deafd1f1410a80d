"""Keys and values by prefix: the same scores as without the cache, by fewer positions."""

from __future__ import annotations

import copy
import gc
import inspect
import weakref
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")

from grammar_engine.decoding.models import NoiseModel, as_model  # noqa: E402
from grammar_engine.decoding.prefix_cache import PrefixCache, kv  # noqa: E402
from grammar_engine.decoding.tiny.model import TinyDecoder  # noqa: E402

BLOCK = 4
PROMPT = [5, 3, 8, 1, 9, 2, 7, 4, 6, 6]


@pytest.fixture
def module():
    """A small decoder with random weights that counts the positions that it passes."""
    torch.manual_seed(0)
    decoder = TinyDecoder(width=16, dim=32, layers=2, heads=2, max_length=64).eval()
    decoder.positions = 0
    decoder.register_forward_pre_hook(count, with_kwargs=True)
    return decoder


def count(module, args, kwargs) -> None:
    ids = kwargs["input_ids"] if "input_ids" in kwargs else args[0]
    module.positions += ids.shape[1]


def write(model, cache, prompt, n: int = 6):
    """A greedy text: its ids, the scores of each step, and what the cache had of the prompt."""
    session, ids, scores = model.start(), list(prompt), []
    with kv.resume(session, cache, ids, model) as lease:
        for step in range(n):
            if step:
                ids.append(int(scores[-1].argmax()))
            scores.append(session.logits(ids)[-1])
            kv.keep(session, lease, ids, model)
    return ids, np.array(scores), lease.matched


def same(left, right) -> bool:
    return np.allclose(left, right, atol=1e-5)


def test_scores_and_positions(module) -> None:
    model, cache = as_model(module), PrefixCache(BLOCK)
    ids, scores, matched = write(model, cache, PROMPT)
    assert matched == 0 and module.positions == len(PROMPT) + 5
    module.positions = 0
    again = write(model, cache, PROMPT)
    assert again[0] == ids and same(again[1], scores) and again[2] == 8
    assert module.positions == len(PROMPT) + 5 - 8
    module.positions = 0
    ids_of_turn, scores_of_turn, matched = write(model, cache, [*ids, 1, 2])  # a chat: what was written is a prompt now
    assert matched == 12 and module.positions == len(ids) + 2 + 5 - 12
    without = write(model, PrefixCache(BLOCK, max_idle_blocks=0), [*ids, 1, 2])
    assert without[0] == ids_of_turn and same(without[1], scores_of_turn) and without[2] == 0


def test_a_prompt_of_full_blocks_that_is_all_there(module) -> None:
    """One position must be passed, for its scores."""
    model, cache = as_model(module), PrefixCache(BLOCK)
    scores = write(model, cache, PROMPT[:8])[1]
    module.positions = 0
    _, again, matched = write(model, cache, PROMPT[:8])
    assert matched == 8 and module.positions == 1 + 5 and same(again, scores)


def test_a_common_beginning(module) -> None:
    model, cache = as_model(module), PrefixCache(BLOCK)
    write(model, cache, PROMPT)
    other = [*PROMPT[:6], 0, 0, 0, 0]
    _, scores, matched = write(model, cache, other)
    assert matched == 4 and same(scores, write(model, PrefixCache(BLOCK), other)[1])


def test_the_prompt_is_found_while_it_is_in_use(module) -> None:
    model, cache = as_model(module), PrefixCache(BLOCK, max_idle_blocks=0)
    session = model.start()
    with kv.resume(session, cache, PROMPT, model) as lease:
        session.logits(PROMPT)
        kv.keep(session, lease, PROMPT, model)
        assert write(model, cache, PROMPT)[2] == 8
    assert write(model, cache, PROMPT)[2] == 0


def test_bytes_are_those_of_the_tensors(module) -> None:
    cache = PrefixCache(BLOCK)
    write(as_model(module), cache, PROMPT)
    a_position = 2 * 2 * 32 * 4  # layers, keys and values, dim, bytes of a float
    assert cache.stats.idle == 3 and cache.stats.idle_bytes == 12 * a_position


def test_models_are_told_apart(module) -> None:
    torch.manual_seed(1)
    other = TinyDecoder(width=16, dim=32, layers=2, heads=2, max_length=64).eval()
    cache = PrefixCache(BLOCK)
    write(as_model(module), cache, PROMPT)
    assert write(as_model(other), cache, PROMPT)[2] == 0
    assert write(as_model(module), cache, PROMPT)[2] == 8, "a module that is wrapped anew is the same model"


def test_models_without_parameters_are_told_apart() -> None:
    one, other = NoiseModel(16), NoiseModel(16)
    assert kv.salt_of(one) == kv.salt_of(one) != kv.salt_of(other)


def test_a_model_that_was_converted_finds_nothing_of_before(module) -> None:
    cache, model = PrefixCache(BLOCK), as_model(module)
    write(model, cache, PROMPT)
    module.bfloat16()
    assert write(model, cache, PROMPT)[2] == 0
    assert write(model, cache, PROMPT)[2] == 8
    module.float()
    assert write(model, cache, PROMPT)[2] == 8, "those of before are still there"
    with torch.autocast("cpu", torch.bfloat16):
        salt = kv.salt_of(model)
    assert salt != kv.salt_of(model)
    module.layers[1].bfloat16()  # a part of it
    assert kv.salt_of(model) not in (salt, kv.salt_of(as_model(module.float())))
    module.to("meta")  # another device
    assert b"meta" in kv.salt_of(model)


def test_a_model_with_other_parts_is_another_one(module) -> None:
    """Whichever they are, whatever their types: modules and parameters that were replaced, added or taken away."""
    salts = [kv.salt_of(module)]
    for path, name in (path.rpartition(".")[::2] for path, _ in list(module.named_parameters())[::3]):
        holder, parameter = module.get_submodule(path), module.get_parameter(f"{path}.{name}")
        setattr(holder, name, torch.nn.Parameter(parameter.detach().bfloat16()))
        salts.append(kv.salt_of(module))
        setattr(holder, name, torch.nn.Parameter(parameter.detach().float()))
        salts.append(kv.salt_of(module))
    path = next(name for name, _ in module.named_parameters()).rpartition(".")[0]
    setattr(module, path, torch.nn.Embedding(16, 32))  # a part with a parameter of the same name
    salts.append(kv.salt_of(module))
    setattr(module, path, torch.nn.Identity())  # and one without
    salts.append(kv.salt_of(module))
    module.more = torch.nn.Linear(2, 2)
    salts.append(kv.salt_of(module))
    assert len(set(salts)) == len(salts) > 8
    assert kv.salt_of(module) == salts[-1]


def test_partial_blocks(module) -> None:
    model, cache = as_model(module), PrefixCache(BLOCK, share_partial=True)
    ids, scores, _ = write(model, cache, PROMPT)
    module.positions = 0
    again = write(model, cache, ids)
    assert again[2] == len(ids) == 15 and module.positions == 1 + 5
    assert same(again[1][0], scores[-1])


def test_a_model_does_not_live_for_its_name() -> None:
    kept = len(kv._named)
    salt = kv.salt_of(TinyDecoder(width=16, dim=32, layers=1, heads=2, max_length=8))
    gc.collect()
    assert len(kv._named) == kept and kv.salt_of(torch.nn.Identity()) != salt


def test_a_model_whose_parts_refer_to_it_does_not_live_for_its_name() -> None:
    model = TinyDecoder(width=16, dim=32, layers=1, heads=2, max_length=8)
    model.layers[0].__dict__["whole"] = model.embedding.weight.whole = model  # what torch does not know of
    kv.salt_of(model)
    alive = weakref.ref(model)
    del model
    gc.collect()
    assert alive() is None


def test_copies_of_a_model_are_other_models(module, tmp_path) -> None:
    """Shallow, deep, or of a file."""
    module._forward_pre_hooks.clear()
    salt = kv.salt_of(module)
    torch.save(module, tmp_path / "module")
    copies = [copy.copy(module), copy.deepcopy(module), torch.load(tmp_path / "module", weights_only=False)]
    salts = {kv.salt_of(each) for each in copies}
    assert len(salts) == 3 and salt not in salts
    assert {kv.salt_of(each) for each in copies} == salts and kv.salt_of(module) == salt


def test_texts_longer_than_the_model_sees() -> None:
    torch.manual_seed(0)
    model, cache = as_model(TinyDecoder(width=16, dim=32, layers=2, heads=2, max_length=12).eval()), PrefixCache(BLOCK)
    ids, scores, _ = write(model, cache, PROMPT)  # grows out of sight
    assert len(ids) == 15 and cache.stats.table == 3
    again = write(model, cache, PROMPT)
    assert again[0] == ids and same(again[1], scores) and again[2] == 8
    assert write(model, cache, ids)[2] == 0, "its beginning is not seen"


def test_the_text_goes_on_from_the_lease(module) -> None:
    model, cache = as_model(module), PrefixCache(BLOCK)
    session = model.start()
    with kv.resume(session, cache, PROMPT, model) as lease:
        session.logits(PROMPT)
        kv.keep(session, lease, PROMPT, model)
        with pytest.raises(ValueError, match="does not go on"):
            kv.keep(session, lease, [*PROMPT[:-1], 0, 1, 2], model)
        with pytest.raises(ValueError, match="positions 8 to 12"):
            kv.keep(session, lease, [*PROMPT, 1, 2], model)


def test_a_model_without_keys_and_values() -> None:
    """Said before the text is written, and nothing stays in use."""
    model, cache = as_model(lambda ids: np.zeros((len(ids), 16))), PrefixCache(BLOCK)
    with pytest.raises(TypeError, match="keys and values"):
        kv.resume(model.start(), cache, PROMPT, model)
    assert not cache.stats.table


def test_a_session_that_cannot_resume_holds_nothing(module, monkeypatch) -> None:
    model, cache = as_model(module), PrefixCache(BLOCK)
    write(model, cache, PROMPT)
    session = model.start()
    monkeypatch.setattr(session, "resume", lambda ids, payloads: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        kv.resume(session, cache, PROMPT, model)
    assert cache.stats.revivals == 2 and cache.stats.idle == cache.stats.table == 3


def test_in_the_loop(module) -> None:
    """`generate` writes the same with a cache and without, and does not pass a known prompt again."""
    from grammar_engine import Grammar, Vocabulary
    from grammar_engine.decoding import generate

    vocabulary = Vocabulary([bytes([byte]) for byte in b"abcdefghijklmn"] + [b""], eos=[14], width=16)
    grammar, cache = Grammar.from_regex("[a-n]{3,9}"), PrefixCache(BLOCK)

    def texts(**options) -> list[list[int]]:
        return [
            generate(module, PROMPT, grammar, vocabulary, seed=seed, max_new_tokens=10, close_in_time=False, **options).tokens
            for seed in range(5)
        ]

    without = texts()
    plain, module.positions = module.positions, 0
    assert texts(prefix_cache=cache) == without
    assert module.positions == plain - 4 * 8, "four of five found two blocks"


@pytest.mark.parametrize("forced", [False, True])
def test_in_the_loop_a_conversation_goes_on(module, forced) -> None:
    """What was written is found when it comes back in a prompt:
    all that was passed, in full blocks; also if the caller stops at the last step."""
    from grammar_engine import Grammar, Vocabulary
    from grammar_engine.decoding import generate, stream

    vocabulary = Vocabulary([bytes([byte]) for byte in b"abcdefghijklmn"] + [b""], eos=[14], width=16)
    grammar, cache = Grammar.from_regex("abc[a-n]{5}nm[a-n]{2}"), PrefixCache(BLOCK)
    run = stream(module, PROMPT, grammar, vocabulary, seed=1, forced=forced, prefix_cache=cache)
    assert next(step for step in run if run.generation.finish_reason)
    written = run.generation.tokens
    assert len(written) == 13  # of 23 tokens in all, the last pass has seen 21 or 22: five full blocks

    turn = [*PROMPT, *written, 3, 4, 5]
    module.positions = 0
    again = generate(module, turn, grammar, vocabulary, seed=2, forced=False, prefix_cache=cache)
    assert cache.stats.prompt_matched == 20
    assert module.positions == len(turn) - 20 + again.passes - 1
    assert again.tokens == generate(module, turn, grammar, vocabulary, seed=2, forced=False).tokens


@pytest.mark.parametrize("leave", ["close", "drop", "raise"])
def test_in_the_loop_a_stream_is_left_early(module, leave) -> None:
    """The full blocks of what was passed stay, also if the model has failed meanwhile (then those of the prompt)."""
    from grammar_engine import Grammar, Vocabulary
    from grammar_engine.decoding import stream

    vocabulary = Vocabulary([bytes([byte]) for byte in b"abcdefghijklmn"] + [b""], eos=[14], width=16)
    cache = PrefixCache(BLOCK)
    run = stream(module, PROMPT, Grammar.from_regex("[a-n]{20}"), vocabulary, seed=1, prefix_cache=cache)
    for _ in range(9):
        next(run)
    assert cache.stats.table == 2
    if leave == "close":
        run.close()
    elif leave == "raise":
        module.register_forward_pre_hook(lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            next(run)
    del run
    gc.collect()
    stats = cache.stats  # the last pass has seen 10 + 8
    assert (stats.table, stats.idle) == ((2, 2) if leave == "raise" else (4, 4))


def test_in_the_loop_nothing_was_passed(module) -> None:
    """A text that is all forced, after a prompt that is known."""
    from grammar_engine import Grammar, Vocabulary
    from grammar_engine.decoding import generate

    vocabulary = Vocabulary([bytes([byte]) for byte in b"abcdefghijklmn"] + [b""], eos=[14], width=16)
    model, cache = as_model(module), PrefixCache(BLOCK)
    write(model, cache, PROMPT)
    result = generate(model, PROMPT, Grammar.from_regex("abc"), vocabulary, prefix_cache=cache)
    assert (result.text, result.passes, cache.stats.prompt_matched) == (b"abc", 0, 8)


@pytest.mark.parametrize("layers", [["sliding_attention"] * 2, ["sliding_attention", "full_attention"]])
@pytest.mark.parametrize("n", [5, 10])
def test_in_the_loop_a_window_slides(layers, n) -> None:
    """A prompt within the window, or longer than it; known or not:
    the same text as without the cache, and no known position is passed again."""
    transformers = pytest.importorskip("transformers")
    from grammar_engine import Grammar, Vocabulary
    from grammar_engine.decoding import generate

    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2}
    config = transformers.Gemma3TextConfig(
        vocab_size=16, head_dim=8, **sizes, sliding_window=8, layer_types=layers, bos_token_id=0, eos_token_id=14, pad_token_id=0
    )
    module = transformers.Gemma3ForCausalLM(config).eval()
    vocabulary = Vocabulary([bytes([byte]) for byte in b"abcdefghijklmn"] + [b""], eos=[14], width=16)
    grammar, cache = Grammar.from_regex("[a-n]{12}"), PrefixCache(BLOCK)
    without = generate(module, PROMPT[:n], grammar, vocabulary, seed=1).tokens
    module.positions = 0
    module.register_forward_pre_hook(count, with_kwargs=True)
    for known in (0, n // BLOCK * BLOCK):
        module.positions = 0
        assert generate(module, PROMPT[:n], grammar, vocabulary, seed=1, prefix_cache=cache).tokens == without
        assert (cache.stats.prompt_matched, module.positions) == (known, n + 11 - known)
    assert cache.stats.table == (n + 11) // BLOCK, "the text is kept to its end"


@pytest.mark.filterwarnings("ignore:Guards may run slower:RuntimeWarning")  # Python 3.13.0
@pytest.mark.parametrize("how", ["wrapped", "pairs", "compiled"])
def test_a_model_within_a_module(how) -> None:
    """As adapters and `torch.compile` have it: the module itself is none of
    `transformers`, and takes keys and values as these do; or in pairs."""
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2}
    inner = transformers.LlamaForCausalLM(transformers.LlamaConfig(vocab_size=16, **sizes)).eval()

    class Wrapped(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner, self.config = inner, inner.config

        def forward(self, input_ids, **options):
            return self.inner(input_ids=input_ids, **options)

    class Pairs(Wrapped):
        def forward(self, input_ids, past_key_values=None, use_cache=True):
            past = transformers.DynamicCache()
            for index, layer in enumerate(past_key_values or ()):
                past.update(*layer, index)
            name = "cache" if "cache" in inspect.signature(self.inner.forward).parameters else "past_key_values"
            output = self.inner(input_ids=input_ids, use_cache=use_cache, **{name: past})
            return SimpleNamespace(logits=output.logits, past_key_values=[(each.keys, each.values) for each in past.layers])

    made = {"wrapped": Wrapped, "pairs": Pairs, "compiled": lambda: torch.compile(inner, backend="eager")}
    model = as_model(made[how]())
    cache = PrefixCache(BLOCK)
    ids, scores, _ = write(model, cache, PROMPT)
    again = write(model, cache, PROMPT)
    assert again[0] == ids and same(again[1], scores) and again[2] == 8


def test_a_model_with_another_state_is_refused_before_its_first_pass() -> None:
    transformers = pytest.importorskip("transformers")
    from grammar_engine import Grammar, Vocabulary
    from grammar_engine.decoding import generate

    config = transformers.MambaConfig(vocab_size=16, hidden_size=16, num_hidden_layers=1, state_size=4)
    module, cache = transformers.MambaForCausalLM(config).eval(), PrefixCache(BLOCK)
    module.register_forward_pre_hook(lambda *_: 1 / 0)
    with pytest.raises(TypeError, match="MambaForCausalLM keeps a state that is not one of keys and values"):
        generate(module, PROMPT, Grammar.from_regex("a"), Vocabulary.bytes(), prefix_cache=cache)
    assert not cache.stats.table


def test_in_the_loop_forced_text_leads_out_of_sight() -> None:
    """A prompt that the model sees whole, but not with the text that is forced before the first pass."""
    from grammar_engine import Grammar, Vocabulary
    from grammar_engine.decoding import generate

    torch.manual_seed(0)
    module = TinyDecoder(width=16, dim=32, layers=2, heads=2, max_length=12).eval()
    vocabulary = Vocabulary([bytes([byte]) for byte in b"abcdefghijklmn"] + [b""], eos=[14], width=16)
    grammar, cache = Grammar.from_regex("abcdef[a-n]{3}"), PrefixCache(BLOCK)
    without = generate(module, PROMPT, grammar, vocabulary, seed=1)
    assert generate(module, PROMPT, grammar, vocabulary, seed=1, prefix_cache=cache).tokens == without.tokens
    assert not cache.stats.table
