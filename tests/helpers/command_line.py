"""The command line as a function, in a folder of its own."""

import sys

from holdfast.cli import main


def run(capsys, monkeypatch, *words):
    """Run `holdfast words…`; exit code, output, errors."""
    monkeypatch.setattr(sys, "argv", ["holdfast", *map(str, words)])
    code = 0
    try:
        main()
    except SystemExit as stop:
        code = stop.code or 0
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def table(text="place,n\nKent,3\nEly,0\nYork,1\n", name="in.csv", encoding="utf-8"):
    with open(name, "w", encoding=encoding, newline="") as file:
        file.write(text)
    return name
