#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/vm/vm itself: what a script is given and what is brought back, how it fails, and that nothing of
# a VM outlives it, however it ends. Runs on the machine, not in a VM.
# shellcheck disable=SC2317 # functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../integration/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../integration/lib.sh"

TOPIC=harness
vm=$(dirname "${BASH_SOURCE[0]}")/vm
mark_processes
WORK=$(mktemp -d /tmp/flowcon-vm-test.XXXXXX)
at_exit rm -rf "$WORK"
script=$WORK/script.sh
quick=(--suite bookworm) # starts in two thirds of the time
mkdir "$WORK/files" "$WORK/out"
printf 'carried\n' >"$WORK/files/a file"
cat >"$script" <<'SCRIPT'
#!/bin/sh
echo "arguments: $1, $2"
echo "boot $VM_BOOT, process 1 is $(cat /proc/1/comm)"
docker info --format 'driver {{.CgroupDriver}} {{.CgroupVersion}}'
echo 'said on the other stream' >&2
cat "$VM_FILES/a file"
/flowcon/bin/flowcond --version
docker run --rm --network none "$(docker images -q flowcon-train)" python3 -c 'print("answer", 6 * 7)'
mkdir "$VM_OUT/folder" && echo brought >"$VM_OUT/folder/result"
exit 7
SCRIPT
chmod 755 "$script"

# --- wrong words ------------------------------------------------------------------------------------

check "help says how" holds "$("$vm" --help)" "usage: tests/vm/vm run SCRIPT"
check "an unknown command" fails_with 2 'there is no command "boot"' "$vm" boot
check "an unknown option" fails_with 2 'there is no option --disk' "$vm" run "$script" --disk 3
check "no script" fails_with 2 'run needs a script' "$vm" run
check "a script that is not there" fails_with 2 'there is no file /nowhere' "$vm" run /nowhere
check "a script that is not executable" fails_with 2 'is not executable' "$vm" run "$WORK/files/a file"
check "a suite that is not known" fails_with 2 '--suite is trixie or bookworm, not "sid"' "$vm" run "$script" --suite sid
check "a layout that is not known" fails_with 2 '--cgroup is v2 or hybrid, not "v1"' "$vm" run "$script" --cgroup v1
check "a time that is none" fails_with 2 '--time takes a whole number, not "soon"' "$vm" run "$script" --time soon
check "a package that is not there" fails_with 2 '--deb: there is no file /x.deb' "$vm" run "$script" --deb /x.deb
check "a folder that is not there" fails_with 2 '--out: there is no folder /nowhere' "$vm" run "$script" --out /nowhere
check "an option without its value" fails_with 2 '--memory needs a value' "$vm" run "$script" --memory

# --- what a script is given, and what is brought back -----------------------------------------------

status=0
"$vm" run "$script" "${quick[@]}" --images --files "$WORK/files" --out "$WORK/out" -- 'one two' "it's" \
  >"$WORK/said" 2>"$WORK/told" || status=$?
sed 's/^/  | /' "$WORK/told"
said=$(cat "$WORK/said")
check "the exit status is that of the script" is "$status" 7
check "it was given its arguments" holds "$said" "arguments: one two, it's"
check "systemd is process 1" holds "$said" 'boot 1, process 1 is systemd'
check "the engine uses systemd's control groups of v2" holds "$said" 'driver systemd 2'
check "both streams come back" holds "$said" 'said on the other stream'
check "it was given the folder" holds "$said" carried
check "and the programs" holds "$said" "$(sed -n 's/^project(.* VERSION \([0-9.]*\).*/\1/p' "$FLOWCON_TOP/CMakeLists.txt")"
check "and the training image" holds "$said" 'answer 42'
check "its files are brought back" is "$(cat "$WORK/out/folder/result")" brought
check "with the console" grep -q 'the script has ended with status 7' "$WORK/out/console.txt"
check "and where it failed with the journal" grep -q 'Started flowcon-vm.service' "$WORK/out/journal.txt"

# --- how it ends ------------------------------------------------------------------------------------

is_over() { is "$(marked_processes)" ""; }
# Of the VMs of this topic: other ones have a work folder and images of their own.
export VM_WORK=$WORK/vm
leftovers() {
  find "$VM_WORK" -mindepth 2
  grep -F "$VM_WORK/" /proc/self/mountinfo || :
  ls -d "$FLOWCON_CACHE"/vm-*."$(cat "$WORK/pid")".part 2>/dev/null || :
}
qemu_runs() { holds "$(marked_processes)" qemu-system; }
# ended_by SIGNAL STATUS: a VM that is starting.
ended_by() {
  local vm_pid status=0
  env --default-signal "$vm" run "$script" "${quick[@]}" >"$WORK/said" 2>&1 &
  vm_pid=$!
  printf '%s' "$vm_pid" >"$WORK/pid"
  must wait_until "$PATIENCE" qemu_runs
  kill "-$1" "$vm_pid"
  wait "$vm_pid" || status=$?
  is "$status" "$2"
}

check "after --time it ends with 124" fails_with 124 'the VM was ended after its 3 s' "$vm" run "$script" "${quick[@]}" --time 3
eventually "and nothing of it runs" is_over
printf '#!/bin/sh\nprintf c >/proc/sysrq-trigger\n' >"$WORK/panic.sh"
chmod 755 "$WORK/panic.sh"
check "a guest that dies is a failure, and its last words are shown" \
  fails_with 125 'Kernel panic - not syncing: sysrq triggered crash' "$vm" run "$WORK/panic.sh" "${quick[@]}"
for way in 'INT 130' 'TERM 143' 'KILL 137'; do
  # shellcheck disable=SC2086 # two words
  check "SIG${way% *} ends it" ended_by $way
  eventually "and nothing of it runs" is_over
  check "no mount and no file is left" is "$(leftovers)" ""
done

printf '%s: %d passed, %d failed, %d skipped\n' "$TOPIC" "$PASSED" "$FAILED" "$SKIPPED"
[ "$FAILED" = 0 ]
