# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""EP, CG, MG, FT and IS of the NAS Parallel Benchmarks as small sequential programs in numpy, written from
the same mathematics as the engine's (Bailey et al., RNR-94-007). Each returns what verification compares, in
the engine's order."""

from __future__ import annotations

import numpy as np

MULTIPLIER, MASK = 5**13, (1 << 46) - 1
SEED = 314159265


def random_numbers(seed: int, first: int, count: int) -> np.ndarray:
    """Numbers first + 1 to first + count after the seed, in (0, 1)."""
    states = np.empty(max(1, count), np.uint64)
    states[0] = seed * pow(MULTIPLIER, first + 1, MASK + 1) & MASK
    known = 1
    while known < count:
        more = min(known, count - known)
        jump = np.uint64(pow(MULTIPLIER, known, MASK + 1))
        states[known : known + more] = states[:more] * jump & np.uint64(MASK)
        known += more
    return states[:count].astype(float) * 2.0**-46


def ep(pairs: int) -> list[float]:
    """The sums of x and of y."""
    sums = np.zeros(2)
    together = 1 << 18
    for first in range(0, pairs, together):
        count = min(together, pairs - first)
        x, y = 2 * random_numbers(271828183, 2 * first, 2 * count).reshape(count, 2).T - 1
        t = x * x + y * y
        inside = t <= 1
        factor = np.sqrt(-2 * np.log(t[inside]) / t[inside])
        sums += (x[inside] * factor).sum(), (y[inside] * factor).sum()
    return list(sums)


def cg_matrix(order: int, nonzeros: int, shift: float) -> np.ndarray:
    stream = iter(random_numbers(SEED, 1, 8 * order * (nonzeros + 1)))
    power = 1
    while power < order:
        power *= 2
    matrix = np.zeros((order, order))
    scale, ratio = 1.0, 0.1 ** (1 / order)
    for i in range(order):
        vector: dict[int, float] = {}
        while len(vector) < nonzeros:
            value, place = next(stream), int(power * next(stream))
            if place < order and place not in vector:
                vector[place] = value
        vector[i] = 0.5
        places, values = np.array(list(vector)), np.array(list(vector.values()))
        matrix[np.ix_(places, places)] += scale * np.outer(values, values)
        scale *= ratio
    return matrix + (0.1 - shift) * np.eye(order)


def cg(order: int, nonzeros: int, shift: float, iterations: int) -> list[float]:
    """zeta."""
    matrix = cg_matrix(order, nonzeros, shift)
    x = np.ones(order)
    zeta = 0.0
    for _ in range(iterations):
        z, r, p = np.zeros(order), x.copy(), x.copy()
        rho = r @ r
        for _ in range(25):
            q = matrix @ p
            alpha = rho / (p @ q)
            z += alpha * p
            r -= alpha * q
            before, rho = rho, r @ r
            p = r + rho / before * p
        zeta = shift + 1 / (x @ z)
        x = z / np.linalg.norm(z)
    return [zeta]


def stencil(weights: tuple[float, float, float, float], a: np.ndarray) -> np.ndarray:
    """On a periodic grid; the weights of the center, faces, edges and corners."""
    total = np.zeros_like(a)
    for shift in np.ndindex(3, 3, 3):
        weight = weights[sum(each != 1 for each in shift)]
        if weight:
            total += weight * np.roll(a, [each - 1 for each in shift], (0, 1, 2))
    return total


def prolonged(coarse: np.ndarray) -> np.ndarray:
    """Trilinear: point J of the coarse grid is point 2 J + 1 of the fine one."""
    for axis in range(3):
        between = (coarse + np.roll(coarse, 1, axis)) / 2
        shape = list(coarse.shape)
        shape[axis] *= 2
        coarse = np.stack([between, coarse], axis + 1).reshape(shape)
    return coarse


def mg(points: int, iterations: int) -> list[float]:
    """The norm of the residual, with the smoother of the classes S, W and A."""
    poisson = -8 / 3, 0.0, 1 / 6, 1 / 12
    smoother = -3 / 8, 1 / 32, -1 / 64, 0.0
    full_weighting = 1 / 2, 1 / 4, 1 / 8, 1 / 16
    order = np.argsort(random_numbers(SEED, 0, points**3))
    v = np.zeros(points**3)
    v[order[-10:]], v[order[:10]] = 1, -1
    v = v.reshape(points, points, points)
    u = np.zeros_like(v)

    def correction(r: np.ndarray) -> np.ndarray:
        """What a V-cycle adds to u."""
        if len(r) == 2:
            return stencil(smoother, r)
        u = prolonged(correction(stencil(full_weighting, r)[1::2, 1::2, 1::2]))
        return u + stencil(smoother, r - stencil(poisson, u))

    r = v - stencil(poisson, u)
    for _ in range(iterations):
        u += prolonged(correction(stencil(full_weighting, r)[1::2, 1::2, 1::2]))
        u += stencil(smoother, v - stencil(poisson, u))
        r = v - stencil(poisson, u)
    return [float(np.sqrt((r * r).mean()))]


def ft(points: tuple[int, int, int], iterations: int) -> list[float]:
    """The real and the imaginary part of each checksum; points in x, y and z."""
    nx, ny, nz = points
    numbers = random_numbers(SEED, 0, 2 * nx * ny * nz).reshape(nz, ny, nx, 2)
    spectrum = np.fft.fftn(numbers[..., 0] + 1j * numbers[..., 1])
    waves = [np.fft.fftfreq(n, 1 / n) ** 2 for n in (nz, ny, nx)]
    squares = waves[0][:, None, None] + waves[1][:, None] + waves[2]
    j = np.arange(1, 1025)
    found = []
    for _ in range(iterations):
        spectrum *= np.exp(-4e-6 * np.pi**2 * squares)
        checksum = np.fft.ifftn(spectrum)[5 * j % nz, 3 * j % ny, j % nx].sum()
        found += [float(checksum.real), float(checksum.imag)]
    return found


def is_(keys: int, values: int, tests: tuple[int, ...]) -> list[float]:
    """The number of keys out of order, and the ranks of the tested keys in each iteration."""
    numbers = random_numbers(SEED, 0, 4 * keys).reshape(keys, 4)
    r0, r1, r2, r3 = numbers.T
    array = (values / 4 * (r0 + r1 + r2 + r3)).astype(int)
    found = [0.0]
    for iteration in range(1, 11):
        array[iteration], array[iteration + 10] = iteration, values - iteration
        found += [float((array < array[test]).sum()) for test in tests]
    return found
