# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The NAS Parallel Benchmarks as small sequential programs in numpy, written from the same mathematics as the
engine's (Bailey et al., RNR-94-007). Each returns what verification compares, in the engine's order.

Arrays of the flow in LU, BT and SP have the shape (5, N, N, N): density, momentum and energy, at z, y and x.
Direction d is 0 for x, 1 for y and 2 for z.
"""

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
    """Applies a stencil on a periodic grid; the weights are those for the center, faces, edges and
    corners."""
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
        """The correction that a V-cycle adds to u."""
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


C1, C2, C3, C4, C5 = 1.4, 0.4, 0.1, 1.0, 1.4
DISSIPATION = 0.25
VISCOSITY = 0.75, 0.75, 1.0
EXACT = (
    (2, 0, 0, 4, 5, 3, 0.5, 0.02, 0.01, 0.03, 0.5, 0.4, 0.3),
    (1, 0, 0, 0, 1, 2, 3, 0.01, 0.03, 0.02, 0.4, 0.3, 0.5),
    (2, 2, 0, 0, 0, 2, 3, 0.04, 0.03, 0.05, 0.3, 0.5, 0.4),
    (2, 2, 0, 0, 0, 2, 3, 0.03, 0.05, 0.04, 0.2, 0.1, 0.3),
    (5, 4, 3, 2, 0.1, 0.4, 0.3, 0.05, 0.04, 0.03, 0.1, 0.3, 0.2),
)
"""Coefficients of 1, x, y, z, x^2, y^2, ..., z^4 in each component of the exact solution."""


def fourth_difference(n: int) -> np.ndarray:
    """Dissipation at the points of a line; changed near its ends."""
    matrix = np.zeros((n, n))
    for i in range(1, n - 1):
        for distance, weight in zip(range(-2, 3), (1, -4, 6, -4, 1), strict=True):
            if 1 <= i + distance <= n - 2:
                matrix[i, i + distance] = weight
    matrix[1, 1] = matrix[n - 2, n - 2] = 5
    return matrix


def along(matrix: np.ndarray, a: np.ndarray, d: int) -> np.ndarray:
    """The matrix applied to each line of direction d."""
    axis = a.ndim - 1 - d
    return np.moveaxis(np.tensordot(matrix, a, (1, axis)), 0, axis)


class Flow:
    """The state U of the flow and the residual R(U)."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.t1, self.t2 = (n - 1.0) ** 2, (n - 1) / 2
        self.inner = (slice(None), *[slice(1, n - 1)] * 3)
        ones = np.ones(n - 1)
        self.first = np.diag(ones, 1) - np.diag(ones, -1)
        self.second = np.diag(ones, 1) + np.diag(ones, -1) - 2 * np.eye(n)
        self.fourth = fourth_difference(n)
        z, y, x = np.meshgrid(*[np.arange(n) / (n - 1)] * 3, indexing="ij")
        self.exact = self.solution(x, y, z)
        self.forcing = self.operator(self.exact)
        self.u = self.initial(x, y, z)

    @staticmethod
    def solution(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        terms = [np.ones_like(x), *[each**power for power in range(1, 5) for each in (x, y, z)]]
        return np.tensordot(np.array(EXACT), np.array(terms), 1)

    def initial(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """The exact solution on the boundary, blended inside."""
        o, i = np.zeros_like(x), np.ones_like(x)
        px = (1 - x) * self.solution(o, y, z) + x * self.solution(i, y, z)
        py = (1 - y) * self.solution(x, o, z) + y * self.solution(x, i, z)
        pz = (1 - z) * self.solution(x, y, o) + z * self.solution(x, y, i)
        u = self.exact.copy()
        u[self.inner] = (px + py + pz - px * py - py * pz - pz * px + px * py * pz)[self.inner]
        return u

    def operator(self, u: np.ndarray) -> np.ndarray:
        """L(U), 0 on the boundary."""
        velocity, energy = u[1:4] / u[0], u[4]
        q = (u[1:4] ** 2).sum(0) / u[0] / 2
        total = np.zeros_like(u)
        for d in range(3):
            c = velocity[d]
            flux = c * u
            flux[4] = c * (C1 * energy - C2 * q)
            flux[1 + d] += C2 * (energy - q)
            viscous = np.zeros_like(u)
            viscous[1:4] = velocity
            viscous[1 + d] *= 4 / 3
            viscous[4] = (1 - C1 * C5) / 2 * (velocity**2).sum(0) + c * c / 6 + C1 * C5 * energy / u[0]
            total -= self.t2 * along(self.first, flux, d)
            total += self.t1 * along(self.second, C3 * C4 * viscous + VISCOSITY[d] * u, d)
            total -= DISSIPATION * along(self.fourth, u, d)
        result = np.zeros_like(u)
        result[self.inner] = total[self.inner]
        return result

    def residual(self) -> np.ndarray:
        return self.operator(self.u) - self.forcing

    def norms(self, a: np.ndarray) -> list[float]:
        return [float(each) for each in np.sqrt((a[self.inner] ** 2).sum((1, 2, 3)) / (self.n - 2) ** 3)]

    def jacobians(self, d: int) -> tuple[np.ndarray, np.ndarray]:
        """Jacobians of the convective and of the viscous flux at each point, of shape (N, N, N, 5, 5)."""
        rho, v, e = self.u[0], self.u[1:4] / self.u[0], self.u[4] / self.u[0]
        c, kinetic = v[d], (v**2).sum(0) / 2
        normal = 1 + d
        convective, viscous = np.zeros((2, *rho.shape, 5, 5))
        convective[..., 0, normal] = 1
        for m in range(1, 4):
            convective[..., m, 0] = -v[m - 1] * c
            convective[..., m, normal] = v[m - 1]
            convective[..., m, m] += c
            convective[..., normal, m] -= C2 * v[m - 1]
            convective[..., 4, m] = -C2 * v[m - 1] * c
        convective[..., normal, 0] += C2 * kinetic
        convective[..., normal, 4] = C2
        convective[..., 4, 0] = (2 * C2 * kinetic - C1 * e) * c
        convective[..., 4, normal] += C1 * e - C2 * kinetic
        convective[..., 4, 4] = C1 * c
        g = C1 * C3 * C4 * C5
        viscous[..., 4, 0] = -g * e / rho
        viscous[..., 4, 4] = g / rho
        for m in range(1, 4):
            f = C3 * C4 * (4 / 3 if m == normal else 1)
            viscous[..., m, 0] = -f * v[m - 1] / rho
            viscous[..., m, m] = f / rho
            viscous[..., 4, 0] -= (f - g) * v[m - 1] ** 2 / rho
            viscous[..., 4, m] = (f - g) * v[m - 1] / rho
        return convective, viscous

    def blocks(self, d: int, dt: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The blocks that multiply the unknowns before a point, at it and after it, each stored at the
        position of its unknowns; the second without the identity."""
        convective, viscous = self.jacobians(d)
        diffusion = dt * self.t1 * (viscous + VISCOSITY[d] * np.eye(5))
        transport = dt * self.t2 * convective
        return -transport - diffusion, 2 * diffusion, transport - diffusion

    def answers(self) -> list[float]:
        return [*self.norms(self.residual()), *self.norms(self.u - self.exact)]


def times(blocks: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    return np.einsum("...ab,...b->...a", blocks, vectors)


def surface_integral(flow: Flow) -> float:
    u, n = flow.u, flow.n
    pressure = C2 * (u[4] - (u[1:4] ** 2).sum(0) / u[0] / 2)[2 : n - 1, 1 : n - 2, 1 : n - 1]
    total = 0.0
    for axis in range(3):
        for end in (0, -1):
            face = np.take(pressure, end, axis)
            total += (face[1:, 1:] + face[1:, :-1] + face[:-1, 1:] + face[:-1, :-1]).sum()
    return float(total / 4 / (n - 1) ** 2)


def lu(n: int, steps: int, dt: float) -> list[float]:
    omega = 1.2
    flow = Flow(n)
    z, y, x = np.indices((n, n, n)).reshape(3, -1)
    inside = (np.minimum(np.minimum(x, y), z) > 0) & (np.maximum(np.maximum(x, y), z) < n - 1)
    fronts = [np.nonzero(inside & (x + y + z == front))[0] for front in range(3, 3 * n - 5)]
    neighbors = 1, n, n * n  # the distance of the next point in each direction
    for _ in range(steps):
        before, at, after = zip(
            *[[each.reshape(-1, 5, 5) for each in flow.blocks(d, dt)] for d in range(3)], strict=True
        )
        inverse = np.linalg.inv(np.eye(5) + sum(at))
        v = dt * flow.residual().reshape(5, -1).T
        for points in fronts:
            near = sum(times(before[d][points - neighbors[d]], v[points - neighbors[d]]) for d in range(3))
            v[points] = times(inverse[points], v[points] - omega * near)
        for points in reversed(fronts):
            near = sum(times(after[d][points + neighbors[d]], v[points + neighbors[d]]) for d in range(3))
            v[points] -= omega * times(inverse[points], near)
        flow.u += v.T.reshape(flow.u.shape) / (omega * (2 - omega))
    residual, error = flow.norms(flow.residual()), flow.norms(flow.u - flow.exact)
    pairs = [each for pair in zip(residual, error, strict=True) for each in pair]
    return [*pairs, surface_integral(flow)]


def bt(n: int, steps: int, dt: float) -> list[float]:
    flow = Flow(n)
    for _ in range(steps):
        r = np.moveaxis(dt * flow.residual(), 0, -1)
        for d in range(3):
            before, at, after = (np.moveaxis(each, 2 - d, 0) for each in flow.blocks(d, dt))
            lines = np.moveaxis(r, 2 - d, 0)  # (N, N, N, 5), the place along the line first
            eliminated = np.zeros_like(at)
            for i in range(1, n - 1):
                pivot = np.linalg.inv(np.eye(5) + at[i] - before[i - 1] @ eliminated[i - 1])
                eliminated[i] = pivot @ after[i + 1]
                lines[i] = times(pivot, lines[i] - times(before[i - 1], lines[i - 1]))
            for i in range(n - 2, 0, -1):
                lines[i] -= times(eliminated[i], lines[i + 1])
            for face in (r[0], r[-1], r[:, 0], r[:, -1], r[:, :, 0], r[:, :, -1]):
                face[...] = 0
        flow.u += np.moveaxis(r, -1, 0)
    return flow.answers()


def sp_solve(flow: Flow, d: int, dt: float, speed: np.ndarray, r: np.ndarray) -> None:
    """Replaces r, in the characteristic variables of direction d."""
    n = flow.n
    rho, c = flow.u[0], flow.u[1 + d] / flow.u[0]
    nu = VISCOSITY[d] + C3 * C4 * max(4 / 3, C1 * C5) / rho
    for components, wave in (((0, 1, 2), c), ((3,), c + speed), ((4,), c - speed)):
        transport = np.moveaxis(dt * flow.t2 * wave, 2 - d, -1)
        diffusion = np.moveaxis(dt * flow.t1 * nu, 2 - d, -1)
        matrices = np.zeros((n, n, n, n)) + np.eye(n) + dt * DISSIPATION * flow.fourth
        i = np.arange(1, n - 1)
        matrices[..., i, i] += 2 * diffusion[..., i]
        matrices[..., i, i - 1] -= (transport + diffusion)[..., i - 1]
        matrices[..., i, i + 1] += (transport - diffusion)[..., i + 1]
        inner = matrices[1:-1, 1:-1, 1:-1, 1:-1]
        for m in components:
            lines = np.moveaxis(r[m], 2 - d, -1)[1:-1, 1:-1, 1:-1]
            lines[...] = np.linalg.solve(inner, lines[..., None])[..., 0]


def sp(n: int, steps: int, dt: float) -> list[float]:
    flow = Flow(n)
    b = np.sqrt(0.5)
    for _ in range(steps):
        rho, e = flow.u[0], flow.u[4] / flow.u[0]
        u, v, w = flow.u[1:4] / rho
        kinetic = (u * u + v * v + w * w) / 2
        speed = np.sqrt(C1 * C2 * (e - kinetic))
        r = dt * flow.residual()
        one = C2 / speed**2 * (kinetic * r[0] - u * r[1] - v * r[2] - w * r[3] + r[4])
        two = b / rho * (u * r[0] - r[1])
        three = b * speed / rho * one
        r = np.array(
            [r[0] - one, -(w * r[0] - r[3]) / rho, (v * r[0] - r[2]) / rho, three - two, two + three]
        )
        sp_solve(flow, 0, dt, speed, r)
        plus, minus = (r[3] + r[4]) / 2, b * (r[3] - r[4])
        r = np.array([-r[1], r[0], minus, -b * r[2] + plus, b * r[2] + plus])
        sp_solve(flow, 1, dt, speed, r)
        plus, minus = (r[3] + r[4]) / 2, b * (r[3] - r[4])
        r = np.array([minus, -r[2], r[1], -b * r[0] + plus, b * r[0] + plus])
        sp_solve(flow, 2, dt, speed, r)
        s1 = b * rho / speed * (r[3] + r[4])
        s2, s3 = r[2] + s1, b * rho * (r[3] - r[4])
        energy = rho * (v * r[0] - u * r[1]) + kinetic * s2 + 2.5 * speed**2 * s1 + w * s3
        flow.u += np.array([s2, -rho * r[1] + u * s2, rho * r[0] + v * s2, w * s2 + s3, energy])
    return flow.answers()
