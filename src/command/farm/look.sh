# Sets `left` to the missing frames, and `todo` to the shards that have them. If none are missing, makes the video and ends.
look() {
  todo=1-$shards
  left=$("$polyfly" missing "$frames" @OWN@)
  code=$?
  case $code in
    0) @FINISH@ ;;
    75)
      # No frame exists yet.
      [ -n "$left" ] || { left=all; return 0; }
      todo=$("$polyfly" missing "$frames" @OWN@ --shards "$shards" 2>/dev/null)
      # The last frame was finished meanwhile.
      [ -n "$todo" ] || look
      ;;
    *) exit "$code" ;;
  esac
}
