"""How work is cut and spread: chunks of documents, processes."""
