/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * States and attributes of QPs of pvrdma: each step with each attribute missing or added,
 * each attribute beyond its limit, and the path to an address.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "hw/rnic/pvrdma/base/caps.h"
#include "hw/rnic/pvrdma/wire/gid.h"
#include "hw/rnic/pvrdma/pvrdma.h"
#include "hw/rnic/pvrdma/objects/qp-attr.h"
#include "hw/rnic/pvrdma/objects/qp.h"
#include "hw/rnic/pvrdma/wire/roce.h"
#include "hw/rnic/pvrdma/objects/wq.h"

#define GID_INDEX 5

#define RESET PVRDMA_QPS_RESET
#define INIT  PVRDMA_QPS_INIT
#define RTR   PVRDMA_QPS_RTR
#define RTS   PVRDMA_QPS_RTS
#define SQD   PVRDMA_QPS_SQD
#define SQE   PVRDMA_QPS_SQE
#define ERR   PVRDMA_QPS_ERR
#define RC    PVRDMA_QPT_RC
#define UD    PVRDMA_QPT_UD
#define GSI   PVRDMA_QPT_GSI
#define A(x)  PVRDMA_QP_##x

/* Stub of gid.c with one valid entry. */
bool pvrdma_gid_path(PvrdmaState *s, unsigned index, const uint8_t dgid[16],
                     const uint8_t dmac[6], RocePath *path)
{
    if (index != GID_INDEX) {
        return false;
    }
    *path = (RocePath) { .network = ROCE_NETWORK_IPV6, .vlan = ROCE_NO_VLAN };
    memcpy(path->dgid, dgid, 16);
    memcpy(path->dmac, dmac, 6);
    return true;
}

/* --- Steps ---------------------------------------------------------------- */
/* Row: old state; column: new state, in the order of the numbers. */
static const char *const steps[] = {
    [RESET] = "11.....",
    [INIT]  = "111...1",
    [RTR]   = "1..1..1",
    [RTS]   = "1..11.1",
    [SQD]   = "1..11.1",
    [SQE]   = "1..1..1",
    [ERR]   = "1.....1",
};

typedef struct Rule {
    uint8_t type, from, to;
    uint32_t must, may;
} Rule;

/*
 * Attributes by the manual page of ibv_modify_qp and the InfiniBand specification.  A
 * step without a rule permits only the state.
 */
static const Rule rules[] = {
    { RC, RESET, INIT, A(PKEY_INDEX) | A(PORT) | A(ACCESS_FLAGS), 0 },
    { RC, INIT, INIT, 0, A(PKEY_INDEX) | A(PORT) | A(ACCESS_FLAGS) },
    { RC, INIT, RTR, A(AV) | A(PATH_MTU) | A(DEST_QPN) | A(RQ_PSN) |
      A(MAX_DEST_RD_ATOMIC) | A(MIN_RNR_TIMER), A(PKEY_INDEX) | A(ACCESS_FLAGS) },
    { RC, RTR, RTS, A(SQ_PSN) | A(MAX_QP_RD_ATOMIC) | A(RETRY_CNT) |
      A(RNR_RETRY) | A(TIMEOUT),
      A(CUR_STATE) | A(ACCESS_FLAGS) | A(MIN_RNR_TIMER) | A(PATH_MIG_STATE) },
    { RC, RTS, RTS, 0,
      A(CUR_STATE) | A(ACCESS_FLAGS) | A(MIN_RNR_TIMER) | A(PATH_MIG_STATE) },
    { RC, RTS, SQD, 0, A(EN_SQD_ASYNC_NOTIFY) },
    { RC, SQD, RTS, 0,
      A(CUR_STATE) | A(ACCESS_FLAGS) | A(MIN_RNR_TIMER) | A(PATH_MIG_STATE) },
    { RC, SQD, SQD, 0, A(PORT) | A(AV) | A(TIMEOUT) | A(RETRY_CNT) |
      A(RNR_RETRY) | A(MAX_QP_RD_ATOMIC) | A(MAX_DEST_RD_ATOMIC) |
      A(ACCESS_FLAGS) | A(PKEY_INDEX) | A(MIN_RNR_TIMER) | A(PATH_MIG_STATE) },
    { UD, RESET, INIT, A(PKEY_INDEX) | A(PORT) | A(QKEY), 0 },
    { UD, INIT, INIT, 0, A(PKEY_INDEX) | A(PORT) | A(QKEY) },
    { UD, INIT, RTR, 0, A(PKEY_INDEX) | A(QKEY) },
    { UD, RTR, RTS, A(SQ_PSN), A(CUR_STATE) | A(QKEY) },
    { UD, RTS, RTS, 0, A(CUR_STATE) | A(QKEY) },
    { UD, RTS, SQD, 0, A(EN_SQD_ASYNC_NOTIFY) },
    { UD, SQD, RTS, 0, A(CUR_STATE) | A(QKEY) },
    { UD, SQD, SQD, 0, A(PKEY_INDEX) | A(QKEY) },
    { UD, SQE, RTS, 0, A(CUR_STATE) | A(QKEY) },
    { GSI, RESET, INIT, A(PKEY_INDEX) | A(QKEY), A(PORT) },
    { GSI, INIT, INIT, 0, A(PKEY_INDEX) | A(PORT) | A(QKEY) },
    { GSI, INIT, RTR, 0, A(PKEY_INDEX) | A(QKEY) },
    { GSI, RTR, RTS, A(SQ_PSN), A(CUR_STATE) | A(QKEY) },
    { GSI, RTS, RTS, 0, A(CUR_STATE) | A(QKEY) },
    { GSI, RTS, SQD, 0, A(EN_SQD_ASYNC_NOTIFY) },
    { GSI, SQD, RTS, 0, A(CUR_STATE) | A(QKEY) },
    { GSI, SQD, SQD, 0, A(PKEY_INDEX) | A(QKEY) },
    { GSI, SQE, RTS, 0, A(CUR_STATE) | A(QKEY) },
};

static PvrdmaState state = { .mtu = 1024 };

static PvrdmaQp qp_in(uint8_t type, uint8_t from)
{
    return (PvrdmaQp) {
        .s = &state, .type = type, .state = from, .qpn = 0x10002, .mtu = 77,
    };
}

/* Returns attributes with valid values. */
static struct pvrdma_qp_attr good(uint8_t from, uint8_t to)
{
    return (struct pvrdma_qp_attr) {
        .qp_state = cpu_to_le32(to),
        .cur_qp_state = cpu_to_le32(from),
        .path_mtu = cpu_to_le32(PVRDMA_MTU_1024),
        .path_mig_state = cpu_to_le32(PVRDMA_MIG_MIGRATED),
        .qkey = cpu_to_le32(0x11223344),
        .rq_psn = cpu_to_le32(0xabcdef),
        .sq_psn = cpu_to_le32(0x123456),
        .dest_qp_num = cpu_to_le32(0x4321),
        .qp_access_flags = cpu_to_le32(PVRDMA_ACCESS_REMOTE_READ),
        .en_sqd_async_notify = 1,
        .max_rd_atomic = PVRDMA_MAX_RD_ATOMIC,
        .max_dest_rd_atomic = PVRDMA_MAX_RD_ATOMIC,
        .min_rnr_timer = 31,
        .port_num = 1,
        .timeout = 31,
        .retry_cnt = 7,
        .rnr_retry = 7,
        .ah_attr = {
            .grh = { .dgid = { [15] = 9 }, .sgid_index = GID_INDEX },
            .port_num = 1,
            .dmac = { 2, 0, 0, 0, 0, 9 },
        },
    };
}

static int try_set(PvrdmaQp *qp, uint8_t to, uint32_t mask)
{
    struct pvrdma_qp_attr attr = good(qp->state, to);
    uint8_t result = 0xff;
    int err = pvrdma_qp_attr_set(qp, mask | A(STATE), &attr, &result);

    g_assert_cmpuint(result, ==, err ? 0xff : to);
    return err;
}

static const Rule *rule_find(uint8_t type, uint8_t from, uint8_t to)
{
    for (unsigned i = 0; i < ARRAY_SIZE(rules); i++) {
        const Rule *r = &rules[i];

        if (r->type == type && r->from == from && r->to == to) {
            return r;
        }
    }
    return NULL;
}

/* Tries the step with the needed attributes, but with bit @b inverted. */
static void check_bit(uint8_t type, uint8_t from, uint8_t to, unsigned b)
{
    const Rule *r = rule_find(type, from, to);
    uint32_t must = r ? r->must : 0, may = r ? r->may : 0;
    PvrdmaQp qp = qp_in(type, from), before = qp;
    bool allowed = steps[from][to] == '1' && (RNIC_BIT(b) & may);
    int err = try_set(&qp, to, must ^ RNIC_BIT(b));

    g_assert_cmpint(err, ==, allowed ? 0 : EINVAL);
    if (err) {
        g_assert_cmpmem(&qp, sizeof(qp), &before, sizeof(before));
    }
}

static void check_step(uint8_t type, uint8_t from, uint8_t to)
{
    const Rule *r = rule_find(type, from, to);
    PvrdmaQp qp = qp_in(type, from);

    g_assert_cmpint(try_set(&qp, to, r ? r->must : 0), ==,
                    steps[from][to] == '1' ? 0 : EINVAL);
    for (unsigned b = 0; b < 32; b++) {
        if (RNIC_BIT(b) != A(STATE)) {
            check_bit(type, from, to, b);
        }
    }
}

static void test_steps(void)
{
    static const uint8_t types[] = { RC, UD, GSI };

    for (unsigned t = 0; t < ARRAY_SIZE(types); t++) {
        for (unsigned from = RESET; from <= ERR; from++) {
            for (unsigned to = RESET; to <= ERR; to++) {
                check_step(types[t], from, to);
            }
        }
    }
}

static void test_states_unknown(void)
{
    static const uint32_t to[] = { 7, 0x100, 0x80000001, UINT32_MAX };

    for (unsigned i = 0; i < ARRAY_SIZE(to); i++) {
        PvrdmaQp qp = qp_in(RC, INIT);
        struct pvrdma_qp_attr attr = good(INIT, INIT);
        uint8_t result;

        attr.qp_state = cpu_to_le32(to[i]);
        g_assert_cmpint(pvrdma_qp_attr_set(&qp, A(STATE), &attr, &result), ==,
                        EINVAL);
        /* without the mask bit the value is ignored */
        g_assert_cmpint(pvrdma_qp_attr_set(&qp, 0, &attr, &result), ==, 0);
        g_assert_cmpuint(result, ==, INIT);
    }
}

static void test_current_state(void)
{
    PvrdmaQp qp = qp_in(UD, SQE);
    struct pvrdma_qp_attr attr = good(RTS, RTS);
    uint8_t result;

    g_assert_cmpint(pvrdma_qp_attr_set(&qp, A(STATE) | A(CUR_STATE), &attr,
                                       &result), ==, EINVAL);
    attr.cur_qp_state = cpu_to_le32(SQE);
    g_assert_cmpint(pvrdma_qp_attr_set(&qp, A(STATE) | A(CUR_STATE), &attr,
                                       &result), ==, 0);
}

/* --- Values --------------------------------------------------------------- */
static int set_to_rtr(const struct pvrdma_qp_attr *attr, PvrdmaQp *qp)
{
    uint8_t result;

    *qp = qp_in(RC, INIT);
    return pvrdma_qp_attr_set(qp, A(STATE) | rule_find(RC, INIT, RTR)->must |
                              A(PKEY_INDEX), attr, &result);
}

static int set_to_rts(const struct pvrdma_qp_attr *attr)
{
    PvrdmaQp qp = qp_in(RC, RTR);
    uint8_t result;

    return pvrdma_qp_attr_set(&qp, A(STATE) | rule_find(RC, RTR, RTS)->must |
                              A(PATH_MIG_STATE), attr, &result);
}

/* Asserts that valid attributes are accepted, and that @field = @value is refused. */
#define ASSERT_REFUSED_RTR(field, value) do { \
    struct pvrdma_qp_attr attr_ = good(INIT, RTR); \
    PvrdmaQp qp_; \
    g_assert_cmpint(set_to_rtr(&attr_, &qp_), ==, 0); \
    attr_.field = (value); \
    g_assert_cmpint(set_to_rtr(&attr_, &qp_), ==, EINVAL); \
    } while (0)

#define ASSERT_REFUSED_RTS(field, value) do { \
    struct pvrdma_qp_attr attr_ = good(RTR, RTS); \
    g_assert_cmpint(set_to_rts(&attr_), ==, 0); \
    attr_.field = (value); \
    g_assert_cmpint(set_to_rts(&attr_), ==, EINVAL); \
    } while (0)

static void test_values(void)
{
    ASSERT_REFUSED_RTR(path_mtu, cpu_to_le32(0));
    ASSERT_REFUSED_RTR(path_mtu, cpu_to_le32(PVRDMA_MTU_2048));
    ASSERT_REFUSED_RTR(path_mtu, cpu_to_le32(6));
    ASSERT_REFUSED_RTR(path_mtu, cpu_to_le32(UINT32_MAX));
    ASSERT_REFUSED_RTR(dest_qp_num, cpu_to_le32(0x1000000));
    ASSERT_REFUSED_RTR(max_dest_rd_atomic, PVRDMA_MAX_RD_ATOMIC + 1);
    ASSERT_REFUSED_RTR(min_rnr_timer, 32);
    ASSERT_REFUSED_RTR(pkey_index, cpu_to_le16(PVRDMA_PKEYS));
    ASSERT_REFUSED_RTR(ah_attr.port_num, 0);
    ASSERT_REFUSED_RTR(ah_attr.port_num, 2);
    ASSERT_REFUSED_RTR(ah_attr.grh.sgid_index, GID_INDEX + 1);
    ASSERT_REFUSED_RTS(timeout, 32);
    ASSERT_REFUSED_RTS(retry_cnt, 8);
    ASSERT_REFUSED_RTS(rnr_retry, 8);
    ASSERT_REFUSED_RTS(max_rd_atomic, PVRDMA_MAX_RD_ATOMIC + 1);
    ASSERT_REFUSED_RTS(path_mig_state, cpu_to_le32(PVRDMA_MIG_REARM));
}

static void test_port(void)
{
    static const uint8_t ports[] = { 0, 2, 255 };

    for (unsigned i = 0; i < ARRAY_SIZE(ports); i++) {
        PvrdmaQp qp = qp_in(UD, RESET);
        struct pvrdma_qp_attr attr = good(RESET, INIT);
        uint8_t result;

        attr.port_num = ports[i];
        g_assert_cmpint(pvrdma_qp_attr_set(&qp, A(STATE) | A(PORT) | A(QKEY) |
                        A(PKEY_INDEX), &attr, &result), ==, EINVAL);
    }
}

static void test_kept(void)
{
    struct pvrdma_qp_attr attr = good(INIT, RTR), got = { 0 };
    PvrdmaQp qp;

    /* only 24 bits are kept */
    attr.rq_psn = cpu_to_le32(0xffabcdef);
    g_assert_cmpint(set_to_rtr(&attr, &qp), ==, 0);
    g_assert_cmphex(qp.attr.rq_psn, ==, 0xabcdef);
    g_assert_cmpuint(qp.mtu, ==, 1024);
    g_assert_cmphex(qp.attr.dest_qpn, ==, 0x4321);
    g_assert_cmpuint(qp.attr.qkey, ==, 0);          /* qkey was not in the mask */
    pvrdma_qp_attr_get(&qp, &got);
    g_assert_cmphex(le32_to_cpu(got.qp_state), ==, INIT);
    g_assert_cmphex(le32_to_cpu(got.rq_psn), ==, 0xabcdef);
    g_assert_cmphex(le32_to_cpu(got.path_mtu), ==, PVRDMA_MTU_1024);
    g_assert_cmphex(le32_to_cpu(got.dest_qp_num), ==, 0x4321);
    g_assert_cmpuint(got.max_dest_rd_atomic, ==, PVRDMA_MAX_RD_ATOMIC);
    g_assert_cmpuint(got.min_rnr_timer, ==, 31);
    g_assert_cmpuint(got.timeout, ==, 0);
    g_assert_cmpmem(&got.ah_attr, sizeof(got.ah_attr), &attr.ah_attr,
                    sizeof(attr.ah_attr));
}

/* --- Paths ---------------------------------------------------------------- */
static void test_path(void)
{
    PvrdmaQp qp = qp_in(RC, INIT);
    PvrdmaAv av = {
        .dgid = { 0xfe, 0x80, [15] = 7 }, .dmac = { 2, [5] = 7 },
        .gid_index = GID_INDEX, .port = 1, .flow_label = 0xfff12345,
        .traffic_class = 0x68,
    };
    RocePath path, other;

    g_assert_true(pvrdma_qp_path(&qp, &av, 0x4321, &path));
    g_assert_cmpmem(path.dgid, 16, av.dgid, 16);
    g_assert_cmpmem(path.dmac, 6, av.dmac, 6);
    g_assert_cmphex(path.flow_label, ==, 0x12345);
    g_assert_cmphex(path.traffic_class, ==, 0x68);
    g_assert_cmpuint(path.hop_limit, ==, 64);
    g_assert_cmphex(path.sport, >=, ROCE_UDP_SPORT_MIN);
    /* a flow keeps its source port; other flows have other source ports [EXT] */
    g_assert_true(pvrdma_qp_path(&qp, &av, 0x4321, &other));
    g_assert_cmphex(path.sport, ==, other.sport);
    g_assert_true(pvrdma_qp_path(&qp, &av, 0x4322, &other));
    g_assert_cmphex(path.sport, !=, other.sport);
    av.hop_limit = 3;
    g_assert_true(pvrdma_qp_path(&qp, &av, 0x4321, &path));
    g_assert_cmpuint(path.hop_limit, ==, 3);
    av.port = 2;
    g_assert_false(pvrdma_qp_path(&qp, &av, 0x4321, &path));
}

/* With DCQCN the path has ECT(0), unless the guest has set ECN bits. */
static void test_path_ecn(void)
{
    PvrdmaState s = { .mtu = 1024, .dcqcn = true };
    PvrdmaQp qp = { .s = &s };
    PvrdmaAv av = { .gid_index = GID_INDEX, .port = 1, .traffic_class = 0x68 };
    RocePath path;

    g_assert_true(pvrdma_qp_path(&qp, &av, 1, &path));
    g_assert_cmphex(path.traffic_class, ==, 0x68 | ROCE_ECN_ECT0);
    av.traffic_class = 0x69;
    g_assert_true(pvrdma_qp_path(&qp, &av, 1, &path));
    g_assert_cmphex(path.traffic_class, ==, 0x69);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pvrdma/qp-attr/steps", test_steps);
    g_test_add_func("/pvrdma/qp-attr/states-unknown", test_states_unknown);
    g_test_add_func("/pvrdma/qp-attr/current-state", test_current_state);
    g_test_add_func("/pvrdma/qp-attr/values", test_values);
    g_test_add_func("/pvrdma/qp-attr/port", test_port);
    g_test_add_func("/pvrdma/qp-attr/kept", test_kept);
    g_test_add_func("/pvrdma/qp-attr/path", test_path);
    g_test_add_func("/pvrdma/qp-attr/path-ecn", test_path_ecn);
    return g_test_run();
}
