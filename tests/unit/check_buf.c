/*
 * check_buf.c - common/buf.c keeps bytes, its cap and its NUL.
 */
#include <signal.h>
#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/mem.h"
#include "tests/unit/suite.h"

START_TEST(test_put_and_consume)
{
	struct buf b;

	buf_init(&b, 100);
	ck_assert_uint_eq(buf_left(&b), 0);
	ck_assert_str_eq(buf_text(&b), "");
	ck_assert_int_eq(buf_puts(&b, "hello"), 0);
	ck_assert_int_eq(buf_putc(&b, ' '), 0);
	ck_assert_int_eq(buf_printf(&b, "%d-%s", 42, "x"), 0);
	ck_assert_str_eq(buf_text(&b), "hello 42-x");
	buf_consume(&b, 6);
	ck_assert_str_eq(buf_text(&b), "42-x");
	ck_assert_uint_eq(buf_left(&b), 4);
	buf_truncate(&b, 2);
	ck_assert_str_eq(buf_text(&b), "42");
	buf_consume(&b, 2);
	ck_assert_uint_eq(b.off, 0);
	ck_assert_uint_eq(b.len, 0);
	ck_assert_str_eq(buf_text(&b), "");
	buf_done(&b);
	ck_assert_ptr_null(b.data);
	ck_assert_uint_eq(b.max, 100);
}
END_TEST

START_TEST(test_cap_is_exact)
{
	struct buf b;
	char ten[10];

	memset(ten, 'a', sizeof(ten));
	buf_init(&b, 25);
	ck_assert_int_eq(buf_put(&b, ten, 10), 0);
	ck_assert_int_eq(buf_put(&b, ten, 10), 0);
	ck_assert_int_eq(buf_put(&b, ten, 6), PO_ENOMEM);
	ck_assert_uint_eq(buf_left(&b), 20);
	ck_assert_int_eq(buf_put(&b, ten, 5), 0);
	ck_assert_int_eq(buf_putc(&b, 'x'), PO_ENOMEM);
	ck_assert_int_eq(buf_printf(&b, "%s", "x"), PO_ENOMEM);
	ck_assert_uint_eq(buf_left(&b), 25);
	ck_assert_uint_le(b.cap, 25);
	ck_assert_uint_eq(b.data[25], 0);
	/* what is consumed makes room again */
	buf_consume(&b, 20);
	ck_assert_int_eq(buf_put(&b, ten, 10), 0);
	ck_assert_int_eq(buf_put(&b, ten, 10), 0);
	ck_assert_int_eq(buf_putc(&b, 'x'), PO_ENOMEM);
	ck_assert_uint_le(b.cap, 25);
	buf_done(&b);
}
END_TEST

START_TEST(test_no_overflow)
{
	struct buf b;

	buf_init(&b, SIZE_MAX);
	ck_assert_int_eq(buf_puts(&b, "abc"), 0);
	ck_assert_ptr_null(buf_reserve(&b, SIZE_MAX));
	ck_assert_ptr_null(buf_reserve(&b, SIZE_MAX - 3));
	ck_assert_str_eq(buf_text(&b), "abc");
	buf_done(&b);
}
END_TEST

/* A buffer that is filled and emptied for ever stays small. */
START_TEST(test_stays_small)
{
	struct buf b;
	char seen[64];
	unsigned int in = 0, out = 0, i = 0;

	buf_init(&b, 1 << 20);
	for (i = 0; i < 10000; i++) {
		unsigned char chunk[40];
		size_t j = 0;

		for (j = 0; j < sizeof(chunk); j++)
			chunk[j] = (unsigned char)(in++ % 251);
		ck_assert_int_eq(buf_put(&b, chunk, sizeof(chunk)), 0);
		/* never quite empty */
		while (buf_left(&b) > 7) {
			size_t n = buf_left(&b) - 7;

			if (n > 11)
				n = 11;
			memcpy(seen, buf_head(&b), n);
			for (j = 0; j < n; j++)
				ck_assert_uint_eq((unsigned char)seen[j],
				    out++ % 251);
			buf_consume(&b, n);
		}
	}
	ck_assert_uint_le(b.cap, 512);
	buf_done(&b);
}
END_TEST

START_TEST(test_steal)
{
	struct buf b;
	size_t len = 9;
	char *s = NULL;

	buf_init(&b, 100);
	s = buf_steal(&b, &len);
	ck_assert_str_eq(s, "");
	ck_assert_uint_eq(len, 0);
	mem_free(s);
	ck_assert_int_eq(buf_puts(&b, "abcdef"), 0);
	buf_consume(&b, 2);
	s = buf_steal(&b, &len);
	ck_assert_str_eq(s, "cdef");
	ck_assert_uint_eq(len, 4);
	ck_assert_uint_eq(buf_left(&b), 0);
	ck_assert_int_eq(buf_puts(&b, "again"), 0);
	ck_assert_str_eq(s, "cdef");
	mem_free(s);
	buf_done(&b);
}
END_TEST

START_TEST(test_no_memory)
{
	struct buf b;
	char big[1000];

	memset(big, 'b', sizeof(big));
	buf_init(&b, 100000);
	mem_fail_after(1);
	ck_assert_int_eq(buf_puts(&b, "x"), PO_ENOMEM);
	ck_assert_int_eq(buf_puts(&b, "x"), 0);
	mem_fail_after(1);
	ck_assert_int_eq(buf_put(&b, big, sizeof(big)), PO_ENOMEM);
	ck_assert_str_eq(buf_text(&b), "x");
	ck_assert_int_eq(buf_put(&b, big, sizeof(big)), 0);
	ck_assert_uint_eq(buf_left(&b), 1001);
	buf_done(&b);
}
END_TEST

START_TEST(test_reserve)
{
	struct buf b;
	uint8_t *at = NULL;

	buf_init(&b, 1000);
	ck_assert_int_eq(buf_puts(&b, "ab"), 0);
	at = buf_reserve(&b, 500);
	ck_assert_ptr_nonnull(at);
	memcpy(at, "cd", 2);
	ck_assert_uint_eq(buf_left(&b), 2);
	b.len += 2;
	b.data[b.len] = '\0';
	ck_assert_str_eq(buf_text(&b), "abcd");
	buf_done(&b);
}
END_TEST

START_TEST(test_consume_too_much)
{
	struct buf b;

	buf_init(&b, 10);
	ck_assert_int_eq(buf_puts(&b, "ab"), 0);
	buf_consume(&b, 3);	/* panics */
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("buf");
	TCase *tc = tcase_create("buf");

	tcase_add_test(tc, test_put_and_consume);
	tcase_add_test(tc, test_cap_is_exact);
	tcase_add_test(tc, test_no_overflow);
	tcase_add_test(tc, test_stays_small);
	tcase_add_test(tc, test_steal);
	tcase_add_test(tc, test_no_memory);
	tcase_add_test(tc, test_reserve);
	tcase_add_test_raise_signal(tc, test_consume_too_much, SIGABRT);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
