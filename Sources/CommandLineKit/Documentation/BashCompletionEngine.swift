/// The part of a completion script that is the same for every program.
enum BashCompletionEngine {
    /// The script, with the placeholders `@FUNCTION@` and `@PROGRAM@` for the names.
    static let script = #"""
        # Proposes the candidates that begin with the typed text. compgen -W would expand them.
        @FUNCTION@_propose() {
            local candidate
            for candidate in "${candidates[@]}"; do
                [[ $candidate == "$typed"* ]] || continue
                candidate=${candidate#"$kept"}
                [[ $quote ]] || printf -v candidate '%q' "$candidate"
                COMPREPLY+=("$added$candidate")
            done
        }

        # Proposes values of the kind that one of the tables has set.
        @FUNCTION@_propose_value() {
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
                    type -P -- "$name" >/dev/null || name=@PROGRAM@
                    mapfile -t candidates < <("$name" "${candidates[@]}" "${globals[@]}" 2>/dev/null </dev/null)
                    @FUNCTION@_propose
                    ;;
                command)
                    mapfile -t candidates < <("${candidates[@]}" 2>/dev/null </dev/null)
                    @FUNCTION@_propose
                    ;;
                words) @FUNCTION@_propose ;;
                *) ;;
            esac
        }

        @FUNCTION@() {
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
                    @FUNCTION@_option "$path" "${word%%=*}"
                    local -a given=("$word")
                    if [[ $kind && $word != *=* ]]; then
                        ((++i == ${#words[@]} - 1)) && pending=$word
                        given+=("${words[i]}")
                    fi
                    # Only plain words are passed to the program. Typed text is never evaluated.
                    [[ $global && ! $pending && ! "${given[*]}" =~ [^A-Za-z0-9_./:,+@%=\ -] ]] && globals+=("${given[@]}")
                else
                    candidates=()
                    @FUNCTION@_commands "$path"
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
                @FUNCTION@_option "$path" "$pending"
            elif [[ ! $ended && $typed == --*=* ]]; then
                @FUNCTION@_option "$path" "${typed%%=*}"
                [[ $COMP_WORDBREAKS == *=* ]] || added=${typed%%=*}=
                typed=${typed#*=}
            elif [[ ! $ended && $typed == -* && ! $typed =~ ^-\.?[0-9] ]]; then
                @FUNCTION@_options "$path"
                kind=words
            else
                @FUNCTION@_commands "$path"
                if [[ ${#candidates[@]} -gt 0 ]]; then
                    kind=words
                elif [[ ! $helping ]]; then
                    @FUNCTION@_argument "$path" "$place"
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
            @FUNCTION@_propose_value
        }

        complete -F @FUNCTION@ @PROGRAM@

        """#
}
