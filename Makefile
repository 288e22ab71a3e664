# Needs Python 3.11 or newer, pip and make. Everything else goes into .venv.
# Choose a Python with: make PYTHON=python3.12 test

PYTHON ?= python3
JOBS ?= 2
MINUTES ?= 5

VENV := .venv
PY := $(VENV)/bin/python
PIP_INSTALL := $(PY) -m pip install -qq --disable-pip-version-check

# Some systems ship Python without ensurepip, which venv needs.
make_venv = $(PYTHON) -m venv $(1) >/dev/null 2>&1 || { \
    rm -rf $(1) && $(PYTHON) -m venv --without-pip $(1) && \
    $(PYTHON) -m pip --python $(1)/bin/python install -qq --disable-pip-version-check pip; }

export MPLBACKEND := Agg

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.SECONDARY:
.PHONY: help demo test docs lint format matrix fuzz dist bench clean

# A virtual environment whose Python is gone is made again.
$(shell test -x $(PY) || rm -rf $(VENV))

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 16

demo: $(VENV)/.installed-all ## run the demo; its pictures are left in demo_output/
	@$(PY) examples/demo.py

test: lint ## lint, check types and run every test
	@$(PY) -m pytest -n $(JOBS)

docs: $(VENV)/.installed-docs ## build the documentation into docs/_build/html
	@$(PY) -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "The documentation is at docs/_build/html/index.html"

lint: $(VENV)/.installed-test ## check style and types
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy

format: $(VENV)/.installed-test ## fix style where it can be fixed
	@$(PY) -m ruff check --fix-only --quiet .
	@$(PY) -m ruff format .

matrix: $(VENV)/.installed-nox ## run the tests on every supported scikit-learn and Python
	@$(PY) -m nox

fuzz: $(VENV)/.installed-test ## try to break every reader, for MINUTES (5)
	@$(PY) tests/fuzz.py --minutes $(MINUTES)

dist: $(VENV)/.installed-build ## build wheel and source archive, and try the wheel without extras
	@rm -rf dist build && mkdir build
	@$(PY) -m build >build/log 2>&1 || { cat build/log; exit 1; }
	@$(PY) -m twine check --strict dist/*
	@$(call make_venv,build/bare)
	@build/bare/bin/python -m pip install -qq --disable-pip-version-check dist/*.whl
	@build/bare/bin/sklearn-calib report --help >/dev/null
	@build/bare/bin/python -I tests/bare_install.py dist
	@ls -l dist

bench: $(VENV)/.installed-all ## measure speed against the peers that are installed
	@$(PY) benchmarks/speed.py --quick

clean: ## remove .venv and everything that was built
	rm -rf $(VENV) .nox .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist demo_output fuzz_output
	rm -rf docs/_build docs/_pages docs/_pictures docs/_tables docs/auto_examples docs/generated docs/sg_execution_times.rst
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	    echo "sklearn-calib needs Python 3.11 or newer, and $(PYTHON) is not." \
	        "Name one that is: make PYTHON=python3.11 $(MAKECMDGOALS)" >&2; exit 1; }
	@echo "Creating the virtual environment $(VENV)"
	@$(call make_venv,$(VENV))
	@touch $@

$(VENV)/.installed-nox: $(VENV)/.created
	@echo "Installing nox into $(VENV)"
	@$(PIP_INSTALL) nox
	@touch $@

$(VENV)/.installed-build: $(VENV)/.created
	@echo "Installing build and twine into $(VENV)"
	@$(PIP_INSTALL) build twine
	@touch $@

$(VENV)/.installed-%: pyproject.toml $(VENV)/.created
	@echo "Installing sklearn-calib[$*] into $(VENV) (the first time takes a minute)"
	@$(PIP_INSTALL) --editable ".[$*]"
	@touch $@
