/*
 * hold.c - the breaker and the backoff of a kind, without clock or database.
 *
 * An outage of the provider must not park a whole queue (breaker), and a
 * provider that asks for patience gets it from the whole kind (throttle).
 */
#include "supervisor/hold.h"

static void
pause_for(struct hold *h, int64_t ms, struct mono now)
{
	struct mono until = mono_add_ms(now, ms);

	if (!mono_is_set(h->paused_until) ||
	    mono_is_before(h->paused_until, until))
		h->paused_until = until;
}

/*
 * A burst of refusals that were all sent before the first came back is one
 * step of the backoff, not many.
 */
static int64_t
next_backoff(struct hold *h, struct mono now)
{
	if (h->backoff_ms == 0)
		h->backoff_ms = HOLD_BACKOFF_MIN_MS;
	else if (!hold_is_paused(h, now))
		h->backoff_ms *= 2;
	if (h->backoff_ms > HOLD_BACKOFF_MAX_MS)
		h->backoff_ms = HOLD_BACKOFF_MAX_MS;
	return h->backoff_ms;
}

bool
hold_note(struct hold *h, enum hold_note what, unsigned int breaker,
    int64_t asked_ms, struct mono now, int64_t *ret_delay_ms)
{
	*ret_delay_ms = 0;
	switch (what) {
	case HOLD_ANSWERED:
		/* An answer to what was sent before the pause ends no pause. */
		h->ambiguous = 0;
		if (!hold_is_paused(h, now))
			hold_reset(h);
		return false;
	case HOLD_AMBIGUOUS:
		h->ambiguous++;
		return breaker > 0 && h->ambiguous >= breaker;
	case HOLD_THROTTLED:
		/* An answer with sense, so the breaker's row is broken. */
		h->ambiguous = 0;
		*ret_delay_ms = asked_ms >= 0 ? asked_ms : next_backoff(h, now);
		pause_for(h, *ret_delay_ms, now);
		return false;
	case HOLD_UNREACHED:
		*ret_delay_ms = next_backoff(h, now);
		pause_for(h, *ret_delay_ms, now);
		return false;
	case HOLD_OUR_FAULT:
	default:
		return false;
	}
}

bool
hold_is_paused(const struct hold *h, struct mono now)
{
	return mono_is_set(h->paused_until) &&
	    mono_is_before(now, h->paused_until);
}

void
hold_reset(struct hold *h)
{
	h->ambiguous = 0;
	h->backoff_ms = 0;
	h->paused_until = (struct mono){ .ns = 0 };
}
