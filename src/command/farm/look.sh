# Sets `left`, the frames that are missing, and `todo`, the shards that lack them. Where none are, the job ends with the video.
look() {
  todo=1-$shards
  left=all
  [ -e "$folder/manifest.json" ] || return 0
  left=$("$polyfly" missing "$frames")
  case $? in
    0) @FINISH@ ;;
    75) todo=$("$polyfly" missing "$frames" --shards "$shards" 2>/dev/null) ;;
    *) exit 65 ;;
  esac
}
