# Every target works as the first command on a machine with python3.11, pip and make.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint requirements.lock
ALL := cli,neural,scale,market,docs,dev
SERVER := cli,owner,market
export MPLBACKEND := Agg

.PHONY: help demo setup docs newcomer check lint-browser test coverage test-random hooks release bench reproduce audit-all bench-scale bench-market questions staged-coverage coverage-table widths plan-table kills races fuzz pages browser device figures hashed-lock sbom clean

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
	$(BIN)/pdqs demo --out demo-out --overwrite

setup: $(VENV)/.all ## everything, for work on pdqs itself

# Warnings are errors; notebooks are executed; then the built pages are looked through for dead links and for anything
# that a reader without a network would miss.
docs: $(VENV)/.all ## the documentation as a site, into build/site
	$(BIN)/python -m sphinx -W --keep-going -E -q -j 2 -c docs/_site docs build/site
	$(BIN)/python docs/_site/check_site.py build/site
	@echo "open build/site/index.html"

# EXTRAS="cli owner" tries these alone. Environments are made under build/newcomer and removed.
EXTRAS ?= none cli owner market neural scale all
newcomer: docs ## the wheel in a fresh environment for each extra, the tutorial's commands from the built page, bad input
	rm -rf build/wheel && $(BIN)/python -m build --wheel --outdir build/wheel
	PYTHONPATH=tests $(BIN)/python -m docs.newcomer --wheel build/wheel --page build/site/tutorial.html --extras $(EXTRAS)

check: $(VENV)/.all ## style, types, the direction of imports and spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell *.md docs src examples
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory lint-browser; \
	else echo "no Node here: the linter of the .mjs files was skipped"; fi

node_modules/.done: package.json
	npm install --no-package-lock --no-audit --no-fund --silent
	@touch $@

lint-browser: node_modules/.done ## the browser's modules (needs Node)
	node_modules/.bin/eslint --max-warnings 0 .

# Not reordered by how many tests a file has: the longest have few, and would all come last, one beside idle cores.
test: $(VENV)/.all browser ## every test; of the few that fail each once more by itself
	$(BIN)/python tools/run_tests.py -n 4 --dist loadfile --no-loadscope-reorder

# The same run as `make test`, with its lines counted: a third more processor time, hence a target of its own.
CORE := src/pdqs/model/*,src/pdqs/privacy/*,src/pdqs/pricing/*,src/pdqs/rounds/*,src/pdqs/clearing/*,src/pdqs/estimate/*,src/pdqs/planning/*,src/pdqs/trade.py
coverage: $(VENV)/.all browser ## every test, and which lines they ran: a figure for the whole, a gate for the core
	$(BIN)/pytest -n 2 --dist loadfile --cov=pdqs --cov-report=
	$(BIN)/coverage report --format=total | sed 's/^/whole, per cent of lines: /'
	$(BIN)/coverage report --include='$(CORE)' --skip-covered --show-missing --precision=2 --fail-under=99

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

coverage-table: $(VENV)/.all ## how often the default's intervals cover, 2,000 rounds a cell (goes on where it stopped; days for the whole grid)
	$(BIN)/python benchmarks/coverage_table.py --out docs/results/coverage --rounds 2000 --seed 1

widths: $(VENV)/.all ## how wide the default's intervals are beside other terms
	$(BIN)/python benchmarks/widths_table.py --out docs/results/widths --rounds 300 --seed 1

plan-table: $(VENV)/.all ## planned half-widths beside those seen (goes on where it stopped)
	$(BIN)/python benchmarks/plan_table.py --out docs/results/planning

questions: $(VENV)/.all ## what smaller questions gain (goes on where it stopped)
	$(BIN)/python benchmarks/questions_table.py --out docs/results/questions --rounds 1000 --seed 1

staged-coverage: $(VENV)/.all ## how often staged intervals cover, 1,000 rounds a cell (goes on where it stopped; hours for the whole grid)
	$(BIN)/python benchmarks/staged_coverage.py --out docs/results/questions/coverage --rounds 1000 --seed 1

# The three attacks: each prints its command and seed, says how long the rest will take, and goes on where it stopped.
kills: $(VENV)/.all ## kill -9 of bids, clearing, stages, reports, settling and payouts, 125 of each, on both databases
	$(BIN)/python tests/market/killing.py --kills 125 --owners 300 --seed 20261119 --work build/kills --out docs/results/attacks/kills.json

races: $(VENV)/.all ## ten thousand bids and reports sent around their deadlines, on both databases
	$(BIN)/python tests/market/racing.py --races 10000 --seconds 3 --work build/races --out docs/results/attacks/races.json

fuzz: $(VENV)/.all ## five million requests to every route, as everyone, on both databases (hours)
	$(BIN)/python tests/market/fuzz/running.py --requests 5000000 --batch 5000 --workers 2 --work build/fuzz --out docs/results/attacks/fuzz.json

# Every page in every look, and whole rounds by the keyboard alone in each; pictures go to artifacts/pages, to be looked at.
pages: $(VENV)/.all browser node_modules/.done ## every page empty, filled and in error: phone and desktop, light and dark, with axe-core
	PYTHONPATH=tests $(BIN)/python -m market.pages.every_page --out docs/results/pages/every-page.json
	@for look in "phone light" "phone dark" "desktop light" "desktop dark"; do echo "$$look"; \
	  PDQS_LOOK="$$look" $(BIN)/pytest -q $(addprefix tests/market/pages/,test_full_round.py test_staged_round.py test_cancelled_round.py) || exit 1; done

# The pictures of pages are what the browser tests keep under artifacts/; without a browser the others are drawn alone.
figures: $(VENV)/.all browser ## every picture of the documentation, into docs/images
	$(BIN)/python benchmarks/figures.py --out docs/images
	@if command -v chromium >/dev/null; then $(BIN)/pytest tests/market/pages/test_full_round.py tests/market/pages/test_answer_page.py \
	  && for name in docs/images/market-*.png; do cp artifacts/$$(basename $$name) $$name; done; \
	else echo "no chromium: the pictures of pages were left as they are"; fi

device: $(VENV)/.light ## the owner's browser device as files to host anywhere, with a manifest of their SHA-256
	$(PIP) -e '.[owner]'
	$(BIN)/pdqs owner bundle --out device

# Browser tests need a chromium; Debian has one. Without it those tests skip and say so.
browser:
	@if command -v chromium >/dev/null; then :; \
	elif command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
	  echo "The browser tests need chromium: as root, I now install the system's package (apt-get install chromium)."; \
	  apt-get update -qq && apt-get install -y -qq chromium >/dev/null || \
	    echo "chromium could not be installed: browser tests will be skipped"; \
	else echo "no chromium and no way to install it: browser tests will be skipped"; fi

release: $(VENV)/.all ## build the source archive and the wheel, and try the wheel in a clean environment
	$(BIN)/pytest tests/test_package.py -k version
	@! grep -m1 '^## ' CHANGELOG.md | grep -q unreleased || echo "CHANGELOG.md still says (unreleased): set the date before you publish"
	rm -rf dist build && $(BIN)/python -m build --outdir dist
	rm -rf build/clean && $(PYTHON) -m venv build/clean
	build/clean/bin/pip install --quiet --disable-pip-version-check --constraint requirements.lock "$$(ls $(CURDIR)/dist/*.whl)[cli]"
	$(BIN)/python tools/sbom.py $(SERVER) > dist/sbom.cdx.json
	cd build/clean && bin/pdqs --version && bin/pdqs demo --out demo-out
	@echo "dist/ is ready: docs/releasing.md says what comes next"

hashed-lock: $(VENV)/.all ## requirements.hashed.lock anew: what a server needs, with the SHA-256 of every file, for this platform
	$(BIN)/python tools/hashed_lock.py requirements.lock $(SERVER) > build-hashed.lock && mv build-hashed.lock requirements.hashed.lock

sbom: $(VENV)/.all ## a software bill of materials (CycloneDX) of what a server needs, as installed here, into dist
	mkdir -p dist && $(BIN)/python tools/sbom.py $(SERVER) > dist/sbom.cdx.json

clean: ## forget what was installed and built
	rm -rf $(VENV) build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis node_modules .coverage
