// A step of people in C++, by the rules of docs/model_people.md: avoidance `slow_down` by place, sight, prices and flow fields,
// paths, admission, choices, move, contact. It has the state hash of the program. Not in it: events, exits, forces, edits.
//   g++ -O3 -march=native -std=c++20 -ffp-contract=off -fno-math-errno -fwrapv -pthread -shared -fPIC people_step.cpp
#include <immintrin.h>
#include <algorithm>
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

// --- numbers: one, or sixteen ------------------------------------------------------------------------------------------

static inline float root(float a) { return __builtin_sqrtf(a); }
static inline float select(bool m, float a, float b) { return m ? a : b; }
static inline int select(bool m, int a, int b) { return m ? a : b; }
static inline float least(float a, float b) { return b < a ? b : a; }
static inline float most(float a, float b) { return b > a ? b : a; }
static inline int to_int(float a) { return _mm_cvttss_si32(_mm_set_ss(a)); }
static inline float to_float(int a) { return (float)a; }
static inline u32 scramble(u32 v) { v ^= v >> 16; v *= 0x7feb352du; v ^= v >> 15; v *= 0x846ca68bu; return v ^ v >> 16; }
static inline float chance(int id, u32 key) { return (float)(int)scramble((u32)id ^ key) * 0x1p-31f; }
static inline u32 below(u32 size, int id, u32 key) { return (uint64_t)scramble((u32)id ^ key) * size >> 32; }
static u32 key_of(uint64_t seed, u32 tick, u32 use) {
    u32 h = 0;
    for (u32 word : {(u32)seed, (u32)(seed >> 32), tick, use + 1}) h = scramble(h ^ word);
    return h;
}

// --- what Python hands over ----------------------------------------------------------------------------------------------

struct Rules {  // the float32 of `PeopleRules`, `Ground` and `ContactRules`, in their order, and six more
    float radius_sq, inv_radius, push, wiggle, top_factor, stuck_top_factor, arrive_sq, wait, patience, follow, dt, ahead,
        inv_ahead, gap_sq, inv_gap, aside, behind, away, slow_aside, headway, standing, in_way_sq, creep, swerve_cos, swerve_sin,
        swerve_ramp, swerve_gain, pass_by, tires, disc, flight;
    float inv_tile, limit_x, limit_y, longest, body;
    float reach, reach_sq, relax, shift, squeeze;
    float tile, inv_band, dearer, dearest, inv_cell, move;
};
struct Sizes { int64_t agents, destinations, rows, columns, every, half_cost, stagger, sight, paths, passes, seed, tick, sort; };
struct Columns {  // `PeopleColumns`
    int *id; float *x, *y, *vx, *vy, *ax, *ay; int *next; float *speed; int *goal; float *gx, *gy, *hx, *hy; int *visible, *state;
    float *timer;
};
static const int COLUMNS = 17;

struct People {
    Rules r; Sizes s; Columns c, other;
    vector<int> front, back; int room;
    vector<u8> blocked, steps, prices, direction, chosen; vector<short> targets;
    vector<float> point_x, point_y, reach_sq; vector<int> tiles, first, capacity, opens, turns; vector<u8> fixed;
    vector<int> cell, start, order; int across, down;
    vector<int> sum_x, sum_y, met;
    u32 goal_key, wiggle_x, wiggle_y, tire_key;
    int n() const { return (int)s.agents; }
    int D() const { return (int)s.destinations; }
};

static Columns columns_of(vector<int>& m, int room) {
    Columns c; void** p = (void**)&c;
    for (int k = 0; k < COLUMNS; k++) p[k] = m.data() + (size_t)k * room;
    return c;
}

// --- walls ---------------------------------------------------------------------------------------------------------------

static inline int tile_under(const People& w, float x, float y) {
    return to_int(y * w.r.inv_tile) * (int)w.s.columns + to_int(x * w.r.inv_tile);
}
static inline void slide(const People& w, float x, float y, float dx, float dy, float& to_x, float& to_y) {
    const Rules& r = w.r;
    dx = least(r.longest, most(-r.longest, dx)), dy = least(r.longest, most(-r.longest, dy));
    to_x = least(r.limit_x, most(0, x + dx)), to_y = least(r.limit_y, most(0, y + dy));
    float edge_x = least(r.limit_x, most(0, to_x + (dx < 0 ? -r.body : r.body)));
    if (w.blocked[tile_under(w, edge_x, y)]) to_x = x;
    float edge_y = least(r.limit_y, most(0, to_y + (dy < 0 ? -r.body : r.body)));
    if (w.blocked[tile_under(w, to_x, edge_y)]) to_y = y;
}
static inline int64_t floor_div(int64_t a, int64_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }
static bool in_sight(const People& w, float fax, float fay, float fbx, float fby) {
    int64_t side = (int64_t)(w.r.tile * 256), columns = w.s.columns, rows = w.s.rows;
    int64_t ax = (int64_t)floorf(fax * 256), ay = (int64_t)floorf(fay * 256), bx = (int64_t)floorf(fbx * 256),
            by = (int64_t)floorf(fby * 256);
    int64_t column = floor_div(ax, side), row = floor_div(ay, side), last_c = floor_div(bx, side), last_r = floor_div(by, side);
    auto is_free = [&](int64_t c, int64_t q) { return c >= 0 && c < columns && q >= 0 && q < rows && !w.blocked[q * columns + c]; };
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

// --- index ---------------------------------------------------------------------------------------------------------------

static inline int cell_of(const People& w, float x, float y) {
    int column = to_int(least(most(0, x * w.r.inv_cell), (float)(w.across - 1)));
    return to_int(least(most(0, y * w.r.inv_cell), (float)(w.down - 1))) * w.across + column;
}
static void index_agents(People& w) {
    int n = w.n(), cells = w.across * w.down;
    std::fill(w.start.begin(), w.start.end(), 0);
    for (int i = 0; i < n; i++) w.start[(w.cell[i] = cell_of(w, w.c.x[i], w.c.y[i])) + 1]++;
    for (int k = 0; k < cells; k++) w.start[k + 1] += w.start[k];
    vector<int> at(w.start.begin(), w.start.end());
    for (int i = 0; i < n; i++) w.order[at[w.cell[i]]++] = i;
    if (w.s.tick % w.s.sort) return;
    for (int k = 0; k < COLUMNS; k++)
        for (int i = 0; i < n; i++) w.back[(size_t)k * w.room + i] = w.front[(size_t)k * w.room + w.order[i]];
    w.front.swap(w.back);
    std::swap(w.c, w.other);
    for (int i = 0; i < n; i++) w.order[i] = i;
}

// --- interaction -----------------------------------------------------------------------------------------------------------

struct Walker { float x, y, vx, vy, ex, ey, speed; };
struct Sums { int x = 0, y = 0, turn = 0; float straight = 1e6f, left = 1e6f, right = 1e6f; };

static inline Walker walker(const Columns& c, int i) {
    bool still = c.state[i] == WAITING || c.state[i] == QUEUING;
    return {c.x[i], c.y[i], c.vx[i], c.vy[i], still ? 0 : c.hx[i], still ? 0 : c.hy[i], c.speed[i]};
}
static inline void nearest(const Rules& r, bool same, float along, float across, float& found) {
    if (same && along > 0 && across * across < r.in_way_sq) found = least(found, along);
}
static inline void add(const Rules& r, const Walker& me, const Walker& o, float nx, float ny, Sums& s) {
    float dx = o.x - me.x, dy = o.y - me.y, d2 = dx * dx + dy * dy;
    if (!(d2 < r.radius_sq)) return;
    bool apart = d2 > 0;
    float d = root(apart ? d2 : 1), near = 1 - d * r.inv_radius, pull = near * near / d;
    float facing = o.ex * me.ex + o.ey * me.ey, ahead = dx * me.ex + dy * me.ey;
    if (r.pass_by > 0 && facing < -.25f && ahead > 0) {
        float back = pull * ahead * (r.pass_by * 4096);
        s.x += to_int(back * me.ex), s.y += to_int(back * me.ey);
    }
    if (apart) {
        float view = r.behind + (1 - r.behind) * (.5f + .5f * (ahead / d)), weight = pull * -4096;
        s.x += to_int(weight * dx), s.y += to_int(weight * dy);
        float cx = me.vx - o.vx, cy = me.vy - o.vy, time = (dx * cx + dy * cy) / (cx * cx + cy * cy + 1);
        float mx = dx - cx * time, my = dy - cy * time, miss = mx * mx + my * my;
        if (time > 0 && time < r.ahead && miss < r.gap_sq) {
            float close = 1 - root(miss) * r.inv_gap;
            float strength = r.slow_aside * (1 - time * r.inv_ahead) * (close * close) * view;
            float right = (my * me.ex - mx * me.ey) / root(miss + 16);
            s.turn += to_int(strength * (right + .2f) * -4096);
        }
    }
    bool same = o.ex * nx + o.ey * ny > .25f;
    float along = dx * nx + dy * ny, across = dx * ny - dy * nx;
    nearest(r, same, along, across, s.straight);
    float along_c = along * r.swerve_cos, across_s = across * r.swerve_sin, across_c = across * r.swerve_cos,
          along_s = along * r.swerve_sin;
    nearest(r, same, along_c + across_s, across_c - along_s, s.left);
    nearest(r, same, along_c - across_s, across_c + along_s, s.right);
}
static inline void way_of(const Walker& me, float& nx, float& ny) {
    float x = me.vx + .1f * me.speed * me.ex, y = me.vy + .1f * me.speed * me.ey, scale = 1 / root(x * x + y * y + 1e-6f);
    nx = x * scale, ny = y * scale;
}
static inline void finish(const Rules& r, const Walker& me, const Sums& s, float& ax, float& ay) {
    float side = to_float(s.turn) * (1.f / 4096);
    side = side > 1 ? 1 : side < -1 ? -1 : side;
    float scale = 1 / root(1 + side * side), x = (me.ex - me.ey * side) * scale, y = (me.ey + me.ex * side) * scale;
    float wanted = me.speed * r.headway, room = least(s.straight - r.standing, wanted);
    float best = least(most(s.left, s.right) - r.standing, wanted);
    float part = most(0, least(1, (best * r.swerve_cos - room) / most(r.swerve_ramp * wanted, 1e-6f)));
    float sin = (s.right > s.left ? r.swerve_sin : -r.swerve_sin) * part, cos = 1 - (1 - r.swerve_cos) * part;
    float again = 1 / root(cos * cos + sin * sin), sx = (x * cos - y * sin) * again, sy = (y * cos + x * sin) * again;
    room = room + r.swerve_gain * part * (best - room);
    bool walks = me.ex * me.ex + me.ey * me.ey > 0;
    float pace = walks ? most(r.creep, least(1, room / most(wanted, 1e-6f))) : 1, share = r.away * (1.f / 4096);
    x = (sx + to_float(s.x) * share) * pace, y = (sy + to_float(s.y) * share) * pace;
    float length = root(x * x + y * y), cut = walks && length > pace ? pace / most(length, 1e-6f) : 1;
    ax = x * cut - me.ex, ay = y * cut - me.ey;
}
static void interact(People& w) {
    const Columns& c = w.c;
    int P = (int)w.s.stagger, tick = (int)w.s.tick, due_below = (tick + 1) * 16, due_above = (tick + P + 1) * 16 - 1;
    for (int row = 0; row < w.down; row++)
        for (int column = 0; column < w.across; column++)
            for (int k = w.start[row * w.across + column]; k < w.start[row * w.across + column + 1]; k++) {
                int i = w.order[k];
                if (c.next[i] >= due_below && c.next[i] <= due_above) continue;
                Walker me = walker(c, i); Sums sums; float nx, ny;
                way_of(me, nx, ny);
                for (int q = std::max(row - 1, 0); q <= std::min(row + 1, w.down - 1); q++) {
                    int begin = w.start[q * w.across + std::max(column - 1, 0)];
                    int end = w.start[q * w.across + std::min(column + 1, w.across - 1) + 1];
                    for (int k = begin; k < end; k++) add(w.r, me, walker(c, w.order[k]), nx, ny, sums);
                }
                finish(w.r, me, sums, c.ax[i], c.ay[i]);
                int wait = P - (tick + to_int(me.y * w.r.inv_band) % P) % P;
                c.next[i] = (tick + wait) * 16 + wait - 1;
            }
}

// --- sight, prices, flow fields and paths ------------------------------------------------------------------------------------

static void see(People& w) {
    const Columns& c = w.c;
    for (int i = 0; i < w.n(); i++)
        if ((w.s.tick + c.id[i]) % w.s.sight == 0 && c.state[i] != WAITING)
            c.visible[i] = in_sight(w, c.x[i], c.y[i], c.gx[i], c.gy[i]);
}
static void count_prices(People& w) {
    size_t tiles = w.blocked.size();
    vector<int> count(tiles);
    for (int i = 0; i < w.n(); i++) count[tile_under(w, w.c.x[i], w.c.y[i])]++;
    memcpy(w.prices.data(), w.prices.data() + tiles, tiles);
    for (size_t k = 0; k < tiles; k++) w.prices[tiles + k] = PLAIN + to_int(least((float)count[k] * (float)count[k] * w.r.dearer, w.r.dearest));
}
static void make_field(People& w, int goal) {  // Dial's algorithm
    int tiles = (int)w.blocked.size(), columns = (int)w.s.columns, waiting = 0;
    const u8* prices = w.prices.data() + (w.chosen[goal] ? tiles : 0);
    static thread_local vector<int> head, far, tile_of, next;
    head.assign(CIRCLE, -1), far.assign(tiles, INT_MAX), tile_of.clear(), next.clear();
    auto put = [&](int tile, int cost) {
        far[tile] = cost, tile_of.push_back(tile), next.push_back(head[cost % CIRCLE]);
        head[cost % CIRCLE] = (int)next.size() - 1, waiting++;
    };
    for (int k = 0; k < tiles; k++) if (w.targets[k] == goal) put(k, 0);
    for (int now = 0; waiting > 0; now++)
        while (head[now % CIRCLE] >= 0) {
            int node = head[now % CIRCLE], tile = tile_of[node];
            head[now % CIRCLE] = next[node], waiting--;
            if (far[tile] != now) continue;
            for (u32 left = w.steps[tile]; left; left &= left - 1) {
                int step = __builtin_ctz(left), near = tile + DY[step] * columns + DX[step];
                int cost = now + prices[tile] * (step & 1 ? 7 : 5);
                if (cost < far[near]) put(near, cost);
            }
        }
    u8* out = w.direction.data() + (size_t)goal * tiles;
    for (int k = 0; k < tiles; k++) {
        out[k] = far[k] == 0 ? ARRIVED : UNREACHABLE;
        if (far[k] == 0 || far[k] == INT_MAX) continue;
        for (u32 left = w.steps[k]; left; left &= left - 1) {
            int step = __builtin_ctz(left), near = k + DY[step] * columns + DX[step];
            if (far[near] != INT_MAX && far[near] + prices[near] * (step & 1 ? 7 : 5) == far[k]) { out[k] = step; break; }
        }
    }
}
static void choose_prices(People& w, int64_t tick) {
    for (int d = 0; d < w.D(); d++) w.chosen[d] = tick % w.s.every >= w.turns[d];
}
static void follow_paths(People& w) {
    const Columns& c = w.c;
    int columns = (int)w.s.columns;
    if (w.s.tick % w.s.every == 0) count_prices(w);
    choose_prices(w, w.s.tick);
    for (int d = 0; d < w.D(); d++) if (w.turns[d] == w.s.tick % w.s.every) make_field(w, d);
    for (int i = 0; i < w.n(); i++) {
        if ((w.s.tick + c.id[i]) % w.s.paths) continue;
        float x = c.x[i], y = c.y[i];
        if (c.visible[i]) {
            float dx = c.gx[i] - x, dy = c.gy[i] - y, length = root(dx * dx + dy * dy);
            if (!(length <= 0)) c.hx[i] = dx / length, c.hy[i] = dy / length;
            continue;
        }
        const u8* field = w.direction.data() + (size_t)c.goal[i] * w.blocked.size();
        int column = to_int(x * w.r.inv_tile), row = to_int(y * w.r.inv_tile), step = field[row * columns + column];
        column += DX[step], row += DY[step];
        int then = field[row * columns + column];
        float to_x = (to_float(column) + .5f + to_float(DX[then]) * .5f) * w.r.tile;
        float to_y = (to_float(row) + .5f + to_float(DY[then]) * .5f) * w.r.tile;
        if (step == ARRIVED) to_x = w.point_x[c.goal[i]], to_y = w.point_y[c.goal[i]];
        float dx = to_x - x, dy = to_y - y, length = root(dx * dx + dy * dy);
        bool none = step == UNREACHABLE || length <= 0;
        c.hx[i] = none ? 0 : dx / length, c.hy[i] = none ? 0 : dy / length;
    }
}

// --- destinations ------------------------------------------------------------------------------------------------------------

static inline bool is_outside(const People& w, int i) {
    float dx = w.c.gx[i] - w.point_x[w.c.goal[i]], dy = w.c.gy[i] - w.point_y[w.c.goal[i]];
    return dx * dx + dy * dy <= 0;
}
static void admit(People& w) {
    const Columns& c = w.c;
    vector<int> held(w.D()), queued(w.D()); vector<int64_t> front(w.D(), INT64_MAX);
    for (int i = 0; i < w.n(); i++) {
        int goal = c.goal[i];
        if (c.state[i] == QUEUING) {
            float dx = w.point_x[goal] - c.x[i], dy = w.point_y[goal] - c.y[i];
            queued[goal]++;
            front[goal] = std::min(front[goal], (int64_t)to_int(least(dx * dx + dy * dy, 2147483520.f)) << 32 | (u32)c.id[i]);
        } else if (c.state[i] == WAITING || !is_outside(w, i)) held[goal]++;
    }
    for (int d = 0; d < w.D(); d++) {
        int left = w.capacity[d] - held[d];
        w.opens[d] = queued[d] <= left ? -2 : left > 0 ? (int)(front[d] & 0x7fffffff) : -1;
        w.reach_sq[d] = (float)(w.capacity[d] > 0 ? w.capacity[d] + queued[d] : 0) * w.r.disc;
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
    const u8* field = w.direction.data() + goal * w.blocked.size(), *prices = w.prices.data() + (w.chosen[goal] ? w.blocked.size() : 0);
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

// --- move ----------------------------------------------------------------------------------------------------------------------

static void walk(People& w, int i) {
    const Rules& r = w.r; const Columns& c = w.c;
    int id = c.id[i], state = c.state[i]; float timer = c.timer[i], x = c.x[i], y = c.y[i];
    if (state == WAITING) {
        timer -= r.dt;
        if (timer <= 0) choose_by_route(w, i, false), state = WALKING, timer = 0;
    } else {
        bool held = state == STUCK || state == CREEPING;
        if (held && timer >= r.patience && chance(id, w.tire_key) < r.tires && !w.fixed[c.goal[i]]) choose_by_route(w, i, true);
        else if (state == QUEUING && (w.opens[c.goal[i]] == -2 || w.opens[c.goal[i]] == id)) choose_place(w, i);
        float reach_sq = is_outside(w, i) ? w.reach_sq[c.goal[i]] : 0, dx = c.gx[i] - x, dy = c.gy[i] - y, d2 = dx * dx + dy * dy;
        if (state == QUEUING) state = WALKING;
        if (reach_sq > 0) { if (d2 < reach_sq) state = QUEUING, timer = 0; }
        else if (d2 < (held ? r.arrive_sq * 16 : r.arrive_sq)) state = WAITING, timer = r.wait;
    }
    bool still = state == WAITING || state == QUEUING, stuck = state == STUCK || state == CREEPING;
    float hx = c.hx[i], hy = c.hy[i], speed = c.speed[i], wx = r.push * c.ax[i], wy = r.push * c.ay[i];
    if (!still) wx += hx, wy += hy;
    bool slow = wx * hx + wy * hy < (state == CREEPING ? .75f : .5f);
    wx *= speed, wy *= speed;
    if (stuck) wx += r.wiggle * chance(id, w.wiggle_x), wy += r.wiggle * chance(id, w.wiggle_y);
    float limit = speed * (stuck ? r.stuck_top_factor : r.top_factor), length = root(wx * wx + wy * wy);
    if (length > limit) wx *= limit / length, wy *= limit / length;
    float vx = c.vx[i] + (wx - c.vx[i]) * r.follow, vy = c.vy[i] + (wy - c.vy[i]) * r.follow, to_x, to_y;
    slide(w, x, y, r.dt * vx, r.dt * vy, to_x, to_y);
    float along = (to_x - x) * hx + (to_y - y) * hy;
    c.vx[i] = to_x != x ? vx : 0, c.vy[i] = to_y != y ? vy : 0, c.x[i] = to_x, c.y[i] = to_y;
    if (!still) {
        timer = along < .25f * speed * r.dt ? least(2 * r.patience, timer + r.dt) : most(0, timer - 2 * r.dt);
        bool held = state == WALKING ? timer > r.patience : timer > 0;
        state = held ? slow ? CREEPING : STUCK : WALKING;
    }
    c.state[i] = state, c.timer[i] = timer;
}

// --- contact ---------------------------------------------------------------------------------------------------------------------

static inline void touch(People& w, int i, int j) {
    const Rules& r = w.r; const Columns& c = w.c;
    float dx = c.x[i] - c.x[j], dy = c.y[i] - c.y[j], d2 = dx * dx + dy * dy;
    if (!(d2 < r.reach_sq)) return;
    bool both = (c.state[i] == STUCK || c.state[i] == CREEPING) && (c.state[j] == STUCK || c.state[j] == CREEPING);
    float reach = r.reach * (1 - r.squeeze * most(0, both ? 0 - (c.hx[i] * c.hx[j] + c.hy[i] * c.hy[j]) : 0));
    if (!(d2 < reach * reach)) return;
    int tx, ty;
    if (d2 > 0) {
        float d = root(d2), weight = (reach - d) / d * 2048;
        tx = to_int(weight * dx), ty = to_int(weight * dy);
    } else {
        u32 key = scramble((u32)c.id[i] ^ (u32)c.id[j]);
        float half = (c.id[i] < c.id[j] ? -r.shift : r.shift) * 4096;
        tx = to_int(half * chance((int)key, 1)), ty = to_int(half * chance((int)key, 2));
    }
    w.sum_x[i] += tx, w.sum_y[i] += ty, w.met[i]++, w.sum_x[j] -= tx, w.sum_y[j] -= ty, w.met[j]++;
}
static void move_apart(People& w, int i) {
    const Rules& r = w.r; const Columns& c = w.c;
    float scale = (1.f / 4096) / (1 + r.relax * most(0, to_float(w.met[i]) - 1));
    float x = to_float(w.sum_x[i]) * scale, y = to_float(w.sum_y[i]) * scale, length = root(x * x + y * y);
    if (length > r.shift) x *= r.shift / length, y *= r.shift / length;
    slide(w, c.x[i], c.y[i], x, y, x, y);
    c.x[i] = x, c.y[i] = y, w.sum_x[i] = w.sum_y[i] = w.met[i] = 0;
}
static void contact(People& w) {
    for (int pass = 0; pass < w.s.passes; pass++) {
        for (int row = 0; row < w.down; row++)
            for (int column = 0; column < w.across; column++)
                for (int k = w.start[row * w.across + column]; k < w.start[row * w.across + column + 1]; k++) {
                    int last = w.start[row * w.across + std::min(column + 1, w.across - 1) + 1];
                    for (int m = k + 1; m < last; m++) touch(w, w.order[k], w.order[m]);
                    if (row + 1 == w.down) continue;
                    int begin = w.start[(row + 1) * w.across + std::max(column - 1, 0)];
                    int end = w.start[(row + 1) * w.across + std::min(column + 1, w.across - 1) + 1];
                    for (int m = begin; m < end; m++) touch(w, w.order[k], w.order[m]);
                }
        for (int i = 0; i < w.n(); i++) if (w.met[i]) move_apart(w, i);
    }
}

// --- the step --------------------------------------------------------------------------------------------------------------------

template<class T> static void take(vector<T>& to, const void* from, size_t count, size_t room = 0) {
    to.assign(count + room, T());
    memcpy(to.data(), from, count * sizeof(T));
}
extern "C" {
enum { INDEX, INTERACTION, SIGHT, PATHS, ADMIT, MOVE, CONTACT, STAGES };

People* people_new(void** p, int threads) {
    People* w = new People;
    memcpy(&w->s, p[0], sizeof w->s), memcpy(&w->r, p[1], sizeof w->r);
    int n = w->n(), D = w->D(); size_t tiles = (size_t)w->s.rows * w->s.columns;
    w->room = n / 16 * 16 + 48;
    w->front.assign((size_t)COLUMNS * w->room, 0), w->back = w->front;
    for (int k = 0; k < COLUMNS; k++) memcpy(&w->front[(size_t)k * w->room], (int*)p[2] + (size_t)k * n, n * 4);
    w->c = columns_of(w->front, w->room), w->other = columns_of(w->back, w->room);
    take(w->blocked, p[3], tiles, 16), w->blocked.resize(tiles), take(w->targets, p[4], tiles), take(w->steps, p[5], tiles);
    take(w->prices, p[6], 2 * tiles), take(w->point_x, p[7], D), take(w->point_y, p[8], D), take(w->first, p[9], D + 1);
    take(w->tiles, p[10], w->first[D]), take(w->capacity, p[11], D), take(w->fixed, p[12], D), take(w->turns, p[13], D);
    w->direction.assign(D * tiles + 16, UNREACHABLE), w->chosen.assign(D, 0), w->opens.assign(D, 0), w->reach_sq.assign(D, 0);
    w->across = (int)ceilf(w->s.columns * w->r.tile * w->r.inv_cell), w->down = (int)ceilf(w->s.rows * w->r.tile * w->r.inv_cell);
    w->cell.assign(w->room, 0), w->order.assign(w->room, 0), w->start.assign(w->across * w->down + 1, 0);
    w->sum_x.assign(w->room, 0), w->sum_y.assign(w->room, 0), w->met.assign(w->room, 0);
    choose_prices(*w, w->s.tick + w->s.every - 1);  // as the last step left them
    for (int d = 0; d < D; d++) make_field(*w, d);
    return w;
}
void people_step(People* w, int steps, float* ms) {  // ms: [STAGES][steps]
    for (int step = 0; step < steps; step++) {
        int64_t tick = w->s.tick; int stage = 0;
        auto begin = std::chrono::steady_clock::now();
        auto note = [&] {
            auto now = std::chrono::steady_clock::now();
            ms[stage++ * steps + step] = std::chrono::duration<float, std::milli>(now - begin).count(), begin = now;
        };
        w->goal_key = key_of(w->s.seed, (u32)tick, GOAL), w->tire_key = key_of(w->s.seed, (u32)tick, RECONSIDER);
        w->wiggle_x = key_of(w->s.seed, (u32)(tick / 30), WIGGLE), w->wiggle_y = scramble(w->wiggle_x);
        index_agents(*w), note(), interact(*w), note(), see(*w), note(), follow_paths(*w), note(), admit(*w), note();
        for (int i = 0; i < w->n(); i++) walk(*w, i);
        note(), contact(*w), note();
        w->s.tick++;
    }
}
void people_read(const People* w, int* out) {  // int32[17, n], by id
    for (int k = 0; k < COLUMNS; k++)
        for (int i = 0; i < w->n(); i++) out[(size_t)k * w->n() + w->c.id[i]] = w->front[(size_t)k * w->room + i];
}
void people_free(People* w) { delete w; }
}
