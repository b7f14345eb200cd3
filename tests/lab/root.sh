# SPDX-License-Identifier: Apache-2.0
#
# What the test hosts are made of, for tests/lab and tests/vm: a Debian root file system, the
# project's programs built for that release, and an engine's data folder that has the images. All of
# it is made once and kept in FLOWCON_CACHE under names that are hashes of its recipe; nobody writes
# in it afterwards.
#
#   host_root SUITE      a Debian with systemd, kernel, engine, ssh, CRIU: sets HOST_ROOT
#   build_root SUITE     a Debian in which the project and its package build: sets BUILD_ROOT
#   qemu_root            a Debian with QEMU, for VMs of each release: sets QEMU_ROOT
#   host_programs SUITE  flowcond and docker-flowcon for that release: sets HOST_PROGRAMS
#   host_images [OPTION...] "image" and "overlay2" of an engine's data with the small and the training
#                        image, for engines to share: sets HOST_IMAGES
#
# shellcheck shell=bash
# shellcheck disable=SC2034 # the results are variables of the caller

# shellcheck source-path=SCRIPTDIR source=../../scripts/lib/debian.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib/debian.sh"
# shellcheck source-path=SCRIPTDIR source=../../scripts/lib/build.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib/build.sh"
# shellcheck source-path=SCRIPTDIR source=../../scripts/lib/image.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib/image.sh"

LAB_PROGRAM=$FLOWCON_TOP/tests/lab/lab

ROOT_WITHOUT=('/usr/share/man/*' '/usr/share/locale/*' '/usr/share/doc/*' '/usr/share/info/*')

# packages_of_host SUITE: separated by commas.
packages_of_host() {
  local packages
  packages=systemd-sysv,dbus,udev,kmod,initramfs-tools,linux-image-cloud-$(dpkg --print-architecture)
  packages+=,docker.io,iptables,tini,openssh-server,openssh-client,iproute2,nftables,iputils-ping,ethtool
  packages+=,procps,util-linux,e2fsprogs,zstd,rsync,ca-certificates,python3,jq,curl,busybox-static
  packages+=,libsystemd0,libsqlite3-0
  case $1 in
    # CRIU is not in Debian 12, or it is one that newer kernels defeat.
    bookworm) packages+=,libcgroup2,libre2-9,libboost-json1.81.0 ;;
    trixie) packages+=,docker-cli,criu,libcgroup3,libre2-11,libboost-json1.83.0 ;;
    *) warn "no test host is known for $1" && return 1 ;;
  esac
  printf '%s' "$packages"
}

# made_root NAME SUITE PACKAGES [OPTION...]: prints the folder.
made_root() {
  local name=$1 suite=$2 packages=$3 out
  shift 3
  out=$FLOWCON_CACHE/$name-$suite-$(hash_of "$suite" "$packages" "$@" "${ROOT_WITHOUT[@]}")
  if [ ! -d "$out" ]; then
    local started=$SECONDS path options=()
    for path in "${ROOT_WITHOUT[@]}"; do options+=(--dpkgopt="path-exclude=$path"); done
    # shellcheck disable=SC2016 # mmdebstrap's own argument
    options+=(--customize-hook='rm -rf "$1"/var/cache/apt/* "$1"/var/lib/apt/lists/* "$1"/etc/ssh/ssh_host_*')
    say "making the $name root of Debian $suite" >&2
    debian_root "$out" "$suite" "$packages" "${options[@]}" "$@" >&2 || return 1
    say "the $name root of Debian $suite took $(seconds_since "$started") s" >&2
  fi
  printf '%s' "$out"
}

host_root() {
  local packages
  packages=$(packages_of_host "$1") || return 1
  HOST_ROOT=$(made_root host "$1" "$packages")
}

release_number() { case $1 in bookworm) printf 12 ;; trixie) printf 13 ;; *) return 1 ;; esac }

build_root() {
  local number packages
  number=$(release_number "$1") || return 1
  packages=$("$FLOWCON_TOP/scripts/setup" --list "$number" build package | paste -sd,) || return 1
  BUILD_ROOT=$(made_root build "$1" "$packages")
}

# Debian 12's own fails on newer kernels.
qemu_root() { QEMU_ROOT=$(made_root qemu trixie qemu-system-x86,seabios); }

# in_root ROOT SCRIPT [FOLDER PLACE ro|rw]...: runs the script (sh -eu) with a root of its own, an overlay on ROOT that
# is gone afterwards. Of this machine it sees the folders named, each at /PLACE, and nothing else.
in_root() {
  # shellcheck disable=SC2016 # for the shell in the new namespace
  unshare --mount --propagation private -- bash -euc '
    mount -t tmpfs -o mode=755 tmpfs /mnt
    mkdir /mnt/root /mnt/work /mnt/upper
    root=/mnt/root script=$2
    mount -t overlay overlay -o "lowerdir=$1,upperdir=/mnt/upper,workdir=/mnt/work" "$root"
    shift 2
    while [ $# -gt 0 ]; do
      mkdir -p "$root/$2"
      mount --bind "$1" "$root/$2"
      [ "$3" = rw ] || mount -o remount,bind,ro "$root/$2"
      shift 3
    done
    mount -t proc proc "$root/proc"
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 CCACHE_DIR=/ccache CCACHE_NOHASHDIR=1 chroot "$root" sh -euc "$script"
  ' in_root "$@"
}

# The programs of build/release where this machine is of that release, else build/SUITE, built in a
# root of it. The source is seen read-only there, and nothing else of this machine. Path and flags are those
# of debian/rules, so that ccache has what scripts/package compiles afterwards.
host_programs() {
  local suite=$1 out=$FLOWCON_TOP/build/$1 started=$SECONDS log turn
  if [ "$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)" = "$suite" ]; then
    HOST_PROGRAMS=$FLOWCON_TOP/build/release/bin
    [ -x "$HOST_PROGRAMS/flowcond" ] || { warn "build first: cmake --preset release && cmake --build --preset release"; return 1; }
    return 0
  fi
  build_root "$suite" || return 1
  mkdir -p "$out" "$FLOWCON_CACHE/ccache"
  log=$out/build.log
  # Another lab may begin at the same time.
  exec {turn}>"$out/turn"
  flock "$turn"
  if ! in_root "$BUILD_ROOT" "
      cd /build/source
      export DEB_BUILD_MAINT_OPTIONS=hardening=+all
      CXXFLAGS=\"\$(dpkg-buildflags --get CXXFLAGS) \$(dpkg-buildflags --get CPPFLAGS)\"
      LDFLAGS=\$(dpkg-buildflags --get LDFLAGS)
      export CXXFLAGS LDFLAGS
      cmake -S . -B /out -G Ninja -D CMAKE_BUILD_TYPE=RelWithDebInfo \
        -D CMAKE_CXX_FLAGS_RELWITHDEBINFO='-g1 -DNDEBUG' -D FLOWCON_TESTS=OFF -D FLOWCON_BENCH=OFF -D FLOWCON_FAILPOINTS=ON
      cmake --build /out --target flowcond docker-flowcon" \
    "$FLOWCON_TOP" build/source ro "$out" out rw "$FLOWCON_CACHE/ccache" ccache rw \
    2>&1 | tee "$log" | build_progress; then
    tail -n 25 "$log" >&2
    warn "the build for Debian $suite failed; see $log"
    return 1
  fi
  exec {turn}>&-
  HOST_PROGRAMS=$out/bin
  [ "$(seconds_since "$started")" -lt 10 ] || say "built for Debian $suite in $(seconds_since "$started") s"
}

# A lab host imports them once. The folder's name has all that they are made of. Options: of `lab up` for that host.
host_images() {
  local part started=$SECONDS files=(tests/integration/job tests/integration/lib.sh)
  HOST_IMAGES=$FLOWCON_CACHE/host-images-$(hash_of "$IMAGE" "$(cd "$FLOWCON_TOP" && sha256sum "${files[@]}")")
  [ ! -d "$HOST_IMAGES" ] || return 0
  image_pack || return 1
  say "making the images of the test hosts"
  part=$HOST_IMAGES.$$.part
  at_exit rm -rf "$part"
  mkdir -p "$part"
  (
    FLOWCON_CLEANUP=() # the part is the outer shell's
    export FLOWCON_LAB=images-$$
    at_exit "$LAB_PROGRAM" down
    "$LAB_PROGRAM" up 1 "$@" --no-images --cores 2 --disk 6G --owner $$ || exit 1
    image_ensure "$("$LAB_PROGRAM" socket h1)" || exit 1
    # shellcheck disable=SC2016 # for the shell in the host
    "$LAB_PROGRAM" exec h1 -- bash -euc '
      . /opt/source/tests/integration/lib.sh
      WORK=/tmp/small
      image_import >/dev/null
      kill "$(cat /run/docker.pid)"
      while [ -e /run/docker.pid ]; do sleep 0.1; done' || exit 1
    "$LAB_PROGRAM" exec h1 -- tar --xattrs --xattrs-include='*' -C /var/lib/docker -c image overlay2 |
      tar --xattrs --xattrs-include='*' -C "$part" -x
  ) || return 1
  mv -T "$part" "$HOST_IMAGES" 2>/dev/null || [ -d "$HOST_IMAGES" ] || { warn "no $HOST_IMAGES"; return 1; }
  say "the images of the test hosts took $(seconds_since "$started") s"
}
