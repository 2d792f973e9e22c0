.PHONY: check format lint types test bench docs

check: lint types test

format:
	ruff format .
	ruff check --fix .

lint:
	ruff format --check .
	ruff check .

types:
	mypy

test:
	pytest -n auto

bench:
	python -m benchmarks

docs:
	python -m docs.generate
	sphinx-build -W -q docs docs/_build
