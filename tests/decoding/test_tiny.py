"""The tiny decoder: what a forward pass must be, what training must reach, what a file must be; and the texts it learns from."""

from __future__ import annotations

import io
import itertools
import json
import math
import random
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import pytest

from grammar_engine import Matcher, Vocabulary

torch = pytest.importorskip("torch")
torch.set_num_threads(1)  # for models as small as these, more only wait for each other

from grammar_engine.decoding.models import as_model  # noqa: E402
from grammar_engine.decoding.tiny import data, train  # noqa: E402
from grammar_engine.decoding.tiny.model import TinyDecoder, load, save  # noqa: E402
from grammar_engine.decoding.tiny.muon import Muon, orthogonal  # noqa: E402

WIDTH, LENGTH = 20, 24


@pytest.fixture
def model() -> TinyDecoder:
    torch.manual_seed(0)
    model = TinyDecoder(WIDTH, dim=32, layers=2, heads=4, max_length=LENGTH).eval()
    for weights in model.parameters():  # far from a start, where all that layers add is small
        torch.nn.init.normal_(weights, std=0.5)
    return model


def scores_of(model: TinyDecoder, ids: list[int]) -> object:
    with torch.inference_mode():
        return model(torch.tensor([ids])).logits[0]


IDS = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]


# --- a forward pass -----------------------------------------------------------------------------------------------------


def test_scores_depend_on_what_is_before(model: TinyDecoder) -> None:
    scores = scores_of(model, IDS)
    assert scores.shape == (len(IDS), WIDTH)
    for at in range(len(IDS)):
        changed = scores_of(model, [*IDS[:at], 11, *IDS[at + 1 :]])
        assert changed[:at].equal(scores[:at])
        assert ((changed[at:] - scores[at:]).abs().amax(dim=-1) > 1e-3).all()  # on each token before, at whatever distance
    swapped = scores_of(model, [IDS[1], IDS[0], *IDS[2:]])
    assert ((swapped[2:] - scores[2:]).abs().amax(dim=-1) > 1e-3).all()  # and on their order


def test_positions_are_relative(model: TinyDecoder) -> None:
    """They turn queries and keys only: where all tokens are the same, so are all rows."""
    rows = scores_of(model, [7] * 10)
    torch.testing.assert_close(rows, rows[:1].expand_as(rows), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("cuts", [[1] * 11, [5, 1, 3], [11], [2, 2, 2, 2]])
def test_a_cache_changes_nothing(model: TinyDecoder, cuts: list[int]) -> None:
    scores, past, at = scores_of(model, IDS), None, 0
    for length in [*cuts, len(IDS) - sum(cuts)]:
        with torch.inference_mode():
            out = model(torch.tensor([IDS[at : at + length]]), past_key_values=past, use_cache=True)
        torch.testing.assert_close(out.logits[0], scores[at : at + length], rtol=1e-4, atol=1e-4)
        past, at = out.past_key_values, at + length
        assert [tuple(tensor.shape) for layer in past for tensor in layer] == [(1, 4, at, 8)] * 4
    assert model(torch.tensor([IDS])).past_key_values is None


def test_a_cache_may_be_cut(model: TinyDecoder) -> None:
    with torch.inference_mode():
        past = model(torch.tensor([IDS]), use_cache=True).past_key_values
        cut = [(keys[:, :, :4], values[:, :, :4]) for keys, values in past]
        again = model(torch.tensor([[9, 9, 9]]), past_key_values=cut).logits[0]
    torch.testing.assert_close(again, scores_of(model, [*IDS[:4], 9, 9, 9])[4:], rtol=1e-4, atol=1e-4)


def test_batches(model: TinyDecoder) -> None:
    with torch.inference_mode():
        both = model(torch.tensor([IDS, IDS[::-1]])).logits
    torch.testing.assert_close(both[1], scores_of(model, IDS[::-1]), rtol=1e-4, atol=1e-4)


def test_it_is_a_model_for_the_loop(model: TinyDecoder) -> None:
    wrapped = as_model(model)
    assert (wrapped.width, wrapped.max_length) == (WIDTH, LENGTH)
    session = wrapped.start()
    for ids in (IDS[:5], IDS, [*IDS[:7], 2, 2]):
        assert session.logits(ids, rows=2) == pytest.approx(scores_of(model, ids)[-2:].numpy(), abs=1e-4)


def test_refusals(model: TinyDecoder) -> None:
    with pytest.raises(ValueError, match="25 positions, and the model can see 24"):
        model(torch.tensor([[1] * 25]))
    past = model(torch.tensor([[1] * 20]), use_cache=True).past_key_values
    with pytest.raises(ValueError, match="25 positions"):
        model(torch.tensor([[1] * 5]), past_key_values=past)
    with pytest.raises(ValueError, match="multiple of 2"):
        TinyDecoder(WIDTH, dim=30, heads=4)


# --- training -----------------------------------------------------------------------------------------------------------

LETTERS = 12
START, END = LETTERS, LETTERS + 1


def repeated_words(n: int, seed: int) -> list[list[int]]:
    """Words of four random letters, written two or three times."""
    rng = random.Random(seed)
    return [[START, *([rng.randrange(LETTERS) for _ in range(4)] * 3)[: rng.randint(9, 12)], END] for _ in range(n)]


def test_training_finds_what_is_to_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first four letters are chance. What follows is certain for a model that looks back four places; one that sees the last letter
    only, or which letters there were but not their order, is left with log 4 at least."""
    monkeypatch.setattr(train, "BATCH", 200)  # as the texts are short
    texts = repeated_words(200, seed=2)
    terms = sum(len(text) - 1 for text in texts)
    chance = 4 * math.log(LETTERS) * len(texts) / terms
    blind = chance + math.log(4) * sum(len(text) - 6 for text in texts) / terms
    torch.manual_seed(0)
    model = TinyDecoder(LETTERS + 3, dim=64, layers=1, heads=2, max_length=16).eval()
    assert train.mean_loss(model, texts) > math.log(LETTERS)
    reported = []
    train.train(model, repeated_words(3000, seed=1), lambda step: step / 250, report=lambda step, loss: reported.append((step, loss)))
    assert not model.training
    assert [step for step, _ in reported] == [100, 200]
    assert reported[1][1] < reported[0][1]
    assert 0.97 * chance < train.mean_loss(model, texts) < (chance + blind) / 2  # less than chance: it would see what comes


def test_batches_hold_each_text_once() -> None:
    rng = random.Random(0)
    texts = [[i] * rng.randint(2, 300) for i in range(200)]
    batches = list(train._batches(texts))
    assert sorted(text[0] for batch in batches for text in batch) == list(range(200))
    for batch, following in itertools.pairwise(batches):
        longest = len(batch[-1])
        assert len(batch) * longest <= train.BATCH < (len(batch) + 1) * len(following[0])  # full, and no fuller
        assert longest <= len(following[0])
    assert [len(batch) for batch in train._batches([[0] * (train.BATCH + 1)] * 2)] == [1, 1]
    assert list(train._batches([])) == []
    drawn = train._in_random_order(texts, random.Random(1))
    for _ in range(2):  # the order changes, and who is beside whom; a text comes again when all have come
        seen: list[int] = []
        while len(seen) < 200:
            seen += [text[0] for text in next(drawn)]
        assert sorted(seen) == list(range(200))


@pytest.mark.parametrize("shape", [(64, 64), (64, 256), (256, 64)])
def test_muon_makes_steps_orthogonal(shape: tuple[int, int]) -> None:
    torch.manual_seed(0)
    matrices = torch.randn(3, *shape)
    matrices[1] *= 1e-4  # the scale of a gradient does not matter
    matrices[2] += 30 * torch.randn(shape[0], 1) @ torch.randn(1, shape[1]) / min(shape) ** 0.5  # nor a direction that stands out
    steps = orthogonal(matrices)
    left, values, right = torch.linalg.svd(matrices, full_matrices=False)
    inside = left.mT @ steps @ right.mT  # U' (U S V') V: the singular values, if the polynomials changed nothing else
    kept = inside.diagonal(dim1=-2, dim2=-1)[values > 0.002 * values.norm(dim=-1, keepdim=True)]
    assert kept.min() > 0.4 and kept.max() < 1.6
    torch.testing.assert_close(inside - torch.diag_embed(inside.diagonal(dim1=-2, dim2=-1)), torch.zeros_like(inside), rtol=0, atol=0.02)
    assert orthogonal(torch.zeros(1, 4, 4)).eq(0).all()


def test_muon_treats_queries_keys_and_values_each_alone() -> None:
    torch.manual_seed(0)
    gradients = [torch.randn(48, 16), torch.randn(64, 16), torch.randn(16, 64)]
    matrices = [torch.nn.Parameter(torch.zeros_like(gradient)) for gradient in gradients]
    untouched = torch.nn.Parameter(torch.ones(2, 2))
    for matrix, gradient in zip(matrices, gradients):
        matrix.grad = gradient.clone()
    optimizer = Muon([*matrices, untouched], lr=0.1)
    optimizer.step()
    expected = [torch.cat([orthogonal(part[None])[0] for part in gradients[0].chunk(3)])]
    expected += [2 * orthogonal(gradients[1][None])[0], orthogonal(gradients[2][None])[0]]  # 2: four times as many rows as columns
    for matrix, step in zip(matrices, expected):
        torch.testing.assert_close(matrix.detach(), -0.1 * step, rtol=1e-3, atol=1e-4)
    assert untouched.eq(1).all()
    before = matrices[1].detach().clone()
    matrices[1].grad = torch.zeros(64, 16)
    optimizer.step()  # what is left of the momentum points where it did
    torch.testing.assert_close(matrices[1].detach(), 2 * before, rtol=1e-3, atol=1e-4)


def test_pads_have_no_weight(model: TinyDecoder) -> None:
    texts = [IDS, IDS[:3], IDS[2:9]]
    alone = [train.mean_loss(model, [text]) * (len(text) - 1) for text in texts]
    assert train.mean_loss(model, texts) == pytest.approx(sum(alone) / sum(len(text) - 1 for text in texts), rel=1e-5)
    expected = -sum(scores_of(model, IDS).log_softmax(-1)[i, token].item() for i, token in enumerate(IDS[1:]))
    assert alone[0] == pytest.approx(expected, rel=1e-5)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    seconds = itertools.count()  # a clock that is looked at twice in each step
    for name, value in (("TEXTS", 60), ("HELD_OUT", 4), ("REPORT", 1), ("time", SimpleNamespace(monotonic=lambda: next(seconds)))):
        monkeypatch.setattr(train, name, value)
    path = tmp_path / "tiny.pt"
    monkeypatch.setattr(sys, "argv", ["train", "--out", str(path), "--minutes", "1", "--dim", "32", "--layers", "1", "--heads", "2"])
    train.main()
    said = capsys.readouterr().out
    losses = [float(loss) for loss in re.findall(r"loss ([0-9.]+)$", said, re.MULTILINE)]
    assert len(losses) == 30 and losses[0] > 6.8 and losses[-1] < 6
    assert re.search(r"has not seen: [0-9.]+\n.*: \d+% are JSON texts, \d+% are documents", said)
    assert load(path, data.tiny_vocabulary()).options["dim"] == 32


def test_shares_count_what_is_right(model: TinyDecoder, monkeypatch: pytest.MonkeyPatch) -> None:
    vocabulary = data.tiny_vocabulary()
    asked = list(data.examples(vocabulary, 8, seed=3))
    answers = iter([asked[0].document, b'{"a": 1}', b"{", asked[3].document + b" ", asked[4].document, b"", b"[]", asked[7].document])

    def answer(*_: object, **__: object) -> object:
        text = next(answers)
        return SimpleNamespace(text=text, finish_reason="budget" if text == asked[7].document else "end")

    monkeypatch.setattr(train, "generate", answer)
    assert train.shares_right(TinyDecoder(vocabulary.width + 1, 16), vocabulary, asked) == (5 / 8, 2 / 8)


# --- files --------------------------------------------------------------------------------------------------------------


def test_files(tmp_path: Path) -> None:
    vocabulary, path = Vocabulary.bytes(), tmp_path / "model.pt"
    model = TinyDecoder(vocabulary.width + 1, dim=16, layers=1, heads=2, max_length=9).eval()
    save(model, path, vocabulary)
    again = load(path, vocabulary)
    assert again.options == model.options and not again.training and again.pad == 257
    assert scores_of(again, IDS[:9]).equal(scores_of(model, IDS[:9]))
    with pytest.raises(ValueError, match="another vocabulary"):
        load(path, data.tiny_vocabulary())
    whole = path.read_bytes()
    for cut in (b"", b"no weights", whole[:200], whole[: len(whole) // 2], b"PK\x03\x04" + b"\0" * 50):
        path.write_bytes(cut)
        with pytest.raises(ValueError, match="holds no weights of a tiny decoder"):
            load(path, vocabulary)
    for other in ({"weights": {}}, [1, 2], torch.zeros(3)):
        torch.save(other, path)
        with pytest.raises(ValueError, match="holds no weights of a tiny decoder"):
            load(path, vocabulary)
    path.write_bytes(b"root:x:0:0:root:/root:/bin/sh\n")  # "r" is an instruction of pickle that takes two things from an empty stack
    with pytest.raises(ValueError, match="holds no weights of a tiny decoder"):
        load(path, vocabulary)
    ours = torch.load(io.BytesIO(whole), weights_only=True)
    options = ours["options"]
    for wrong in (
        {"options": 3},
        {"options": {**options, "heads": 0}},
        {"options": {**options, "layers": 2}},
        {"options": {**options, "depth": 2}},
        {"weights": {}},
        {"weights": [1]},
        {"format": torch.zeros(3)},
    ):
        torch.save({**ours, **wrong}, path)
        with pytest.raises(ValueError, match="holds no weights of a tiny decoder"):
            load(path, vocabulary)
    for missing in ours:
        torch.save({key: value for key, value in ours.items() if key != missing}, path)
        with pytest.raises(ValueError, match="holds no weights of a tiny decoder"):
            load(path, vocabulary)
    with pytest.raises(OSError, match="absent"):
        load(tmp_path / "absent.pt", vocabulary)


class Harm:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return Path.touch, (HARM,)


HARM = Path("harm")


def test_nothing_in_a_file_is_executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "HARM", tmp_path / "harm")
    torch.save({"format": Harm()}, tmp_path / "model.pt")
    with pytest.raises(ValueError, match="holds no weights of a tiny decoder"):
        load(tmp_path / "model.pt", Vocabulary.bytes())
    assert not (tmp_path / "harm").exists()


# --- texts --------------------------------------------------------------------------------------------------------------


def test_examples_are_what_they_say() -> None:
    vocabulary = data.tiny_vocabulary()
    made = list(data.examples(vocabulary, 60, seed=5))
    assert made[:20] == list(data.examples(vocabulary, 20, seed=5))
    assert made[:8] != list(data.examples(vocabulary, 8, seed=6))
    for example in made:
        document = json.loads(example.document)
        jsonschema.validate(document, example.schema)
        assert json.dumps(document, separators=data.WHITESPACE).encode() == example.document
        assert not re.search(rb"[0-9]\.[0-9]", example.document)
        matcher = Matcher(data.grammar_of(example.schema), vocabulary)
        assert matcher.accept_bytes(example.document) and matcher.is_complete
        ids = example.ids(vocabulary)
        assert ids[-1] == vocabulary.eos[0]
        assert b"".join(vocabulary.tokens[token] for token in ids) == example.prompt + example.document
        assert max(ids) < vocabulary.width
    assert len({example.prompt for example in made}) > 12
    assert len({example.document for example in made}) > 55


def test_prompts() -> None:
    inner = {"type": "object", "properties": {"x": {}, "y": True}, "required": ["y"]}
    schema = {
        "properties": {"a": {"type": "string"}, "b": {"items": inner}, "c": inner, "d": {"items": {"items": {}}}},
        "required": ["a", "c"],
    }
    assert data.prompt_of(schema) == b"{a b{x? y}[]? c{x? y} d[][]?}\n"
    assert data.prompt_of({"type": "integer"}) == b"\n"


def test_the_vocabulary_is_a_part_of_the_builtin_one() -> None:
    vocabulary = data.tiny_vocabulary()
    assert (len(vocabulary), vocabulary.eos) == (data.TOKENS, (data.TOKENS - 1,))
    assert vocabulary.tokens[:-1] == Vocabulary.builtin().tokens[: data.TOKENS - 1]
