# make train: set up, train PPro-L2B on Cora (ten seeds).   make test: set up, run every check.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: install train test coverage mutation hostile fuzz faults docs recipes format clean

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "PPro needs Python 3.11 or newer; set PYTHON=/path/to/python3"; exit 1; }
	@echo "setting up $(VENV): PyTorch and what else constraints.txt pins; this takes a minute or more"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check torch -c constraints.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]' -c constraints.txt
	@touch $@

train: install
	$(BIN)/ppro train cora --strategy l2b --runs 10

test: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist loadfile

docs: install
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# Which lines and branches the tests reach; fails below the limits in tools/coverage_limits.py.
coverage: install
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist loadfile --cov --cov-report=term-missing:skip-covered --cov-report=json:build/coverage.json
	$(BIN)/python tools/coverage_limits.py build/coverage.json

# Whether tests notice when losses, controllers and splits are changed; a few minutes.
mutation: install
	@$(BIN)/pip install --quiet --disable-pip-version-check -e '.[mutation]' -c constraints.txt
	rm -rf mutants
	OMP_NUM_THREADS=1 PYTHONPATH=. $(BIN)/mutmut run --max-children 2
	$(BIN)/mutmut results --all true | $(BIN)/python tools/mutation.py results/mutation.json

# Files, run folders, settings and environments that nobody would give; the table of docs/safety.md.
hostile: install
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.hostile --page docs/safety.md

# Every reader on files that Hypothesis draws and spoils, for ten minutes.
fuzz: install
	OMP_NUM_THREADS=1 $(BIN)/python -W ignore -m tests.hostile.fuzz --seconds 600

# A hundred kills and fifty full disks, and the same end; a quarter of an hour.
faults: install
	$(BIN)/python -m tests.hostile.faults

# The recipes that ship with the package, from what results/ records.
recipes: install
	$(BIN)/python tools/make_recipes.py results src/ppro/settings/recipes

format: install
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) build dist mutants .pytest_cache .mypy_cache .ruff_cache .hypothesis
