"""The certificate: one self-contained HTML page that a data owner can read and a regulator can check."""

from __future__ import annotations

import math
import sys
from html import escape
from importlib import metadata

from pdqs.auditing.pictures import offer_picture, spend_picture, utility_picture
from pdqs.auditing.report import AuditReport
from pdqs.auditing.verdicts import UNPROMISED, Promise, describe_market
from pdqs.present.svg import Svg, element

_SYMBOLS = {"kept": "✓", "on average": "≈", "BROKEN": "✗", "not promised": "–"}
_STATES = {"kept": "kept", "on average": "partly", "BROKEN": "broken", "not promised": "open"}


def certificate_html(report: AuditReport) -> str:
    """The whole page. Nothing in it is fetched from anywhere; it looks the same in ten years."""
    verdict = "kept" if report.kept else "broken"
    broken = ", ".join(promise.title for promise in report.broken)
    headline = "Every promise kept" if report.kept else f"Broken: {broken}"
    body = "\n".join(
        [
            _header(report, verdict, headline),
            f'<section class="promises">{"".join(_card(report, promise) for promise in report.promises)}</section>',
            _pictures(report),
            _counterexample(report),
            _unpromised(report),
            _record(report),
        ]
    )
    return (
        "<!doctype html>\n"
        f'<html lang="en"><head><meta charset="utf-8"><title>Audit of {escape(report.name)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_STYLE}</style></head>\n<body><main>{body}</main></body></html>\n"
    )


def _seal(verdict: str, *, kept: bool) -> Svg:
    stroke = {"fill": "none", "stroke": "currentColor"}
    centre: dict[str, str | float] = {"cx": 60, "cy": 60, **stroke}
    mark = "M36 62 L54 80 L86 42" if kept else "M42 42 L78 78 M78 42 L42 78"
    return element(
        "svg",
        element("circle", r=54, stroke_width=3, **centre),
        element("circle", r=46, stroke_width=1, stroke_dasharray="2 3", **centre),
        element("path", d=mark, stroke_width=9, stroke_linecap="round", stroke_linejoin="round", **stroke),
        class_=f"seal {verdict}",
        viewBox="0 0 120 120",
        role="img",
        aria_label=verdict,
    )


def _header(report: AuditReport, verdict: str, headline: str) -> str:
    return (
        f'<header><div><p class="kind">Audit certificate</p><h1>{escape(report.name)}</h1>'
        f'<p class="headline {verdict}">{escape(headline)}</p>'
        "<p>What this mechanism, which buys answers from people who price their own privacy, keeps of what it promises"
        f" them: measured on {len(report.truthfulness.by_market)} markets of up to"
        f" {max(each.size for each in report.truthfulness.by_market):,} owners, with money in millionths."
        f"</p></div>{_seal(verdict, kept=report.kept)}</header>"
    )


def _card(report: AuditReport, promise: Promise) -> str:
    state = _STATES[promise.verdict]
    return (
        f'<article class="card {state}"><h2><span class="mark">{_SYMBOLS[promise.verdict]}</span>'
        f" {escape(promise.title.capitalize())} <small>{promise.code} · {escape(promise.verdict.lower())}</small></h2>"
        f"<p>{escape(_plain_words(report, promise))}</p>"
        f'<p class="measured">{escape(_sentence(promise.measured))}</p></article>'
    )


def _plain_words(report: AuditReport, promise: Promise) -> str:
    """What a verdict means to a person who is asked to sell her privacy."""
    return {"IC": _truth, "IR": _loss, "BF": _purse, "LDP": _secret, "COV": _answer}[promise.code](report)


def _truth(report: AuditReport) -> str:
    found = report.truthfulness
    if found.kept:
        return "Say what your privacy is worth to you: no other bid that we tried would have left you better off."
    return (
        f"It can pay to lie about your price. {found.gainers:,} of the {found.owners:,} people we looked at gain by a"
        " false bid, and honest people are left with less."
    )


def _loss(report: AuditReport) -> str:
    found = report.rationality
    if not found.kept:
        return "An honest person can be paid less than the price she named for what she gives."
    if found.underpaid_share:
        return (
            "By the contract's own account nobody is paid below her price. But it counts a report as costing you"
            " nothing when the coin hid your value; by the usual measure of privacy"
            f" {found.underpaid_share:.0%} of those asked are paid too little."
        )
    return "If you bid honestly you are never paid less than your own price for the privacy that you give up."


def _purse(report: AuditReport) -> str:
    found = report.budget
    if found.kept_ex_ante and found.kept_ex_post and report.terms.keeps_budget:
        return "The buyer can always pay everyone: no round cost more than the budget, whatever the coins did."
    if found.kept_ex_ante:
        return (
            "The buyer has enough on average only. Who is paid depends on coins, and in"
            f" {found.chance:.0%} of rounds they fall so that the bill is higher than the budget."
        )
    return (
        f"The buyer can promise more than there is: in {found.passed} of {found.markets} markets the payments came to"
        " more than the budget."
    )


def _secret(report: AuditReport) -> str:
    found = report.privacy
    worst = found.worst
    if worst is None:
        return "Nothing was bought, so nobody gave anything away."
    if found.kept:
        most = max(each.stated for each in found.exposures)
        return (
            "Whatever the broker sees of you, your report and your payment, is never more than"
            f" {math.exp(most):,.0f} times likelier for one true value than for another (eps {most:.2f} at most, and"
            " less for those who were asked for less). You can always say: that was the coin."
        )
    if math.isinf(worst.joint):
        return (
            "Your payment gives you away. You are paid only when your report is your true value, so whoever sees that"
            " you were paid knows your value for certain. The noise in the report protects nobody who is paid."
        )
    return "Your report says more about you than you were told, and than you were paid for."


def _answer(report: AuditReport) -> str:
    found = report.coverage
    if found.kept:
        return (
            "The answer's interval holds the truth as often as it says, even where people with something to hide ask"
            " for more."
        )
    worst = found.worst
    return (
        "Whoever relies on the answer is misled. Where prices go with answers, the interval that says 95 times in 100"
        f" held the truth in {worst.covered:,} of {worst.answered:,} rounds."
    )


def _pictures(report: AuditReport) -> str:
    found = report.truthfulness
    title = "The person most tempted to lie" if found.worst.gains else "One person's choices"
    whose = found.profile.who[0].upper() + found.profile.who[1:]
    figures = (
        ("What a bid leaves her", utility_picture(report), "Highest at the truth if the mechanism is truthful."),
        ("What a bid buys", offer_picture(report), "Less truth is bought from a higher price."),
        ("What rounds cost", spend_picture(report), f"{report.budget.rounds:,} rounds of {report.owners:,} owners."),
    )
    drawn = "".join(
        f"<figure><figcaption><b>{title}</b><br><span>{escape(note)}</span></figcaption>{picture}</figure>"
        for title, picture, note in figures
    )
    return (
        f'<section><h2>{title}</h2><p class="whose">{escape(whose)}.</p><div class="pictures">{drawn}</div></section>'
    )


def _counterexample(report: AuditReport) -> str:
    example = report.truthfulness.example
    if not example.gains:
        return ""
    return (
        '<section class="example"><h2>See it for yourself</h2>'
        f"<p>{escape(str(example)[0].upper() + str(example)[1:])}, with {escape(describe_market(example.market))}."
        f" Honest, she is paid {example.honest.payment_micros / 1e6:.6f} and reports truly with chance"
        f" {example.honest.q:.4f}; lying, {example.lying.payment_micros / 1e6:.6f} and {example.lying.q:.4f}."
        "</p></section>"
    )


def _unpromised(report: AuditReport) -> str:
    names = "".join(
        f"<tr><td>{each.names} names</td><td>{each.most_micros / 1e6:.4g}</td>"
        f"<td>{each.most_micros / max(each.mean_payment_micros, 1.0):.0%}</td></tr>"
        for each in report.false_names
    )
    liars = "".join(
        f"<tr><td>{each.share:.0%} ({each.liars})</td><td>{abs(each.shift):.4g}</td>"
        f"<td>± {each.half_width:.4g}</td><td>{each.held} of {each.answered}</td>"
        f"<td>{each.held_widened} of {each.answered}</td></tr>"
        for each in report.poisoning
    )
    enrolled = (
        f"<table><thead><tr><th>enrolled under</th><th>gain</th><th>of mean pay</th></tr></thead>{names}</table>"
        if names
        else "<p>This rule takes a fixed number of owners, so more names could not be tried.</p>"
    )
    return (
        '<section class="unpromised"><h2>What nobody promises, and everybody should know</h2><div class="pair">'
        f"<div><h3>One person, several names</h3><p>The most that one owner was seen to gain by enrolling again.</p>"
        f"{enrolled}</div>"
        "<div><h3>Dishonest reports</h3><p>How far a few liars move the answer, beside its printed interval.</p>"
        "<table><thead><tr><th>liars</th><th>shift</th><th>interval</th><th>holds</th><th>holds if widened</th></tr>"
        f"</thead>{liars}</table></div>"
        f"</div><ul>{''.join(f'<li>{escape(_sentence(said))}</li>' for said in UNPROMISED)}</ul></section>"
    )


def _sentence(said: str) -> str:
    return f"{said[0].upper()}{said[1:]}."


def _checked(report: AuditReport) -> str:
    """How lies were cleared: each in full, or after one owner alone with a sample in full."""
    checks = report.truthfulness.cross_checks
    return f"{checks:,} of them also cleared in full, with the same result" if checks else "each cleared in full"


def _record(report: AuditReport) -> str:
    found = report.privacy
    rows = {
        "Mechanism": report.mechanism,
        "Query": f"{report.terms.query.kind}, {report.terms.domain_size} values",
        "Rule, clearing, contract": f"{report.terms.rule_name}, {report.terms.clearing}, {report.terms.contract}",
        "Budget, owners": f"{report.terms.budget:g} for {report.owners:,} owners, bids {report.terms.bid_range[0]:g}"
        f" to {report.terms.bid_range[1]:g}",
        "Terms (SHA-256)": report.terms.hash,
        "Lies tried": f"{report.truthfulness.misreports:,}, {_checked(report)}; a gain up to a millionth and the"
        " rounding of q (2^-32) is no gain",
        "Rounds for coverage": f"{report.coverage.worst.rounds:,} under each of {len(report.coverage.found)} patterns"
        f" of prices; chance of a false alarm {report.coverage.false_alarm:g}",
        "Privacy draws": f"2 x {found.draws:,} for each of {len(found.exposures)} offers, from the operating system's"
        f" entropy; chance of a false alarm {found.false_alarm:g}",
        "Seed": str(report.seed),
        "Repeat it": report.command,
        "Made with": f"pdqs {metadata.version('pdqs')}, Python {sys.version_info.major}.{sys.version_info.minor}",
    }
    cells = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in rows.items())
    return (
        f'<section class="record"><h2>The record</h2><table>{cells}</table>'
        "<p>An audit finds what it looks for: a broken promise is proof, a kept one is evidence. The privacy of a"
        " single report and its payment is computed exactly; lies, markets and rounds are searched and sampled.</p>"
        "</section>"
    )


_STYLE = """
:root { --ink: #1d2733; --soft: #5b6875; --line: #dfe5ea; --good: #00735a; --bad: #b3261e; --paper: #fff; }
* { box-sizing: border-box; }
body { margin: 0; background: #eef2f5; color: var(--ink);
  font: 15px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
main { max-width: 1080px; margin: 28px auto; background: var(--paper); border: 1px solid var(--line);
  border-radius: 14px; padding: 36px 44px 28px; box-shadow: 0 6px 30px rgb(29 39 51 / .07); }
header { display: flex; gap: 32px; justify-content: space-between; align-items: center;
  border-bottom: 2px solid var(--ink); padding-bottom: 18px; }
header p { margin: 4px 0; color: var(--soft); max-width: 62ch; }
.kind { text-transform: uppercase; letter-spacing: .16em; font-size: 12px; }
h1 { font: 600 34px/1.15 Georgia, "DejaVu Serif", serif; margin: 2px 0 4px; }
h2 { font: 600 19px/1.3 Georgia, "DejaVu Serif", serif; margin: 0 0 6px; }
h3 { font-size: 15px; margin: 0; }
header .headline { font-size: 18px; font-weight: 600; }
.kept { color: var(--good); } .broken { color: var(--bad); } header p.kept { color: var(--good); }
header p.broken { color: var(--bad); }
.seal { width: 116px; flex: none; transform: rotate(-8deg); }
.promises { display: grid; grid-template-columns: 1fr 1fr; gap: 14px; margin: 22px 0; }
.promises .card:last-child { grid-column: 1 / -1; }
.unpromised ul { margin: 14px 0 0; padding-left: 20px; color: var(--soft); font-size: 13.5px; }
.card { border: 1px solid var(--line); border-left: 5px solid; border-radius: 8px; padding: 14px 18px; }
.card.open { color: var(--soft); } .card.partly { color: #8a5a00; }
.card p { color: var(--ink); margin: 4px 0; } .card h2 small { font: 500 12px/1 system-ui, sans-serif; opacity: .8; }
.card .measured { color: var(--soft); font-size: 13px; }
section { margin: 20px 0; }
.whose { margin: 0 0 6px; color: var(--soft); }
.pictures { display: grid; grid-template-columns: repeat(3, 1fr); gap: 16px; }
figure { margin: 0; } figure svg { width: 100%; height: auto; display: block; }
figcaption { font-size: 13.5px; line-height: 1.35; margin-bottom: 4px; }
figcaption span { color: var(--soft); font-size: 12.5px; }
.example { background: #fff6f2; border: 1px solid #f2d5c8; border-radius: 8px; padding: 12px 18px; }
.example p { margin: 0; }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 28px; }
.pair p { margin: 2px 0 6px; color: var(--soft); font-size: 13.5px; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 4px 10px 4px 0; border-top: 1px solid var(--line); vertical-align: top; }
thead th { border-top: 0; color: var(--soft); font-weight: 500; }
.pair td + td, .pair th + th { text-align: right; }
.record th { width: 190px; color: var(--soft); font-weight: 500; }
.record td { overflow-wrap: anywhere; } .record p { color: var(--soft); font-size: 13px; }
@media (max-width: 760px) { main { padding: 22px 18px; margin: 0; border-radius: 0; }
  .promises, .pair, .pictures { grid-template-columns: 1fr; } .seal { width: 78px; } }
@media print { :root { --soft: #333c46; --line: #aab4bd; }
  body { background: #fff; font-size: 11pt; } main { border: 0; box-shadow: none; margin: 0; padding: 0; }
  .promises { grid-template-columns: 1fr 1fr; } .pair { grid-template-columns: 1fr; }
  .kind, .card h2 small, .card .measured, .unpromised ul, .pair p, .record p, table, figcaption, figcaption span
  { font-size: 10pt; } .card, figure, .example, tr { break-inside: avoid; } h2 { break-after: avoid; }
  .pictures { grid-template-columns: 1fr; } figure svg { max-width: 120mm; } }
"""
