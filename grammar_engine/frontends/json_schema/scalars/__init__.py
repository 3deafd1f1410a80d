"""Pieces of strings and of numbers, and the expressions that spell them.

strings, with formats/; numbers, with decimals (ranges), multiples, and digits (what both are made of).
"""
