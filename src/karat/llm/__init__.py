"""Language models behind a chat endpoint: the one client, its store of answers, and asking for many."""
