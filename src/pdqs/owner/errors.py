"""Why a device says no, as one tree below :class:`pdqs.errors.PdqsError`.

::

    PdqsError
    └── DeviceError
        ├── OfferRefused     the round or the offer is not what it says it is, or pays too little
        ├── CapReached       the owner's lifetime cap would be passed
        ├── LedgerError      the device's own file cannot be trusted or written
        └── MarketError      the market did not answer, or said no
"""

from __future__ import annotations

from pdqs.errors import PdqsError


class DeviceError(PdqsError):
    """The device stopped before anything was sent."""


class OfferRefused(DeviceError):  # noqa: N818  a refusal is what it is
    """The offer does not keep its own promises; the message says which."""


class CapReached(DeviceError):  # noqa: N818  a state, and the word owners know it by
    """Reporting would pass the owner's own lifetime cap for this attribute."""


class LedgerError(DeviceError):
    """The device's ledger is missing, locked or not a ledger."""


class MarketError(DeviceError):
    """The market could not be reached, or refused; what is stored on the device stays as it was."""
