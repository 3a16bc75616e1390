-- 004-roles.sql - least rights.
--
-- Roles belong to the whole cluster: they are made when they are missing and
-- never changed.  GRANT payonce_app TO your_login gives a login its rights.
-- No role may write a table; everything goes through functions that run with
-- the owner's rights and a pinned search_path.

DO $$
DECLARE
	v_role	text;
BEGIN
	FOREACH v_role IN ARRAY ARRAY['payonce_app', 'payonce_supervisor',
	    'payonce_operator'] LOOP
		IF NOT EXISTS (SELECT 1 FROM pg_roles
		    WHERE rolname = v_role) THEN
			BEGIN
				EXECUTE format('CREATE ROLE %I NOLOGIN', v_role);
			EXCEPTION WHEN duplicate_object OR unique_violation THEN
				NULL;	-- another database made it just now
			END;
		END IF;
	END LOOP;
END $$;

REVOKE ALL ON SCHEMA payonce FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA payonce FROM PUBLIC;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA payonce FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA payonce FROM PUBLIC;

GRANT USAGE ON SCHEMA payonce
    TO payonce_app, payonce_supervisor, payonce_operator;
GRANT SELECT ON ALL TABLES IN SCHEMA payonce
    TO payonce_app, payonce_supervisor, payonce_operator;

GRANT EXECUTE ON FUNCTION
    payonce.enqueue(text, jsonb, text, text, int, timestamptz, bigint,
	bigint[]),
    payonce.cancel(bigint)
    TO payonce_app, payonce_operator;

GRANT EXECUTE ON FUNCTION
    payonce.resolve(bigint, text, text, text, text, jsonb, numeric, text),
    payonce.hold(text, text, text)
    TO payonce_operator;

GRANT EXECUTE ON FUNCTION
    payonce.claim(text, text[], text[], text[], int[], int, boolean),
    payonce.renew(text, bigint[], bigint[], int),
    payonce.mark_submit_started(text, bigint[], bigint[], int[], int[],
	text[], text[]),
    payonce.record_submitted(text, bigint[], bigint[], text[], text[],
	text[], text[], int[], text[], text[]),
    payonce.record_result(text, bigint[], bigint[], text[], text[], text[],
	bigint[]),
    payonce.record_progress(text, bigint[], bigint[], int[], text[]),
    payonce.complete(text, bigint[], bigint[], text[], text[], text[]),
    payonce.release(text, bigint[], bigint[], text[], text[], bigint[],
	boolean[], boolean[], int[]),
    payonce.reject(text, bigint[], bigint[], text[], text[]),
    payonce.fail(text, bigint[], bigint[], text[], text[], text[], text[]),
    payonce.park(text, bigint[], bigint[], text[], text[]),
    payonce.expire(text, bigint[], bigint[]),
    payonce.expire_owner(text, bigint[]),
    payonce.apply_receipts(text, bigint[], int[], text[], text[], text[],
	text[], text[], text[], text[], text[], text[], text[], int[]),
    payonce.host_seen(text, text, int, text, jsonb),
    payonce.hold_kind(text, text, text, text),
    payonce.next_due(text[])
    TO payonce_supervisor;
-- a supervisor that reloads releases what it held for an account itself
GRANT EXECUTE ON FUNCTION payonce.settings(), payonce.release_kind(text, text)
    TO payonce_supervisor, payonce_operator;
