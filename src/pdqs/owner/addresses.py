"""One market has one name here, however its address was spelled. The browser's twin is in ``browser/account.mjs``."""

from __future__ import annotations

import re
from functools import lru_cache

_USUAL_PORT = {"http": ":80", "https": ":443"}


@lru_cache(maxsize=256)
def one_address(market: str) -> str:
    """A market's address as all spellings of it are spelled; what is no address stays as it is.

    >>> one_address("HTTPS://Market.Example:443/Prefix/")
    'https://market.example/Prefix'
    >>> one_address("somewhere else")
    'somewhere else'
    """
    found = re.fullmatch(r"(https?)://([^/?#\s]*)(.*)", market, re.IGNORECASE | re.DOTALL)
    if found is None:
        return market
    scheme, host = found[1].lower(), found[2].lower()
    return f"{scheme}://{host.removesuffix(_USUAL_PORT[scheme])}{found[3]}".rstrip("/")
