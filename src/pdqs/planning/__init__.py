"""Before anyone has bid: what a budget buys and what a precision costs."""
