internal import QueryLanguage
internal import RowStore

/// The keys of the objects that a loop over pages has not returned yet, in the order of the request.
///
/// One query reads all keys, and each page reads its objects by key. The alternative would be a query for each page.
/// But each of these queries would sort all rows, unless an index has the order of the request.
struct PageKeys: Sendable {
    private var keys = KeyList<Int64>()
    /// The entity of each key; empty if the request has only one entity.
    private var entities = KeyList<Int32>()
    /// The entities of the request.
    private let family: [Int]
    /// The number of matching objects that are still to be skipped. If the store evaluates the whole predicate, the number is
    /// 0, because the query for the keys has already applied the offset.
    private var skipped = 0
    /// The number of matching objects that later pages can return.
    private var remaining = Int.max

    /// Reads the keys of the objects of a request.
    init<Object: ManagedObject>(
        _ request: ObjectRequest<Object>, _ context: ReadContext, _ rows: PinnedRows
    ) throws {
        var plan = try context.reading { () throws(DataSourceError) in try context.plan(request) }
        family = plan.family
        if plan.objectPredicate != nil {
            (skipped, remaining) = (plan.query.offset, plan.query.limit ?? .max)
            plan.query = plan.query.unlimited
            plan.objectPredicate = nil
        }
        plan.query.columns = []
        try context.reading { () throws(DataSourceError) in try read(plan, context, rows) }
    }

    var isEmpty: Bool { keys.isEmpty || remaining == 0 }

    private mutating func read(
        _ plan: FetchPlan, _ context: ReadContext, _ rows: PinnedRows
    ) throws(DataSourceError) {
        if !plan.query.joined.isEmpty {
            for (entity, stored) in try context.joinedRows(plan, columns: []) { append(stored.key, entity) }
        } else if family.count == 1 {
            // Keep none of the rows: there may be very many.
            let query = plan.query.of(entity: family[0])
            try rows.forEachKey(query, context.bindings[query.entity].layout) { append($0, query.entity) }
        } else {
            for (entity, stored) in try context.rows(plan.query, ofEntities: family).rows { append(stored.key, entity) }
        }
    }

    private mutating func append(_ key: Int64, _ entity: Int) {
        keys.append(key)
        if family.count > 1 { entities.append(Int32(entity)) }
    }

    // MARK: Reading a page

    /// Removes the first keys, and returns their objects.
    ///
    /// - Parameters:
    ///   - count: The largest number of objects.
    ///   - size: The number of objects to read if a part of the predicate is evaluated on objects. This part can reject some of
    ///     the objects.
    /// - Returns: At most `count` objects; fewer if some of the objects that were read do not match, or at the end of the
    ///   keys. The caller calls again until ``isEmpty``.
    mutating func next<Object: ManagedObject>(
        _ count: Int, of size: Int, _ request: ObjectRequest<Object>, _ context: ReadContext
    ) throws -> [Object] {
        var request = request
        // The keys already begin after the cursor, so do not apply it again.
        request.after = nil
        let plan = try context.reading { () throws(DataSourceError) in try context.plan(request) }
        return try context.reading { () throws(DataSourceError) in
            let keys = keys.first(plan.objectPredicate == nil ? count : size)
            let found = try objects(keys, plan, context)
            FetchGroup.gather(found)
            let objects = try take(count, from: found, plan, context)
            if plan.objectPredicate != nil { FetchGroup.gather(objects) }
            try context.prefetch(request, objects)
            return try context.typed(objects, family)
        }
    }

    /// Returns the objects with the keys, in the order of the keys.
    private func objects(
        _ keys: [Int64], _ plan: FetchPlan, _ context: ReadContext
    ) throws(DataSourceError) -> [ManagedObject] {
        let wanted =
            family.count == 1
            ? keys.map { LinkEnd(entity: family[0], key: $0) }
            : zip(keys, entities.first(keys.count)).map { LinkEnd(entity: Int($1), key: $0) }
        var found: [LinkEnd: ManagedObject] = [:]
        found.reserveCapacity(keys.count)
        for (entity, ends) in Dictionary(grouping: wanted, by: \.entity) {
            let (rows, asOf) = try context.source.rows(
                entity: entity, keys: ends.map(\.key),
                deferringValues: context.defersValues && plan.objectPredicate == nil,
                plan.query.budget)
            for object in context.objects(rows, entity, asOf: asOf) { found[LinkEnd(object)] = object }
        }
        return wanted.compactMap { found[$0] }
    }

    /// Returns the objects that match the predicate. Removes the keys of all examined objects.
    private mutating func take(
        _ count: Int, from objects: [ManagedObject], _ plan: FetchPlan, _ context: ReadContext
    ) throws(DataSourceError) -> [ManagedObject] {
        guard let predicate = plan.objectPredicate else {
            removeFirst(count)
            return objects
        }
        var rows = objects.map { StoredRow(key: $0.key, row: $0.wholeRow) }
        if !plan.query.joined.isEmpty { rows = try context.filled(rows, plan.query.joined) }
        var (accepted, examined) = ([ManagedObject](), 0)
        while accepted.count < min(count, remaining), examined < objects.count {
            defer { examined += 1 }
            try plan.query.budget.countRow()
            guard try predicate.accepts(objects[examined], rows[examined], plan.query.budget) else { continue }
            if skipped > 0 { skipped -= 1 } else { accepted.append(objects[examined]) }
        }
        removeFirst(examined)
        remaining -= accepted.count
        return accepted
    }

    private mutating func removeFirst(_ count: Int) {
        keys.removeFirst(count)
        entities.removeFirst(count)
    }
}

/// A list of integers whose memory is released as they are removed.
private struct KeyList<Element: FixedWidthInteger & Sendable>: Sendable {
    private static var blockSize: Int { 4096 }

    /// The elements are in blocks, because growing a single array would need three times its memory.
    private var blocks: [[Element]] = []
    private var block = 0
    /// The index of the first element in its block.
    private var index = 0

    var isEmpty: Bool { block == blocks.count }

    mutating func append(_ element: Element) {
        if blocks.last?.count ?? Self.blockSize == Self.blockSize {
            blocks.append([])
            blocks[blocks.count - 1].reserveCapacity(Self.blockSize)
        }
        blocks[blocks.count - 1].append(element)
    }

    func first(_ count: Int) -> [Element] {
        var elements: [Element] = []
        var (block, index) = (block, index)
        while elements.count < count, block < blocks.count {
            elements += blocks[block][index...].prefix(count - elements.count)
            (block, index) = (block + 1, 0)
        }
        return elements
    }

    mutating func removeFirst(_ count: Int) {
        var count = count
        while block < blocks.count, count > 0 {
            let left = blocks[block].count - index
            if count < left {
                index += count
                return
            }
            count -= left
            blocks[block] = []
            (block, index) = (block + 1, 0)
        }
    }
}
