"""What a report costs in privacy, and how it is drawn: eps and q, contracts, the randomiser and its entropy."""
