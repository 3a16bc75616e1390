/*
 * mock.h - what the rooms of payonce-mock share: one connection, one ledger
 * row (which is also the generation that it paid for), one script.
 *
 * One process, one event loop.  Rows live until the end of the process;
 * connections are freed at the end of the loop turn in which they died.
 */
#ifndef PAYONCE_MOCK_H
#define PAYONCE_MOCK_H

#include <sys/queue.h>

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/mono.h"

#define MOCK_HEAD_MAX	(64 * 1024)
#define MOCK_BODY_MAX	(16 * 1024 * 1024)
#define MOCK_OUT_MAX	(512 * 1024 * 1024)
#define MOCK_FOREIGN	"127.0.0.2"	/* the host nobody should follow to */

struct json_object;
struct row;

/* One request's head, copied out of the connection's buffer. */
struct request {
	char	 method[8];
	char	 path[1024];
	char	 query[512];
	char	 host[128];
	char	 auth[256];
	int64_t	 task;
	int	 attempt;
	bool	 has_task;
	bool	 has_auth;
	bool	 has_len;
	bool	 is_kept;		/* the connection may stay open */
	bool	 is_expecting;		/* Expect: 100-continue */
	size_t	 body_len;
};

enum conn_state {
	CONN_HEAD,			/* reading a head */
	CONN_BODY,			/* reading a body */
	CONN_HELD,			/* the answer is not due (yet) */
	CONN_WRITE,			/* the answer is on its way */
	CONN_DEAD			/* freed at the end of the turn */
};

/* Why a request is not answered as its script says. */
enum force {
	FORCE_NONE, FORCE_401, FORCE_503, FORCE_HANG, FORCE_DROP_IDLE
};

/* What a held connection waits for in GET /_mock/wait; -1: not asked. */
struct wait_for {
	int64_t	 posts;
	int64_t	 charged;
	int64_t	 polls;
	int64_t	 results;
	int64_t	 downloads;
	int64_t	 open;
	int64_t	 task;			/* posts and charged of this task */
	bool	 has_task;
};

struct conn {
	TAILQ_ENTRY(conn) entry;
	TAILQ_ENTRY(conn) wait_entry;
	int		 fd;		/* -1: closed */
	enum conn_state	 state;
	struct event	 ev_read;
	struct event	 ev_write;
	struct event	 ev_timer;	/* delay, drip, wait */
	void		(*on_timer)(struct conn *);
	struct buf	 in;
	struct buf	 out;
	struct request	 req;
	struct row	*row;		/* submit in progress */
	struct wait_for	 wait;
	uint64_t	 stream_left;	/* bytes of filler behind out */
	size_t		 drip_len;	/* so many bytes per drip */
	int64_t		 drip_ms;	/* between two of them */
	enum force	 force;		/* whatever the script says */
	bool		 is_foreign;	/* came in at MOCK_FOREIGN */
	bool		 is_waiting;	/* on the list of waits */
	bool		 is_open_submit;	/* counted in stats.open */
	bool		 is_cut;	/* close behind out, whatever is kept */
	bool		 drops_next;	/* close_idle: the next request dies */
};

enum submit_how {
	SUBMIT_OK, SUBMIT_DROP_BEFORE_READ, SUBMIT_DROP_AFTER_READ,
	SUBMIT_DROP_MID_ANSWER, SUBMIT_HANG, SUBMIT_STATUS, SUBMIT_REDIRECT,
	SUBMIT_GARBAGE, SUBMIT_EMPTY, SUBMIT_NO_ID, SUBMIT_ERROR_200,
	SUBMIT_HTML_200, SUBMIT_DRIP, SUBMIT_CLOSE_IDLE, SUBMIT_TWICE,
	SUBMIT_FOREIGN_URL, SUBMIT_HOW_MAX
};

enum answer_how {
	ANSWER_OK, ANSWER_PENDING, ANSWER_STATUS, ANSWER_GARBAGE,
	ANSWER_EMPTY, ANSWER_DROP, ANSWER_DROP_MID, ANSWER_HANG, ANSWER_WORD,
	ANSWER_FOREIGN_URL, ANSWER_HOW_MAX
};

enum end_how {
	END_DONE, END_FAILED, END_CANCELED, END_DONE_ERROR, END_DONE_422,
	END_DONE_NOTHING, END_RESULT_GONE, END_HOW_MAX
};

enum word_case { CASE_AS_IS, CASE_LOWER, CASE_UPPER, CASE_MIXED };

enum artifact_kind {
	ARTIFACT_BY_MODEL, ARTIFACT_IMAGE, ARTIFACT_SOUND, ARTIFACT_CLIP,
	ARTIFACT_NONE
};

enum artifact_fault {
	FAULT_NONE, FAULT_HUGE, FAULT_GONE, FAULT_GONE_ONCE,
	FAULT_REDIRECT_FOREIGN, FAULT_FOREIGN, FAULT_DRIP
};

/* One scripted answer of a list. */
struct answer {
	enum answer_how	 how;
	int		 status;
	char		 word[32];
};

struct answers {
	struct answer	*list;
	size_t		 count;
};

struct script {
	enum submit_how	 submit;
	int		 status;	/* of SUBMIT_STATUS, SUBMIT_REDIRECT */
	int		 bill;		/* -1: by rule, 0, 1 */
	int64_t		 delay_ms;
	char		 retry_after[40];
	bool		 is_once;
	int64_t		 latency_ms;	/* -1: the mock's */
	struct answers	 polls;
	struct answers	 results;
	struct answers	 downloads;
	bool		 is_never;
	enum word_case	 word_case;
	enum end_how	 end;
	char		 price[32];	/* "": by model */
	enum artifact_kind artifact;
	enum artifact_fault fault;
	uint64_t	 huge_len;
	int64_t		 artifact_delay_ms;
	int64_t		 drip_ms;	/* a dripped answer takes this long */
	int		 count;		/* images */
};

enum shape { SHAPE_FAL, SHAPE_REPLICATE };
enum mark { MARK_UNKNOWN = -1, MARK_NO = 0, MARK_YES = 1 };

/* A POST, what it cost, and the generation that it started. */
struct row {
	TAILQ_ENTRY(row) batch_entry;	/* waits for the ledger's fdatasync */
	struct conn	*conn;		/* NULL once the client is gone */
	uint64_t	 seq;
	int64_t		 at_ms;		/* wall time, for people */
	enum shape	 shape;
	int64_t		 task;
	int		 attempt;
	bool		 has_task;
	bool		 has_body;	/* the body came, or never will */
	bool		 has_mark;	/* the look-up answered */
	bool		 is_settled;
	bool		 is_accepted;
	bool		 is_charged;
	bool		 is_canceled;
	bool		 is_scripted;	/* script->submit applies */
	enum mark	 mark;
	enum submit_how	 how;
	int		 status;
	char		 behaviour[24];
	char		 model[128];
	char		 price[32];
	char		 request_id[37];
	struct mono	 accepted_at;
	struct mono	 ready_at;
	struct script	*script;	/* NULL: all defaults */
	char		*script_text;	/* for the ledger file; or NULL */
	size_t		 poll_count;
	size_t		 result_count;
	size_t		 download_count;
	size_t		 mint_count;	/* times its URLs were given out */
};

enum outage { OUTAGE_OFF, OUTAGE_REFUSE, OUTAGE_HANG, OUTAGE_503 };

struct stats {
	int64_t	 posts;
	int64_t	 charged_posts;
	int64_t	 tasks;			/* with at least one POST */
	int64_t	 charged_twice;		/* (task, attempt) pairs */
	int64_t	 tasks_charged_twice;
	int64_t	 unmarked;
	int64_t	 mark_unknown;		/* asked, and no answer to be had */
	int64_t	 polls;
	int64_t	 results;
	int64_t	 downloads;
	int64_t	 downloads_keyed;
	int64_t	 foreign;		/* requests at MOCK_FOREIGN */
	int64_t	 foreign_keyed;		/* ... that brought a key along */
	int64_t	 open;			/* submits read and not answered */
	int64_t	 malformed;
	int64_t	 connections;
	char	 spent[48];
};

struct mock {
	struct event_base *base;
	char		 key[256];	/* "": none needed */
	int64_t		 latency_ms;
	enum outage	 outage;
	uint16_t	 port;
	struct stats	 stats;
	bool		 is_dirty;	/* a number changed in this turn */
	bool		 is_stopping;
};

extern struct mock	mock;

/* mock_listen.c */
int	 listen_open(uint16_t port);		/* 0 picks a free one */
void	 listen_close(void);
int	 listen_set_refusing(bool);

/* mock_conn.c */
void	 conn_new(int fd, bool is_foreign);
void	 conn_reap(void);
void	 conn_close_all(void);
void	 conn_drop(struct conn *, bool is_reset);
void	 conn_hold(struct conn *);
void	 conn_hold_ms(struct conn *, int64_t ms, void (*)(struct conn *));
void	 conn_release(struct conn *);	/* end of a hold's timer */

/* mock_answer.c */
void	 answer_send(struct conn *, int status, const char *type,
	    const char *headers, const void *body, size_t len);
void	 answer_json(struct conn *, int status, const char *headers,
	    const char *json);
void	 answer_error(struct conn *, int status, const char *text);
void	 answer_stream(struct conn *, uint64_t len);
void	 answer_drip(struct conn *, int64_t total_ms);
void	 answer_cut(struct conn *);		/* half of it, then close */
void	 answer_twice(struct conn *);
void	 answer_start(struct conn *);
void	 answer_write(struct conn *);

/* mock_http.c */
size_t	 http_head_len(const struct buf *);	/* 0: not complete */
int	 http_parse(const char *head, size_t len, struct request *ret);
const char *http_reason(int status);
int	 http_query_i64(const struct request *, const char *name,
	    int64_t *ret);

/* mock_route.c */
void	 route_head(struct conn *);		/* the head is complete */
void	 route_body(struct conn *);		/* and so is the body */

/* mock_submit.c */
void	 submit_begin(struct conn *, enum shape, const char *model,
	    size_t model_len);
void	 submit_body(struct conn *);
void	 submit_gone(struct conn *);		/* the client went away */
void	 submit_mark(struct row *, enum mark);
void	 submit_go(struct row *);		/* the ledger has it */

/* mock_script.c */
struct script *script_parse(struct json_object *, char *error, size_t cap);
void	 script_free(struct script **);
const struct script *script_of(const struct row *);

/* mock_words.c */
enum word_list {
	WORDS_SUBMIT, WORDS_ANSWER, WORDS_END, WORDS_CASE, WORDS_KIND,
	WORDS_FAULT
};
int	 words_find(enum word_list, const char *text, const char **ret_rest);
const char *words_name(enum word_list, int which);
const char *words_put_case(enum word_case, const char *word, char *ret,
	    size_t cap);

/* mock_ledger.c */
int	 ledger_open(const char *path);
void	 ledger_close(void);
struct row *ledger_add(enum shape, const struct request *);
void	 ledger_accept(struct row *);		/* gives it a request id */
void	 ledger_charge(struct row *);
void	 ledger_settle(struct row *);
void	 ledger_flush(void);
struct row *ledger_find(const char *request_id, size_t len);
int	 ledger_index(struct row *);
void	 ledger_count_task(const struct row *);
int	 ledger_task_count(int64_t task, int64_t *ret_posts,
	    int64_t *ret_charged);
int	 ledger_append(struct row *);
struct row *ledger_row(size_t);			/* NULL behind the last */

/* mock_record.c */
int	 record_put(struct buf *, const struct row *, bool is_file);
int	 record_load(const char *text, size_t len, size_t *ret_good);
int	 record_put_all(struct buf *, bool has_task, int64_t task,
	    int64_t since);

/* mock_table.c: keys of two words -> pointer; nothing is ever removed */
struct table {
	struct table_slot {
		uint64_t a, b;
		void	*value;
	}		*slots;
	size_t		 cap;
	size_t		 count;
};
void	*table_get(const struct table *, uint64_t a, uint64_t b);
int	 table_put(struct table *, uint64_t a, uint64_t b, void *value);
void	 table_done(struct table *);

/* mock_poll.c */
enum phase { PHASE_QUEUED, PHASE_RUNNING, PHASE_ENDED };
struct view {
	enum phase	 phase;
	const char	*word;		/* NULL: the phase's own */
	bool		 is_foreign;	/* URLs lead to MOCK_FOREIGN */
	bool		 is_cut;	/* half the answer, then the end */
};
bool	 poll_view(struct conn *, struct row *, struct view *ret);
bool	 poll_scripted(struct conn *, const struct row *,
	    const struct answers *, size_t turn, struct view *ret);
enum phase poll_phase(const struct row *);
enum end_how poll_end(const struct row *);
void	 poll_send(struct conn *, const struct view *, int status,
	    const char *headers, struct buf *body);
int	 poll_put_base(struct buf *, const struct conn *, bool is_foreign);

/* mock_fal.c */
const char *fal_submit_model(const struct request *, size_t *ret_len);
void	 fal_route(struct conn *);
void	 fal_accepted(struct conn *, struct row *, int status,
	    bool is_foreign, bool has_id);
void	 fal_error(struct conn *, int status, const char *type,
	    const char *text, const char *headers);

/* mock_replicate.c */
const char *replicate_submit_model(const struct request *,
	    size_t *ret_len);
void	 replicate_route(struct conn *);
void	 replicate_accepted(struct conn *, struct row *, int status,
	    bool is_foreign, bool has_id);
void	 replicate_error(struct conn *, int status, const char *text,
	    const char *headers);

/* mock_file.c: artifact URLs and downloads */
int	 file_put_url(struct buf *, const struct conn *, struct row *,
	    int index, bool is_foreign);
const char *file_type(const struct row *);
enum artifact_kind file_kind(const struct row *);
void	 file_route(struct conn *);

/* mock_png.c, mock_sound.c: small files whose content names the task */
#define ARTIFACT_WIDTH	256
#define ARTIFACT_HEIGHT	144
int	 png_put(struct buf *, uint64_t number, unsigned int index);
/* png_is_ink() tells whether a pixel belongs to the drawn number. */
bool	 png_is_ink(uint64_t number, unsigned int x, unsigned int y,
	    unsigned int scale);
int	 wav_put(struct buf *, uint64_t number);
int	 y4m_put(struct buf *, uint64_t number);

/* mock_markdb.c */
int	 markdb_open(const char *conninfo);
void	 markdb_close(void);
bool	 markdb_is_used(void);
void	 markdb_ask(struct row *);
void	 markdb_flush(void);

/* mock_admin.c */
void	 admin_route(struct conn *);
void	 admin_check_waits(void);
void	 admin_forget(struct conn *);

#endif
