"""A question has one number, wherever it is read: forty questions, ten releases, every place."""

import csv
import io
import json
import shutil
import subprocess
from types import SimpleNamespace

import numpy as np
import pytest

import holdfast
from command_line import run
from holdfast.answers.report import written
from page_visitor import visit, words_of

COMMON = {
    "share with 0": "share zero",
    "share with 1 or more": "share at least 1",
    "share with 2 or more": "share >= 2",
    "share with 5 or more": "share at least 5",
    "share with 10 or more": "share 10 or more",
    "mean": "mean",
    "total": "total",
    "quantile 0.1": "quantile 0.1",
    "quantile 0.25": "quantiles 0.25",
    "median": "median",
    "quantile 0.75": "p75",
    "quantile 0.9": "quantile 0.9",
    "quantile 0.95": "percentile 95",
    "highest": "maximum",
}
"""What answers.csv calls questions, and what people type; of all rows and of two groups 42."""
OTHERS = (
    "share 3", "share between 2 and 5", "share at most 1", "rows zero", "rows at least 5",
    "standard deviation", "variance", "gini", "mean where size > 50", "total where size > 50",
    "share zero where size > 50", "median where size > 50", "row p7", "mean of p7",
)  # fmt: skip
"""Questions that only those answer who can be asked."""
SIZE = 140
RELEASES = {
    "plain": {},
    "little": {"epsilon": "0.1"},
    "much": {"epsilon": 5},
    "grouped": {"within": "state"},
    "columns": {"count": ["deaths", "births"]},
    "missing": {"missing": [-999]},
    "zeros": {"structural_zero": "known"},
    "several": {"contributions": 3, "within": "state"},
    "top": {"top": 6},
    "semicolons": {"delimiter": ";", "within": "state"},
}


@pytest.fixture(scope="module", params=RELEASES)
def place(request, tmp_path_factory):
    """A release, its folder, and what `ask` answers to the common questions."""
    options = {"epsilon": 1} | RELEASES[request.param]
    folder = tmp_path_factory.mktemp(request.param)
    delimiter = options.pop("delimiter", ",")
    generator = np.random.default_rng(len(request.param))
    count = options.pop("count", "deaths")
    deaths = generator.poisson(generator.gamma(0.8, 5, SIZE))
    deaths[3::20] = 0  # publicly known, where the release says so
    if "missing" in options:
        deaths[5::25] = -999
    lines = [["place", "state", "size", "known", "deaths", "births"]]
    for row in range(SIZE):
        state = "alone" if row == 1 else "N|E" if row % 3 else "K S"
        cells = [state, generator.integers(100), row % 20 == 3, deaths[row]]
        lines.append([f"p{row}", *(str(cell).lower() for cell in cells[1:]), str(row % 7)])
        lines[-1].insert(1, cells[0])
    with (folder / "in.csv").open("w", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows(lines)
    holdfast.privatize(
        folder / "in.csv", count=count, category="place", keep=["state", "size", "known"],
        out=folder / "out", publish_anyway=["row order"], **options,
    )  # fmt: skip
    release = holdfast.load(folder / "out")
    groups = release.group_names if len(release.group_names) > 1 else ()
    asked = {
        (column.name, group, name): release.ask(
            typed,
            of=column.name,
            **({} if group == "all rows" else {"where": f"state == '{group}'"}),
        )
        for column in release.columns
        for group in ("all rows", *groups)
        for name, typed in COMMON.items()
    }
    return SimpleNamespace(
        folder=folder / "out", release=release, asked=asked, delimiter=delimiter, groups=groups
    )


def said(answer):
    return answer.in_words(answer.estimate), answer.ends_words


def in_answers_csv(place):
    text = (place.folder / "answers.csv").read_text(encoding="utf-8-sig")
    lines = csv.DictReader(io.StringIO(text), delimiter=place.delimiter)
    return {(a["column"], a["group"], a["question"]): a for a in lines}


def test_answers_csv_has_what_ask_answers(place):
    found = in_answers_csv(place)
    both = place.asked.keys() & found.keys()
    assert len(both) >= 11 * len(place.release.columns) * max(len(place.groups), 1)
    for key in both:
        answer, line = place.asked[key], found[key]
        for number, cell in zip(
            (answer.estimate, *answer.interval), ("answer", "low", "high"), strict=True
        ):
            digits = len(line[cell].partition(".")[2])
            assert float(line[cell]) == pytest.approx(number, abs=0.5001 * 10**-digits), key


def test_a_program_a_report_and_a_workbook_have_it(place):
    content = json.loads(written(place.release, "json"))
    page = words_of(written(place.release, "html"))
    text = written(place.release, "md").replace("\\", "")
    book = workbook(written(place.release, "xlsx"))
    seen = 0
    for column in content["columns"]:
        parts = {"all rows": column["answers"]} | {
            g["name"]: g["answers"] for g in column["groups"]
        }
        assert set(parts) == {"all rows", *place.groups}
        for group, answers in parts.items():
            for one in answers:
                answer = place.asked.get((column["name"], group, one["question"]))
                if answer is None:
                    continue
                seen += 1
                assert (one["estimate"], *one["interval"]) == pytest.approx(
                    (answer.estimate, *answer.interval)
                )
                assert (one["words"], one["interval_words"]) == said(answer)
                line = " ".join(said(answer))
                assert line in page and line.replace(" ", " | ", 1) in text
                cells = book[column["name"], group, one["question"]]
                low, high = answer.interval
                digits = (high - low) / 40 + 1e-6  # that a width of so much leaves
                assert cells == pytest.approx((answer.estimate, low, high), abs=digits, rel=0)
    assert seen >= 11 * len(content["columns"]) + 3 * len(place.groups)


def workbook(data):
    """Answers and ends of the sheets Answers and Groups."""
    calamine = pytest.importorskip("python_calamine")
    book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
    found = {}
    for name, question, *cells in book.get_sheet_by_name("Answers").to_python()[1:]:
        found[name, "all rows", question] = cells
    if "Groups" in book.sheet_names:
        header, *lines = book.get_sheet_by_name("Groups").to_python()
        for line in lines:
            for at in range(3, len(header), 3):
                found[line[0], line[1], header[at]] = line[at : at + 3]
    return found


def test_the_readme_has_it(place):
    text = (place.folder / "README.md").read_text(encoding="utf-8").replace("\\|", "|")
    lines = in_answers_csv(place)
    for name in ("share with 0", "mean", "total", "median", "highest"):
        for column in place.release.columns:
            cells = [
                lines[column.name, "all rows", name][cell] for cell in ("answer", "low", "high")
            ]
            if name.startswith("share"):
                cells = [
                    f"{100 * float(x):.{max(len(x.partition('.')[2]) - 2, 0)}f} %" for x in cells
                ]
            assert f"| {name} | {cells[0]} | {cells[1]} to {cells[2]} |" in text
    for group in place.groups:
        cells = [lines["deaths", group, "total"][cell] for cell in ("answer", "low", "high")]
        assert f"{cells[0]} ({cells[1]} to {cells[2]})" in text


def test_counting_in_the_table_gives_it(place):
    if place.release.top_code is not None:
        return  # the table shows the top as one
    for column in place.release.columns:
        known = column.counts[~column.missing]
        numbers = {"share with 0": (known == 0).mean(), "mean": known.mean(), "total": known.sum(),
                   "highest": known.max(), "share with 5 or more": (known >= 5).mean()}  # fmt: skip
        for name, number in numbers.items():
            assert place.asked[column.name, "all rows", name].estimate == pytest.approx(number)


def test_the_command_line_says_it(place, capsys, monkeypatch):
    name = place.release.columns[0].name
    number = list(RELEASES).index(place.folder.parent.name[:-1])
    for typed in (*COMMON.values(), *OTHERS)[number :: len(RELEASES)]:  # over all releases, all
        answer = place.release.ask(typed, of=name)
        words = ("ask", place.folder, typed, "--of", name)
        code, printed, _ = run(capsys, monkeypatch, *words)
        assert code == 0 and printed.strip() == str(answer)
        code, printed, _ = run(capsys, monkeypatch, *words, "--json")
        assert json.loads(printed)["estimate"] == answer.estimate


def test_the_page_says_it(place, tmp_path, monkeypatch):
    (tmp_path / "private").mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "private"))
    with visit(place.folder.parent) as visitor:
        shown = visitor.post("/releases", {"path": "out"})
        overview, address = words_of(shown.text), shown.url.path
        for (_, group, name), answer in place.asked.items():
            if name in ("share with 0", "mean", "total"):
                assert " ".join(said(answer)) in overview, (group, name)
        for column in place.release.columns:
            for typed in (*COMMON.values(), *OTHERS):
                answer = place.release.ask(typed, of=column.name)
                asked = {"question": typed, "of": column.name}
                found = words_of(visitor.get(f"{address}/ask", params=asked).text)
                assert " ".join(str(answer).splitlines()[0].split()) in found


def test_r_counts_it(place):
    """By the lines that docs/r.md prints."""
    if shutil.which("Rscript") is None:
        pytest.skip("R is not installed")
    if place.release.top_code is not None:
        return
    count = place.release.columns[0].name
    separator = "" if place.delimiter == "," else f', sep = "{place.delimiter}"'
    code = f"""
table <- read.csv("table.csv", colClasses = c(place = "character"){separator})
answers <- read.csv("answers.csv"{separator})
x <- na.omit(table${count})
print_line <- function(name, number) cat(name, format(number, digits = 12), sep = "\\t", "\\n")
print_line("share with 0", mean(x == 0))
for (k in c(1, 2, 5, 10)) print_line(paste("share with", k, "or more"), mean(x >= k))
print_line("mean", mean(x)); print_line("total", sum(x)); print_line("highest", max(x))
for (q in c(0.1, 0.25, 0.75, 0.9, 0.95)) print_line(paste("quantile", q), quantile(x, q, type = 1))
print_line("median", quantile(x, 0.5, type = 1))
of_all <- answers[answers$column == "{count}" & answers$group == "all rows", ]
for (k in seq_len(nrow(of_all))) print_line(of_all$question[k], of_all$answer[k])
"""
    made = subprocess.run(
        ["Rscript", "-e", code], cwd=place.folder, capture_output=True, text=True, check=True
    )
    lines = [line.split("\t")[:2] for line in made.stdout.splitlines() if "\t" in line]
    seen = 0
    for name, number in lines:
        answer = place.asked.get((count, "all rows", name))
        if answer is not None:
            seen += 1
            last = 0.5001 * 10.0 ** -len(number.partition(".")[2])  # of the digits that are known
            rounded = 0.02 if float(number) >= 100 else 1e-9
            assert float(number) == pytest.approx(answer.estimate, rel=rounded, abs=last), name
    assert seen >= 25
