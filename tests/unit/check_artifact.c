/*
 * check_artifact.c - artifacts on the disk: bytes, sums, types, limits, and
 * the decoders of what came inside JSON.
 */
#include <sys/stat.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fdutil.h"
#include "common/mem.h"
#include "tests/unit/suite.h"
#include "worker/artifact.h"
#include "worker/exec.h"

static char dir[] = "/tmp/check_artifact.XXXXXX";

static void
setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void
teardown(void)
{
	ck_assert_int_eq(exec_files_remove(dir), 0);
}

START_TEST(test_commit)
{
	struct artifact_file f;
	struct artifact_facts a, b;
	char want[128], *data = NULL;
	size_t len = 0;

	ck_assert_int_eq(artifact_open(&f, dir, 42, 1, 0, 0), 0);
	ck_assert_int_eq(artifact_write(&f, "ab", 2), 0);
	ck_assert_int_eq(artifact_write(&f, "c", 1), 0);
	ck_assert_int_eq(artifact_commit(&f, "image/PNG; x=1", &a), 0);
	(void)snprintf(want, sizeof(want), "%s/artifacts/42.1/0.png", dir);
	ck_assert_str_eq(a.path, want);
	ck_assert_str_eq(a.type, "image/png");
	ck_assert_int_eq(a.bytes, 3);
	/* FIPS 180-2, appendix B.1 */
	ck_assert_str_eq(a.sha256, "ba7816bf8f01cfea414140de5dae2223"
	    "b00361a396177a9cb410ff61f20015ad");
	ck_assert_int_eq(fd_read_file(a.path, 100, &data, &len), 0);
	ck_assert_uint_eq(len, 3);
	ck_assert_mem_eq(data, "abc", 3);
	ck_assert_int_eq(artifact_measure(a.path, &b), 0);
	ck_assert_str_eq(b.sha256, a.sha256);
	ck_assert_int_eq(b.bytes, 3);
	(void)snprintf(want, sizeof(want), "%s/artifacts/42.1/0.part", dir);
	ck_assert_int_eq(access(want, F_OK), -1);
	mem_free(data);
	artifact_facts_done(&a);
	artifact_facts_done(&b);
}
END_TEST

START_TEST(test_limit)
{
	struct artifact_file f;
	char part[128];

	ck_assert_int_eq(artifact_open(&f, dir, 1, 1, 3, 4), 0);
	ck_assert_int_eq(artifact_write(&f, "abcd", 4), 0);
	ck_assert_int_eq(artifact_write(&f, "e", 1), PO_ERANGE);
	(void)snprintf(part, sizeof(part), "%s/artifacts/1.1/3.part", dir);
	ck_assert_int_eq(access(part, F_OK), 0);
	artifact_abort(&f);
	ck_assert_int_eq(access(part, F_OK), -1);
	artifact_abort(&f);	/* twice is harmless */
}
END_TEST

static const struct {
	enum artifact_code code;
	const char	*text;
	const char	*want;		/* NULL: refused */
} codes[] = {
	{ ARTIFACT_BASE64, "", "" },
	{ ARTIFACT_BASE64, "Zg==", "f" },
	{ ARTIFACT_BASE64, "Zm8=", "fo" },
	{ ARTIFACT_BASE64, "Zm9v", "foo" },
	{ ARTIFACT_BASE64, "Zm9vYg", "foob" },
	{ ARTIFACT_BASE64, "Zm9v\nYmFy", "foobar" },
	{ ARTIFACT_BASE64, "Pz8_Pj4-", "?\?\?>>>" },
	{ ARTIFACT_BASE64, "Pz8/Pj4+", "?\?\?>>>" },
	{ ARTIFACT_BASE64, "Z", NULL },
	{ ARTIFACT_BASE64, "Zm9vY", NULL },
	{ ARTIFACT_BASE64, "Zm9v!", NULL },
	{ ARTIFACT_BASE64, "Zg==Zg==", NULL },
	{ ARTIFACT_HEX, "666F6f", "foo" },
	{ ARTIFACT_HEX, "666", NULL },
	{ ARTIFACT_HEX, "6x", NULL },
};

START_TEST(test_decode)
{
	const char *text = codes[_i].text, *want = codes[_i].want;
	struct artifact_file f;
	struct artifact_facts a;
	char *data = NULL;
	size_t len = 0;
	int rc = 0;

	ck_assert_int_eq(artifact_open(&f, dir, 1, 1, 0, 0), 0);
	rc = artifact_decode(&f, codes[_i].code, text, strlen(text));
	if (want == NULL) {
		ck_assert_int_eq(rc, PO_EINVAL);
		artifact_abort(&f);
		return;
	}
	ck_assert_int_eq(rc, 0);
	ck_assert_int_eq(artifact_commit(&f, NULL, &a), 0);
	ck_assert_int_eq(a.bytes, (int64_t)strlen(want));
	ck_assert_int_eq(fd_read_file(a.path, 100, &data, &len), 0);
	ck_assert_mem_eq(data, want, strlen(want));
	mem_free(data);
	artifact_facts_done(&a);
}
END_TEST

START_TEST(test_decode_long)
{
	char text[40000];
	struct artifact_file f;
	struct artifact_facts a;

	memset(text, 'A', sizeof(text));
	ck_assert_int_eq(artifact_open(&f, dir, 1, 1, 0, 29999), 0);
	ck_assert_int_eq(artifact_decode(&f, ARTIFACT_BASE64, text,
	    sizeof(text)), PO_ERANGE);
	artifact_abort(&f);
	ck_assert_int_eq(artifact_open(&f, dir, 1, 1, 0, 30000), 0);
	ck_assert_int_eq(artifact_decode(&f, ARTIFACT_BASE64, text,
	    sizeof(text)), 0);
	ck_assert_int_eq(artifact_commit(&f, NULL, &a), 0);
	ck_assert_int_eq(a.bytes, 30000);
	artifact_facts_done(&a);
}
END_TEST

static const struct {
	const char	*said;
	const char	*head;
	size_t		 len;
	const char	*type;
	const char	*ext;
} types[] = {
	{ NULL, "\x89PNG\r\n\x1a\n", 8, "image/png", "png" },
	{ NULL, "\x89PNG", 4, "application/octet-stream", "bin" },
	{ "application/octet-stream", "RIFF....WAVE", 12, "audio/wav", "wav" },
	{ "text/html; charset=utf-8", "\x89PNG\r\n\x1a\n", 8, "text/html",
	    "html" },
	{ "../../etc/passwd", "x", 1, "application/octet-stream", "bin" },
	{ NULL, "....ftypisom", 12, "video/mp4", "mp4" },
	{ NULL, "YUV4MPEG2 W1", 12, "video/x-yuv4mpeg", "y4m" },
	{ "", "", 0, "application/octet-stream", "bin" },
};

START_TEST(test_type)
{
	const char *type = artifact_type(types[_i].said,
	    (const uint8_t *)types[_i].head, types[_i].len);

	ck_assert_str_eq(type, types[_i].type);
	ck_assert_str_eq(artifact_extension(type), types[_i].ext);
}
END_TEST

static const struct {
	const char	*path;
	bool		 want;
} owned[] = {
	{ "/s/artifacts/7.1/0.png", true },
	{ "/s/artifacts/7.1/", false },
	{ "/s/artifacts/7.1", false },
	{ "/s/artifacts/7.10/0.png", false },
	{ "/s/artifacts/7.1/../8.1/0.png", false },
	{ "/s/artifacts/7.1/..", false },
	{ "/etc/passwd", false },
	{ "", false },
};

/* What a provider writes into its JSON must not name our other files. */
START_TEST(test_ours)
{
	ck_assert_int_eq(artifact_is_ours("/s", 7, 1, owned[_i].path),
	    owned[_i].want);
}
END_TEST

START_TEST(test_list)
{
	char path[160], *list = NULL;
	struct artifact_file f;
	struct artifact_facts a;

	ck_assert_int_eq(artifact_open(&f, dir, 9, 1, 0, 0), 0);
	ck_assert_int_eq(artifact_write(&f, "abc", 3), 0);
	ck_assert_int_eq(artifact_commit(&f, "text/plain", &a), 0);
	(void)snprintf(path, sizeof(path), "%s/artifacts/9.1/link", dir);
	ck_assert_int_eq(symlink("/etc/passwd", path), 0);
	(void)snprintf(path, sizeof(path), "%s/artifacts/9.1", dir);
	ck_assert_int_eq(exec_files_list(path, &list), 0);
	ck_assert_ptr_nonnull(strstr(list, a.path));
	ck_assert_ptr_nonnull(strstr(list, a.sha256));
	ck_assert_ptr_null(strstr(list, "link"));
	mem_free(list);
	artifact_facts_done(&a);
}
END_TEST

START_TEST(test_inputs)
{
	static const char parents[] = "[{\"id\":1,\"kind\":\"image\","
	    "\"status\":\"SUCCEEDED\",\"result\":{\"output\":{},\"artifacts\":"
	    "[{\"path\":\"/a/0.png\",\"type\":\"image/png\"},"
	    "{\"url\":\"http://x/\",\"lost\":\"http 404\"}]}},"
	    "{\"id\":2,\"result\":null},{\"id\":3,\"result\":{\"artifacts\":"
	    "[{\"path\":\"/a/b\\nc\"},{\"path\":\"/a/1.wav\","
	    "\"type\":\"audio/wav\"}]}}]";
	char path[160], *text = NULL;

	(void)snprintf(path, sizeof(path), "%s/inputs", dir);
	ck_assert_int_eq(exec_files_inputs(path, parents,
	    sizeof(parents) - 1), 0);
	ck_assert_int_eq(fd_read_file(path, 1000, &text, NULL), 0);
	ck_assert_str_eq(text, "image/png\t/a/0.png\naudio/wav\t/a/1.wav\n");
	mem_free(text);
	text = NULL;
	ck_assert_int_eq(exec_files_inputs(path, "", 0), 0);
	ck_assert_int_eq(fd_read_file(path, 1000, &text, NULL), 0);
	ck_assert_str_eq(text, "");
	mem_free(text);
	ck_assert_int_eq(exec_files_inputs(path, "{\"a\"", 4), 0);
}
END_TEST

#define COUNT(rows)	((int)(sizeof(rows) / sizeof((rows)[0])))

int
main(void)
{
	Suite *s = suite_create("artifact");
	TCase *tc = tcase_create("artifact");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_commit);
	tcase_add_test(tc, test_limit);
	tcase_add_loop_test(tc, test_decode, 0, COUNT(codes));
	tcase_add_test(tc, test_decode_long);
	tcase_add_loop_test(tc, test_type, 0, COUNT(types));
	tcase_add_loop_test(tc, test_ours, 0, COUNT(owned));
	tcase_add_test(tc, test_list);
	tcase_add_test(tc, test_inputs);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
