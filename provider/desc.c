/*
 * desc.c - a provider's description as flat keys with values.
 *
 * Owns struct desc.  Must not know what the keys mean: keys.c lists them,
 * compile.c gives them a meaning.
 *
 * On the wire (to a worker of the same build, but read as if it came from
 * anywhere): "PD1" NUL, then length-prefixed strings (4 bytes, big endian):
 * name, count, and for each item key, file, line, count of values, values.
 */
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "provider/provider.h"

#define DESC_MAGIC	"PD1"
#define DESC_ITEMS_MAX	512u
#define DESC_VALUES_MAX	1024u
#define DESC_TEXT_MAX	(256u << 10)
#define DESC_LINE_MAX	100000000u

struct reader {
	const uint8_t	*at;
	size_t		 left;
	int		 rc;
};

static void	item_done(struct desc_item *);
static int	item_fill(struct desc_item *, const char *,
		    const char *const *, size_t, const char *, int);
static int	put_u32(struct buf *, size_t);
static int	put_text(struct buf *, const char *);
static uint32_t	read_u32(struct reader *, uint32_t max);
static char	*read_text(struct reader *);
static void	read_item(struct reader *, struct desc *);

int
desc_new(const char *name, struct desc **ret)
{
	struct desc *d = NULL;

	if ((d = mem_alloc(sizeof(*d))) == NULL)
		return PO_ENOMEM;
	if ((d->name = mem_strdup(name)) == NULL) {
		mem_free(d);
		return PO_ENOMEM;
	}
	*ret = d;
	return 0;
}

void
desc_free(struct desc **dp)
{
	struct desc *d = *dp;
	size_t i = 0;

	if (d == NULL)
		return;
	for (i = 0; i < d->count; i++)
		item_done(&d->items[i]);
	mem_free(d->items);
	mem_free(d->name);
	mem_free(d);
	*dp = NULL;
}

int
desc_set(struct desc *d, const char *key, const char *const *values,
    size_t nvalues, const char *file, int line)
{
	struct desc_item item = { 0 };
	struct desc_item *items = NULL;
	struct desc_item *old = (struct desc_item *)desc_find(d, key);
	int rc = 0;

	if ((rc = item_fill(&item, key, values, nvalues, file, line)) < 0) {
		item_done(&item);
		return rc;
	}
	if (old != NULL) {
		item_done(old);
		*old = item;
		return 0;
	}
	items = mem_grow(d->items, d->count + 1, sizeof(*items));
	if (items == NULL) {
		item_done(&item);
		return PO_ENOMEM;
	}
	d->items = items;
	d->items[d->count++] = item;
	return 0;
}

const struct desc_item *
desc_find(const struct desc *d, const char *key)
{
	size_t i = 0;

	for (i = 0; i < d->count; i++)
		if (strcmp(d->items[i].key, key) == 0)
			return &d->items[i];
	return NULL;
}

int
desc_merge(struct desc *d, const struct desc *over)
{
	const struct desc_item *item = NULL;
	size_t i = 0;
	int rc = 0;

	for (i = 0; rc == 0 && i < over->count; i++) {
		item = &over->items[i];
		rc = desc_set(d, item->key,
		    (const char *const *)item->values, item->nvalues,
		    item->file, item->line);
	}
	return rc;
}

int
desc_copy(const struct desc *from, struct desc **ret)
{
	struct desc *d = NULL;
	int rc = 0;

	if ((rc = desc_new(from->name, &d)) < 0)
		return rc;
	if ((rc = desc_merge(d, from)) < 0) {
		desc_free(&d);
		return rc;
	}
	*ret = d;
	return 0;
}

int
desc_serialize(const struct desc *d, struct buf *out)
{
	const struct desc_item *item = NULL;
	size_t i = 0, k = 0;
	int rc = buf_put(out, DESC_MAGIC, sizeof(DESC_MAGIC));

	if (rc == 0)
		rc = put_text(out, d->name);
	if (rc == 0)
		rc = put_u32(out, d->count);
	for (i = 0; rc == 0 && i < d->count; i++) {
		item = &d->items[i];
		rc = put_text(out, item->key);
		if (rc == 0)
			rc = put_text(out, item->file != NULL ?
			    item->file : "");
		if (rc == 0)
			rc = put_u32(out, (size_t)item->line);
		if (rc == 0)
			rc = put_u32(out, item->nvalues);
		for (k = 0; rc == 0 && k < item->nvalues; k++)
			rc = put_text(out, item->values[k]);
	}
	return rc;
}

int
desc_deserialize(const void *data, size_t len, struct desc **ret)
{
	struct reader r = { .at = data, .left = len };
	struct desc *d = NULL;
	char *name = NULL;
	uint32_t count = 0;

	if (len < sizeof(DESC_MAGIC) ||
	    memcmp(data, DESC_MAGIC, sizeof(DESC_MAGIC)) != 0)
		return PO_EINVAL;
	r.at += sizeof(DESC_MAGIC);
	r.left -= sizeof(DESC_MAGIC);
	name = read_text(&r);
	count = read_u32(&r, DESC_ITEMS_MAX);
	if (r.rc == 0)
		r.rc = desc_new(name, &d);
	mem_free(name);
	for (; r.rc == 0 && count > 0; count--)
		read_item(&r, d);
	if (r.rc == 0 && r.left != 0)
		r.rc = PO_EINVAL;
	if (r.rc < 0) {
		desc_free(&d);
		return r.rc;
	}
	*ret = d;
	return 0;
}

static void
item_done(struct desc_item *item)
{
	size_t i = 0;

	for (i = 0; i < item->nvalues; i++)
		mem_free(item->values[i]);
	mem_free(item->values);
	mem_free(item->key);
	mem_free(item->file);
}

static int
item_fill(struct desc_item *item, const char *key, const char *const *values,
    size_t nvalues, const char *file, int line)
{
	item->line = line;
	if ((item->key = mem_strdup(key)) == NULL)
		return PO_ENOMEM;
	if (file != NULL && (item->file = mem_strdup(file)) == NULL)
		return PO_ENOMEM;
	if ((item->values = mem_array(nvalues + 1,
	    sizeof(*item->values))) == NULL)
		return PO_ENOMEM;
	for (; item->nvalues < nvalues; item->nvalues++)
		if ((item->values[item->nvalues] =
		    mem_strdup(values[item->nvalues])) == NULL)
			return PO_ENOMEM;
	return 0;
}

static int
put_u32(struct buf *out, size_t value)
{
	uint8_t b[4];

	if (value > UINT32_MAX)
		return PO_ERANGE;
	b[0] = (uint8_t)(value >> 24);
	b[1] = (uint8_t)(value >> 16);
	b[2] = (uint8_t)(value >> 8);
	b[3] = (uint8_t)value;
	return buf_put(out, b, sizeof(b));
}

static int
put_text(struct buf *out, const char *text)
{
	size_t len = strlen(text);
	int rc = put_u32(out, len);

	return rc < 0 ? rc : buf_put(out, text, len);
}

static uint32_t
read_u32(struct reader *r, uint32_t max)
{
	uint32_t value = 0;

	if (r->rc == 0 && r->left < 4)
		r->rc = PO_EINVAL;
	if (r->rc < 0)
		return 0;
	value = (uint32_t)r->at[0] << 24 | (uint32_t)r->at[1] << 16 |
	    (uint32_t)r->at[2] << 8 | r->at[3];
	r->at += 4;
	r->left -= 4;
	if (value > max) {
		r->rc = PO_EINVAL;
		return 0;
	}
	return value;
}

static char *
read_text(struct reader *r)
{
	uint32_t len = read_u32(r, DESC_TEXT_MAX);
	char *text = NULL;

	if (r->rc == 0 && (len > r->left || memchr(r->at, 0, len) != NULL))
		r->rc = PO_EINVAL;
	if (r->rc < 0)
		return NULL;
	if ((text = mem_strndup((const char *)r->at, len)) == NULL) {
		r->rc = PO_ENOMEM;
		return NULL;
	}
	r->at += len;
	r->left -= len;
	return text;
}

static void
read_item(struct reader *r, struct desc *d)
{
	char *key = read_text(r);
	char *file = read_text(r);
	int line = (int)read_u32(r, DESC_LINE_MAX);
	uint32_t count = read_u32(r, DESC_VALUES_MAX), i = 0;
	char **values = NULL;

	/* each value has a length of 4 bytes: a count cannot lie for free */
	if (r->rc == 0 && (count > r->left / 4 || key[0] == '\0' ||
	    desc_find(d, key) != NULL))
		r->rc = PO_EINVAL;
	if (r->rc == 0 &&
	    (values = mem_array(count + 1, sizeof(*values))) == NULL)
		r->rc = PO_ENOMEM;
	for (i = 0; r->rc == 0 && i < count; i++)
		values[i] = read_text(r);
	if (r->rc == 0)
		r->rc = desc_set(d, key, (const char *const *)values, count,
		    file[0] != '\0' ? file : NULL, line);
	for (i = 0; values != NULL && values[i] != NULL; i++)
		mem_free(values[i]);
	mem_free(values);
	mem_free(key);
	mem_free(file);
}
