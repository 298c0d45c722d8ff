# GNU make 4.3 or newer; `make help` says what there is.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
# One process pool at a time uses all cores already; -j would only mix the progress bars. Drawing takes one core each.
ifndef DRAW_ONLY
.NOTPARALLEL:
endif
.DELETE_ON_ERROR:
.SUFFIXES:

VENV := .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.installed
OUT := figures/output
FORMAT ?= text
override QUALITY := $(or $(QUALITY),default)
ifneq ($(words $(filter draft default paper,$(QUALITY))) $(words $(QUALITY)),1 1)
$(error QUALITY must be one of draft, default, paper, got '$(QUALITY)')
endif
RUN := $(if $(JOBS),--jobs $(JOBS)) $(if $(BACKEND),--backend $(BACKEND)) $(if $(SCHEDULER),--scheduler $(SCHEDULER))
export QUALITY
# By its value, as the shell would write it: a dollar or a quote in the name of a file is no syntax.
override DATA := $(value DATA)
export DATA
export OPENBLAS_NUM_THREADS ?= 1

CORES := $(or $(filter-out -%,$(JOBS)),$(shell getconf _NPROCESSORS_ONLN))

EXPERIMENTS := $(shell grep -ls '^EXPERIMENT = ' figures/*/*.py)
NAMES := $(basename $(notdir $(EXPERIMENTS)))
TABLES := $(NAMES:%=$(OUT)/%.csv)
DRAWING := figures/core/plot.py figures/core/paper.mplstyle
NO_NUMBERS := $(DRAWING) figures/core/gallery.py figures/core/render.py
SHARED := $(filter-out $(NO_NUMBERS),$(shell find theory/models theory/numerics theory/random_matrix simulate/core figures/core figures/analyse -name '*.py' 2>/dev/null))

.PHONY: help figures drawn tables gallery analyse test verify bench lint clean FORCE
.PRECIOUS: $(OUT)/%.csv

help:
	@echo "make figures                    every figure (PDF, PNG) and table (CSV) in $(OUT)/; goes on where ^C stopped it"
	@echo "make $(OUT)/NAME.pdf     one figure; NAME.csv its table alone.  Names: $(NAMES)"
	@echo "make tables                     print all tables; FORMAT=text|markdown|latex|csv"
	@echo "make analyse DATA=FILE          theory and simulation for your own data; KIND=matrix|sequences|text OPTIONS=\"--drop-constant\""
	@echo "make gallery                    small PNGs for the README in figures/gallery/"
	@echo "make test                       the test suite;  make verify: with the slow checks;  make bench: timings"
	@echo "make lint                       ruff and mypy;   make clean: remove results and caches, keep $(VENV)/"
	@echo "variables                       QUALITY=draft|default|paper  JOBS=2  BACKEND=dask SCHEDULER=tcp://host:8786  PYTHON=python3.12  ALIGNMENTS=folder of RF00162.fasta, DHFR.a2m"

figures: $(TABLES)
	@$(MAKE) --no-print-directory -j$(CORES) DRAW_ONLY=1 drawn
	@echo "$(words $(NAMES)) figures (PDF, PNG) and their tables (CSV) are in $(OUT)/"

# Of the tables there are: what was skipped has none.
drawn: $(foreach name,$(NAMES),$(if $(wildcard $(OUT)/$(name).csv),$(OUT)/$(name).pdf $(OUT)/$(name).png))

tables: $(TABLES)
	@$(PY) -m figures table $(RUN) --format $(FORMAT)

gallery: $(TABLES)
	@$(PY) -m figures gallery $(RUN)

analyse: $(STAMP)
	@if [ -z "$$DATA" ]; then echo "analyse needs a file: make analyse DATA=my_matrix.csv" >&2; exit 2; fi
	@$(PY) -m figures analyse "$$DATA" $(if $(KIND),--kind $(KIND)) $(OPTIONS)

# A table depends on its own file, on its subject in every wing, on the subjects it builds on, and on the shared rooms.
BUILDS_ON_glm := potts  # as in figures/core/sources.py
# $(1) name, $(2) file, $(3) subject, $(4) position
define experiment
$(OUT)/$(1).csv: $(2) $(filter-out $(EXPERIMENTS),$(shell find $(foreach of,$(3) $(BUILDS_ON_$(3)),theory/$(of) simulate/$(of)) figures/$(3) -name '*.py' 2>/dev/null)) $(SHARED) $(OUT)/.quality | $(STAMP)
	@$(PY) -m figures run $(1) $(RUN) --position "figure $(4) of $(words $(NAMES))"
$(OUT)/$(1).pdf $(OUT)/$(1).png &: $(OUT)/$(1).csv $(DRAWING)
	@$(PY) -m figures draw $(1) $(RUN)
endef
subject = $(notdir $(patsubst %/,%,$(dir $(1))))
$(foreach file,$(EXPERIMENTS),$(eval COUNT += x)$(eval $(call experiment,$(basename $(notdir $(file))),$(file),$(call subject,$(file)),$(words $(COUNT)))))

$(OUT)/%.csv $(OUT)/%.pdf $(OUT)/%.png: | $(STAMP)  # no such experiment: the error lists the nearest names
	@$(PY) -m figures run $*

$(OUT)/.quality: FORCE  # changes, and makes the tables old, only when QUALITY does
	@mkdir -p $(OUT) && { [ "$$(cat $@ 2>/dev/null)" = "$(QUALITY)" ] || echo "$(QUALITY)" > $@; }

test: $(STAMP)
	@$(PY) -m pytest -q -n auto --dist worksteal --ignore tests/benchmarks

verify: $(VENV)/.dask
	@$(PY) -m pytest -q -n auto --dist worksteal --ignore tests/benchmarks -m "slow or not slow"

bench: $(VENV)/.bench
	@$(PY) -m pytest -q tests/benchmarks --benchmark-only

lint: $(STAMP)
	@$(PY) -m ruff check . && $(PY) -m mypy

clean:
	rm -rf $(OUT) .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks build dist
	find . -path ./$(VENV) -prune -o -name __pycache__ -type d -print0 | xargs -0 rm -rf

PIP := $(PY) -m pip install -qq --disable-pip-version-check
PROBE := import sys; v = sys.version_info; v >= (3, 11) or sys.exit("is version %d.%d" % v[:2]); import venv, ensurepip

# Written last: without it the environment is half made, and is made again.
$(STAMP): setup.cfg setup.py
	@if ! { [ -e $@ ] && $(PY) -c "" 2>/dev/null; }; then \
	  found= tried=; \
	  for python in $(if $(PYTHON),"$(PYTHON)",python3 python3.13 python3.12 python3.11); do \
	    if reason=$$("$$python" -c '$(PROBE)' 2>&1); then found=$$python; break; fi; \
	    tried+=$$'\n'"  $$python: $${reason##*$$'\n'}"; \
	  done; \
	  if [ -z "$$found" ]; then \
	    echo "need Python >= 3.11 with its venv module (Debian: apt install python3-venv); choose one by PYTHON=. Tried:$$tried" >&2; exit 1; \
	  fi; \
	  rm -rf $(VENV) && "$$found" -m venv $(VENV); \
	fi
	@echo "installing into $(VENV)/ ($$($(PY) --version)); once, a minute or two"
	@$(PIP) -e '.[figures,dev]'
	@touch $@

$(VENV)/.bench: $(STAMP)
	@echo "installing what the benchmarks compare with"
	@$(PIP) -e '.[bench]'
	@$(PIP) -e '.[peers]' || echo "some packages to compare with cannot be had: their benchmarks are skipped" >&2
	@touch $@

$(VENV)/.dask: $(STAMP)
	@echo "installing Dask for its checks"
	@if $(PIP) -e '.[dask]'; then touch $@; else echo "no Dask: its checks are skipped" >&2; fi
