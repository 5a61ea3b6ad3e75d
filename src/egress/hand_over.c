#include "egress/hand_over.h"

#include <string.h>

#include "credentials/control.h"
#include "sys/sock.h"

bool is_handed_over(const struct proxy *p, const struct host *h)
{
	return p->over >= 0 && p->handed_over && h->port == 443 && strvec_has(p->handed_over, h->name);
}

int hand_over(const struct proxy *p, int fd, const struct host *h, const char *early, size_t len)
{
	auto_buf message = BUF_INIT(CREDENTIALS_OVER_MAX);

	buf_add(&message, h->name, strlen(h->name) + 1);
	buf_add(&message, early, len);
	return sock_send(p->over, message.data, message.len, &fd, 1);
}
