"""Where settings come from, which word counts, and what is refused before anything is served."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from pdqs.cli import main
from pdqs.market.configuration import settings_from
from pdqs.market.settings import CLOCK_CONNECTIONS, Settings
from pdqs.model.errors import PdqsError

PG = "postgresql://nobody@127.0.0.1:1/none"


def _file(tmp_path: Path, text: str) -> str:
    path = tmp_path / "market.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_the_command_line_counts_before_the_environment_and_that_before_the_file(tmp_path: Path) -> None:
    file = _file(tmp_path, 'port = 1\nhost = "a"\ncaller_rate = 3\n')
    found = settings_from({"PDQS_PORT": "2", "PDQS_HOST": "b"}, file, {"port": 3})
    assert (found.port, found.host, found.caller_rate) == (3, "b", 3.0)
    assert settings_from({"PDQS_CONFIG": file}).host == "a"


@pytest.mark.parametrize("field", dataclasses.fields(Settings), ids=lambda field: str(field.name))
def test_every_setting_can_stand_in_a_file_and_in_the_environment(
    tmp_path: Path, field: dataclasses.Field[object]
) -> None:
    value = field.default
    text = f'"{value}"' if isinstance(value, str) else str(value)
    assert settings_from({}, _file(tmp_path, f"{field.name} = {text}\n")) == Settings()
    assert settings_from({f"PDQS_{field.name.upper()}": str(value)}) == Settings()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("prot = 1", r"there is no setting 'prot'; did you mean 'port'\?$"),
        ("zzzzz = 1", "there is no setting 'zzzzz'$"),
        ('port = "80"', "must be a whole number"),
        ("host = 8", "must be text in quotes"),
        ("workers = true", "must be a whole number"),
        ("currency_decimals = 2.5", "2.5 must be a whole number"),
        ('tick_seconds = "1"', "'1' must be a number"),
        ("workers = 0", "must be above 0"),
        ("tick_seconds = -1.5", "must be above 0"),
        ("port = ", "is not TOML"),
        ("workers = 2", "2 workers need PostgreSQL"),
        (f'workers = 5\ndatabase_url = "{PG}"', f"must be at least {5 * 8 + CLOCK_CONNECTIONS}"),
        ('public_url = "market.example"', "must look like https://market.example"),
        ('root_path = "market"', "must look like /market"),
        ('root_path = "/a//b"', "PDQS_ROOT_PATH: the path '/a//b' must look like /market"),
        ('public_url = "https://town.example/a b"', "PDQS_PUBLIC_URL: the path '/a b' must look like /market"),
        ('host = ""', r"PDQS_HOST must not be empty: 127\.0\.0\.1 is this machine alone"),
        ('trusted_proxies = "localhost"', "'localhost' must be an address or a network"),
        ('trusted_proxies = "127.0.0.1,10.0.0.1"', "with spaces between several"),
        ('trusted_proxies = "127.0.0.1/8"', "'127.0.0.1/8' must be an address or a network"),
        ('trusted_proxies = "127.0.0.1:443"', "'127.0.0.1:443' must be an address or a network"),
        ('trusted_proxies = "* 127.0.0.1"', "stands alone"),
        ('device_origins = "device.example"', "'device.example' must look like https://device.example"),
        ('device_origins = "https://device.example/"', "with nothing after host and port"),
        ('device_origins = "https://a,https://b"', "with spaces between several"),
        ('device_origins = "https://Device.example"', "in small letters"),
        ('device_origins = "https://device.example:443"', "must look like https://device.example"),
        ("retention_days = 99999999999", "PDQS_RETENTION_DAYS: 99999999999 must be at most 36500"),
        ("code_hours = 1e300", r"PDQS_CODE_HOURS: 1e\+300 must be at most"),
        ("port = 70000", "PDQS_PORT: 70000 must be at most 65535"),
        ('public_url = "https://town.example:port"', "must look like https://market.example"),
        ('public_url = "https://town.example/#there"', "must look like https://market.example"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_a_sentence(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(PdqsError, match=said):
        settings_from({}, _file(tmp_path, text))


@pytest.mark.parametrize("name", ["public_url", "device_origins"])
def test_a_password_in_an_address_that_people_are_told_is_refused_and_not_said_back(tmp_path: Path, name: str) -> None:
    with pytest.raises(PdqsError, match="password") as refused:
        settings_from({}, _file(tmp_path, f'{name} = "https://ann:geheim@town.example"'))
    assert "geheim" not in str(refused.value)


def test_addresses_that_can_be_meant_are_taken() -> None:
    proxies, origins = "127.0.0.1 10.0.0.0/8 ::1 fd00::/8", "https://device.example http://[::1]:8017"
    found = settings_from({"PDQS_TRUSTED_PROXIES": proxies, "PDQS_DEVICE_ORIGINS": origins})
    assert (found.trusted_proxies, found.device_origins) == (proxies, origins)
    assert settings_from({"PDQS_TRUSTED_PROXIES": "*", "PDQS_DEVICE_ORIGINS": ""}).device_origins == ""


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("PDQS_RETENTION_DAY", "; did you mean 'PDQS_RETENTION_DAYS'?"),
        ("PDQS_CURENCY", "; did you mean 'PDQS_CURRENCY'?"),
        ("PDQS_WORKER", "; did you mean 'PDQS_WORKERS'?"),
        ("PDQS_workers", "; did you mean 'PDQS_WORKERS'?"),
        ("PDQS_XYZZY", ""),
    ],
)
@pytest.mark.parametrize(
    "words", [("serve", "--workers", "2"), *(("market", word) for word in ("operator", "groups", "migrate"))]
)
def test_every_command_refuses_a_variable_that_is_no_setting_and_says_which_was_meant(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    said: str,
    meant: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(said, "as secret as a password")
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert capsys.readouterr() == ("", f"pdqs: the environment: there is no setting {said!r}{meant}\n")
    assert not list(tmp_path.iterdir())


def test_what_means_something_elsewhere_may_stand_in_the_environment() -> None:
    """Everything after PDQS_ that any file of the project reads is known, so that no command refuses another's."""
    names = {"PDQS_DEVICE", "PDQS_LOOK", "PDQS_AXE"}
    assert settings_from(dict.fromkeys([*names, "PDQSX", "XPDQS_A", "_PDQS_COMPLETE"], "x")) == Settings()
    settings = {f"PDQS_{field.name.upper()}" for field in dataclasses.fields(Settings)} | {"PDQS_CONFIG"}
    root = Path(__file__).parents[2]
    files = [*(root / "src").rglob("*.py"), *(root / "tests").rglob("*.py"), root / "Makefile"]
    read = {
        name
        for file in files
        if file != Path(__file__)
        for name in re.findall(r"\bPDQS_[A-Z_]*[A-Z]\b", file.read_text(encoding="utf-8"))
    }
    assert read - settings == names


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(PdqsError, match=r"none\.toml' cannot be read"):
        settings_from({}, str(tmp_path / "none.toml"))


def test_the_path_of_the_public_address_is_the_prefix_unless_one_is_set() -> None:
    public = "https://Town.example/market/"
    assert (Settings(public_url=public).prefix, Settings(public_url=public).origin) == (
        "/market",
        "https://town.example",
    )
    assert Settings(public_url=public, root_path="/m/").prefix == "/m"
    assert (Settings().prefix, Settings().origin) == ("", "")


def test_workers_share_the_connections() -> None:
    found = Settings(database_url=PG, workers=3, database_connections=66)
    assert 3 * found.connections_each + CLOCK_CONNECTIONS <= 66


@pytest.mark.parametrize("words", [("market", "operator"), ("market", "migrate")])
def test_every_command_keeps_to_the_database_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PDQS_DATABASE_URL", f"sqlite:///{tmp_path}/elsewhere.db")
    main(["market", "operator"])  # which makes it
    main(words)
    assert [path.name for path in tmp_path.iterdir()] == ["elsewhere.db"]


@pytest.mark.parametrize("words", [("market", "operator"), ("market", "migrate")])
def test_a_database_that_is_away_is_said_in_one_sentence(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*words, "--database", PG])
    said = capsys.readouterr().err
    assert (ended.value.code, said.count("\n")) == (2, 1)
    assert said.startswith("pdqs: the database cannot be used: nothing answers at 127.0.0.1 port 1")


@pytest.mark.parametrize("name", ["PDQS_MARKET_SERVICE_HOST", "PDQS_DB_SERVICE_PORT_WEB", "PDQS_DB_PORT_5432_TCP_ADDR"])
def test_what_a_cluster_sets_for_a_service_of_our_name_is_no_mistyped_setting(name: str) -> None:
    assert settings_from({name: "tcp://10.0.0.1:5432"}) == settings_from({})
    with pytest.raises(PdqsError, match="there is no setting"):
        settings_from({name: "tcp://10.0.0.1:5432", "PDQS_RETENTION_DAY": "30"})


def test_a_file_that_was_saved_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    """Nobody sees the mark that some editors put before the first letter."""
    path = tmp_path / "market.toml"
    path.write_text("workers = 1\ncode_hours = 5\n", encoding="utf-8-sig")
    assert settings_from({}, str(path)).code_hours == 5


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_a_file_in_another_encoding_is_told_how_to_be_saved_and_nothing_of_codecs(
    tmp_path: Path, encoding: str
) -> None:
    path = tmp_path / "market.toml"
    path.write_text(
        "# für uns\nport = 1\n", encoding=encoding
    )  # Windows shells write the first, old editors the second
    with pytest.raises(PdqsError, match=r"market\.toml: line 1 is not UTF-8 \(byte 0xf[fc]\); save it as UTF-8$"):
        settings_from({}, str(path))
