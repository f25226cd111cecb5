# shellcheck shell=bash
# The kernel, the initramfs and the root file system of the machine, from Debian packages and Python wheels.
# Part of scripts/bluez-vm. An edit to this file makes the next run build again.
# shellcheck disable=SC2154  # here, cache, parts: from scripts/bluez-vm

suite=${BLUEZ_VM_SUITE:-bookworm}
kernel_suite=${BLUEZ_VM_KERNEL_SUITE:-}

# Pure Python, so that any Python of the host can fetch them for the machine's.
wheels=(bumble==0.0.236 pyee==13.0.0 typing_extensions==4.15.0 platformdirs==4.5.0)
packages=(
    base-files base-passwd netbase libc-bin bash dash coreutils grep sed mawk util-linux mount procps kmod busybox-static
    bluez bluez-test-tools dbus libglib2.0-bin python3-minimal python3-dbus python3-gi linux-image-amd64
    # What Vitalgate links against, and what its scenarios look into the store with.
    libstdc++6 libsqlite3-0 libsodium23 libexpat1 libarchive13 libzip4 libssl3 libsystemd0 libbluetooth3 libpq5 libcurl3-gnutls libmosquitto1 libnats3.4 libmicrohttpd12 zlib1g libdeflate0 libqrcodegen1 libwslay1 tzdata sqlite3
    sudo passwd # to act as a person who is not root
    e2fsprogs # to make the file system of a card
)
# The 64-bit-time transition renamed three, and a newer libzip and libnats have names of their own.
case $suite in
    bookworm) ;;
    *) packages=("${packages[@]/%libarchive13/libarchive13t64}"); packages=("${packages[@]/%libssl3/libssl3t64}")
        packages=("${packages[@]/%libcurl3-gnutls/libcurl3t64-gnutls}"); packages=("${packages[@]/%libzip4/libzip5}")
        packages=("${packages[@]/%libnats3.4/libnats3.10}") ;;
esac

boot_modules=(virtio_pci virtio_blk virtio_console 9p 9pnet_virtio ext4 crc32c_generic overlay)
bluetooth_modules=(hci_vhci bluetooth rfcomm bnep hidp uhid uinput)
disk_modules=(loop) # a file as a disk, to wear it out
# Whole folders: the kernel loads crypto by alias when it is asked for. Pairing needs ecdh and cmac(aes), and for making
# keys the drbg and jitterentropy generators; without them BlueZ powers on and cannot pair.
module_folders=(kernel/crypto kernel/lib/crypto)

image_key() {
    { echo "$suite" "$kernel_suite" "${BLUEZ_VM_PACKAGES:-}"; cat "$parts/image.sh" "$parts/guest/stage1"; } | sha256sum | cut -d' ' -f1
}

image_is_current() { [ "$(cat "$cache/key" 2>/dev/null)" = "$(image_key)" ]; }

# Where this host's apt gets the packages of a release.
apt_source() {
    # shellcheck disable=SC2016  # the format is apt's
    apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 2>/dev/null | awk -v suite="$1" '$1 == suite && /debian/ { print $2; exit }'
}

# To be called in a subshell of its own: it removes its work on exit.
build_image() {
    start=$SECONDS
    [ "$(id -u)" -eq 0 ] || die "building the machine needs root: run 'scripts/bluez-vm build' as root"
    "$here/setup" vm
    work=$(mktemp -d "$cache/work.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    root=$work/root
    extract_root
    move_kernel
    make_initramfs
    install_wheels
    finish_root
    make_file_system
    # A saved machine has the old image in its page cache: it must never wake up on the new one.
    rm -f "$cache"/snapshot-* "$cache/key"
    mv "$work"/{vmlinuz,initrd.gz,root.ext4} "$cache/"
    cat "$cache"/{vmlinuz,initrd.gz,root.ext4} | sha256sum | cut -d' ' -f1 >"$cache/image-id"
    probe_accelerator >"$cache/accelerator"
    image_key >"$cache/key"
    say "built in $((SECONDS - start)) s, accelerator $(cat "$cache/accelerator"), in $cache"
}

extract_root() {
    local mirror security list log=$cache/mmdebstrap.log
    mirror=${BLUEZ_VM_MIRROR:-$(apt_source "$suite")}
    mirror=${mirror:-https://deb.debian.org/debian/}
    security=${BLUEZ_VM_SECURITY_MIRROR:-$(apt_source "$suite-security")}
    security=${security:-https://deb.debian.org/debian-security/}
    list=$(IFS=,; echo "${packages[*]}")
    [ -z "${BLUEZ_VM_PACKAGES:-}" ] || list+=,$BLUEZ_VM_PACKAGES
    [ -z "$kernel_suite" ] || list=${list/linux-image-amd64/linux-image-amd64\/$kernel_suite}
    say "extracting Debian packages ($suite)"
    patiently "fetching Debian's packages from $mirror" extract_packages
}

# "extract" runs no maintainer script: finish_root does by hand what they would. It needs no /usr merge either.
extract_packages() {
    rm -rf --one-file-system "$root"
    # shellcheck disable=SC2016  # $1 is the hook's
    mmdebstrap --verbose --variant=extract --architectures=amd64 --format=directory \
        --aptopt='Apt::Install-Recommends "false"' --aptopt='Acquire::Retries "5"' \
        --setup-hook='for d in bin sbin lib lib64; do mkdir -p "$1/usr/$d"; ln -s usr/$d "$1/$d"; done' \
        --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
        --dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/perl/*' \
        --dpkgopt='path-exclude=/usr/lib/x86_64-linux-gnu/perl/*' --dpkgopt='path-exclude=/usr/lib/udev/hwdb.d/*' \
        --include="$list" "$suite" "$root" \
        "deb $mirror $suite main" "deb $mirror $suite-updates main" "deb $security $suite-security main" \
        ${kernel_suite:+"deb $mirror $kernel_suite main"} >"$log" 2>&1 </dev/null || { tail -20 "$log" >&2; return 1; }
}

# Mirrors fail now and then: three tries of what follows the name.
patiently() {
    local what=$1 attempt
    shift
    for attempt in 1 2 3; do
        "$@" && return
        say "$what: try $attempt of 3 failed"
        [ "$attempt" -eq 3 ] || sleep $((attempt * 10))
    done
    die "$what failed three times: no machine"
}

# The host's modprobe knows in which order modules load.
module_files() { modprobe -d "$work/kernel" -S "$version" --show-depends "$1" 2>/dev/null | awk '/^insmod/ { print $2 }'; }

move_kernel() {
    local module file
    say "kernel and modules"
    mkdir -p "$work/kernel/lib"
    mv "$root/usr/lib/modules" "$work/kernel/lib/"
    version=$(ls "$work/kernel/lib/modules")
    mv "$root/boot/vmlinuz-$version" "$work/vmlinuz"
    rm -rf "${root:?}"/boot/*
    depmod -b "$work/kernel" "$version"
    local from=$work/kernel/lib/modules/$version to=$root/usr/lib/modules/$version
    mkdir -p "$to"
    cp "$from"/modules.{order,builtin,builtin.modinfo} "$to/"
    for module in "${boot_modules[@]}" "${bluetooth_modules[@]}" "${disk_modules[@]}"; do
        for file in $(module_files "$module"); do
            install -D -m 644 "$file" "$to/${file#"$from/"}"
        done
    done
    for module in "${module_folders[@]}"; do
        [ ! -d "$from/$module" ] || (cd "$from" && cp -r --parents "$module" "$to/")
    done
    depmod -b "$root" "$version"
}

make_initramfs() {
    local module file name number=0 tree=$work/initramfs
    declare -A seen=()
    mkdir -p "$tree"/{bin,dev,proc,sys,modules,lower,upper,new}
    for module in "${boot_modules[@]}"; do
        for file in $(module_files "$module"); do
            name=${file##*/} name=${name%.xz}
            [ -z "${seen[$name]:-}" ] || continue
            seen[$name]=1 number=$((number + 1))
            # Newer Debian kernels compress their modules.
            case $file in *.xz) xz -dc "$file" ;; *) cat "$file" ;; esac >"$tree/modules/$(printf '%02d' "$number")-$name"
        done
    done
    [ "$number" -gt 0 ] || die "no modules found for kernel $version"
    cp "$root/bin/busybox" "$tree/bin/busybox"
    ln -s busybox "$tree/bin/sh"
    install -m 755 "$parts/guest/stage1" "$tree/init"
    (cd "$tree" && find . | cpio --quiet -o -H newc | gzip -1) >"$work/initrd.gz"
}

install_wheels() {
    say "Python packages"
    python3 -m pip --version >/dev/null 2>&1 || die "python3 has no pip: install python3-pip"
    patiently "fetching Python packages" fetch_wheels
    rm -rf "$root/opt/python/bin" "$root/opt/python/bumble/apps"
}

fetch_wheels() {
    rm -rf "$root/opt/python"
    python3 -m pip -q --disable-pip-version-check --no-cache-dir install --root-user-action=ignore --no-deps --no-compile \
        --python-version 3.11 --implementation py --abi none --platform any --only-binary=:all: \
        --target "$root/opt/python" "${wheels[@]}" >&2
}

finish_root() {
    cp "$root/usr/share/base-passwd/passwd.master" "$root/etc/passwd"
    cp "$root/usr/share/base-passwd/group.master" "$root/etc/group"
    sed -i 's/^root:\*:/root::/' "$root/etc/passwd"
    echo 'messagebus:x:100:100::/nonexistent:/usr/sbin/nologin' >>"$root/etc/passwd"
    printf 'messagebus:x:100:\nbluetooth:x:101:\nnetdev:x:102:\n' >>"$root/etc/group"
    # A person, who may become root without a word; what the packages would have made of PAM is not here.
    echo 'pi:x:1000:1000::/home/pi:/bin/bash' >>"$root/etc/passwd"
    echo 'pi:x:1000:' >>"$root/etc/group"
    echo 'pi ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/pi"
    printf '%s required pam_permit.so\n' auth account session >"$root/etc/pam.d/sudo"
    install -d -o 1000 -g 1000 "$root/home/pi"
    echo bluez-vm >"$root/etc/hostname"
    echo '127.0.0.1 localhost bluez-vm' >"$root/etc/hosts"
    echo 00000000000000000000000000b1e5e7 >"$root/etc/machine-id"
    ln -sf mawk "$root/usr/bin/awk"
    mkdir -p "$root"/{var/lib/dbus,var/lib/bluetooth,control,root}
    ldconfig -r "$root"
    rm -rf "$root"/var/lib/apt "$root"/var/cache "$root"/var/log/* "$root"/usr/share/{bash-completion,zsh,info,lintian,perl5}
    # Once here: under emulation it would cost seconds at every boot.
    chroot "$root" /bin/sh -c 'python3 -m compileall -q -j0 /opt/python /usr/lib/python3 /usr/lib/python3.??' >/dev/null 2>&1 || true
}

make_file_system() {
    local kilobytes
    kilobytes=$(du -sk "$root" | cut -f1)
    mkfs.ext4 -q -F -d "$root" -O ^has_journal -m 0 -L bluezvm "$work/root.ext4" "$((kilobytes * 115 / 100 + 8192))k" >/dev/null
}

# Does this host's KVM boot a stock kernel? Remembered, because a KVM that doesn't only shows itself by hanging.
probe_accelerator() {
    local console=$work/probe status=0
    if [ ! -w /dev/kvm ]; then
        echo tcg
        return
    fi
    timeout -k 2 12 qemu-system-x86_64 -accel kvm -cpu "$(processor_model kvm)" -M q35 -m 512 -nodefaults -display none -no-reboot \
        -serial "file:$console" -kernel "$cache/vmlinuz" -initrd "$cache/initrd.gz" \
        -append "console=ttyS0 quiet panic=-1 bluezvm.probe" </dev/null >/dev/null 2>&1 || status=$?
    if [ $status -eq 0 ] && grep -q BLUEZVM-PROBE-OK "$console"; then
        echo kvm
    else
        say "KVM does not boot the kernel here ($status): plain emulation"
        echo tcg
    fi
}

# A machine saved under KVM has also to wake up, and to wake up again; where it doesn't, plain emulation it is.
prove_accelerator() {
    local attempt
    [ "$(cat "$cache/accelerator")" = kvm ] || return 0
    for attempt in 1 2; do
        if ! (boot_limit=60; run --accel kvm --share "$cache:ro" --chdir / --sensors heart --timeout 60 -- bluetoothctl show) >"$cache/kvm.log" 2>&1; then
            say "KVM boots the kernel here, but no machine to work with (run $attempt): plain emulation; see $cache/kvm.log"
            echo tcg >"$cache/accelerator"
            return
        fi
    done
}
