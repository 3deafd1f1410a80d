"""Muon: momentum for weight matrices, of which each step takes the orthogonal part.

    momentum  M = U S V'    --->    step  U V'

So a step is as large in directions that gradients rarely point in as in those that they mostly do; with Adam the latter make up nearly all
of it, and the others are learnt last. For a matrix that maps (rows, columns) the step has the spectral norm max(1, rows / columns) ** 0.5
times the rate.

U V' is found without a decomposition, and roughly, which is enough: a polynomial that is odd in M changes its singular values alone, and
four of them in turn, the first of Polar Express [2], bring all between 0.001 and 1 to between 0.44 and 1.56. Matrices of one shape are
stacked, since small ones cost calls, not arithmetic.

Embeddings, norms and biases are no maps in this sense, and need another optimizer.

1. Keller Jordan and others, "Muon: an optimizer for hidden layers in neural networks", 2024.
2. Amsel, Persson, Musco and Gower, "The Polar Express: optimal matrix sign methods and their application to the Muon algorithm", 2025.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

_POLYNOMIALS = (  # a x + b x^3 + c x^5
    (8.28721201814563, -23.595886519098837, 17.300387312530933),
    (4.107059111542203, -2.9478499167379106, 0.5448431082926601),
    (3.9486908534822946, -2.908902115962949, 0.5518191394370137),
    (3.3184196573706015, -2.488488024314874, 0.51004894012372),
)
_ABOVE_NORM = 1.01  # the polynomials are made for singular values up to 1, and rounding must not lead out of that


class Muon(torch.optim.Optimizer):  # type: ignore[misc]  # torch is untyped here
    """An optimizer of matrices.

    Parameters
    ----------
    matrices : iterable of torch.Tensor
        Of two dimensions. One of three times as many rows as columns stands for three square ones: queries, keys and values.
    lr, momentum : float
    """

    def __init__(self, matrices: Iterable[Tensor], lr: float, momentum: float = 0.95):
        super().__init__(matrices, {"lr": lr, "momentum": momentum})

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def step(self) -> None:
        """Change all matrices that have a gradient."""
        for group in self.param_groups:
            by_shape: dict[torch.Size, list[tuple[Tensor, Tensor]]] = {}
            for weights in group["params"]:
                if weights.grad is None:
                    continue
                mean = self.state[weights].setdefault("mean", torch.zeros_like(weights))
                mean.lerp_(weights.grad, 1 - group["momentum"])
                ahead = weights.grad.lerp(mean, group["momentum"])  # Nesterov's
                parts = 3 if weights.shape[0] == 3 * weights.shape[1] else 1
                for part, direction in zip(weights.chunk(parts), ahead.chunk(parts)):
                    by_shape.setdefault(part.shape, []).append((part, direction))
            for (rows, columns), pairs in by_shape.items():
                rate = group["lr"] * max(1.0, rows / columns) ** 0.5
                steps = orthogonal(torch.stack([direction for _, direction in pairs]))
                for (part, _), step in zip(pairs, steps):
                    part.sub_(step, alpha=rate)


def orthogonal(matrices: Tensor) -> Tensor:
    """Of each matrix of a stack the nearest with orthogonal rows, or columns if these are fewer, as far as the polynomials go."""
    x = matrices.mT if matrices.shape[-2] > matrices.shape[-1] else matrices
    x = x / (_ABOVE_NORM * x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for a, b, c in _POLYNOMIALS:
        square = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(square, square, square, beta=b, alpha=c), x, beta=a)
    return x.mT if matrices.shape[-2] > matrices.shape[-1] else x
