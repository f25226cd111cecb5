/// The scripts that connect a shell's completion with the program. The program answers `complete -- WORD...` with the candidates for the last
/// word (``CompletionAnswer``), so the scripts contain no commands and no options.
package enum CompletionScript: String, CaseIterable, Sendable {
    case bash, zsh, fish

    /// The script for a program of this name. Bash 4.4, zsh 5, and fish 3 or later are required.
    package func text(program: String) -> String {
        let name = String(program.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
        return template.replacing("@NAME@", with: name).replacing("@PROGRAM@", with: program)
    }

    private var template: String {
        switch self {
        case .bash: Self.bashTemplate
        case .zsh: Self.zshTemplate
        case .fish: Self.fishTemplate
        }
    }

    private static let bashTemplate = #"""
        # Bash completion for @PROGRAM@. The program itself proposes the candidates.

        _@NAME@() {
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
            type -P -- "$name" >/dev/null || name=@PROGRAM@

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

        complete -F _@NAME@ '@PROGRAM@'

        """#

    private static let zshTemplate = #"""
        #compdef @PROGRAM@
        # Zsh completion for @PROGRAM@. The program itself proposes the candidates.

        local program=${(Q)words[1]} line
        local -a lines described
        (( $+commands[$program] )) || [[ $program == */* && -x $program ]] || program=@PROGRAM@
        lines=("${(@f)$("$program" complete -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null </dev/null)}")
        case $lines[1] in
            files | folders)
                compset -P '--*='
                if [[ $lines[1] == folders ]]; then _files -/; else _files; fi
                ;;
            words)
                for line in "${(@)lines[2,-1]}"; do
                    described+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
                done
                _describe value described
                ;;
        esac

        """#

    private static let fishTemplate = #"""
        # Fish completion for @PROGRAM@. The program itself proposes the candidates.

        function __@NAME@_complete
            set -l words (commandline -opc)
            set -l typed (commandline -ct)
            set -l lines ($words[1] complete -- $words[2..-1] "$typed" 2>/dev/null </dev/null)
            set -l prefix (string match -r -- '^--[^=]*=' "$typed")
            set -l value (string replace -r -- '^--[^=]*=' '' "$typed")
            switch "$lines[1]"
                case files
                    printf '%s\n' "$prefix"(__fish_complete_path "$value")
                case folders
                    printf '%s\n' "$prefix"(__fish_complete_directories "$value")
                case words
                    printf '%s\n' $lines[2..-1]
            end
        end

        complete -c '@PROGRAM@' -f -a '(__@NAME@_complete)'

        """#
}
