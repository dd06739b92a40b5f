"""Nouns that stand alone: domains, questions, queries, priors, money, columns, errors, names of choices."""
