"""The paper's experiments, and ours beside them.

``setups`` says what is run, ``mechanisms`` by which rules, ``cells`` runs one point of one figure, ``runner`` runs all
of them and can be stopped at any moment, ``results`` reads what came out, ``claims`` judges the paper by it, and
``figures`` and ``report`` show it. ``verify`` and ``fetch`` look after the raw files that the populations were
counted from.
"""
