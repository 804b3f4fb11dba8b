# Every target sets up what it needs in .venv with plain pip.
PYTHON ?= python3
BIN := .venv/bin
SOURCES := src tests benchmarks

# Spark has both cores to itself; without pyspark or Java it says so, and 5 is "no tests"
define TESTS
$(BIN)/python -m pytest -n auto -m "not spark"
$(BIN)/python -m pytest -rs -m spark tests/engines/test_spark.py || [ $$? -eq 5 ]
endef

.PHONY: demo test check bench picture clean

demo: .venv/.run
	$(BIN)/holdfast demo --picture holdfast-demo.svg

test: .venv/.test
	$(TESTS)

check: .venv/.check
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/mypy
	$(TESTS)

bench: .venv/.test
	PYTHONPATH=tests/helpers $(BIN)/python benchmarks/release_path.py
	PYTHONPATH=tests/helpers $(BIN)/python benchmarks/optimal.py
	$(BIN)/python benchmarks/bundle.py
	PYTHONPATH=tests/helpers $(BIN)/python benchmarks/scaling.py
	$(BIN)/python benchmarks/failures.py
	PYTHONPATH=tests/helpers $(BIN)/python benchmarks/large_n.py

picture: .venv/.run
	$(BIN)/holdfast demo --seed 1996 --picture docs/demo.svg
	$(BIN)/python benchmarks/theory_pictures.py docs
	$(BIN)/python benchmarks/optimum_picture.py docs

clean:
	rm -rf .venv holdfast-demo.svg

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
	  || { echo "holdfast needs Python 3.11, 3.12 or 3.13; name one: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv .venv

.venv/.run: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[parquet]'
	@touch $@

.venv/.test: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	@touch $@

.venv/.check: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[check]'
	@touch $@
