# SPDX-License-Identifier: Apache-2.0
# Short names for what CMake, Ninja, ctest and pytest do. Options:
#   SAN=address,undefined | SAN=thread   build and test with sanitizers, in a build folder of their own
#   JOBS=n                               parallel compilations and tests (default: all processors)
#   PYTHON=python3.12                    base of the virtual environments, when they are made
#   PREFIX=/usr/local DESTDIR=           where `make install` puts things

SAN ?=
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local

comma := ,
BUILD := build$(if $(SAN),-$(subst $(comma),-,$(SAN)))
# The virtual environments hold no code of ours, so all build folders share them.
VENV_PYTHON := $(abspath build/venv/bin/python)

.PHONY: build configure deps check check-fast check-long coverage docs demo bench bench-peers edge-sizes fmt install wheel clean distclean

build: configure
	@cmake --build $(BUILD) --parallel $(JOBS)
# Imports are quick from the first one on, also where Python is told not to write bytecode.
	@$(VENV_PYTHON) -m compileall -q $(BUILD)/py/spore python/spore

configure: deps
	@test -f $(BUILD)/build.ninja || cmake -S . -B $(BUILD) -G Ninja -DSPORE_SANITIZE="$(subst $(comma),;,$(SAN))" -DSPORE_WERROR=ON -DPython_EXECUTABLE=$(VENV_PYTHON) --log-level=WARNING

deps:
	@scripts/deps

check: build
	@$(VENV_PYTHON) scripts/check --build $(BUILD) --san "$(SAN)" --jobs $(JOBS)

# Under a minute: what breaks first.
check-fast: build
	@$(VENV_PYTHON) scripts/check --build $(BUILD) --jobs $(JOBS) --fast

check-long: build
	@scripts/deps long
	@$(VENV_PYTHON) scripts/check --build $(BUILD) --san "$(SAN)" --jobs $(JOBS) --long

# Which lines of C the tests of `make check` run, by folder; a build of its own, most of an hour.
coverage: deps
	@test -f build-coverage/build.ninja || cmake -S . -B build-coverage -G Ninja -DSPORE_COVERAGE=ON -DSPORE_WERROR=OFF -DPython_EXECUTABLE=$(VENV_PYTHON) --log-level=WARNING
	@cmake --build build-coverage --parallel $(JOBS)
	@scripts/coverage --build build-coverage --forget
	-@$(VENV_PYTHON) scripts/check --build build-coverage --jobs $(JOBS)
	@scripts/coverage --build build-coverage

# The site: build/docs/html/index.html opens without a server; build/docs/man has the manual pages of the command.
docs: build
	@scripts/deps docs
	@PYTHONPATH=$(abspath $(BUILD))/py $(VENV_PYTHON) scripts/make-docs --build $(BUILD)

# Builds the Python module alone: no tests, no command.
demo: configure
	@cmake --build $(BUILD) --parallel $(JOBS) --target spore_core spore_package
	@PYTHONPATH=$(abspath $(BUILD))/py $(VENV_PYTHON) -m spore.demo

bench: build
	@PYTHONPATH=$(abspath $(BUILD))/py SPORE_BUILD=$(abspath $(BUILD)) $(VENV_PYTHON) bench/run.py $(BENCH)

# Peers are interpreters named by SPORE_BENCH_PEER and SPORE_BENCH_MINDSPORE; ROWS="matmul conv" takes some groups only.
bench-peers: build
	@PYTHONPATH=$(abspath $(BUILD))/py SPORE_BUILD=$(abspath $(BUILD)) $(VENV_PYTHON) bench/peers.py $(ROWS)

# Programs that run one model with a library trimmed to it: bytes, and what they are linked with. Builds two small libraries.
edge-sizes: build
	@PYTHONPATH=$(abspath $(BUILD))/py SPORE_BUILD=$(abspath $(BUILD)) $(VENV_PYTHON) tests/small/edge_sizes.py

fmt:
	@scripts/fmt

install: build
	@DESTDIR=$(DESTDIR) cmake --install $(BUILD) --prefix $(PREFIX) --component spore --strip

# For other people's machines: build/wheels/*.whl. ARCH=aarch64 cross-builds.
wheel: configure
	@scripts/deps wheel
	@build/venv-wheel/bin/python scripts/make-wheel $(if $(ARCH),--arch $(ARCH)) --jobs $(JOBS)

# The virtual environments stay: making them again may need the network.
clean:
	@rm -rf build-*
	@test ! -d build || find build -mindepth 1 -maxdepth 1 ! -name 'venv*' -exec rm -rf {} +

distclean:
	@rm -rf build build-*
