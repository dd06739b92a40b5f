"""Why a device says no, as one tree below :class:`pdqs.model.errors.PdqsError`.

When the market does not answer or says no, that is :class:`pdqs.protocol.problems.MarketError`.

::

    PdqsError
    └── DeviceError
        ├── OfferRefused     the round or the offer is not what it says it is, or pays too little
        ├── CapReached       one of the owner's lifetime caps would be passed
        ├── OwnerMustAgree   something is new, and she has not been asked about it
        └── LedgerError      the device's own file cannot be trusted or written
"""

from __future__ import annotations

from pdqs.model.errors import PdqsError


class DeviceError(PdqsError):
    """The device stopped before anything was sent."""


class OfferRefused(DeviceError):  # noqa: N818  a refusal is what it is
    """The offer does not keep its own promises; the message says which."""


class CapReached(DeviceError):  # noqa: N818  a state, and the word owners know it by
    """Reporting would pass the owner's own lifetime cap, for this attribute or over all."""


class OwnerMustAgree(DeviceError):  # noqa: N818  a state
    """The owner has to agree to something first; the message says what."""


class LedgerError(DeviceError):
    """The device's ledger is missing, locked, damaged or not a ledger."""
