"""The metrics: `METRICS` of `base` has them by name, and imports a family of them when it is needed."""
