"""Independent checks in exact rational arithmetic, for small n. Shares no code with src."""

from fractions import Fraction

Matrix = list[list[Fraction]]


def algorithm_1(z: list[Fraction], grow: Fraction, order: list[int]) -> Matrix:
    """Algorithm 1 as the paper prints it, with grow = e^epsilon rational."""
    n = len(z)
    matrix = [[Fraction(0)] * n for _ in range(n)]
    r, c = [Fraction(1)] * n, list(z)
    for j in order:
        while c[j] > 0:
            pattern = [1 if i < j else -1 for i in range(n - 1)]
            for i in range(n - 1):
                if r[i + 1] == r[i] * (1 / grow if pattern[i] == 1 else grow):
                    pattern[i] = -pattern[i]
            s = [Fraction(1)]
            for p in pattern:
                s.append(s[-1] * (grow if p == 1 else 1 / grow))
            limits = [c[j] / sum(a * b for a, b in zip(z, s, strict=True))]
            for i, p in enumerate(pattern):
                if p == 1:
                    limits.append((grow * r[i + 1] - r[i]) / (grow * s[i + 1] - s[i]))
                else:
                    limits.append((r[i] - r[i + 1] / grow) / (s[i] - s[i + 1] / grow))
            q = min(limits)
            c[j] -= q * sum(a * b for a, b in zip(z, s, strict=True))
            for i in range(n):
                matrix[i][j] += q * s[i]
                r[i] -= q * s[i]
    return matrix


def is_in_f(matrix: Matrix, z: list[Fraction], grow: Fraction) -> bool:
    n = len(z)
    rows = all(sum(row) == 1 for row in matrix)
    fixed = all(sum(z[i] * matrix[i][j] for i in range(n)) == z[j] for j in range(n))
    private = all(
        matrix[i][j] <= grow * matrix[i + 1][j] and matrix[i + 1][j] <= grow * matrix[i][j]
        for i in range(n - 1)
        for j in range(n)
    )
    return rows and fixed and private


def is_extreme_in_f(matrix: Matrix, z: list[Fraction], grow: Fraction) -> bool:
    """Whether the binding constraints of F at this matrix have full rank n^2."""
    n = len(z)
    binding = []
    for i in range(n):
        binding.append({i * n + j: Fraction(1) for j in range(n)})
        binding.append({k * n + i: z[k] for k in range(n) if z[k]})
    for i in range(n - 1):
        for j in range(n):
            low, high = i * n + j, (i + 1) * n + j
            if matrix[i][j] == grow * matrix[i + 1][j]:
                binding.append({low: Fraction(1), high: -grow})
            if matrix[i + 1][j] == grow * matrix[i][j]:
                binding.append({high: Fraction(1), low: -grow})
    return _rank(binding) == n * n


def _rank(rows: list[dict[int, Fraction]]) -> int:
    pivots: dict[int, dict[int, Fraction]] = {}
    for row in rows:
        row = dict(row)
        while row:
            lead = min(row)
            if lead not in pivots:
                pivots[lead] = {k: v / row[lead] for k, v in row.items()}
                break
            factor = row[lead]
            for k, v in pivots[lead].items():
                value = row.get(k, Fraction(0)) - factor * v
                if value:
                    row[k] = value
                else:
                    row.pop(k, None)
    return len(pivots)
