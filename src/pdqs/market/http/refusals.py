"""Answers that are errors: of the one shape for programs, and a page for people."""

from __future__ import annotations

from fastapi import Request
from fastapi.responses import RedirectResponse, Response

from pdqs.market.http.plain_answers import asks_for_a_page
from pdqs.market.pages.render import page
from pdqs.market.pages.session import own_path
from pdqs.protocol.problems import PROBLEM_JSON, ProblemType, problem_json


def problem_response(status: int, type_: ProblemType, title: str, detail: str) -> Response:
    """An error of the one shape."""
    headers = {"www-authenticate": "Bearer"} if status == 401 else None
    body = problem_json(status, type_, title, detail)
    return Response(body, status_code=status, media_type=PROBLEM_JSON, headers=headers)


def is_a_person(request: Request) -> bool:
    """Whether a browser asks for a page, and not a program for an answer."""
    return asks_for_a_page(request.scope)


def no_such_page(request: Request) -> Response:
    """404 for someone who followed a wrong link; one with a slash too many leads to the page without it."""
    path = request.url.path.rstrip("/")
    if request.method == "GET" and path != request.url.path and own_path(path):
        query = f"?{request.url.query}" if request.url.query else ""
        return RedirectResponse(own_path(path + query) or path, status_code=307)
    detail = "there is nothing at this address: the link may be old, or a letter of it missing"
    return page(request, "error.html", status=404, title="No such page", detail=detail)


def unavailable(request: Request, detail: str) -> Response:
    """503: nothing was changed, and it may be asked again in a moment."""
    if is_a_person(request):
        answer: Response = page(request, "error.html", status=503, title="Not just now", detail=detail)
    else:
        answer = problem_response(503, ProblemType.UNAVAILABLE, "Service unavailable", detail)
    answer.headers["retry-after"] = "1"
    return answer
