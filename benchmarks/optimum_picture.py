"""The picture of docs/optimum.md: the curves of an optimum, and a row of it.

`python benchmarks/optimum_picture.py docs` draws it.
"""

import sys
from pathlib import Path

import numpy as np

from holdfast.arrays import Floats
from holdfast.former.constructors import Optimal
from holdfast.former.constructors.baselines import TruncatedGeometric
from holdfast.former.release.pictures import distribution_picture

NAME = "optimum-curves.svg"
COUNTS, EPSILON, ROW = 21, "0.5", 14
WIDTH, HEIGHT, LEFT, TOP = 430, 284, 58, 58
BESIDE, SCALE = LEFT + WIDTH + 20, 1.2
PLAIN, MARKED = "#8fa9cc", "#c2410c"


def hump(n: int) -> Floats:
    """A distribution with its peak near a third of the range, as the benchmarks use it."""
    z = np.exp(-0.5 * ((np.log(1 + np.arange(n)) - np.log(n / 3)) / 0.7) ** 2) + 1e-4
    return np.asarray(z / z.sum())


def picture() -> str:
    """S_b(i) against i for every b, and the gaps between the curves at one row as bars.

    >>> picture().count("<polyline") == COUNTS - 1
    True
    """
    z = hump(COUNTS)
    mechanism = Optimal()(z, epsilon=EPSILON).mechanism
    matrix, curves = mechanism.matrix, mechanism.curves
    assert curves is not None
    geometric = TruncatedGeometric()(z, epsilon=EPSILON).matrix
    row = distribution_picture(
        [("the line is a truncated geometric's row", matrix[ROW])],
        title=f"Row {ROW} of T: the gaps on the dashed line",
        outline=geometric[ROW],
    )
    width, height = BESIDE + round(366 * SCALE), TOP + HEIGHT + 54
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="14">',
            f'<rect width="{width}" height="{height}" fill="white"/>',
            f'<g transform="translate({LEFT},{TOP})">',
            *_curves(np.cumsum(matrix, axis=1), curves.turns.tolist()),
            "</g>",
            _placed(row),
            "</svg>\n",
        ]
    )


def _placed(svg: str) -> str:
    """Another picture inside this one, a little larger than it is."""
    size = f'x="{BESIDE}" y="10" width="{366 * SCALE:g}" height="{282 * SCALE:g}"'
    return svg.replace('width="366" height="282"', size, 1)


def _curves(below: Floats, turns: list[int]) -> list[str]:
    dashed = f'M{_x(ROW)} 0V{HEIGHT}" stroke="black" stroke-dasharray="4 4'
    parts = [
        f'<text x="{WIDTH / 2:g}" y="-34" text-anchor="middle" font-weight="bold">'
        f"S_b(i), the chance of an output up to b for a true count i</text>",
        f'<text x="{WIDTH / 2:g}" y="-13" text-anchor="middle">'
        f"one curve for every b = 0 … {COUNTS - 2}, S_{ROW} in red; a dot is a turn</text>",
        *(_curve(below[:, b], turns[b], b) for b in range(COUNTS - 1) if b != ROW),
        _curve(below[:, ROW], turns[ROW], ROW),
        f'<path d="{dashed}"/>',
        f'<path d="M0 0V{HEIGHT}H{WIDTH}" fill="none" stroke="black"/>',
        f'<text x="{WIDTH / 2:g}" y="{HEIGHT + 40}" text-anchor="middle">true count i</text>',
    ]
    for i in range(0, COUNTS, 4):
        parts.append(f'<text x="{_x(i)}" y="{HEIGHT + 18}" text-anchor="middle">{i}</text>')
    for share in (0, 0.5, 1):
        parts.append(f'<text x="-8" y="{_y(share) + 5:.1f}" text-anchor="end">{share:g}</text>')
    return parts


def _curve(curve: Floats, turn: int, b: int) -> str:
    colour, wide = (MARKED, 2.5) if b == ROW else (PLAIN, 1.2)
    points = " ".join(f"{_x(i)},{_y(s):.1f}" for i, s in enumerate(curve))
    line = f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{wide}"/>'
    dot = f'<circle cx="{_x(turn)}" cy="{_y(curve[turn]):.1f}" r="{1 + wide:g}" fill="{colour}"/>'
    return line + dot


def _x(i: int) -> float:
    return round((i + 0.5) * WIDTH / COUNTS, 1)


def _y(share: float) -> float:
    return float(HEIGHT * (1 - share))


def main(folder: str) -> None:
    """Write the picture of docs/optimum.md into a folder."""
    (Path(folder) / NAME).write_text(picture(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
