# The commands of this book: `make help` lists them.
# Paths are relative throughout, so that the folder may have any name.

.DEFAULT_GOAL := help
.PHONY: help book test test-all test-release test-fast live lab notebooks pdf zip class binder dist test-matrix oracle pytorch-page jupyter-book-2 lists run-here kernels links audit bench cheating beginnings ablations recurrence model writer sizes variants uncovering sums public-model circuits findings mutants constraints clean
.NOTPARALLEL:

# What is run comes from .venv alone, and so does the kernel that executes the chapters.
# Its modules stay compiled, also where that is turned off for all, as in containers: many processes import them.
unexport PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE
export JUPYTER_PREFER_ENV_PATH = 1
# The book's matrices are small: more threads only wait for each other, three times as long on a busy machine.
export OPENBLAS_NUM_THREADS = 1

BOOK = _build/html/index.html
RUN = .venv/$(if $(filter Windows_NT,$(OS)),Scripts,bin)/python

# Debian's own Python, say, is older than others of its number: where it can make environments, it is tried first.
SYSTEM = $(shell /usr/bin/python3 -c "import ensurepip" 2>/dev/null && echo /usr/bin:)

# JupyterLab asks for this word where one is root, as in a container.
AS_ROOT = $(if $(filter 0,$(shell id -u)),--allow-root)

# Two processes.  A file that shares a browser, a server or a small book stays in one of them; they begin in the order of
# tests/conftest.py, so that both processes end at about the same time.
PYTEST = $(RUN) -m pytest --numprocesses=2 --dist=loadfile --no-loadscope-reorder

# $(call set_up,steps): bring .venv up to date; says nothing when it is.
set_up = @python=$$(sh tools/find_python.sh) && "$$python" -m tools.environment $(1)

# What `make help` lists below each heading; what is new and in no list comes last.
MOST = book live lab test test-fast pdf clean
PUBLISH = notebooks zip class binder dist
TRY = test-all test-release test-matrix oracle kernels run-here audit links jupyter-book-2 bench mutants
RENEW = lists pytorch-page cheating beginnings ablations recurrence model writer sizes variants uncovering sums public-model circuits findings constraints
OTHERS = $(filter-out $(MOST) $(PUBLISH) $(TRY) $(RENEW),$(shell sed -n 's/^\([a-z0-9-]*\):.*  ## .*/\1/p' Makefile))
listed = printf '\n%s\n' $(1); for target in $(2); do \
	sed -n "s/^$$target:[a-z -]*  \#\# \(.*\)/  $$target:\1/p" Makefile; done \
	| awk '{colon = index($$0, ":"); printf "%-17s %s\n", substr($$0, 1, colon - 1), substr($$0, colon + 1)}'

help:  ## list these targets
	@echo "make TARGET, where TARGET is one of"
	@$(call listed,"What most people need:",$(MOST))
	@$(call listed,"To hand the book on:",$(PUBLISH))
	@$(call listed,"To try it in other ways than make test does:",$(TRY))
	@$(call listed,"To renew what is kept (contributing/ says when):",$(RENEW))
	@$(call listed,"Besides:",$(OTHERS))
	@echo
	@echo "PYTHON=/path/to/python chooses the Python (3.11, 3.12 or 3.13) that .venv is made with."

book:  ## set everything up and build the book
	$(call set_up,book model)
	@echo "Building the book; the first time, every cell is executed."
	@$(RUN) -m bookbuild.build
	@echo "The book is at $(BOOK)"

test:  ## set everything up, build the book and test all that a reader would notice, in a browser too
	$(call set_up,book model test browser)
	@echo "Building the book; the first time, every cell is executed."
	@$(RUN) -m bookbuild.build
	@echo "Checking the code's style with ruff."
	@$(RUN) -m ruff check
	@echo "Running the tests with pytest."
	@$(PYTEST) -m "not release"
	@echo "All tests passed. The book that they tested is $(BOOK)"

test-all: test test-release kernels  ## what make test does, what a release wants besides, and other processors

test-release: book  ## test PDF, JupyterLab, class, rebuilt books, every figure and the tools
	$(call set_up,test browser)
	@echo "Running the tests that a release wants with pytest."
	@$(PYTEST) -m release

test-fast: book  ## the same with the tests of the helper and of the text alone: no browser, less than a minute
	$(call set_up,test)
	@$(RUN) -m ruff check
	@$(RUN) -m pytest --numprocesses=2 --dist=worksteal -m "not browser" tests/helper tests/text

live:  ## serve the book, rebuild it on save, the open page first, and reload that (PORT)
	$(call set_up,book model)
	@$(RUN) -m bookbuild.live $(PORT)

lab:  ## open the chapters as notebooks in JupyterLab
	$(call set_up,book model)
	@echo "Starting JupyterLab: double-click a chapter, and it opens as a notebook. Ctrl-C stops it."
	@echo "The same server has the book, once it is built, at /static/index.html."
	@$(RUN) -m jupyterlab $(AS_ROOT) --ServerApp.extra_static_paths=_build/html chapters

notebooks: book  ## write the chapters as plain notebooks (.ipynb) for Colab into _build/notebooks
	@$(RUN) -m bookbuild.products.notebooks

pdf: book  ## write the whole book as one PDF, beside the pages
	$(call set_up,book model test browser)
	@echo "Printing the book, which takes a minute or two."
	@$(RUN) -m bookbuild.products.pdf

zip: book  ## pack the pages into one zip to read offline, beside them
	@$(RUN) -m bookbuild.products.offline_zip

class: book  ## write notebooks without solutions; with SUBMISSIONS=folder, also grade those handed in
	@$(RUN) -m bookbuild.teach.classroom $(if $(SUBMISSIONS),"$(SUBMISSIONS)" $(TIMEOUT))

binder:  ## follow Binder's recipe without a container, then run chapters in what it made (needs the network)
	$(call set_up,test browser nox)
	@$(RUN) -m nox --error-on-missing-interpreters --session binder

dist:  ## build the helper package into _build/dist, as a wheel and with its sources
	$(call set_up,book test)
	@rm -rf _build/dist
	@$(RUN) -m hatchling build --directory _build/dist

test-matrix:  ## try the helper on Python 3.11 to 3.13 and the lowest versions (needs the network; PYTHONS, VERSIONS)
	$(call set_up,nox)
	@PATH="$(SYSTEM)$$PATH" $(RUN) -m nox $(if $(PYTHONS),--error-on-missing-interpreters --pythons $(PYTHONS)) --keywords "$(or $(VERSIONS),pinned or lowest)"

oracle:  ## compare the helper, every gradient and checkpoints with PyTorch's (needs the network once)
	$(call set_up,nox)
	@$(RUN) -m nox --session oracle

pytorch-page:  ## run the code of the page From NumPy to PyTorch, and keep what it prints (needs the network once)
	$(call set_up,nox)
	@$(RUN) -m nox --session pytorch-page

jupyter-book-2:  ## parse the book with Jupyter Book 2, which is to stay possible (needs the network once)
	$(call set_up,book nox)
	@$(RUN) -m nox --session jupyter-book-2

lists:  ## write what is made from the chapters: times at their heads, tables and sums in README and teaching page
	$(call set_up,book)
	@$(RUN) -m tools.lists

run-here: book  ## run every cell of every chapter in the page's own Python, in Chromium, and list what differs
	$(call set_up,book model test browser)
	@echo "Running every cell in a browser, which takes some minutes."
	@$(RUN) -m tools.run_here $(CHAPTERS)

kernels: book  ## run all cells as other processors would, all trainings anew, and list what differs (CHAPTERS)
	$(call set_up,test)
	@echo "Running every cell as other processors would; each takes as long as building the book."
	@$(RUN) -m tools.kernels $(CHAPTERS)

links: book  ## ask for every link of the book and list the dead ones (needs the network)
	@echo "Asking for every link, which takes some minutes."
	@$(RUN) -m tools.links

audit: book  ## score every page with Lighthouse as on a phone, or PAGES="index.html …" (needs the network once)
	$(call set_up,test browser)
	@echo "Auditing the pages one after another, which takes some minutes."
	@$(RUN) -m tools.audit $(PAGES)

bench:  ## measure how fast the helper package is
	$(call set_up,book model test)
	@echo "Timing the helper package."
	@$(RUN) -m tests.bench.bench

cheating:  ## train two models for chapter 6, one of which sees what comes next, on a die and a rule; takes a minute
beginnings:  ## train chapter 14's first task on rows that begin at other places, which takes ten minutes, for chapter 10
ablations:  ## measure what breaks without each part of a model, which takes half an hour, for chapter 14
recurrence:  ## train recurrent networks beside chapter 14's Transformer, which takes some minutes
model:  ## train chapter 15's model and others like it, which takes some minutes, and keep it for the package
writer:  ## train chapter 16's model, keep it for the package, and mix it with another start; takes two minutes
sizes:  ## train chapter 16's model in five sizes, which takes some minutes, and keep what came of each
variants:  ## train chapter 16's model with today's parts, which takes twenty minutes, for chapter 19
uncovering:  ## train chapter 16's model to uncover hidden words, which takes some minutes, for chapter 19
sums:  ## train models of one layer that add, which takes ten minutes, for chapter 20
cheating beginnings ablations recurrence model writer sizes variants uncovering sums:
	$(call set_up,book)
	@echo "Training every model; Ctrl-C stops, and the same command goes on."
	@$(RUN) -m tools.measure $@

public-model:  ## ask the published model what its first chapter counts, which takes a quarter of an hour (NAMES)
	$(call set_up,book model)
	@$(RUN) -m tools.measure public_model

circuits:  ## count what is inside the published model, which takes half an hour (NAMES)
	$(call set_up,book model)
	@$(RUN) -m tools.measure $@

findings:  ## try what the book has found elsewhere, which takes some minutes, or NAMES="collapse machine" alone
	$(call set_up,book model)
	@echo "Measuring what the book has found at other sizes, seeds and sentences."
	@$(RUN) -m tools.findings $(NAMES)

mutants:  ## change the helper's mathematics one thing at a time: do its tests notice? (half an hour, or MODULES=softmax)
	$(call set_up,nox)
	@$(RUN) -m nox --session mutants -- $(MODULES)

constraints:  ## renew the pinned versions in constraints.txt (needs the network)
	$(call set_up,nox)
	@$(RUN) -m nox --session constraints

clean:  ## delete what was built and every cache (.venv stays)
	@echo "Deleting _build and the caches of the tests."
	@rm -rf _build .pytest_cache .hypothesis .ruff_cache
	@echo "Clean. For a set-up from nothing, delete .venv and node_modules too."
