# `make install`, `make demo`, `make test`: each works on a fresh machine with Python 3.11 and the package registries.
PYTHON ?= python3
UV_VERSION := 0.13.9
UV := .uv/bin/uv
COMPAT := tests/compat/environments
COMPAT_ENVIRONMENTS := $(patsubst $(COMPAT)/%.txt,.compat/%/installed,$(wildcard $(COMPAT)/*.txt)) .compat/node/installed

.PHONY: install demo test test-compat bench-nli test-export lint clean

install: .venv/installed

.venv/installed: pyproject.toml uv.lock | $(UV)
	$(UV) sync --frozen --extra embedded --compile-bytecode --python $(PYTHON)
	@touch $@

$(UV):
	$(PYTHON) -m venv .uv
	.uv/bin/pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)

demo: install
	.venv/bin/corrigenda demo

test: install
	.venv/bin/pytest

# Official SDKs and popular clients, each in an environment of its own with the versions that its file pins. Needs
# Node.js 20 or later with npm, too.
test-compat: install
	$(MAKE) --jobs=4 --output-sync --no-print-directory $(COMPAT_ENVIRONMENTS)
	.venv/bin/pytest tests/compat

.compat/%/installed: $(COMPAT)/%.txt | $(UV)
	$(UV) venv --quiet --clear --python $(PYTHON) $(@D)
	$(UV) pip sync --quiet --python $(@D)/bin/python $<
	@touch $@

# Node looks for packages beside a script, so the scripts are linked to where the packages are.
.compat/node/installed: $(COMPAT)/node.json
	rm -rf $(@D)
	mkdir -p $(@D)
	cp $< $(@D)/package.json
	npm install --prefix $(@D) --silent --no-audit --no-fund --no-package-lock
	ln -s ../../tests/compat/clients $(@D)/clients
	@touch $@

# Export and measurement of NLI models, in an environment of their own: they need torch. DATA: a folder with
# nli/test.jsonl.gz, for the embedded model's accuracy.
bench-nli: .export/installed
	PYTHONPATH=scripts .export/bin/python scripts/benchmarks/nli.py $(if $(DATA),--data $(DATA)) $(ARGS)

test-export: .export/installed
	.export/bin/pytest -W default --timeout=300 --confcutdir=tests/export tests/export

.export/installed: pyproject.toml
	$(PYTHON) -m venv .export
	.export/bin/pip install --quiet --disable-pip-version-check --editable '.[export]' \
		'hypothesis>=6.170' 'pytest>=9.2' 'pytest-timeout>=2.4'
	@touch $@

lint: install
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/hadolint Dockerfile

clean:
	rm -rf .venv .uv .compat .export .mypy_cache .ruff_cache .pytest_cache .hypothesis
