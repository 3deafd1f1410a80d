"""A decoder of a third of a million weights that has learnt to write JSON: a model to measure with where no model can be fetched.

    data.py     random schemas, prompts that outline them, documents written by the engine
    model.py    the decoder, its file
    muon.py     the optimizer of its matrices
    train.py    `python -m grammar_engine.decoding.tiny.train --out tiny.pt`: minutes on a CPU

Weights are made where they are needed and are not part of the package.
"""
