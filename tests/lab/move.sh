#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Moves of real jobs between real hosts: what travels, what comes back the same, what is refused and
# why, what a person sees.
# usage: move.sh
# shellcheck disable=SC2016,SC2317 # shells inside of hosts; functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=moves.sh
. "$(dirname "${BASH_SOURCE[0]}")/moves.sh"

begin_lab 3 --cores 1
# Silence is not looked at here: a slow host may be late.
POLICY=${POLICY/heartbeat = 1/heartbeat = 3}
make_peers h1 h2 h3

runs_on() { [ -n "$(running "$1" "$2")" ] || { on "$1" docker ps -a; moves "$1" '.moves[0]'; return 1; }; }
is_gone() { ! on "$1" docker container inspect "$2" >/dev/null 2>&1; }
# moves_to HOST NAME TARGET [WORD...]: it does, and then runs there and not here.
moves_to() {
  local host=$1 name=$2 target=$3 seen
  shift 3
  seen=$(move "$host" "$name" "$target" "$@" 2>"$WORK/steps") || { cat "$WORK/steps"; return 1; }
  is "$(tail -n 1 <<<"$seen")" "$name" && runs_on "$target" "$name" && is_gone "$host" "$name" && has_arrived "$target" "$name"
}
# The target asks for the end, and hears of it a moment after the source.
has_arrived() { wait_until 20 moves_have "$1" "[.moves[] | select(.name == \"$2\")] | all(.ended)"; }
refused() { fails_with 1 "$1" move "${@:2}"; }
stays() { runs_on h1 "$1" && wait_until 20 goes_on h1 "$1"; }
# restart HOST: flowcond anew there, and h1 talks to that one: a loss shows at the next heartbeat.
restart() {
  flowcond_stop "$1"
  must wait_until 30 is_lost "$1"
  flowcond_up "$1"
  must wait_until 30 reach_each_other h1 "$1"
}
is_lost() { ! reaches h1 "$1"; }
remove() { on "$1" docker rm -f -v "$2" >/dev/null 2>&1 || :; }
up() { wait_until 20 knows "$1" "$2"; }
knows() { cluster_has "$1" "any(.containers[]; .name == \"$2\")"; }
loss_count() { on "$1" docker logs "$2" 2>&1 | grep -c loss:; }
has_losses() { [ "$(loss_count "$1" "$2")" -ge "$3" ]; }
last_move() { moves "$1" "[.moves[] | select(.name == \"$2\")][0] | $3"; }

# --- real trainings -----------------------------------------------------------------------------------

# An image that only h1 has: the training image and one small layer, the scripts.
must on h1 sh -c 'docker create --name seed "$1" true && docker cp /opt/source/examples seed:/examples && docker cp /opt/source/tests/lab/paced.py seed:/paced.py && docker commit seed trainings:1 && docker rm seed' seed "$IMAGE_TRAIN"
EPOCHS=400
waits='import signal, sys, time
def save(*_):
    open("/ckpt/step", "w").write("1")
    sys.exit(0)
signal.signal(signal.SIGUSR1, save)
while True:
    print("loss: 1", flush=True)
    time.sleep(0.5)'
must on h1 docker run -d --name waits --network none -v waits:/ckpt --label flowcon.migrate=app --label flowcon.checkpoint.signal=SIGUSR1 trainings:1 python3 -c "$waits"
must up h1 waits
must wait_until 60 has_losses h1 waits 1
check "an image that the target has not goes along" moves_to h1 waits h2
check "what travelled is far less than the image" test "$(last_move h1 waits .bytes)" -lt 60000000
check "the image on the target is the same" is "$(on h2 docker inspect -f '{{.Image}}' waits)" "$(on h1 docker image inspect -f '{{.Id}}' trainings:1)"
check "what was recorded on the source is known to be a part" is "$(host_api h1 /v1/runs | jq '[.runs[] | select(.name == "waits" and .finished != null)] | last | .moved')" true
check "and further" moves_to h2 waits h3
remove h3 waits
train() {
  local host=$1 name=$2
  shift 2
  must on "$host" docker run -d --name "$name" --network none --cpus 1 -e OMP_NUM_THREADS=1 "$@" trainings:1 \
    python3 /paced.py /ckpt/finish /examples/vae_digits.py --epochs "$EPOCHS" --hidden 512 --checkpoint /ckpt/vae.pt
}
# finish HOST NAME: from now on as fast as it can.
finish() { must on "$1" touch "$(on "$1" docker inspect -f '{{(index .Mounts 0).Source}}' "$2")/finish"; }
losses() { grep -o 'Epoch .*loss: .*'; }
# learns HOST NAME: two losses more than its log there begins with.
learns() { wait_until 60 has_losses "$1" "$2" $(($(loss_count "$1" "$2") + 2)); }
has_ended() { is "$(on "$1" docker inspect -f '{{.State.Status}} {{.State.ExitCode}}' "$2")" "exited 0"; }
# listen HOST NAME: what its engine has of it goes to a file, until the container ends.
LISTENED=0 LISTENER=''
listen() {
  LISTENED=$((LISTENED + 1))
  on "$1" docker logs -f "$2" >"$WORK/$2.$LISTENED" 2>&1 &
  LISTENER=$!
}
has_heard() { not kill -0 "$LISTENER" 2>/dev/null; }
in_order() { losses | sort -k2n -u; }
same_losses() { diff "$WORK/reference" <(cat "$WORK/$1".* | in_order); }
same_log() { diff "$WORK/reference" <(on "$1" docker flowcon logs "$2" 2>&1 | in_order); }
first_loss() { head -n 1 "$WORK/reference" | sed 's/.*loss: //'; }

train h1 reference -v reference:/ckpt
finish h1 reference
PATIENCE=600 eventually "a training runs without interruption" has_ended h1 reference
on h1 docker logs reference 2>&1 | in_order >"$WORK/reference"
remove h1 reference
train h1 vae -v vae:/ckpt --label flowcon.migrate=app --label flowcon.checkpoint.path=/ckpt/vae.pt --label flowcon.checkpoint.signal=SIGUSR1
must wait_until 30 has_losses h1 vae 5
listen h1 vae
check "a training that saves itself moves" moves_to h1 vae h2
check "the time from stop to resume is told" is "$(last_move h1 vae '.stopped_seconds > 0')" true
listen h2 vae
must learns h2 vae
check "it moves on" moves_to h2 vae h3
listen h3 vae
must learns h3 vae
check "its first host pins it where it is now" holds "$(on h1 docker flowcon pin --cpu 50% vae 2>&1 | paste -sd' ')" "it is on h3, which answers vae"
check "where it has the pin" is "$(on h3 docker flowcon status --format json vae | jq -c .Pinned.Limit)" 0.5
check "and shows its history from there" holds "$(on h1 docker flowcon history vae 2>&1)" "it is on h3, which answers"
check "by its name it is found on any host" is "$(on h1 docker flowcon status --format '{{.Host}} {{.Name}}' vae 2>/dev/null)" "h3 vae"
check "status of all hosts names the host of each" holds "$(on h2 docker flowcon status --all)" "HOST"
must on h2 docker flowcon unpin vae
check "a host that it was on unpins it, too" is "$(on h3 docker flowcon status --format json vae | jq -c .Pinned.Limit)" null
check "and home again" moves_to h3 vae h1
listen h1 vae
finish h1 vae
PATIENCE=600 eventually "it ends as it should" has_ended h1 vae
must wait_until 30 has_heard
check "its losses are those of the uninterrupted run, over three moves" same_losses vae
check "its log is that of its whole life" same_log h1 vae
check "its history begins on its first host" is "$(on h1 docker flowcon history vae --format json | jq '.samples[0][1]')" "$(first_loss | jq .)"
remove h1 vae
rm -f "$WORK"/vae.*

train h1 vae -v vae-criu:/ckpt --label flowcon.migrate=criu
must wait_until 30 has_losses h1 vae 5
listen h1 vae
check "a training that knows nothing of it moves by CRIU" moves_to h1 vae h2
listen h2 vae
check "and goes on where it was" learns h2 vae
check "and once more" moves_to h2 vae h3
listen h3 vae
finish h3 vae
PATIENCE=600 eventually "it ends as it should" has_ended h3 vae
must wait_until 30 has_heard
check "its losses too are those of the uninterrupted run" same_losses vae
check "its log too" same_log h3 vae
remove h3 vae

# --- how the state is saved -----------------------------------------------------------------------------

saved_at() { on "$1" docker logs "$2" 2>&1 | sed -n 's/^resumed //p' | tail -n 1; }
resumes() { [ "$(saved_at "$1" "$2")" -ge "$3" ] && goes_on "$1" "$2"; }
# rounds NAME METHOD [OPTION...]: there, further and home.
rounds() {
  local name=$1 words=$2 step
  shift 2
  counter h1 "$name" "$@"
  must up h1 "$name"
  wait_until 30 goes_on h1 "$name" >/dev/null
  step=$(steps h1 "$name")
  check "$words" moves_to h1 "$name" h2
  check "  it goes on from what was saved" wait_until 30 resumes h2 "$name" "$step"
  step=$(steps h2 "$name")
  check "  a second hop" moves_to h2 "$name" h3
  check "  goes on too" wait_until 30 resumes h3 "$name" "$step"
  check "  and home" moves_to h3 "$name" h1
  check "  it goes on there" wait_until 30 resumes h1 "$name" "$step"
  remove h1 "$name"
}
rounds in-volume "checkpoint in a volume, by signal" -v in-volume:/ckpt
rounds in-layer "checkpoint in the writable layer" -e CKPT=/tmp --label flowcon.checkpoint.path=/tmp/step
rounds folder "a folder of the writable layer" -e CKPT=/tmp --label flowcon.checkpoint.path=/tmp
rounds by-command "checkpoint by command" -v by-command:/ckpt \
  --label 'flowcon.checkpoint.command=busybox rm -f /ckpt/step; kill -USR2 1; until [ -e /ckpt/step ]; do sleep 0.1; done'
rounds Odd_na.me-1 "a name with all characters that there are" -v odd:/ckpt

counter h1 by-criu -v by-criu:/ckpt --label flowcon.migrate=criu --restart always
must up h1 by-criu
wait_until 30 goes_on h1 by-criu >/dev/null
step=$(steps h1 by-criu)
check "CRIU: a running process" moves_to h1 by-criu h2
further() { [ "$(steps "$1" by-criu)" -gt "$2" ] && goes_on "$1" by-criu; }
check "  counts on where it was" wait_until 30 further h2 "$step"
check "  without a new start" is "$(on h2 docker logs by-criu 2>&1 | grep -c '^resumed')" 0
step=$(steps h2 by-criu)
check "  moves again" moves_to h2 by-criu h1
check "  and home it counts on" wait_until 30 further h1 "$step"
check "  with its restart policy" is "$(on h1 docker inspect -f '{{.HostConfig.RestartPolicy.Name}}' by-criu)" always
remove h1 by-criu

# --- a CRIU that hangs ------------------------------------------------------------------------------------

# At its last step before the job would be ended, which CRIU holds then.
must on h1 sh -c 'printf "%s\n" "#!/bin/sh" "[ \"\$CRTOOLS_SCRIPT_ACTION\" != post-dump ] || exec sleep 3600" >/root/hangs &&
  chmod +x /root/hangs && mkdir -p /etc/criu && echo "action-script /root/hangs" >/etc/criu/default.conf'
tracer() { on h1 sh -c 'sed -n "s/^TracerPid:[[:space:]]*//p" "/proc/$(docker inspect -f "{{.State.Pid}}" "$1")/status"' tracer "$1"; }
is_held() { [ "$(tracer "$1")" -gt 0 ]; }
# hangs NAME: a move of that job that does.
hangs() {
  counter h1 "$1" -v "$1:/ckpt" --label flowcon.migrate=criu --restart always
  must up h1 "$1"
  must wait_until 30 goes_on h1 "$1"
  must move h1 "$1" h2 --detach
  eventually "CRIU holds the job and hangs" is_held "$1"
}
has_come_back() { stays "$1" && is "$(tracer "$1")" 0 && moves_have h1 "[.moves[] | select(.name == \"$1\")] | all(.ended)"; }
hangs cancelled
check "  the move can be cancelled" move h1 cancelled --cancel
eventually "  the job goes on here" has_come_back cancelled
eventually "  nothing of it is left there" is_gone h2 cancelled
check "  without a new start" is "$(on h1 docker logs cancelled 2>&1 | grep -c '^resumed')" 0
remove h1 cancelled
hangs stopped
flowcond_stop h1
check "  it goes on when flowcond is stopped" wait_until 30 goes_on h1 stopped
flowcond_up h1
eventually "  nothing of it is left there" is_gone h2 stopped
check "  and it runs on" has_come_back stopped
remove h1 stopped
hangs killed
flowcond_kill h1
flowcond_up h1
PATIENCE=120 eventually "  where flowcond is killed it goes on when it is there again" has_come_back killed
eventually "  nothing of it is left there" is_gone h2 killed
remove h1 killed
must on h1 rm /etc/criu/default.conf
must wait_until 60 reach_each_other h1 h2 h3

# --- what is the same afterwards --------------------------------------------------------------------------

same='{{.HostConfig.RestartPolicy}} {{.HostConfig.NanoCpus}} {{.HostConfig.Memory}} {{.HostConfig.CpuShares}} {{.Config.User}} {{.Config.Hostname}} {{.Config.Labels}} {{.HostConfig.Ulimits}} {{.HostConfig.LogConfig}}'
# But for what flowcond notes for itself.
told() { on "$1" docker inspect -f "$same" same | sed -E 's/ org\.flowcon\.(move|own):[^]]*\]/]/'; }
counter h1 same -v same:/ckpt --restart on-failure:7 --cpus 0.4 --memory 64m --cpu-shares 300 --hostname odd-host --ulimit nofile=500:600 \
  --label 'org.example.owner=ada "the" first' --label flowcon.weight=2 --log-opt max-size=5m --log-opt max-file=2 -e 'WORDS=a b $HOME "c"'
must on h1 docker exec same busybox sh -c 'dd if=/dev/urandom of=/ckpt/data bs=1M count=4; mkdir -p "/ckpt/a b/c"; ln -s /etc/passwd /ckpt/link; ln /ckpt/data /ckpt/hard
  dd if=/dev/zero of=/ckpt/sparse bs=1 count=1 seek=50M; chmod 640 /ckpt/data; busybox chown 17:18 /ckpt/data; echo x >"/ckpt/$(printf "new\nline")"' 2>/dev/null
volume_sum() {
  on "$1" sh -c 'cd "$(docker volume inspect -f "{{.Mountpoint}}" same)" && { find . ! -name step ! -name part ! -name . -printf "%P %m %U %G %s %l %n\n" | sort; sha256sum data sparse hard; }'
}
must up h1 same
before=$(told h1) sum=$(volume_sum h1)
check "a job with limits, labels and a volume moves" moves_to h1 same h2
wait_policy() { is "$(told h2)" "$before"; }
check "restart policy, limits, labels, user, log options are kept" wait_until 30 wait_policy
check "its environment too, with the word that it was moved" is "$(on h2 docker inspect -f '{{json .Config.Env}}' same | jq -c 'map(select(startswith("WORDS") or startswith("FLOWCON")))')" '["WORDS=a b $HOME \"c\"","FLOWCON_RESUME=1"]'
check "files, owners, links, holes of the volume are the same" is "$(volume_sum h2)" "$sum"
check "the flowcon labels hold there" host_has h2 'any(.containers[]; .name == "same")'
check "the log goes on: its first line is that of its first host" is "$(on h2 docker flowcon logs same 2>/dev/null | head -n 1)" "step 1 loss: 999999"
remove h2 same

# --- a log that a full disk has torn ------------------------------------------------------------------------

counter h1 torn -v torn:/ckpt
must up h1 torn
must wait_until 30 goes_on h1 torn
must on h1 sh -c 'printf "{\"log\":\"step" >>"$(docker inspect -f "{{.LogPath}}" torn)"'
# lines_of HOST: as the driver wrote them.
lines_of() { on "$1" sh -c 'wc -l <"$(docker inspect -f "{{.LogPath}}" torn)"'; }
written=$(lines_of h1)
has_more() { [ "$(lines_of h1)" -gt $((written + 5)) ]; }
must wait_until 30 has_more
# With an error or without a word.
engine_gives_up() { [ "$(on h1 docker logs torn 2>/dev/null | wc -l)" -lt $((written + 5)) ]; }
check "an engine reads no further than a torn record" engine_gives_up
check "the job moves all the same" moves_to h1 torn h2
last=$(on h2 cat /var/lib/docker/volumes/torn/_data/step)
# The record that was torn there was one more than the job has written.
whole() { is "$(on h2 docker logs torn 2>&1 | sed -n 's/^step \([0-9]*\) .*/\1/p' | sort -nu | head -n "$last" | tail -n 1)" "$last"; }
check "and of its log nothing else is lost" whole
remove h2 torn

# --- what is refused --------------------------------------------------------------------------------------

counter h1 job -v job:/ckpt
must up h1 job
check "--dry-run says that it would move" is "$(move h1 job h2 --dry-run 2>/dev/null)" h2
check "  and moves nothing" stays job
must on h2 docker create --name job "$IMAGE_SMALL" true
check "a name that is taken there" refused "is called" h1 job h2
check "  --dry-run says so too" refused "is called" h1 job h2 --dry-run
check "  the job goes on" stays job
must on h2 docker rm job
must on h1 docker create -i --name asks "$IMAGE_SMALL" true
check "  and it says what the copy would not have" refused "left out: StdinOnce" h1 asks h2 --dry-run
must on h1 docker rm asks
check "a host that nobody knows" refused "there is no peer h9" h1 job h9
check "an option is no host" not move h1 job -- -oProxyCommand=id
check "a container that is none" refused "No such container" h1 nobody h2
check "the job goes on" stays job
remove h1 job

for case in 'privileged|--privileged' 'capabilit|--cap-add SYS_PTRACE' 'mount|-v /etc/hostname:/name:ro --label flowcon.mounts=shared' \
  '/dev/fuse|--device /dev/fuse' 'PidMode|--pid host'; do
  # shellcheck disable=SC2086 # several options
  counter h1 special -v special:/ckpt ${case#*|}
  must up h1 special
  check "the target does not accept ${case#*|}" refused "${case%%|*}" h1 special h2
  check "  the job goes on" stays special
  remove h1 special
done
must on h2 sed -i 's/^accept-criu = on/accept-criu = off/' "$CONF"
restart h2
counter h1 special -v special:/ckpt --label flowcon.migrate=criu
must up h1 special
check "nor what CRIU froze" refused "accept-criu" h1 special h2
check "  --dry-run says so too" refused "accept-criu" h1 special h2 --dry-run
check "  the job goes on" stays special
remove h1 special
must on h2 sed -i 's/^accept-criu = off/accept-criu = on/' "$CONF"
flowcond_reads h2 'accept-capabilities = SYS_PTRACE'
restart h2
counter h1 special -v special:/ckpt --cap-add SYS_PTRACE
must up h1 special
must wait_until 30 move h1 special h2 --dry-run
check "unless its configuration says so" moves_to h1 special h2
remove h2 special

must on h1 docker run -d --name deaf -v deaf:/ckpt --label flowcon.migrate=app --label flowcon.checkpoint.signal=SIGUSR1 "$IMAGE_SMALL" sh -c 'while :; do echo "loss: 1"; sleep 1; done'
must up h1 deaf
check "a shell that keeps the signal for itself is told" refused "exec" h1 deaf h2
remove h1 deaf
flowcond_stop h1
HOST_POLICY=milestone flowcond_up h1
must wait_until 30 reach_each_other h1 h2
must on h1 docker run -d --name slow -v slow:/ckpt --label flowcon.migrate=app --label flowcon.checkpoint.signal=SIGUSR1 \
  --label flowcon.checkpoint.timeout=2 "$IMAGE_SMALL" busybox sh -c 'trap : USR1; i=0; while :; do i=$((i + 1)); echo "step $i loss: 1"; sleep 0.2; done'
must up h1 slow
counter h1 beside -v beside:/ckpt
must up h1 beside
must wait_until 20 host_has h1 '.containers | length == 2 and all(.limit < 1)'
check "a job that does not save in time" refused "2 s after SIGUSR1" h1 slow h2
limited() { on h1 sh -c 'grep -E "^flowcond: limit of slow: $1" /var/log/flowcond.log' limited "$1"; }
check "  while it saves it is not held back by others" limited '[0-9.]+ % -> 100 % \(it checkpoints\)'
eventually "  and then it is again" limited '100 % -> [0-9.]+ % \(milestone'
remove h1 beside
check "  goes on where it is" wait_until 30 stays slow
check "  nothing of it is left there" wait_until 20 is_gone h2 slow
remove h1 slow

counter h1 large -v large:/ckpt
must on h1 docker exec large dd if=/dev/urandom of=/ckpt/data bs=1M count=60
must up h1 large
must on h2 sh -c 'fallocate -l $(($(df --output=avail -B1 /var/lib/docker | tail -n 1) - 30000000)) /var/lib/docker/.filled'
check "a target without room" not move h1 large h2
check "  the job goes on here" wait_until 30 stays large
check "  and nothing of it is left there" is_gone h2 large
must "$LAB" heal
remove h1 large

# --- draining, clocks ---------------------------------------------------------------------------------------

counter h2 one -v one:/ckpt
counter h2 two -v two:/ckpt
must up h2 one
must up h2 two
must wait_until 20 on h1 docker flowcon peer drain h2
left() { is "$(on h2 docker ps -q)" ""; }
PATIENCE=180 eventually "a host that is drained gives its jobs away" left
somewhere() { [ -n "$(running h1 "$1")$(running h3 "$1")" ]; }
eventually "  they run elsewhere" somewhere one
eventually "  both of them" somewhere two
for host in h1 h3; do remove "$host" one; remove "$host" two; done
must wait_until 20 on h1 docker flowcon peer undrain h2

if have gcc; then
  gcc -shared -fPIC -O1 -o "$WORK/skew.so" "$FLOWCON_TOP/tests/lab/skew.c"
  must "$LAB" cp "$WORK/skew.so" h2:/root/skew.so
  SKEW=600 restart h2
  check "flowcond on h2 is ten minutes ahead" is "$(on h2 sh -c 'tr "\0" "\n" </proc/$(cat /run/flowcond.pid)/environ | grep SKEW_SECONDS')" SKEW_SECONDS=600
  rounds skewed "a host whose clock is ten minutes ahead" -v skewed:/ckpt
  counter h1 skewed -v skewed2:/ckpt
  must up h1 skewed
  check "its history is in one piece" moves_to h1 skewed h2
  check "  and so is its log" is "$(on h2 docker flowcon logs skewed 2>/dev/null | grep -c '^step 1 ')" 1
  remove h2 skewed
else
  skip "clocks that are ten minutes apart" "gcc is not installed (scripts/setup)"
fi

finish_lab
