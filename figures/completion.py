"""Scripts that complete the command `masked-ssl` in a shell: its commands, functions, experiments and options."""

from figures.core.discover import find_experiments

SHELLS = ("bash", "zsh", "fish")
OF_FIGURES = ("list", "run", "update", "draw", "table", "gallery", "analyse")
BASH = """_masked_ssl() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}"
  case "${{COMP_WORDS[1]}}/$COMP_CWORD" in
    */1) COMPREPLY=($(compgen -W "solve analyse figures completion --version --help" -- "$word")) ;;
    solve/2) COMPREPLY=($(compgen -W "{functions}" -- "$word")) ;;
    solve/*) COMPREPLY=($(compgen -W "{records}" -- "$word")) ;;
    figures/2) COMPREPLY=($(compgen -W "{commands}" -- "$word")) ;;
    figures/*) COMPREPLY=($(compgen -W "{experiments}" -- "$word")) ;;
    completion/2) COMPREPLY=($(compgen -W "{shells}" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}}
complete -o filenames -F _masked_ssl masked-ssl
"""
FISH = """complete -c masked-ssl -f -n __fish_use_subcommand -a "solve analyse figures completion"
complete -c masked-ssl -f -n "__fish_seen_subcommand_from solve" -a "{functions} {records}"
complete -c masked-ssl -F -n "__fish_seen_subcommand_from analyse"
complete -c masked-ssl -f -n "__fish_seen_subcommand_from figures" -a "{commands} {experiments}"
complete -c masked-ssl -f -n "__fish_seen_subcommand_from completion" -a "{shells}"
"""


def script(shell: str) -> str:
    """Return the script for one shell; ValueError for a shell that there is none for.

    Bash reads it by `source <(masked-ssl completion bash)`, zsh likewise, and fish by `masked-ssl completion fish |
    source`.
    """
    if shell not in SHELLS:
        raise ValueError(f"shell must be one of {', '.join(SHELLS)}, got {shell!r}")
    from theory.requests import functions, records

    words = {
        "functions": " ".join(functions()),
        "records": " ".join(sorted(records())),
        "experiments": " ".join(find_experiments()),
        "commands": " ".join(OF_FIGURES),
        "shells": " ".join(SHELLS),
    }
    if shell == "fish":
        return FISH.format(**words)
    head = "autoload -U +X bashcompinit && bashcompinit\n" if shell == "zsh" else ""
    return head + BASH.format(**words)
