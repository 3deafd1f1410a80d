"""The slow truth. Pure Python, boring on purpose, and no line shared with the engine but the reading of the IR `Builder`.

expr.py     expressions over bytes: Brzozowski derivatives, membership, exact emptiness
pattern.py  regular expression text (a subset) to expressions, through the parse tree of Python's own `re`
earley.py   a textbook Earley recogniser over bytes, in which every way of cutting the text into lexemes counts
mask.py     a mask by trying every token
"""
