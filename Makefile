# Everything that a person types. Each target installs what it needs first (.ci/setup), so that a
# fresh Debian 12 or Ubuntu 24.04 needs no other step. The build itself is CMake with presets.
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

JOBS ?= $(shell nproc)
# `make run ARGS="open build/main_job.trace.json.gz"` runs something else than the main job.
ARGS ?=
# `make fuzz FILES=1000000` uses more mutated files; each is the same everywhere.
FILES ?= 100000
# `make random PROGRAMS=1000000` runs more random programs; each is the same everywhere.
PROGRAMS ?= 100000
# `make test ONLY=zoom` runs the tests whose name matches; LABEL=core those of one label;
# `make mutants ONLY=first-wait` one mutant.
ONLY ?=
LABEL ?=
# What `make test` builds; CI builds from nothing, with PRESET=ci.
PRESET ?= dev
# `make test-jax JAX=0.12.0` captures from another JAX than tests/capture/requirements.txt names, and
# PYTHON=python3.12 with another Python.
JAX ?=
PYTHON ?= python3
export PYTHON

app := build/release/bin/pallascope
sources = $(or $(shell git ls-files '*.h' '*.cpp'),$(error Git lists no C++ here, so nothing would be checked))

# `make install PREFIX=/usr/local DESTDIR=/tmp/root`, as everywhere.
PREFIX ?= /usr/local

.PHONY: help setup run build install test test-jax test-gpu test-jax-all fuzz random mutants bench images goldens package format format-check lint clean

help: ## say what the targets are
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)$$/\1\t\2/p' $(MAKEFILE_LIST) \
		| while IFS="$$(printf '\t')" read -r name text; do printf '  make %-13s %s\n' "$$name" "$$text"; done

setup: ## install the packages that are missing (asks first; YES=1 does not)
	@.ci/setup

run: build ## open the window on the main job; without a display run it and write its pictures
	@.ci/run-main-job $(app) $(ARGS)

build: setup ## build build/release/bin/pallascope
	@cmake --preset release
	@cmake --build --preset release --target pallascope --parallel $(JOBS)

install: build ## put the program, its manual page and completions, and the rest under PREFIX (/usr/local)
	@cmake --build --preset release --target pallascope_manual --parallel $(JOBS)
	@DESTDIR="$(DESTDIR)" cmake --install build/release --prefix "$(PREFIX)"

test: setup ## build everything and run all tests; those of captured kernels install JAX in build/venv*
	@$(if $(ONLY)$(LABEL),,.ci/setup-jax & .ci/setup-jax gpu &) \
	    cmake --preset $(PRESET) && cmake --build --preset $(PRESET) --parallel $(JOBS); \
	    built=$$?; wait; exit $$built
	@ctest --preset $(PRESET) --parallel $(JOBS) $(if $(ONLY),--tests-regex "$(ONLY)") $(if $(LABEL),--label-regex "$(LABEL)")

fuzz: setup ## use 100 000 mutated files under the sanitizers, and libFuzzer where clang 14 is (an hour)
	@cmake --preset asan
	@cmake --build --preset asan --parallel $(JOBS) --target fuzz_files
	@mkdir -p build/faults && cd build/faults && ASAN_OPTIONS=detect_stack_use_after_return=1 ../asan/bin/fuzz_files --count $(FILES) --reasons
	@.ci/libfuzzer 300

random: setup ## run 100 000 random programs with all values and with those needed, races looked for twice (minutes)
	@cmake --preset dev
	@cmake --build --preset dev --parallel $(JOBS) --target machine_tests
	@PALLASCOPE_RANDOM_PROGRAMS=$(PROGRAMS) build/dev/bin/machine_tests --gtest_filter='RandomPrograms.*'

mutants: setup ## put small faults into a copy of the engine, one at a time; a test must find each (45 minutes)
	@python3 -B tests/mutants/run.py $(ONLY)

test-jax: setup ## only the tests of captured kernels (ONLY=psum, JAX=0.12.0)
	@cmake --preset dev
	@cmake --build --preset dev --target pallascope --parallel $(JOBS)
	@.ci/setup-jax $(JAX)
	@python3 tests/capture/run.py build/dev/bin/pallascope build/venv $(if $(ONLY),-k "$(ONLY)")

test-gpu: setup ## only the tests of captured kernels for a GPU, with a JAX of their own in build/venv12 (ONLY=wgmma)
	@cmake --preset dev
	@cmake --build --preset dev --target pallascope --parallel $(JOBS)
	@.ci/setup-jax gpu
	@python3 tests/capture/run.py build/dev/bin/pallascope build/venv12 $(notdir $(wildcard tests/capture/test_gpu*.py)) $(if $(ONLY),-k "$(ONLY)")

test-jax-all: setup ## the same with every JAX from 0.9 to 0.12 that a Python here runs (a quarter of an hour)
	@cmake --preset dev
	@cmake --build --preset dev --target pallascope --parallel $(JOBS)
	@$(PYTHON) -B tests/capture/run_all.py build/dev/bin/pallascope build $(if $(ONLY),-k "$(ONLY)")

bench: setup ## build and run the benches
	@cmake --preset release -DPALLASCOPE_BUILD_BENCH=ON
	@cmake --build --preset release --parallel $(JOBS)
	@for bench in build/release/bin/bench_*; do echo "== $$bench"; \
	    case $$bench in *_frames) screen="xvfb-run -a -s '-screen 0 1920x1080x24'" ;; *) screen= ;; esac; \
	    eval "$$screen $$bench" || exit 1; done
	@echo "== bench/against_jax.py" && python3 -B bench/against_jax.py $(app)

images: build ## make the pictures and the sample output in README.md again
	@.ci/make-docs $(app)

goldens: build ## draw the pictures that tests/golden compares with again
	@python3 -B tests/golden/golden.py $(app) --write

package: build ## make the .deb and the .tar.gz in build/packages
	@.ci/setup package
	@cmake --build --preset release --parallel $(JOBS)
	@cd build/release && cpack -B ../packages

format: ## lay out all C++ as .clang-format says
	@.ci/setup lint
	@clang-format-14 -i $(sources)

format-check: ## fail if `make format` would change something
	@.ci/setup lint
	@printf '%s\n' $(sources) | xargs -n 64 -P $(JOBS) clang-format-14 --dry-run -Werror

lint: format-check ## clang-format and clang-tidy over all C++ (minutes)
	@cmake --preset dev >/dev/null && cmake --build --preset dev --parallel $(JOBS)
	@run-clang-tidy-14 -quiet -extra-arg=-Wno-unknown-warning-option -j $(JOBS) -p build/dev '^$(CURDIR)/(core|kernels|views|app|bench)/'

clean: ## remove the build folder
	@rm -rf build
