# shellcheck shell=bash
# The machine: its one description, its saved state, one run of it. Part of scripts/bluez-vm.
# shellcheck disable=SC2154  # cache, parts and what parse_run sets: from scripts/bluez-vm

boot_limit=600 # seconds until a machine that is to be saved is up
slots=4 # directories of the host; a saved machine wakes up only with the same devices

# An emulated processor that has fast string moves (ERMS) makes kernel and libc use them, and plain emulation does those octet by octet:
# everything takes three times as long. One without AVX is a little faster still.
processor_model() { if [ "$1" = kvm ]; then echo host,-arch-capabilities; else echo Nehalem; fi; }

# QEMU's ends of the pipes: out and err of the command, and the line by which the host says "go".
make_pipes() { mkfifo "$1/out" "$1/err" "$1/go.in" "$1/go.out"; }

# Becomes QEMU, in the working folder $1; the rest are more options. Snapshots resume on the same devices only, so this is
# the one place that says what they are.
machine() {
    local work=$1 slot accel=$accelerator mode devices=()
    shift
    [ "$accel" != tcg ] || accel=tcg,thread=multi
    for ((slot = 0; slot < slots; slot++)); do
        mode=
        [ "${modes[slot]:-rw}" = rw ] || mode=,readonly=on
        devices+=(-fsdev "local,id=s$slot,path=${paths[slot]:-$work/empty},security_model=none,multidevs=remap$mode"
            -device "virtio-9p-pci,fsdev=s$slot,mount_tag=share$slot")
    done
    make_guest_initramfs >"$work/initrd"
    exec qemu-system-x86_64 -accel "$accel" -cpu "$(processor_model "$accelerator")" \
        -M q35,usb=off,vmport=off -m "$memory" -smp "$processors" -nodefaults -display none -no-reboot -no-user-config \
        -kernel "$cache/vmlinuz" -initrd "$work/initrd" \
        -append "console=ttyS0 quiet loglevel=4 panic=-1 mitigations=off nokaslr cryptomgr.notests random.trust_cpu=on" \
        -serial "file:$work/console.log" \
        -drive "file=$cache/root.ext4,if=none,id=root,format=raw,readonly=on" -device virtio-blk-pci,drive=root \
        -object rng-random,id=rng,filename=/dev/urandom -device virtio-rng-pci,rng=rng \
        -fsdev "local,id=control,path=$work/control,security_model=none" -device virtio-9p-pci,fsdev=control,mount_tag=control \
        -device virtio-serial-pci \
        -chardev "file,id=out,path=$work/out" -device virtserialport,chardev=out,name=command.out \
        -chardev "file,id=err,path=$work/err" -device virtserialport,chardev=err,name=command.err \
        -chardev "pipe,id=go,path=$work/go" -device virtserialport,chardev=go,name=command.go \
        "${devices[@]}" "$@" </dev/null >"$work/qemu.log" 2>&1
}

# The cached initramfs with today's guest files behind it: archives can be concatenated, at multiples of four.
make_guest_initramfs() {
    local tree
    tree=$(mktemp -d)
    cp -r "$parts/guest" "$tree/vm"
    find "$tree" -name __pycache__ -prune -exec rm -rf {} +
    cat "$cache/initrd.gz"
    head -c $(((4 - $(stat -c %s "$cache/initrd.gz") % 4) % 4)) /dev/zero
    (cd "$tree" && find vm | LC_ALL=C sort | cpio --quiet -o -H newc)
    rm -rf "$tree"
}

# ---- the saved machine

snapshot_key() {
    {
        cat "$cache/image-id" "$parts/machine.sh"
        find "$parts/guest" -type f ! -path "*/__pycache__/*" -print0 | LC_ALL=C sort -z | xargs -0 cat
        echo "$accelerator $processors $memory"
        [ "$accelerator" = tcg ] || grep -m1 'model name' /proc/cpuinfo
        qemu-system-x86_64 --version | head -1
    } | sha256sum | cut -c1-16
}

# Boots up to "BlueZ is ready", saves the machine's memory to $1, quits. To be called in a subshell of its own. No directory
# of the host is mounted yet at that point: a mounted one would keep QEMU from saving.
save_snapshot() {
    local snapshot=$1 start=$SECONDS tries=0 qemu=
    exec 9>"$cache/snapshot.lock"
    flock 9
    [ ! -s "$snapshot" ] || return 0
    work=$(mktemp -d "$cache/work.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    mkdir "$work/control" "$work/empty"
    make_pipes "$work"
    mkfifo "$work/monitor.in" "$work/monitor.out"
    say "saving a booted machine (once, and after changes to the guest's files)"
    paths=() modes=()
    drain "$work/out" 9>&- &
    drain "$work/err" 9>&- &
    machine "$work" -chardev "pipe,id=monitor,path=$work/monitor" -mon chardev=monitor,mode=readline 9>&- &
    qemu=$!
    # shellcheck disable=SC2064  # the number as it is now
    trap "kill $qemu 2>/dev/null || true; rm -rf '$work'" EXIT
    until grep -q BLUEZVM-READY "$work/console.log" 2>/dev/null; do
        tries=$((tries + 1))
        if [ $tries -ge $((boot_limit * 10)) ] || ! kill -0 $qemu 2>/dev/null; then
            tail -n 20 "$work/console.log" "$work/qemu.log" >&2
            return 1
        fi
        sleep 0.1
    done
    sleep 1
    printf 'migrate "exec:cat > %s"\nquit\n' "$snapshot.new" 1<>"$work/monitor.in" >&1 9>&-
    wait $qemu || true
    [ -s "$snapshot.new" ] || { cat "$work/qemu.log" >&2; return 1; }
    rm -f "$cache"/snapshot-*[0-9a-f]
    mv "$snapshot.new" "$snapshot"
    say "saved in $((SECONDS - start)) s, $(du -h "$snapshot" | cut -f1)"
}

drain() { cat "$1" >/dev/null 2>&1; }

# ---- one run

# Goes on reading when our own reader has gone: a pipe that nobody reads would stop QEMU.
relay() { trap '' PIPE; { cat <&3 2>/dev/null || cat <&3 >/dev/null; } 3<"$1"; }

# What the guest is told, as files: one command and one environment, NUL between, so that nothing needs quoting.
write_orders() {
    local control=$1 share mode number=0
    mkdir -p "$control/log"
    printf '%s\0' "${command[@]}" >"$control/command"
    : >"$control/environment"
    [ "${#variables[@]}" -eq 0 ] || printf '%s\0' "${variables[@]}" >"$control/environment"
    printf '%s' "$directory" >"$control/directory"
    echo "$sensors" >"$control/sensors"
    echo "$guest_options" >"$control/options"
    : >"$control/mounts"
    paths=() modes=()
    for share in "${shares[@]}"; do
        mode=rw
        case $share in *:ro) mode=ro share=${share%:ro} ;; esac
        share=$(readlink -f "$share")
        [ -d "$share" ] || die "no such directory: $share"
        paths+=("$share") modes+=("$mode")
        printf 'share%d\t%s\t%s\n' $number $mode "$share" >>"$control/mounts"
        number=$((number + 1))
    done
}

# After the limit: asks the guest to end, and then ends QEMU.
watch_limit() {
    local sleeper
    sleep "$limit" &
    sleeper=$!
    # shellcheck disable=SC2064  # the number as it is now
    trap "kill $sleeper; exit" TERM
    wait $sleeper
    : >"$work/expired"
    echo timeout >&8
    sleep 6
    kill "$1"
}

run_machine() {
    local start=$SECONDS snapshot='' status=0 result=125 qemu out err watch
    work=$(mktemp -d "${TMPDIR:-/tmp}/bluez-vm.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    mkdir "$work/empty"
    if ! $cold; then
        snapshot=$cache/snapshot-$(snapshot_key)
        if [ ! -s "$snapshot" ] && ! (save_snapshot "$snapshot"); then
            say "no saved machine: booting"
            snapshot=
        fi
    fi
    make_pipes "$work"
    write_orders "$work/control"
    relay "$work/out" &
    out=$!
    relay "$work/err" >&2 &
    err=$!
    say "$([ -n "$snapshot" ] && echo resuming || echo booting) ($accelerator)"
    date +%s >"$work/control/now"
    machine "$work" ${snapshot:+-incoming "exec:cat '$snapshot'"} &
    qemu=$!
    exec 8<>"$work/go.in" # kept open: a pipe forgets what nobody has open
    echo go >&8
    watch_limit $qemu 2>/dev/null &
    watch=$!
    trap 'kill $qemu 2>/dev/null || true' INT TERM
    wait $qemu || status=$?
    kill $watch 2>/dev/null || true
    exec 8>&-
    trap - INT TERM
    # Had QEMU died before it opened the pipes, the relays would wait for ever.
    (: 1<>"$work/out" 2<>"$work/err"; sleep 0.1)
    wait $out $err 2>/dev/null || true
    if [ -s "$work/control/status" ]; then
        result=$(cat "$work/control/status")
    elif [ -e "$work/expired" ]; then
        result=124
        echo "bluez-vm: time limit of $limit s" >&2
    else
        echo "bluez-vm: the machine ended before the command did (QEMU $status)" >&2
        tail -n 5 "$work/qemu.log" >&2
        tail -n 25 "$work/console.log" >&2 2>/dev/null || true
    fi
    say "exit $result, $((SECONDS - start)) s ($(cat "$work/control/log/timing" 2>/dev/null | tr '\n' ' '))"
    if [ -n "$logs" ]; then
        mkdir -p "$logs"
        cp "$work"/control/log/* "$work/console.log" "$work/qemu.log" "$logs/" 2>/dev/null || true
    fi
    exit "$result"
}
