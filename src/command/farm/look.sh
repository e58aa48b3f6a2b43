# Sets `left`, the frames that are missing, and `todo`, the shards that lack them. Where none are, the job ends with the video.
look() {
  todo=1-$shards
  left=all
  [ -e "$folder/manifest.json" ] || return 0
  left=$("$polyfly" missing "$frames" @OWN@)
  code=$?
  case $code in
    0) @FINISH@ ;;
    75)
      todo=$("$polyfly" missing "$frames" @OWN@ --shards "$shards" 2>/dev/null)
      # The last frame has come meanwhile.
      [ -n "$todo" ] || look
      ;;
    *) exit "$code" ;;
  esac
}
