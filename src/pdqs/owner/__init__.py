"""The owner's device: what it says (``messages``), what it checks and what it keeps."""
