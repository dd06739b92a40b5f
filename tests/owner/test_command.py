"""``pdqs owner`` against a real market: enrol, bid, report, resend, and nothing of the value left behind."""

from __future__ import annotations

import json
import re
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from market.pages.site import Site
from market.pages.test_canary import CODE, PLAN, VALUE, cells_of, listening
from pdqs.cli import main
from pdqs.cli.owner_device import device_file
from pdqs.market import access, offer_access, people, reads, round_steps, transfers
from pdqs.owner.client import OwnerClient
from pdqs.owner.errors import LedgerError
from pdqs.owner.ledger import Ledger
from pdqs.owner.statement import Money
from pdqs.protocol import transport
from pdqs.protocol.device_messages import Bid, Offer
from pdqs.protocol.market_messages import Transfer, User
from pdqs.protocol.problems import MarketError, ProblemType, UnauthorizedError

from .commands import Owner


def opened(site: Site) -> str:
    consumer, _ = site.invite("consumer", "Bureau")
    site.deposit(consumer, 100_000_000)
    round_id = round_steps.draft_round(site.market, consumer, PLAN, "key-command").round_id
    terms_hash = round_steps.open_round(site.market, consumer, round_id).terms_hash
    assert terms_hash is not None
    other, _ = site.invite("owner", "Bob")
    round_steps.place_bid(site.market, other, round_id, Bid(terms_hash=terms_hash, bid_micros=100_000))
    return round_id


def test_an_owner_takes_part_from_the_command_line_and_her_value_stays(site: Site, run: Owner, tmp_path: Path) -> None:
    with listening() as logs:
        round_id = opened(site)
        ann, code = site.invite("owner", "Ann")
        assert "as “Ann”." in run("enrol", site.address + "/", code)
        assert "What do you earn?" in run("list")
        assert "0.125 per unit of epsilon stands" in run("bid", round_id, "0.125", "--yes")
        assert "0.20 per unit of epsilon stands" in run("bid", round_id, "0.2", "--yes")
        assert "no bid in round" in run("withdraw", round_id)
        assert "0.125 per unit of epsilon stands" in run("bid", round_id, "0.125", "--yes")
        site.clock.skip(3601)
        round_steps.clear_round(site.market, site.operator, round_id)
        first = run("report", round_id, "--yes", typed=f"y\n{VALUE}\n")
        again = run("report", round_id)
        spent = run("privacy", "--cap", "income=2")
        told = run("export", str(tmp_path / "known.json")) + run("export", str(tmp_path / "known.html"))
    assert "for your eyes only" in told
    assert "is there already" in run("export", str(tmp_path / "known.json"), code=2)
    check_export(tmp_path, round_id, VALUE)
    received = offer_access.report(site.market, ann, round_id)
    sent = re.findall(r"Leaves this device: (.*)", first + again)
    assert len(set(sent)) == 1
    assert json.loads(sent[0])["code"] == received.code
    assert "checked" in first
    assert "drawn before (drawn, sent, accepted); the same bytes" in again
    assert re.search(r"income +0\.1500 +2\.0000 +1\.8500", spent)
    kept = b"".join(p.read_bytes() for folder in ("market", "device") for p in (tmp_path / folder).iterdir())
    # Whole numbers standing alone; the device could leave its value by the luck of the die once in 10,000 runs.
    for text in (kept.decode("latin-1"), "\n".join(logs), first + again + spent):
        assert re.search(rf"(?<![0-9a-zA-Z]){VALUE}(?![0-9a-zA-Z])", text) is None
    assert CODE not in cells_of(site)
    assert VALUE not in cells_of(site)


def check_export(folder: Path, round_id: str, value: int) -> None:
    """Both files say what was asked, bid, spent and signed for, to their owner alone; no token and no value."""
    data, page = ((folder / f"known.{kind}").read_text() for kind in ("json", "html"))
    found = json.loads(data)
    (bid,), (report,) = found["bids"], found["reports"]
    assert (bid["round_id"], bid["bid_micros"], report["round_id"]) == (round_id, 125_000, round_id)
    assert report["epsilon_nanos"] == found["spending"][0]["spent_nanos"] > 0
    assert json.loads(report["receipt"])["signature"]
    assert {"bid", "bid-accepted", "drawn", "sent", "accepted"} <= {entry["kind"] for entry in found["entries"]}
    for text in (data, page):
        assert "What do you earn?" in text
        assert round_id in text
        assert re.search(rf"(?<![0-9a-zA-Z.]){value}(?![0-9a-zA-Z])", text) is None
        assert "token" not in text.lower()
    assert "<script" not in page
    assert [(folder / f"known.{kind}").stat().st_mode & 0o777 for kind in ("json", "html")] == [0o600, 0o600]


def test_the_cap_stops_the_command_line_before_anything_is_asked(site: Site, run: Owner) -> None:
    round_id = opened(site)
    ann, code = site.invite("owner", "Ann")
    run("enrol", site.address, code)
    run("bid", round_id, "0.1", "--yes")
    site.clock.skip(3601)
    round_steps.clear_round(site.market, site.operator, round_id)
    run("privacy", "--cap", "income=0.149")
    assert "pass your own lifetime cap" in run("report", round_id, code=2)
    with pytest.raises(Exception, match="no report"):
        offer_access.report(site.market, ann, round_id)


def test_without_a_word_it_lists_its_words(run: Owner) -> None:
    assert all(word in run() for word in ("enrol", "list", "bid", "report", "privacy"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("list",), "enrolled in no market yet: pdqs owner enrol"),
        (("bid", "0.4", "r_" + "0" * 24, "--yes"), "'0.4' is not a round's id: copy all of it"),
        (("bid", "r_123", "0.4", "--yes"), "'r_123' is not a round's id"),
        (("bid", "http://[", "0.4", "--yes"), "'http://[' is not a round's id"),
        (("bid", "r_" + "0" * 24), "Missing argument 'price': try pdqs owner bid --help"),
        (("bids",), "Did you mean 'bid'? Try pdqs owner --help"),
        (("proof", "r_1"), "'r_1' is not a round's id"),
        (("bid", "r_" + "0" * 24, "1,5", "--yes"), '"1,5" could mean 1.5 or 15'),
        (("report", "r_" + "0" * 24, "--agree", "newfact"), "--agree 'newfact' is nothing that is asked: 'new fact'"),
        (("privacy", "--cap", "income"), "'income' says no number: write it like income=4"),
        (("privacy", "--cap", "income=lots"), '"lots" is not a number'),
        (("privacy", "--cap", "income=1,5"), '"1,5" could mean 1.5 or 15'),
        (("enrol", "http://127.0.0.1:9", "c" * 30), "cannot be reached: Connection refused"),
        (("enrol", "127.0.0.1:8000", "c" * 30), "is not a market's address: write it like http://127.0.0.1:8000"),
        (("enrol", "http://", "c" * 30), "is not a market's address"),
        (("enrol", "http://[", "c" * 30), "is not a market's address"),
        (("export", "known.txt"), "end its name in .json for data, or in .html"),
        (("page", "--port", "99999"), "99999 is not a port"),
        (("privacy", "--device", "/dev"), "/dev cannot be opened: Is a directory"),
    ],
)
def test_a_mistake_ends_with_one_sentence_and_code_2(
    words: tuple[str, ...], said: str, run: Owner, tmp_path: Path
) -> None:
    Ledger(tmp_path / "device" / "device.sqlite").close()
    assert said in run(*words, code=2)


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize(
    "words",
    [
        ("list",),
        ("bid", "r_" + "0" * 24, "0.4", "--yes"),
        ("withdraw", "r_" + "0" * 24),
        ("report", "r_" + "0" * 24),
        ("privacy",),
        ("privacy", "--cap", "income=2"),
        ("export", "known.json"),
        ("proof", "r_" + "0" * 24),
    ],
)
def test_only_enrolling_makes_a_device_so_that_a_mistyped_file_is_said_to_be_missing(
    words: tuple[str, ...], named: bool, run: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    missing = tmp_path / "nothere.sqlite" if named else tmp_path / "device" / "device.sqlite"
    said = run(*words, *(["--device", str(missing)] if named else []), code=2)
    assert said == (
        f"pdqs: there is no device at {missing}, and this command makes none: name its file with --device, or begin"
        " with pdqs owner enrol ADDRESS CODE\n"
    )
    assert not list(tmp_path.iterdir())


def test_mistakes_at_a_market_end_with_one_sentence_too(site: Site, run: Owner) -> None:
    round_id = opened(site)
    _, code = site.invite("owner", "Ann")
    _, buyers = site.invite("consumer", "Eve")
    assert "there is no market at" in run("enrol", f"{site.address}/owner", code, code=2)
    assert "was for a consumer, not for an owner, and is used up" in run("enrol", site.address, buyers, code=2)
    run("enrol", f" {site.address}/ ", f" {code} ")
    assert "is not enrolled in http://nowhere (enrolled in: " in run("list", "--market", "http://nowhere", code=2)
    assert "there is no round r_0" in run("bid", "r_" + "0" * 24, "0.1", "--yes", code=2)
    assert "lies between 0.00 and 1.00, got 5.00" in run("bid", round_id, "5", "--yes", code=2)
    assert re.search(r"no offers in round r_\w+ yet: .* closed \(.* UTC\)", run("report", round_id, code=2))
    assert "You have no bid" in run("withdraw", round_id)
    run("bid", round_id, "0.125", "--yes")
    site.clock.skip(3601)
    round_steps.clear_round(site.market, site.operator, round_id)
    assert "takes no bids" in run("bid", round_id, "0.1", "--yes", code=2)
    assert "yours stands" in run("withdraw", round_id, code=2)
    told = run("report", round_id, code=2)
    assert "nobody is here to be asked: nothing was drawn and nothing was sent" in told
    assert "with chance 0.0016 %" in told
    assert "nobody is here" in run("report", round_id, "--agree", "new fact", code=2)
    assert run("report", round_id, typed="n\n", code=1).endswith("Nothing was drawn and nothing was sent.\n")


def test_who_is_stopped_while_she_sends_is_told_what_may_have_happened(
    site: Site, run: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    round_id = opened(site)
    _, code = site.invite("owner", "Ann")
    run("enrol", site.address, code)

    def interrupted(*_given: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as hanging:
        hanging.setattr(OwnerClient, "send_bid", interrupted)
        told = run("bid", round_id, "0.125", "--yes", code=130)
    assert f"The bid may have been sent: pdqs owner withdraw {round_id} takes it back either way." in told
    run("bid", round_id, "0.125", "--yes")
    site.clock.skip(3601)
    round_steps.clear_round(site.market, site.operator, round_id)
    with monkeypatch.context() as hanging:
        hanging.setattr(OwnerClient, "send_report", interrupted)
        told = run("report", round_id, "--yes", "--agree", "new fact", typed=f"{VALUE}\n", code=130)
    assert drawn_not_sent(round_id) in told
    assert "The market signed for your report" in run("report", round_id)


def drawn_not_sent(round_id: str) -> str:
    told = "Your report is drawn, what it cost is charged, and the market has not confirmed it:"
    return f"{told} pdqs owner report {round_id} sends the same bytes again."


def test_whose_report_is_drawn_and_not_sent_is_told_so_and_asked_nothing_more(
    site: Site, run: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Out of reach, signed out or held off: in each case her privacy is spent, and the same bytes are what is left."""
    round_id = in_a_cleared_round(site, run)
    sent: list[bytes] = []

    def failing(fault: MarketError) -> Callable[..., None]:
        def send(_client: OwnerClient, _round_id: str, body: bytes) -> None:
            sent.append(body)
            raise fault

        return send

    faults = {
        ProblemType.UNREACHABLE: MarketError(ProblemType.UNREACHABLE, "the market cannot be reached"),
        ProblemType.BAD_TOKEN: UnauthorizedError(ProblemType.BAD_TOKEN, "the token is unknown or has run out"),
        ProblemType.UNAVAILABLE: MarketError(ProblemType.UNAVAILABLE, "away"),
    }
    for place, fault in enumerate(faults.values()):
        with monkeypatch.context() as line:
            line.setattr(OwnerClient, "send_report", failing(fault))
            told = run("report", round_id, "--yes", typed="" if place else f"y\n{VALUE}\n", code=2)
        assert drawn_not_sent(round_id) in told
        assert "othing was drawn" not in told
        assert ("Your true answer" in told) == (place == 0)
    assert len(set(sent)) == 1
    assert "drawn, sent" in run("privacy")
    assert "The market signed for your report" in run("report", round_id)


def test_whoever_is_shut_out_reads_what_may_have_happened_and_what_to_do_and_a_stranger_learns_nothing(
    site: Site, run: Owner
) -> None:
    round_id = opened(site)
    ann, code = site.invite("owner", "Ann")
    run("enrol", site.address, code)
    run("bid", round_id, "0.1", "--yes")
    with closing(Ledger(device_file())) as ledger:
        (token,) = ledger.markets().values()
    people.disable_user(site.market, site.operator, ann.user_id)
    for words in (["list"], ["bid", round_id, "0.2", "--yes"], ["withdraw", round_id]):
        told = run(*words, code=2)
        assert told.startswith(f"pdqs: {site.address} no longer lets this device in: a newer code of yours was used")
        assert "or your account was closed. Ask whoever runs the market; with a fresh code of yours, pdqs owner" in told
        assert "token" not in told
    answers = [
        httpx.get(f"{site.address}/v1/me", headers={"authorization": f"Bearer {each}"}) for each in (token, "x" * 43)
    ]
    assert [answer.status_code for answer in answers] == [401, 401]
    assert answers[0].json() == answers[1].json(), "who has no token cannot tell whether there is such an account"
    people.enable_user(site.market, site.operator, ann.user_id)
    fresh = round_steps.renew_code(site.market, site.operator, ann.user_id).code
    assert "as “Ann”." in run("enrol", site.address, fresh, "--yes")
    assert "bid 0.10" in run("list")


def test_a_first_bid_is_made_under_no_other_name_than_she_enrolled_with(
    site: Site, run: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Her draw follows from her name: a market that could choose it at her first bid could choose the draw."""
    round_id = opened(site)
    ann, code = site.invite("owner", "Ann")
    run("enrol", site.address, code)
    honest = OwnerClient.mine
    with monkeypatch.context() as lying:
        lying.setattr(
            OwnerClient,
            "mine",
            lambda self, name: honest(self, name).model_copy(update={"owner_id": "u_" + "9" * 24}),
        )
        assert "somebody else than when you enrolled" in run("bid", round_id, "0.1", "--yes", code=2)
    assert "0.10 per unit of epsilon stands" in run("bid", round_id, "0.1", "--yes")
    with closing(sqlite3.connect(device_file())) as file:
        entries = [json.loads(text) for (text,) in file.execute("SELECT entry FROM entries ORDER BY place")]
    assert [(e["kind"], e["owner_id"]) for e in entries[:2]] == [("enrolled", ann.user_id), ("bid", ann.user_id)]


def broken(_client: OwnerClient) -> None:
    raise MarketError(ProblemType.UNREACHABLE, "the market cannot be reached")


def test_whose_a_code_is_comes_with_what_it_gives_so_that_no_line_breaks_in_between(
    site: Site, run: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The code is used up then: without its token she would have to ask for another."""
    _, code = site.invite("owner", "Ann")
    with monkeypatch.context() as breaking:
        breaking.setattr(OwnerClient, "account", broken)
        assert "as “Ann”." in run("enrol", site.address, code)
    assert "The market owes you 0.00" in run("list")


def test_a_second_persons_code_changes_nothing_though_the_line_breaks_right_after(
    site: Site, run: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    round_id = in_a_cleared_round(site, run)
    _, code = site.invite("owner", "Cat")
    with monkeypatch.context() as breaking:
        breaking.setattr(OwnerClient, "account", broken)
        assert "the code was for “Cat”, and" in run("enrol", site.address, code, "--yes", code=2)
    assert "asked: report by" in run("list"), "as Ann, who bid"
    assert "The market signed for your report" in run("report", round_id, "--yes", typed=f"y\n{VALUE}\n")


def test_a_token_that_was_once_kept_without_asking_whose_it_is_is_asked_about_at_the_next_run(
    site: Site, run: Owner, tmp_path: Path
) -> None:
    """As an earlier version kept it when the line broke after the code was used."""
    file = tmp_path / "device" / "device.sqlite"
    ann, _ = site.invite("owner", "Ann")
    kept(file, site, access.issue_token(site.market, ann))
    assert f"Enrolled in {site.address} as “Ann”." in run("list")
    assert "Enrolled" not in run("list"), "once is enough"
    run("bid", opened(site), "0.125", "--yes")
    cat, _ = site.invite("owner", "Cat")
    kept(file, site, access.issue_token(site.market, cat))
    for _ in range(2):
        told = run("list", code=2)
        assert f"the last code that was used here for {site.address} was for “Cat”" in told
        assert "the bids of this device there are somebody else's" in told
    _, fresh = people_code(site, ann)
    assert "as “Ann”." in run("enrol", site.address, fresh, "--yes")
    assert "bid 0.125" in run("list")


def kept(file: Path, site: Site, token: str) -> None:
    ledger = Ledger(file)
    ledger.enrol(site.address, "", token)
    ledger.close()


def people_code(site: Site, user: User) -> tuple[User, str]:
    return user, people.renew_code(site.market, site.operator, user.user_id).code


def test_a_market_that_was_enrolled_in_capitals_is_the_same_market(site: Site, run: Owner, tmp_path: Path) -> None:
    """As an earlier version kept it: what is stored and hashed stays as it was, and counts for the one market."""
    round_id = in_a_cleared_round(site, run)
    run("report", round_id, "--yes", typed=f"y\n{VALUE}\n")
    file, odd = tmp_path / "device" / "device.sqlite", site.address.replace("http", "HTTP")
    stored = earlier_spelling(file, site.address, odd)
    assert "drawn, sent, accepted\n" in run("list")
    assert "drawn, sent, accepted\n" in run("list", "--market", odd + "/")
    assert "the same bytes are sent again" in run("report", round_id, "--market", site.address)
    again = sqlite3.connect(file).execute("SELECT entry FROM entries ORDER BY place").fetchall()
    assert again[: len(stored)] == stored
    assert odd in stored[0][0]
    ann = site.invite("owner", "Ann")[0]
    run("enrol", site.address, people_code(site, ann)[1], "--yes")
    assert sqlite3.connect(file).execute("SELECT market FROM markets").fetchall() == [(site.address,)]
    assert "drawn, sent, accepted\n" in run("list")


def earlier_spelling(file: Path, address: str, odd: str) -> list[tuple[str]]:
    """The device's file as if it had been enrolled under this spelling from the start; its entries."""
    db = sqlite3.connect(file)
    found = db.execute("SELECT entry FROM entries ORDER BY place").fetchall()
    (token,) = db.execute("SELECT token FROM markets").fetchone()
    db.close()
    file.unlink()
    ledger = Ledger(file)
    for (text,) in found:
        ledger.note(**json.loads(text.replace(f'"market":"{address}"', f'"market":"{odd}"')))
    ledger.close()
    db = sqlite3.connect(file)
    with db:
        db.execute("INSERT INTO markets VALUES (?, 'Ann', ?)", (odd, token))
    stored = db.execute("SELECT entry FROM entries ORDER BY place").fetchall()
    db.close()
    return stored


@pytest.mark.parametrize(
    ("answer", "unsure"),
    [
        (httpx.Response(504, text="<h1>Gateway Time-out</h1>"), True),
        (httpx.Response(500, json={"type": "fault", "detail": "something broke"}), True),
        (httpx.Response(503, json={"type": "unavailable", "detail": "the database is away"}), True),
        (httpx.Response(200, text="taken, thank you"), True),
        (httpx.Response(409, json={"type": "bids-closed", "detail": "bids are closed"}), False),
    ],
)
def test_an_answer_that_leaves_open_what_became_of_a_bid_is_told_as_that(
    site: Site, run: Owner, monkeypatch: pytest.MonkeyPatch, answer: httpx.Response, unsure: bool
) -> None:
    """A proxy that gives up says nothing of the market behind it, which may have the bid."""
    round_id = opened(site)
    _, code = site.invite("owner", "Ann")
    run("enrol", site.address, code)
    real = httpx.HTTPTransport.handle_request

    def between(wire: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
        return answer if request.method == "PUT" else real(wire, request)

    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", between)
    monkeypatch.setattr(transport, "_FIRST_WAIT_SECONDS", 0.0)
    told = run("bid", round_id, "0.125", "--yes", code=2)
    assert ("may have been sent" in told) == unsure


def test_an_owner_checks_the_round_that_she_took_part_in(
    site: Site, run: Owner, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    round_id = opened(site)
    _, code = site.invite("owner", "Ann")
    run("enrol", site.address, code)
    run("bid", round_id, "0.125", "--yes")
    assert "has seen no draw" in run("proof", round_id, code=2)
    site.clock.skip(3601)
    round_steps.clear_round(site.market, site.operator, round_id)
    run("report", round_id, "--yes", typed=f"y\n{VALUE}\n")
    site.clock.skip(86_401)
    round_steps.settle_round(site.market, site.operator, round_id)
    mine, record = tmp_path / "mine.json", tmp_path / "record.json"
    mine.write_text("an earlier one, which others could read")
    written = run("proof", round_id, "--out", str(mine), "--record", str(record))
    assert written == f"Wrote {mine}, for your eyes only.\nWrote {record}.\n"
    assert {stat.S_IMODE(path.stat().st_mode) for path in (mine, record)} == {0o600}, "mine tells her name in the round"
    assert run("proof", round_id) == mine.read_text(encoding="utf-8")
    main(["owner", "proof", round_id, "--out", str(mine), "--record", "-"])
    assert capsys.readouterr().out == record.read_text(encoding="utf-8"), "for pdqs verify -, and nothing beside it"
    main(["verify", str(record), "--proof", str(mine)])
    assert "your report" in (shown := capsys.readouterr().out)
    assert "everything agrees" in shown
    forged = json.loads(record.read_text(encoding="utf-8"))
    own = json.loads(mine.read_text(encoding="utf-8"))
    forged["owners"] = [row for row in forged["owners"] if row["pseudonym"] != own["pseudonym"]]
    record.write_text(json.dumps(forged), encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["verify", str(record), "--proof", str(mine)])
    assert ended.value.code == 1
    assert "the market signed for a report of yours, and its record has none" in capsys.readouterr().out


def test_a_code_is_not_used_up_for_a_device_that_could_not_keep_what_it_gives(
    site: Site, run: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, code = site.invite("owner", "Ann")

    def full(_ledger: Ledger) -> None:
        raise LedgerError("the device's ledger cannot be written: database or disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "ensure_writable", full)
        assert "disk is full" in run("enrol", site.address, code, code=2)
    assert "as “Ann”." in run("enrol", site.address, code)


def in_a_cleared_round(site: Site, run: Owner) -> str:
    """Ann has bid from this device, and offers are made."""
    round_id = opened(site)
    _, code = site.invite("owner", "Ann")
    run("enrol", site.address, code)
    run("bid", round_id, "0.125", "--yes")
    site.clock.skip(3601)
    round_steps.clear_round(site.market, site.operator, round_id)
    return round_id


def test_the_list_tells_that_an_offer_waits_and_until_when(
    site: Site, run: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    round_id = in_a_cleared_round(site, run)
    assert re.search(r"reporting .* asked: report by \d+ \w+ 20\d\d, \d\d:\d\d UTC\n", run("list"))
    offered = OwnerClient.offer

    def changed(**to: int) -> Callable[[OwnerClient, str], Offer]:
        return lambda client, wanted: offered(client, wanted).model_copy(update=to)

    with monkeypatch.context() as other:
        other.setattr(OwnerClient, "offer", changed(q_numerator=0))
        assert "not drawn" in run("list")
        other.setattr(OwnerClient, "offer", changed(now_ms=10**13))
        assert "was offered until" in run("list")
    run("report", round_id, "--yes", typed=f"y\n{VALUE}\n")
    assert "drawn, sent, accepted\n" in run("list")


def in_one_line(shown: str) -> str:
    return " ".join(shown.split())


def test_a_round_that_was_signed_for_and_vanished_is_told_unless_it_was_paid(
    site: Site, run: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    round_id = in_a_cleared_round(site, run)
    run("report", round_id, "--yes", typed=f"y\n{VALUE}\n")
    told = rf"Round {round_id}: the market signed for your report, promised [\d.]+ and no longer tells of the round\."
    assert re.search(told, in_one_line(run("list"))) is None
    monkeypatch.setattr(OwnerClient, "notices", lambda _client: [])
    assert re.search(told, in_one_line(run("list", code=1)))
    site.clock.skip(86_401)
    round_steps.settle_round(site.market, site.operator, round_id)
    assert re.search(told, in_one_line(run("list"))) is None


def test_a_cancelled_round_is_looked_at_like_a_settled_one(
    site: Site, run: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    round_id = in_a_cleared_round(site, run)
    run("report", round_id, "--yes", typed=f"y\n{VALUE}\n")
    listed, told = OwnerClient.notices, OwnerClient.notice
    called = {"state": "cancelled"}
    monkeypatch.setattr(OwnerClient, "notices", lambda client: [n.model_copy(update=called) for n in listed(client)])
    assert "and lists the round as cancelled. " in in_one_line(run("list", code=1))
    monkeypatch.setattr(OwnerClient, "notice", lambda client, wanted: told(client, wanted).model_copy(update=called))
    said = rf"Round {round_id}: [\d.]+ was promised and nothing was paid \(it calls the round cancelled\)\."
    assert re.search(said, in_one_line(run("list", code=1)))


def test_a_payment_that_is_taken_back_later_is_told_at_each_list_and_kept(
    site: Site, run: Owner, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    round_id = in_a_cleared_round(site, run)
    run("report", round_id, "--yes", typed=f"y\n{VALUE}\n")
    site.clock.skip(86_401)
    round_steps.settle_round(site.market, site.operator, round_id)
    assert "drawn, sent, accepted, paid\n" in run("list")
    with monkeypatch.context() as later:
        later.setattr(OwnerClient, "money", lambda _client: Money(balance_micros=0, lines=[]))
        for _ in range(2):
            shown = run("list", code=1)
            assert "drawn, sent, accepted, paid, taken back\n" in shown
            assert re.search(rf"Round {round_id}: ([\d.]+) was paid .* and \1 of it was taken back", in_one_line(shown))
            assert "The market says that it owes you 0.15" in in_one_line(shown)
            assert "come to 0.00." in in_one_line(shown)
    run("export", str(tmp_path / "known.html"))
    assert "was taken back)" in (tmp_path / "known.html").read_text()
    assert "drawn, sent, accepted, paid\n" in run("list"), "given again"


def test_a_payout_is_listed_until_she_says_that_she_got_it(site: Site, run: Owner) -> None:
    round_id = in_a_cleared_round(site, run)
    run("report", round_id, "--yes", typed=f"y\n{VALUE}\n")
    assert run("received") == "No payout is waiting for your word.\n"
    site.clock.skip(86_401)
    round_steps.settle_round(site.market, site.operator, round_id)
    ann = next(each for each in reads.users_page(site.market, site.operator).items if each.name == "Ann")
    paid_out = Transfer(user_id=ann.user_id, amount_micros=150_000)
    round_steps.pay_out(site.market, site.operator, paid_out, "pay-out-to-ann")
    asked = r"Paid out The market says that it paid out 0\.15 on \d+ \w{3} 20\d\d: did you get it\?"
    for answer, count in (("n\n", 0), ("y\n", 1)):
        shown = in_one_line(run("list"))  # and no fault: it is hers to say
        assert re.search(asked, shown)
        assert "pdqs owner received" in shown
        assert f"Payouts that came: {count} of 1." in run("received", typed=answer)
    assert "Paid out" not in run("list")
    undone = round_steps.pay_out(site.market, site.operator, paid_out, "pay-out-to-ann").transaction_id
    transfers.reverse(site.market, site.operator, undone)
    assert "The market owes you 0.15" in run("list")


def test_a_lie_about_one_round_does_not_end_the_list(site: Site, run: Owner, monkeypatch: pytest.MonkeyPatch) -> None:
    round_id = in_a_cleared_round(site, run)
    run("report", round_id, "--yes", typed=f"y\n{VALUE}\n")
    site.clock.skip(86_401)
    round_steps.settle_round(site.market, site.operator, round_id)
    told = OwnerClient.notice
    with monkeypatch.context() as lying:
        lying.setattr(
            OwnerClient,
            "notice",
            lambda client, wanted: told(client, wanted).model_copy(update={"terms_hash": "0" * 64}),
        )
        shown = run("list", code=1)
    assert "What do you earn?" in shown
    assert f"Round {round_id}: the terms do not match their hash." in in_one_line(shown)
    assert "The market owes you 0.15" in shown
    assert "paid" in run("list")


def test_what_a_market_words_is_told_as_its_words(site: Site, run: Owner) -> None:
    round_id = opened(site)
    _, code = site.invite("owner", "Ann")
    assert "pdqs: the market said: “" in run("enrol", site.address, "c" * 43, code=2)
    assert "pdqs: this is not a one-time code" in run("enrol", site.address, "c", code=2)
    run("enrol", site.address, code)
    assert "pdqs: the market said: “there is no round r_0" in run("bid", "r_" + "0" * 24, "0.1", "--yes", code=2)
    assert "pdqs: there are no offers" in run("report", round_id, code=2)


def test_what_the_device_itself_words_is_not_told_as_the_markets(
    site: Site, run: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, code = site.invite("owner", "Ann")
    _, buyers = site.invite("consumer", "Eve")
    assert "pdqs: this code was for a consumer" in run("enrol", site.address, buyers, code=2)
    run("enrol", site.address, code)
    monkeypatch.setattr(OwnerClient, "notices", broken)
    assert "pdqs: the market cannot be reached" in run("list", code=2)


def test_links_are_taken_as_they_are_handed_out(site: Site, run: Owner) -> None:
    round_id = opened(site)
    _, code = site.invite("owner", "Ann")
    assert "no one-time code was given" in run("enrol", site.address, code=2)
    assert "as “Ann”." in run("enrol", f"{site.address}/enter#{code}")
    page = f"{site.address}/owner/rounds/{round_id}"
    assert f"stands in round {round_id}" in run("bid", page, "0.125", "--yes")
    assert f"no offers in round {round_id} yet" in run("report", f"{page}/?a=b#top", code=2)
    assert "is not a round's id" in run("bid", f"{site.address}/owner/rounds", "0.125", "--yes", code=2)
