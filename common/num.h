/*
 * num.h - strict parsing and exact decimal arithmetic.
 *
 * No locale, no leading blanks, no sign where none makes sense, the whole
 * string must be used.  Money never becomes a double.
 */
#ifndef PAYONCE_NUM_H
#define PAYONCE_NUM_H

#include <stddef.h>
#include <stdint.h>

/* num.c: all return 0, PO_EINVAL or PO_ERANGE; *ret is unchanged on failure */
int	num_parse_i64(const char *s, int64_t min, int64_t max, int64_t *ret);
int	num_parse_u64(const char *s, uint64_t max, uint64_t *ret);

/*
 * num_decimal_check() accepts what PostgreSQL's numeric takes and we send:
 * [-]digits[.digits], at most 40 characters, no exponent.
 */
int	num_decimal_check(const char *s);
/*
 * num_decimal_mul() and num_decimal_add() write exact results ("3.008" *
 * "0.03" = "0.09024"); an exponent form such as 1e-5 is taken as input too.
 * PO_ERANGE when the digits do not fit into 128 bits or into cap bytes.
 */
int	num_decimal_mul(const char *a, const char *b, char *ret, size_t cap);
int	num_decimal_add(const char *a, const char *b, char *ret, size_t cap);

#endif
