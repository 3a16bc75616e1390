# doc/: see README.md
