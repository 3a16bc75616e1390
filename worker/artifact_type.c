/*
 * artifact_type.c - what kind of file some bytes are; pure.
 *
 * A sender's word counts unless it says nothing ("application/octet-stream",
 * or no type at all); then the first bytes decide.
 */
#include "worker/artifact.h"

#include <string.h>
#include <strings.h>

struct type_row {
	const char	*type;
	const char	*ext;
	const char	*magic;		/* NULL: not known by its bytes */
	size_t		 len;
	size_t		 at;
};

/* The first row of a type names its extension; the first match wins. */
static const struct type_row type_rows[] = {
	{ "image/png",		"png",	"\x89PNG\r\n\x1a\n", 8, 0 },
	{ "image/jpeg",		"jpg",	"\xff\xd8\xff", 3, 0 },
	{ "image/gif",		"gif",	"GIF8", 4, 0 },
	{ "image/webp",		"webp",	"WEBP", 4, 8 },
	{ "image/avif",		"avif",	"ftypavif", 8, 4 },
	{ "image/svg+xml",	"svg",	"<svg", 4, 0 },
	{ "audio/wav",		"wav",	"WAVE", 4, 8 },
	{ "audio/x-wav",	"wav",	NULL, 0, 0 },
	{ "audio/wave",		"wav",	NULL, 0, 0 },
	{ "audio/mpeg",		"mp3",	"ID3", 3, 0 },
	{ "audio/mpeg",		"mp3",	"\xff\xfb", 2, 0 },
	{ "audio/mp3",		"mp3",	NULL, 0, 0 },
	{ "audio/flac",		"flac",	"fLaC", 4, 0 },
	{ "audio/ogg",		"ogg",	"OggS", 4, 0 },
	{ "audio/aac",		"aac",	"\xff\xf1", 2, 0 },
	{ "video/mp4",		"mp4",	"ftyp", 4, 4 },
	{ "video/quicktime",	"mov",	NULL, 0, 0 },
	{ "video/webm",		"webm",	"\x1a\x45\xdf\xa3", 4, 0 },
	{ "video/x-yuv4mpeg",	"y4m",	"YUV4MPEG2", 9, 0 },
	{ "model/gltf-binary",	"glb",	"glTF", 4, 0 },
	{ "application/pdf",	"pdf",	"%PDF", 4, 0 },
	{ "application/zip",	"zip",	"PK\x03\x04", 4, 0 },
	{ "application/json",	"json",	"{", 1, 0 },
	{ "text/plain",		"txt",	NULL, 0, 0 },
	{ "text/html",		"html",	NULL, 0, 0 },
};

#define TYPE_ROWS	(sizeof(type_rows) / sizeof(type_rows[0]))
#define TYPE_OTHER	"application/octet-stream"

/* artifact_type() only ever returns words of the table above. */
const char *
artifact_type(const char *said, const uint8_t *head, size_t len)
{
	const struct type_row *r = NULL;
	size_t i = 0, n = 0;

	if (said != NULL) {
		n = strcspn(said, "; \t,");
		for (i = 0; i < TYPE_ROWS; i++) {
			r = &type_rows[i];
			if (strlen(r->type) == n &&
			    strncasecmp(said, r->type, n) == 0)
				return r->type;
		}
	}
	for (i = 0; i < TYPE_ROWS; i++) {
		r = &type_rows[i];
		if (r->magic != NULL && len >= r->at + r->len &&
		    memcmp(head + r->at, r->magic, r->len) == 0)
			return r->type;
	}
	return TYPE_OTHER;
}

const char *
artifact_extension(const char *type)
{
	size_t i = 0;

	for (i = 0; i < TYPE_ROWS; i++) {
		if (strcmp(type, type_rows[i].type) == 0)
			return type_rows[i].ext;
	}
	return "bin";
}
