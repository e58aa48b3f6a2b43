#!/bin/bash
# polyfly on Slurm: @TITLE@.
# Submit it with `sbatch`, as often as needed: only missing frames are rendered.
#
# This small job looks for missing frames, submits their shards as an array, and submits itself again to run after
# that. When no frame is missing, it makes the video. It uses `afterany`, not `afterok`, because it must also run
# after lost, preempted or timed-out tasks.
#SBATCH --job-name=polyfly
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=@CORES@
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=polyfly-%j.log
@OPTIONS@
set -u
cd @CWD@ || exit 74
polyfly=@POLYFLY@
frames=@FRAMES@          # pattern of the frames
folder=@FOLDER@
shards=@SHARDS@          # fixed here, because later arrays must split the frames in the same way
running=@RUNNING@        # concurrent shards
rounds=@ROUNDS@          # maximum rounds of repair; they end after a round without new frames

if [ "${1:-}" = shard ]; then
  # exec: a SIGTERM by preemption, time limit or scancel must reach the renderer, which then finishes its frame.
  exec "$polyfly" @RENDER@ --shard "$SLURM_ARRAY_TASK_ID/$shards"
fi

@LOOK@
round=${1:-0}
hidden=$folder/.polyfly
# Other jobs may use the folder.
script=$hidden/slurm-@CLIP@.sh
seen=$hidden/missing-@CLIP@
[ ! -L "$hidden" ] && mkdir -p "$hidden" || exit 74
if [ "$round" = 0 ]; then
  # Slurm runs a copy of this file, which it deletes after the job.
  cp "$0" "$script" || exit 74
  rm -f "$seen"
fi

look
if [ "$left" = "$(cat "$seen" 2>/dev/null)" ] || [ "$round" -gt "$rounds" ]; then
  echo "giving up after $round rounds; missing: $left (logs: $hidden/slurm-*.log)" >&2
  exit 1
fi

array=$(sbatch --parsable --array="$todo%$running" @GPU@ --signal=B:TERM@60 \
  --output="$hidden/slurm-%A_%a.log" "$script" shard) || exit 75
next=$(sbatch --parsable --dependency="afterany:${array%%;*}" "$script" $((round + 1))) || exit 75
# Written only after submission: if the job is restarted before, no round has run yet.
echo "$left" >"$seen"
echo "round $round: shards $todo are array ${array%%;*}; job ${next%%;*} looks again"
