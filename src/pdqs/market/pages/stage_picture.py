"""The picture of a round in stages: what each of them left open, down to the interval of the answer."""

from __future__ import annotations

from pdqs.market.pages.numerals import short
from pdqs.model.spelling import Mark
from pdqs.present.svg import Svg, element, picture
from pdqs.protocol.market_messages import AnswerMessage, Round

_WIDTH, _LEFT, _RIGHT, _ROW = 360.0, 66.0, 346.0, 26.0


def value_at(found: Round, code: int) -> float:
    """The value of a code in the round's domain."""
    domain = found.plan.query.domain
    return domain.start + domain.step * code


def narrowing(found: Round, answer: AnswerMessage | None, mark: Mark = ".") -> Svg:
    """A row for each stage that has opened: the whole domain, what is ruled out of it, and what is left open."""
    size = found.plan.query.domain.size
    rows = [(f"Stage {each.number}", value_at(found, each.low), value_at(found, each.high)) for each in found.stages]
    if answer is not None and answer.interval:
        low_end, high_end = answer.interval[0]
        rows.append(("Answer", low_end, high_end))
    least, most = value_at(found, 0), value_at(found, size - 1)

    def across(value: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * (value - least) / (most - least)

    body: list[Svg] = []
    for place, (label, low, high) in enumerate(rows):
        middle, kind = _ROW * place + 16, "bar" if label == "Answer" else "bar soft"
        left, right = across(low), max(across(high), across(low) + 3.0)
        body.append(element("text", label, x=_LEFT - 8, y=middle + 4, text_anchor="end"))
        ruled_out = [(start, end) for start, end in ((_LEFT, left - 2), (right + 2, _RIGHT)) if end > start]
        body += [
            element("rect", class_="track", x=x, y=middle - 3, width=end - x, height=6, rx=3) for x, end in ruled_out
        ]
        body.append(element("rect", class_=kind, x=left, y=middle - 8, width=right - left, height=16, rx=5))
    height = _ROW * len(rows) + 28
    ends = ((_LEFT, least, "start"), (_RIGHT, most, "end"))
    body += [element("text", short(end, 4, mark), x=x, y=height - 8, text_anchor=side) for x, end, side in ends]
    text = "; ".join(f"{label}: {short(low, 4, mark)} to {short(high, 4, mark)}" for label, low, high in rows)
    return picture("narrowing", _WIDTH, height, *body, title="What is left open", text=f"{text}.", class_="chart")
