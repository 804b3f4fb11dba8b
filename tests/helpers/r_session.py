"""One R for all that is tried in it: it takes longer to start than to answer."""

import atexit
import os
import subprocess
from functools import cache
from pathlib import Path

READER = Path(__file__).parents[2] / "r" / "holdfast.R"
LOOP = """
source(commandArgs(TRUE)[1], encoding = "UTF-8")
asked <- file("stdin", open = "r")
while (length(folder <- readLines(asked, 1)) == 1) {
  setwd(folder)
  sink("printed.txt")
  failed <- tryCatch({
    source("run.R", local = new.env(), print.eval = TRUE, encoding = "UTF-8")
    ""
  }, error = conditionMessage)
  sink()
  writeLines(failed, "failed.txt")
  cat("done\\n")
  flush(stdout())
}
"""


@cache
def session():
    """The R that is running, with the reader loaded."""
    words = ["Rscript", "--vanilla", "-e", LOOP, READER]
    started = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True, encoding="utf-8", env=os.environ | {"LC_ALL": "C.UTF-8"},
    )  # fmt: skip
    atexit.register(lambda: (started.stdin.close(), started.stdout.close(), started.wait()))
    return started


def r(code, folder):
    """What R prints in this folder, and what went wrong there."""
    (folder / "run.R").write_text(code, encoding="utf-8")
    running = session()
    print(folder, file=running.stdin, flush=True)
    assert running.stdout.readline() == "done\n"
    said = (folder / "printed.txt").read_text(encoding="utf-8")
    return said, (folder / "failed.txt").read_text(encoding="utf-8").strip()
