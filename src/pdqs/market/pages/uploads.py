"""Forms of operators that carry a file."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Depends, Request
from starlette.datastructures import FormData, UploadFile

from pdqs.protocol.problems import ProblemType, UnprocessableError


async def _with_a_file(request: Request) -> AsyncIterator[FormData]:
    async with request.form(max_files=1, max_fields=20) as form:  # closes the file
        yield form


Uploaded = Annotated[FormData, Depends(_with_a_file)]
"""Fields of a form that may carry one file; its CSRF token is still to be checked."""


async def file_of(form: FormData) -> bytes:
    """The file of a form; refused when none was chosen."""
    found = form.get("file")
    if not isinstance(found, UploadFile) or not (found.filename or found.size):
        raise UnprocessableError(ProblemType.BAD_LIST, "choose a file first")
    if not found.size:
        raise UnprocessableError(ProblemType.BAD_LIST, "this file is empty: save it once more, and choose it again")
    return await found.read()
