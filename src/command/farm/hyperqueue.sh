#!/bin/bash
# polyfly on HyperQueue: @TITLE@.
# Run it with `bash` where `hq` reaches its server, as often as needed: only missing frames are rendered.
@OPTIONS@
set -u
cd @CWD@ || exit 74
polyfly=@POLYFLY@
frames=@FRAMES@          # pattern of the frames
folder=@FOLDER@
shards=@SHARDS@
rounds=@ROUNDS@          # maximum rounds of repair; they end after a round without new frames
# exec: signals must reach the renderer, which then finishes its frame.
task=@TASK@

@LOOK@
command -v hq >/dev/null || { echo "there is no hq here" >&2; exit 69; }
hidden=$folder/.polyfly
[ ! -L "$hidden" ] && mkdir -p "$hidden" || exit 74
before=
for round in $(seq 0 $((rounds + 1))); do
  look
  if [ "$left" = "$before" ] || [ "$round" -gt "$rounds" ]; then
    echo "giving up after $round rounds; missing: $left (logs: $hidden/hq-*.log)" >&2
    exit 1
  fi
  before=$left
  echo "round $round: shards $todo"
  # HyperQueue restarts the tasks of a lost worker. Failed tasks are repeated in the next round.
  hq submit --wait --name polyfly --array "$todo" --cpus @CORES@ @GPU@ --crash-limit 5 --cwd "$PWD" \
    --stdout "$hidden/hq-%{JOB_ID}-%{TASK_ID}-%{INSTANCE_ID}.log" --stderr none \
    @HQ_OPTIONS@ -- bash -c "exec 2>&1; $task"
done
