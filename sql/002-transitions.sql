-- 002-transitions.sql - the set-based functions of the supervisor.
--
-- Each one takes parallel arrays, locks its rows in id order, changes those
-- whose lease token and status fit, leaves one event per change, and returns
-- the ids that hold the wanted effect afterwards.  An element whose effect is
-- on the row already (the batch was sent twice) is returned and changes
-- nothing; mark_submit_started is the exception: a second mark never wins.
--
-- The planner is told once to walk by index from the arrays: a plan that was
-- cached while the table was small must not scan it when it has grown.  For
-- the same reason a test of the status hides in CASE where the row is found by
-- its id: else the planner may walk a small partial index instead.

-- Text from a provider must never cost a paid result: what is no JSON for
-- PostgreSQL (a \u0000 in it, a lone surrogate) is kept as text.
CREATE FUNCTION payonce.safe_jsonb(p_text text) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	RETURN p_text::jsonb;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
	RETURN jsonb_build_object('unreadable_json', p_text);
END $$;

-- settle() lets go what waited for these parents: a child whose parents have
-- all SUCCEEDED becomes PENDING; every descendant of a FAILED or CANCELED one
-- is CANCELED.  It reads only rows, so a repeat does no harm.  The waiting
-- rows are locked in id order before they are judged by a new snapshot: of
-- two parents that end at the same time, the later one sees both.
-- p_wait false: when somebody holds one of the rows, do nothing; false is
-- returned then.
CREATE FUNCTION payonce.settle(p_host text, p_parents bigint[],
    p_kids bigint[], p_wait boolean) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
	v_doomed	bigint[];
	v_all		bigint[];
	v_locked	int;
BEGIN
	WITH RECURSIVE down AS (
		SELECT d.child
		  FROM payonce.generation_task p
		  JOIN payonce.task_dep d ON d.parent = p.id
		 WHERE p.id = ANY (p_parents)
		   AND p.status IN ('FAILED', 'CANCELED')
		UNION
		SELECT d.child
		  FROM down
		  JOIN payonce.generation_task t ON t.id = down.child
		   AND t.status = 'WAITING'
		  JOIN payonce.task_dep d ON d.parent = t.id)
	SELECT array_agg(down.child) INTO v_doomed FROM down;

	SELECT array_agg(s.id ORDER BY s.id) INTO v_all FROM (
		SELECT t.id FROM payonce.generation_task t
		 WHERE t.status = 'WAITING' AND t.id IN (
			SELECT unnest(v_doomed)
			UNION SELECT unnest(p_kids)
			UNION SELECT d.child FROM payonce.task_dep d
			 WHERE d.parent = ANY (p_parents))) s;
	IF v_all IS NULL THEN
		RETURN true;
	END IF;

	IF p_wait THEN
		PERFORM 1 FROM payonce.generation_task t
		  WHERE t.id = ANY (v_all) AND t.status = 'WAITING'
		  ORDER BY t.id FOR NO KEY UPDATE;
	ELSE
		SELECT count(*) INTO v_locked FROM (
			SELECT 1 FROM payonce.generation_task t
			 WHERE t.id = ANY (v_all) AND t.status = 'WAITING'
			 ORDER BY t.id FOR NO KEY UPDATE SKIP LOCKED) s;
		IF v_locked <> cardinality(v_all) THEN
			RETURN false;
		END IF;
	END IF;

	WITH upd AS (
		UPDATE payonce.generation_task t
		   SET status = 'CANCELED', reason = 'parent_failed',
		       detail = (SELECT format('task %s, which this one waits '
				    'for, ended as %s', p.id,
				    CASE WHEN p.status = 'FAILED' THEN 'FAILED'
				    ELSE 'CANCELED' END)
				   FROM payonce.task_dep d
				   JOIN payonce.generation_task p
				     ON p.id = d.parent
				  WHERE d.child = t.id
				    AND (p.status IN ('FAILED', 'CANCELED')
				     OR p.id = ANY (v_doomed))
				  ORDER BY p.id LIMIT 1),
		       finished_at = clock_timestamp(),
		       updated_at = clock_timestamp(), recheck_xid = NULL
		 WHERE t.id = ANY (v_doomed) AND t.status = 'WAITING'
		RETURNING t.id, t.attempt, t.reason, t.detail)
	INSERT INTO payonce.task_event (task_id, attempt, from_status,
	    to_status, reason, detail, host)
	SELECT u.id, u.attempt, 'WAITING', 'CANCELED', u.reason, u.detail,
	    p_host FROM upd u;

	WITH upd AS (
		UPDATE payonce.generation_task t
		   SET status = 'PENDING', recheck_xid = NULL,
		       due = t.run_at <= clock_timestamp(),
		       updated_at = clock_timestamp()
		 WHERE t.id = ANY (v_all) AND t.status = 'WAITING'
		   AND NOT EXISTS (
			SELECT 1 FROM payonce.task_dep d
			  JOIN payonce.generation_task p ON p.id = d.parent
			 WHERE d.child = t.id AND p.status <> 'SUCCEEDED')
		RETURNING t.id, t.attempt)
	INSERT INTO payonce.task_event (task_id, attempt, from_status,
	    to_status, reason, host)
	SELECT u.id, u.attempt, 'WAITING', 'PENDING', 'parents_succeeded',
	    p_host FROM upd u;
	RETURN true;
END $$;

-- settle_sweep() finds the children that their parents' end could not see,
-- because enqueue() had not committed yet (it locks no parent: an
-- application's open transaction must not hold up the supervisor).  A child
-- is judged when it is first seen, and once more when every transaction that
-- wrote at that moment has ended; after that all parents' ends see it.
CREATE FUNCTION payonce.settle_sweep(p_host text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
	v_kids		bigint[];
	v_again		bigint[];
	v_parents	bigint[];
	v_next		xid8;
BEGIN
	SELECT array_agg(s.id), array_agg(s.id) FILTER (WHERE s.is_new),
	    max(s.next_xid)
	  INTO v_kids, v_again, v_next FROM (
		SELECT t.id, t.recheck_xid = '0' AS is_new,
		    pg_snapshot_xmax(pg_current_snapshot()) AS next_xid
		  FROM payonce.generation_task t
		 WHERE t.status = 'WAITING' AND t.recheck_xid <=
			(SELECT pg_snapshot_xmin(pg_current_snapshot()))
		 ORDER BY t.recheck_xid LIMIT 500) s;
	IF v_kids IS NULL THEN
		RETURN;
	END IF;
	SELECT array_agg(DISTINCT d.parent) INTO v_parents
	  FROM payonce.task_dep d WHERE d.child = ANY (v_kids);
	IF payonce.settle(p_host, v_parents, v_kids, false) THEN
		UPDATE payonce.generation_task t
		   SET recheck_xid = CASE WHEN t.id = ANY (v_again)
			THEN v_next END
		 WHERE t.id = ANY (v_kids) AND t.status = 'WAITING';
	END IF;
END $$;

-- After this returns, each row returned belongs to p_owner until its lease
-- ends, and to nobody else.  It waits for no lock.  At most p_limits[i] rows
-- of p_kinds[i]: the rows are picked in LATERAL subqueries that run once per
-- kind, inside MATERIALIZED parts (a bare IN (... LIMIT n) can lock more).
CREATE FUNCTION payonce.claim(p_owner text, p_kinds text[],
    p_providers text[], p_models text[], p_limits int[], p_lease_s int,
    p_expired boolean)
RETURNS TABLE (id bigint, lease_token bigint, status text,
    was_expired boolean, kind text, provider text, model text, attempt int,
    requeues int, is_marked boolean, remote_request_id text, poll_url text,
    result_url text, cancel_url text, own_id text, idempotency_key text,
    idem_window int, lookup_window int, poll_left_ms bigint,
    fetch_left_ms bigint, has_result boolean, result text, input text,
    parents text, cancel_requested boolean)
LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
	v_now	timestamptz;
BEGIN
	IF p_expired THEN
		PERFORM payonce.settle_sweep(p_owner);
	END IF;
	v_now := clock_timestamp();

	UPDATE payonce.generation_task t SET due = true
	  FROM (SELECT s.id FROM unnest(p_kinds) AS k(kind)
		 CROSS JOIN LATERAL (
			SELECT r.id FROM payonce.generation_task r
			 WHERE r.kind = k.kind AND r.status = 'PENDING'
			   AND NOT r.due AND r.run_at <= v_now
			 ORDER BY r.run_at LIMIT 1000
			   FOR NO KEY UPDATE SKIP LOCKED) s) ripe
	 WHERE t.id = ripe.id;

	RETURN QUERY
	WITH k AS MATERIALIZED (
		SELECT DISTINCT ON (u.kind) u.kind, u.provider, u.model,
		    u.lim, h.kind IS NOT NULL AS is_held
		  FROM unnest(p_kinds, p_providers, p_models, p_limits)
			AS u(kind, provider, model, lim)
		  LEFT JOIN payonce.kind_hold h ON h.kind = u.kind
		 WHERE u.lim > 0
		 ORDER BY u.kind),
	old AS MATERIALIZED (
		SELECT e.id, k.kind, k.provider, k.model
		  FROM k CROSS JOIN LATERAL (
			SELECT t.id FROM payonce.generation_task t
			 WHERE t.kind = k.kind
			   AND t.status IN ('RUNNING', 'SUBMITTED')
			   AND (t.lease_expires_at IS NULL
			    OR t.lease_expires_at <= v_now)
			 ORDER BY t.id LIMIT k.lim
			   FOR NO KEY UPDATE SKIP LOCKED) e
		 WHERE p_expired),
	fresh AS MATERIALIZED (
		SELECT e.id, k.kind, k.provider, k.model
		  FROM k CROSS JOIN LATERAL (
			SELECT t.id FROM payonce.generation_task t
			 WHERE t.kind = k.kind
			   AND t.status = 'PENDING' AND t.due
			 ORDER BY t.priority, t.id
			-- An expired row that is locked just now keeps its
			-- place: the kind's limit counts it.
			 LIMIT k.lim - (SELECT count(*) FROM (
				SELECT x.id FROM payonce.generation_task x
				 WHERE p_expired AND x.kind = k.kind
				   AND x.status IN ('RUNNING', 'SUBMITTED')
				   AND (x.lease_expires_at IS NULL
				    OR x.lease_expires_at <= v_now)
				 LIMIT k.lim) due)
			   FOR NO KEY UPDATE SKIP LOCKED) e
		 WHERE NOT k.is_held),
	got AS MATERIALIZED (
		SELECT old.id, old.provider, old.model, true AS was_expired
		  FROM old
		UNION ALL
		SELECT fresh.id, fresh.provider, fresh.model, false
		  FROM fresh),
	upd AS (
		UPDATE payonce.generation_task t
		   SET status = CASE WHEN t.status = 'PENDING' THEN 'RUNNING'
			ELSE t.status END,
		       lease_owner = p_owner,
		       lease_token = nextval('payonce.lease_token_seq'),
		       lease_expires_at =
			v_now + p_lease_s * interval '1 second',
		       provider = coalesce(t.provider, g.provider),
		       model = coalesce(t.model, g.model),
		       own_id = CASE WHEN t.own_id IS NULL
			AND t.submit_started_at IS NULL
			AND coalesce(t.provider, g.provider) IS NOT NULL
			THEN gen_random_uuid()::text ELSE t.own_id END,
		       updated_at = v_now
		  FROM got g
		 WHERE t.id = g.id
		RETURNING t.*, g.was_expired),
	ev AS (
		INSERT INTO payonce.task_event (task_id, attempt, from_status,
		    to_status, reason, host)
		SELECT u.id, u.attempt, CASE WHEN u.was_expired THEN u.status
		    ELSE 'PENDING' END, u.status, CASE WHEN u.was_expired
		    THEN 'recovered' ELSE 'claimed' END, p_owner
		  FROM upd u)
	SELECT u.id, u.lease_token, u.status::text, u.was_expired, u.kind,
	    u.provider, u.model, u.attempt, u.requeues,
	    u.submit_started_at IS NOT NULL, u.remote_request_id, u.poll_url,
	    u.result_url, u.cancel_url, u.own_id, u.idempotency_key,
	    CASE WHEN u.idempotency_key IS NULL THEN 0
		WHEN u.idempotency_expires_at > v_now THEN 1 ELSE 2 END,
	    CASE WHEN u.lookup_until IS NULL THEN 0
		WHEN u.lookup_until > v_now THEN 1 ELSE 2 END,
	    CASE WHEN u.poll_deadline_at IS NOT NULL THEN greatest(0,
		extract(epoch FROM u.poll_deadline_at - v_now)
		* 1000)::bigint END,
	    CASE WHEN u.fetch_before IS NOT NULL THEN greatest(0,
		extract(epoch FROM u.fetch_before - v_now) * 1000)::bigint
		END,
	    u.result IS NOT NULL, u.result::text, u.input::text,
	    CASE WHEN u.parent_count > 0 THEN (
		SELECT jsonb_agg(jsonb_build_object('id', p.id, 'kind', p.kind,
		    'status', p.status, 'result', p.result)
		    ORDER BY d.ord)::text
		  FROM payonce.task_dep d
		  JOIN payonce.generation_task p ON p.id = d.parent
		 WHERE d.child = u.id) END,
	    u.cancel_requested_at IS NOT NULL
	  FROM upd u
	 ORDER BY u.was_expired DESC, u.priority, u.id;
END $$;

-- Renews what is still held.  An expired lease is lost, even while nobody has
-- claimed the row yet.  No indexed column changes: a HOT update.
CREATE FUNCTION payonce.renew(p_owner text, p_ids bigint[], p_tokens bigint[],
    p_lease_s int) RETURNS TABLE (id bigint, cancel_requested boolean)
LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
	v_now	timestamptz := clock_timestamp();
BEGIN
	RETURN QUERY
	WITH won AS MATERIALIZED (
		SELECT t.id
		  FROM unnest(p_ids, p_tokens) AS a(id, token)
		  JOIN payonce.generation_task t ON t.id = a.id
		   AND t.lease_token = a.token
		 WHERE CASE WHEN t.status IN ('RUNNING', 'SUBMITTED')
			THEN t.lease_expires_at > v_now END
		 ORDER BY t.id FOR NO KEY UPDATE OF t)
	UPDATE payonce.generation_task t
	   SET lease_expires_at = v_now + p_lease_s * interval '1 second'
	  FROM won w
	 WHERE t.id = w.id
	RETURNING t.id, t.cancel_requested_at IS NOT NULL;
END $$;

-- Law 2.  After the commit of this, exactly the winner may send exactly one
-- request.  No repeat wins: a caller that lost the answer reads the row back
-- or treats the attempt as sent.
CREATE FUNCTION payonce.mark_submit_started(p_owner text, p_ids bigint[],
    p_tokens bigint[], p_idem_ttl_s int[], p_lookup_s int[],
    p_estimates text[], p_currencies text[]) RETURNS SETOF bigint
LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
	v_now	timestamptz := clock_timestamp();
BEGIN
	RETURN QUERY
	WITH won AS MATERIALIZED (
		SELECT t.id, a.idem_ttl_s, a.lookup_s, a.estimate, a.currency
		  FROM unnest(p_ids, p_tokens, p_idem_ttl_s, p_lookup_s,
			p_estimates, p_currencies) AS a(id, token, idem_ttl_s,
			lookup_s, estimate, currency)
		  JOIN payonce.generation_task t ON t.id = a.id
		   AND t.lease_token = a.token
		 WHERE CASE WHEN t.status = 'RUNNING' THEN
			t.submit_started_at IS NULL
			AND t.lease_expires_at > clock_timestamp()
			AND t.cancel_requested_at IS NULL
			AND t.provider IS NOT NULL
			AND t.own_id IS NOT NULL END
		 ORDER BY t.id FOR NO KEY UPDATE OF t),
	upd AS (
		UPDATE payonce.generation_task t
		   SET submit_started_at = v_now,
		       idempotency_key = CASE WHEN w.idem_ttl_s > 0
			THEN t.own_id END,
		       idempotency_expires_at = CASE WHEN w.idem_ttl_s > 0
			THEN v_now + w.idem_ttl_s * interval '1 second' END,
		       lookup_until = CASE WHEN w.lookup_s > 0
			THEN v_now + w.lookup_s * interval '1 second' END,
		       cost_estimated = coalesce(t.cost_estimated,
			w.estimate::numeric),
		       currency = coalesce(t.currency, w.currency),
		       reason = NULL, detail = NULL, updated_at = v_now
		  FROM won w
		 WHERE t.id = w.id
		RETURNING t.id, t.attempt),
	ev AS (
		INSERT INTO payonce.task_event (task_id, attempt, from_status,
		    to_status, reason, host)
		SELECT u.id, u.attempt, 'RUNNING', 'RUNNING', 'marked', p_owner
		  FROM upd u)
	SELECT u.id FROM upd u;
END $$;

-- Law 7: the request id is on the row from here on, and polls only.
CREATE FUNCTION payonce.record_submitted(p_owner text, p_ids bigint[],
    p_tokens bigint[], p_request_ids text[], p_poll_urls text[],
    p_result_urls text[], p_cancel_urls text[], p_poll_deadline_s int[],
    p_costs text[], p_currencies text[]) RETURNS SETOF bigint
LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
	v_now	timestamptz := clock_timestamp();
BEGIN
	RETURN QUERY
	WITH won AS MATERIALIZED (
		SELECT t.id, t.status AS was, a.request_id, a.poll_url,
		    a.result_url, a.cancel_url, a.deadline_s, a.cost,
		    a.currency
		  FROM unnest(p_ids, p_tokens, p_request_ids, p_poll_urls,
			p_result_urls, p_cancel_urls, p_poll_deadline_s,
			p_costs, p_currencies) AS a(id, token, request_id,
			poll_url, result_url, cancel_url, deadline_s, cost,
			currency)
		  JOIN payonce.generation_task t ON t.id = a.id
		   AND t.lease_token = a.token
		 WHERE CASE t.status WHEN 'RUNNING' THEN a.request_id <> ''
			AND t.submit_started_at IS NOT NULL
		    WHEN 'SUBMITTED' THEN
			t.remote_request_id = a.request_id END
		 ORDER BY t.id FOR NO KEY UPDATE OF t),
	upd AS (
		UPDATE payonce.generation_task t
		   SET status = 'SUBMITTED', remote_request_id = w.request_id,
		       submitted_at = v_now, poll_url = w.poll_url,
		       result_url = w.result_url, cancel_url = w.cancel_url,
		       poll_deadline_at =
			v_now + w.deadline_s * interval '1 second',
		       cost_actual = coalesce(w.cost::numeric, t.cost_actual),
		       currency = coalesce(w.currency, t.currency),
		       updated_at = v_now
		  FROM won w
		 WHERE t.id = w.id AND w.was = 'RUNNING'
		RETURNING t.id, t.attempt, t.remote_request_id),
	ev AS (
		INSERT INTO payonce.task_event (task_id, attempt, from_status,
		    to_status, reason, detail, host)
		SELECT u.id, u.attempt, 'RUNNING', 'SUBMITTED', 'accepted',
		    'request id ' || u.remote_request_id, p_owner FROM upd u)
	SELECT w.id FROM won w;
END $$;

-- Law 7: the result is safe before anything else happens with it.
CREATE FUNCTION payonce.record_result(p_owner text, p_ids bigint[],
    p_tokens bigint[], p_results text[], p_costs text[],
    p_currencies text[], p_fetch_ms bigint[]) RETURNS SETOF bigint
LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
	v_now	timestamptz := clock_timestamp();
BEGIN
	RETURN QUERY
	WITH arg AS MATERIALIZED (
		SELECT a.id, a.token, payonce.safe_jsonb(a.result) AS result,
		    a.cost::numeric AS cost, a.currency, a.fetch_ms
		  FROM unnest(p_ids, p_tokens, p_results, p_costs,
			p_currencies, p_fetch_ms) AS a(id, token, result, cost,
			currency, fetch_ms)
		 WHERE a.result IS NOT NULL),
	won AS MATERIALIZED (
		SELECT t.id, a.result, a.cost, a.currency, a.fetch_ms,
		    (t.result = a.result AND (a.cost IS NULL
			OR t.cost_actual = a.cost)) IS TRUE AS is_known
		  FROM arg a
		  JOIN payonce.generation_task t ON t.id = a.id
		   AND t.lease_token = a.token
		 WHERE CASE WHEN t.status IN ('RUNNING', 'SUBMITTED') THEN
			t.submit_started_at IS NOT NULL
			OR t.provider IS NULL END
		 ORDER BY t.id FOR NO KEY UPDATE OF t),
	upd AS (
		UPDATE payonce.generation_task t
		   SET result = w.result,
		       cost_actual = coalesce(w.cost, t.cost_actual),
		       currency = coalesce(w.currency, t.currency),
		       fetch_before =
			v_now + w.fetch_ms * interval '1 millisecond',
		       updated_at = v_now
		  FROM won w
		 WHERE t.id = w.id AND NOT w.is_known
		RETURNING t.id, t.attempt, t.status),
	ev AS (
		INSERT INTO payonce.task_event (task_id, attempt, from_status,
		    to_status, reason, host)
		SELECT u.id, u.attempt, u.status, u.status, 'result_saved',
		    p_owner FROM upd u)
	SELECT w.id FROM won w;
END $$;

-- Progress is for people: no event, but a new note leaves one.
CREATE FUNCTION payonce.record_progress(p_owner text, p_ids bigint[],
    p_tokens bigint[], p_permille int[], p_notes text[])
RETURNS SETOF bigint
LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
BEGIN
	RETURN QUERY
	WITH won AS MATERIALIZED (
		SELECT t.id, a.permille, a.note,
		    a.note IS NOT NULL AND t.progress_note
			IS DISTINCT FROM a.note AS is_new
		  FROM unnest(p_ids, p_tokens, p_permille, p_notes)
			AS a(id, token, permille, note)
		  JOIN payonce.generation_task t ON t.id = a.id
		   AND t.lease_token = a.token
		 WHERE CASE WHEN t.status IN ('RUNNING', 'SUBMITTED')
			THEN true END
		 ORDER BY t.id FOR NO KEY UPDATE OF t),
	upd AS (
		UPDATE payonce.generation_task t
		   SET progress = CASE WHEN w.permille >= 0
			THEN least(w.permille, 1000) / 1000.0
			ELSE t.progress END,
		       progress_note = coalesce(w.note, t.progress_note)
		  FROM won w
		 WHERE t.id = w.id
		RETURNING t.id, t.attempt, t.status, w.note, w.is_new),
	ev AS (
		INSERT INTO payonce.task_event (task_id, attempt, from_status,
		    to_status, reason, detail, host)
		SELECT u.id, u.attempt, u.status, u.status, 'note', u.note,
		    p_owner FROM upd u WHERE u.is_new)
	SELECT u.id FROM upd u;
END $$;

-- SUCCEEDED: only with a result on the row; a paid task only after its mark.
CREATE FUNCTION payonce.complete(p_owner text, p_ids bigint[],
    p_tokens bigint[], p_results text[], p_costs text[],
    p_currencies text[]) RETURNS SETOF bigint
LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
	v_now	timestamptz := clock_timestamp();
BEGIN
	RETURN QUERY
	WITH won AS MATERIALIZED (
		SELECT t.id, t.status AS was, a.result, a.cost, a.currency
		  FROM unnest(p_ids, p_tokens, p_results, p_costs,
			p_currencies) AS a(id, token, result, cost, currency)
		  JOIN payonce.generation_task t ON t.id = a.id
		   AND t.lease_token = a.token
		 WHERE (t.status IN ('RUNNING', 'SUBMITTED')
			AND (a.result IS NOT NULL OR t.result IS NOT NULL)
			AND (t.submit_started_at IS NOT NULL
			 OR t.provider IS NULL))
		    OR t.status = 'SUCCEEDED'
		 ORDER BY t.id FOR NO KEY UPDATE OF t),
	upd AS (
		UPDATE payonce.generation_task t
		   SET status = 'SUCCEEDED', reason = NULL, detail = NULL,
		       result = CASE WHEN w.result IS NULL THEN t.result
			ELSE payonce.safe_jsonb(w.result) END,
		       cost_actual = coalesce(w.cost::numeric, t.cost_actual),
		       currency = coalesce(w.currency, t.currency),
		       progress = 1, lease_owner = NULL,
		       lease_expires_at = NULL, finished_at = v_now,
		       updated_at = v_now
		  FROM won w
		 WHERE t.id = w.id AND w.was <> 'SUCCEEDED'
		RETURNING t.id, t.attempt, w.was),
	ev AS (
		INSERT INTO payonce.task_event (task_id, attempt, from_status,
		    to_status, reason, host)
		SELECT u.id, u.attempt, u.was, 'SUCCEEDED', 'done', p_owner
		  FROM upd u)
	SELECT w.id FROM won w;
	IF EXISTS (SELECT 1 FROM payonce.task_dep d
	    WHERE d.parent = ANY (p_ids)) THEN
		PERFORM payonce.settle(p_owner, p_ids, NULL, true);
	END IF;
END $$;

-- Back to PENDING, only when nothing was sent: the row is not marked, or the
-- caller has proof (p_unmark: nothing left, or the provider refused; a saved
-- result is proof of the contrary).  A
-- marked attempt that is taken back keeps its facts in past_attempt, and the
-- next one has a new number.
CREATE FUNCTION payonce.release(p_owner text, p_ids bigint[],
    p_tokens bigint[], p_reasons text[], p_details text[],
    p_delay_ms bigint[], p_unmark boolean[], p_count boolean[],
    p_max_requeues int[]) RETURNS TABLE (id bigint, status text)
LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
	v_now	timestamptz := clock_timestamp();
BEGIN
	RETURN QUERY
	WITH won AS MATERIALIZED (
		SELECT t.id, t.status AS was, t.submit_started_at IS NOT NULL
		    AS was_marked, t.attempt, t.provider, t.model, t.own_id,
		    t.idempotency_key, t.idempotency_expires_at,
		    t.lookup_until, t.submit_started_at, t.cost_estimated,
		    t.currency, a.reason, a.detail,
		    greatest(coalesce(a.delay_ms, 0), 0) AS delay_ms,
		    t.requeues + coalesce(a.is_counted, false)::int
			AS requeues,
		    CASE WHEN t.cancel_requested_at IS NOT NULL THEN 'CANCELED'
			WHEN a.is_counted AND t.requeues + 1 > a.max_requeues
			THEN 'FAILED' ELSE 'PENDING'
			END::payonce.task_status AS becomes
		  FROM unnest(p_ids, p_tokens, p_reasons, p_details,
			p_delay_ms, p_unmark, p_count, p_max_requeues)
			AS a(id, token, reason, detail, delay_ms, is_unmarked,
			is_counted, max_requeues)
		  JOIN payonce.generation_task t ON t.id = a.id
		   AND t.lease_token = a.token
		 WHERE (t.status = 'RUNNING'
			AND (t.submit_started_at IS NULL
			 OR (a.is_unmarked AND t.result IS NULL)))
		    OR t.status IN ('PENDING', 'CANCELED')
		    OR (t.status = 'FAILED' AND t.reason = 'max_requeues')
		 ORDER BY t.id FOR NO KEY UPDATE OF t),
	past AS (
		INSERT INTO payonce.past_attempt (task_id, attempt, status,
		    reason, detail, provider, model, own_id, idempotency_key,
		    idempotency_expires_at, lookup_until, submit_started_at,
		    cost_estimated, cost_actual, currency, action,
		    superseded_by)
		SELECT w.id, w.attempt, w.was, w.reason, w.detail, w.provider,
		    w.model, w.own_id, w.idempotency_key,
		    w.idempotency_expires_at, w.lookup_until,
		    w.submit_started_at, w.cost_estimated, 0, w.currency,
		    'released', p_owner
		  FROM won w
		 WHERE w.was = 'RUNNING' AND w.was_marked),
	upd AS (
		UPDATE payonce.generation_task t
		   SET status = w.becomes,
		       reason = CASE w.becomes WHEN 'FAILED'
			THEN 'max_requeues' WHEN 'CANCELED' THEN 'canceled'
			ELSE w.reason END,
		       detail = CASE w.becomes WHEN 'FAILED' THEN format(
			'given back %s times, the last time: %s%s', w.requeues,
			w.reason, ': ' || w.detail) ELSE w.detail END,
		       run_at = CASE WHEN w.delay_ms > 0
			THEN v_now + w.delay_ms * interval '1 millisecond'
			ELSE t.run_at END,
		       due = w.delay_ms = 0,
		       requeues = w.requeues,
		       attempt = t.attempt + (w.was_marked
			AND w.becomes = 'PENDING')::int,
		       submit_started_at = NULL, idempotency_key = NULL,
		       idempotency_expires_at = NULL, lookup_until = NULL,
		       own_id = CASE WHEN w.was_marked THEN NULL
			ELSE t.own_id END,
		       cost_actual = CASE WHEN w.was_marked
			AND w.becomes = 'FAILED' THEN 0 END,
		       result = NULL, fetch_before = NULL, progress = NULL,
		       progress_note = NULL, decided_by = NULL,
		       lease_owner = NULL, lease_expires_at = NULL,
		       cancel_requested_at = CASE WHEN w.becomes <> 'PENDING'
			THEN t.cancel_requested_at END,
		       finished_at = CASE WHEN w.becomes <> 'PENDING'
			THEN v_now END,
		       updated_at = v_now
		  FROM won w
		 WHERE t.id = w.id AND w.was = 'RUNNING'
		RETURNING t.id, w.attempt, t.status, w.reason, w.detail, t.reason AS new_reason,
		    t.detail AS new_detail),
	ev AS (
		INSERT INTO payonce.task_event (task_id, attempt, from_status,
		    to_status, reason, detail, host)
		SELECT u.id, u.attempt, 'RUNNING', u.status, CASE u.status
		    WHEN 'PENDING' THEN u.reason ELSE u.new_reason END,
		    CASE u.status WHEN 'FAILED' THEN u.new_detail
		    ELSE u.detail END, p_owner
		  FROM upd u)
	SELECT w.id, CASE WHEN w.was = 'RUNNING' THEN w.becomes ELSE w.was
	    END::text FROM won w;
	IF EXISTS (SELECT 1 FROM payonce.task_dep d
	    WHERE d.parent = ANY (p_ids)) THEN
		PERFORM payonce.settle(p_owner, p_ids, NULL, true);
	END IF;
END $$;

-- FAILED by the provider's refusal: nothing was bought, the mark is cleared.
CREATE FUNCTION payonce.reject(p_owner text, p_ids bigint[],
    p_tokens bigint[], p_reasons text[], p_details text[])
RETURNS SETOF bigint
LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
	v_now	timestamptz := clock_timestamp();
BEGIN
	RETURN QUERY
	WITH won AS MATERIALIZED (
		SELECT t.id, t.status AS was, a.reason, a.detail
		  FROM unnest(p_ids, p_tokens, p_reasons, p_details)
			AS a(id, token, reason, detail)
		  JOIN payonce.generation_task t ON t.id = a.id
		   AND t.lease_token = a.token
		 WHERE (t.status = 'RUNNING' AND (t.result IS NULL
			OR t.provider IS NULL)) OR (t.status = 'FAILED'
		   AND t.submit_started_at IS NULL
		   AND t.reason IS NOT DISTINCT FROM a.reason)
		 ORDER BY t.id FOR NO KEY UPDATE OF t),
	upd AS (
		UPDATE payonce.generation_task t
		   SET status = 'FAILED', reason = w.reason,
		       detail = w.detail, submit_started_at = NULL,
		       idempotency_key = NULL, idempotency_expires_at = NULL,
		       lookup_until = NULL, cost_actual = CASE
			WHEN t.provider IS NOT NULL THEN 0 END,
		       lease_owner = NULL, lease_expires_at = NULL,
		       finished_at = v_now, updated_at = v_now
		  FROM won w
		 WHERE t.id = w.id AND w.was = 'RUNNING'
		RETURNING t.id, t.attempt, t.reason, t.detail),
	ev AS (
		INSERT INTO payonce.task_event (task_id, attempt, from_status,
		    to_status, reason, detail, host)
		SELECT u.id, u.attempt, 'RUNNING', 'FAILED', u.reason,
		    u.detail, p_owner FROM upd u)
	SELECT w.id FROM won w;
	IF EXISTS (SELECT 1 FROM payonce.task_dep d
	    WHERE d.parent = ANY (p_ids)) THEN
		PERFORM payonce.settle(p_owner, p_ids, NULL, true);
	END IF;
END $$;

-- FAILED because the provider, or the local program, said so.
CREATE FUNCTION payonce.fail(p_owner text, p_ids bigint[], p_tokens bigint[],
    p_reasons text[], p_details text[], p_costs text[], p_currencies text[])
RETURNS SETOF bigint
LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
	v_now	timestamptz := clock_timestamp();
BEGIN
	RETURN QUERY
	WITH won AS MATERIALIZED (
		SELECT t.id, t.status AS was, a.reason, a.detail, a.cost,
		    a.currency
		  FROM unnest(p_ids, p_tokens, p_reasons, p_details, p_costs,
			p_currencies) AS a(id, token, reason, detail, cost,
			currency)
		  JOIN payonce.generation_task t ON t.id = a.id
		   AND t.lease_token = a.token
		 WHERE t.status IN ('RUNNING', 'SUBMITTED')
		    OR (t.status = 'FAILED'
			AND t.reason IS NOT DISTINCT FROM a.reason)
		 ORDER BY t.id FOR NO KEY UPDATE OF t),
	upd AS (
		UPDATE payonce.generation_task t
		   SET status = 'FAILED', reason = w.reason,
		       detail = w.detail,
		       cost_actual = coalesce(w.cost::numeric, t.cost_actual),
		       currency = coalesce(w.currency, t.currency),
		       lease_owner = NULL, lease_expires_at = NULL,
		       finished_at = v_now, updated_at = v_now
		  FROM won w
		 WHERE t.id = w.id AND w.was <> 'FAILED'
		RETURNING t.id, t.attempt, w.was, t.reason, t.detail),
	ev AS (
		INSERT INTO payonce.task_event (task_id, attempt, from_status,
		    to_status, reason, detail, host)
		SELECT u.id, u.attempt, u.was, 'FAILED', u.reason, u.detail,
		    p_owner FROM upd u)
	SELECT w.id FROM won w;
	IF EXISTS (SELECT 1 FROM payonce.task_dep d
	    WHERE d.parent = ANY (p_ids)) THEN
		PERFORM payonce.settle(p_owner, p_ids, NULL, true);
	END IF;
END $$;

-- OUTCOME_UNKNOWN: money may be spent, nobody knows.  The row keeps all it
-- has; only a person or evidence goes on from here.
CREATE FUNCTION payonce.park(p_owner text, p_ids bigint[], p_tokens bigint[],
    p_reasons text[], p_details text[]) RETURNS SETOF bigint
LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
	v_now	timestamptz := clock_timestamp();
BEGIN
	RETURN QUERY
	WITH won AS MATERIALIZED (
		SELECT t.id, t.status AS was, a.reason, a.detail
		  FROM unnest(p_ids, p_tokens, p_reasons, p_details)
			AS a(id, token, reason, detail)
		  JOIN payonce.generation_task t ON t.id = a.id
		   AND t.lease_token = a.token
		 WHERE (t.status IN ('RUNNING', 'SUBMITTED')
			AND t.submit_started_at IS NOT NULL)
		    OR t.status = 'OUTCOME_UNKNOWN'
		 ORDER BY t.id FOR NO KEY UPDATE OF t),
	upd AS (
		UPDATE payonce.generation_task t
		   SET status = 'OUTCOME_UNKNOWN',
		       reason = coalesce(w.reason, 'unknown'),
		       detail = w.detail, parked_at = v_now,
		       decided_by = NULL, lease_owner = NULL,
		       lease_expires_at = NULL, updated_at = v_now
		  FROM won w
		 WHERE t.id = w.id AND w.was <> 'OUTCOME_UNKNOWN'
		RETURNING t.id, t.attempt, w.was, t.reason, t.detail),
	ev AS (
		INSERT INTO payonce.task_event (task_id, attempt, from_status,
		    to_status, reason, detail, host)
		SELECT u.id, u.attempt, u.was, 'OUTCOME_UNKNOWN', u.reason,
		    u.detail, p_owner FROM upd u)
	SELECT w.id FROM won w;
END $$;

-- The worker is dead: its leases end now, the ordinary claim goes on.
CREATE FUNCTION payonce.expire(p_owner text, p_ids bigint[],
    p_tokens bigint[]) RETURNS SETOF bigint
LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
	v_now	timestamptz := clock_timestamp();
BEGIN
	RETURN QUERY
	WITH won AS MATERIALIZED (
		SELECT t.id, t.lease_expires_at > v_now AS is_live
		  FROM unnest(p_ids, p_tokens) AS a(id, token)
		  JOIN payonce.generation_task t ON t.id = a.id
		   AND t.lease_token = a.token
		 WHERE CASE WHEN t.status IN ('RUNNING', 'SUBMITTED')
			THEN t.lease_expires_at IS NOT NULL END
		 ORDER BY t.id FOR NO KEY UPDATE OF t),
	upd AS (
		UPDATE payonce.generation_task t SET lease_expires_at = v_now
		  FROM won w
		 WHERE t.id = w.id AND w.is_live
		RETURNING t.id, t.attempt, t.status),
	ev AS (
		INSERT INTO payonce.task_event (task_id, attempt, from_status,
		    to_status, reason, host)
		SELECT u.id, u.attempt, u.status, u.status, 'lease_expired',
		    p_owner FROM upd u)
	SELECT w.id FROM won w;
END $$;

-- A supervisor that has started again ends the leases of its former life.
CREATE FUNCTION payonce.expire_owner(p_owner text, p_except bigint[])
RETURNS SETOF bigint
LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	v_now	timestamptz := clock_timestamp();
BEGIN
	RETURN QUERY
	WITH won AS MATERIALIZED (
		SELECT t.id FROM payonce.generation_task t
		 WHERE t.status IN ('RUNNING', 'SUBMITTED')
		   AND t.lease_owner = p_owner AND t.lease_expires_at > v_now
		   AND t.id <> ALL (coalesce(p_except, '{}'))
		 ORDER BY t.id FOR NO KEY UPDATE OF t),
	upd AS (
		UPDATE payonce.generation_task t SET lease_expires_at = v_now
		  FROM won w
		 WHERE t.id = w.id
		RETURNING t.id, t.attempt, t.status),
	ev AS (
		INSERT INTO payonce.task_event (task_id, attempt, from_status,
		    to_status, reason, host)
		SELECT u.id, u.attempt, u.status, u.status, 'lease_expired',
		    p_owner FROM upd u)
	SELECT u.id FROM upd u;
END $$;

-- Evidence by attempt: what a receipt says goes on the row without a lease,
-- unless a person has decided since or another attempt has begun.
--   submitted   RUNNING or parked without an id -> SUBMITTED
--   result      saved; the row stays in flight (its artifacts come next); a
--               parked row goes to SUBMITTED, or without an id to SUCCEEDED
--   rejected    RUNNING or parked without an id -> FAILED, cost 0
--   throttled, account, unsent
--               marked RUNNING or parked without an id -> mark cleared, PENDING
-- A PENDING row at that attempt has forgotten its claim (a restored or failed
-- over database): it first goes through RUNNING.
CREATE FUNCTION payonce.apply_receipts(p_owner text, p_ids bigint[],
    p_attempts int[], p_classes text[], p_request_ids text[],
    p_poll_urls text[], p_result_urls text[], p_cancel_urls text[],
    p_results text[], p_costs text[], p_currencies text[], p_reasons text[],
    p_details text[], p_poll_deadline_s int[])
RETURNS TABLE (id bigint, attempt int, verdict text)
LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
	v_now	timestamptz := clock_timestamp();
BEGIN
	PERFORM set_config('payonce.evidence', 'receipt', true);

	WITH won AS MATERIALIZED (
		SELECT t.id
		  FROM unnest(p_ids, p_attempts, p_classes, p_request_ids,
			p_results) AS a(id, attempt, class, request_id, result)
		  JOIN payonce.generation_task t ON t.id = a.id
		   AND t.attempt = a.attempt
		 WHERE CASE WHEN t.status = 'PENDING' THEN
			t.decided_by IS NULL END
		   AND ((a.class = 'submitted' AND a.request_id <> '')
		    OR (a.class = 'result' AND a.result IS NOT NULL)
		    OR a.class = 'rejected')
		 ORDER BY t.id FOR NO KEY UPDATE OF t)
	UPDATE payonce.generation_task t
	   SET status = 'RUNNING', lease_owner = p_owner,
	       lease_token = nextval('payonce.lease_token_seq'),
	       lease_expires_at = v_now, submit_started_at = v_now
	  FROM won w
	 WHERE t.id = w.id;

	RETURN QUERY
	WITH arg AS MATERIALIZED (
		SELECT a.id, a.attempt, a.class,
		    nullif(a.request_id, '') AS request_id, a.poll_url,
		    a.result_url, a.cancel_url,
		    payonce.safe_jsonb(a.result) AS result,
		    a.cost::numeric AS cost, a.currency, a.reason, a.detail,
		    a.deadline_s
		  FROM unnest(p_ids, p_attempts, p_classes, p_request_ids,
			p_poll_urls, p_result_urls, p_cancel_urls, p_results,
			p_costs, p_currencies, p_reasons, p_details,
			p_poll_deadline_s) AS a(id, attempt, class, request_id,
			poll_url, result_url, cancel_url, result, cost,
			currency, reason, detail, deadline_s)),
	won AS MATERIALIZED (
		SELECT a.*, t.attempt AS row_attempt, t.status AS was,
		    t.remote_request_id AS row_request_id,
		    t.provider, t.model, t.own_id, t.idempotency_key,
		    t.idempotency_expires_at, t.lookup_until,
		    t.submit_started_at, t.cost_estimated,
		    t.currency AS row_currency,
		    CASE
		    WHEN t.attempt <> a.attempt THEN
			CASE WHEN a.class IN ('throttled', 'account', 'unsent')
			    AND EXISTS (SELECT 1 FROM payonce.past_attempt p
				WHERE p.task_id = a.id
				AND p.attempt = a.attempt
				AND p.action IN ('released', 'receipt'))
			THEN 'known' ELSE 'superseded' END
		    WHEN a.class = 'submitted'
			AND t.remote_request_id = a.request_id THEN 'known'
		    WHEN t.decided_by IS NOT NULL THEN 'superseded'
		    WHEN a.class = 'submitted' THEN
			CASE WHEN a.request_id IS NOT NULL
			    AND (t.status = 'RUNNING'
			     OR (t.status = 'OUTCOME_UNKNOWN'
			     AND t.remote_request_id IS NULL))
			THEN 'submit' ELSE 'superseded' END
		    WHEN a.class = 'result' THEN
			CASE WHEN t.result IS NOT NULL THEN 'known'
			WHEN a.result IS NOT NULL AND t.status IN
			    ('RUNNING', 'SUBMITTED', 'OUTCOME_UNKNOWN')
			THEN 'result' ELSE 'superseded' END
		    WHEN a.class = 'rejected' THEN
			CASE WHEN t.status = 'FAILED'
			    AND t.submit_started_at IS NULL THEN 'known'
			WHEN t.status IN ('RUNNING', 'OUTCOME_UNKNOWN')
			    AND t.remote_request_id IS NULL
			    AND t.result IS NULL
			THEN 'reject' ELSE 'superseded' END
		    WHEN a.class IN ('throttled', 'account', 'unsent') THEN
			CASE WHEN t.submit_started_at IS NULL THEN 'known'
			WHEN t.status IN ('RUNNING', 'OUTCOME_UNKNOWN')
			    AND t.remote_request_id IS NULL
			    AND t.result IS NULL
			THEN 'unmark' ELSE 'superseded' END
		    ELSE 'superseded'
		    END AS act
		  FROM arg a
		  JOIN payonce.generation_task t ON t.id = a.id
		 ORDER BY t.id FOR NO KEY UPDATE OF t),
	todo AS MATERIALIZED (
		SELECT w.*, CASE w.act
		    WHEN 'submit' THEN 'SUBMITTED'
		    WHEN 'reject' THEN 'FAILED'
		    WHEN 'unmark' THEN 'PENDING'
		    ELSE CASE WHEN w.was <> 'OUTCOME_UNKNOWN' THEN w.was::text
			WHEN w.row_request_id IS NOT NULL THEN 'SUBMITTED'
			ELSE 'SUCCEEDED' END
		    END::payonce.task_status AS becomes
		  FROM won w
		 WHERE w.act IN ('submit', 'result', 'reject', 'unmark')),
	past AS (
		INSERT INTO payonce.past_attempt (task_id, attempt, status,
		    reason, detail, provider, model, own_id, idempotency_key,
		    idempotency_expires_at, lookup_until, submit_started_at,
		    cost_estimated, cost_actual, currency, action,
		    superseded_by)
		SELECT d.id, d.attempt, d.was, d.reason, d.detail, d.provider,
		    d.model, d.own_id, d.idempotency_key,
		    d.idempotency_expires_at, d.lookup_until,
		    d.submit_started_at, d.cost_estimated, 0, d.row_currency,
		    'receipt', p_owner
		  FROM todo d WHERE d.act = 'unmark'),
	-- a person gave the attempt up, now its money is known after all
	late AS (
		UPDATE payonce.past_attempt p
		   SET remote_request_id =
			coalesce(p.remote_request_id, w.request_id),
		       cost_actual = coalesce(p.cost_actual, w.cost),
		       currency = coalesce(p.currency, w.currency),
		       result = coalesce(p.result, w.result)
		  FROM won w
		 WHERE w.act = 'superseded' AND p.task_id = w.id
		   AND p.attempt = w.attempt
		   AND w.class IN ('submitted', 'result')),
	upd AS (
		UPDATE payonce.generation_task t
		   SET status = CASE WHEN t.cancel_requested_at IS NOT NULL
			AND d.act = 'unmark' THEN 'CANCELED' ELSE d.becomes
			END,
		       submit_started_at = CASE
			WHEN d.act IN ('reject', 'unmark') THEN NULL
			ELSE coalesce(t.submit_started_at, v_now) END,
		       remote_request_id = CASE d.act WHEN 'submit'
			THEN d.request_id ELSE t.remote_request_id END,
		       submitted_at = CASE d.act WHEN 'submit' THEN v_now
			ELSE t.submitted_at END,
		       poll_url = coalesce(d.poll_url, t.poll_url),
		       result_url = coalesce(d.result_url, t.result_url),
		       cancel_url = coalesce(d.cancel_url, t.cancel_url),
		       poll_deadline_at = CASE d.act WHEN 'submit' THEN
			v_now + d.deadline_s * interval '1 second'
			ELSE t.poll_deadline_at END,
		       result = CASE d.act WHEN 'result' THEN d.result
			ELSE t.result END,
		       cost_actual = CASE d.act WHEN 'unmark' THEN NULL
			WHEN 'reject' THEN 0
			ELSE coalesce(d.cost, t.cost_actual) END,
		       currency = coalesce(d.currency, t.currency),
		       attempt = t.attempt + (d.act = 'unmark'
			AND t.cancel_requested_at IS NULL)::int,
		       own_id = CASE d.act WHEN 'unmark' THEN NULL
			ELSE t.own_id END,
		       idempotency_key = CASE
			WHEN d.act IN ('reject', 'unmark') THEN NULL
			ELSE t.idempotency_key END,
		       idempotency_expires_at = CASE
			WHEN d.act IN ('reject', 'unmark') THEN NULL
			ELSE t.idempotency_expires_at END,
		       lookup_until = CASE
			WHEN d.act IN ('reject', 'unmark') THEN NULL
			ELSE t.lookup_until END,
		       reason = CASE WHEN d.act IN ('reject', 'unmark')
			THEN coalesce(d.reason, d.class) END,
		       detail = CASE WHEN d.act IN ('reject', 'unmark')
			THEN d.detail END,
		       lease_owner = CASE WHEN d.becomes
			IN ('RUNNING', 'SUBMITTED') THEN t.lease_owner END,
		       lease_expires_at = CASE WHEN d.becomes
			IN ('RUNNING', 'SUBMITTED') THEN t.lease_expires_at
			END,
		       -- stale tokens of the parked attempt stay stale
		       lease_token = CASE d.was WHEN 'OUTCOME_UNKNOWN'
			THEN nextval('payonce.lease_token_seq')
			ELSE t.lease_token END,
		       due = true, parked_at = NULL,
		       finished_at = CASE WHEN d.becomes
			IN ('SUCCEEDED', 'FAILED') OR (d.act = 'unmark'
			AND t.cancel_requested_at IS NOT NULL) THEN v_now END,
		       updated_at = v_now
		  FROM todo d
		 WHERE t.id = d.id AND t.attempt = d.attempt
		RETURNING t.id, d.attempt, d.was, t.status, d.class, d.detail,
		    d.request_id),
	ev AS (
		INSERT INTO payonce.task_event (task_id, attempt, from_status,
		    to_status, reason, detail, host)
		SELECT u.id, u.attempt, u.was, u.status,
		    'receipt_' || u.class, coalesce(u.detail,
		    'request id ' || u.request_id), p_owner
		  FROM upd u
		UNION ALL
		SELECT w.id, w.attempt, w.was, w.was, 'receipt_superseded',
		    format('a receipt says "%s" for attempt %s%s%s', w.class,
		    w.attempt, ', request id ' || w.request_id,
		    ', cost ' || w.cost), p_owner
		  FROM won w WHERE w.act = 'superseded')
	SELECT w.id, w.attempt, CASE WHEN w.act IN ('known', 'superseded')
	    THEN w.act ELSE 'applied' END
	  FROM won w
	UNION ALL
	SELECT a.id, a.attempt, 'unknown' FROM arg a
	 WHERE NOT EXISTS (SELECT 1 FROM payonce.generation_task t
		WHERE t.id = a.id);

	IF EXISTS (SELECT 1 FROM payonce.task_dep d
	    WHERE d.parent = ANY (p_ids)) THEN
		PERFORM payonce.settle(p_owner, p_ids, NULL, true);
	END IF;
	PERFORM set_config('payonce.evidence', '', true);
END $$;

CREATE FUNCTION payonce.host_seen(p_owner text, p_hostname text, p_pid int,
    p_version text, p_kinds jsonb) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	INSERT INTO payonce.host AS h (owner, hostname, pid, version, kinds)
	VALUES (p_owner, p_hostname, p_pid, p_version, p_kinds)
	ON CONFLICT (owner) DO UPDATE
	   SET hostname = EXCLUDED.hostname, pid = EXCLUDED.pid,
	       version = EXCLUDED.version, kinds = EXCLUDED.kinds,
	       started_at = CASE WHEN h.pid = EXCLUDED.pid
		AND h.hostname = EXCLUDED.hostname THEN h.started_at
		ELSE EXCLUDED.started_at END,
	       seen_at = EXCLUDED.seen_at;
END $$;

-- The first reason for a hold stays until the kind is released.
CREATE FUNCTION payonce.hold_kind(p_owner text, p_kind text, p_reason text,
    p_detail text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	INSERT INTO payonce.kind_hold (kind, reason, detail, by_host)
	VALUES (p_kind, p_reason, p_detail, p_owner)
	ON CONFLICT (kind) DO NOTHING;
	IF FOUND THEN
		INSERT INTO payonce.kind_event (kind, action, reason, detail,
		    actor)
		VALUES (p_kind, 'held', p_reason, p_detail, p_owner);
	END IF;
END $$;

-- What a supervisor must know of the server before it claims.  problem says
-- what to change; NULL: nothing.
CREATE FUNCTION payonce.settings() RETURNS TABLE (system_id text,
    timeline bigint, schema_version int, problem text)
LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
	RETURN QUERY
	SELECT s.system_identifier::text,
	    CASE WHEN pg_is_in_recovery() THEN
		(SELECT c.timeline_id::bigint FROM pg_control_checkpoint() c)
	    -- the control file tells a new timeline only after a checkpoint
	    ELSE ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()),
		1, 8))::bit(32)::bigint END,
	    coalesce((SELECT max(m.version) FROM payonce.migration m), 0),
	    (SELECT string_agg(p.problem, '; ') FROM (VALUES
		(CASE WHEN pg_is_in_recovery() THEN 'the server is a standby: '
		    'connect to the primary' END),
		(CASE WHEN current_setting('fsync') <> 'on' THEN
		    'fsync is off: a crash of the server may forget a mark; '
		    'set fsync = on in postgresql.conf and reload' END),
		(CASE WHEN current_setting('full_page_writes') <> 'on' THEN
		    'full_page_writes is off: a crash of the server may '
		    'damage the task table; set full_page_writes = on in '
		    'postgresql.conf and reload' END),
		(CASE WHEN current_setting('synchronous_commit') = 'off' THEN
		    'synchronous_commit is off: a mark may be lost after it '
		    'was confirmed; ' || format('ALTER ROLE %I SET '
		    'synchronous_commit = on (or remove it from '
		    'postgresql.conf, the database or the connection)',
		    session_user) END)
	    ) AS p(problem))
	  FROM pg_control_system() s;
END $$;

CREATE FUNCTION payonce.next_due(p_kinds text[]) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
BEGIN
	-- greatest() would take NULL, nothing scheduled, for 0
	RETURN (SELECT CASE WHEN min(s.run_at) IS NOT NULL THEN
		greatest(0, ceil(extract(epoch FROM
		    min(s.run_at) - clock_timestamp()) * 1000))::bigint END
	  FROM unnest(p_kinds) AS k(kind)
	 CROSS JOIN LATERAL (
		SELECT t.run_at FROM payonce.generation_task t
		 WHERE t.kind = k.kind AND t.status = 'PENDING' AND NOT t.due
		 ORDER BY t.run_at LIMIT 1) s);
END $$;
