# Every target sets itself up in .venv; `make` alone lists the targets.

PYTHON ?= python3
# More than processors: many tests wait for a server or a browser.
JOBS   ?= 3
ARGS   ?=

# Some machines disable byte code; then each of the hundreds of processes of a test run compiles
# everything that it imports.
unexport PYTHONDONTWRITEBYTECODE

BIN := .venv/bin
LIBRARY := packages/jsonrill
PYTEST := $(BIN)/python -m pytest -q
# Tests of one xdist group (conftest.py) share a process.
PARALLEL := -n $(JOBS) --dist loadgroup
# Hides the theme's notice about its successor. Never use --quiet: --strict counts only warnings
# that are shown.
MKDOCS := NO_MKDOCS_2_WARNING=1
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check

.PHONY: help demo serve example test quick hard check format docs bench npm wheels clean
.DEFAULT_GOAL := help

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /  make \1|/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-15s %s\n", $$1, $$2 }'

demo: .venv/.stamp-venv  ## show what jsonrill does, in a terminal
	@$(MAKE) --no-print-directory -j2 .venv/.stamp-command .venv/.stamp-command-needs
	@$(BIN)/jsonrill demo

serve: .venv/.stamp-serve  ## start the server and its page with simulated models, on loopback
	@$(BIN)/jsonrill serve --demo $(ARGS)

example: .venv/.stamp-example  ## start the example app (FastAPI and React) with a simulated model, on loopback
	@$(BIN)/python examples/app/demo.py

test: .venv/.stamp-dev  ## run all tests; one file: make test ARGS=packages/jsonrill/tests/test_paths.py
	@$(BIN)/python tools/system_parts.py
	@$(PYTEST) $(PARALLEL) $(ARGS)
	@$(if $(ARGS),,$(MAKE) --no-print-directory .venv/.stamp-compiled-tests)
	@$(if $(ARGS),,PYTHONPATH=.venv/compiled-tests $(PYTEST) $(PARALLEL) -o pythonpath='$(LIBRARY)/tests tests tools' -m 'not hard and not slow' $(LIBRARY)/tests)

quick: .venv/.stamp-dev  ## run the tests of the library that are not slow, with few examples
	@TEST_QUICK=1 $(PYTEST) -n 2 --dist loadgroup -m 'not hard and not slow' $(LIBRARY)/tests $(ARGS)

hard: .venv/.stamp-dev  ## run the long tests too, and all examples of every property; needs a quiet machine
	@$(BIN)/python tools/system_parts.py
	@TEST_HARDER=1 $(PYTEST) -m '' $(ARGS)
	@-$(BIN)/python -m bench.instructions

check: .venv/.stamp-dev  ## check formatting, lint, types, sizes and the documentation site
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/python tools/biome.py check
	$(BIN)/python tools/lines.py
	$(BIN)/mypy --strict packages/*/src
	$(BIN)/mypy tests packages/*/tests js/tests page/tests conftest.py tools bench examples/app
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/[!c]*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
	$(MKDOCS) $(BIN)/mkdocs build --strict

format: .venv/.stamp-dev  ## format with ruff and Biome, and fix what they can fix
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/python tools/biome.py format

docs: .venv/.stamp-docs  ## serve the documentation site on loopback and rebuild it on changes
	$(MKDOCS) .venv/docs/bin/mkdocs serve $(ARGS)

bench: .venv/.stamp-bench .venv/.stamp-compiled  ## compare with the rivals and write docs/benchmarks.md
	@.venv/rivals/bin/python -m bench $(ARGS)

npm:  ## build the npm package in dist/ (needs node and npm)
	@$(PYTHON) tools/npm_package.py

wheels:  ## build and test the wheels and the source distribution in dist/
	@$(PYTHON) tools/wheels.py

clean:  ## remove .venv and everything else that the targets made
	rm -rf .venv build dist packages/*/build packages/*/src/*.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache
	rm -rf bench/node/node_modules examples/app/web/dist examples/app/trips.db*
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# ---- setting up: a stamp is older than its dependencies only if something has to be installed ----

.venv/.stamp-venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "jsonrill needs Python 3.11 or newer, and '$(PYTHON)' is older:" >&2; \
	  $(PYTHON) --version >&2; \
	  echo "choose another one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@echo "setting up .venv ..."
	@$(PYTHON) -m venv --clear .venv
	@touch $@

# Dependency groups need a newer pip than Python includes.
.venv/.stamp-pip: | .venv/.stamp-venv
	@$(PIP) install -c constraints.txt --upgrade pip
	@touch $@

SERVE := -e '$(LIBRARY)[cli,pydantic,jsonschema]' -e packages/jsonrill-server
.venv/.stamp-serve: REQUIREMENTS = $(SERVE)
.venv/.stamp-app: REQUIREMENTS = $(SERVE) fastapi openai
.venv/.stamp-dev: REQUIREMENTS = --group dev -e '$(LIBRARY)[cli,pydantic,jsonschema]' -e packages/jsonrill-batch -e 'packages/jsonrill-server[redis,postgres]'

.venv/.stamp-serve .venv/.stamp-app .venv/.stamp-dev: $(wildcard packages/*/pyproject.toml) pyproject.toml constraints.txt | .venv/.stamp-venv
	@echo "installing the requirements of $(patsubst .venv/.stamp-%,%,$@) (pure Python, nothing is compiled) ..."
	@JSONRILL_PURE=1 $(PIP) install -c constraints.txt $(REQUIREMENTS)
	@touch $@
.venv/.stamp-dev: | .venv/.stamp-pip

# The command and its requirements in parallel, so that the demo starts soon.
.venv/.stamp-command: packages/jsonrill/pyproject.toml | .venv/.stamp-venv
	@echo "installing the command (pure Python, nothing is compiled) ..."
	@JSONRILL_PURE=1 $(PIP) install --no-deps -e $(LIBRARY)
	@touch $@
.venv/.stamp-command-needs: packages/jsonrill/pyproject.toml constraints.txt | .venv/.stamp-venv
	@echo "installing the requirements of the command ..."
	@$(PIP) install -c constraints.txt $$($(BIN)/python tools/extras.py cli jsonschema)
	@touch $@

# Python writes byte code of what it imports; writing all of it takes longer than the demo.
.venv/.stamp-command .venv/.stamp-command-needs .venv/.stamp-serve: export PIP_NO_COMPILE = 1

# The page of the example app, with the npm package of this clone.
WEB := examples/app/web
.venv/.stamp-example: $(shell find js/src $(WEB) -type f -not -path '*/node_modules/*' -not -path '*/dist/*') | .venv/.stamp-app
	@echo "building the page of the example app ..."
	@$(PYTHON) tools/npm_package.py
	@npm install --prefix $(WEB) --no-package-lock --silent --no-fund --no-audit
	@npm install --prefix $(WEB) --no-package-lock --silent --no-fund --no-audit --no-save ./dist/jsonrill-*.tgz
	@npm run --prefix $(WEB) --silent build
	@touch $@

SOURCES := $(shell find $(LIBRARY)/src -name "*.py" -o -name "*.pxd")
.venv/.stamp-compiled: $(LIBRARY)/setup.py $(SOURCES) | .venv/.stamp-dev
	@echo "compiling the library ..."
	@rm -rf .venv/compiled
	@$(PIP) install --no-deps --no-build-isolation --target .venv/compiled $(LIBRARY)
	@touch $@

# The tests need no optimisation, and compiling takes half the time without. The build folder is
# removed because a later optimised build would reuse it.
.venv/.stamp-compiled-tests: $(LIBRARY)/setup.py $(SOURCES) | .venv/.stamp-dev
	@echo "compiling the library for its tests ..."
	@rm -rf .venv/compiled-tests $(LIBRARY)/build/lib* $(LIBRARY)/build/temp*
	@JSONRILL_UNOPTIMISED=1 $(PIP) install --no-deps --no-build-isolation --target .venv/compiled-tests $(LIBRARY)
	@rm -rf $(LIBRARY)/build/lib* $(LIBRARY)/build/temp*
	@touch $@

# The few packages of the documentation site, for those who only write.
.venv/.stamp-docs: pyproject.toml constraints.txt | .venv/.stamp-pip
	@echo "installing the requirements of docs ..."
	@$(BIN)/python -m venv --clear .venv/docs
	@$(PIP) --python .venv/docs install -c constraints.txt --group docs
	@touch $@

# The rivals in an environment of their own. Without --no-deps, some would need old versions of others.
.venv/.stamp-bench: bench/rivals.txt bench/node/package.json | .venv/.stamp-venv
	@echo "installing the rivals ..."
	@$(BIN)/python -m venv --clear .venv/rivals
	@.venv/rivals/bin/python -m pip -qq --disable-pip-version-check install --no-deps -r bench/rivals.txt
	@if command -v npm >/dev/null; then \
	  npm install --prefix bench/node --no-package-lock --silent --no-fund --no-audit; \
	else echo "no npm: without the rivals in JavaScript"; fi
	@touch $@
