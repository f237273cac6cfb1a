// A step of people in C++ with AVX-512, by the rules of docs/model_people.md: avoidance `slow_down` by place, sight, prices,
// flow fields, paths, admission, choices, move, contact. It has the state hash of the program, for which it is a yardstick
// (`against_c.py`). Not in it: exits, forces, edits, events, other techniques.
//   g++ -O3 -march=native -std=c++20 -ffp-contract=off -fno-math-errno -fwrapv -pthread -shared -fPIC people_step.cpp
#include <immintrin.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

using std::vector;
typedef uint8_t u8;
typedef uint32_t u32;
enum { WALKING, WAITING, STUCK, QUEUING, CREEPING };
enum { WIGGLE = 3, GOAL = 2, RECONSIDER = 8 };
static const int DX[10] = {1, 1, 0, -1, -1, -1, 0, 1, 0, 0}, DY[10] = {0, 1, 1, 1, 0, -1, -1, -1, 0, 0};
static const int ARRIVED = 8, UNREACHABLE = 9, PLAIN = 8, CIRCLE = 2048;

// --- numbers: one, or sixteen ----------------------------------------------------------------------------------------

static inline float root(float a) { return __builtin_sqrtf(a); }
static inline float least(float a, float b) { return b < a ? b : a; }
static inline float most(float a, float b) { return b > a ? b : a; }
static inline int to_int(float a) { return _mm_cvttss_si32(_mm_set_ss(a)); }
static inline float to_float(int a) { return (float)a; }
static inline u32 scramble(u32 v) {
    v ^= v >> 16, v *= 0x7feb352du, v ^= v >> 15, v *= 0x846ca68bu;
    return v ^ v >> 16;
}
static inline float chance(int id, u32 key) { return (float)(int)scramble((u32)id ^ key) * 0x1p-31f; }
static inline u32 below(u32 size, int id, u32 key) { return (uint64_t)scramble((u32)id ^ key) * size >> 32; }
static u32 key_of(uint64_t seed, u32 tick, u32 use) {
    u32 h = 0;
    for (u32 word : {(u32)seed, (u32)(seed >> 32), tick, use + 1}) h = scramble(h ^ word);
    return h;
}

typedef __mmask16 M;
struct I {
    __m512i v;
    I(__m512i v) : v(v) {}
    I(int a) : v(_mm512_set1_epi32(a)) {}
    friend I operator+(I a, I b) { return _mm512_add_epi32(a.v, b.v); }
    friend I operator-(I a, I b) { return _mm512_sub_epi32(a.v, b.v); }
    friend I operator*(I a, I b) { return _mm512_mullo_epi32(a.v, b.v); }
    friend I operator^(I a, I b) { return _mm512_xor_si512(a.v, b.v); }
    friend I operator&(I a, I b) { return _mm512_and_si512(a.v, b.v); }
    friend M operator==(I a, I b) { return _mm512_cmpeq_epi32_mask(a.v, b.v); }
    friend M operator<(I a, I b) { return _mm512_cmplt_epi32_mask(a.v, b.v); }
    friend M operator>(I a, I b) { return _mm512_cmpgt_epi32_mask(a.v, b.v); }
};
struct F {
    __m512 v;
    F(__m512 v) : v(v) {}
    F(float a) : v(_mm512_set1_ps(a)) {}
    friend F operator+(F a, F b) { return _mm512_add_ps(a.v, b.v); }
    friend F operator-(F a, F b) { return _mm512_sub_ps(a.v, b.v); }
    friend F operator*(F a, F b) { return _mm512_mul_ps(a.v, b.v); }
    friend F operator/(F a, F b) { return _mm512_div_ps(a.v, b.v); }
    friend M operator<(F a, F b) { return _mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ); }
    friend M operator>(F a, F b) { return _mm512_cmp_ps_mask(a.v, b.v, _CMP_GT_OQ); }
    friend M operator<=(F a, F b) { return _mm512_cmp_ps_mask(a.v, b.v, _CMP_LE_OQ); }
    friend M operator>=(F a, F b) { return _mm512_cmp_ps_mask(a.v, b.v, _CMP_GE_OQ); }
    friend M operator!=(F a, F b) { return _mm512_cmp_ps_mask(a.v, b.v, _CMP_NEQ_UQ); }
};
static inline F root(F a) { return _mm512_sqrt_ps(a.v); }
static inline F select(M m, F a, F b) { return _mm512_mask_blend_ps(m, b.v, a.v); }
static inline I select(M m, I a, I b) { return _mm512_mask_blend_epi32(m, b.v, a.v); }
static inline F least(F a, F b) { return _mm512_min_ps(b.v, a.v); }
static inline F most(F a, F b) { return _mm512_max_ps(b.v, a.v); }
static inline I least(I a, I b) { return _mm512_min_epi32(a.v, b.v); }
static inline I to_int(F a) { return _mm512_cvttps_epi32(a.v); }
static inline F to_float(I a) { return _mm512_cvtepi32_ps(a.v); }
static inline F load(const float* p) { return _mm512_loadu_ps(p); }
static inline I load(const int* p) { return _mm512_loadu_si512(p); }
static inline void store(float* p, F a) { _mm512_storeu_ps(p, a.v); }
static inline void store(int* p, I a) { _mm512_storeu_si512(p, a.v); }
static inline void store(float* p, M m, F a) { _mm512_mask_storeu_ps(p, m, a.v); }
static inline void store(int* p, M m, I a) { _mm512_mask_storeu_epi32(p, m, a.v); }
static inline F gather(const float* p, I at) { return _mm512_i32gather_ps(at.v, p, 4); }
static inline I gather(const int* p, I at) { return _mm512_i32gather_epi32(at.v, p, 4); }
static inline I gather(const u8* p, I at) { return I(_mm512_i32gather_epi32(at.v, p, 1)) & 255; }
static inline void put(float* p, I at, M m, F a) { _mm512_mask_i32scatter_ps(p, m, at.v, a.v, 4); }
static inline void put(int* p, I at, M m, I a) { _mm512_mask_i32scatter_epi32(p, m, at.v, a.v, 4); }
static inline void pack(int* p, M m, I a) { store(p, I(_mm512_maskz_compress_epi32(m, a.v))); }
static inline void pack(float* p, M m, F a) { store(p, F(_mm512_maskz_compress_ps(m, a.v))); }
static inline M first(int count) { return _bzhi_u32(0xffff, count > 16 ? 16 : count); }  // of at least 0
static inline I lanes() { return _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0); }
static inline I shifted(I a, int by) { return _mm512_srli_epi32(a.v, by); }
static inline I scramble(I v) {
    v = v ^ shifted(v, 16), v = v * 0x7feb352d, v = v ^ shifted(v, 15), v = v * (int)0x846ca68bu;
    return v ^ shifted(v, 16);
}
static inline F chance(I id, u32 key) { return to_float(scramble(id ^ (int)key)) * 0x1p-31f; }
// Whether numbers below 2^28 are multiples of one of at most 16; the inverse is 2^32 / by, rounded up.
static inline M is_multiple(I a, u32 by, u32 inverse) {
    __m512i b = _mm512_set1_epi32(by), i = _mm512_set1_epi32(inverse);
    __m512i even = _mm512_srli_epi64(_mm512_mul_epu32(a.v, i), 32);
    __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(a.v, 32), i);
    I quotient = _mm512_mask_blend_epi32(0xaaaa, even, odd);
    return by == 1 ? 0xffff : a == quotient * I(b);
}
// The sums, or the least, over the lanes of sixteen registers, one in each lane.
template<class T, class Op> static inline T across_lanes(const T* v, Op op) {
    __m512i s[4];
    for (int k = 0; k < 4; k++) {
        __m512i t[2];
        for (int h = 0; h < 2; h++) {
            __m512i a = (__m512i)v[4 * k + 2 * h].v, b = (__m512i)v[4 * k + 2 * h + 1].v;
            t[h] = op(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
        }
        s[k] = op(_mm512_unpacklo_epi64(t[0], t[1]), _mm512_unpackhi_epi64(t[0], t[1]));
    }
    auto fold = [&](__m512i a, __m512i b) {
        return op(_mm512_shuffle_i32x4(a, b, 0x88), _mm512_shuffle_i32x4(a, b, 0xdd));
    };
    __m512i all = fold(fold(s[0], s[1]), fold(s[2], s[3]));
    if constexpr (std::is_same_v<T, F>) return F((__m512)all); else return I(all);
}
static inline __m512i add_lanes(__m512i a, __m512i b) { return _mm512_add_epi32(a, b); }
static inline __m512i least_lanes(__m512i a, __m512i b) { return (__m512i)_mm512_min_ps((__m512)a, (__m512)b); }

// --- threads ---------------------------------------------------------------------------------------------------------

struct Barrier {
    std::atomic<int> waiting{0}, round{0}; int threads;
    void wait() {
        int now = round.load();
        if (threads == 1) return;
        if (waiting.fetch_add(1) + 1 == threads) { waiting.store(0), round.store(now + 1); return; }
        for (int spin = 0; round.load(std::memory_order_acquire) == now; spin++)
            if (spin < 4000) _mm_pause(); else std::this_thread::yield();
    }
};
static inline int share(int64_t n, int k, int of) { return (int)(n * k / of); }

// --- what Python hands over ------------------------------------------------------------------------------------------

struct Rules {  // the float32 of `PeopleRules`, `Ground` and `ContactRules`, in their order, and six more
    float radius_sq, inv_radius, push, wiggle, top_factor, stuck_top_factor, arrive_sq, wait, patience, follow, dt, ahead,
        inv_ahead, gap_sq, inv_gap, aside, behind, away, slow_aside, headway, standing, in_way_sq, creep, swerve_cos,
        swerve_sin, swerve_ramp, swerve_gain, pass_by, tires, disc, flight;
    float inv_tile, limit_x, limit_y, longest, body;
    float reach, reach_sq, relax, shift, squeeze;
    float tile, inv_band, dearer, dearest, inv_cell, move;
};
struct Sizes {
    int64_t agents, destinations, rows, columns, every, half_cost, stagger, sight, paths, passes, seed, tick, sort;
};
struct Columns {  // `PeopleColumns`
    int *id; float *x, *y, *vx, *vy, *ax, *ay; int *next; float *speed; int *goal; float *gx, *gy, *hx, *hy;
    int *visible, *state; float *timer;
};
static const int COLUMNS = 17;

struct Worker {  // working memory of a thread
    vector<int> due, rest, begin;
    vector<float> strip[2], records;  // what others can observe of a block of rows
    vector<float> pair[2], found_f[3]; vector<int> owner, other, found_i[3];  // pairs, and what each adds
    vector<int> pair_i, pair_j; int pairs;  // of contact
    vector<std::array<int, 3>> foreign;  // contact terms for an agent of another thread
    vector<int> held, queued; vector<int64_t> front;
};
struct People {
    Rules r; Sizes s; Columns c, other;
    vector<int> front, back; int room;
    vector<u8> blocked, steps, prices, direction, chosen; vector<short> targets;
    vector<float> point_x, point_y, reach_sq; vector<int> tiles, first, capacity, opens, turns; vector<u8> fixed;
    vector<int> cell, start, order, counts, totals; int across, down, threads;  // counts: [threads][cells]
    vector<float> at_x, at_y; vector<int> sum_x, sum_y, met;  // of contact, in the order
    vector<Worker> workers; Barrier barrier; std::atomic<int> next;
    struct { vector<int> space; int goal = -1, waiting, now, listed; } field;  // the field that is made, in slices
    float nearest_sq;  // to a goal: nobody farther away queues or arrives
    u32 goal_key, wiggle_x, wiggle_y, tire_key;
    int n() const { return (int)s.agents; }
    int D() const { return (int)s.destinations; }
};

static Columns columns_of(vector<int>& m, int room) {
    Columns c; void** p = (void**)&c;
    for (int k = 0; k < COLUMNS; k++) p[k] = m.data() + (size_t)k * room;
    return c;
}

// --- walls -----------------------------------------------------------------------------------------------------------

static inline int tile_under(const People& w, float x, float y) {
    return to_int(y * w.r.inv_tile) * (int)w.s.columns + to_int(x * w.r.inv_tile);
}
static inline void slide(const People& w, F x, F y, F dx, F dy, F& to_x, F& to_y) {
    const Rules& r = w.r;
    auto solid = [&](F x, F y) {
        return gather(w.blocked.data(), to_int(y * r.inv_tile) * (int)w.s.columns + to_int(x * r.inv_tile)) > 0;
    };
    dx = least(F(r.longest), most(F(-r.longest), dx)), dy = least(F(r.longest), most(F(-r.longest), dy));
    to_x = least(F(r.limit_x), most(F(0.f), x + dx)), to_y = least(F(r.limit_y), most(F(0.f), y + dy));
    F edge_x = least(F(r.limit_x), most(F(0.f), to_x + select(dx < 0.f, F(-r.body), F(r.body))));
    to_x = select(solid(edge_x, y), x, to_x);
    F edge_y = least(F(r.limit_y), most(F(0.f), to_y + select(dy < 0.f, F(-r.body), F(r.body))));
    to_y = select(solid(to_x, edge_y), y, to_y);
}
static inline int64_t floor_div(int64_t a, int64_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }
static bool in_sight(const People& w, float fax, float fay, float fbx, float fby) {
    int64_t side = (int64_t)(w.r.tile * 256), columns = w.s.columns, rows = w.s.rows;
    int64_t ax = (int64_t)floorf(fax * 256), ay = (int64_t)floorf(fay * 256), bx = (int64_t)floorf(fbx * 256),
            by = (int64_t)floorf(fby * 256);
    int64_t column = floor_div(ax, side), row = floor_div(ay, side);
    int64_t last_c = floor_div(bx, side), last_r = floor_div(by, side);
    auto is_free = [&](int64_t c, int64_t q) {
        return c >= 0 && c < columns && q >= 0 && q < rows && !w.blocked[q * columns + c];
    };
    if (!is_free(column, row) || !is_free(last_c, last_r)) return false;
    int64_t dx = std::abs(bx - ax), dy = std::abs(by - ay), step_x = bx > ax ? 1 : -1, step_y = by > ay ? 1 : -1;
    int64_t left_x = std::abs(last_c - column), left_y = std::abs(last_r - row);
    int64_t to_x = step_x > 0 ? column * side + side - ax : ax - column * side;
    int64_t to_y = step_y > 0 ? row * side + side - ay : ay - row * side, ahead = to_x * dy - to_y * dx;
    const u8* at = &w.blocked[row * columns + column];
    while (left_x > 0 || left_y > 0) {
        bool cross_x = left_y == 0 || (left_x > 0 && ahead <= 0), cross_y = left_x == 0 || (left_y > 0 && ahead >= 0);
        if (cross_x && cross_y && (at[step_x] || at[step_y * columns])) return false;
        if (cross_x) at += step_x, left_x--, ahead += side * dy;
        if (cross_y) at += step_y * columns, left_y--, ahead -= side * dx;
        if (*at) return false;
    }
    return true;
}

// --- index -----------------------------------------------------------------------------------------------------------

static inline I cell_of(const People& w, F x, F y) {
    I column = to_int(least(most(F(0.f), x * w.r.inv_cell), F((float)(w.across - 1))));
    return to_int(least(most(F(0.f), y * w.r.inv_cell), F((float)(w.down - 1)))) * w.across + column;
}
static void index_agents(People& w, int me) {
    int n = w.n(), T = w.threads, cells = w.across * w.down, *mine = &w.counts[(size_t)me * cells];
    int from = share(n, me, T), to = share(n, me + 1, T), begin = share(cells, me, T), end = share(cells, me + 1, T);
    memset(mine, 0, cells * sizeof(int));
    for (int i = from; i < to; i += 16) {
        store(&w.cell[i], first(to - i), cell_of(w, load(w.c.x + i), load(w.c.y + i)));
        for (int k = i; k < std::min(i + 16, to); k++) mine[w.cell[k]]++;
    }
    w.barrier.wait();
    int total = 0;
    for (int t = 0; t < T; t++)
        for (int k = begin; k < end; k++) total += w.counts[(size_t)t * cells + k];
    w.totals[me] = total;
    w.barrier.wait();
    total = 0;
    for (int t = 0; t < me; t++) total += w.totals[t];
    for (int k = begin; k < end; k++) {
        w.start[k] = total;
        for (int t = 0; t < T; t++) {
            int& count = w.counts[(size_t)t * cells + k], here = count;
            count = total, total += here;
        }
    }
    if (me == T - 1) w.start[cells] = n;
    w.barrier.wait();
    for (int i = from; i < to; i++) w.order[mine[w.cell[i]]++] = i;
}
static void reorder(People& w, int me) {
    int from = share(w.n(), me, w.threads), to = share(w.n(), me + 1, w.threads);
    for (int i = from; i < to; i += 16) {
        I slots = load(&w.order[i]);
        for (int k = 0; k < COLUMNS; k++) {
            const int* column = &w.front[(size_t)k * w.room];
            store(&w.back[(size_t)k * w.room + i], first(to - i), gather(column, slots));
        }
    }
    w.barrier.wait();
    for (int i = from; i < to; i++) w.order[i] = i;
    if (me == 0) w.front.swap(w.back), std::swap(w.c, w.other);
}

// --- interaction -----------------------------------------------------------------------------------------------------

// What others can observe, in the order of cells: positions, and {velocity, heading} of each agent beside each other.
static inline void read_records(const float* records, const int* at, F out[4]) {  // of sixteen agents
    F four[4] = {0.f, 0.f, 0.f, 0.f};
    for (int k = 0; k < 4; k++) {
        auto record = [&](int lane) { return _mm_loadu_ps(records + 4 * at[4 * lane + k]); };
        __m512 all = _mm512_castps128_ps512(record(0));
        all = _mm512_insertf32x4(all, record(1), 1), all = _mm512_insertf32x4(all, record(2), 2);
        four[k] = _mm512_insertf32x4(all, record(3), 3);
    }
    __m512 a = _mm512_unpacklo_ps(four[0].v, four[1].v), b = _mm512_unpackhi_ps(four[0].v, four[1].v);
    __m512 c = _mm512_unpacklo_ps(four[2].v, four[3].v), d = _mm512_unpackhi_ps(four[2].v, four[3].v);
    out[0] = _mm512_shuffle_ps(a, c, 0x44), out[1] = _mm512_shuffle_ps(a, c, 0xee);
    out[2] = _mm512_shuffle_ps(b, d, 0x44), out[3] = _mm512_shuffle_ps(b, d, 0xee);
}
static inline void write_records(float* records, F vx, F vy, F ex, F ey) {
    __m512 a = _mm512_unpacklo_ps(vx.v, vy.v), b = _mm512_unpackhi_ps(vx.v, vy.v);
    __m512 c = _mm512_unpacklo_ps(ex.v, ey.v), d = _mm512_unpackhi_ps(ex.v, ey.v);
    __m512 four[4] = {_mm512_shuffle_ps(a, c, 0x44), _mm512_shuffle_ps(a, c, 0xee), _mm512_shuffle_ps(b, d, 0x44),
                      _mm512_shuffle_ps(b, d, 0xee)};
    for (int k = 0; k < 4; k++) {
        _mm_storeu_ps(records + 4 * k, _mm512_extractf32x4_ps(four[k], 0));
        _mm_storeu_ps(records + 4 * k + 16, _mm512_extractf32x4_ps(four[k], 1));
        _mm_storeu_ps(records + 4 * k + 32, _mm512_extractf32x4_ps(four[k], 2));
        _mm_storeu_ps(records + 4 * k + 48, _mm512_extractf32x4_ps(four[k], 3));
    }
}

// All pairs of up to sixteen agents, sixteen pairs at a time, then the sums of each agent.
struct Group { F x, y, vx, vy, ex, ey, speed, nx, ny; };
static inline void add_pairs(const Rules& r, Worker& m, int count, const Group& g) {
    for (int k = 0; k < count; k += 16) {
        F dx = load(&m.pair[0][k]), dy = load(&m.pair[1][k]), record[4] = {dx, dx, dx, dx};
        I who = load(&m.owner[k]);
        read_records(m.records.data(), &m.other[k], record);
        auto mine = [who](F of) { return F(_mm512_permutexvar_ps(who.v, of.v)); };
        F ex = mine(g.ex), ey = mine(g.ey), wx = mine(g.nx), wy = mine(g.ny);
        F cx = mine(g.vx) - record[0], cy = mine(g.vy) - record[1];
        F ox = record[2], oy = record[3];
        F d = root(dx * dx + dy * dy), near = F(1.f) - d * r.inv_radius, pull = near * near / d;
        F ahead = dx * ex + dy * ey, weight = pull * -4096.f;
        I sx = to_int(weight * dx), sy = to_int(weight * dy);
        M comes = (ox * ex + oy * ey < -.25f) & (ahead > 0.f);
        if (r.pass_by > 0 && comes) {
            F back = pull * ahead * (r.pass_by * 4096);
            sx = select(comes, sx + to_int(back * ex), sx), sy = select(comes, sy + to_int(back * ey), sy);
        }
        F time = (dx * cx + dy * cy) / (cx * cx + cy * cy + 1.f), mx = dx - cx * time, my = dy - cy * time;
        F miss = mx * mx + my * my;
        M meets = (time > 0.f) & (time < r.ahead) & (miss < r.gap_sq);
        I turn = 0;
        if (meets) {
            F view = F(r.behind) + (1 - r.behind) * (F(.5f) + F(.5f) * (ahead / d));
            F close = F(1.f) - root(miss) * r.inv_gap;
            F strength = F(r.slow_aside) * (F(1.f) - time * r.inv_ahead) * (close * close) * view;
            F right = (my * ex - mx * ey) / root(miss + 16.f);
            turn = select(meets, to_int(strength * (right + .2f) * -4096.f), I(0));
        }
        M same = ox * wx + oy * wy > .25f;
        F along = dx * wx + dy * wy, across = dx * wy - dy * wx, far = 1e6f;
        auto in_way = [&](F a, F c) { return select(same & (a > 0.f) & (c * c < r.in_way_sq), a, far); };
        F ac = along * r.swerve_cos, cs = across * r.swerve_sin, cc = across * r.swerve_cos, as = along * r.swerve_sin;
        store(&m.found_i[0][k], sx), store(&m.found_i[1][k], sy), store(&m.found_i[2][k], turn);
        store(&m.found_f[0][k], in_way(along, across)), store(&m.found_f[1][k], in_way(ac + cs, cc - as));
        store(&m.found_f[2][k], in_way(ac - cs, cc + as));
    }
}
static inline void finish(People& w, const Group& me, const I* s, const F* room_in, I slots, M wanted, int tick) {
    const Rules& r = w.r;
    F side = to_float(s[2]) * (1.f / 4096);
    side = select(side > 1.f, F(1.f), select(side < -1.f, F(-1.f), side));
    F scale = F(1.f) / root(F(1.f) + side * side);
    F x = (me.ex - me.ey * side) * scale, y = (me.ey + me.ex * side) * scale;
    F wanted_room = me.speed * r.headway, room = least(room_in[0] - r.standing, wanted_room);
    F best = least(most(room_in[1], room_in[2]) - r.standing, wanted_room);
    F part = most(F(0.f), least(F(1.f), (best * r.swerve_cos - room) / most(r.swerve_ramp * wanted_room, F(1e-6f))));
    F sin = select(room_in[2] > room_in[1], F(r.swerve_sin), F(-r.swerve_sin)) * part;
    F cos = F(1.f) - (1 - r.swerve_cos) * part;
    F again = F(1.f) / root(cos * cos + sin * sin), sx = (x * cos - y * sin) * again, sy = (y * cos + x * sin) * again;
    room = room + r.swerve_gain * part * (best - room);
    M walks = me.ex * me.ex + me.ey * me.ey > 0.f;
    F pace = select(walks, most(F(r.creep), least(F(1.f), room / most(wanted_room, F(1e-6f)))), F(1.f));
    F share = r.away * (1.f / 4096);
    x = (sx + to_float(s[0]) * share) * pace, y = (sy + to_float(s[1]) * share) * pace;
    F length = root(x * x + y * y), cut = select(walks & (length > pace), pace / most(length, F(1e-6f)), F(1.f));
    put(w.c.ax, slots, wanted, x * cut - me.ex), put(w.c.ay, slots, wanted, y * cut - me.ey);
    int P = (int)w.s.stagger;
    I band = to_int(me.y * r.inv_band), phase = band + tick % P;  // (tick + band) mod P, of small numbers
    phase = phase - to_int((to_float(phase) + .5f) * (1.f / P)) * P;
    I wait = I(P) - phase;
    put(w.c.next, slots, wanted, (I(tick) + wait) * 16 + wait - 1);
}
static void interact_group(People& w, Worker& m, const int* who, int count, int base, int row) {
    const Rules& r = w.r;
    I at = load(who) - base, slots = gather(w.order.data(), load(who));
    alignas(64) int own[16];
    F record[4] = {0.f, 0.f, 0.f, 0.f};
    store(own, at), read_records(m.records.data(), own, record);
    Group g{gather(m.strip[0].data(), at), gather(m.strip[1].data(), at), record[0], record[1], record[2], record[3],
            gather(w.c.speed, slots), 0.f, 0.f};
    F bx = g.vx + F(.1f) * g.speed * g.ex, by = g.vy + F(.1f) * g.speed * g.ey;
    F scale = F(1.f) / root(bx * bx + by * by + 1e-6f);
    g.nx = bx * scale, g.ny = by * scale;
    I column = to_int(least(most(F(0.f), g.x * r.inv_cell), F((float)(w.across - 1))));
    I left = select(column > 0, column - 1, column), right = least(column + 2, I(w.across));
    alignas(64) int from[3][16], to[3][16]; int pairs = 0, begin[17], room = 0;
    for (int q = 0; q < 3; q++) {
        bool inside = row + q > 0 && row + q - 1 < w.down;
        const int* start = &w.start[inside ? (row + q - 1) * w.across : 0];
        store(from[q], inside ? gather(start, left) - base : I(0));
        store(to[q], inside ? gather(start, right) - base : I(0));
    }
    for (int k = 0; k < count; k++) {
        for (int q = 0; q < 3; q++) room += to[q][k] - from[q][k];
    }
    if (m.owner.size() < (size_t)room + 64) {
        m.owner.resize(2 * room + 64), m.other.resize(2 * room + 64);
        for (auto& each : m.pair) each.resize(2 * room + 64);
        for (auto& each : m.found_f) each.resize(2 * room + 64);
        for (auto& each : m.found_i) each.resize(2 * room + 64);
    }
    float *pair_x = m.pair[0].data(), *pair_y = m.pair[1].data(); int *owner = m.owner.data(), *other = m.other.data();
    const float *px = m.strip[0].data(), *py = m.strip[1].data();
    for (int k = 0; k < count; k++) {
        F x = px[own[k]], y = py[own[k]];
        begin[k] = pairs;
        for (int q = 0; q < 3; q++)
            for (int j = from[q][k]; j < to[q][k]; j += 16) {
                F dx = load(px + j) - x, dy = load(py + j) - y, d2 = dx * dx + dy * dy;
                M near = (d2 < r.radius_sq) & (d2 > 0.f) & first(to[q][k] - j);  // at one place they add nothing
                pack(pair_x + pairs, near, dx), pack(pair_y + pairs, near, dy), pack(other + pairs, near, lanes() + j);
                store(owner + pairs, I(k)), pairs += __builtin_popcount(near);
            }
    }
    store(other + pairs, I(0));
    for (int k = count; k < 17; k++) begin[k] = pairs;
    add_pairs(r, m, pairs, g);
    I sums[3] = {0, 0, 0}; F rooms[3] = {1e6f, 1e6f, 1e6f};
    for (int kind = 0; kind < 3; kind++) {
        I each[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
        F far = 1e6f;
        F close[16] = {far, far, far, far, far, far, far, far, far, far, far, far, far, far, far, far};
        for (int k = 0; k < count; k++)
            for (int p = begin[k]; p < begin[k + 1]; p += 16) {
                M mine = first(begin[k + 1] - p);
                each[k] = each[k] + I(_mm512_maskz_loadu_epi32(mine, &m.found_i[kind][p]));
                close[k] = least(close[k], F(_mm512_mask_loadu_ps(far.v, mine, &m.found_f[kind][p])));
            }
        sums[kind] = across_lanes(each, add_lanes), rooms[kind] = across_lanes(close, least_lanes);
    }
    finish(w, g, sums, rooms, slots, first(count), (int)w.s.tick);
}
static const int BLOCK = 8;  // rows that a thread takes at a time
static void interact(People& w, int me) {
    Worker& m = w.workers[me];
    int P = (int)w.s.stagger, tick = (int)w.s.tick, due_below = (tick + 1) * 16, due_above = (tick + P + 1) * 16 - 1;
    for (int row; (row = w.next.fetch_add(BLOCK)) < w.down;) {
        int last = std::min(row + BLOCK, w.down), top = last, bottom = row;
        m.due.resize(w.start[last * w.across] - w.start[row * w.across] + 32 * BLOCK);
        m.begin.assign(BLOCK + 1, 0);
        int listed = 0;
        for (int q = row; q < last; q++) {
            m.begin[q - row] = listed;
            for (int k = w.start[q * w.across], end = w.start[(q + 1) * w.across]; k < end; k += 16) {
                I next = gather(w.c.next, load(&w.order[k]));
                M due = ((next < due_below) | (next > due_above)) & first(end - k);
                pack(&m.due[listed], due, lanes() + k), listed += __builtin_popcount(due);
            }
            if (listed > m.begin[q - row]) top = std::min(top, q), bottom = q + 1;
        }
        m.begin[last - row] = listed;
        if (top == last) continue;
        int base = w.start[std::max(top - 1, 0) * w.across], stop = w.start[std::min(bottom + 1, w.down) * w.across];
        if (m.strip[0].size() < (size_t)(stop - base + 32)) {
            for (auto& each : m.strip) each.resize(2 * (stop - base) + 32);
            m.records.resize(4 * m.strip[0].size());
        }
        for (int k = base; k < stop; k += 16) {
            I slots = load(&w.order[k]), state = gather(w.c.state, slots);
            M still = (state == WAITING) | (state == QUEUING);
            store(&m.strip[0][k - base], gather(w.c.x, slots)), store(&m.strip[1][k - base], gather(w.c.y, slots));
            write_records(&m.records[4 * (k - base)], gather(w.c.vx, slots), gather(w.c.vy, slots),
                          select(still, F(0.f), gather(w.c.hx, slots)), select(still, F(0.f), gather(w.c.hy, slots)));
        }
        for (int q = row; q < last; q++)
            for (int k = m.begin[q - row]; k < m.begin[q - row + 1]; k += 16) {
                alignas(64) int who[16];
                int count = std::min(16, m.begin[q - row + 1] - k);
                for (int lane = 0; lane < 16; lane++) who[lane] = m.due[k + std::min(lane, count - 1)];
                interact_group(w, m, who, count, base, q);
            }
    }
}

// --- sight, prices, flow fields and paths ----------------------------------------------------------------------------

static int list_due(const People& w, int from, int to, int64_t period, int* due) {
    u32 inverse = period > 1 ? (u32)(((1ull << 32) + period - 1) / period) : 0;
    int phase = (int)(w.s.tick % period), listed = 0;
    for (int i = from; i < to; i += 16) {
        M hit = is_multiple(load(w.c.id + i) + phase, (u32)period, inverse) & first(to - i);
        pack(due + listed, hit, lanes() + i), listed += __builtin_popcount(hit);
    }
    for (int k = 0; k < 16; k++) due[listed + k] = listed ? due[listed - 1] : 0;
    return listed;
}
// Whether a blocked tile surely covers one of some points on the lines: no rounding can move it across a border.
static inline M surely_hidden(const People& w, I slots, int from, int by) {
    const Columns& c = w.c; const Rules& r = w.r;
    F x = gather(c.x, slots), y = gather(c.y, slots), dx = gather(c.gx, slots) - x, dy = gather(c.gy, slots) - y;
    float border = .125f * r.inv_tile;
    M hidden = 0;
    for (int k = from; k < 16 && hidden != 0xffff; k += by) {
        float part = ((float)k + .5f) * (1.f / 16);
        F px = least(F(r.limit_x), most(F(0.f), x + dx * part)) * r.inv_tile;
        F py = least(F(r.limit_y), most(F(0.f), y + dy * part)) * r.inv_tile;
        I column = to_int(px), row = to_int(py);
        F in_x = px - to_float(column), in_y = py - to_float(row);
        M inside = (in_x > border) & (in_x < 1 - border) & (in_y > border) & (in_y < 1 - border);
        hidden |= inside & (gather(w.blocked.data(), row * (int)w.s.columns + column) > 0);
    }
    return hidden;
}
static const int LISTED = 1024;
static void see(People& w, int me) {
    const Columns& c = w.c; Worker& m = w.workers[me];
    m.due.resize(std::max<size_t>(m.due.size(), LISTED + 32)), m.rest.resize(LISTED + 32);
    for (int from; (from = w.next.fetch_add(LISTED)) < w.n();) {
        int due = list_due(w, from, std::min(from + LISTED, w.n()), w.s.sight, m.due.data()), rest = 0;
        for (int half = 0; half < 2; half++) {  // four points for all, then twelve for the rest, in full registers
            const vector<int>& list = half ? m.rest : m.due;
            int count = half ? rest : due;
            rest = 0;
            for (int k = 0; k < count; k += 16) {
                I slots = load(&list[k]);
                M wanted = first(count - k);
                if (!half) wanted &= ~(gather(c.state, slots) == WAITING);
                M hidden = surely_hidden(w, slots, half ? 0 : 2, 4);
                if (half) hidden |= surely_hidden(w, slots, 1, 4) | surely_hidden(w, slots, 3, 4);
                put(c.visible, slots, wanted & hidden, I(0));
                M open = wanted & ~hidden;
                pack(&m.rest[rest], open, slots), rest += __builtin_popcount(open);
            }
            for (int k = 0; k < 16; k++) m.rest[rest + k] = rest ? m.rest[rest - 1] : 0;
        }
        for (int k = 0; k < rest; k++) {
            int i = m.rest[k];
            c.visible[i] = in_sight(w, c.x[i], c.y[i], c.gx[i], c.gy[i]);
        }
    }
}
static void count_prices(People& w) {
    size_t tiles = w.blocked.size();
    vector<int> count(tiles);
    for (int i = 0; i < w.n(); i++) count[tile_under(w, w.c.x[i], w.c.y[i])]++;
    memcpy(w.prices.data(), w.prices.data() + tiles, tiles);
    for (size_t k = 0; k < tiles; k++) {
        float people = to_float(count[k]);
        w.prices[tiles + k] = PLAIN + to_int(least(people * people * w.r.dearer, w.r.dearest));
    }
}
static const u8* prices_of(const People& w, int goal) {
    return w.prices.data() + (w.chosen[goal] ? w.blocked.size() : 0);
}
// Dial's algorithm; settles at least so many more tiles.
static void spread_field(People& w, int goal, const u8* prices, int most) {
    int tiles = (int)w.blocked.size(), columns = (int)w.s.columns, near_by[8];
    auto& f = w.field;
    f.space.resize(CIRCLE + (size_t)tiles * 17);  // distances, heads of the lists, tiles and links of what is listed
    int *far = f.space.data(), *head = far + tiles, *tile_of = head + CIRCLE, *next = tile_of + 8 * tiles;
    auto put = [&](int tile, int cost) {  // a tile is listed again when a shorter way is found
        far[tile] = cost, tile_of[f.listed] = tile, next[f.listed] = head[cost % CIRCLE];
        head[cost % CIRCLE] = f.listed++, f.waiting++;
    };
    if (f.goal != goal) {
        f.goal = goal, f.waiting = f.now = f.listed = 0;
        std::fill(far, far + tiles, INT_MAX), std::fill(head, head + CIRCLE, -1);
        for (int k = 0; k < tiles; k++) if (w.targets[k] == goal) put(k, 0);
    }
    for (int step = 0; step < 8; step++) near_by[step] = DY[step] * columns + DX[step];
    for (int now = f.now; f.waiting > 0 && most > 0; f.now = ++now)
        while (head[now % CIRCLE] >= 0) {
            int node = head[now % CIRCLE], tile = tile_of[node];
            head[now % CIRCLE] = next[node], f.waiting--;
            if (far[tile] != now) continue;
            int straight = now + prices[tile] * 5, diagonal = now + prices[tile] * 7;
            most--;
            for (u32 left = w.steps[tile]; left; left &= left - 1) {
                int step = __builtin_ctz(left), near = tile + near_by[step], cost = step & 1 ? diagonal : straight;
                if (cost < far[near]) put(near, cost);
            }
        }
}
static void make_field(People& w, int goal) {  // all that is left of it
    int tiles = (int)w.blocked.size(), columns = (int)w.s.columns;
    const u8* prices = prices_of(w, goal); u8* out = w.direction.data() + (size_t)goal * tiles;
    spread_field(w, goal, prices, INT_MAX);
    const int* far = w.field.space.data();
    for (int k = 0; k < tiles; k++) {
        out[k] = far[k] == 0 ? ARRIVED : UNREACHABLE;
        if (far[k] == 0 || far[k] == INT_MAX) continue;
        for (u32 left = w.steps[k]; left; left &= left - 1) {
            int step = __builtin_ctz(left), near = k + DY[step] * columns + DX[step];
            if (far[near] == INT_MAX || far[near] + prices[near] * (step & 1 ? 7 : 5) != far[k]) continue;
            out[k] = step;
            break;
        }
    }
    w.field.goal = -1;
}
static void choose_prices(People& w, int64_t tick) {
    for (int d = 0; d < w.D(); d++) w.chosen[d] = tick % w.s.every >= w.turns[d];
}
// Prices, the field that changes over to them in this step, and a part of the next one.
static void follow_crowds(People& w) {
    int64_t now = w.s.tick % w.s.every, tiles = (int64_t)w.blocked.size();
    if (now == 0) count_prices(w);
    choose_prices(w, w.s.tick);
    int ahead = -1;
    for (int d = w.D() - 1; d >= 0; d--)
        if (w.turns[d] > now) ahead = d;
    for (int d = 0; d < w.D(); d++) if (w.turns[d] == now) make_field(w, d);
    if (ahead >= 0) spread_field(w, ahead, w.prices.data() + tiles, (int)((tiles * w.D() + w.s.every - 1) / w.s.every));
}
static void take_headings(People& w, int me) {
    const Columns& c = w.c; const Rules& r = w.r; Worker& m = w.workers[me];
    static const I across = _mm512_set_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 0, -1, -1, -1, 0, 1, 1);
    static const I down = _mm512_set_epi32(0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, 0, 1, 1, 1, 0);
    int columns = (int)w.s.columns, tiles = (int)w.blocked.size(), end = share(w.n(), me + 1, w.threads);
    m.due.resize(std::max<size_t>(m.due.size(), LISTED + 32));
    for (int from = share(w.n(), me, w.threads); from < end; from += LISTED) {
        int due = list_due(w, from, std::min(from + LISTED, end), w.s.paths, m.due.data());
        for (int k = 0; k < due; k += 16) {
            I slots = load(&m.due[k]), goal = gather(c.goal, slots), visible = gather(c.visible, slots);
            M wanted = first(due - k), straight = visible > 0;
            F x = gather(c.x, slots), y = gather(c.y, slots), to_x = gather(c.gx, slots), to_y = gather(c.gy, slots);
            M none = 0;
            if (straight != 0xffff) {
                I column = to_int(x * r.inv_tile), row = to_int(y * r.inv_tile), field = goal * tiles;
                I step = gather(w.direction.data(), field + row * columns + column);
                column = column + I(_mm512_permutexvar_epi32(step.v, across.v));
                row = row + I(_mm512_permutexvar_epi32(step.v, down.v));
                I then = gather(w.direction.data(), field + row * columns + column);
                F half_x = to_float(I(_mm512_permutexvar_epi32(then.v, across.v))) * .5f;
                F half_y = to_float(I(_mm512_permutexvar_epi32(then.v, down.v))) * .5f;
                F path_x = (to_float(column) + .5f + half_x) * r.tile, path_y = (to_float(row) + .5f + half_y) * r.tile;
                if (M arrived = step == ARRIVED) {
                    path_x = select(arrived, gather(w.point_x.data(), goal), path_x);
                    path_y = select(arrived, gather(w.point_y.data(), goal), path_y);
                }
                none = step == UNREACHABLE;
                to_x = select(straight, to_x, path_x), to_y = select(straight, to_y, path_y);
            }
            F dx = to_x - x, dy = to_y - y, length = root(dx * dx + dy * dy);
            M at = length <= 0.f;
            wanted &= ~(straight & at), none = ~straight & (none | at);
            put(c.hx, slots, wanted, select(none, F(0.f), dx / length));
            put(c.hy, slots, wanted, select(none, F(0.f), dy / length));
        }
    }
}

// --- destinations ----------------------------------------------------------------------------------------------------

static void count_people(People& w, int me) {
    const Columns& c = w.c; Worker& m = w.workers[me];
    int end = share(w.n(), me + 1, w.threads);
    m.held.assign(w.D(), 0), m.queued.assign(w.D(), 0), m.front.assign(w.D(), INT64_MAX);
    for (int i = share(w.n(), me, w.threads); i < end; i += 16) {
        I goals = load(c.goal + i), state = load(c.state + i);
        F dx = load(c.gx + i) - gather(w.point_x.data(), goals), dy = load(c.gy + i) - gather(w.point_y.data(), goals);
        M counted = ((state == WAITING) | (state == QUEUING) | (dx * dx + dy * dy > 0.f)) & first(end - i);
        for (u32 left = counted; left; left &= left - 1) {
            int k = i + __builtin_ctz(left), goal = c.goal[k];
            if (c.state[k] != QUEUING) { m.held[goal]++; continue; }
            float dx = w.point_x[goal] - c.x[k], dy = w.point_y[goal] - c.y[k];
            int64_t far = (int64_t)to_int(least(dx * dx + dy * dy, 2147483520.f)) << 32 | (u32)c.id[k];
            m.queued[goal]++, m.front[goal] = std::min(m.front[goal], far);
        }
    }
}
static void admit(People& w) {
    w.nearest_sq = w.r.arrive_sq * 16;
    for (int d = 0; d < w.D(); d++) {
        int held = 0, queued = 0; int64_t front = INT64_MAX;
        for (const Worker& m : w.workers) held += m.held[d], queued += m.queued[d], front = std::min(front, m.front[d]);
        int left = w.capacity[d] - held;
        w.opens[d] = queued <= left ? -2 : left > 0 ? (int)(front & 0x7fffffff) : -1;
        w.reach_sq[d] = (float)(w.capacity[d] > 0 ? w.capacity[d] + queued : 0) * w.r.disc;
        w.nearest_sq = std::max(w.nearest_sq, w.reach_sq[d]);
    }
}
static int owner_of(const People& w, int number) {
    int owner = 0;
    while (w.first[owner + 1] <= number) owner++;
    return owner;
}
static int drawn(const People& w, int last, int id, u32 key) {
    int total = w.first[w.D()], own = w.first[last + 1] - w.first[last];
    if (own == total) own = 0;
    int tile = below(total - own, id, key);
    return owner_of(w, own > 0 && tile >= w.first[last] ? tile + own : tile);
}
static int crowds_on(const People& w, int goal, int tile) {
    const u8 *field = w.direction.data() + goal * w.blocked.size(), *prices = prices_of(w, goal);
    int cost = 0;
    for (size_t k = 0; k < w.blocked.size() && field[tile] < ARRIVED; k++) {
        int step = field[tile];
        tile += DY[step] * (int)w.s.columns + DX[step];
        cost += (prices[tile] - PLAIN) * (step & 1 ? 7 : 5);
    }
    return field[tile] == ARRIVED ? cost : -1;
}
static void go_to(People& w, int i, int goal) {
    w.c.goal[i] = goal, w.c.gx[i] = w.point_x[goal], w.c.gy[i] = w.point_y[goal], w.c.visible[i] = 0;
}
static void choose_by_route(People& w, int i, bool again) {
    int last = w.c.goal[i], id = w.c.id[i], chosen = last, from = tile_under(w, w.c.x[i], w.c.y[i]);
    int64_t half = w.s.half_cost, total = 0, begin = 0;
    u32 key = w.goal_key;
    if (w.first[w.D()] == 0) return;
    for (int number = 0; number < 4; number++) {
        int goal = again && number == 0 ? last : drawn(w, last, id, key);
        key = scramble(key);
        int64_t cost = crowds_on(w, goal, from);
        if (total == 0) begin = cost, chosen = goal;
        if (cost >= 0) {
            int64_t saved = begin - cost, halves = std::clamp<int64_t>(floor_div(saved, half), -12, 12);
            int64_t part = std::clamp<int64_t>(saved - halves * half, 0, half), weight = 4096 + 4096 * part / half;
            weight = halves >= 0 ? weight << halves : weight >> -halves;
            total += weight;
            if ((int64_t)below((u32)total, id, key) < weight) chosen = goal;
        }
        key = scramble(key);
    }
    if (chosen != last || !again) go_to(w, i, chosen);
}
static void choose_place(People& w, int i) {
    int goal = w.c.goal[i], id = w.c.id[i], columns = (int)w.s.columns;
    u32 key = w.goal_key;
    for (int draw = 0; draw < 8; draw++) {
        int tile = w.tiles[w.first[goal] + below(w.first[goal + 1] - w.first[goal], id, key)];
        u32 k1 = scramble(key), k2 = scramble(k1);
        key = scramble(k2);
        w.c.gx[i] = least((to_float(tile % columns) + (.5f + .49f * chance(id, k1))) * w.r.tile, w.r.limit_x);
        w.c.gy[i] = least((to_float(tile / columns) + (.5f + .49f * chance(id, k2))) * w.r.tile, w.r.limit_y);
        if (in_sight(w, w.point_x[goal], w.point_y[goal], w.c.gx[i], w.c.gy[i])) break;
    }
    w.c.visible[i] = 0;
}

// --- move ------------------------------------------------------------------------------------------------------------

static void choose(People& w, int i, bool leaves, bool tires) {
    int goal = w.c.goal[i], opens = w.opens[goal];
    if (leaves || (tires && !w.fixed[goal])) choose_by_route(w, i, !leaves);
    else if (w.c.state[i] == QUEUING && (opens == -2 || opens == w.c.id[i])) choose_place(w, i);
}
static inline void walk(People& w, int i, M living) {
    const Rules& r = w.r; const Columns& c = w.c;
    I id = load(c.id + i), state = load(c.state + i); F timer = load(c.timer + i), x = load(c.x + i), y = load(c.y + i);
    M waits = state == WAITING, queues = state == QUEUING, held = (state == STUCK) | (state == CREEPING);
    M leaves = waits & (timer - r.dt <= 0.f), tires = 0;
    if (held) tires = held & (timer >= r.patience) & (chance(id, w.tire_key) < r.tires);
    for (u32 left = (leaves | queues | tires) & living; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        choose(w, i + lane, leaves >> lane & 1, tires >> lane & 1);
    }
    F dx = load(c.gx + i) - x, dy = load(c.gy + i) - y, d2 = dx * dx + dy * dy;
    timer = select(waits, timer - r.dt, timer), timer = select(leaves, F(0.f), timer);
    state = select(leaves | queues, I(WALKING), state);
    if (M near = (d2 < w.nearest_sq) & M(~waits)) {
        I goal = load(c.goal + i);
        F px = load(c.gx + i) - gather(w.point_x.data(), goal), py = load(c.gy + i) - gather(w.point_y.data(), goal);
        F reach_sq = select(px * px + py * py <= 0.f, gather(w.reach_sq.data(), goal), F(0.f));
        M outside = reach_sq > 0.f, joins = near & (d2 < reach_sq);
        M arrives = near & M(~outside) & (d2 < select(held, F(r.arrive_sq * 16), F(r.arrive_sq)));
        timer = select(arrives, F(r.wait), select(joins, F(0.f), timer));
        state = select(arrives, I(WAITING), select(joins, I(QUEUING), state));
    }
    M still = (state == WAITING) | (state == QUEUING), stuck = (state == STUCK) | (state == CREEPING);
    F hx = load(c.hx + i), hy = load(c.hy + i), speed = load(c.speed + i);
    F wx = r.push * load(c.ax + i), wy = r.push * load(c.ay + i);
    wx = select(still, wx, wx + hx), wy = select(still, wy, wy + hy);
    M slow = wx * hx + wy * hy < select(state == CREEPING, F(.75f), F(.5f));
    wx = wx * speed, wy = wy * speed;
    F limit = speed * r.top_factor;
    if (stuck) {
        wx = select(stuck, wx + r.wiggle * chance(id, w.wiggle_x), wx);
        wy = select(stuck, wy + r.wiggle * chance(id, w.wiggle_y), wy);
        limit = select(stuck, speed * r.stuck_top_factor, limit);
    }
    F length = root(wx * wx + wy * wy), cut = limit / length;
    M over = length > limit;
    wx = select(over, wx * cut, wx), wy = select(over, wy * cut, wy);
    F vx = load(c.vx + i), vy = load(c.vy + i), to_x = 0.f, to_y = 0.f;
    vx = vx + (wx - vx) * r.follow, vy = vy + (wy - vy) * r.follow;
    slide(w, x, y, r.dt * vx, r.dt * vy, to_x, to_y);
    F along = (to_x - x) * hx + (to_y - y) * hy;
    store(c.vx + i, living, select(to_x != x, vx, F(0.f))), store(c.vy + i, living, select(to_y != y, vy, F(0.f)));
    store(c.x + i, living, to_x), store(c.y + i, living, to_y);
    F longer = least(F(2 * r.patience), timer + r.dt), shorter = most(F(0.f), timer - 2 * r.dt);
    F counted = select(along < F(.25f) * speed * r.dt, longer, shorter);
    M held_up = ((state == WALKING) & (counted > r.patience)) | (M(~(state == WALKING)) & (counted > 0.f));
    store(c.state + i, living, select(still, state, select(held_up, select(slow, I(CREEPING), I(STUCK)), I(WALKING))));
    store(c.timer + i, living, select(still, timer, counted));
}
static void move(People& w, int me) {
    int end = share(w.n(), me + 1, w.threads);
    for (int i = share(w.n(), me, w.threads); i < end; i += 16) walk(w, i, first(end - i));
}

// --- contact ---------------------------------------------------------------------------------------------------------

// Pairs that may touch in one of the passes are listed once, each pair once. Numbers are those of the order of cells.
static void list_pairs(People& w, Worker& m, int from, int to) {
    float near = w.r.reach + (float)(w.s.passes - 1) * 2 * w.r.shift + .01f, near_sq = near * near;
    float beside = near + 2 * w.r.move + .1f;  // of both positions when they were indexed
    int count = 0, row = 0;
    while (w.start[(row + 1) * w.across] <= from && row + 1 < w.down) row++;
    const float *at_x = w.at_x.data(), *at_y = w.at_y.data();
    for (; row < w.down && w.start[row * w.across] < to; row++)
        for (int k = std::max(w.start[row * w.across], from); k < std::min(w.start[(row + 1) * w.across], to); k += 16) {
            int end = std::min(w.start[(row + 1) * w.across], to);
            alignas(64) int first_j[2][16], last_j[2][16];
            int room = 0, some = std::min(16, end - k);
            F x = load(at_x + k);
            I left = to_int(most(F(0.f), (x - beside) * w.r.inv_cell));
            I right = least(to_int((x + beside) * w.r.inv_cell) + 1, I(w.across));
            const int* start = &w.start[row * w.across];
            bool inside = row + 1 < w.down;
            store(first_j[0], lanes() + (k + 1)), store(last_j[0], gather(start, right));
            store(first_j[1], inside ? gather(start + w.across, left) : I(0));
            store(last_j[1], inside ? gather(start + w.across, right) : I(0));
            for (int lane = 0; lane < some; lane++)
                room += last_j[0][lane] - first_j[0][lane] + last_j[1][lane] - first_j[1][lane];
            if (m.pair_i.size() < (size_t)(count + room + 48))
                m.pair_i.resize(2 * (count + room) + 48), m.pair_j.resize(m.pair_i.size());
            int *pair_i = m.pair_i.data(), *pair_j = m.pair_j.data();
            for (int lane = 0; lane < some; lane++) {  // eight at a time, as a row has few
                __m256 x = _mm256_set1_ps(at_x[k + lane]), y = _mm256_set1_ps(at_y[k + lane]);
                for (int q = 0; q < 2; q++)
                    for (int j = first_j[q][lane]; j < last_j[q][lane]; j += 8) {
                        __m256 dx = _mm256_sub_ps(_mm256_loadu_ps(at_x + j), x);
                        __m256 dy = _mm256_sub_ps(_mm256_loadu_ps(at_y + j), y);
                        __m256 d2 = _mm256_add_ps(_mm256_mul_ps(dx, dx), _mm256_mul_ps(dy, dy));
                        __mmask8 near_by = _mm256_cmp_ps_mask(d2, _mm256_set1_ps(near_sq), _CMP_LT_OQ);
                        __mmask8 hit = near_by & first(last_j[q][lane] - j);
                        __m256i number = _mm256_add_epi32(_mm512_castsi512_si256(lanes().v), _mm256_set1_epi32(j));
                        _mm256_storeu_si256((__m256i*)(pair_i + count), _mm256_set1_epi32(k + lane));
                        _mm256_storeu_si256((__m256i*)(pair_j + count), _mm256_maskz_compress_epi32(hit, number));
                        count += __builtin_popcount(hit);
                    }
            }
        }
    if (m.pair_i.size() < (size_t)count + 48) m.pair_i.resize(count + 48), m.pair_j.resize(count + 48);
    for (int k = 0; k < 16; k++) m.pair_i[count + k] = m.pair_j[count + k] = from;  // of no pair
    m.pairs = count;
}
// Sixteen pairs that overlap by their distance alone; to be added to the sums of both.
static inline void touch(People& w, Worker& m, const int* i, const int* j, int count, int to) {
    const Rules& r = w.r; const Columns& c = w.c;
    I at_i = load(i), at_j = load(j), a = gather(w.order.data(), at_i), b = gather(w.order.data(), at_j);
    F dx = gather(w.at_x.data(), at_i) - gather(w.at_x.data(), at_j);
    F dy = gather(w.at_y.data(), at_i) - gather(w.at_y.data(), at_j);
    F d2 = dx * dx + dy * dy, reach = r.reach;
    I one = gather(c.state, a), two = gather(c.state, b);
    M both = ((one == STUCK) | (one == CREEPING)) & ((two == STUCK) | (two == CREEPING));
    if (both) {
        F turn = F(0.f) - (gather(c.hx, a) * gather(c.hx, b) + gather(c.hy, a) * gather(c.hy, b));
        reach = r.reach * (F(1.f) - r.squeeze * most(F(0.f), select(both, turn, F(0.f))));
    }
    M overlap = (d2 < reach * reach) & first(count), same = overlap & (d2 <= 0.f);
    F d = root(d2), weight = (reach - d) / d * 2048.f;
    I tx = to_int(weight * dx), ty = to_int(weight * dy);
    if (same) {
        I id_a = gather(c.id, a), id_b = gather(c.id, b), key = scramble(id_a ^ id_b);
        F half = select(id_a < id_b, F(-r.shift), F(r.shift)) * 4096.f;
        tx = select(same, to_int(half * chance(key, 1)), tx), ty = select(same, to_int(half * chance(key, 2)), ty);
    }
    alignas(64) int term_x[16], term_y[16];
    store(term_x, tx), store(term_y, ty);
    for (u32 left = overlap; left; left &= left - 1) {
        int lane = __builtin_ctz(left), p = i[lane], q = j[lane];
        w.sum_x[p] += term_x[lane], w.sum_y[p] += term_y[lane], w.met[p]++;
        if (q < to) w.sum_x[q] -= term_x[lane], w.sum_y[q] -= term_y[lane], w.met[q]++;
        else m.foreign.push_back({q, term_x[lane], term_y[lane]});
    }
}
static void contact(People& w, int me) {
    Worker& m = w.workers[me]; const Rules& r = w.r;
    int from = share(w.n(), me, w.threads), to = share(w.n(), me + 1, w.threads);
    for (int k = from; k < to; k += 16) {
        I slots = load(&w.order[k]);
        store(&w.at_x[k], first(to - k), gather(w.c.x, slots)), store(&w.at_y[k], first(to - k), gather(w.c.y, slots));
    }
    w.barrier.wait();
    if (w.s.passes) list_pairs(w, m, from, to);
    for (int pass = 0; pass < w.s.passes; pass++) {
        if (pass) w.barrier.wait();
        m.foreign.clear();
        int hits = 0, pairs = m.pairs;
        m.due.resize(std::max(m.due.size(), (size_t)pairs + to - from + 48));
        m.rest.resize(std::max(m.rest.size(), (size_t)pairs + 48));
        for (int k = 0; k < pairs; k += 16) {
            I i = load(&m.pair_i[k]), j = load(&m.pair_j[k]);
            F dx = gather(w.at_x.data(), i) - gather(w.at_x.data(), j);
            F dy = gather(w.at_y.data(), i) - gather(w.at_y.data(), j);
            M hit = (dx * dx + dy * dy < r.reach_sq) & first(pairs - k);
            pack(&m.due[hits], hit, i), pack(&m.rest[hits], hit, j), hits += __builtin_popcount(hit);
        }
        store(&m.due[hits], I(from)), store(&m.rest[hits], I(from));
        for (int k = 0; k < hits; k += 16) touch(w, m, &m.due[k], &m.rest[k], std::min(16, hits - k), to);
        w.barrier.wait();
        for (const Worker& other : w.workers)
            for (auto [j, tx, ty] : other.foreign)
                if (j >= from && j < to) w.sum_x[j] -= tx, w.sum_y[j] -= ty, w.met[j]++;
        int touched = 0;
        for (int k = from; k < to; k += 16) {
            M some = (load(&w.met[k]) > 0) & first(to - k);
            pack(&m.due[touched], some, lanes() + k), touched += __builtin_popcount(some);
        }
        store(&m.due[touched], I(from));
        for (int k = 0; k < touched; k += 16) {
            I at = load(&m.due[k]), slots = gather(w.order.data(), at);
            M some = first(touched - k);
            F scale = F(1.f / 4096) / (F(1.f) + r.relax * most(F(0.f), to_float(gather(w.met.data(), at)) - 1.f));
            F x = to_float(gather(w.sum_x.data(), at)) * scale, y = to_float(gather(w.sum_y.data(), at)) * scale;
            F length = root(x * x + y * y);
            M far = length > r.shift;
            x = select(far, x * (r.shift / length), x), y = select(far, y * (r.shift / length), y);
            slide(w, gather(w.at_x.data(), at), gather(w.at_y.data(), at), x, y, x, y);
            put(w.at_x.data(), at, some, x), put(w.at_y.data(), at, some, y);
            put(w.c.x, slots, some, x), put(w.c.y, slots, some, y);
            for (int* sums : {w.sum_x.data(), w.sum_y.data(), w.met.data()}) put(sums, at, some, I(0));
        }
    }
}

// --- the step --------------------------------------------------------------------------------------------------------

template<class T> static void take(vector<T>& to, const void* from, size_t count, size_t room = 0) {
    to.assign(count + room, T());
    memcpy(to.data(), from, count * sizeof(T));
}
extern "C" {
enum { INDEX, REORDER, INTERACTION, SIGHT, PATHS, ADMIT, MOVE, CONTACT, STAGES };

People* people_new(void** p, int threads) {
    People* w = new People;
    memcpy(&w->s, p[0], sizeof w->s), memcpy(&w->r, p[1], sizeof w->r);
    int n = w->n(), D = w->D(); size_t tiles = (size_t)w->s.rows * w->s.columns;
    w->room = n / 16 * 16 + 48;
    w->front.assign((size_t)COLUMNS * w->room, 0), w->back = w->front;
    for (int k = 0; k < COLUMNS; k++) memcpy(&w->front[(size_t)k * w->room], (int*)p[2] + (size_t)k * n, n * 4);
    w->c = columns_of(w->front, w->room), w->other = columns_of(w->back, w->room);
    take(w->blocked, p[3], tiles, 16), w->blocked.resize(tiles);
    take(w->targets, p[4], tiles), take(w->steps, p[5], tiles);
    take(w->prices, p[6], 2 * tiles), take(w->point_x, p[7], D), take(w->point_y, p[8], D), take(w->first, p[9], D + 1);
    take(w->tiles, p[10], w->first[D]), take(w->capacity, p[11], D), take(w->fixed, p[12], D), take(w->turns, p[13], D);
    w->direction.assign(D * tiles + 16, UNREACHABLE), w->chosen.assign(D, 0), w->opens.assign(D, 0);
    w->reach_sq.assign(D, 0), w->across = (int)ceilf(w->s.columns * w->r.tile * w->r.inv_cell);
    w->down = (int)ceilf(w->s.rows * w->r.tile * w->r.inv_cell);
    w->cell.assign(w->room, 0), w->order.assign(w->room, 0), w->start.assign(w->across * w->down + 1, 0);
    w->at_x.assign(w->room, 0), w->at_y.assign(w->room, 0), w->threads = w->barrier.threads = threads;
    w->counts.assign((size_t)threads * w->across * w->down, 0), w->totals.assign(threads, 0), w->workers.resize(threads);
    w->sum_x.assign(w->room, 0), w->sum_y.assign(w->room, 0), w->met.assign(w->room, 0);
    choose_prices(*w, w->s.tick + w->s.every - 1);  // as the last step left them
    for (int d = 0; d < D; d++) make_field(*w, d);
    return w;
}
void people_step(People* p, int steps, float* ms) {  // ms: [STAGES][steps], 0 before
    People& w = *p;
    auto work = [&w, steps, ms](int me) {
        auto begin = std::chrono::steady_clock::now();
        auto note = [&](int step, int stage) {  // the end of a stage
            w.barrier.wait();
            auto now = std::chrono::steady_clock::now();
            float took = std::chrono::duration<float, std::milli>(now - begin).count();
            if (me == 0) ms[stage * steps + step] += took, w.next = 0;
            begin = now;
            w.barrier.wait();
        };
        for (int step = 0; step < steps; step++) {
            if (me == 0) {
                w.goal_key = key_of(w.s.seed, (u32)w.s.tick, GOAL);
                w.tire_key = key_of(w.s.seed, (u32)w.s.tick, RECONSIDER);
                w.wiggle_x = key_of(w.s.seed, (u32)(w.s.tick / 30), WIGGLE), w.wiggle_y = scramble(w.wiggle_x), w.next = 0;
            }
            index_agents(w, me), note(step, INDEX);
            if (w.s.tick % w.s.sort == 0) reorder(w, me), note(step, REORDER);
            interact(w, me), note(step, INTERACTION);
            if (me == w.threads - 1) follow_crowds(w);  // beside the others, who begin with sight
            if (w.threads == 1) note(step, PATHS);
            see(w, me), note(step, SIGHT), take_headings(w, me), note(step, PATHS);
            count_people(w, me), w.barrier.wait();
            if (me == 0) admit(w);
            note(step, ADMIT), move(w, me), note(step, MOVE), contact(w, me), note(step, CONTACT);
            if (me == 0) w.s.tick++;
            w.barrier.wait();
        }
    };
    vector<std::thread> others;
    for (int k = 1; k < w.threads; k++) others.emplace_back(work, k);
    work(0);
    for (auto& other : others) other.join();
}
void people_read(const People* w, int* out) {  // int32[17, n], by id
    for (int k = 0; k < COLUMNS; k++)
        for (int i = 0; i < w->n(); i++) out[(size_t)k * w->n() + w->c.id[i]] = w->front[(size_t)k * w->room + i];
}
void people_free(People* w) { delete w; }
}
