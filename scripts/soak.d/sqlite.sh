# Databases with many readers and two writers, one of which is killed again and again.
for mode in wal delete truncate; do
  python3 "$steps/readers.py" "$mode" $((seconds / 3))
done
ls -A
