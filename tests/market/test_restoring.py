"""A backup that is put back brings back what had ended: one command ends it again and says what is to be entered."""

from __future__ import annotations

import io
import shutil
import sqlite3
from pathlib import Path

import pytest

from market.town import Town
from pdqs.cli import main
from pdqs.market import access, passkeys, people, reads, restoring, round_steps
from pdqs.market.clock_state import note_tick
from pdqs.market.store.leader import Leader
from pdqs.market.store.schema import passkeys as passkey_table
from pdqs.market.store.serving_lock import served_once
from pdqs.protocol.market_messages import Transfer
from pdqs.protocol.problems import UnauthorizedError


def _refused(town: Town, token: str) -> bool:
    try:
        access.user_of_token(town.market, token)
    except UnauthorizedError:
        return True
    return False


def test_every_sign_in_ends_and_nothing_else_is_changed(either_town: Town) -> None:
    town = either_town
    ann, bob, _ = town.add_owners(3)
    tokens = [access.issue_token(town.market, who) for who in (ann, town.operator)]
    page = access.start_session(town.market, town.consumer)
    code = round_steps.renew_code(town.market, town.operator, bob.user_id).code
    with town.market.store.write() as connection:
        row = {"credential_id": "a", "site": "here", "user_id": bob.user_id, "public_key": "k", "sign_count": 0}
        connection.execute(passkey_table.insert(), {**row, "name": "a key", "created_at_ms": town.clock()})
    assert not any(_refused(town, token) for token in tokens)
    assert restoring.end_every_sign_in(town.market) == 4
    assert all(_refused(town, token) for token in tokens), "the one that was looked up a moment ago as well"
    for gone in (lambda: access.session_of(town.market, page.cookie), lambda: access.redeem(town.market, code)):
        with pytest.raises(UnauthorizedError):
            gone()
    with town.market.store.read() as connection:
        assert passkeys.kept_passkeys(connection, bob.user_id) == []
    assert town.balanced()
    assert town.balance(town.consumer) == 100_000_000
    assert restoring.end_every_sign_in(town.market) == 0
    assert access.redeem(town.market, people.first_operator(town.market).code).user_id == town.operator.user_id
    assert [line.what for line in reads.access_page(town.market, ann).items] == ["ended"]


def _backup(file: Path, to: Path) -> None:
    source, copy = sqlite3.connect(file), sqlite3.connect(to)
    source.backup(copy)
    source.close()
    copy.close()


def test_the_command_says_where_the_copy_ends_and_puts_payouts_first(
    town: Town, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (ann,) = town.add_owners(1)
    token = access.issue_token(town.market, ann)
    note_tick(town.market)
    _backup(tmp_path / "market.db", tmp_path / "backup.db")
    town.clock.advance(86_400)
    people.disable_user(town.market, town.operator, ann.user_id)
    gift = Transfer(user_id=town.consumer.user_id, amount_micros=7_000_000)
    round_steps.deposit(town.market, town.operator, gift, "after-the-backup")
    assert _refused(town, token)
    town.market.store.close()
    for end in ("-wal", "-shm"):
        (tmp_path / f"market.db{end}").unlink(missing_ok=True)
    shutil.copy(tmp_path / "backup.db", tmp_path / "market.db")
    town.market.callers.forget(ann.user_id)
    assert not _refused(town, token), "she was shut out, and the backup knows nothing of it"
    town.market.store.close()

    command = ["market", "restored", "--database", f"sqlite:///{tmp_path}/market.db"]
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    with pytest.raises(SystemExit) as ended:
        main(command)
    said = capsys.readouterr()
    assert (ended.value.code, said.err) == (
        2,
        "pdqs: nobody is here to be asked, so no sign-in was ended: --yes ends them\n",
    )
    main([*command, "--yes"])
    out = capsys.readouterr().out
    assert out.startswith(
        "This copy ends: 15 Jan 2027, 08:00 UTC\nThe last payout in it: none\nThe last refund in it: none\n"
        "The last deposit in it: 15 Jan 2027, 08:00 UTC\nThe sign-ins of "
    )
    assert out.index("1. Payouts") < out.index("2. Deposits") < out.index("3. Whoever was shut out")
    town.market.callers.forget(ann.user_id)
    assert _refused(town, token)


def test_a_market_that_is_being_served_is_refused_unless_told_otherwise(
    either_town: Town, capsys: pytest.CaptureFixture[str]
) -> None:
    town = either_town
    url = town.market.settings.database_url
    token = access.issue_token(town.market, town.operator)
    command = ["market", "restored", "--yes", "--database", url]
    leader = Leader(town.market.store)
    with served_once(url, "http://127.0.0.1:8000"):
        assert leader.leads()
        with pytest.raises(SystemExit) as ended:
            main(command)
        said = capsys.readouterr()
        assert (ended.value.code, said.out, said.err.count("\n")) == (2, "", 1)
        assert said.err.endswith("; --while-served does it all the same\n")
        assert ("served already at http://127.0.0.1:8000" in said.err) or ("is being served" in said.err)
        assert not _refused(town, token)
        main([*command, "--while-served"])
        town.market.callers.forget(town.operator.user_id)
        assert _refused(town, token)
    leader.resign()
    main(command)  # and nothing is held afterwards
    assert leader.leads()
    leader.resign()


def test_a_mistyped_name_makes_no_market(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["market", "restored", "--yes", "--database", f"sqlite:///{tmp_path}/none.db"])
    assert "there is no market in" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
