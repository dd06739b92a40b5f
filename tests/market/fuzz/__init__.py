"""A campaign of requests, good and bad, against every route: what is wrong is refused, and nothing faults."""
