"""Answers that are errors: of the one shape for programs, and a page for people."""

from __future__ import annotations

from fastapi import Request
from fastapi.responses import Response

from pdqs.market.pages.render import page
from pdqs.protocol.problems import PROBLEM_JSON, ProblemType, problem_json


def problem_response(status: int, type_: ProblemType, title: str, detail: str) -> Response:
    """An error of the one shape."""
    headers = {"www-authenticate": "Bearer"} if status == 401 else None
    body = problem_json(status, type_, title, detail)
    return Response(body, status_code=status, media_type=PROBLEM_JSON, headers=headers)


def unavailable(request: Request, detail: str) -> Response:
    """503: nothing was changed, and it may be asked again in a moment."""
    if "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/v1/"):
        answer: Response = page(request, "error.html", status=503, title="Not just now", detail=detail)
    else:
        answer = problem_response(503, ProblemType.UNAVAILABLE, "Service unavailable", detail)
    answer.headers["retry-after"] = "1"
    return answer
