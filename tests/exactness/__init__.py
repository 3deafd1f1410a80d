"""Every mask equals the oracle's, bit for bit.

grammars.py         random and enumerated expressions and grammars, through the IR `Builder`
walk.py             the laws that hold at each step of each walk; every test below is a choice of what to walk
test_walks.py       random grammars, regexes and vocabularies
test_switches.py    each cache and fast path off = on
test_outlines.py    walks that serve many rows
test_models.py      masks that are kept as another one but for a few tokens
test_ahead.py       masks that are made before they are asked for, and what begins beyond ASCII
test_worlds.py      exhaustive small worlds
test_schemas.py     small JSON schemas
"""
