"""Letters: written with what they tell of, sent later, tried again, given up in sight; and they say nothing private."""

from __future__ import annotations

import hashlib
import hmac
import json
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from sqlalchemy import select, text
from sqlalchemy.exc import OperationalError

from market.question_rounds import start
from market.town import Town, found_town
from pdqs.market import Settings, letter_choices, own_data, people, postman, round_letters, round_steps
from pdqs.market.context import Stuck
from pdqs.market.http.clock import keep_deadlines
from pdqs.market.letter_words import KINDS, email_of, email_word
from pdqs.market.looking_up import not_in_a_batch
from pdqs.market.outbox import PAUSES_MS, claim, dead_letters, tell, try_again
from pdqs.market.postman import Undelivered, check_webhook, deliver_due, is_public
from pdqs.market.store.schema import bids, outbox, users
from pdqs.market.store.schema import letter_choices as choices_table
from pdqs.market.store.sql import Found
from pdqs.model.errors import TermsError
from pdqs.protocol.letters import LetterChoices, LetterKind
from pdqs.protocol.market_messages import Round, User
from pdqs.protocol.own_data import Erasure
from pdqs.protocol.problems import ForbiddenError, NotFoundError, TooManyRequestsError, UnprocessableError

ALL: list[LetterKind] = ["opened", "offer", "stage", "closing", "paid", "cancelled", "stuck"]


def writing_town(database_url: str, folder: Path) -> Town:
    """A town that writes its letters into a folder."""
    letters = folder / "letters"
    letters.mkdir()
    mail = {"mail_url": f"file:{letters}", "mail_from": "market@market.example"}
    public = {"public_url": "https://market.example", "least_budget": 1e-6, "least_report_seconds": 1}
    return found_town(database_url, settings=Settings(database_url=database_url, **mail, **public))  # type: ignore[arg-type]


@pytest.fixture
def town(database_url: str, tmp_path: Path) -> Iterator[Town]:
    made = writing_town(database_url, tmp_path)
    yield made
    made.market.store.close()


def wants(town: Town, user: User, kinds: list[LetterKind], *, webhook: str = "", email: str = "") -> None:
    """Choose and confirm; the letter with the word is left out of what the test sees."""
    letter_choices.choose(town.market, user, LetterChoices(email=email, webhook=webhook, kinds=kinds))
    if email:
        letter_choices.confirm_email(town.market, user, email_word(town.market, user.user_id, email))
    with town.market.store.write() as connection:
        connection.execute(outbox.delete().where(outbox.c.kind == "word"))


def written(town: Town) -> set[tuple[str, str, str]]:
    """Kind, channel and user of every letter in the outbox."""
    with town.market.store.read() as connection:
        return {(row.kind, row.channel, row.user_id) for row in connection.execute(select(outbox))}


def states(town: Town) -> list[tuple[str, int]]:
    with town.market.store.read() as connection:
        return [(row.state, row.attempts) for row in connection.execute(select(outbox).order_by(outbox.c.letter_id))]


def mails(town: Town) -> list[str]:
    folder = Path(town.market.settings.mail_url.removeprefix("file:"))
    return sorted(file.read_text() for file in folder.iterdir())


def play(town: Town) -> Round:
    """A round from its opening to its end; everyone who was asked reports, but one."""
    found = town.cleared_round(budget_micros=2_000_000)
    for owner in town.asked(found)[1:]:
        town.report(owner, found, 1)
    town.clock.advance(found.plan.report_seconds)
    return round_steps.settle_round(town.market, town.consumer, found.round_id)


def test_each_hears_of_what_concerns_her_and_asked_for(town: Town) -> None:
    owners = town.add_owners(8)
    for owner in owners[:7]:
        wants(town, owner, ALL, email="o@example.org")
    wants(town, owners[7], [], email="quiet@example.org")
    wants(town, town.consumer, ALL, email="c@example.org")
    wants(town, town.operator, ["stuck"], email="op@example.org")
    found = play(town)
    asked = {owner.user_id for owner in town.asked(found)}
    reported = {owner.user_id for owner in town.asked(found)[1:]}
    chatty = {owner.user_id for owner in owners[:7]}
    assert 0 < len(asked) < len(owners), "some were asked and some were not"
    expected = {("opened", "email", one) for one in chatty}
    expected |= {("offer", "email", one) for one in asked & chatty}
    expected |= {("paid", "email", one) for one in (reported & chatty) | {town.consumer.user_id}}
    assert written(town) == expected


def test_a_consumer_whose_nonce_the_draw_waits_for_is_told_once_bids_are_closed(town: Town) -> None:
    town.add_owners(3)
    wants(town, town.consumer, ["closing"], email="c@example.org")
    for key, nonce_hash in (("without-a-nonce", None), ("with-a-nonce", "ab" * 32)):
        found = town.open_round(key, nonce_hash=nonce_hash)
        town.bid_all(found)
        town.clock.advance(found.plan.bid_seconds)
        for _ in range(2):
            round_steps.clear_round(town.market, town.consumer, found.round_id)
        told = {("closing", "email", town.consumer.user_id)} if nonce_hash else set()
        assert written(town) == told


def test_whoever_has_her_turn_in_the_next_stage_hears_of_it(town: Town) -> None:
    played = start(town, "median", owners=40)
    for owner in town.owners:
        wants(town, owner, ["stage"], email="x@example.org")
    town.clock.advance(played.found.plan.report_seconds)
    round_steps.open_next_stage(town.market, town.consumer, played.found.round_id)
    offered = {owner.user_id: played.offer(owner) for owner in town.owners}
    turn = {user_id for user_id, offer in offered.items() if offer.q_numerator and offer.stage == 2}
    assert 0 < len(turn) < len(offered)
    assert written(town) == {("stage", "email", user_id) for user_id in turn}


def test_whoever_bid_hears_that_a_round_was_called_off(town: Town) -> None:
    first, second = town.add_owners(2)
    for user in (first, second, town.consumer):
        wants(town, user, ["cancelled"], email="x@example.org")
    found = town.open_round()
    town.bid(first, found, 1000)
    round_steps.cancel_round(town.market, town.operator, found.round_id)
    heard = {first.user_id, town.consumer.user_id}
    assert written(town) == {("cancelled", "email", user_id) for user_id in heard}


def test_a_step_that_fails_tells_nobody(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """The letter is in the transaction of what it tells of: undone with it."""
    (owner,) = town.add_owners(1)
    wants(town, owner, ["opened"], email="x@example.org")
    draft = round_steps.draft_round(town.market, town.consumer, town.open_round("another-one").plan, "a-draft-01")
    before = written(town)

    def fail(*_: object) -> None:
        raise RuntimeError("the power goes")

    monkeypatch.setattr(round_steps, "round_message", fail)
    with pytest.raises(RuntimeError):
        round_steps.open_round(town.market, town.consumer, draft.round_id)
    assert written(town) == before
    assert before, "the round before it did tell"


def test_those_who_could_still_send_something_hear_once_that_it_closes_soon(town: Town) -> None:
    owners = town.add_owners(6)
    for owner in owners:
        wants(town, owner, ["closing"], email="x@example.org")
    found = town.open_round(bid_seconds=86_400, report_seconds=86_400)
    for place, owner in enumerate(owners[1:]):
        town.bid(owner, found, 1000 * place)
    tick(town)
    assert written(town) == set(), "a day is not soon"
    town.clock.advance(86_400 - 3600)
    for _ in range(2):
        tick(town)
        assert written(town) == {("closing", "email", owners[0].user_id)}
    town.clock.advance(3600)
    cleared = round_steps.clear_round(town.market, town.consumer, found.round_id)
    asked = replace(town, owners=owners[1:]).asked(cleared)
    town.report(asked[0], cleared, 1)
    town.clock.advance(86_400 - 3600)
    tick(town)
    late = {owners[0].user_id} | {owner.user_id for owner in asked[1:]}
    assert written(town) == {("closing", "email", user_id) for user_id in late}


def test_a_short_round_is_not_closing_soon_the_moment_it_opens(town: Town) -> None:
    (owner,) = town.add_owners(1)
    wants(town, owner, ["closing"], email="x@example.org")
    town.open_round(bid_seconds=600)
    tick(town)
    assert written(town) == set()
    town.clock.advance(500)
    tick(town)
    assert written(town) == {("closing", "email", owner.user_id)}


def tick(town: Town) -> None:
    round_letters.tell_closing(town.market)


def test_operators_hear_of_a_round_that_cannot_go_on(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    wants(town, town.operator, ["stuck"], email="op@example.org")
    found = town.open_round()
    town.clock.advance(60)

    def fail(*_: object) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr(round_steps, "root_over", fail)
    for _ in range(3):
        keep_deadlines(town.market)
    assert written(town) == {("stuck", "email", town.operator.user_id)}
    assert found.round_id in town.market.stuck


def test_a_disabled_account_is_not_written_to(town: Town) -> None:
    (owner,) = town.add_owners(1)
    wants(town, owner, ["opened"], email="x@example.org")
    people.disable_user(town.market, town.operator, owner.user_id)
    town.open_round()
    assert written(town) == set()


def test_no_letter_goes_to_an_address_before_its_word_was_told(town: Town) -> None:
    (owner,) = town.add_owners(1)
    wanted = LetterChoices(email="ann@example.org", kinds=["opened"])
    assert not letter_choices.choose(town.market, owner, wanted).email_confirmed
    town.open_round()
    assert deliver_due(town.market) == 1
    (mail,) = mails(town)
    word = email_word(town.market, owner.user_id, "ann@example.org")
    assert word in mail
    with pytest.raises(UnprocessableError):
        letter_choices.confirm_email(town.market, owner, "0" * 10)
    assert letter_choices.confirm_email(town.market, owner, word).email_confirmed
    moved = letter_choices.choose(town.market, owner, LetterChoices(email="other@example.org", kinds=["opened"]))
    assert not moved.email_confirmed, "another address needs its own word"
    with pytest.raises(UnprocessableError):
        letter_choices.confirm_email(town.market, owner, word)


def _set(town: Town, user: User, *emails: str) -> None:
    for email in emails:
        letter_choices.choose(town.market, user, LetterChoices(email=email))


def test_an_address_is_sent_one_word_a_day_whoever_asks_for_it(town: Town) -> None:
    ann, bea, cleo = town.add_owners(3)
    _set(town, ann, "victim@example.org", "", "Victim@Example.org", "", "victim@example.org")
    _set(town, bea, "victim@example.org")
    town.clock.advance(3600)
    _set(town, cleo, "VICTIM@example.org")
    deliver_due(town.market)
    assert (
        sum("To: victim@example.org" in mail.replace("Victim@Example", "victim@example") for mail in mails(town)) == 1
    )
    told = [letter_choices.choices(town.market, user).model_dump(exclude={"email"}) for user in (ann, bea, cleo)]
    assert told[0] == told[1] == told[2], "nobody learns whether others named it"
    town.clock.advance(86_400)
    _set(town, bea, "", "victim@example.org")
    deliver_due(town.market)
    assert len(mails(town)) == 2, "tomorrow is another day"


def test_words_that_waited_for_other_addresses_do_not_all_go_to_the_last(town: Town) -> None:
    (ann,) = town.add_owners(1)
    _set(town, ann, "a@example.org", "b@example.org", "c@example.org", "victim@example.org")
    deliver_due(town.market)
    (mail,) = mails(town)
    assert "To: victim@example.org" in mail


def test_an_account_sets_few_addresses_a_day_whether_or_not_others_named_them(town: Town) -> None:
    ann, bea = town.add_owners(2)
    _set(town, ann, *(f"{place}@example.org" for place in range(5)))
    _set(town, bea, *(f"{place}@example.org" for place in (0, 0, 1, 9, 2)), "", "1@example.org")
    for user in (ann, bea):
        with pytest.raises(TooManyRequestsError, match="5 times a day"):
            _set(town, user, "new@example.org")
        kept = letter_choices.choices(town.market, user)
        assert kept.email != "new@example.org"
        letter_choices.choose(town.market, user, LetterChoices(email=kept.email, kinds=["opened"]))  # that is no change
        _set(town, user, "")
    town.clock.advance(86_401)
    _set(town, ann, "new@example.org")


def test_an_email_holds_no_question_bid_answer_or_amount(town: Town) -> None:
    owners = town.add_owners(8)
    for user in (*owners, town.consumer):
        wants(town, user, ALL, email=f"{user.user_id}@example.org")
    found = town.open_round(attribute="canary_attribute", bid_high_micros=987_654)
    for place, owner in enumerate(owners):
        town.bid(owner, found, 123_456 + place)
    town.clock.advance(60)
    cleared = round_steps.clear_round(town.market, town.consumer, found.round_id)
    for owner in town.asked(cleared):
        town.report(owner, cleared, 1)
    round_steps.settle_round(town.market, town.consumer, found.round_id)
    while deliver_due(town.market):
        pass
    sent = mails(town)
    assert len(sent) == len(written(town)) >= 10
    for mail in sent:
        body = mail.partition("\n\n")[2]
        assert found.round_id in body, "the search would find what is there"
        said = body.replace(found.round_id, "")
        for private in ("ill this month", "canary_attribute", "0.12", "123", "20", "987"):
            assert private not in said
        assert not any(digit in said for digit in "0123456789"), "no figure at all"


@dataclass
class Hook:
    """A webhook on loopback: what it got, and what it says."""

    address: str = ""
    got: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    status: int = 204
    location: str = ""


@contextmanager
def hooked() -> Iterator[Hook]:
    hook = Hook()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            hook.got.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(hook.status)
            if hook.location:
                self.send_header("location", hook.location)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    hook.address = f"http://127.0.0.1:{server.server_port}/letters?from=market"
    try:
        yield hook
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def near(town: Town) -> Town:
    """The same town, whose operator allows addresses of its own network."""
    return replace(town, market=replace(town.market, settings=replace(town.market.settings, webhooks="private")))


def test_a_webhook_gets_signed_letters_with_nothing_private(town: Town) -> None:
    town = near(town)
    (owner,) = town.add_owners(1)
    with hooked() as hook:
        wants(town, owner, ["opened"], webhook=hook.address)
        found = town.open_round()
        assert deliver_due(town.market) == 1
        assert deliver_due(town.market) == 0, "once"
    ((path, headers, body),) = hook.got
    assert path == "/letters?from=market"
    told = json.loads(body)
    assert told == {
        "letter_id": f"opened:{found.round_id}:webhook:{owner.user_id}",
        "event": "opened",
        "round_id": found.round_id,
        "at_ms": town.clock(),
    }
    key = letter_choices.choices(town.market, owner).webhook_key
    at, _, signed = headers["pdqs-signature"].partition(",")
    assert at == f"t={town.clock() // 1000}"
    right = hmac.new(key.encode(), at[2:].encode() + b"." + body, hashlib.sha256).hexdigest()
    assert signed == f"v1={right}"
    town.clock.advance(1)
    anew = letter_choices.choose(town.market, owner, LetterChoices(webhook=hook.address + "2", kinds=["opened"]))
    assert anew.webhook_key != key


def test_a_letter_that_fails_waits_longer_each_time_and_is_then_given_up_in_sight(town: Town) -> None:
    town = near(town)
    (owner,) = town.add_owners(1)
    with hooked() as hook:
        hook.status, hook.location = 302, hook.address
        wants(town, owner, ["opened"], webhook=hook.address)
        town.open_round()
        for attempt, pause in enumerate(PAUSES_MS, start=1):
            assert deliver_due(town.market) == 0
            assert states(town) == [("waiting", attempt)]
            assert dead_letters(town.market, town.operator).items == []
            town.clock.now_ms += pause - 1
            deliver_due(town.market)
            assert states(town) == [("waiting", attempt)], "not before its time"
            town.clock.now_ms += 1
        deliver_due(town.market)
        assert len(hook.got) == len(PAUSES_MS) + 1, "no redirect was followed"
        (dead,) = dead_letters(town.market, town.operator).items
        assert (dead.name, dead.channel, dead.kind, dead.attempts) == (owner.name, "webhook", "opened", 6)
        assert dead.fault == "the webhook answered 302, and redirects are not followed"
        for who in (owner, town.consumer):
            with pytest.raises(ForbiddenError):
                dead_letters(town.market, who)
            with pytest.raises(ForbiddenError):
                try_again(town.market, who, dead.letter_id)
        hook.status, hook.location = 200, ""
        try_again(town.market, town.operator, dead.letter_id)
        assert deliver_due(town.market) == 1
        with pytest.raises(NotFoundError):
            try_again(town.market, town.operator, dead.letter_id)
    assert list(PAUSES_MS) == sorted(set(PAUSES_MS)), "each pause is longer than the one before"


def test_rounds_go_on_while_no_letter_is_taken(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    owners = town.add_owners(4)
    for owner in owners:
        wants(town, owner, ALL, email="x@example.org")

    def fail(*_: object) -> None:
        raise RuntimeError("the postman has a cold")

    monkeypatch.setattr(postman, "email_of", fail)
    town.open_round("a-round-before-it")
    assert deliver_due(town.market) == 0
    assert states(town) == [("waiting", 1)] * 4
    with town.market.store.read() as connection:
        assert "cold" not in str(connection.execute(select(outbox.c.fault)).first()), "a strange fault is not quoted"
    assert play(town).state == "settled"


def test_two_postmen_do_not_carry_the_same_letter(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    owners = town.add_owners(30)
    for owner in owners:
        wants(town, owner, ["opened"], email=f"{owner.user_id}@example.org")
    town.open_round()
    carried: list[str] = []

    def carry(_market: object, letter: Found) -> bytes:
        carried.append(letter.letter_id)
        return b"x"

    monkeypatch.setattr(postman, "email_of", carry)
    postmen = [threading.Thread(target=deliver_due, args=(town.market,)) for _ in range(4)]
    for one in postmen:
        one.start()
    for one in postmen:
        one.join()
    while deliver_due(town.market):
        pass
    assert len(carried) == len(set(carried)) == 30


INSIDE = ["127.0.0.1", "10.1.2.3", "172.16.0.9", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1"]
INSIDE += [
    "::1",
    "fc00::1",
    "fe80::1",
    "fe80::1%eth0",
    "::ffff:10.0.0.1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "::",
    "ff02::1",
    "fec0::1",
    "fec0:0:0:ffff::1",
]


@pytest.mark.parametrize("address", INSIDE)
def test_no_webhook_leads_inside_whatever_its_name(town: Town, monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    assert not is_public(address)

    def answers(*_args: object, **_kinds: object) -> list[tuple[int, int, int, str, tuple[str, int]]]:
        return [(0, 0, 0, "", ("93.184.215.14", 1)), (0, 0, 0, "", (address, 1))]

    monkeypatch.setattr(socket, "getaddrinfo", answers)
    monkeypatch.setattr(socket, "create_connection", lambda *_args, **_kinds: pytest.fail("it was called"))
    (owner,) = town.add_owners(1)
    wants(town, owner, ["opened"], webhook="https://inside.example/x")
    town.open_round()
    assert deliver_due(town.market) == 0
    with town.market.store.read() as connection:
        assert "not on the open internet" in str(connection.scalar(select(outbox.c.fault)))


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"])
def test_the_open_internet_is_public(address: str) -> None:
    assert is_public(address)


STRANGE = ["http://example.org/x", "https://", "https:///x", "https://me:pw@example.org/", "https://example.org/#x"]
STRANGE += ["ftp://example.org/", "http://127.0.0.1:1/"]


@pytest.mark.parametrize("address", STRANGE)
def test_a_webhook_that_cannot_be_is_refused_when_it_is_chosen(address: str) -> None:
    with pytest.raises(Undelivered):
        check_webhook(Settings(), address)
    with pytest.raises(Undelivered):
        check_webhook(Settings(webhooks="none"), "https://example.org/")
    check_webhook(Settings(), "https://example.org/x?y=z")


def own_certificate(folder: Path) -> ssl.SSLContext:
    """What a server on loopback shows, signed by nobody else, in ``folder`` too: for whoever is to trust it."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "x")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(issuer_name=name, subject_name=name, public_key=key.public_key(), serial_number=1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    plain = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "own.pem").write_bytes(key.private_bytes(*plain) + made.public_bytes(serialization.Encoding.PEM))
    shown = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    shown.load_cert_chain(folder / "own.pem")
    return shown


def drip(listening: socket.socket, shown: ssl.SSLContext | None, cut: threading.Event) -> None:
    """Say a letter every hundredth of a second, a thousand at the most; whether the line was cut before."""
    first, _ = listening.accept()
    with shown.wrap_socket(first, server_side=True) if shown else first as line:
        for _ in range(1000):
            try:
                line.send(b"H")
            except OSError:
                cut.set()
                return
            cut.wait(0.01)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_webhook_that_never_ends_its_answer_is_cut_off(
    town: Town, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, scheme: str
) -> None:
    town = near(town)
    monkeypatch.setattr(postman, "_WHOLE_SECONDS", 0.3)
    listening, cut = socket.create_server(("127.0.0.1", 0)), threading.Event()
    shown = own_certificate(tmp_path) if scheme == "https" else None
    if shown:
        trusting = ssl.create_default_context(cafile=tmp_path / "own.pem")
        monkeypatch.setattr(ssl, "create_default_context", lambda: trusting)
    dripping = threading.Thread(target=drip, args=(listening, shown, cut))
    dripping.start()
    (owner,) = town.add_owners(1)
    wants(town, owner, ["opened"], webhook=f"{scheme}://localhost:{listening.getsockname()[1]}/")
    town.open_round()
    assert deliver_due(town.market) == 0
    dripping.join()
    listening.close()
    assert cut.is_set()
    assert states(town) == [("waiting", 1)]


@contextmanager
def mail_server(verdict: bytes) -> Iterator[tuple[int, list[str]]]:
    """A mail server on loopback that says this of every recipient; its port, and the lines it was told."""
    listening, told = socket.create_server(("127.0.0.1", 0)), list[str]()

    def serve() -> None:
        line, _ = listening.accept()
        with line, line.makefile("rwb") as words:
            words.write(b"220 here\r\n")
            words.flush()
            in_body = False
            for raw in words:
                said = raw.decode().rstrip("\r\n")
                told.append(said)
                in_body = in_body and said != "."
                if in_body:
                    continue
                answers = {"RCPT": verdict, "DATA": b"354 go on", "QUIT": b"221 bye"}
                words.write(answers.get(said[:4].upper(), b"250 ok") + b"\r\n")
                words.flush()
                in_body = said.upper() == "DATA"

    serving = threading.Thread(target=serve)
    serving.start()
    try:
        yield listening.getsockname()[1], told
    finally:
        serving.join(10)
        listening.close()


@pytest.mark.parametrize(("verdict", "taken"), [(b"250 ok", 1), (b"550 nobody of that name", 0)])
def test_an_email_is_handed_to_the_mail_server_and_a_refusal_is_noted(town: Town, verdict: bytes, taken: int) -> None:
    (owner,) = town.add_owners(1)
    wants(town, owner, ["opened"], email="ann@example.org")
    found = town.open_round()
    with mail_server(verdict) as (port, told):
        sending = replace(town.market, settings=replace(town.market.settings, mail_url=f"smtp://127.0.0.1:{port}"))
        assert deliver_due(sending) == taken
    assert any("ann@example.org" in line for line in told)
    assert any(line.endswith(f"/owner/rounds/{found.round_id}") for line in told) == bool(taken)
    assert states(town) == [("sent", 0) if taken else ("waiting", 1)]


def test_a_mail_server_that_is_not_there_makes_letters_wait(town: Town) -> None:
    (owner,) = town.add_owners(1)
    wants(town, owner, ["opened"], email="ann@example.org")
    town.open_round()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    gone = replace(town.market, settings=replace(town.market.settings, mail_url=f"smtp://127.0.0.1:{port}"))
    assert deliver_due(gone) == 0
    with town.market.store.read() as connection:
        assert "could not be spoken to" in str(connection.scalar(select(outbox.c.fault)))


def test_whoever_is_erased_leaves_no_address_and_no_letter(town: Town) -> None:
    (owner,) = town.add_owners(1)
    wants(town, owner, ["opened"], email="ann@example.org")
    round_steps.cancel_round(town.market, town.consumer, town.open_round().round_id)
    assert own_data.export(town.market, owner).letters.email == "ann@example.org"
    own_data.erase(town.market, owner, Erasure())
    assert written(town) == set()
    with town.market.store.read() as connection:
        assert connection.execute(select(choices_table)).all() == []


def test_without_a_mail_server_no_address_is_taken(tmp_path: Path) -> None:
    plain = found_town(f"sqlite:///{tmp_path}/market.db")
    with pytest.raises(UnprocessableError, match="sends no e-mail"):
        letter_choices.choose(plain.market, plain.consumer, LetterChoices(email="x@example.org"))
    plain.market.store.close()


@pytest.mark.parametrize("wrong", [{"mail_url": "http://x"}, {"mail_url": "smtp://x"}, {"webhooks": "some"}])
def test_settings_that_cannot_be_are_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(TermsError):
        Settings(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"mail_url": "post:x", "mail_from": "a@b"}, "PDQS_MAIL_URL must look like"),
        ({"mail_url": "file:/tmp"}, "PDQS_MAIL_FROM: '' must be an e-mail address"),
        ({"mail_url": "smtp://x", "mail_from": "a@b"}, "PDQS_PUBLIC_URL must be set where letters are sent"),
    ],
)
def test_a_fault_of_the_mail_names_the_setting_that_it_is_in(given: dict[str, str], named: str) -> None:
    with pytest.raises(TermsError, match=named):
        Settings(**given)  # type: ignore[arg-type]


def test_every_letter_says_which_market_it_is_from(town: Town) -> None:
    (owner,) = town.add_owners(1)
    letter_choices.choose(town.market, owner, LetterChoices(email="ann@example.org", kinds=["opened"]))
    (asked,) = claim(town.market, 10)
    at_home = replace(town.market, settings=replace(town.market.settings, public_url="", port=8001))
    for market, address in ((town.market, "https://market.example"), (at_home, "http://127.0.0.1:8001")):
        text = email_of(market, asked).get_content()
        assert f"the market of private data at {address} to write" in text
        assert f"{address}/account/letters" in text


def test_every_kind_has_words() -> None:
    assert list(KINDS) == ALL


@pytest.mark.parametrize("whom", ["without_bid", "without_report", "in_no_batch", "the control"])
def test_who_is_left_over_is_found_by_one_pass_however_many_took_part(far_town: Town, whom: str) -> None:
    """The control is the form it had: for each of a million, PostgreSQL went through a million others."""
    have = select(bids.c.owner_id).where(bids.c.round_id == "r")
    asked = {
        "without_bid": round_letters._without_bid("r"),
        "without_report": round_letters._without_report("r"),
        "in_no_batch": select(users.c.user_id).where(not_in_a_batch()),
        "the control": select(users.c.user_id).where(users.c.user_id.not_in(have)),
    }[whom]
    words = asked.compile(far_town.market.store.engine, compile_kwargs={"literal_binds": True})
    with far_town.market.store.read() as connection:
        plan = "\n".join(connection.scalars(text(f"EXPLAIN {words}")))
    assert ("NOT (hashed SubPlan" in plan or "NOT (SubPlan" in plan) == (whom == "the control"), plan
    assert ("Anti Join" in plan) == (whom != "the control"), plan


def test_letters_that_could_not_be_written_are_written_at_the_next_look(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One transaction that failed lost them for good."""
    (owner,) = town.add_owners(1)
    wants(town, owner, ["closing"], email="x@example.org")
    wants(town, town.operator, ["stuck"], email="o@example.org")
    found = town.open_round(bid_seconds=86_400)
    town.clock.advance(86_400 - 3600)
    town.market.stuck["r"] = Stuck(round_id=found.round_id, since_ms=1, reason="?", kind="?", where="?")

    def failing(*_given: object, **_named: object) -> None:
        raise OperationalError("INSERT", {}, Exception("the disk is full"))

    monkeypatch.setattr(round_letters, "tell", failing)
    for step in (round_letters.tell_closing, round_letters.tell_stuck):
        with pytest.raises(OperationalError):
            step(town.market)
    assert written(town) == set()
    monkeypatch.setattr(round_letters, "tell", tell)
    for _ in range(2):
        round_letters.tell_closing(town.market)
        round_letters.tell_stuck(town.market)
        kinds = {("closing", "email", owner.user_id), ("stuck", "email", town.operator.user_id)}
        assert written(town) == kinds
