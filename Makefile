# Every target works as the first command on a machine with python3.11, pip and make.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint requirements.lock
ALL := cli,neural,scale,market,dev
export MPLBACKEND := Agg

.PHONY: help demo setup check test test-random hooks bench reproduce audit-all bench-scale bench-market kills browser clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | column -t -s "$$(printf '\t')"

$(VENV)/.light: pyproject.toml requirements.lock
	$(PYTHON) -m venv $(VENV)
	$(PIP) -e '.[cli]'
	@touch $@

$(VENV)/.all: pyproject.toml requirements.lock | $(VENV)/.light
	$(PIP) -e '.[$(ALL)]'
	@touch $@

demo: $(VENV)/.light ## a market clears, an answer with its interval, and a picture, in two minutes
	$(BIN)/pdqs demo --out demo-out

setup: $(VENV)/.all ## everything, for work on pdqs itself

check: $(VENV)/.all ## style, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: $(VENV)/.all browser ## every test
	$(BIN)/pytest -n 2 --dist loadfile

test-random: $(VENV)/.all ## the property tests with fresh examples each time (nightly)
	$(BIN)/pytest -n 2 --dist loadfile -m hypothesis --hypothesis-profile random

hooks: $(VENV)/.all ## check every commit as `make check` would
	$(BIN)/pre-commit install

bench: $(VENV)/.all ## side-by-side timings, as ratios
	$(BIN)/pytest benchmarks --benchmark-enable --benchmark-only -q

# Long campaigns: not part of `make test`. Their committed results lie in docs/results, each with its command and seed.
reproduce: $(VENV)/.all ## the paper's experiments beside the sound mechanisms (resumable)
	$(BIN)/pdqs reproduce --out reproduction

audit-all: $(VENV)/.all ## what every preset really keeps (exits 1: the paper's break promises)
	$(BIN)/pdqs audit --all

bench-scale: $(VENV)/.all ## streaming beside its peers (goes on where an earlier run stopped)
	$(BIN)/python benchmarks/bench_scale.py --out docs/results/scale

bench-market: $(VENV)/.all ## the market's bids per second beside a bare insert, on both databases
	$(BIN)/python benchmarks/bench_market.py

kills: $(VENV)/.all ## a hundred kill -9 of clearing and of settling, on each database
	$(BIN)/python tests/market/killing.py --kills 100

# Browser tests need a chromium; Debian has one. Without it those tests skip and say so.
browser:
	@if command -v chromium >/dev/null; then :; \
	elif command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
	  echo "The browser tests need chromium: as root, I now install the system's package (apt-get install chromium)."; \
	  apt-get update -qq && apt-get install -y -qq chromium >/dev/null || \
	    echo "chromium could not be installed: browser tests will be skipped"; \
	else echo "no chromium and no way to install it: browser tests will be skipped"; fi

clean: ## forget what was installed and built
	rm -rf $(VENV) build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
