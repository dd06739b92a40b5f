"""The word that shows that an e-mail address is hers comes, whatever she typed before and whoever named it first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import func, select

from market.test_letters import mails, writing_town
from market.town import Town
from pdqs.market import letter_choices
from pdqs.market.letter_words import email_word
from pdqs.market.postman import deliver_due
from pdqs.market.store.schema import outbox
from pdqs.protocol.letters import LetterChoices
from pdqs.protocol.market_messages import User
from pdqs.protocol.problems import TooManyRequestsError

HERS = "ann@example.org"
DAY = 86_400


@pytest.fixture
def town(database_url: str, tmp_path: Path) -> Iterator[Town]:
    made = writing_town(database_url, tmp_path)
    yield made
    made.market.store.close()


def sets(town: Town, user: User, email: str) -> None:
    """She sets an address, and the postman comes."""
    letter_choices.choose(town.market, user, LetterChoices(email=email, kinds=["paid"]))
    deliver_due(town.market)


def came_to(town: Town, email: str) -> int:
    return sum(f"To: {email}\n" in mail for mail in mails(town))


def confirms(town: Town, user: User, email: str = HERS) -> bool:
    """Whether the word of a letter that came to the address is taken."""
    word = email_word(town.market, user.user_id, email)
    assert any(word in mail for mail in mails(town)), "no such letter came"
    return letter_choices.confirm_email(town.market, user, word).email_confirmed


def noted(town: Town, user: User) -> int:
    """How many of the few that an account may ask for in a day are used up."""
    with town.market.store.read() as connection:
        return int(connection.scalar(select(func.count()).where(outbox.c.user_id == user.user_id)) or 0)


@pytest.mark.parametrize("between", ["other@example.org", ""])
def test_who_goes_back_to_an_address_that_was_skipped_has_its_word(town: Town, between: str) -> None:
    (ann,) = town.add_owners(1)
    letter_choices.choose(town.market, ann, LetterChoices(email=HERS, kinds=["paid"]))
    sets(town, ann, between)  # before the postman came
    assert came_to(town, HERS) == 0
    sets(town, ann, HERS)
    assert came_to(town, HERS) == 1
    assert confirms(town, ann)
    assert noted(town, ann) == (3 if between else 2), "what was not sent is one of hers all the same"


def test_an_address_that_was_skipped_has_one_word_a_day_still(town: Town) -> None:
    ann, bea = town.add_owners(2)
    for _ in range(2):
        letter_choices.choose(town.market, ann, LetterChoices(email=HERS))
        sets(town, ann, "")
    for user in (bea, ann):
        sets(town, user, HERS)
        sets(town, user, "")
    assert came_to(town, HERS) == 1


def test_a_word_is_the_same_however_the_address_is_spelled(town: Town) -> None:
    (ann,) = town.add_owners(1)
    sets(town, ann, "Ann@Example.org")
    sets(town, ann, HERS)
    assert came_to(town, "Ann@Example.org") == 1
    assert came_to(town, HERS) == 0
    assert confirms(town, ann)


def test_whose_address_somebody_else_named_first_has_her_word_the_day_after(town: Town) -> None:
    ann, bea = town.add_owners(2)
    sets(town, bea, HERS)
    sets(town, ann, HERS)
    sets(town, ann, HERS)
    assert came_to(town, HERS) == 1
    town.clock.advance(DAY)
    sets(town, ann, HERS)
    assert came_to(town, HERS) == 2
    assert confirms(town, ann)
    town.clock.advance(DAY)
    sets(town, ann, HERS)
    assert came_to(town, HERS) == 2, "what is confirmed needs no word"


def test_saving_the_same_address_often_is_no_setting_of_another(town: Town) -> None:
    ann, bea = town.add_owners(2)
    for user in (ann, bea):  # whether or not somebody named it
        for _ in range(8):
            sets(town, user, HERS)
        assert noted(town, user) == 1
    town.clock.advance(DAY // 2)
    for place in range(4):
        sets(town, ann, f"{place}@example.org")
    with pytest.raises(TooManyRequestsError):
        sets(town, ann, "4@example.org")
    town.clock.advance(DAY // 2 - 1)
    sets(town, ann, "3@example.org")  # on another day, and while all of hers are used up
    assert letter_choices.choices(town.market, ann).email == "3@example.org"
    assert noted(town, ann) == 5
