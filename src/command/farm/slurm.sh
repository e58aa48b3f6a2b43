#!/bin/bash
# polyfly on Slurm: @TITLE@.
# Submit it with `sbatch`, again whenever you like: only what is missing is rendered.
#
# This first, small job looks what is missing, submits the shards as an array, and itself again behind it: when
# nothing is missing it ends with the video. `afterany`, not `afterok`: a task that was lost, preempted or cut by a
# time limit is no reason to lose the others; the folder tells what is there.
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
frames=@FRAMES@          # names of the frames
folder=@FOLDER@
shards=@SHARDS@          # given by value: a later array of a few must cut the frames in the same places
running=@RUNNING@        # shards at once
rounds=@ROUNDS@          # of repair at most; they end when one brings nothing new

if [ "${1:-}" = shard ]; then
  # exec: the SIGTERM of a preemption, a time limit or scancel reaches the renderer, which finishes its frame.
  exec "$polyfly" @RENDER@ --shard "$SLURM_ARRAY_TASK_ID/$shards"
fi

@LOOK@
round=${1:-0}
hidden=$folder/.polyfly
# Other jobs may be at work in the folder.
script=$hidden/slurm-@CLIP@.sh
seen=$hidden/missing-@CLIP@
[ ! -L "$hidden" ] && mkdir -p "$hidden" || exit 74
if [ "$round" = 0 ]; then
  # Slurm runs a copy of this file that is gone when the job is.
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
# Now that it is sent: a job that is started again before has brought nothing yet.
echo "$left" >"$seen"
echo "round $round: shards $todo are array ${array%%;*}; job ${next%%;*} looks again"
