"""Statistics of columns of numbers, whatever they are of."""
