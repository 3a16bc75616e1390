# etc/: see README.md

# ---- what an init system reads, with the installed paths in it -----------
ETC_MADE = etc/init.d/payonce etc/payonce.service etc/payonce.conf
EXTRA_DIST += etc/init.d/payonce.in etc/payonce.service.in \
	etc/payonce.conf.in etc/logrotate.d/payonce
CLEANFILES += $(ETC_MADE)
$(ETC_MADE): Makefile
etc/init.d/payonce: etc/init.d/payonce.in
etc/payonce.service: etc/payonce.service.in
etc/payonce.conf: etc/payonce.conf.in
$(ETC_MADE):
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(SED) -e 's|@sbindir[@]|$(sbindir)|g' \
	    -e 's|@sysconfdir[@]|$(sysconfdir)|g' -e 's|@datadir[@]|$(datadir)|g' \
	    -e 's|@localstatedir[@]|$(localstatedir)|g' \
	    -e 's|@runstatedir[@]|$(runstatedir)|g' $(srcdir)/$@.in > $@.tmp && \
	    mv $@.tmp $@
initdir = $(sysconfdir)/init.d
init_SCRIPTS = etc/init.d/payonce
unitdir = $(prefix)/lib/systemd/system
unit_DATA = etc/payonce.service
logrotatedir = $(sysconfdir)/logrotate.d
dist_logrotate_DATA = etc/logrotate.d/payonce
noinst_DATA += etc/payonce.conf

# A configuration that is there stays; one that nobody changed goes again.
install-data-local: etc/payonce.conf
	@$(MKDIR_P) '$(DESTDIR)$(sysconf_payoncedir)'
	@test -e '$(DESTDIR)$(sysconf_payoncedir)/payonce.conf' || { \
	    echo "installing payonce.conf"; \
	    $(INSTALL_DATA) etc/payonce.conf \
		'$(DESTDIR)$(sysconf_payoncedir)/payonce.conf'; }
uninstall-local:
	@if cmp -s etc/payonce.conf \
	    '$(DESTDIR)$(sysconf_payoncedir)/payonce.conf'; then \
	    rm -f '$(DESTDIR)$(sysconf_payoncedir)/payonce.conf'; fi

# ---- descriptions of providers -------------------------------------------
sysconf_providersdir = $(sysconf_payoncedir)/providers.d
dist_sysconf_providers_DATA = \
	etc/providers.d/fal.conf \
	etc/providers.d/replicate.conf

# ---- programs of local kinds ---------------------------------------------
examplesdir = $(pkgdatadir)/examples
dist_examples_SCRIPTS = etc/examples/render
