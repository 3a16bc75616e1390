-- 003-interface.sql - what applications and people use.

-- Inside the application's own transaction: the task is there when that
-- commits, and only then.  An existing dedupe_key returns that task's id and
-- changes nothing.  No parent is locked (002-transitions.sql, settle_sweep).
CREATE FUNCTION payonce.enqueue(kind text, input jsonb,
    model text DEFAULT NULL, dedupe_key text DEFAULT NULL,
    priority int DEFAULT 100, run_at timestamptz DEFAULT NULL,
    job_id bigint DEFAULT NULL, after bigint[] DEFAULT NULL)
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	v_id		bigint;
	v_at		timestamptz := coalesce(enqueue.run_at, now());
	v_parents	bigint[];
	v_missing	text;
	v_ended		bigint;
	v_open		int := 0;
	v_is_due	boolean;
BEGIN
	IF enqueue.kind IS NULL
	    OR enqueue.kind !~ '^[a-z][a-z0-9_-]{0,63}$' THEN
		RAISE EXCEPTION 'payonce: kind % must be a word of a-z, 0-9, _ '
		    'and -, begin with a letter, and have at most 64 characters',
		    coalesce(quote_literal(enqueue.kind), 'NULL')
		    USING ERRCODE = 'invalid_parameter_value';
	END IF;
	IF enqueue.input IS NULL OR jsonb_typeof(enqueue.input) <> 'object' THEN
		RAISE EXCEPTION 'payonce: input must be a JSON object, not %',
		    coalesce(jsonb_typeof(enqueue.input), 'NULL')
		    USING ERRCODE = 'invalid_parameter_value';
	END IF;
	IF octet_length(enqueue.input::text) > 4194304 THEN
		RAISE EXCEPTION 'payonce: input has % bytes, more than 4194304; '
		    'put big data elsewhere and enqueue its address',
		    octet_length(enqueue.input::text)
		    USING ERRCODE = 'program_limit_exceeded';
	END IF;
	IF enqueue.priority IS NULL
	    OR enqueue.priority NOT BETWEEN 0 AND 32767 THEN
		RAISE EXCEPTION 'payonce: priority % must be between 0 (first) '
		    'and 32767', coalesce(enqueue.priority::text, 'NULL')
		    USING ERRCODE = 'invalid_parameter_value';
	END IF;

	IF cardinality(enqueue.after) > 0 THEN
		SELECT array_agg(DISTINCT a.id) INTO v_parents
		  FROM unnest(enqueue.after) AS a(id);
		SELECT min(t.id) FILTER (WHERE t.status IN ('FAILED',
			'CANCELED')),
		    count(*) FILTER (WHERE t.status <> 'SUCCEEDED')
		  INTO v_ended, v_open
		  FROM payonce.generation_task t
		 WHERE t.id = ANY (v_parents);
		SELECT string_agg(coalesce(u.id::text, 'NULL'), ', ')
		  INTO v_missing FROM unnest(v_parents) AS u(id)
		 WHERE NOT EXISTS (SELECT 1 FROM payonce.generation_task t
			WHERE t.id = u.id);
		IF v_missing IS NOT NULL THEN
			RAISE EXCEPTION 'payonce: after names tasks that do '
			    'not exist: %', v_missing
			    USING ERRCODE = 'foreign_key_violation';
		END IF;
	END IF;

	v_is_due := v_at <= clock_timestamp();
	INSERT INTO payonce.generation_task (kind, input, model, dedupe_key,
	    priority, run_at, due, job_id, status, parent_count, recheck_xid)
	VALUES (enqueue.kind, enqueue.input, enqueue.model,
	    enqueue.dedupe_key, enqueue.priority, v_at, v_is_due,
	    enqueue.job_id, CASE WHEN v_open > 0 THEN 'WAITING'
	    ELSE 'PENDING' END::payonce.task_status,
	    coalesce(cardinality(v_parents), 0),
	    CASE WHEN v_open > 0 THEN '0'::xid8 END)
	ON CONFLICT (dedupe_key) WHERE dedupe_key IS NOT NULL DO NOTHING
	RETURNING id INTO v_id;
	IF v_id IS NULL THEN
		SELECT t.id INTO v_id FROM payonce.generation_task t
		 WHERE t.dedupe_key = enqueue.dedupe_key;
		IF v_id IS NULL THEN
			RAISE EXCEPTION 'payonce: the task with dedupe_key % '
			    'was removed at this moment, enqueue again',
			    quote_literal(enqueue.dedupe_key)
			    USING ERRCODE = 'serialization_failure';
		END IF;
		RETURN v_id;
	END IF;

	IF v_parents IS NOT NULL THEN
		INSERT INTO payonce.task_dep (child, parent, ord)
		SELECT v_id, a.id, min(a.ord)
		  FROM unnest(enqueue.after) WITH ORDINALITY AS a(id, ord)
		 GROUP BY a.id;
	END IF;
	INSERT INTO payonce.task_event (task_id, attempt, to_status, reason)
	VALUES (v_id, 1, CASE WHEN v_open > 0 THEN 'WAITING' ELSE 'PENDING'
	    END::payonce.task_status, 'enqueued');
	IF v_ended IS NOT NULL THEN
		PERFORM payonce.settle(NULL, ARRAY[v_ended], NULL, true);
	ELSIF v_open = 0 AND v_is_due THEN
		PERFORM pg_notify('payonce_new', enqueue.kind);
	END IF;
	RETURN v_id;
END $$;

-- 'canceled'; 'requested' (running, nothing sent: its worker stops);
-- 'too_late' (sent: the money is spent, the result will be kept); 'ended'.
-- The row stays locked until the caller's transaction ends: commit soon.
CREATE FUNCTION payonce.cancel(id bigint) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	v	record;
BEGIN
	SELECT t.status, t.attempt, t.submit_started_at IS NOT NULL AS is_marked,
	    t.cancel_requested_at IS NOT NULL AS is_requested
	  INTO v FROM payonce.generation_task t
	 WHERE t.id = cancel.id FOR NO KEY UPDATE;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'payonce: there is no task %',
		    coalesce(cancel.id::text, 'NULL')
		    USING ERRCODE = 'no_data_found';
	END IF;
	IF v.status IN ('SUCCEEDED', 'FAILED', 'CANCELED') THEN
		RETURN 'ended';
	END IF;
	IF v.status IN ('SUBMITTED', 'OUTCOME_UNKNOWN') OR v.is_marked THEN
		RETURN 'too_late';
	END IF;
	IF v.status = 'RUNNING' THEN
		IF NOT v.is_requested THEN
			UPDATE payonce.generation_task t
			   SET cancel_requested_at = clock_timestamp()
			 WHERE t.id = cancel.id;
			INSERT INTO payonce.task_event (task_id, attempt,
			    from_status, to_status, reason)
			VALUES (cancel.id, v.attempt, 'RUNNING', 'RUNNING',
			    'cancel_requested');
		END IF;
		PERFORM pg_notify('payonce_cancel', cancel.id::text);
		RETURN 'requested';
	END IF;
	UPDATE payonce.generation_task t
	   SET status = 'CANCELED', reason = 'canceled', recheck_xid = NULL,
	       finished_at = clock_timestamp(), updated_at = clock_timestamp()
	 WHERE t.id = cancel.id;
	INSERT INTO payonce.task_event (task_id, attempt, from_status,
	    to_status, reason)
	VALUES (cancel.id, v.attempt, v.status, 'CANCELED', 'canceled');
	PERFORM payonce.settle(NULL, ARRAY[cancel.id], NULL, true);
	RETURN 'canceled';
END $$;

-- A person's decision about a parked task; the only way out besides a
-- receipt.  The attempt's facts go to past_attempt first, whatever is
-- decided.  The old lease token ends here, so nothing late can undo it.
CREATE FUNCTION payonce.resolve(id bigint, action text, actor text,
    note text, request_id text DEFAULT NULL, result jsonb DEFAULT NULL,
    cost numeric DEFAULT NULL, currency text DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	v		payonce.generation_task;
	v_to		payonce.task_status;
	v_request_id	text;
	v_now		timestamptz := clock_timestamp();
BEGIN
	IF coalesce(btrim(resolve.actor), '') = ''
	    OR coalesce(btrim(resolve.note), '') = '' THEN
		RAISE EXCEPTION 'payonce: resolve needs an actor (who decides) '
		    'and a note (why)'
		    USING ERRCODE = 'invalid_parameter_value';
	END IF;
	v_to := CASE resolve.action WHEN 'adopt' THEN 'SUBMITTED'
	    WHEN 'requeue' THEN 'PENDING' WHEN 'failed' THEN 'FAILED'
	    WHEN 'succeeded' THEN 'SUCCEEDED' END;
	IF v_to IS NULL THEN
		RAISE EXCEPTION 'payonce: action % must be adopt, requeue, '
		    'failed or succeeded',
		    coalesce(quote_literal(resolve.action), 'NULL')
		    USING ERRCODE = 'invalid_parameter_value';
	END IF;
	SELECT t.* INTO v FROM payonce.generation_task t
	 WHERE t.id = resolve.id FOR NO KEY UPDATE;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'payonce: there is no task %',
		    coalesce(resolve.id::text, 'NULL')
		    USING ERRCODE = 'no_data_found';
	END IF;
	IF v.status <> 'OUTCOME_UNKNOWN' THEN
		RAISE EXCEPTION 'payonce: task % is %, not parked '
		    '(OUTCOME_UNKNOWN): there is nothing to resolve',
		    v.id, v.status
		    USING ERRCODE = 'object_not_in_prerequisite_state';
	END IF;
	v_request_id := coalesce(nullif(resolve.request_id, ''),
	    v.remote_request_id);
	IF v_to = 'SUBMITTED' AND v_request_id IS NULL THEN
		RAISE EXCEPTION 'payonce: adopt needs the request_id that the '
		    'provider shows for task %', v.id
		    USING ERRCODE = 'invalid_parameter_value';
	END IF;
	IF v_to = 'SUCCEEDED' AND resolve.result IS NULL
	    AND v.result IS NULL THEN
		RAISE EXCEPTION 'payonce: succeeded needs the result of task %',
		    v.id USING ERRCODE = 'invalid_parameter_value';
	END IF;

	INSERT INTO payonce.past_attempt (task_id, attempt, status, reason,
	    detail, provider, model, own_id, idempotency_key,
	    idempotency_expires_at, lookup_until, submit_started_at,
	    submitted_at, remote_request_id, poll_url, result_url, cancel_url,
	    cost_estimated, cost_actual, currency, result, action,
	    superseded_by, note)
	VALUES (v.id, v.attempt, v.status, v.reason, v.detail, v.provider,
	    v.model, v.own_id, v.idempotency_key, v.idempotency_expires_at,
	    v.lookup_until, v.submit_started_at, v.submitted_at,
	    v.remote_request_id, v.poll_url, v.result_url, v.cancel_url,
	    v.cost_estimated, CASE v_to WHEN 'PENDING'
	    THEN coalesce(resolve.cost, v.cost_actual) ELSE v.cost_actual END,
	    coalesce(v.currency, resolve.currency), v.result, resolve.action,
	    resolve.actor, resolve.note);

	PERFORM set_config('payonce.evidence', 'resolve', true);
	IF v_to = 'PENDING' THEN
		UPDATE payonce.generation_task t
		   SET status = 'PENDING', reason = 'resolved',
		       detail = resolve.note, run_at = v_now, due = true,
		       attempt = t.attempt + 1, requeues = 0, parked_at = NULL,
		       lease_token = nextval('payonce.lease_token_seq'),
		       submit_started_at = NULL, remote_request_id = NULL,
		       submitted_at = NULL, poll_url = NULL, result_url = NULL,
		       cancel_url = NULL, poll_deadline_at = NULL,
		       own_id = NULL, idempotency_key = NULL,
		       idempotency_expires_at = NULL, lookup_until = NULL,
		       fetch_before = NULL, progress = NULL,
		       progress_note = NULL, cost_estimated = NULL,
		       cost_actual = NULL, result = NULL, decided_by = NULL,
		       cancel_requested_at = NULL, updated_at = v_now
		 WHERE t.id = v.id;
	ELSIF v_to = 'SUBMITTED' THEN
		UPDATE payonce.generation_task t
		   SET status = 'SUBMITTED', reason = 'resolved',
		       detail = resolve.note, parked_at = NULL,
		       lease_token = nextval('payonce.lease_token_seq'),
		       remote_request_id = v_request_id,
		       submitted_at = coalesce(t.submitted_at, v_now),
		       poll_url = CASE WHEN v_request_id = t.remote_request_id
			THEN t.poll_url END,
		       result_url = CASE WHEN v_request_id =
			t.remote_request_id THEN t.result_url END,
		       cancel_url = CASE WHEN v_request_id =
			t.remote_request_id THEN t.cancel_url END,
		       poll_deadline_at = v_now + CASE
			WHEN t.poll_deadline_at > t.submitted_at
			THEN t.poll_deadline_at - t.submitted_at
			ELSE interval '1 hour' END,
		       cost_actual = coalesce(resolve.cost, t.cost_actual),
		       currency = coalesce(resolve.currency, t.currency),
		       decided_by = resolve.actor, updated_at = v_now
		 WHERE t.id = v.id;
	ELSE
		UPDATE payonce.generation_task t
		   SET status = v_to, reason = 'resolved',
		       detail = resolve.note, parked_at = NULL,
		       lease_token = nextval('payonce.lease_token_seq'),
		       remote_request_id = v_request_id,
		       result = CASE v_to WHEN 'SUCCEEDED'
			THEN coalesce(resolve.result, t.result)
			ELSE t.result END,
		       cost_actual = coalesce(resolve.cost, t.cost_actual),
		       currency = coalesce(resolve.currency, t.currency),
		       decided_by = resolve.actor, finished_at = v_now,
		       updated_at = v_now
		 WHERE t.id = v.id;
	END IF;
	PERFORM set_config('payonce.evidence', '', true);

	INSERT INTO payonce.task_event (task_id, attempt, from_status,
	    to_status, reason, detail, actor)
	VALUES (v.id, v.attempt, 'OUTCOME_UNKNOWN', v_to,
	    'resolved_' || resolve.action, resolve.note, resolve.actor);
	PERFORM payonce.settle(NULL, ARRAY[v.id], NULL, true);
	RETURN v_to::text;
END $$;

CREATE FUNCTION payonce.hold(kind text, actor text, note text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
	IF coalesce(btrim(hold.actor), '') = '' OR hold.kind IS NULL THEN
		RAISE EXCEPTION 'payonce: hold needs a kind and an actor'
		    USING ERRCODE = 'invalid_parameter_value';
	END IF;
	INSERT INTO payonce.kind_hold (kind, reason, detail, by_host)
	VALUES (hold.kind, 'operator', format('%s: %s', hold.actor, hold.note),
	    NULL)
	ON CONFLICT (kind) DO UPDATE SET reason = EXCLUDED.reason,
	    detail = EXCLUDED.detail, by_host = NULL;
	INSERT INTO payonce.kind_event (kind, action, reason, detail, actor)
	VALUES (hold.kind, 'held', 'operator', hold.note, hold.actor);
END $$;

-- true when the kind was held.
CREATE FUNCTION payonce.release_kind(kind text, actor text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	v	payonce.kind_hold;
BEGIN
	DELETE FROM payonce.kind_hold h WHERE h.kind = release_kind.kind
	RETURNING h.* INTO v;
	IF NOT FOUND THEN
		RETURN false;
	END IF;
	INSERT INTO payonce.kind_event (kind, action, reason, detail, actor)
	VALUES (v.kind, 'released', v.reason, v.detail,
	    coalesce(release_kind.actor, session_user));
	PERFORM pg_notify('payonce_new', v.kind);
	RETURN true;
END $$;

-- What each attempt costs.  spent: actual where there is one, else estimated;
-- at_risk: nobody knows yet whether it was charged.  past_attempt counts only
-- where a person began a new attempt: the other rows there are earlier facts
-- of an attempt that the task itself still holds, or were proven free.
CREATE VIEW payonce.attempt_cost AS
SELECT t.id AS task_id, t.attempt, t.job_id, t.kind, t.provider, t.currency,
    coalesce(t.submit_started_at, t.submitted_at, t.finished_at,
	t.updated_at) AS at,
    CASE WHEN t.cost_actual IS NOT NULL THEN t.cost_actual
	WHEN t.submit_started_at IS NULL OR t.status = 'OUTCOME_UNKNOWN'
	THEN 0 ELSE coalesce(t.cost_estimated, 0) END AS spent,
    CASE WHEN t.status = 'OUTCOME_UNKNOWN' AND t.cost_actual IS NULL
	THEN coalesce(t.cost_estimated, 0) ELSE 0 END AS at_risk
  FROM payonce.generation_task t
 WHERE t.submit_started_at IS NOT NULL OR t.cost_actual IS NOT NULL
UNION ALL
SELECT p.task_id, p.attempt, t.job_id, t.kind, p.provider, p.currency,
    p.submit_started_at, coalesce(p.cost_actual, 0),
    CASE WHEN p.cost_actual IS NULL THEN coalesce(p.cost_estimated, 0)
	ELSE 0 END
  FROM payonce.past_attempt p
  JOIN payonce.generation_task t ON t.id = p.task_id
 WHERE p.action = 'requeue';

CREATE VIEW payonce.spend AS
SELECT c.kind, c.provider, (c.at AT TIME ZONE 'UTC')::date AS day,
    c.currency, count(*) AS attempts, sum(c.spent) AS spent,
    sum(c.at_risk) AS at_risk
  FROM payonce.attempt_cost c
 GROUP BY 1, 2, 3, 4;

CREATE VIEW payonce.job_cost AS
SELECT j.job_id, j.tasks, j.succeeded, j.failed, j.canceled, j.parked,
    j.tasks - j.succeeded - j.failed - j.canceled - j.parked AS open,
    c.currency, coalesce(c.spent, 0) AS spent,
    coalesce(c.at_risk, 0) AS at_risk
  FROM (SELECT t.job_id, count(*) AS tasks,
	    count(*) FILTER (WHERE t.status = 'SUCCEEDED') AS succeeded,
	    count(*) FILTER (WHERE t.status = 'FAILED') AS failed,
	    count(*) FILTER (WHERE t.status = 'CANCELED') AS canceled,
	    count(*) FILTER (WHERE t.status = 'OUTCOME_UNKNOWN') AS parked
	  FROM payonce.generation_task t
	 WHERE t.job_id IS NOT NULL GROUP BY t.job_id) j
  LEFT JOIN (SELECT a.job_id, a.currency, sum(a.spent) AS spent,
	    sum(a.at_risk) AS at_risk
	  FROM payonce.attempt_cost a
	 WHERE a.job_id IS NOT NULL GROUP BY a.job_id, a.currency) c
    ON c.job_id = j.job_id;

CREATE VIEW payonce.parked AS
SELECT t.id, t.kind, t.provider, t.model, t.attempt, t.reason, t.detail,
    t.parked_at, t.submit_started_at AS marked_at,
    t.remote_request_id AS request_id, t.own_id, t.cost_estimated,
    t.currency, CASE
    WHEN t.result IS NOT NULL THEN format('The result is on the row already. '
	'Look at it with "payonce show %1$s"; if it is good: payonce resolve '
	'%1$s succeeded.', t.id)
    WHEN t.reason = 'poll_deadline' THEN format('The provider accepted this '
	'as request %2$s and was not done in time. Look it up there. Still '
	'running or done: payonce resolve %1$s adopt (polling goes on). '
	'Failed there: payonce resolve %1$s failed.', t.id,
	t.remote_request_id)
    WHEN t.remote_request_id IS NOT NULL THEN format('The provider accepted '
	'this as request %2$s, but its end could not be read (%3$s). Look it '
	'up there. Done or running: payonce resolve %1$s adopt. Failed: '
	'payonce resolve %1$s failed.', t.id, t.remote_request_id, t.reason)
    WHEN t.reason = 'accepted_without_id' THEN format('The provider said yes '
	'at %2$s, but gave no readable request id; it will most likely '
	'charge. Find the request in its dashboard or in the receipt, then: '
	'payonce resolve %1$s adopt --request-id ID.', t.id,
	to_char(t.submit_started_at AT TIME ZONE 'UTC',
	'YYYY-MM-DD HH24:MI:SS "UTC"'))
    ELSE format('The request may have been sent at %2$s (%3$s). Look in the '
	'provider''s dashboard for a request from that second%4$s. Found: '
	'payonce resolve %1$s adopt --request-id ID. Surely not there: '
	'payonce resolve %1$s requeue (a new, second attempt). If you cannot '
	'tell, requeue may pay twice.', t.id,
	to_char(t.submit_started_at AT TIME ZONE 'UTC',
	'YYYY-MM-DD HH24:MI:SS "UTC"'), t.reason,
	CASE WHEN t.own_id IS NOT NULL THEN ' (our id: ' || t.own_id || ')'
	ELSE '' END)
    END AS advice
  FROM payonce.generation_task t
 WHERE t.status = 'OUTCOME_UNKNOWN';

CREATE VIEW payonce.kind_status AS
SELECT coalesce(c.kind, h.kind) AS kind, coalesce(c.waiting, 0) AS waiting,
    coalesce(c.pending, 0) AS pending, coalesce(c.scheduled, 0) AS scheduled,
    coalesce(c.running, 0) AS running, coalesce(c.submitted, 0) AS submitted,
    coalesce(c.succeeded, 0) AS succeeded, coalesce(c.failed, 0) AS failed,
    coalesce(c.canceled, 0) AS canceled, coalesce(c.parked, 0) AS parked,
    h.reason AS held_reason, h.detail AS held_detail, h.since AS held_since,
    h.by_host AS held_by
  FROM (SELECT t.kind,
	    count(*) FILTER (WHERE t.status = 'WAITING') AS waiting,
	    count(*) FILTER (WHERE t.status = 'PENDING'
		AND t.run_at <= clock_timestamp()) AS pending,
	    count(*) FILTER (WHERE t.status = 'PENDING'
		AND t.run_at > clock_timestamp()) AS scheduled,
	    count(*) FILTER (WHERE t.status = 'RUNNING') AS running,
	    count(*) FILTER (WHERE t.status = 'SUBMITTED') AS submitted,
	    count(*) FILTER (WHERE t.status = 'SUCCEEDED') AS succeeded,
	    count(*) FILTER (WHERE t.status = 'FAILED') AS failed,
	    count(*) FILTER (WHERE t.status = 'CANCELED') AS canceled,
	    count(*) FILTER (WHERE t.status = 'OUTCOME_UNKNOWN') AS parked
	  FROM payonce.generation_task t GROUP BY t.kind) c
  FULL JOIN payonce.kind_hold h ON h.kind = c.kind;

CREATE VIEW payonce.host_status AS
SELECT h.owner, h.hostname, h.pid, h.version, h.kinds, h.started_at,
    h.seen_at, extract(epoch FROM clock_timestamp() - h.seen_at)::bigint
	AS silent_s,
    coalesce(f.in_flight, 0) AS in_flight,
    coalesce(f.lease_lost, 0) AS lease_lost
  FROM payonce.host h
  LEFT JOIN (SELECT t.lease_owner, count(*) AS in_flight,
	    count(*) FILTER (WHERE t.lease_expires_at <= clock_timestamp())
		AS lease_lost
	  FROM payonce.generation_task t
	 WHERE t.status IN ('RUNNING', 'SUBMITTED')
	   AND t.lease_owner IS NOT NULL
	 GROUP BY t.lease_owner) f ON f.lease_owner = h.owner;
