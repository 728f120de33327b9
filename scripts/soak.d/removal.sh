# Trees that are removed while others write to them.
python3 "$here/removal.py" "$seconds"
ls -A
