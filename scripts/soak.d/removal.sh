# Trees that are removed while others write to them.
python3 "$steps/removal.py" "$seconds"
ls -A
