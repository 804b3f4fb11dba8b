"""From a release to an answer."""

import csv
import io
import re
import shutil
import zipfile

import holdfast
from page_visitor import problem_of, words_of


def test_a_release_shows_its_verdict_its_picture_and_its_answers(reader, opened):
    page = reader.get(opened)
    said = words_of(page.text)
    assert "was recomputed and holds" in said and "<svg" in page.text
    assert "What was promised" in said and "one person in all 2" in said
    assert "By group" in said


def test_the_answers_are_those_of_answers_csv(reader, opened, bundle):
    said = words_of(reader.get(opened).text)
    with (bundle / "answers.csv").open(encoding="utf-8-sig") as file:
        lines = [line for line in csv.DictReader(file) if line["group"] == "all rows"]
    assert lines
    for line in lines:
        if not line["question"].startswith("share"):
            assert f"{line['question']} {line['answer']}" in said, line


def test_a_question_is_answered_in_words_with_an_interval(reader, opened, bundle):
    page = reader.get(f"{opened}/ask?question=share+zero")
    answer = str(holdfast.load(bundle).ask("share zero")).splitlines()[0]
    assert answer in words_of(page.text) and "90% interval" in answer


def test_a_question_by_groups_has_a_line_for_each(reader, opened, bundle):
    page = words_of(reader.get(f"{opened}/ask?question=mean&by=state").text)
    for name, answer in holdfast.load(bundle).ask("mean", by="state").items():
        assert f"{name} {answer.in_words(answer.estimate)} {answer.ends_words}" in page


def test_the_top_ten_one_row_and_a_comparison(reader, opened):
    page = words_of(reader.get(f"{opened}/ask?question=top+10").text)
    assert "row released expected 90% interval among the 10 highest highest" in page
    assert "90% interval" in words_of(reader.get(f"{opened}/ask?question=row+C003").text)
    page = words_of(reader.get(f"{opened}/ask?question=compare+C003+with+C007").text)
    assert "C003 has more than C007 with probability" in page


def test_a_condition_chooses_rows(reader, opened, bundle):
    page = reader.get(f"{opened}/ask", params={"question": "mean", "where": "state == NE"})
    answer = str(holdfast.load(bundle).ask("mean", where="state == NE")).splitlines()[0]
    assert answer in words_of(page.text)


def test_a_question_that_cannot_be_answered_keeps_what_was_typed(reader, opened):
    page = reader.get(f"{opened}/ask?question=colour&where=x+%3D%3D+1")
    assert problem_of(page) and 'value="colour"' in page.text and 'value="x == 1"' in page.text


def test_the_recipe_of_a_question_is_shown(reader, opened):
    page = words_of(reader.get(f"{opened}/ask?question=share+zero&by=state").text)
    assert "holdfast ask first 'share zero' --by state" in page
    assert "release.ask('share zero', by='state')" in page


def test_the_folder_can_be_taken_away_as_a_zip_file(reader, opened, bundle):
    packed = zipfile.ZipFile(io.BytesIO(reader.get(f"{opened}/zip").content))
    assert packed.read("first/release.json") == (bundle / "release.json").read_bytes()
    assert packed.testzip() is None and "first/README.md" in packed.namelist()


def test_the_folder_of_the_files_is_named(reader, opened):
    assert "All of it is in the folder first:" in words_of(reader.get(opened).text)


def test_a_damaged_release_says_so_and_shows_nothing_else(visitor, folder, bundle):
    shutil.copytree(bundle, folder / "bad")
    table = folder / "bad" / "table.csv"
    table.write_text(table.read_text().replace("C001", "C999"))
    page = visitor.post("/releases", {"path": "bad"})
    assert "damaged" in page.text and "<svg" not in page.text
    assert visitor.get(f"{page.url.path}/ask?question=mean").status_code == 400


def test_hundreds_of_groups_are_shown(visitor, folder):
    lines = [f"C{i},G{i % 200:03d},{i * i * 31 % 9}" for i in range(800)]
    (folder / "many.csv").write_text("county,district,deaths\n" + "\n".join(lines) + "\n")
    names = {"count": "deaths", "category": "county", "keep": "district", "within": "district"}
    holdfast.privatize(folder / "many.csv", epsilon=2, seed=1, out=folder / "many", **names)
    page = visitor.post("/releases", {"path": "many"}).text
    assert len(re.findall(r'<th scope="row">G\d{3}</th>', page)) == 200


def test_two_columns_of_counts_are_asked_by_name(visitor, folder):
    lines = [f"C{i},{i * 7 % 5},{i * i * 31 % 9}" for i in range(100)]
    (folder / "two.csv").write_text("county,a,b\n" + "\n".join(lines) + "\n")
    anyway = {"publish_anyway": "row order"}
    count = {"count": ["a", "b"], "category": "county"}
    holdfast.privatize(folder / "two.csv", epsilon=2, seed=1, out=folder / "two", **count, **anyway)
    at = visitor.post("/releases", {"path": "two"}).url.path
    assert {"What it says of a", "What it says of b"} <= set(
        re.findall("What it says of .", visitor.get(at).text)
    )
    assert problem_of(visitor.get(f"{at}/ask?question=mean"))
    assert "90% interval" in visitor.get(f"{at}/ask?question=mean&of=a").text
    assert not problem_of(visitor.get(f"{at}/ask?question=correlation+of+a+and+b"))


def test_the_command_of_a_folder_with_a_space_can_be_typed(visitor, folder, bundle):
    shutil.copytree(bundle, folder / "page clinics")
    page = visitor.post("/releases", {"path": "page clinics"})
    assert "holdfast report 'page clinics' writes" in words_of(page.text)


def test_an_address_of_no_release_is_no_page(reader):
    for name in ("abc", "7a"):
        assert reader.get(f"/releases/{name}").status_code in (400, 404)
