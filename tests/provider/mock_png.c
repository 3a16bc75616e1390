/*
 * mock_png.c - a picture that shows its task's number, as a PNG.
 *
 * Palette, four bits, deflate blocks of the stored kind: no library needed.
 */
#include <string.h>

#include "common/err.h"
#include "tests/provider/mock.h"

#define PNG_PALETTE	16
#define PNG_INK		(PNG_PALETTE - 1)
#define PNG_GLYPH_W	3
#define PNG_GLYPH_H	5
#define PNG_ROW_LEN	(1 + ARTIFACT_WIDTH / 2)
#define PNG_RAW_LEN	(PNG_ROW_LEN * ARTIFACT_HEIGHT)
#define PNG_DIGITS	20
#define PNG_ADLER_RUN	5552	/* b stays within 32 bits for so many bytes */

static uint32_t	png_crcs[256];

static void
png_init_crcs(void)
{
	uint32_t n, c;
	int k;

	for (n = 0; n < 256; n++) {
		c = n;
		for (k = 0; k < 8; k++)
			c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
		png_crcs[n] = c;
	}
}

static uint32_t
png_crc(const uint8_t *data, size_t len)
{
	uint32_t c = 0xffffffffu;
	size_t i;

	for (i = 0; i < len; i++)
		c = png_crcs[(c ^ data[i]) & 255] ^ c >> 8;
	return c ^ 0xffffffffu;
}

static uint32_t
png_adler(const uint8_t *data, size_t len)
{
	uint32_t a = 1, b = 0;
	size_t i, run;

	for (; len > 0; data += run, len -= run) {
		run = len < PNG_ADLER_RUN ? len : PNG_ADLER_RUN;
		for (i = 0; i < run; i++) {
			a += data[i];
			b += a;
		}
		a %= 65521;
		b %= 65521;
	}
	return b << 16 | a;
}

static int
png_put_u32(struct buf *out, uint32_t n)
{
	uint8_t bytes[4] = {
		(uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8),
		(uint8_t)n
	};

	return buf_put(out, bytes, sizeof(bytes));
}

/* length, type, data, CRC over type and data */
static int
png_put_chunk(struct buf *out, const char *type, const struct buf *data)
{
	size_t at;
	int rc;

	rc = png_put_u32(out, (uint32_t)buf_left(data));
	at = buf_left(out);
	if (rc == 0)
		rc = buf_put(out, type, 4);
	if (rc == 0)
		rc = buf_put(out, buf_head(data), buf_left(data));
	if (rc == 0)
		rc = png_put_u32(out, png_crc(buf_head(out) + at,
		    buf_left(out) - at));
	return rc;
}

/* Five rows of three bits per digit. */
bool
png_is_ink(uint64_t number, unsigned int x, unsigned int y,
    unsigned int scale)
{
	static const uint16_t glyphs[10] = {
		075557, 026227, 071747, 071717, 055711,
		074717, 074757, 071244, 075757, 075717
	};
	uint8_t digits[PNG_DIGITS];
	unsigned int count = 0, column, at;

	do {
		digits[count++] = (uint8_t)(number % 10);
		number /= 10;
	} while (number != 0 && count < PNG_DIGITS);
	column = x / scale;
	y /= scale;
	at = column / (PNG_GLYPH_W + 1);
	column %= PNG_GLYPH_W + 1;
	if (at >= count || column >= PNG_GLYPH_W || y >= PNG_GLYPH_H)
		return false;
	return glyphs[digits[count - 1 - at]] >>
	    ((PNG_GLYPH_H - 1 - y) * 3 + (PNG_GLYPH_W - 1 - column)) & 1;
}

static void
png_draw(uint8_t *raw, uint64_t number, unsigned int index)
{
	unsigned int x, y, scale = 12;
	uint64_t rest;
	uint8_t *row;

	for (rest = number; rest >= 10000 && scale > 3; rest /= 10)
		scale--;
	for (y = 0; y < ARTIFACT_HEIGHT; y++) {
		row = raw + y * PNG_ROW_LEN;
		row[0] = 0;	/* filter: none */
		for (x = 0; x < ARTIFACT_WIDTH / 2; x++)
			row[1 + x] = (uint8_t)(0x11 *
			    ((x + y / 2 + index * 8) / 8 % PNG_INK));
	}
	for (y = 0; y < 5 * scale; y++) {
		row = raw + (y + 40) * PNG_ROW_LEN + 1;
		for (x = 0; x + 16 < ARTIFACT_WIDTH; x++)
			if (png_is_ink(number, x, y, scale))
				row[(x + 16) / 2] |= x & 1 ? PNG_INK :
				    PNG_INK << 4;
	}
}

static int
png_put_palette(struct buf *out, uint64_t number)
{
	uint32_t hue = (uint32_t)(number * 2654435761u);
	uint8_t rgb[3];
	unsigned int i;
	int rc = 0;

	for (i = 0; rc == 0 && i < PNG_PALETTE; i++) {
		rgb[0] = (uint8_t)((hue >> 24) / 2 + i * 4);
		rgb[1] = (uint8_t)((hue >> 16 & 255) / 2 + i * 3);
		rgb[2] = (uint8_t)((hue >> 8 & 255) / 2 + i * 6);
		if (i == PNG_INK)
			memset(rgb, 255, sizeof(rgb));
		rc = buf_put(out, rgb, sizeof(rgb));
	}
	return rc;
}

/* A zlib stream of stored blocks around the raw rows. */
static int
png_put_data(struct buf *out, const uint8_t *raw)
{
	size_t at = 0, len;
	uint8_t head[5];
	int rc;

	rc = buf_put(out, "\x78\x01", 2);
	while (rc == 0 && at < PNG_RAW_LEN) {
		len = PNG_RAW_LEN - at;
		if (len > 65535)
			len = 65535;
		head[0] = at + len == PNG_RAW_LEN;
		head[1] = (uint8_t)len;
		head[2] = (uint8_t)(len >> 8);
		head[3] = (uint8_t)~head[1];
		head[4] = (uint8_t)~head[2];
		rc = buf_put(out, head, sizeof(head));
		if (rc == 0)
			rc = buf_put(out, raw + at, len);
		at += len;
	}
	if (rc == 0)
		rc = png_put_u32(out, png_adler(raw, PNG_RAW_LEN));
	return rc;
}

int
png_put(struct buf *out, uint64_t number, unsigned int index)
{
	static uint8_t raw[PNG_RAW_LEN];
	struct buf chunk;
	int rc;

	if (png_crcs[1] == 0)
		png_init_crcs();
	buf_init(&chunk, 2 * PNG_RAW_LEN);
	rc = buf_put(out, "\x89PNG\r\n\x1a\n", 8);
	if (rc == 0)
		rc = png_put_u32(&chunk, ARTIFACT_WIDTH);
	if (rc == 0)
		rc = png_put_u32(&chunk, ARTIFACT_HEIGHT);
	if (rc == 0)	/* four bits, palette */
		rc = buf_put(&chunk, "\x04\x03\0\0\0", 5);
	if (rc == 0)
		rc = png_put_chunk(out, "IHDR", &chunk);
	buf_reset(&chunk);
	if (rc == 0)
		rc = png_put_palette(&chunk, number);
	if (rc == 0)
		rc = png_put_chunk(out, "PLTE", &chunk);
	buf_reset(&chunk);
	png_draw(raw, number, index);
	if (rc == 0)
		rc = png_put_data(&chunk, raw);
	if (rc == 0)
		rc = png_put_chunk(out, "IDAT", &chunk);
	buf_reset(&chunk);
	if (rc == 0)
		rc = png_put_chunk(out, "IEND", &chunk);
	buf_done(&chunk);
	return rc;
}
