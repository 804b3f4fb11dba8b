"""Mechanisms of diffprivlib, audited by holdfast: a mechanism is any function of a table.

    pip install diffprivlib "scikit-learn<1.6"
    python benchmarks/audit_diffprivlib.py

diffprivlib is no dependency of holdfast. Its 0.6.6 cannot be imported beside scikit-learn 1.9.
"""

import holdfast.former as holdfast

DRAWS = 20_000


def main() -> None:
    from diffprivlib.mechanisms import Geometric, Laplace

    print("| mechanism of diffprivlib | claim | draws per table | epsilon at least | verdict |")
    print("|---|---|---|---|---|")
    for name, mechanism in (
        ("Geometric(epsilon=1, sensitivity=1)", Geometric(epsilon=1, sensitivity=1)),
        ("Laplace(epsilon=1, sensitivity=1)", Laplace(epsilon=1, sensitivity=1)),
        ("Geometric(epsilon=2, sensitivity=1)", Geometric(epsilon=2, sensitivity=1)),
    ):
        found = holdfast.audit(mechanism.randomise, 5, 6, epsilon=1, draws=DRAWS)
        verdict = "violation" if found.violation else "not refuted"
        print(f"| {name} | 1 | {DRAWS:,} | {found.lower_bound:.2f} | {verdict} |")


if __name__ == "__main__":
    main()
