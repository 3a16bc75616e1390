/*
 * artifact_decode.c - artifacts that came inside the JSON: base64 and hex.
 *
 * Streams: the decoded bytes never stand in memory as a whole.
 */
#include "worker/artifact.h"

#include "common/err.h"

#define DECODE_CHUNK	4096

struct decode {
	uint8_t		 out[DECODE_CHUNK];
	size_t		 len;
	uint32_t	 bits;
	unsigned int	 nbits;
};

static int	decode_value(enum artifact_code, unsigned char);
static int	decode_push(struct artifact_file *, struct decode *, int value,
		    unsigned int width);

int
artifact_decode(struct artifact_file *f, enum artifact_code code,
    const char *text, size_t len)
{
	struct decode d = { .len = 0 };
	const unsigned int width = code == ARTIFACT_HEX ? 4 : 6;
	size_t i = 0;
	int value = 0, rc = 0;

	while (len > 0 && code == ARTIFACT_BASE64 && text[len - 1] == '=')
		len--;
	for (i = 0; i < len; i++) {
		if (text[i] == ' ' || text[i] == '\n' || text[i] == '\r' ||
		    text[i] == '\t')
			continue;
		value = decode_value(code, (unsigned char)text[i]);
		if (value < 0)
			return PO_EINVAL;
		if ((rc = decode_push(f, &d, value, width)) < 0)
			return rc;
	}
	/* 6 bits alone, or half a byte: the text was cut */
	if (d.nbits >= width || (code == ARTIFACT_HEX && d.nbits != 0))
		return PO_EINVAL;
	return d.len > 0 ? artifact_write(f, d.out, d.len) : 0;
}

static int
decode_value(enum artifact_code code, unsigned char c)
{
	if (c >= '0' && c <= '9')
		return code == ARTIFACT_HEX ? c - '0' : c - '0' + 52;
	if (code == ARTIFACT_HEX) {
		if (c >= 'a' && c <= 'f')
			return c - 'a' + 10;
		return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
	}
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c == '+' || c == '-')
		return 62;
	return c == '/' || c == '_' ? 63 : -1;
}

static int
decode_push(struct artifact_file *f, struct decode *d, int value,
    unsigned int width)
{
	int rc = 0;

	d->bits = (d->bits << width | (uint32_t)value) & 0xffffff;
	d->nbits += width;
	if (d->nbits < 8)
		return 0;
	d->nbits -= 8;
	d->out[d->len++] = (uint8_t)(d->bits >> d->nbits);
	if (d->len < sizeof(d->out))
		return 0;
	rc = artifact_write(f, d->out, d->len);
	d->len = 0;
	return rc;
}
