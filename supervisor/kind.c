/*
 * kind.c - kinds and pools of workers at run time.
 *
 * Owns struct kind and struct pool.  Both are known by name and live until
 * the end, so a reload never leaves a task without its kind.
 */
#include <sys/stat.h>

#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/log.h"
#include "common/mem.h"
#include "supervisor/supervisor.h"

struct kind *
kind_find(struct super *super, const char *name)
{
	struct kind *k = NULL;

	TAILQ_FOREACH(k, &super->kinds, link) {
		if (strcmp(k->name, name) == 0)
			return k;
	}
	return NULL;
}

static int
kind_add(struct super *super, const char *name)
{
	struct kind *k = mem_alloc(sizeof(*k));

	if (k == NULL)
		return PO_ENOMEM;
	k->name = mem_strdup(name);
	if (k->name == NULL) {
		mem_free(k);
		return PO_ENOMEM;
	}
	TAILQ_INSERT_TAIL(&super->kinds, k, link);
	return 0;
}

int
kind_update(struct super *super)
{
	struct kind *k = NULL;
	struct pool *p = NULL;
	size_t i = 0;
	int err = 0;

	for (i = 0; i < super->conf->nkinds && err == 0; i++)
		if (kind_find(super, super->conf->kinds[i].name) == NULL)
			err = kind_add(super, super->conf->kinds[i].name);
	if (err != 0)
		return err;
	TAILQ_FOREACH(k, &super->kinds, link) {
		k->conf = conf_find_kind(super->conf, k->name);
		k->has_more = true;
	}
	TAILQ_FOREACH(p, &super->pools, link) {
		p->stamp = pool_stamp(p);
		p->is_warned = false;
	}
	return 0;
}

unsigned int
kind_limit(const struct kind *k)
{
	return k->conf != NULL && k->conf->concurrency > 0 ?
	    (unsigned int)k->conf->concurrency : 0;
}

/*
 * How many fresh tasks of a paid kind may be claimed: one for each submit
 * worker and one more behind it, so that none waits for a claim.
 */
unsigned int
kind_submit_room(struct super *super, const struct kind *k)
{
	const struct pool *p = NULL;
	const struct child *c = NULL;
	unsigned int used = 0, room = 0;

	if (k->conf == NULL)
		return 0;
	room = 2 * (unsigned int)k->conf->submit_workers;
	TAILQ_FOREACH(p, &super->pools, link) {
		if (p->kind != k || p->role != ROLE_SUBMIT)
			continue;
		used += p->nwaiting;
		TAILQ_FOREACH(c, &p->children, pool_link)
			used += c->ntasks;
	}
	return used < room ? room - used : 0;
}

void
kind_done(struct super *super)
{
	struct kind *k = NULL;
	struct pool *p = NULL;

	while ((p = TAILQ_FIRST(&super->pools)) != NULL) {
		TAILQ_REMOVE(&super->pools, p, link);
		mem_free(p->provider);
		mem_free(p);
	}
	while ((k = TAILQ_FIRST(&super->kinds)) != NULL) {
		TAILQ_REMOVE(&super->kinds, k, link);
		mem_free(k->name);
		mem_free(k);
	}
}

static bool
is_same(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

struct pool *
pool_get(struct super *super, struct kind *k, const char *provider,
    enum worker_role role)
{
	struct pool *p = NULL;

	TAILQ_FOREACH(p, &super->pools, link) {
		if (p->kind == k && p->role == role &&
		    is_same(p->provider, provider))
			return p;
	}
	p = mem_alloc(sizeof(*p));
	if (p == NULL)
		return NULL;
	p->super = super;
	p->kind = k;
	p->role = role;
	TAILQ_INIT(&p->waiting);
	TAILQ_INIT(&p->children);
	if (provider != NULL) {
		p->provider = mem_strdup(provider);
		if (p->provider == NULL) {
			mem_free(p);
			return NULL;
		}
	}
	p->stamp = pool_stamp(p);
	TAILQ_INSERT_TAIL(&super->pools, p, link);
	return p;
}

/* How many processes the pool may have; 0: what it needs is not defined. */
unsigned int
pool_limit(const struct pool *p)
{
	const struct conf_kind *k = p->kind->conf;

	if (p->role == ROLE_EXEC)
		return k != NULL && k->command != NULL ? kind_limit(p->kind) :
		    0;
	if (p->provider == NULL ||
	    conf_find_provider(p->super->conf, p->provider) == NULL)
		return 0;
	if (p->role == ROLE_POLL)
		return 1;
	/* a kind that is gone from the files still ends what it sent */
	return k != NULL ? (unsigned int)k->submit_workers : 1;
}

/* FNV-1a: only to see that something changed, not against an enemy. */
static uint64_t
stamp_add(uint64_t h, const void *data, size_t len)
{
	const unsigned char *p = data;
	size_t i = 0;

	for (i = 0; i < len; i++)
		h = (h ^ p[i]) * UINT64_C(1099511628211);
	return h;
}

/*
 * All that a worker of the pool was told at its start: a reload that changes
 * any of it makes the pool's workers leave.  A secret counts by its file's
 * identity and time: only the workers of its provider read what is in it.
 */
uint64_t
pool_stamp(const struct pool *p)
{
	const struct conf *conf = p->super->conf;
	const struct conf_provider *cp = NULL;
	const struct conf_kind *k = p->kind->conf;
	uint64_t h = UINT64_C(14695981039346656037);
	char *path = NULL;
	size_t i = 0;
	struct stat st;
	struct buf b;

	h = stamp_add(h, &conf->lease_s, sizeof(conf->lease_s));
	h = stamp_add(h, &conf->max_artifact, sizeof(conf->max_artifact));
	h = stamp_add(h, conf->worker_path, strlen(conf->worker_path));
	if (k != NULL && p->role == ROLE_EXEC) {
		h = stamp_add(h, &k->timeout_s, sizeof(k->timeout_s));
		for (i = 0; k->command != NULL && k->command[i] != NULL; i++)
			h = stamp_add(h, k->command[i],
			    strlen(k->command[i]) + 1);
	}
	if (p->provider == NULL)
		return h;
	cp = conf_find_provider(conf, p->provider);
	buf_init(&b, LIM_DESC);
	if (cp != NULL && desc_serialize(cp->desc, &b) == 0)
		h = stamp_add(h, buf_head(&b), buf_left(&b));
	buf_done(&b);
	path = conf_secret_path(conf, p->provider);
	if (path != NULL && stat(path, &st) == 0) {
		h = stamp_add(h, &st.st_ino, sizeof(st.st_ino));
		h = stamp_add(h, &st.st_size, sizeof(st.st_size));
		h = stamp_add(h, &st.st_mtim, sizeof(st.st_mtim));
	}
	mem_free(path);
	return h;
}

void
pool_push(struct pool *p, struct task *t)
{
	t->pool = p;
	TAILQ_INSERT_TAIL(&p->waiting, t, wait_link);
	p->nwaiting++;
}

void
pool_remove(struct task *t)
{
	if (t->pool == NULL)
		return;
	TAILQ_REMOVE(&t->pool->waiting, t, wait_link);
	t->pool->nwaiting--;
	t->pool = NULL;
}
