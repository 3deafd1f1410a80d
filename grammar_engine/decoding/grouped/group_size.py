"""How many tokens a pass is asked for: always the same, or as many as have lately come to something.

An adaptive size grows by one after a group that was kept whole, and is halved after one that was cut: by a rejected draft, or by a row that
was not trusted. Slow growth and fast retreat, since a row too many costs little once and much if it is asked for again and again.
"""

from __future__ import annotations


class GroupSize:
    """The size of the next group of one text.

    Parameters
    ----------
    first : int
        With which it begins.
    largest : int
        Up to which it grows; equal to `first` and not `adaptive`: it never changes.
    adaptive : bool
    """

    def __init__(self, first: int, largest: int, adaptive: bool):
        self.now = first
        self._largest = largest
        self._adaptive = adaptive

    def learn(self, whole: bool) -> None:
        """Take note of a group.

        Parameters
        ----------
        whole : bool
            All of it was kept: the next one may be longer by one. False: it was cut, and the next one is half as long.
        """
        if self._adaptive:
            self.now = min(self.now + 1, self._largest) if whole else max(self.now // 2, 1)
