/*
 * mock_route.c - which room a request belongs to.
 *
 * Decides at the head whether it is a submit (its row begins there), whether
 * the key is right and whether an outage eats it.
 */
#include <stdio.h>
#include <string.h>

#include "tests/provider/mock.h"

static bool
route_is_under(const struct conn *conn, const char *prefix)
{
	return strncmp(conn->req.path, prefix, strlen(prefix)) == 0;
}

/* fal wants "Key K", Replicate "Bearer K"; a file's URL is its own right. */
static bool
route_is_allowed(const struct conn *conn)
{
	const char *scheme;

	if (mock.key[0] == '\0' || conn->is_foreign)
		return true;
	if (route_is_under(conn, "/fal/"))
		scheme = "Key ";
	else if (route_is_under(conn, "/replicate/"))
		scheme = "Bearer ";
	else
		return true;
	return strncmp(conn->req.auth, scheme, strlen(scheme)) == 0 &&
	    strcmp(conn->req.auth + strlen(scheme), mock.key) == 0;
}

static enum force
route_force(struct conn *conn)
{
	if (conn->drops_next)
		return FORCE_DROP_IDLE;
	if (mock.outage == OUTAGE_HANG)
		return FORCE_HANG;
	if (mock.outage == OUTAGE_503)
		return FORCE_503;
	return route_is_allowed(conn) ? FORCE_NONE : FORCE_401;
}

void
route_head(struct conn *conn)
{
	const char *model;
	enum shape shape = SHAPE_FAL;
	size_t len = 0;

	conn->force = FORCE_NONE;
	if (route_is_under(conn, "/_mock/"))
		return;
	if (mock.outage == OUTAGE_REFUSE) {
		conn_drop(conn, true);	/* an old connection */
		return;
	}
	conn->force = route_force(conn);
	model = fal_submit_model(&conn->req, &len);
	if (model == NULL) {
		shape = SHAPE_REPLICATE;
		model = replicate_submit_model(&conn->req, &len);
	}
	if (model != NULL)
		submit_begin(conn, shape, model, len);
	else if (conn->force == FORCE_DROP_IDLE)
		conn_drop(conn, false);
}

void
route_body(struct conn *conn)
{
	if (conn->row != NULL)
		submit_body(conn);
	else if (conn->force == FORCE_HANG)
		conn_hold(conn);
	else if (conn->force == FORCE_503)
		answer_error(conn, 503, "outage");
	else if (conn->force == FORCE_401)
		answer_error(conn, 401, "no such key");
	else if (route_is_under(conn, "/_mock/"))
		admin_route(conn);
	else if (route_is_under(conn, "/fal/"))
		fal_route(conn);
	else if (route_is_under(conn, "/replicate/"))
		replicate_route(conn);
	else if (route_is_under(conn, "/files/"))
		file_route(conn);
	else
		answer_error(conn, 404, "there is nothing at this path");
}
