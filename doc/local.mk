# doc/: see README.md
# the command line
dist_man_MANS += doc/payonce.1
# the configuration
dist_man_MANS += doc/payonce.conf.5 doc/provider.conf.5
