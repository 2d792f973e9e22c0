"""One module for each verb, named like the verb: its options, its result and its function."""
