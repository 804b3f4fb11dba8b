# Every target sets up what it needs in .venv with plain pip.
PYTHON ?= python3
BIN := .venv/bin
SOURCES := src tests benchmarks packaging docs

# Tests start many processes, and each would compile all modules again
unexport PYTHONDONTWRITEBYTECODE

# Every worker has one core, and starts with whole folders of tests, which share what they make. Spark
# and the browser have both cores to themselves; without pyspark, Java or chromium they say so, and 5
# is "no tests"
define TESTS
OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal -m "not spark and not browser"
$(BIN)/python -m pytest -rs -m browser tests/page || [ $$? -eq 5 ]
$(BIN)/python -m pytest -rs -m spark tests/engine/test_spark.py || [ $$? -eq 5 ]
endef

# Warnings are errors, and so is a link that leads nowhere
define SITE
rm -rf build/docs build/doctrees
$(BIN)/python -m sphinx -q -W --keep-going -d build/doctrees docs build/docs
$(BIN)/python docs/check_site.py build/docs
endef

.PHONY: demo test check docs bench picture wheel try-wheel clean

demo: .venv/.run
	rm -f holdfast-demo.svg
	$(BIN)/holdfast demo --picture holdfast-demo.svg

test: .venv/.test
	$(TESTS)

check: .venv/.check
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/mypy
	$(SITE)
	$(TESTS)

docs: .venv/.docs
	$(SITE)
	@echo "The site is build/docs/index.html."

# Minutes on a quiet machine; every part says how it goes while it runs
bench: .venv/.test
	$(BIN)/python benchmarks/noise.py
	$(BIN)/python benchmarks/start.py
	$(BIN)/python benchmarks/scale.py
	$(BIN)/python benchmarks/accuracy.py 20
	$(BIN)/python benchmarks/interval_coverage.py --releases 40

picture: .venv/.run
	rm -f docs/demo.svg
	$(BIN)/holdfast demo --seed 1996 --picture docs/demo.svg
	$(BIN)/python benchmarks/theory_pictures.py docs

wheel: .venv/.build
	rm -rf dist
	$(BIN)/python -m build --quiet
	@ls dist

# The wheel alone, in an empty environment; DEPENDENCIES=lowest for the lower bounds of pyproject.toml
DEPENDENCIES ?= highest
try-wheel: wheel
	$(BIN)/python packaging/try_wheel.py --python $(PYTHON) --dependencies $(DEPENDENCIES) dist/*.whl

clean:
	rm -rf .venv build dist holdfast-demo.svg

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "holdfast needs Python 3.11 or later; name one: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv .venv

.venv/.run: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[parquet]'
	@touch $@

.venv/.test: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	@touch $@

.venv/.docs: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	@touch $@

.venv/.build: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet 'build>=1.2'
	@touch $@

.venv/.check: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[check]'
	@touch $@
