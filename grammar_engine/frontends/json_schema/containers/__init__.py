"""Pieces of arrays and of objects, one level deep: what lies inside are goals. difference: one piece without another, in few pieces."""
