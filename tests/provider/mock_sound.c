/*
 * mock_sound.c - a second of a tone (WAV), and a second of a moving number
 * (Y4M): what a speech and a clip model would send back.
 */
#include <string.h>

#include "tests/provider/mock.h"

#define WAV_RATE	16000
#define WAV_LEN		WAV_RATE	/* samples: one second */
#define WAV_FADE	800

#define CLIP_WIDTH	128
#define CLIP_HEIGHT	72
#define CLIP_FRAMES	12
#define CLIP_SCALE	4

static void
wav_set_le(uint8_t *at, uint32_t n, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		at[i] = (uint8_t)(n >> 8 * i);
}

/* wav_wave() bends a triangle into an arc: close enough to a sine. */
static int32_t
wav_wave(uint32_t phase)
{
	int32_t x = (int32_t)(phase >> 16 & 0x7fff);	/* half a turn */
	int32_t y = (int32_t)((int64_t)x * (32768 - x) / 32768 * 4);

	if (y > 32767)
		y = 32767;
	return phase >> 31 ? -y : y;
}

/* Sixteen bits, one channel; the pitch is the task's. */
int
wav_put(struct buf *out, uint64_t number)
{
	static const uint16_t pitches[] = {
		262, 294, 330, 392, 440, 523, 587, 659, 784, 880
	};
	uint32_t pitch = pitches[number % (sizeof(pitches) /
	    sizeof(pitches[0]))];
	uint32_t step = (uint32_t)(((uint64_t)pitch << 32) / WAV_RATE);
	static uint8_t samples[WAV_LEN * 2];
	uint8_t head[44];
	uint32_t phase = 0, i, edge;
	int32_t level;
	int rc;

	memcpy(head, "RIFF....WAVEfmt ", 16);
	wav_set_le(head + 4, 36 + WAV_LEN * 2, 4);
	wav_set_le(head + 16, 16, 4);
	wav_set_le(head + 20, 1, 2);		/* PCM */
	wav_set_le(head + 22, 1, 2);		/* mono */
	wav_set_le(head + 24, WAV_RATE, 4);
	wav_set_le(head + 28, WAV_RATE * 2, 4);
	wav_set_le(head + 32, 2, 2);
	wav_set_le(head + 34, 16, 2);
	memcpy(head + 36, "data", 4);
	wav_set_le(head + 40, WAV_LEN * 2, 4);
	rc = buf_put(out, head, sizeof(head));
	for (i = 0; i < WAV_LEN; i++) {
		edge = i < WAV_LEN - i ? i : WAV_LEN - i;
		if (edge > WAV_FADE)
			edge = WAV_FADE;
		level = wav_wave(phase) / 2 * (int32_t)edge / WAV_FADE;
		wav_set_le(samples + i * 2, (uint32_t)level, 2);
		phase += step;
	}
	if (rc == 0)
		rc = buf_put(out, samples, sizeof(samples));
	return rc;
}

static void
y4m_draw(uint8_t *luma, uint64_t number, unsigned int frame)
{
	unsigned int x, y;
	unsigned int shift = frame * 3;

	for (y = 0; y < CLIP_HEIGHT; y++)
		for (x = 0; x < CLIP_WIDTH; x++)
			luma[y * CLIP_WIDTH + x] = (uint8_t)(32 +
			    (x + y + shift * 2) % 96);
	for (y = 0; y < 5 * CLIP_SCALE; y++)
		for (x = 0; x + shift < CLIP_WIDTH; x++)
			if (png_is_ink(number, x, y, CLIP_SCALE))
				luma[(y + 24) * CLIP_WIDTH + x + shift] = 235;
}

int
y4m_put(struct buf *out, uint64_t number)
{
	static uint8_t luma[CLIP_WIDTH * CLIP_HEIGHT];
	uint8_t chroma[CLIP_WIDTH * CLIP_HEIGHT / 4];
	uint32_t hue = (uint32_t)(number * 2654435761u);
	unsigned int frame;
	int rc;

	rc = buf_printf(out, "YUV4MPEG2 W%d H%d F%d:1 Ip A1:1 C420jpeg\n",
	    CLIP_WIDTH, CLIP_HEIGHT, CLIP_FRAMES);
	for (frame = 0; rc == 0 && frame < CLIP_FRAMES; frame++) {
		y4m_draw(luma, number, frame);
		rc = buf_puts(out, "FRAME\n");
		if (rc == 0)
			rc = buf_put(out, luma, sizeof(luma));
		memset(chroma, (int)(64 + (hue >> 24) / 2), sizeof(chroma));
		if (rc == 0)
			rc = buf_put(out, chroma, sizeof(chroma));
		memset(chroma, (int)(64 + (hue >> 16 & 255) / 2),
		    sizeof(chroma));
		if (rc == 0)
			rc = buf_put(out, chroma, sizeof(chroma));
	}
	return rc;
}
