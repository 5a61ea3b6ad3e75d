#include "jail/order.h"

#include "jail/pack.h"

#define MAGIC "garth-order-1"

void order_cmd_release(struct order_cmd *c)
{
	free(c->cwd);
	strvec_release(&c->argv);
	strvec_release(&c->env);
	*c = (struct order_cmd){ 0 };
}

void order_cmd_pack(const struct order_cmd *c, struct buf *out)
{
	pack_str(out, MAGIC);
	pack_num(out, c->tty);
	pack_num(out, c->rows);
	pack_num(out, c->cols);
	pack_str(out, c->cwd);
	pack_strvec(out, &c->argv);
	pack_strvec(out, &c->env);
}

int order_cmd_unpack(const char *data, size_t len, struct order_cmd *ret, struct err *e)
{
	struct pack_reader r = { data, len, false };
	char *magic = pack_read_str(&r);
	auto_order_cmd c = { 0 };
	bool known = magic && !strcmp(magic, MAGIC);

	free(magic);
	if (!known)
		return err_set(e, ERR_START, "this is not a command of this version");
	c.tty = pack_read_num(&r, 1);
	c.rows = (uint16_t)pack_read_num(&r, UINT16_MAX);
	c.cols = (uint16_t)pack_read_num(&r, UINT16_MAX);
	c.cwd = pack_read_str(&r);
	pack_read_strvec(&r, &c.argv);
	pack_read_strvec(&r, &c.env);
	if (!pack_done(&r) || !c.cwd || !c.argv.n)
		return err_set(e, ERR_START, "the command is malformed");
	*ret = c;
	c = (struct order_cmd){ 0 };
	return 0;
}
