internal import RowStore

/// Objects that were read together. Their relationships are read for all of them at once.
///
/// It holds no references to the objects, so it keeps none alive.
final class FetchGroup {
    private(set) var keys: [Int64] = []
    /// The entity of each object; a single one if they all have the same.
    private let entities: [Int32]

    /// The most objects for which a relationship is read at once.
    static let window = 1000
    /// For how many objects to-many relationships are read at once; fewer if they have led to very many objects.
    var endWindow = FetchGroup.window

    private init(_ entities: [Int32] = []) { self.entities = entities }

    private func add(_ object: ManagedObject) {
        object.groupPlace = Int32(truncatingIfNeeded: keys.count)
        object.group = self
        keys.append(object.key)
    }

    /// Makes objects of one entity a group while they are read, because an object is in the processor's cache then.
    struct Builder {
        private let entity: Int32?
        private var first: ManagedObject?
        private var group: FetchGroup?

        init(_ layout: EntityLayout) { entity = layout.relationships.isEmpty ? nil : Int32(layout.index) }

        @inline(__always)
        mutating func add(_ object: ManagedObject) {
            if let group { return group.add(object) }
            if let entity { begin(object, entity) }
        }

        /// A single object is no group.
        private mutating func begin(_ object: ManagedObject, _ entity: Int32) {
            guard let first else { return first = object }
            group = FetchGroup([entity])
            group?.add(first)
            group?.add(object)
        }
    }

    /// Makes the objects a group, if that is useful.
    static func gather(_ objects: [ManagedObject]) {
        guard let first = objects.first, let last = objects.last, objects.count > 1 else { return }
        // They may be one since they were read.
        if let group = first.group, group === last.group, first.groupPlace == 0, group.keys.count == objects.count,
            Int(last.groupPlace) == objects.count - 1
        {
            return
        }
        // One comparison for each object of the same context and entity.
        let home = first.home
        let isMixed = objects.contains { $0.home !== home && $0.layout !== home.layout }
        guard isMixed || !first.layout.relationships.isEmpty else { return }
        let group = FetchGroup(isMixed ? objects.map { Int32($0.layout.index) } : [Int32(first.layout.index)])
        group.keys.reserveCapacity(objects.count)
        for object in objects { group.add(object) }
    }

    func entity(at place: Int) -> Int { Int(entities.count == 1 ? entities[0] : entities[place]) }

    /// The positions near one, those after it first.
    func places(near place: Int, _ window: Int) -> some Sequence<Int> {
        let end = min(place + window, keys.count)
        let start = max(0, min(place, end - window))
        return [place..<end, start..<place].joined()
    }
}
