# make demo and make test set up what they need; Python 3.11 or later is all that must be there.
PYTHON ?= python3
VENV := .venv
DEMO_VENV := .venv-demo
BIN := $(VENV)/bin

.PHONY: demo demo-fleet demo-nvcf test lint bench build clean

# The main job, from a wheel in an environment of its own.
demo: $(DEMO_VENV)/ready
	@sh tools/demo.sh "$(CURDIR)/$(DEMO_VENV)/bin/aicr"

# Many clusters at once, and the way there where one jump is too far.
demo-fleet: $(DEMO_VENV)/ready
	@sh tools/demo_fleet.sh "$(CURDIR)/$(DEMO_VENV)/bin/aicr"

# The incident of the NVCF runbook on a real NATS server, and what an operator sees of it.
demo-nvcf: $(VENV)/ready
	@$(BIN)/python tools/demo_nvcf.py

test: $(VENV)/ready
	$(BIN)/python -m pytest -n 2 --dist loadgroup $(PYTEST_ARGS)

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/aicr records lint

# In the demo's environment, with the test dependencies beside it: that is where imports cost most.
bench: $(DEMO_VENV)/ready
	$(DEMO_VENV)/bin/python -m pip install -q ".[test]"
	$(DEMO_VENV)/bin/python tools/bench.py --aicr "$(CURDIR)/$(DEMO_VENV)/bin/aicr"
	$(DEMO_VENV)/bin/python tools/bench_plan.py
	$(DEMO_VENV)/bin/python tools/bench_bundle.py
	$(DEMO_VENV)/bin/python tools/bench_server.py --aicr "$(CURDIR)/$(DEMO_VENV)/bin/aicr"

build: $(VENV)/ready
	$(BIN)/python -m pip install -q "build>=1.2"
	$(BIN)/python -m build

$(VENV)/ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("aicr needs Python 3.11 or later; set PYTHON=/path/to/python3") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip
	$(BIN)/python -m pip install -q -e ".[test,lint]"
	@touch $@

$(DEMO_VENV)/ready: pyproject.toml build_catalog.py $(shell find src -type f -not -name '*.pyc')
	@$(PYTHON) -c 'import sys; sys.exit("aicr needs Python 3.11 or later; set PYTHON=/path/to/python3") if sys.version_info < (3, 11) else None'
	@test -d $(DEMO_VENV) || $(PYTHON) -m venv $(DEMO_VENV)
	$(DEMO_VENV)/bin/python -m pip install -q --upgrade pip
	$(DEMO_VENV)/bin/python -m pip install -q .
	@touch $@

clean:
	rm -rf $(VENV) $(DEMO_VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
