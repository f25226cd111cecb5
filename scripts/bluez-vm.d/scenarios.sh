# shellcheck shell=bash
# The scenarios of Tests/BluetoothVM: one machine after the other, so that a kernel that a fault has wedged does not spoil the next
# one, and a second try in a fresh machine. Part of scripts/bluez-vm.
# shellcheck disable=SC2154  # here, cache, scenarios: from scripts/bluez-vm

scenario_limit=900 # seconds; it only ends what would hang for ever

# The program under test, or nothing.
find_vitalgate() {
    local program newest=''
    if [ -n "${VITALGATE:-}" ]; then
        [ -x "$VITALGATE" ] || die "VITALGATE: there is no program $VITALGATE"
        readlink -f "$VITALGATE"
        return
    fi
    for program in "${here%/*}"/.build/{release,debug}/vitalgate; do
        if [ -x "$program" ] && { [ -z "$newest" ] || [ "$program" -nt "$newest" ]; }; then newest=$program; fi
    done
    [ -z "$newest" ] || readlink -f "$newest"
}

# Of a folder the largest file first, which likely takes longest, so that the short ones fill up the end.
scenario_files() {
    local name
    cd "$scenarios"
    [ $# -gt 0 ] || set -- vitalgate faults peripherals
    for name in "$@"; do
        name=${name#Tests/BluetoothVM/}
        if [ -d "$name" ]; then
            find "$name" -name '*.py' -printf '%s\t%p\n' | LC_ALL=C sort -rn | cut -f 2
        elif [ -f "${name%.py}.py" ]; then
            echo "${name%.py}.py"
        else
            die "no scenario $name"
        fi
    done
}

# What `run` is told for a scenario: only those of the program have it.
scenario_options() {
    local file=$1 program=$2
    options=(--share "${here%/*}:ro" --chdir "$scenarios" --sensors none --quiet --timeout "$scenario_limit")
    case $file in
        vitalgate/*)
            options+=(--share "$(dirname "$program"):ro" --env "VITALGATE=$program")
            ! readelf -d "$program" | grep -q libswiftCore || options+=(--swift)
            ;;
    esac
}

# One try, whose logs go to the folder $2; the rest are options. Leaves the counts in `tried_passed` and `tried_failed`.
try_scenario() {
    local file=$1 folder=$2 line
    shift 2
    rm -rf "$folder"
    mkdir -p "$folder"
    (run "${options[@]}" --logs "$folder" "$@" -- python3 run.py "$file") >"$folder/output" 2>&1 || true
    sed -E '/^[0-9]+ passed, /d' "$folder/output"
    line=$(grep -aE '^[0-9]+ passed, [0-9]+ failed$' "$folder/output" | tail -1 || true)
    tried_passed=0 tried_failed=1
    if [ -n "$line" ]; then
        tried_passed=${line%% passed*} line=${line#*, }
        tried_failed=${line%% failed*}
    else
        echo "FAIL ${file%.py}: the run did not end"
    fi
}

# A scenario, and a second try where it fails. Its counts, and how many tries there were, go to the file $3.result.
run_scenario() {
    local file=$1 program=$2 result=$3 name=${1%.py} start=$SECONDS tries=1 folder=$cache/logs/${1%.py} options emulate=()
    scenario_options "$file" "$program"
    [ ! -e "$results/emulate" ] || emulate=(--accel tcg)
    rm -rf "$folder.first"
    try_scenario "$file" "$folder" "${emulate[@]}"
    if [ "$tried_failed" -gt 0 ]; then
        mv "$folder" "$folder.first"
        echo "---- $name: $tried_failed failed; a second try, in a fresh machine"
        tries=2
        try_scenario "$file" "$folder" --cold --accel tcg
        # Had KVM been at fault: the others leave it alone from here on.
        [ "$tried_failed" -gt 0 ] || : >"$results/emulate"
    fi
    echo "---- $name: $([ "$tried_failed" -eq 0 ] && echo passed || echo FAILED), $((SECONDS - start)) s"
    echo "$tried_passed $tried_failed $tries" >"$result.new"
    mv "$result.new" "$result.result"
}

# Prints and counts the scenarios that have ended since the last call.
take_results() {
    local result number right wrong tries
    for result in "$results"/*.result; do
        [ -e "$result" ] || continue
        number=$(basename "$result" .result)
        read -r right wrong tries <"$result"
        rm "$result"
        cat "$results/$number.output"
        passed=$((passed + right)) failed=$((failed + wrong)) ended=$((ended + 1))
        if [ "$tries" -gt 1 ] && [ "$wrong" -eq 0 ]; then second+=("${names[number]}"); fi
    done
}

# Waits until a scenario has ended.
await_result() {
    local code=0
    wait -n || code=$?
    take_results
    [ $code -eq 127 ] && [ "$ended" -lt "$started" ] || return 0
    echo "FAIL: $((started - ended)) scenarios were killed from outside"
    failed=$((failed + started - ended)) ended=$started
}

# One more at a time than there are processors, since they wait more than they work, where there is the memory for it: a gigabyte each.
test_scenarios() {
    local file program workers passed=0 failed=0 skipped=0 started=0 ended=0 second=() names=() files
    mapfile -t files < <(scenario_files "$@")
    [ "${#files[@]}" -gt 0 ] || die "no scenario"
    program=$(find_vitalgate)
    "$here/bluez-vm" build || die "the machine could not be built (see above), so no scenario ran"
    cache=$(cd "$cache" && pwd)
    results=$(mktemp -d "${TMPDIR:-/tmp}/bluez-vm.results.XXXXXX")
    trap 'for job in $(jobs -p); do kill -- "-$job" 2>/dev/null; done; rm -rf "$results"' EXIT
    workers=$(awk -v most=$(($(nproc) + 1)) '/^MemAvailable:/ { fit = int($2 / 1048576); print fit < 1 ? 1 : fit < most ? fit : most }' /proc/meminfo)
    for file in "${files[@]}"; do
        if [[ $file == vitalgate/* && -z $program ]]; then
            [ $# -eq 0 ] || die "no program for ${file%.py}: build it, or set VITALGATE"
            skipped=$((skipped + 1))
            continue
        fi
        while [ $((started - ended)) -ge "$workers" ]; do await_result; done
        names[started]=${file%.py}
        set -m # a process group of its own, to be ended as a whole
        (set +m; run_scenario "$file" "$program" "$results/$started") </dev/null >"$results/$started.output" 2>&1 &
        set +m
        started=$((started + 1))
    done
    while [ "$ended" -lt "$started" ]; do await_result; done
    for file in "${second[@]}"; do
        echo "$file passed at the second try; logs of the first: $cache/logs/$file.first"
    done
    if [ $skipped -gt 0 ]; then
        echo "$passed passed, $failed failed, $skipped skipped"
    else
        echo "$passed passed, $failed failed"
    fi
    [ $failed -eq 0 ] && [ $((passed + skipped)) -gt 0 ]
}
