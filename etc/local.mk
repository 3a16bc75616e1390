# etc/: see README.md
