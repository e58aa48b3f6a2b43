# Sets `left`, the frames that are missing, and `todo`, the shards that lack them. Where none are, the job ends with the video.
look() {
  todo=1-$shards
  left=$("$polyfly" missing "$frames" @OWN@)
  code=$?
  case $code in
    0) @FINISH@ ;;
    75)
      # Nothing is begun yet.
      [ -n "$left" ] || { left=all; return 0; }
      todo=$("$polyfly" missing "$frames" @OWN@ --shards "$shards" 2>/dev/null)
      # The last frame has come meanwhile.
      [ -n "$todo" ] || look
      ;;
    *) exit "$code" ;;
  esac
}
