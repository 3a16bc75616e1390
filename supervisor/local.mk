# supervisor/: see README.md
