#!/bin/bash
# polyfly on HyperQueue: @TITLE@.
# Run it with `bash` where `hq` reaches its server, again whenever you like: only what is missing is rendered.
@OPTIONS@
set -u
cd @CWD@ || exit 74
polyfly=@POLYFLY@
frames=@FRAMES@          # names of the frames
folder=@FOLDER@
shards=@SHARDS@
rounds=@ROUNDS@          # of repair at most; they end when one brings nothing new
# exec: signals reach the renderer, which finishes its frame.
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
  # HyperQueue restarts what a lost worker had; a task that ends with an error waits for the next round.
  hq submit --wait --name polyfly --array "$todo" --cpus @CORES@ @GPU@ --crash-limit 5 --cwd "$PWD" \
    --stdout "$hidden/hq-%{JOB_ID}-%{TASK_ID}-%{INSTANCE_ID}.log" --stderr none \
    @HQ_OPTIONS@ -- bash -c "exec 2>&1; $task"
done
