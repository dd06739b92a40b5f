"""The market: consumers, owners, and a broker who never sees a value.

It adds people, time and storage to the core, and no mathematics: clearing, estimates and payments are the core's.
"""
