/*
 * cmd_migrate.c - payonce migrate: the schema, made or brought up to date.
 */
#include "cli/cli.h"
#include "common/err.h"
#include "common/exitcodes.h"
#include "common/mem.h"
#include "sql/migrate.h"

int
cmd_migrate(struct cli *cli, int argc, char **argv)
{
	char	*error = NULL;
	int	 applied = 0, rc;

	if ((rc = opts_parse(cli, argc, argv, NULL, 0, 0, 0)) < 0)
		return opts_status(rc);
	if ((rc = db_open(cli)) != 0)
		return rc;
	if ((rc = migrate_run(cli->db, &applied, &error)) != 0)
		cli_fail(cli, rc == PO_EVERSION ?
		    "use a payonce as new as the schema, or another database" :
		    NULL, "%s: %s", cli->where,
		    error != NULL ? error : po_strerror(rc));
	else if (cli->is_json)
		(void)printf("{\"applied\":%d}\n", applied);
	else if (applied == 0)
		(void)printf("the schema is up to date\n");
	else
		(void)printf("applied %d migration%s; the database is "
		    "ready\n", applied, applied == 1 ? "" : "s");
	mem_free(error);
	return rc == 0 ? EXIT_CODE_OK : EXIT_CODE_FAILED;
}
