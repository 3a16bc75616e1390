-- 001-schema.sql - types, tables, constraints, indexes, triggers.
--
-- What the laws forbid is refused here, whoever asks: CHECK constraints tie a
-- status to the columns that it needs, triggers refuse every edge that is not
-- drawn in DESIGN section 4.  Applied by "payonce migrate", never edited later.

CREATE SCHEMA IF NOT EXISTS payonce;
CREATE TABLE IF NOT EXISTS payonce.migration (
	version		int PRIMARY KEY,
	name		text NOT NULL,
	applied_at	timestamptz NOT NULL DEFAULT now()
);

CREATE TYPE payonce.task_status AS ENUM ('WAITING', 'PENDING', 'RUNNING',
    'SUBMITTED', 'SUCCEEDED', 'FAILED', 'CANCELED', 'OUTCOME_UNKNOWN');

-- One sequence for all tasks: a token is never given twice.
CREATE SEQUENCE payonce.lease_token_seq AS bigint;

CREATE TABLE payonce.generation_task (
	id			bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	job_id			bigint,
	kind			text NOT NULL,
	provider		text,		-- NULL: local, nothing is paid
	model			text,
	status			payonce.task_status NOT NULL DEFAULT 'PENDING',
	reason			text,		-- machine word
	detail			text,		-- for people
	priority		smallint NOT NULL DEFAULT 100,	-- lower first
	run_at			timestamptz NOT NULL DEFAULT now(),
	-- due: run_at has come.  claim() ripens it, so that a claim never walks
	-- over rows that are scheduled for later.
	due			boolean NOT NULL DEFAULT true,
	dedupe_key		text,
	input			jsonb NOT NULL,
	parent_count		int NOT NULL DEFAULT 0,
	-- Set while a parent could have ended without seeing this row: 0 when
	-- no sweep has looked at it yet (002-transitions.sql, settle_sweep).
	recheck_xid		xid8,
	lease_owner		text,
	-- The token stays when a lease ends, so that a batch that is repeated
	-- after a lost connection finds its own effect.
	lease_token		bigint,
	lease_expires_at	timestamptz,
	requeues		int NOT NULL DEFAULT 0,
	attempt			int NOT NULL DEFAULT 1,
	submit_started_at	timestamptz,	-- the mark
	remote_request_id	text,
	submitted_at		timestamptz,
	poll_url		text,
	result_url		text,
	cancel_url		text,
	poll_deadline_at	timestamptz,
	own_id			text,
	idempotency_key		text,
	idempotency_expires_at	timestamptz,
	lookup_until		timestamptz,
	fetch_before		timestamptz,
	progress		real,
	progress_note		text,
	cancel_requested_at	timestamptz,
	cost_estimated		numeric,
	cost_actual		numeric,
	currency		text,
	result			jsonb,
	parked_at		timestamptz,
	decided_by		text,	-- the person who resolved this attempt
	created_at		timestamptz NOT NULL DEFAULT now(),
	updated_at		timestamptz NOT NULL DEFAULT now(),
	finished_at		timestamptz,

	-- Which columns a status needs and which it forbids.  One expression,
	-- because the server reads it anew for every statement.
	CONSTRAINT task_columns_fit_status CHECK (CASE
	    WHEN status IN ('WAITING', 'PENDING') THEN
		num_nonnulls(submit_started_at, remote_request_id,
		    submitted_at, lease_owner, lease_expires_at, result,
		    cancel_requested_at, parked_at, finished_at) = 0
	    WHEN status = 'RUNNING' THEN
		num_nulls(lease_owner, lease_token, lease_expires_at) = 0
		AND num_nonnulls(remote_request_id, parked_at, finished_at) = 0
	    WHEN status = 'SUBMITTED' THEN
		num_nulls(remote_request_id, submit_started_at,
		    submitted_at) = 0
		AND num_nonnulls(lease_owner, lease_expires_at) <> 1
		AND num_nonnulls(parked_at, finished_at) = 0
	    WHEN status = 'OUTCOME_UNKNOWN' THEN
		num_nulls(submit_started_at, reason, parked_at) = 0
		AND num_nonnulls(lease_owner, lease_expires_at,
		    finished_at) = 0
	    ELSE
		finished_at IS NOT NULL
		AND num_nonnulls(lease_owner, lease_expires_at, parked_at) = 0
		AND CASE status
		    WHEN 'SUCCEEDED' THEN result IS NOT NULL
		    WHEN 'CANCELED' THEN num_nonnulls(submit_started_at,
			remote_request_id) = 0
		    ELSE remote_request_id IS NULL
			OR submit_started_at IS NOT NULL
		    END
	    END)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_analyze_scale_factor = 0.02);

-- No index and no predicate names lease_expires_at, submit_started_at or
-- progress: renewals, marks and progress are HOT updates.
CREATE INDEX task_due ON payonce.generation_task (kind, priority, id)
    WHERE status = 'PENDING' AND due;
CREATE INDEX task_scheduled ON payonce.generation_task (kind, run_at)
    WHERE status = 'PENDING' AND NOT due;
CREATE INDEX task_in_flight ON payonce.generation_task (kind, id)
    WHERE status IN ('RUNNING', 'SUBMITTED');
CREATE INDEX task_parked ON payonce.generation_task (id)
    WHERE status = 'OUTCOME_UNKNOWN';
CREATE INDEX task_recheck ON payonce.generation_task (recheck_xid)
    WHERE status = 'WAITING' AND recheck_xid IS NOT NULL;
CREATE INDEX task_job ON payonce.generation_task (job_id)
    WHERE job_id IS NOT NULL;
CREATE UNIQUE INDEX task_dedupe ON payonce.generation_task (dedupe_key)
    WHERE dedupe_key IS NOT NULL;

-- A child waits for its parents; ord keeps the order of enqueue's array.
CREATE TABLE payonce.task_dep (
	child	bigint NOT NULL REFERENCES payonce.generation_task (id)
	    ON DELETE CASCADE,
	parent	bigint NOT NULL REFERENCES payonce.generation_task (id),
	ord	int NOT NULL,
	PRIMARY KEY (child, parent),
	CONSTRAINT dep_is_forward CHECK (parent < child)	-- no cycle
);
CREATE INDEX task_dep_parent ON payonce.task_dep (parent);

-- Every transition.  No foreign key: its check would cost more than the
-- insert, and only the functions here write the table.
CREATE TABLE payonce.task_event (
	id		bigint GENERATED ALWAYS AS IDENTITY,
	task_id		bigint NOT NULL,
	attempt		int NOT NULL,
	from_status	payonce.task_status,	-- NULL: the task was made
	to_status	payonce.task_status NOT NULL,
	reason		text,
	detail		text,
	actor		text NOT NULL DEFAULT session_user,
	host		text,
	at		timestamptz NOT NULL DEFAULT clock_timestamp(),
	PRIMARY KEY (task_id, id)
);

-- The money facts of an attempt that something took the place of.
CREATE TABLE payonce.past_attempt (
	id			bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	task_id			bigint NOT NULL
	    REFERENCES payonce.generation_task (id),
	attempt			int NOT NULL,
	status			payonce.task_status NOT NULL,
	reason			text,
	detail			text,
	provider		text,
	model			text,
	own_id			text,
	idempotency_key		text,
	idempotency_expires_at	timestamptz,
	lookup_until		timestamptz,
	submit_started_at	timestamptz,
	submitted_at		timestamptz,
	remote_request_id	text,
	poll_url		text,
	result_url		text,
	cancel_url		text,
	cost_estimated		numeric,
	cost_actual		numeric,
	currency		text,
	result			jsonb,
	action			text NOT NULL,	-- released, receipt, requeue, ...
	superseded_by		text NOT NULL,	-- a person, or the host
	note			text,
	superseded_at		timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX past_attempt_task ON payonce.past_attempt (task_id, attempt);

CREATE TABLE payonce.kind_hold (
	kind	text PRIMARY KEY,
	reason	text NOT NULL,
	detail	text,
	since	timestamptz NOT NULL DEFAULT clock_timestamp(),
	by_host	text
);

-- Who held and who released a kind, and why.
CREATE TABLE payonce.kind_event (
	id	bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	kind	text NOT NULL,
	action	text NOT NULL,		-- held, released
	reason	text,
	detail	text,
	actor	text NOT NULL,
	at	timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE payonce.host (
	owner		text PRIMARY KEY,
	hostname	text NOT NULL,
	pid		int NOT NULL,
	version		text NOT NULL,
	kinds		jsonb NOT NULL,
	started_at	timestamptz NOT NULL DEFAULT clock_timestamp(),
	seen_at		timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- The one place that knows the edges.  It also sends the notifications, so
-- that no path to a status can forget them.  Legal edges without a
-- notification are let through by the trigger's WHEN, which costs nothing.
CREATE FUNCTION payonce.task_status_guard() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
	IF NOT (CASE OLD.status
	    WHEN 'WAITING' THEN NEW.status IN ('PENDING', 'CANCELED')
	    WHEN 'PENDING' THEN NEW.status IN ('RUNNING', 'CANCELED')
	    WHEN 'RUNNING' THEN NEW.status IN ('PENDING', 'SUBMITTED',
		'SUCCEEDED', 'FAILED', 'CANCELED', 'OUTCOME_UNKNOWN')
	    WHEN 'SUBMITTED' THEN NEW.status IN ('SUCCEEDED', 'FAILED',
		'OUTCOME_UNKNOWN')
	    WHEN 'OUTCOME_UNKNOWN' THEN NEW.status IN ('SUBMITTED', 'PENDING',
		'FAILED', 'SUCCEEDED')
	    ELSE false
	END) THEN
		RAISE EXCEPTION 'payonce: task % cannot go from % to %',
		    OLD.id, OLD.status, NEW.status
		    USING ERRCODE = 'check_violation';
	END IF;
	IF OLD.status = 'OUTCOME_UNKNOWN' AND coalesce(
	    current_setting('payonce.evidence', true), '')
	    NOT IN ('resolve', 'receipt') THEN
		RAISE EXCEPTION 'payonce: task % is parked; only a person '
		    '(payonce.resolve) or a receipt moves it', OLD.id
		    USING ERRCODE = 'check_violation';
	END IF;
	IF NEW.status IN ('SUCCEEDED', 'FAILED', 'CANCELED',
	    'OUTCOME_UNKNOWN') THEN
		PERFORM pg_notify('payonce_done', NEW.id::text);
	ELSIF OLD.status IN ('WAITING', 'OUTCOME_UNKNOWN') THEN
		PERFORM pg_notify('payonce_new', NEW.kind);
	END IF;
	RETURN NEW;
END $$;

CREATE TRIGGER task_status_guard
    BEFORE UPDATE OF status ON payonce.generation_task FOR EACH ROW
    WHEN (OLD.status <> NEW.status
    AND NOT (OLD.status = 'PENDING' AND NEW.status = 'RUNNING')
    AND NOT (OLD.status = 'RUNNING' AND NEW.status IN ('SUBMITTED', 'PENDING')))
    EXECUTE FUNCTION payonce.task_status_guard();

CREATE FUNCTION payonce.task_fixed_guard() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	RAISE EXCEPTION 'payonce: id, kind, input and created_at of task % '
	    'never change', OLD.id USING ERRCODE = 'check_violation';
END $$;

CREATE TRIGGER task_fixed_guard
    BEFORE UPDATE OF id, kind, input, created_at
    ON payonce.generation_task FOR EACH ROW
    WHEN (OLD.id <> NEW.id OR OLD.kind <> NEW.kind
    OR OLD.input IS DISTINCT FROM NEW.input
    OR OLD.created_at IS DISTINCT FROM NEW.created_at)
    EXECUTE FUNCTION payonce.task_fixed_guard();

-- What never changes is checked once, not at every update.
CREATE FUNCTION payonce.task_insert_guard() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	IF NEW.status NOT IN ('WAITING', 'PENDING') THEN
		RAISE EXCEPTION 'payonce: a task starts as WAITING or '
		    'PENDING, not %', NEW.status
		    USING ERRCODE = 'check_violation';
	END IF;
	RAISE EXCEPTION 'payonce: kind must be a word, input a JSON object'
	    USING ERRCODE = 'check_violation';
END $$;

CREATE TRIGGER task_insert_guard
    BEFORE INSERT ON payonce.generation_task FOR EACH ROW
    WHEN (NEW.status NOT IN ('WAITING', 'PENDING')
    OR NEW.kind !~ '^[a-z][a-z0-9_-]{0,63}$'
    OR jsonb_typeof(NEW.input) <> 'object')
    EXECUTE FUNCTION payonce.task_insert_guard();
