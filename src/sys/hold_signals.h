/*
 * Puts off SIGTERM, SIGINT and SIGHUP during steps that leave something behind if only some of them are taken. The steps must be
 * short. May be nested; programs that are started meanwhile get the signals.
 */
#ifndef SYS_HOLD_SIGNALS_H
#define SYS_HOLD_SIGNALS_H

void signals_hold(void);
/* Signals that have come meanwhile are delivered now. */
void signals_let_go(void);

#endif
