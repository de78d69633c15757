# `make` keeps its environment in .venv; nothing else on the machine is touched.
# Needs: python3 (3.11 or later), make, and a package index that pip can reach.

PYTHON ?= python3
JOBS ?= 2
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PYTEST := TF_CPP_MIN_LOG_LEVEL=3 OMP_NUM_THREADS=1 $(BIN)/python -m pytest

.DEFAULT_GOAL := help
.PHONY: help env test test-full test-cpus test-gpu wheel suite conformance demo notebooks bench lint format docs models site clean

help:
	@echo "make demo       train in PyTorch, fine-tune in JAX, move back; train in Flax and Keras, fine-tune in PyTorch, move back"
	@echo "make test       the fast tests (JOBS=$(JOBS) processes)"
	@echo "make test-full  all tests, with many more models and random examples"
	@echo "make test-cpus  the numeric tests with the kernels of other processors (three runs)"
	@echo "make test-gpu   the ops and models of PyTorch and JAX on a GPU"
	@echo "make wheel      build the wheel and the source archive in dist, and test them"
	@echo "make suite      fetch the public Array API test suite into $(SUITE)"
	@echo "make conformance  that suite on every backend"
	@echo "make notebooks  run the tutorials in notebooks/ and write their outputs into them"
	@echo "make bench      time against the frameworks and other libraries"
	@echo "make lint       formatting, lint, types"
	@echo "make docs       write the generated pages under docs/ again, but models.md and deployment.md"
	@echo "make models     measure all model types again for docs/models.md and deployment.md (takes hours)"
	@echo "make site       the documentation site, in build/site"
	@echo "make env        only the environment in $(VENV)"
	@echo "make clean      remove the environment and everything that is generated"

env: $(READY)

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	touch $@

test: $(READY)
	$(PYTEST) --numprocesses $(JOBS) --dist worksteal

test-full: $(READY)
	-$(MAKE) --no-print-directory suite  # without it, its tests are skipped
	HYPOTHESIS_PROFILE=full $(PYTEST) --numprocesses $(JOBS) --dist worksteal -m "full or not full" --timeout 3600

test-cpus: $(READY)
	TF_CPP_MIN_LOG_LEVEL=3 $(BIN)/python -m tests.cpus --numprocesses $(JOBS) --dist worksteal

test-gpu: $(READY)
	NESTARRAY_TEST_DEVICE=gpu NVIDIA_TF32_OVERRIDE=0 JAX_DEFAULT_MATMUL_PRECISION=highest \
	XLA_PYTHON_CLIENT_PREALLOCATE=false $(PYTEST) \
		--numprocesses $(JOBS) --dist worksteal -k "torch or jax or accelerator" \
		tests/accelerator tests/ops/test_values.py tests/ops/test_gradients.py

wheel: $(READY)
	$(BIN)/python -m build --no-isolation --outdir dist
	$(PYTEST) tests/meta/test_wheel.py -m full

SUITE ?= build/array-api-tests

$(SUITE):
	git clone --quiet --recurse-submodules https://github.com/data-apis/array-api-tests $@

suite: $(READY) $(SUITE)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --requirement $(SUITE)/requirements.txt

conformance: suite
	$(BIN)/python docs/generate_conformance.py $(SUITE)

demo: $(READY)
	$(BIN)/python -m nestarray demo

notebooks: $(READY)
	$(BIN)/python tools/notebooks.py

bench: $(READY)
	$(BIN)/python -m benchmarks

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/python tools/stubs.py
	$(BIN)/pyright

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(READY)
	$(BIN)/python docs/generate_ops.py
	$(BIN)/python docs/generate_kinks.py
	$(BIN)/python docs/generate_torch_coverage.py
	$(BIN)/python docs/generate_jax_coverage.py
	$(BIN)/python docs/generate_numpy_coverage.py
	$(BIN)/python docs/generate_keras_coverage.py
	$(BIN)/python docs/generate_tensorflow_coverage.py
	$(BIN)/python docs/generate_clients.py
	$(BIN)/python docs/generate_directions.py

models: $(READY)
	$(BIN)/python docs/generate_models.py
	$(BIN)/python docs/generate_deployment.py

site: $(READY)
	$(BIN)/python docs/site/build.py

clean:
	rm -rf $(VENV) build dist demo_output .pytest_cache .ruff_cache .hypothesis *.egg-info
	rm -f nestarray/ops/__init__.pyi nestarray/container/attached.pyi
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
