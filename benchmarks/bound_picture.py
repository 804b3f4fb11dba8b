"""The picture of docs/long-ranges.md: what a generous max_count costs stage 1.

`python benchmarks/bound_picture.py docs [runs]` prints the mean W1 of z for one table of 3,000
counts up to 50 under a max_count of 50 to 50,000, and draws it.
"""

import sys
from pathlib import Path

import numpy as np

from holdfast.former.privatizers import CumulativeIsotonic, CumulativeSmooth, LongRange
from holdfast.former.privacy.metrics import wasserstein

NAME = "generous-bound.svg"
TOPS, EPSILONS = (50, 500, 5000, 50_000), ("0.05", "0.5")
WIDTH, HEIGHT, LEFT, TOP = 470, 270, 76, 56
LOW, HIGH = 0.01, 3.0
DEFAULT, ISOTONIC = "the default", "isotonic regression"
COLOURS = {DEFAULT: "#0072B2", ISOTONIC: "#D55E00"}


def distances(runs: int) -> dict[tuple[str, str], list[float]]:
    """The mean W1 of z by stage 1 and its epsilon, for each max_count."""
    counts = np.minimum(np.random.default_rng(3).negative_binomial(0.6, 0.13, 3000), 50)
    found: dict[tuple[str, str], list[float]] = {}
    for top in TOPS:
        histogram = np.bincount(counts, minlength=top + 1)
        usual = CumulativeSmooth() if top <= 1000 else LongRange()
        for name, way in ((DEFAULT, usual), (ISOTONIC, CumulativeIsotonic())):
            for epsilon in EPSILONS:
                made = (way(histogram, epsilon=epsilon, rng=seed) for seed in range(runs))
                far = [wasserstein(z, histogram / len(counts)) for z in made]
                found.setdefault((name, epsilon), []).append(float(np.mean(far)))
                print(f"{top:>7} {name:20} epsilon {epsilon:5} {np.mean(far):.4f} "
                      f"+- {np.std(far) / runs**0.5:.4f}", flush=True)  # fmt: skip
    return found


def picture(found: dict[tuple[str, str], list[float]]) -> str:
    """W1 against max_count, both by their logarithms.

    >>> picture({(DEFAULT, "0.5"): [0.02, 0.02, 0.02, 0.02]}).count("<polyline")
    1
    """
    width, height = LEFT + WIDTH + 224, TOP + HEIGHT + 54
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="14">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<g transform="translate({LEFT},{TOP})">',
        '<text x="0" y="-28" font-weight="bold">One table, counts up to 50, by max_count: '
        "how far z is from the truth</text>",
        f'<path d="M0 0V{HEIGHT}H{WIDTH}" fill="none" stroke="black"/>',
    ]
    for top in TOPS:
        lines.append(_text(_x(top), HEIGHT + 20, "middle", f"{top:,}"))
    for share in (0.01, 0.1, 1):
        lines.append(_text(-8, _y(share) + 5, "end", f"{share:g}"))
        lines.append(f'<path d="M0 {_y(share):.1f}H{WIDTH}" stroke="#ddd"/>')
    lines += [_text(WIDTH / 2, HEIGHT + 42, "middle", "max_count"), _text(-60, -8, "start", "W1")]
    for (name, epsilon), values in found.items():
        lines += _line(name, epsilon, values)
    return "\n".join([*lines, "</g>", "</svg>\n"])


def _line(name: str, epsilon: str, values: list[float]) -> list[str]:
    colour, dash = COLOURS[name], "" if epsilon == "0.5" else ' stroke-dasharray="6 4"'
    points = " ".join(f"{_x(t):.1f},{_y(w):.1f}" for t, w in zip(TOPS, values, strict=True))
    said = _text(_x(TOPS[-1]) + 10, _y(values[-1]) + 5, "start", f"{name}, ε1 = {epsilon}", colour)
    line = f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>'
    return [line, said]


def _text(x: float, y: float, anchor: str, words: str, colour: str = "black") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{words}</text>'


def _x(top: int) -> float:
    first, last = np.log([TOPS[0], TOPS[-1]])
    return float(14 + (WIDTH - 28) * (np.log(top) - first) / (last - first))


def _y(distance: float) -> float:
    return float(HEIGHT * (np.log(HIGH) - np.log(distance)) / (np.log(HIGH) - np.log(LOW)))


def main(folder: str, runs: str = "20") -> None:
    """Write the picture of docs/long-ranges.md into a folder."""
    (Path(folder) / NAME).write_text(picture(distances(int(runs))), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
