#compdef vitalgate
# Zsh completion for vitalgate. The program itself proposes the candidates.

local program=${(Q)words[1]} line
local -a lines described
(( $+commands[$program] )) || [[ $program == */* && -x $program ]] || program=vitalgate
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
