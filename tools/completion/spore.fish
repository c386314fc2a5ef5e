# SPDX-License-Identifier: Apache-2.0
# Completion of the command spore for fish. What there is to complete comes from the command's own help.

function __spore_verbs
    spore $argv --help 2>/dev/null | string replace -rf '^  ([a-z]{2,}) +(.*)$' '$1\t$2'
end

function __spore_options
    set -l words (commandline -opc)[2..-1]
    set -l asked $words[1]
    contains -- "$words[1]" record cache; and set asked $words[1..2]
    spore $asked --help 2>/dev/null | string match -rga -- '(--[a-z][a-z-]+)' | sort -u
    echo --help
end

function __spore_word
    test (count (commandline -opc)) -eq $argv[1]
end

complete -c spore -n '__spore_word 1' -f -a '(__spore_verbs)'
complete -c spore -n '__spore_word 2; and __fish_seen_subcommand_from record' -f -a '(__spore_verbs record)'
complete -c spore -n '__spore_word 2; and __fish_seen_subcommand_from cache' -f -a '(__spore_verbs cache)'
complete -c spore -n '__spore_word 2; and __fish_seen_subcommand_from help' -f -a '(__spore_verbs)'
complete -c spore -n '__spore_word 2; and __fish_seen_subcommand_from ops' -f -a '(spore ops 2>/dev/null | string replace -r "\\(.*" "")'
complete -c spore -n 'not __spore_word 1; and string match -q -- "-*" (commandline -ct)' -f -a '(__spore_options)'
