# SPDX-License-Identifier: Apache-2.0
#
# The disk of the test VMs: the root of a test host (tests/lab/root.sh) with the files of guest/ in
# it, as one raw ext4 image. Kept in FLOWCON_CACHE under a name that is a hash of both; a VM writes
# into a snapshot of it.
#
#   vm_image SUITE    sets VM_IMAGE to a folder with root.img and kernel
#   vm_images         sets VM_IMAGES to a disk with the images that test hosts share
#
# shellcheck shell=bash
# shellcheck disable=SC2034 # the results are variables of the caller

# shellcheck source-path=SCRIPTDIR source=../lab/root.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lab/root.sh"

VM_GUEST=$FLOWCON_TOP/tests/vm/guest
# Nobody waits for these, and an emulated processor takes long for them.
VM_MASKED=(apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer
  e2scrub_reap.service fstrim.timer man-db.timer logrotate.timer systemd-timesyncd.service
  systemd-pstore.service ssh.service sshd-keygen.service systemd-tmpfiles-clean.timer
  getty@tty1.service)
# The data of a guest beside its root; the file is sparse.
VM_DISK=8G

vm_image() {
  local suite=$1 started=$SECONDS out part
  host_root "$suite" || return 1
  have mke2fs || { warn "mke2fs is not installed (e2fsprogs)"; return 1; }
  out=$FLOWCON_CACHE/vm-$suite-$(hash_of "$HOST_ROOT" "$VM_DISK" "${VM_MASKED[@]}" "$(vm_recipe)")
  VM_IMAGE=$out
  [ ! -d "$out" ] || return 0
  say "making the VM image of Debian $suite" >&2
  part=$out.$$.part
  at_exit rm -rf --one-file-system "$part"
  mkdir -p "$part/mount" || return 1
  # shellcheck disable=SC2016 # for the shell in the new namespace
  unshare --mount --propagation private -- bash -euc '
    part=$1 from=$2 guest=$3 size=$4
    shift 4
    mount -t tmpfs -o mode=755 tmpfs "$part/mount"
    mkdir "$part/mount/root" "$part/mount/upper" "$part/mount/work"
    cd "$part/mount"
    mount -t overlay overlay -o "lowerdir=$from,upperdir=upper,workdir=work" root
    cp -r --preserve=mode,links "$guest/." root/
    chown -R 0:0 upper
    units=root/etc/systemd/system
    for unit in "$@"; do ln -sf /dev/null "$units/$unit"; done
    ln -sf /lib/systemd/system/multi-user.target "$units/default.target"
    ln -s ../flowcon-vm.service "$units/multi-user.target.wants/flowcon-vm.service"
    mkdir "$units/docker.service.wants"
    ln -s ../flowcon-images.service "$units/docker.service.wants/flowcon-images.service"
    # What systemd would bring up to date at a first boot is so.
    touch root/etc/.updated root/var/.updated
    cp root/vmlinuz ../kernel
    truncate -s "$size" ../root.img
    mke2fs -q -t ext4 -E root_owner=0:0 -d root ../root.img
  ' image "$part" "$HOST_ROOT" "$VM_GUEST" "$VM_DISK" "${VM_MASKED[@]}" >&2 || return 1
  rmdir "$part/mount"
  rm -rf --one-file-system "$FLOWCON_CACHE/vm-$suite-"????????????
  mv -T "$part" "$out" 2>/dev/null || rm -rf --one-file-system "$part"
  say "the VM image of Debian $suite took $(seconds_since "$started") s" >&2
}

vm_images() {
  local part started=$SECONDS
  host_images --suite trixie >&2 || return 1
  VM_IMAGES=$FLOWCON_CACHE/vm-${HOST_IMAGES##*/}.img
  [ ! -e "$VM_IMAGES" ] || return 0
  part=$VM_IMAGES.$$.part
  at_exit rm -f "$part"
  truncate -s "$(($(du -sm "$HOST_IMAGES" | cut -f1) * 5 / 4 + 100))M" "$part"
  mke2fs -q -t ext4 -O ^has_journal -m 0 -d "$HOST_IMAGES" "$part" || return 1
  mv "$part" "$VM_IMAGES"
  say "the disk of the images took $(seconds_since "$started") s" >&2
}

# What is in guest/, with names and modes, and this file.
vm_recipe() {
  cd "$VM_GUEST" || return 1
  find . -type f -perm -100 | sort
  find . -type f | sort | xargs sha256sum
  sha256sum ../image.sh
}
