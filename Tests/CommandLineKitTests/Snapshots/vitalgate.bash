# Bash completion for vitalgate.

_vitalgate_commands() {
    case "$1" in
        '') candidates=('import' 'query' 'store' 'profile' 'unit' 'help') ;;
        '/store') candidates=('check' 'backup') ;;
        '/profile') candidates=('list' 'show') ;;
        '/unit') candidates=('convert') ;;
        *) ;;
    esac
}

_vitalgate_options() {
    case "$1" in
        '') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/import') candidates=('--profile' '--time-zone' '--dry-run' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/query') candidates=('--from' '--to' '--limit' '--format' '--channel' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/store') candidates=('--read-only' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/store/check') candidates=('--read-only' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/store/backup') candidates=('--read-only' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/profile') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/profile/list') candidates=('--ids' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/profile/show') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/unit') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/unit/convert') candidates=('--dialect' '--store' '--config' '--profiles' '--help' '--version') ;;
        *) ;;
    esac
}

_vitalgate_option() {
    case "$1 $2" in
        '/import --profile') kind=program; candidates=('profile' 'list' '--ids') ;;
        '/import --time-zone') kind=words; candidates=('Europe/Berlin' 'UTC') ;;
        '/import --dry-run' | '/import -n') kind= ;;
        '/query --from') kind=none ;;
        '/query --to') kind=none ;;
        '/query --limit' | '/query -l') kind=none ;;
        '/query --format') kind=words; candidates=('csv' 'ndjson' 'table') ;;
        '/query --channel') kind=words; candidates=('gatt:2A37' 'gatt:2A9D') ;;
        '/store --read-only') kind= ;;
        '/store/check --read-only') kind= ;;
        '/store/backup --read-only') kind= ;;
        '/profile/list --ids') kind= ;;
        '/unit/convert --dialect') kind=words; candidates=('ucum' 'healthkit') ;;
        *' --store') kind=file; global=1 ;;
        *' --config') kind=file; global=1 ;;
        *' --profiles') kind=directory; global=1 ;;
        *) ;;
    esac
}

_vitalgate_argument() {
    case "$1 $2" in
        '/import '*) kind=file ;;
        '/query 0') kind=words; candidates=('all' 'bodyMass' 'heartRate') ;;
        '/store/backup 0') kind=file ;;
        '/profile/show 0') kind=program; candidates=('profile' 'list' '--ids') ;;
        '/unit/convert 0') kind=none ;;
        '/unit/convert 1') kind=words; candidates=('[degF]' 'Cel' 'mm[Hg]') ;;
        '/unit/convert 2') kind=words; candidates=('[degF]' 'Cel' 'it'\''s') ;;
        *) ;;
    esac
}

# Proposes the candidates that begin with the typed text. compgen -W would expand them.
_vitalgate_propose() {
    local candidate
    for candidate in "${candidates[@]}"; do
        [[ $candidate == "$typed"* ]] || continue
        candidate=${candidate#"$kept"}
        [[ $quote ]] || printf -v candidate '%q' "$candidate"
        COMPREPLY+=("$added$candidate")
    done
}

# Proposes values of the kind that one of the tables has set.
_vitalgate_propose_value() {
    case $kind in
        file | directory)
            local flag=-f
            [[ $kind == directory ]] && flag=-d
            # compopt fails outside of programmable completion, for example in a test.
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen "$flag" -- "$typed")
            COMPREPLY=("${COMPREPLY[@]#"$kept"}")
            COMPREPLY=("${COMPREPLY[@]/#/"$added"}")
            ;;
        program)
            local name=${words[0]}
            [[ $name == '~/'* ]] && name=$HOME/${name#'~/'}
            type -P -- "$name" >/dev/null || name='vitalgate'
            mapfile -t candidates < <("$name" "${candidates[@]}" "${globals[@]}" 2>/dev/null </dev/null)
            _vitalgate_propose
            ;;
        command)
            mapfile -t candidates < <("${candidates[@]}" 2>/dev/null </dev/null)
            _vitalgate_propose
            ;;
        words) _vitalgate_propose ;;
        *) ;;
    esac
}

_vitalgate() {
    local -a words=() candidates=() globals=()
    local i word typed rest kind kept='' added='' quote='' IFS=$' \t\n'
    local glued='' path='' helping='' ended='' pending='' global='' place=0
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

    # Finds the command, the number of arguments, and a pending option before the cursor.
    for ((i = 1; i < ${#words[@]} - 1; i++)); do
        word=${words[i]}
        kind='' global=''
        if [[ ! $ended && $word == -- ]]; then
            ended=1
        elif [[ ! $ended && $word == -?* && ! $word =~ ^-\.?[0-9] ]]; then
            _vitalgate_option "$path" "${word%%=*}"
            local -a given=("$word")
            if [[ $kind && $word != *=* ]]; then
                ((++i == ${#words[@]} - 1)) && pending=$word
                given+=("${words[i]}")
            fi
            # Only plain words are passed to the program. Typed text is never evaluated.
            [[ $global && ! $pending && ! "${given[*]}" =~ [^A-Za-z0-9_./:,+@%=\ -] ]] && globals+=("${given[@]}")
        else
            candidates=()
            _vitalgate_commands "$path"
            if [[ ! $path && $word == help && ${#candidates[@]} -gt 0 ]]; then
                helping=1
            elif [[ " ${candidates[*]} " == *" $word "* ]]; then
                path+=/$word
            else
                ((place++))
            fi
        fi
    done

    typed=${words[-1]}
    kind=''
    candidates=()
    if [[ $pending ]]; then
        _vitalgate_option "$path" "$pending"
    elif [[ ! $ended && $typed == --*=* ]]; then
        _vitalgate_option "$path" "${typed%%=*}"
        [[ $COMP_WORDBREAKS == *=* ]] || added=${typed%%=*}=
        typed=${typed#*=}
    elif [[ ! $ended && $typed == -* && ! $typed =~ ^-\.?[0-9] ]]; then
        _vitalgate_options "$path"
        kind=words
    else
        _vitalgate_commands "$path"
        if [[ ${#candidates[@]} -gt 0 ]]; then
            kind=words
        elif [[ ! $helping ]]; then
            _vitalgate_argument "$path" "$place"
        fi
    fi

    # Quoted text is compared without its quotes.
    case $typed in
        [\"\']*) quote=${typed:0:1} typed=${typed:1} ;;
        *\\*) [[ $kind == file || $kind == directory ]] || typed=${typed//\\/} ;;
    esac
    # Bash replaces only the text after the last word break, so the text before it must not be repeated.
    if [[ ! $quote ]]; then
        rest=$typed
        [[ $COMP_WORDBREAKS == *=* ]] && rest=${rest##*=}
        [[ $COMP_WORDBREAKS == *:* ]] && rest=${rest##*:}
        kept=${typed%"$rest"}
    fi
    _vitalgate_propose_value
}

complete -F _vitalgate 'vitalgate'
