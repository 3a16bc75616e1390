# cli/: see README.md
