# `make` keeps its environments in .venv, .venv-newest and .venv-oldest, and uv keeps the packages of
# all clones in its cache. Needs: Python 3.11 or later, make, and an index that pip can reach.
#
# .venv has the newest Python that runs here and the newest releases, which
# constraints.txt pins. PyTorch is the newest too: for Linux, PyPI has its CUDA build alone, a download
# of 3 GB, which works without a GPU.

PYTHON ?=  # another Python for the environments
JOBS ?= 2
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
ENVIRONMENT := TF_CPP_MIN_LOG_LEVEL=3 OMP_NUM_THREADS=1
# processes share their bytecode; otherwise each compiles the frameworks again
export PYTHONDONTWRITEBYTECODE :=
PYTEST := $(ENVIRONMENT) $(BIN)/python -m pytest
# python3 starts the script, which looks for the newest Python that runs
CREATE := python3 tools/environments.py $(addprefix --python ,$(PYTHON))

.DEFAULT_GOAL := help
.PHONY: help env upgrade test test-quick test-newest test-oldest test-full test-cpus test-gpu wheel suite conformance demo notebooks bench lint format docs derivatives models site clean

help:
	@echo "make demo       train in PyTorch, fine-tune in JAX, move back; train in Flax and Keras, fine-tune in PyTorch, move back"
	@echo "make test       the fast tests (JOBS=$(JOBS) processes)"
	@echo "make test-quick  the algorithms on small inputs, for the inner loop"
	@echo "make test-newest  the release tests with the newest releases of all packages; FULL=1: all fast tests"
	@echo "make test-oldest  the same with the lowest versions of pyproject.toml, on Python 3.11"
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
	@echo "make derivatives  measure the derivatives that docs/derivatives.md lacks (takes hours)"
	@echo "make models     measure all model types again for docs/models.md and deployment.md (takes hours)"
	@echo "make site       the documentation site, in build/site"
	@echo "make env        only the environment in $(VENV)"
	@echo "make upgrade    pin the newest releases in constraints.txt, and print what changes"
	@echo "make clean      remove the environment and everything that is generated"

env: $(READY)

$(READY): pyproject.toml constraints.txt
	$(CREATE) default $(VENV)
	touch $@

upgrade: $(READY)
	$(BIN)/python tools/environments.py upgrade $(VENV)
	$(MAKE) --no-print-directory env
	$(BIN)/python -m tools.releases

test: $(READY)
	$(PYTEST) --numprocesses $(JOBS) --dist worksteal

# no models, few compilations
QUICK := tests/sizes tests/container tests/comparison tests/graph/passes tests/graph/test_views.py \
	tests/exporters/test_matching.py tests/importers/test_translator.py tests/meta/test_imports.py

test-quick: $(READY)
	$(PYTEST) --numprocesses $(JOBS) --dist worksteal $(QUICK)

test-oldest: WARNINGS := -W ignore  # old releases warn of one another
test-newest test-oldest: test-%:
	$(CREATE) $* .venv-$*
	$(ENVIRONMENT) .venv-$*/bin/python -m pytest --numprocesses $(JOBS) --dist worksteal $(WARNINGS) $(if $(FULL),,-m release)

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
	$(BIN)/python docs/generate_layers.py
	$(BIN)/python docs/generate_kinks.py
	$(BIN)/python docs/generate_edges.py
	$(BIN)/python docs/generate_derivatives.py
	$(BIN)/python docs/generate_torch_coverage.py
	$(BIN)/python docs/generate_jax_coverage.py
	$(BIN)/python docs/generate_numpy_coverage.py
	$(BIN)/python docs/generate_keras_coverage.py
	$(BIN)/python docs/generate_tensorflow_coverage.py
	$(BIN)/python docs/generate_clients.py
	$(BIN)/python docs/generate_directions.py

derivatives: $(READY)
	for backend in numpy torch jax tensorflow; do $(BIN)/python docs/generate_derivatives.py $$backend; done

models: $(READY)
	$(BIN)/python docs/generate_models.py
	$(BIN)/python docs/generate_deployment.py

site: $(READY)
	$(BIN)/python docs/site/build.py

clean:
	rm -rf $(VENV) .venv-newest .venv-oldest build dist demo_output .pytest_cache .ruff_cache .hypothesis *.egg-info
	rm -f nestarray/ops/__init__.pyi nestarray/container/attached.pyi
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
