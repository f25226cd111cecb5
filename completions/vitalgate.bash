# Bash completion for vitalgate. The program itself proposes the candidates.

_vitalgate() {
    local -a words=() lines=()
    local i word typed plain rest name candidate kept='' quote='' glued='' IFS=$' \t\n'
    COMPREPLY=()

    # Bash splits words at = and :, so they are joined again here.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((i > 0)) && [[ $word =~ ^[=:]+$ ]]; then
            words[-1]+=$word
            glued=1
        elif [[ $glued ]]; then
            words[-1]+=$word
            glued=''
        else
            words+=("$word")
        fi
    done
    name=${words[0]}
    [[ $name == '~/'* ]] && name=$HOME/${name#'~/'}
    type -P -- "$name" >/dev/null || name=vitalgate

    # Quoted text is compared without its quotes.
    typed=${words[-1]} plain=${words[-1]}
    case $typed in
        [\"\']*) quote=${typed:0:1} typed=${typed:1} plain=$typed ;;
        *) plain=${typed//\\/} ;;
    esac
    mapfile -t lines < <("$name" complete -- "${words[@]:1:${#words[@]}-2}" "$plain" 2>/dev/null </dev/null)
    [[ ${lines[0]-} == words ]] && typed=$plain

    # Bash replaces only the text after the last word break, so the text before it must not be repeated.
    if [[ ! $quote ]]; then
        rest=$typed
        [[ $COMP_WORDBREAKS == *=* ]] && rest=${rest##*=}
        [[ $COMP_WORDBREAKS == *:* ]] && rest=${rest##*:}
        kept=${typed%"$rest"}
    fi

    case ${lines[0]-} in
        files | folders)
            local flag=-f value=$typed
            [[ ${lines[0]} == folders ]] && flag=-d
            [[ $typed == --*=* ]] && value=${typed#*=}
            # compopt fails outside of programmable completion, for example in a test.
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen "$flag" -- "$value")
            COMPREPLY=("${COMPREPLY[@]/#/"${typed%"$value"}"}")
            COMPREPLY=("${COMPREPLY[@]#"$kept"}")
            ;;
        words)
            for candidate in "${lines[@]:1}"; do
                candidate=${candidate%%$'\t'*}
                [[ $candidate == "$typed"* ]] || continue
                candidate=${candidate#"$kept"}
                [[ $quote ]] || printf -v candidate '%q' "$candidate"
                COMPREPLY+=("$candidate")
            done
            ;;
        *) ;;
    esac
}

complete -F _vitalgate 'vitalgate'
