"""The command line: ``pdqs WORD ...``, one thin file per word, loaded when it is called for.

A fault of the caller's ends with exit code 2 and one sentence; nothing is half-written.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from pdqs import __version__
from pdqs.cli.endings import NO_ROOM, STOPPED, UNHEARD, drop_output, notes_on_stderr, open_closed_streams
from pdqs.cli.extras import missing_extra
from pdqs.cli.usage import UsageFault, usage_words
from pdqs.model.errors import PdqsError

if TYPE_CHECKING:
    from typer.core import TyperCommand, TyperGroup

# word -> one line for `pdqs --help`. Each word is a module of this package whose `run` is a function with typer's
# annotations, or a typer.Typer of several subcommands.
COMMANDS = {
    "demo": "Run every mechanism on an embedded population and draw what came out.",
    "trade": "Run a whole round: bids and values in, an answer and payments out.",
    "clear": "Turn bids into offers.",
    "answer": "Turn reports and offers into an answer with an interval.",
    "terms": "Show what a round promises, and freeze it in a file.",
    "plan": "Say what a budget buys, or what a precision costs.",
    "compare": "Run several mechanisms on one market, a row each.",
    "audit": "Measure what a mechanism really keeps.",
    "verify": "Check the record of a round that somebody else ran.",
    "train": "Learn a rule from past bids.",
    "reproduce": "Regenerate the paper's experiments beside the sound mechanisms.",
    "populations": "List, verify and fetch the six populations of the paper.",
    "serve": "Run the market: consumers, owners, and a broker who never sees a value.",
    "market": "Operate and simulate a running market.",
    "completion": "Print what a shell needs to complete these words.",
    "owner": "Take part in a market as a data owner, from this device.",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command; the console script ``pdqs``.

    Ctrl-C ends it with 130 and a reader who has left (a broken pipe) with 141, as shells have it; neither is a fault.
    """
    open_closed_streams()
    try:
        _main(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
    except KeyboardInterrupt:
        _fail("stopped", STOPPED)
    except BrokenPipeError:
        _end_unheard()
    except OSError as fault:
        if fault.errno not in NO_ROOM:
            raise
        drop_output()
        _fail(f"cannot write to standard output: {fault.strerror}")
    except RuntimeError as fault:  # Python 3.11 wraps what interrupts the making of a class
        if not isinstance(fault.__cause__, KeyboardInterrupt):
            raise
        _fail("stopped", STOPPED)
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):  # click had turned it into a plain 1
            _end_unheard()
        raise


def _end_unheard() -> NoReturn:
    drop_output()
    raise SystemExit(UNHEARD) from None


def _main(words: list[str]) -> None:
    if words[:1] == ["help"] and words[1:2] != [] and words[1] in COMMANDS:
        _run(words[1], ["--help"])
    elif not words or words[0] in ("-h", "--help", "help"):
        print(_help())
    elif words[0] in ("-V", "--version", "version"):
        print(f"pdqs {__version__}")
    elif words[0] in COMMANDS:
        _run(words[0], words[1:])
    else:
        _fail(f"no command {words[0]!r}: {_meant(words[0])}")


def _meant(word: str) -> str:
    """What a mistyped word was perhaps meant to be."""
    import difflib

    close = difflib.get_close_matches(word.lower(), COMMANDS, n=1)
    return f"did you mean pdqs {close[0]}?" if close else "try pdqs --help"


def _help() -> str:
    width = max(map(len, COMMANDS))
    listed = "\n".join(f"  {word:<{width}}  {line}" for word, line in COMMANDS.items())
    return (
        "Usage: pdqs COMMAND [OPTIONS]\n\n"
        "  Buy a statistic from people who price their own privacy.\n\n"
        f"Commands:\n{listed}\n\n"
        "  pdqs COMMAND --help says more of each; pdqs --version says which pdqs this is."
    )


def _run(word: str, arguments: list[str]) -> None:
    """Load a command and run it, or say what it takes to run it."""
    try:
        _load_and_run(word, arguments)
    except ModuleNotFoundError as missing:
        sentence = missing_extra(word, missing.name or "")
        if sentence is None:
            raise
        _fail(sentence)


def command_of(word: str) -> TyperCommand | TyperGroup:
    """The command behind a word, loaded."""
    import typer

    app = target = importlib.import_module(f"pdqs.cli.commands.{word}").run
    if not isinstance(target, typer.Typer):
        app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        app.command(help=COMMANDS[word])(target)
    made: TyperCommand | TyperGroup = typer.main.get_command(app)  # type: ignore[assignment]  # it says click's own
    return made


def _load_and_run(word: str, arguments: list[str]) -> None:
    import typer

    command = command_of(word)
    command.context_settings.setdefault("help_option_names", ["--help", "-h"])
    if isinstance(command, typer.core.TyperGroup) and not arguments:
        arguments = ["--help"]  # of several subcommands, none was named
    try:
        # Not command(...): that would take an interrupt and a broken pipe for its own, with codes of its own.
        with notes_on_stderr(), command.make_context(f"pdqs {word}", arguments) as context:
            command.invoke(context)
    except PdqsError as fault:
        _fail(str(fault))
    except typer.Exit as end:
        raise SystemExit(end.exit_code) from None
    except typer.Abort:
        _fail("stopped", STOPPED)
    except Exception as fault:
        if not isinstance(fault, UsageFault):
            raise
        _fail(usage_words(fault, word))


def _fail(sentence: str, code: int = 2) -> NoReturn:
    """One sentence for people, an exit code for scripts."""
    from pdqs.present.text import printable

    # It may quote a market, a file or a name: none of them is to speak to the terminal itself.
    print(f"pdqs: {printable(sentence, most=4000)}", file=sys.stderr)
    raise SystemExit(code)
