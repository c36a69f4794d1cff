# What can be done here. Every target sets itself up in .venv; `make` alone lists them.

PYTHON ?= python3
# More than processors: many tests wait for a server or a browser.
JOBS   ?= 3
ARGS   ?=

# Some machines forbid byte code; then each of the hundreds of processes of a test run compiles all
# that it imports.
unexport PYTHONDONTWRITEBYTECODE

BIN := .venv/bin
LIBRARY := packages/jsonrill
TESTS := $(LIBRARY)/tests
# What stands on the compiled modules alone.
CORE_TESTS := $(addprefix $(TESTS)/,parse wire build test_compiled.py test_paths.py test_streams.py)
# And the stages that stand on it, of which none needs a server or a browser.
STAGE_TESTS := $(addprefix $(TESTS)/,partial_stream schema chunker providers toolcalls dialects \
  test_eventstream.py test_updates.py)
# What must hold for the compiled modules as for the Python ones; not what measures, nor what has the
# same texts as others of these.
COMPILED_TESTS := $(CORE_TESTS) $(addprefix $(TESTS)/,partial_stream schema test_updates.py \
  test_copies.py chunker/test_chunker.py chunker/test_chunker_prefix.py \
  providers/test_providers.py test_eventstream.py test_jsontext.py \
  $(addprefix toolcalls/test_,identity.py odd_servers.py toolcalls.py toolcalls_wire.py))
NOT_COMPILED := $(addprefix $(TESTS)/,parse/test_costs.py partial_stream/test_partial_costs.py \
  schema/test_schema_cost.py parse/test_json.py parse/test_near_json.py schema/test_schema_docs.py)
# Of these, what measures, loads or installs the clients of others, runs servers or tries very many texts.
SLOW_TESTS := $(addprefix $(TESTS)/,parse/test_costs.py partial_stream/test_partial_costs.py \
  chunker/test_chunker_sources.py toolcalls/test_toolcalls_clients.py \
  providers/test_matrix.py parse/test_json.py parse/test_repair_promises.py \
  chunker/test_chunker_promises.py chunker/test_chunker_flat.py \
  schema/test_schema_cost.py parse/test_near_json.py dialects/test_ui_messages.py \
  providers/test_models.py providers/test_session_objects.py providers/test_repeated.py \
  dialects/test_composition.py)
# What looks at the sources alone: `make check` runs it.
STATIC_TESTS := $(addprefix tests/test_,layers.py functions.py public_names.py reference.py lines.py words.py) \
  $(TESTS)/test_typing.py js/tests/test_types.py
# A file stays in one process, and so do all that need a browser or a database (tests/support/workers.py):
# what they start, they start once.
PYTEST := $(BIN)/python -m pytest -q
MANY   := --jobs $(JOBS)
# The theme's advertisement for its successor is not a warning about these pages. Never with --quiet:
# warnings that are not shown are not counted by --strict.
MKDOCS := NO_MKDOCS_2_WARNING=1
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check

.PHONY: help demo serve test test-sources test-ranges quick hard compiled check docs format cover bench bench-guard fuzz npm page vendor wheels clean
.DEFAULT_GOAL := help

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /  make \1|/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'

demo: .venv/.stamp-venv  ## see the three jobs in a terminal
	@$(MAKE) --no-print-directory -j2 .venv/.stamp-command .venv/.stamp-command-needs
	@$(BIN)/jsonrill demo

serve: .venv/.stamp-serve  ## the server and its page with simulated models, on this machine only
	@$(BIN)/jsonrill serve --demo $(ARGS)

test: .venv/.stamp-dev  ## all tests; one file: make test ARGS=packages/jsonrill/tests/test_paths.py
	@$(BIN)/python tools/system_parts.py
	@$(PYTEST) $(MANY) $(if $(ARGS),$(ARGS),$(addprefix --ignore=,$(STATIC_TESTS)))
	@$(if $(ARGS),,$(MAKE) --no-print-directory compiled)

test-sources: .venv/.stamp-sources  ## streams of the frameworks of others, with their real packages
	@.venv/sources/bin/python -m pytest -q -W default -o python_files='source_*.py' $(TESTS)/frameworks $(ARGS)

test-ranges: .venv/.stamp-venv  ## the lowest and the newest versions of what is needed; one group: ARGS=server
	@$(BIN)/python tools/ranges.py $(ARGS)

quick: .venv/.stamp-dev  ## the core and the stages, in one process and under half a minute
	@TEST_QUICK=1 $(PYTEST) $(CORE_TESTS) $(STAGE_TESTS) $(addprefix --ignore=,$(SLOW_TESTS)) $(ARGS)

hard: .venv/.stamp-dev  ## the long proofs, and every property with all its examples; wants a quiet machine
	@$(BIN)/python tools/system_parts.py
	@TEST_HARDER=1 $(PYTEST) -m hard -o python_files='hard_*.py test_*.py' $(ARGS)
	@TEST_HARDER=1 $(PYTEST) -m 'not hard' $(TESTS) js/tests/test_node.py \
	  page/tests/browser/test_page_load.py packages/jsonrill-server/tests/store $(ARGS)

compiled: .venv/.stamp-compiled-tests  ## the tests of what is compiled once more, on the compiled modules
	@PYTHONPATH=.venv/compiled-tests $(PYTEST) --jobs 2 -o pythonpath=tests $(COMPILED_TESTS) \
	  $(addprefix --ignore=,$(NOT_COMPILED))

check: .venv/.stamp-dev  ## formatting, lint, types, import layers, public names, lines of code, docs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/python tools/biome.py check
	$(BIN)/python tools/lines.py
	$(BIN)/mypy --strict packages/*/src
	$(BIN)/mypy tests packages/*/tests js/tests page/tests conftest.py tools bench
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/[!c]*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
	$(PYTEST) $(STATIC_TESTS)
	$(MKDOCS) $(BIN)/mkdocs build --strict

docs: .venv/.stamp-docs  ## serve the documentation site on this machine, and build it again when a page changes
	$(MKDOCS) .venv/docs/bin/mkdocs serve $(ARGS)

format: .venv/.stamp-dev  ## let ruff and Biome format and fix what they can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/python tools/biome.py format

cover: .venv/.stamp-dev  ## branch coverage of the package and of the tests
	@$(BIN)/coverage run -m pytest -q $(ARGS)
	@$(BIN)/coverage report

bench: .venv/.stamp-bench .venv/.stamp-compiled  ## measure beside the rivals and write docs/benchmarks.md
	@.venv/rivals/bin/python -m bench $(ARGS)

bench-guard: .venv/.stamp-compiled  ## is anything slower than bench/baseline.json says? (under a minute)
	@$(BIN)/python -m bench.guard $(ARGS)

fuzz: .venv/.stamp-dev  ## look for anything but the documented errors (python -m fuzz)
	@$(BIN)/python -m fuzz $(ARGS)

npm:  ## the npm package, in dist/ (needs node and npm)
	@$(PYTHON) tools/npm_package.py

page: .venv/.stamp-serve  ## the page as files for any file server, in dist/page
	@$(BIN)/python tools/static_page.py

vendor: .venv/.stamp-dev  ## the strict parser as one file to copy into a project, in dist/
	@$(BIN)/python tools/vendor.py

wheels:  ## wheels for the Pythons found here and the source distribution, tried, in dist/
	@$(PYTHON) tools/wheels.py

clean:  ## remove .venv and everything made by the other words
	rm -rf .venv build dist packages/*/build packages/*/src/*.egg-info .coverage htmlcov .hypothesis .mypy_cache .pytest_cache .ruff_cache
	rm -rf bench/node/node_modules
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# ---- setting up: a stamp is older than its reasons only when something has to be installed ----

.venv/.stamp-venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "jsonrill needs Python 3.11 or newer, and '$(PYTHON)' is not:" >&2; \
	  $(PYTHON) --version >&2; \
	  echo "name another one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@echo "setting up .venv ..."
	@$(PYTHON) -m venv --clear .venv
	@touch $@

# Groups of dependencies need a newer pip than Python brings.
.venv/.stamp-pip: | .venv/.stamp-venv
	@$(PIP) install -c constraints.txt --upgrade pip
	@touch $@

.venv/.stamp-serve: WHAT = -e '$(LIBRARY)[cli,pydantic,jsonschema]' -e packages/jsonrill-server
.venv/.stamp-dev: WHAT = --group dev -e '$(LIBRARY)[cli,pydantic,jsonschema]' -e packages/jsonrill-batch -e 'packages/jsonrill-server[redis,postgres]'

.venv/.stamp-serve .venv/.stamp-dev: $(wildcard packages/*/pyproject.toml) pyproject.toml constraints.txt | .venv/.stamp-venv
	@echo "installing what $(patsubst .venv/.stamp-%,%,$@) needs (as Python: nothing is compiled) ..."
	@JSONRILL_PURE=1 $(PIP) install -c constraints.txt $(WHAT)
	@touch $@
.venv/.stamp-dev: | .venv/.stamp-pip

# The command and what it needs, side by side: one after the other takes longer than anybody waits for a demo.
.venv/.stamp-command: packages/jsonrill/pyproject.toml | .venv/.stamp-venv
	@echo "installing the command (as Python: nothing is compiled) ..."
	@JSONRILL_PURE=1 $(PIP) install --no-deps -e $(LIBRARY)
	@touch $@
.venv/.stamp-command-needs: packages/jsonrill/pyproject.toml constraints.txt | .venv/.stamp-venv
	@echo "installing what the command needs ..."
	@$(PIP) install -c constraints.txt $$($(BIN)/python tools/extras.py cli jsonschema)
	@touch $@

# Python writes byte code of what it imports; that of all the rest takes longer than the demo.
.venv/.stamp-command .venv/.stamp-command-needs .venv/.stamp-serve: export PIP_NO_COMPILE = 1

HOT := $(shell find $(LIBRARY)/src -name "*.py" -o -name "*.pxd")
.venv/.stamp-compiled: $(LIBRARY)/setup.py $(HOT) | .venv/.stamp-dev
	@echo "compiling the library, which takes about two minutes of processor time ..."
	@rm -rf .venv/compiled
	@$(PIP) install --no-deps --no-build-isolation --target .venv/compiled $(LIBRARY)
	@touch $@

# For the tests without optimisation, in half the time. What it leaves would be taken for the real one.
.venv/.stamp-compiled-tests: $(LIBRARY)/setup.py $(HOT) | .venv/.stamp-dev
	@echo "compiling the library for its tests, which takes about a minute of processor time ..."
	@rm -rf .venv/compiled-tests $(LIBRARY)/build/lib* $(LIBRARY)/build/temp*
	@JSONRILL_UNOPTIMISED=1 $(PIP) install --no-deps --no-build-isolation --target .venv/compiled-tests $(LIBRARY)
	@rm -rf $(LIBRARY)/build/lib* $(LIBRARY)/build/temp*
	@touch $@

# The site's few packages, for who only writes.
.venv/.stamp-docs: pyproject.toml constraints.txt | .venv/.stamp-pip
	@echo "installing what docs needs ..."
	@$(BIN)/python -m venv --clear .venv/docs
	@$(PIP) --python .venv/docs install -c constraints.txt --group docs
	@touch $@

# The frameworks, apart from all else: they are many, and need other versions of what the rest needs.
.venv/.stamp-sources: pyproject.toml $(TESTS)/frameworks/constraints.txt | .venv/.stamp-pip
	@echo "installing the frameworks ..."
	@$(BIN)/python -m venv --clear .venv/sources
	@JSONRILL_PURE=1 $(PIP) --python .venv/sources install \
	  -c $(TESTS)/frameworks/constraints.txt --group test-sources -e $(LIBRARY)
	@touch $@

# The rivals, apart from all else: two of them need different versions of a third. Those in
# JavaScript only where there is npm.
.venv/.stamp-bench: bench/rivals.txt bench/instructor.txt bench/node/package.json | .venv/.stamp-venv
	@echo "installing the rivals ..."
	@for place in rivals instructor; do \
	  $(BIN)/python -m venv --clear .venv/$$place && \
	  .venv/$$place/bin/python -m pip -qq --disable-pip-version-check install -r bench/$$place.txt \
	  || exit 1; \
	done
	@if command -v npm >/dev/null; then \
	  npm install --prefix bench/node --no-package-lock --silent --no-fund --no-audit; \
	else echo "no npm: without the rivals in JavaScript"; fi
	@touch $@
