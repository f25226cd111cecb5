# Fish completion for vitalgate. The program itself proposes the candidates.

function __vitalgate_complete
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

complete -c 'vitalgate' -f -a '(__vitalgate_complete)'
