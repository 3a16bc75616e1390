dnl Flags of ours go into AM_* only: CFLAGS and LDFLAGS belong to the user.

dnl PAYONCE_TRY_FLAG(VARIABLE, FLAG): append FLAG to VARIABLE when a program
dnl with a large array compiles and links with it.
AC_DEFUN([PAYONCE_TRY_FLAG], [
	payonce_save_CFLAGS="$CFLAGS"
	CFLAGS="$CFLAGS -Werror $2"
	AC_MSG_CHECKING([whether $CC takes $2])
	AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <string.h>]],
	    [[char a[65536]; memset(a, 1, sizeof(a)); return a[4711] - 1;]])],
	    [AC_MSG_RESULT([yes]); $1="$$1 $2"],
	    [AC_MSG_RESULT([no])])
	CFLAGS="$payonce_save_CFLAGS"
])

AC_DEFUN([PAYONCE_WARNINGS], [
	AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror],
	    [warnings are errors])], [], [enable_werror=no])
	WARN_CFLAGS=""
	for payonce_flag in -Wall -Wextra -Wshadow -Wstrict-prototypes \
	    -Wmissing-prototypes -Wpointer-arith -Wwrite-strings \
	    -Wformat=2 -Wundef -Wvla; do
		PAYONCE_TRY_FLAG([WARN_CFLAGS], [$payonce_flag])
	done
	AS_IF([test "x$enable_werror" = xyes],
	    [WARN_CFLAGS="$WARN_CFLAGS -Werror"])
	AC_SUBST([WARN_CFLAGS])
])

AC_DEFUN([PAYONCE_SANITIZER], [
	AC_ARG_ENABLE([sanitizer], [AS_HELP_STRING([--enable-sanitizer=LIST],
	    [build with sanitizers, e.g. address,undefined])],
	    [], [enable_sanitizer=no])
	SAN_CFLAGS=""
	# libFuzzer's counters need a sanitizer's runtime in every program.
	AS_IF([test "x$enable_fuzz" = xyes], [
		AS_IF([test "x$enable_sanitizer" = xno],
		    [enable_sanitizer=address,undefined])
		enable_sanitizer="$enable_sanitizer,fuzzer-no-link"
	])
	AS_IF([test "x$enable_sanitizer" != xno && test "x$enable_sanitizer" != x], [
		SAN_CFLAGS="-fsanitize=$enable_sanitizer -fno-omit-frame-pointer -fno-sanitize-recover=all"
	])
	AC_SUBST([SAN_CFLAGS])
	AM_CONDITIONAL([SANITIZER], [test "x$SAN_CFLAGS" != x])
])

dnl On by default; a sanitizer build switches it off, they do not mix.
AC_DEFUN([PAYONCE_HARDENING], [
	AC_ARG_ENABLE([hardening], [AS_HELP_STRING([--disable-hardening],
	    [no hardening flags])], [], [enable_hardening=yes])
	HARD_CFLAGS=""
	HARD_LDFLAGS=""
	AS_IF([test "x$enable_hardening" = xyes && test "x$SAN_CFLAGS" = x], [
		AS_CASE(["$CFLAGS $CPPFLAGS"], [*_FORTIFY_SOURCE*], [],
		    [*-O[[123s]]*], [PAYONCE_TRY_FLAG([HARD_CFLAGS], [-D_FORTIFY_SOURCE=2])])
		for payonce_flag in -fstack-protector-strong \
		    -fstack-clash-protection -fcf-protection \
		    -ftrivial-auto-var-init=zero -fno-strict-aliasing -fPIE; do
			PAYONCE_TRY_FLAG([HARD_CFLAGS], [$payonce_flag])
		done
		for payonce_flag in -pie -Wl,-z,relro -Wl,-z,now \
		    -Wl,-z,noexecstack; do
			PAYONCE_TRY_FLAG([HARD_LDFLAGS], [$payonce_flag])
		done
	])
	AC_SUBST([HARD_CFLAGS])
	AC_SUBST([HARD_LDFLAGS])
])
