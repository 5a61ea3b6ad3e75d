/*
 * Moves a command's bytes: stdin from its clients, output to them, not faster than they read.
 */
#ifndef KEEPER_STREAM_H
#define KEEPER_STREAM_H

#include <stddef.h>

struct command;

int stream_open(struct command *cmd, int master);
void stream_close_out(struct command *cmd, int which);
void stream_close(struct command *cmd);
/* Writes clients' STDIN to the command, as far as it reads. */
void stream_feed(struct command *cmd);
/* Reads the command's output, or stops reading while clients are behind. */
void stream_pace(struct command *cmd);
/* Reads everything that is in the pipes now. */
void stream_drain(struct command *cmd);

#endif
