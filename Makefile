.PHONY: check format lint types test bench

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
	pytest

bench:
	python -m benchmarks
