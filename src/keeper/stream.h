/*
 * The bytes of a command: in, out, and the pace of its clients.
 */
#ifndef KEEPER_STREAM_H
#define KEEPER_STREAM_H

#include <stddef.h>

struct command;

int stream_open(struct command *cmd, int master);
void stream_close_out(struct command *cmd, int which);
void stream_close(struct command *cmd);
/* Clients' STDIN to the command, as far as it takes it. */
void stream_feed(struct command *cmd);
/* Reads or rests, by how far the clients are behind. */
void stream_pace(struct command *cmd);
/* Everything that is in the pipes now. */
void stream_drain(struct command *cmd);

#endif
