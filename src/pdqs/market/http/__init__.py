"""The market's doors: the application, its routes, limits, credentials and what an operator can observe."""
