# Every target is one command a person could type; `make help` shows them. The programs live in .venv, made on first use.
.DEFAULT_GOAL := help
.PHONY: help demo test test-long test-notebooks test-exhaustive golden lab setup sandbox release site format lint lock gpu-check colab-check experiments-check image image-test clean

VENV    := .venv
WORKERS ?= 2
TENSORFLOW ?= 2.20
LAB     := 02_self_attention
IMAGE   ?= transformers-course
WITH    := PATH="$(CURDIR)/$(VENV)/bin:$$PATH"
STAMP   := $(VENV)/.installed$(if $(filter-out 0,$(GPU)),-gpu)
export GPU IMAGE PYTHON
unexport PYTHONDONTWRITEBYTECODE # else each of the hundreds of processes that tests start compiles our code again

help: ## this list
	@echo 'Start with "make demo" (sets up, grades sample submissions) and "make test". Then:'
	@echo
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-26s%s\n", $$1, $$2 }'
	@echo
	@echo 'Switches: GPU=1 (CUDA wheels, Linux)   PYTHON=python3.12   WORKERS=2 (in parallel)'
	@echo 'The "course" command does the rest: .venv/bin/course --help'

demo: setup sandbox ## grade the sample submissions of lab 02 and show the marks
	@unsafe=; tools/setup.sh has-sandbox || { unsafe=--unsafe; \
	echo 'No sandbox here (see above). These samples are our own and harmless, so they are graded without it.'; \
	echo 'Never do so with other people'"'"'s code.'; }; \
	set -- course grade $(LAB) exercises/samples/$(LAB) --out demo --db sqlite:///demo/gradebook.db \
	--workers $(WORKERS) $$unsafe; echo "$$@"; $(WITH) "$$@"

RUN     := pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder
PYTEST  := python -m $(RUN)
SHORT   := not long and not exhaustive
TESTS   ?= $(SHORT)
test: setup sandbox ## what each change must pass, ten minutes: `course release --check`, and pytest without what takes long
	$(WITH) $(PYTEST) -p no:nbval -m '$(TESTS)' tests

# As many notebooks at once as there are cores, each with one thread: threads that wait for each other cost a seventh more.
NBVAL   := --nbval-lax --nbval-current-env --nbval-kernel-startup-timeout 600
test-notebooks: export OMP_NUM_THREADS := 1
test-notebooks: export TF_NUM_INTRAOP_THREADS := 1
test-notebooks: setup ## run the notebooks whose record is behind, with nbval, and record them (ALL=1: every notebook)
	@$(WITH); which=$${NOTEBOOKS-$$(python tests/notebook_records.py $(if $(filter-out 0,$(ALL)),all,behind))}; \
	if [ -z "$$which" ]; then echo "Every notebook has run as it is: see tests/notebook_records.jsonl."; exit; fi; \
	set -x; $(PYTEST) $(NBVAL) $$which

test-long: export HYPOTHESIS_EXAMPLES := 500
test-long: setup sandbox ## the tests that take minutes each; goes on where it was stopped
	@mkdir -p build/coverage
	$(WITH) coverage run -m $(RUN) -p no:nbval --resume -m long tests
	$(WITH) coverage run -m $(RUN) -p no:nbval -q -m '$(SHORT)' tests
	@echo 'A warning, no failure: branches of what decides a mark that no test takes ("12->15": from line 12 to 15).'
	@$(WITH); coverage combine -q --append; coverage report || true

test-exhaustive: setup sandbox ## an hour and more: check and grader on every answer, a hundred kills; goes on where it was stopped
	$(WITH) $(PYTEST) -p no:nbval --resume -m exhaustive tests
	$(WITH) course author mutants

golden: setup sandbox ## judge every answer on record again and list what differs (LAB=…: one lab; half an hour for all)
	$(WITH) python tools/golden.py compare $(if $(filter command line,$(origin LAB)),--lab $(LAB))

lab: setup ## open JupyterLab, with nbgrader's extension, on a page with lectures, labs and your points
	$(WITH) python -m coursekit start

setup: $(STAMP) ## make .venv from requirements/lock.txt; nothing to do when it is current

sandbox: ## install bubblewrap where that can be done without asking, else say what to type
	@tools/setup.sh sandbox

release: setup ## regenerate labs/ and the reference outputs from solutions/
	$(WITH) course release

site: setup ## build the web site into build/site; npm fetches MathJax once
	$(WITH) course site

format: setup ## lay out the code, and mend what ruff can mend
	$(WITH) ruff format .
	$(WITH) ruff check --fix .

lint: setup ## check the code, and the notebooks' text pairs, with ruff; the types of both packages with mypy
	$(WITH) ruff check .
	$(WITH) ruff format --check .
	$(WITH) mypy

lock: setup ## resolve pyproject.toml again, keeping pins that still fit (UPGRADE=1: take the newest)
	$(WITH) tools/lock.sh $(if $(UPGRADE),--upgrade)

gpu-check: setup ## show what TensorFlow sees and time one training step on each device
	$(WITH) python tools/gpu_check.py

colab-check: setup ## run lectures and labs with Colab's versions (TENSORFLOW=2.21: the lock's; ONLY="lab 02")
	$(WITH) python tools/colab_check.py --tensorflow $(TENSORFLOW) --only '$(ONLY)'

experiments-check: setup ## repeat the cheapest run of each experiment, compare with its record (DATA=FOLDER; ONLY=positions)
	$(WITH) python tools/experiments_check.py $(ONLY) $(if $(DATA),--data '$(DATA)')

image: ## build the container image (CPU; GPU=1 for CUDA) with docker, podman or buildah
	tools/image.sh build

image-test: ## build it, then start JupyterLab, run a lecture and grade a lab inside
	tools/image.sh test

clean: ## remove what demo, tests and builds leave behind; .venv stays
	rm -rf demo build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -path ./$(VENV) -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.installed: requirements/lock.txt requirements/bootstrap.txt pyproject.toml tools/setup.sh
	GPU=0 tools/setup.sh python
	@touch $@

$(VENV)/.installed-gpu: $(VENV)/.installed requirements/gpu.txt
	GPU=1 tools/setup.sh python
	@touch $@
