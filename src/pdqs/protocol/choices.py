"""A choice on the wire: one of the names there are, in the schema too."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from pdqs.model.names import Choice


@final
@dataclass(frozen=True, slots=True)
class OneOf:
    """Marks a text of a message that must be one of these names; it is kept as a plain string.

    >>> from typing import Annotated
    >>> from pydantic import TypeAdapter
    >>> from pdqs.model.names import ContractName
    >>> TypeAdapter(Annotated[str, OneOf(ContractName)]).json_schema()["enum"]
    ['on-report', 'on-selection']
    """

    choices: Iterable[Choice]

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """The same schema as a ``Literal`` of the names has."""
        return core_schema.literal_schema([choice.value for choice in self.choices])
