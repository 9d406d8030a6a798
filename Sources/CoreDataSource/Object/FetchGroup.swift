internal import RowStore

/// Objects that were read together. When a relationship of one object is read, the same query reads the relationship
/// for up to ``window`` objects of the group.
///
/// The group has only the keys of the objects, so it does not retain them.
final class FetchGroup {
    // Only this library accesses the keys, on the queue of the context. So accesses cannot overlap.
    @exclusivity(unchecked) private(set) var keys: [Int64] = []
    /// The entity of each object; a single element if all objects have the same entity.
    private let entities: [Int32]
    /// The keys of linked objects that have not been read yet.
    @exclusivity(unchecked) private var links: [LinkKeys] = []

    /// The largest number of objects whose relationship one query reads.
    static let window = 1000
    /// The largest number of objects whose to-many relationship one query reads. A relationship with very many destinations
    /// reduces the number.
    var endWindow = FetchGroup.window

    private init(_ entities: [Int32] = []) { self.entities = entities }

    @inline(__always)
    private func add(_ object: ManagedObject) {
        object.groupIndex = Int32(truncatingIfNeeded: keys.count)
        object.group = self
        keys.append(object.key)
    }

    /// Groups objects of one entity while they are read, when each object is still in the processor's cache.
    struct Builder {
        private let entity: Int32?
        private var first: ManagedObject?
        private var group: FetchGroup?
        /// An unretained reference to the group, so that adding an object changes no reference count of the group.
        private var unmanagedGroup: Unmanaged<FetchGroup>?
        private var links: [LinkKeys]

        /// - Parameter linkColumns: The columns whose keys are collected, for ``FetchGroup/takeLinkKeys(_:)``.
        init(_ layout: EntityLayout, linkColumns: [Int]) {
            entity = layout.relationships.isEmpty ? nil : Int32(layout.index)
            links = linkColumns.map(LinkKeys.init)
        }

        /// - Parameter row: The row from which the object was made.
        @inline(__always)
        mutating func add(_ object: ManagedObject, _ row: borrowing RowSnapshot) {
            for index in links.indices { links[index].add(row) }
            if let unmanagedGroup { return unmanagedGroup._withUnsafeGuaranteedRef { $0.add(object) } }
            if let entity { begin(object, entity) }
        }

        /// Ends the group. Must be called after the last object.
        func finish() { group?.links = links }

        /// Begins a group with the second object, because a single object needs no group.
        private mutating func begin(_ object: ManagedObject, _ entity: Int32) {
            guard let first else { return first = object }
            let group = FetchGroup([entity])
            group.add(first)
            group.add(object)
            (self.group, unmanagedGroup) = (group, .passUnretained(group))
        }
    }

    /// Groups the objects if they have several entities, or one entity with relationships.
    static func gather(_ objects: [ManagedObject]) {
        guard let first = objects.first, objects.count > 1 else { return }
        if of(objects) != nil { return }
        // Compare homes first: this one comparison is enough for objects of the same context and entity.
        let home = first.home
        let isMixed = objects.contains { $0.home !== home && $0.layout !== home.layout }
        guard isMixed || !first.layout.relationships.isEmpty else { return }
        let group = FetchGroup(isMixed ? objects.map { Int32($0.layout.index) } : [Int32(first.layout.index)])
        group.keys.reserveCapacity(objects.count)
        for object in objects { group.add(object) }
    }

    /// Returns the group that contains exactly these objects in this order, as after a fetch; nil if there is no such group.
    static func of(_ objects: [ManagedObject]) -> FetchGroup? {
        guard let first = objects.first, let last = objects.last, let group = first.group, group === last.group,
            first.groupIndex == 0, group.keys.count == objects.count, Int(last.groupIndex) == objects.count - 1
        else { return nil }
        return group
    }

    var isUniform: Bool { entities.count == 1 }

    /// Removes and returns the keys in one column of the objects' rows; nil if the keys were not collected when the rows were
    /// read.
    func takeLinkKeys(_ column: Int) -> Set<Int64>? {
        links.firstIndex { $0.column == column }.map { links.remove(at: $0).keys }
    }

    func entity(at index: Int) -> Int { Int(entities.count == 1 ? entities[0] : entities[index]) }

    /// Returns the part of the group that contains an index. One query reads a relationship for all objects of a part. The
    /// parts have `window` objects, and do not depend on the order in which the relationships of the objects are read.
    private func part(around index: Int, _ window: Int) -> Range<Int> {
        let start = max(0, min(index / window * window, keys.count - window))
        return start..<min(start + window, keys.count)
    }

    /// Returns up to `window` indexes: the given index, the indexes after it, and then the indexes before it.
    func indexes(near index: Int, _ window: Int) -> some Sequence<Int> {
        let part = part(around: index, window)
        return [index..<part.upperBound, part.lowerBound..<index].joined()
    }

    /// Whether a query that reads a relationship of the first object also reads it for all other given objects.
    static func readsAtOnce(_ objects: [ManagedObject]) -> Bool {
        guard let first = objects.first, let group = first.group else { return false }
        let part = group.part(around: Int(first.groupIndex), window)
        return objects.allSatisfy { $0.group === group && part.contains(Int($0.groupIndex)) }
    }
}

/// The keys in one column of many rows, without duplicates.
struct LinkKeys {
    let column: Int
    private(set) var keys: Set<Int64> = []
    /// Recently added keys. Many objects link to the same few keys, which then need not be hashed again.
    private var recent: ContiguousArray<Int64>

    init(column: Int) {
        self.column = column
        // Fill each slot with a key that belongs to another slot, so that no slot contains its own key at the start.
        recent = ContiguousArray(repeating: 1, count: 1024)
        recent[1] = 0
    }

    @inline(__always)
    mutating func add(_ row: borrowing RowSnapshot) {
        if row.isNull(column) { return }
        let key = row.integer(column)
        let index = Int(truncatingIfNeeded: key & 1023)
        guard recent[index] != key else { return }
        recent[index] = key
        keys.insert(key)
    }
}
