"""``aicr completion``: a script with which a shell completes commands, flags and choices."""

from __future__ import annotations

from aicr.cli.output import write

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

_EPILOG = """\
Examples:
  source <(aicr completion bash)
  aicr completion zsh > ~/.zfunc/_aicr
  aicr completion fish > ~/.config/fish/completions/aicr.fish
"""

_FILES = ("FILE", "DIR", "PATH", "RECIPE", "ARTIFACT")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))


def run(args: argparse.Namespace) -> int:
    write(_WRITERS[args.shell](_commands()), None)
    return 0


class _Flag:
    __slots__ = ("choices", "files", "help", "names", "takes_value")

    def __init__(self, action: argparse.Action) -> None:
        from aicr.cli.flags import BoolFlag

        self.names = [name for name in action.option_strings if name.startswith("-")]
        self.choices = [str(choice) for choice in action.choices or ()]
        self.help = (action.help or "").replace("%(default)s", str(action.default))
        self.takes_value = action.nargs != 0 and not isinstance(action, BoolFlag)
        metavar = action.metavar if isinstance(action.metavar, str) else ""
        self.files = self.takes_value and any(word in metavar for word in _FILES)


def _commands() -> dict[str, list[_Flag]]:
    """Every verb with its flags (and its positional choices, without a name)."""
    from aicr.cli.flags import make_parser
    from aicr.cli.main import VERBS, _load

    commands: dict[str, list[_Flag]] = {}
    for verb, (_, purpose) in VERBS.items():
        parser = make_parser(verb, purpose, _load(verb).configure)
        commands[verb] = [_Flag(action) for action in parser._actions]
    return commands


def _words(verb: str, commands: dict[str, list[_Flag]]) -> list[str]:
    words = [name for flag in commands[verb] for name in flag.names if name.startswith("--")]
    words += [choice for flag in commands[verb] if not flag.names for choice in flag.choices]
    words += [other[len(verb) + 1 :] for other in commands if other.startswith(verb + " ")]
    return words


def _top(commands: dict[str, list[_Flag]]) -> list[str]:
    return list(dict.fromkeys(verb.split()[0] for verb in commands))


def _bash(commands: dict[str, list[_Flag]]) -> str:
    verbs = sorted(commands, key=lambda verb: (-len(verb), verb))
    finds = "\n".join(
        f'    "{verb}"|"{verb} "*)\n{_values(commands[verb])}'
        f'      words="{" ".join(_words(verb, commands))}" ;;'
        for verb in verbs
    )
    return f"""\
_aicr() {{
  local cur prev words line
  cur="${{COMP_WORDS[COMP_CWORD]}}"
  prev="${{COMP_WORDS[COMP_CWORD-1]}}"
  COMPREPLY=()
  line="${{COMP_WORDS[*]:1:COMP_CWORD-1}}"
  case "$line" in
{finds}
    *) words="{" ".join(_top(commands))} --help --version" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}}
complete -o default -F _aicr aicr
"""


def _values(flags: list[_Flag]) -> str:
    """What stands behind a verb's flags that take a choice or a file."""
    cases = [
        f'        {"|".join(flag.names)}) COMPREPLY=($(compgen -W "{" ".join(flag.choices)}" '
        '-- "$cur")); return ;;\n'
        for flag in flags
        if flag.names and flag.choices
    ]
    files = "|".join(name for flag in flags if flag.files for name in flag.names)
    if files:
        cases.append(f'        {files}) COMPREPLY=($(compgen -f -- "$cur")); return ;;\n')
    return f'      case "$prev" in\n{"".join(cases)}      esac\n' if cases else ""


def _zsh(commands: dict[str, list[_Flag]]) -> str:
    return f"#compdef aicr\nautoload -U +X bashcompinit && bashcompinit\n{_bash(commands)}"


def _fish(commands: dict[str, list[_Flag]]) -> str:
    lines = ["complete -c aicr -f"]
    top = " ".join(_top(commands))
    lines.append(f"complete -c aicr -n __fish_use_subcommand -a '{top}'")
    for verb, flags in commands.items():
        seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in verb.split())
        for flag in flags:
            longs = [name[2:] for name in flag.names if name.startswith("--")]
            for name in longs:
                line = f"complete -c aicr -n '{seen}' -l {name}"
                if flag.choices:
                    line += f" -x -a '{' '.join(flag.choices)}'"
                elif flag.files:
                    line += " -r -F"
                elif flag.takes_value:
                    line += " -x"
                lines.append(line + f" -d '{_fish_text(flag.help)}'")
            if not flag.names and flag.choices:
                lines.append(f"complete -c aicr -n '{seen}' -a '{' '.join(flag.choices)}'")
        for other in commands:
            if other.startswith(verb + " "):
                lines.append(f"complete -c aicr -n '{seen}' -a '{other[len(verb) + 1 :]}'")
    return "\n".join(lines) + "\n"


def _fish_text(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")


_WRITERS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
