# Manifolds to lanes, and back after a step. Included by _contacts.pxi.

cdef double asleep_by_awake(const Bodies* bodies, const Manifold* m) noexcept nogil:
    """What sleeps has no inverse mass, so that a spring of so many hertz would be stiffer than it was when both were awake,
    and would press the two apart. -> sum J M^-1 J' over the points, by that of the two awake"""
    cdef double held = 0.0
    cdef double awake = 0.0
    cdef double answer
    cdef Vec3 turn
    cdef int i, side
    cdef int32_t body
    if bodies.island[m.body_a] < 0 and bodies.island[m.body_b] < 0:
        return 1.0
    for side in range(2):
        body = m.body_b if side else m.body_a
        for i in range(m.point_count):
            turn = cross(sub(m.points[i].position, bodies.position[body]), m.normal)
            answer = answer_awake(bodies, body, turn)
            awake += answer
            if bodies.island[body] < 0:
                held += answer
    return held / awake if awake > 0.0 else 1.0


cdef inline void fill_lane(ContactBlock* block, ContactStart* start, int lane, const Manifold* m, int32_t number,
                           const Bodies* bodies, const double* neighbours, Effort effort) noexcept nogil:
    """What holds for the whole step, and the warm impulses."""
    cdef Vec3 t = perpendicular(m.normal)
    cdef Vec3 second = cross(m.normal, t)
    cdef int i
    block.manifold[lane] = number
    block.ends.body_a[lane] = m.body_a
    block.ends.body_b[lane] = m.body_b
    put3(&block.normal, lane, m.normal)
    put3(&block.tangent, lane, t)
    put_anchors(&start.anchors, lane, m, bodies)
    put(&start.ground, lane, 1.0 if never_moves(bodies, m.body_a) or never_moves(bodies, m.body_b) else 0.0)
    put(&start.inv_mass, lane, bodies.awake_inv_mass[m.body_a] + bodies.awake_inv_mass[m.body_b])
    put(&start.as_awake, lane, asleep_by_awake(bodies, m))
    put(&start.steadies, lane, 1.0 if may_steady(bodies, m.body_a, m.body_b, neighbours) else 0.0)
    put(&start.outweighed, lane, 1.0 if is_outweighed(m.body_a, m.body_b, neighbours) else 0.0)
    block.rounds = max(block.rounds, <int>ceil(effort.rounds))
    put(&block.effort, lane, effort.rounds)
    put(&start.stiffer, lane, sqrt(effort.stiffness))
    put(&start.firmer, lane, effort.firmness)
    if effort.firmness > 1.0 and m.point_count == 4:
        block.firm = 1
    if m.friction > 0.0:
        block.rubs = 1
        put(&block.friction, lane, m.friction)
        put(&block.slide.impulse[0], lane, dot(m.friction_impulse, t))
        put(&block.slide.impulse[1], lane, dot(m.friction_impulse, second))
        if m.point_count > 1:
            block.twists = 1
            put(&start.twists, lane, 1.0)
            put(&block.twist, lane, m.twist_impulse)
    if m.thinning < 1.0:
        if not block.thins:
            start.thinning = splat(1.0)
        block.thins = 1
        put(&start.thinning, lane, m.thinning)
    for i in range(m.point_count):
        put(&block.points[i].impulse, lane, m.points[i].normal_impulse)
        if m.friction > 0.0:
            put(&block.rub[i].impulse[0], lane, dot(m.points[i].friction_impulse, t))
            put(&block.rub[i].impulse[1], lane, dot(m.points[i].friction_impulse, second))


cdef void fill_resistance(ContactBlock* block, ContactStart* start, ResistanceBlock* resisting, int lane,
                          const Manifold* m, const Resistance* r) noexcept nogil:
    """What fill_lane is for a manifold with a resistance."""
    cdef Vec3 t = lane3(&block.tangent, lane)
    cdef Vec3 second = cross(m.normal, t)
    if r.rolling == 0.0 and r.torsional == 0.0 and dot(r.surface_velocity, r.surface_velocity) == 0.0:
        return
    block.resists = 1
    put(&resisting.surface[0], lane, dot(r.surface_velocity, t))
    put(&resisting.surface[1], lane, dot(r.surface_velocity, second))
    if r.rolling > 0.0:
        put(&resisting.rolling, lane, r.rolling)
        put(&resisting.roll.impulse[0], lane, dot(m.rolling_impulse, t))
        put(&resisting.roll.impulse[1], lane, dot(m.rolling_impulse, second))
    if r.torsional > 0.0:
        block.rubs = 1
        block.twists = 1
        put(&start.twists, lane, 1.0)
        put(&resisting.torsional, lane, r.torsional)
        put(&block.twist, lane, m.twist_impulse)


cdef void fill(ContactBlock* blocks, ContactStart* starts, ResistanceBlock* resisting, Py_ssize_t block,
               const Manifold* manifolds, const Resistance* resistances, const int32_t* chosen, int count,
               const Bodies* bodies, const double* neighbours, const Effort* efforts,
               const int32_t* groups, const int32_t* going, int shares, int follows) noexcept nogil:
    cdef int points = manifolds[chosen[0]].point_count
    cdef int unused = 0 if points > 2 else MANIFOLD_POINTS - points      # three are swept as four
    cdef int lane
    memset(&blocks[block], 0, sizeof(ContactBlock) - sizeof(blocks[block].rub) - unused * sizeof(WidePoint))
    memset(blocks[block].rub, 0, sizeof(blocks[block].rub) - unused * sizeof(WideRub))
    memset(&starts[block], 0, sizeof(ContactStart) - sizeof(starts[block].anchors.cross)
           - sizeof(starts[block].anchors.turning) - unused * sizeof(AnchorPoint))
    blocks[block].point_count = points
    blocks[block].solves_faces = -1
    for lane in range(WIDTH):
        blocks[block].manifold[lane] = -1
    clear_ends(&blocks[block].ends)
    blocks[block].ends.shares, blocks[block].ends.follows = shares, follows
    for lane in range(count):
        fill_lane(&blocks[block], &starts[block], lane, &manifolds[chosen[lane]], chosen[lane], bodies,
                  neighbours, efforts[chosen[lane]])
        blocks[block].group[lane] = group_of(&manifolds[chosen[lane]], groups, going, bodies)
        starts[block].group[lane] = free_group(&manifolds[chosen[lane]], groups, going, bodies)
        blocks[block].mixed |= blocks[block].group[lane] != blocks[block].group[0]
    if resistances != NULL:
        memset(&resisting[block], 0, sizeof(ResistanceBlock))
        for lane in range(count):
            fill_resistance(&blocks[block], &starts[block], &resisting[block], lane, &manifolds[chosen[lane]],
                            &resistances[chosen[lane]])
    find_standing(&blocks[block].ends, bodies)
    load_masses(&blocks[block].ends, bodies)
    set_anchors(&starts[block].anchors, points, blocks[block].normal, blocks[block].ends.body_a, blocks[block].ends.body_b,
                bodies)


cdef inline void keep_rubs(ContactBlock* block, ResistanceBlock* resisting, Wide kept) noexcept nogil:
    cdef int i, k
    if not block.rubs:
        return
    for i in range(block.point_count):
        for k in range(2):
            block.rub[i].impulse[k] = kept * block.rub[i].impulse[k]
    if block.resists:
        resisting.bore = kept * resisting.bore


cdef inline void end_substep(ContactBlock* block, ContactStart* start, ResistanceBlock* resisting,
                             Wide doubling) noexcept nogil:
    """The impulses into the step's totals; what stays of them is the warm start for the next substep: of what bears,
    what lasts (wide/_halves.pxd), and friction in the same proportion. A patch's points share a load in so many ways
    that the last substep's halves do not tell what lasts of each: all that they gave is their warm start. What bore
    nothing leaves nothing."""
    cdef Wide zero = splat(0.0)
    cdef Mask patched = above(doubling - splat(1.0), start.thinning if block.thins else splat(1.0))
    cdef Wide load = zero
    cdef Wide lasting = zero
    cdef Wide kept
    cdef int i
    for i in range(block.point_count):
        load = load + block.points[i].impulse
        start.points[i].total = start.points[i].total + block.points[i].impulse
        block.points[i].impulse = choose(patched, block.points[i].impulse,
                                         most(doubling * (block.points[i].impulse - start.points[i].carry), zero))
        lasting = lasting + block.points[i].impulse
    kept = choose(above(load, zero), least(lasting / load, splat(1.0)), zero)
    keep_rubs(block, resisting, kept)
    for i in range(2):
        start.slide_total[i] = start.slide_total[i] + block.slide.impulse[i]
        block.slide.impulse[i] = kept * block.slide.impulse[i]
        if block.resists:
            resisting.roll.impulse[i] = kept * resisting.roll.impulse[i]
    block.twist = kept * block.twist


cdef inline double mean_load(double last, const ContactBlock* block, const ContactStart* start, int lane) noexcept nogil:
    cdef double impulse = 0.0
    cdef int i
    for i in range(block.point_count):
        impulse += lane_of(&block.points[i].impulse, lane)
    return lasting_load(last, impulse * lane_of(&start.inv_mass, lane))


cdef inline Vec3 in_plane(const Wide* impulse, int lane, Vec3 t, Vec3 second) noexcept nogil:
    """A lane's impulse about or along the two tangents; impulse: (2,)"""
    return add_scaled(scale(lane_of(&impulse[0], lane), t), lane_of(&impulse[1], lane), second)


# Friction is shared out to a manifold's points in proportion to their normal impulses. What a manifold has no friction or
# resistance for is zero, not the zero of either sign that its lane was swept to: that depends on which manifolds share the
# block, and so on the level.
cdef void store(ContactBlock* blocks, ContactStart* starts, ResistanceBlock* resisting, Py_ssize_t count,
                double doubling, Manifold* manifolds) noexcept nogil:
    cdef ContactBlock* block
    cdef ContactStart* start
    cdef ManifoldPoint* point
    cdef Manifold* m
    cdef Vec3 nothing = vec3(0.0, 0.0, 0.0)
    cdef Vec3 t, second, rubbed
    cdef double load, own
    cdef Py_ssize_t k
    cdef int i, lane
    for k in range(count):
        block = &blocks[k]
        start = &starts[k]
        end_substep(block, start, &resisting[k], splat(doubling))
        for lane in range(WIDTH):
            if block.manifold[lane] < 0:
                break
            m = &manifolds[block.manifold[lane]]
            t = lane3(&block.tangent, lane)
            second = cross(lane3(&block.normal, lane), t)
            m.friction_impulse = in_plane(block.slide.impulse, lane, t, second) if m.friction > 0.0 else nothing
            m.twist_impulse = lane_of(&block.twist, lane) if lane_of(&start.twists, lane) > 0.0 else 0.0
            m.load = mean_load(m.load, block, start, lane)
            if block.resists:
                m.rolling_impulse = nothing
                if lane_of(&resisting[k].rolling, lane) > 0.0:
                    m.rolling_impulse = in_plane(resisting[k].roll.impulse, lane, t, second)
            load = 0.0
            for i in range(m.point_count):
                load += lane_of(&start.points[i].total, lane)
            rubbed = in_plane(start.slide_total, lane, t, second)
            for i in range(m.point_count):
                point = &m.points[i]
                point.normal_impulse = lane_of(&block.points[i].impulse, lane)
                point.friction_impulse = in_plane(block.rub[i].impulse, lane, t, second) if m.friction > 0.0 else nothing
                own = lane_of(&start.points[i].total, lane)
                point.total_normal_impulse += own
                if load > 0.0:
                    point.total_friction_impulse = add_scaled(point.total_friction_impulse, own / load, rubbed)
                point.separation = lane_of(&start.anchors.points[i].error, lane)
