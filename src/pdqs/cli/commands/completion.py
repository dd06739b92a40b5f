"""pdqs completion: what a shell needs to finish words of this command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer

SHELLS = ("bash", "zsh", "fish")

_HOW = {
    "bash": '# in ~/.bashrc: eval "$(pdqs completion bash)"',
    "zsh": '# in ~/.zshrc, after compinit: eval "$(pdqs completion zsh)"',
    "fish": "# pdqs completion fish > ~/.config/fish/completions/pdqs.fish",
}


def run(shell: Annotated[str, typer.Argument(metavar="bash|zsh|fish", help="The shell.")]) -> None:
    """Print what a shell needs to complete commands, subcommands and options."""
    from pdqs.cli import COMMANDS
    from pdqs.model.errors import InputError

    if shell not in SHELLS:
        raise InputError(f"no completion for {shell!r}: choose one of {', '.join(SHELLS)}")
    words = {word: _words_of(word) for word in COMMANDS}
    print(_HOW[shell])
    print(_fish(words) if shell == "fish" else _bash(words, shell))


def _words_of(word: str) -> tuple[str, ...]:
    """The subcommands and options of a command; none where a library that it needs is not installed."""
    from pdqs.cli import command_of

    try:
        found = command_of(word)
    except ModuleNotFoundError:
        return ()
    return (*sorted(_subcommands(found)), *sorted(_options(found)), "--help")


def _subcommands(command: object) -> list[str]:
    return list(command.commands) if isinstance(command, typer.core.TyperGroup) else []


def _options(command: object) -> set[str]:
    """The options of a command, and of its subcommands."""
    if isinstance(command, typer.core.TyperGroup):
        return set().union(*(_options(each) for each in command.commands.values()))
    assert isinstance(command, typer.core.TyperCommand)
    return {name for each in command.params for name in each.opts if name.startswith("--")}


def _bash(words: Mapping[str, Sequence[str]], shell: str) -> str:
    cases = "\n".join(f'    {word}) found="{" ".join(offered)}" ;;' for word, offered in words.items())
    start = "autoload -U +X bashcompinit && bashcompinit\n" if shell == "zsh" else ""
    return f"""{start}_pdqs() {{
  local found="" now="${{COMP_WORDS[COMP_CWORD]}}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{" ".join(words)} --help --version" -- "$now"))
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{cases}
  esac
  COMPREPLY=($(compgen -W "$found" -- "$now"))
}}
complete -o default -F _pdqs pdqs"""


def _fish(words: Mapping[str, Sequence[str]]) -> str:
    lines = [f"complete -c pdqs -n __fish_use_subcommand -f -a '{' '.join(words)}'"]
    for word, offered in words.items():
        lines += [
            f"complete -c pdqs -n '__fish_seen_subcommand_from {word}' "
            + (f"-l {each[2:]}" if each.startswith("--") else f"-a {each}")
            for each in offered
        ]
    return "\n".join(lines)
