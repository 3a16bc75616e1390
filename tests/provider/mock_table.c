/*
 * mock_table.c - a hash table from two words to a pointer.
 *
 * Open addressing, grows by doubling, nothing is ever removed: the ledger
 * only grows.  The values belong to the caller.
 */
#include "common/err.h"
#include "common/mem.h"
#include "tests/provider/mock.h"

#define TABLE_CAP_MIN	1024

static uint64_t
table_hash(uint64_t a, uint64_t b)
{
	uint64_t h = a * 0x9e3779b97f4a7c15u ^ (b + 0x7f4a7c15u);

	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93u;
	return h ^ h >> 32;
}

static struct table_slot *
table_seek(struct table_slot *slots, size_t cap, uint64_t a, uint64_t b)
{
	size_t at = table_hash(a, b) & (cap - 1);

	while (slots[at].value != NULL &&
	    (slots[at].a != a || slots[at].b != b))
		at = (at + 1) & (cap - 1);
	return &slots[at];
}

void *
table_get(const struct table *table, uint64_t a, uint64_t b)
{
	if (table->cap == 0)
		return NULL;
	return table_seek(table->slots, table->cap, a, b)->value;
}

static int
table_widen(struct table *table)
{
	size_t cap = table->cap == 0 ? TABLE_CAP_MIN : table->cap * 2;
	struct table_slot *slots, *old = table->slots;
	size_t i;

	slots = mem_array(cap, sizeof(*slots));
	if (slots == NULL)
		return PO_ENOMEM;
	for (i = 0; i < table->cap; i++)
		if (old[i].value != NULL)
			*table_seek(slots, cap, old[i].a, old[i].b) = old[i];
	mem_free(old);
	table->slots = slots;
	table->cap = cap;
	return 0;
}

int
table_put(struct table *table, uint64_t a, uint64_t b, void *value)
{
	struct table_slot *slot;

	if (table->count >= table->cap / 2 && table_widen(table) != 0)
		return PO_ENOMEM;
	slot = table_seek(table->slots, table->cap, a, b);
	if (slot->value == NULL)
		table->count++;
	slot->a = a;
	slot->b = b;
	slot->value = value;
	return 0;
}

void
table_done(struct table *table)
{
	mem_free(table->slots);
	table->slots = NULL;
	table->cap = table->count = 0;
}
