/*
 * text.h - text from outside, as PostgreSQL and JSON can take it: UTF-8
 * without NUL.
 */
#ifndef PAYONCE_TEXT_H
#define PAYONCE_TEXT_H

#include <stddef.h>

/* text.c */

/* text_valid_len() is the length of the longest good prefix of s[0..len). */
size_t	text_valid_len(const char *s, size_t len);
/* text_clean() puts '?' in the place of every bad byte. */
void	text_clean(char *s, size_t len);
/* text_clip() is len, or less so that max bytes hold whole characters. */
size_t	text_clip(const char *s, size_t len, size_t max);

#endif
