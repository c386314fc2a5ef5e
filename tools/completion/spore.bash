# SPDX-License-Identifier: Apache-2.0
# Completion of the command spore for bash. What there is to complete comes from the command's own help, so it fits the version that is installed.

_spore_words() { # VERBS or options of a verb: the words of a help text that look like them
    case $1 in
        verbs) "${COMP_WORDS[0]}" "${@:2}" --help 2>/dev/null | sed -n 's/^  \([a-z]\{2,\}\)  *.*/\1/p' ;;
        options) "${COMP_WORDS[0]}" "${@:2}" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]+' | sort -u ;;
    esac
}

_spore() {
    local word=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]-}
    local -a path=("$verb")
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_spore_words verbs) --help --version" -- "$word")
        return
    fi
    if [[ $verb = record || $verb = cache ]] && [ "$COMP_CWORD" -eq 2 ] && [ "${word#-}" = "$word" ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_spore_words verbs "$verb")" -- "$word")
        return
    fi
    if [ "$verb" = help ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_spore_words verbs)" -- "$word")
        return
    fi
    if [ "$verb" = ops ] && [ "${word#-}" = "$word" ]; then
        mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" ops 2>/dev/null | sed 's/(.*//')" -- "$word")
        return
    fi
    [[ $verb = record || $verb = cache ]] && [ "$COMP_CWORD" -gt 2 ] && path+=("${COMP_WORDS[2]-}")
    if [ "${word#-}" != "$word" ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_spore_words options "${path[@]}") --help" -- "$word")
        return
    fi
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
    compopt -o filenames 2>/dev/null
}

complete -F _spore spore
