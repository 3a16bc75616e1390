# doc/: see README.md
# the command line
dist_man_MANS += doc/payonce.1
