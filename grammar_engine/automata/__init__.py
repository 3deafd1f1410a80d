"""Token automata: regular grammars compiled ahead of time to a table over a vocabulary.

dfa.py     TokenDFA: from a pattern or a grammar, or from a file
guide.py   Guide: one text under a table
spell.py   spellings of literals, for coalesce_literals
"""
