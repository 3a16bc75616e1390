# sql/: see README.md
