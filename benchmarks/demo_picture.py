"""The picture of README.md: the demo's true table, holdfast's release of it, and the usual noise.

    python benchmarks/demo_picture.py docs/demo.svg

NOT PRIVATE: the table is public.
"""

import sys
from pathlib import Path

from holdfast.cli.bars import shares_in
from holdfast.cli.demo import EPSILON, Columns, compared, demo_table
from holdfast.release.picture import SHARES, bins, element, labels, moved, picture, words

SEED = 1996
COLOURS = ("#1d3f70", "#c2410c")
WIDE, TALL, LEFT, ABOVE = 640, 260, 60, 70


def draw(columns: Columns) -> str:
    """The true distribution as an outline, and what was released as bars in it."""
    (_, truth), *others = columns
    starts = bins(truth)
    true, *methods = (shares_in(histogram, starts) for _, histogram in columns)
    highest = max(float(shares.max()) for shares in (true, *methods))
    place = WIDE / len(starts)
    outline = [f"M0 {TALL}"]
    parts = []
    for bar, label in enumerate(labels(starts)):
        for k, shares in enumerate(methods):
            height = float(shares[bar]) / highest * TALL
            where = {"x": f"{(bar + 0.15 + 0.35 * k) * place:.1f}", "y": f"{TALL - height:.1f}"}
            size = {"width": f"{0.35 * place:.1f}", "height": f"{height:.1f}"}
            parts.append(element("rect", **where, **size, fill=COLOURS[k]))
        outline.append(f"V{TALL * (1 - float(true[bar]) / highest):.1f}H{(bar + 1) * place:.1f}")
        parts.append(words(label, (bar + 0.5) * place, TALL + 16))
    parts.append(element("path", d="".join(outline), fill="none", stroke="black"))
    parts.append(element("path", d=f"M0 0V{TALL}H{WIDE}", fill="none", stroke="black"))
    step = next(step for step in SHARES if highest / step <= 5)
    for k in range(int(highest / step) + 1):
        parts.append(words(f"{k * step:.0%}", -6, TALL * (1 - k * step / highest) + 4, "end"))
    parts.append(words("homicides in a county", WIDE / 2, TALL + 40))
    for k, (name, _) in enumerate(others):
        parts.append(words(name, WIDE - 20, 20 + 18 * k, "end", fill=COLOURS[k]))
    parts.append(words("outline: the truth (NOT PRIVATE)", WIDE - 20, 20 + 18 * len(others), "end"))
    title = f"Homicides per US county in 1996, epsilon = {EPSILON}"
    head = words(title, (WIDE + LEFT) / 2, 30, font_size=16, font_weight="bold")
    return picture(title, WIDE + LEFT + 20, TALL + ABOVE + 50, [head, moved(LEFT, ABOVE, parts)])


if __name__ == "__main__":
    with demo_table() as source:
        Path(sys.argv[1]).write_text(draw(compared(source, SEED)[2]))
