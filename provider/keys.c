/*
 * keys.c - the keys of a provider file; see keys.h.
 */
#include "provider/keys.h"

#include <string.h>

#define ONE(name)	{ name, false, KEY_USED }
#define LIST(name)	{ name, true, KEY_USED }
#define LATER(name)	{ name, false, KEY_LATER }
#define LATER_LIST(name) { name, true, KEY_LATER }
#define REFUSED(name)	{ name, false, KEY_REFUSED }
#define REFUSED_LIST(name) { name, true, KEY_REFUSED }

#define NEAR_LEN_MAX	40

const struct provider_key provider_keys[] = {
	ONE("base"), LIST("header"), LIST("key_hosts"), LIST("hosts"),
	LIST("vars"), REFUSED_LIST("token"), LATER("token_ttl"), ONE("own"),
	REFUSED("sign"),

	ONE("submit.method"), ONE("submit.url"), LIST("submit.header"),
	ONE("submit.body"), REFUSED_LIST("submit.form"),
	ONE("submit.timeout"), ONE("submit.max_body"), ONE("submit.sync"),
	LIST("submit.accept"), LIST("submit.accept_if"),
	LIST("submit.duplicate_if"),
	LIST("submit.account"), LIST("submit.account_if"),
	LIST("submit.throttled"), LIST("submit.throttled_if"),
	LIST("submit.rejected"), LIST("submit.rejected_if"),
	LIST("submit.id"), ONE("submit.id_own"), LIST("submit.save"),
	LIST("submit.trace"), LIST("submit.retry_after"),
	LIST("submit.error"),

	ONE("idempotency.ttl"), ONE("idempotency.replay"),

	ONE("poll.method"), LIST("poll.url"), LIST("poll.header"),
	ONE("poll.body"), ONE("poll.timeout"), ONE("poll.interval"),
	ONE("poll.interval_max"), ONE("poll.max_body"),
	LIST("poll.status"), LIST("poll.pending"), LIST("poll.pending_if"),
	LIST("poll.done"), LIST("poll.done_if"),
	LIST("poll.failed"), LIST("poll.failed_if"),
	LIST("poll.canceled"), LIST("poll.canceled_if"),
	LIST("poll.gone"), LIST("poll.gone_if"), LIST("poll.park_if"),
	LIST("poll.progress"), ONE("poll.progress_scale"),
	LIST("poll.error"), LIST("poll.retry_after"),

	LIST("result.url"), LIST("result.header"), ONE("result.timeout"),
	ONE("result.max_body"), LIST("result.done_if"),
	LIST("result.pending_if"), LIST("result.failed_if"),
	LIST("result.gone_if"), LIST("result.artifact"),
	ONE("result.artifact_key"), LATER("result.mime"), ONE("result.min"),
	ONE("result.fetch_within"), LATER("result.expires"),
	LIST("result.error"), REFUSED_LIST("result.hop.url"),
	REFUSED_LIST("result.hop.save"),

	ONE("cost.at"), LIST("cost.value"), ONE("cost.scale"),
	ONE("cost.in"), LIST("cost.unit_price"), ONE("cost.currency"),
	LIST("cost.part"),

	LATER("quote.method"), LATER("quote.url"), LATER("quote.body"),
	LATER("quote.value"), LATER("quote.unit_price"),
	LATER("quote.units"), LATER("quote.scale"), LATER("quote.upper"),
	LATER("quote.currency"), LATER("quote.cache"),
	LATER("quote.same_url"),

	LATER("cancel.method"), LATER_LIST("cancel.url"),
	LATER("cancel.body"), LATER_LIST("cancel.done_if"),
	LATER_LIST("cancel.too_late_if"),

	ONE("find.by"), LIST("find.url"), LATER("find.row"),
	LATER_LIST("find.match"), LATER("find.match_on"), LIST("find.id"),
	LATER("find.next"), LATER("find.next_query"), LATER("find.settle"),
	ONE("find.keep"), LATER("find.advice")
};

const size_t provider_keys_count =
    sizeof(provider_keys) / sizeof(provider_keys[0]);

static size_t	key_distance(const char *, const char *);

const struct provider_key *
provider_key_find(const char *name)
{
	size_t i = 0;

	for (i = 0; i < provider_keys_count; i++)
		if (strcmp(provider_keys[i].name, name) == 0)
			return &provider_keys[i];
	return NULL;
}

const char *
key_nearest(const char *wrong, const char *const *names, size_t count)
{
	const char *best = NULL;
	size_t least = strlen(wrong) / 2 + 1;	/* further away is no help */
	size_t i = 0, distance = 0;

	for (i = 0; i < count; i++) {
		distance = key_distance(wrong, names[i]);
		if (distance < least) {
			least = distance;
			best = names[i];
		}
	}
	return best;
}

/* The number of letters to add, take away or change (Levenshtein). */
static size_t
key_distance(const char *a, const char *b)
{
	size_t row[NEAR_LEN_MAX + 1];
	size_t alen = strlen(a), blen = strlen(b);
	size_t i = 0, k = 0, corner = 0, above = 0, best = 0;

	if (alen > NEAR_LEN_MAX || blen > NEAR_LEN_MAX)
		return NEAR_LEN_MAX;
	for (k = 0; k <= blen; k++)
		row[k] = k;
	for (i = 1; i <= alen; i++) {
		corner = row[0];
		row[0] = i;
		for (k = 1; k <= blen; k++) {
			above = row[k];
			best = corner + (a[i - 1] != b[k - 1]);
			if (above + 1 < best)
				best = above + 1;
			if (row[k - 1] + 1 < best)
				best = row[k - 1] + 1;
			corner = above;
			row[k] = best;
		}
	}
	return row[blen];
}
