# worker/: see README.md
