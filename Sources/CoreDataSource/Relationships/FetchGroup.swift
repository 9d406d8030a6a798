/// Objects that were read together. What one of them leads to is read for all of them at once.
///
/// It holds no objects, so that it keeps none alive.
final class FetchGroup {
    private(set) var keys: [Int64] = []
    /// The entity of each object; one for all, if they are of the same.
    private var entities: [Int32] = []

    /// The most objects for which is read at once.
    static let window = 1000
    /// For how many objects to-many relationships are read at once; fewer where they have led to very many.
    var endWindow = FetchGroup.window

    private init() {}

    /// Makes the objects a group, if that is of any use.
    static func gather(_ objects: [ManagedObject]) {
        guard let first = objects.first, objects.count > 1 else { return }
        let isMixed = objects.contains { $0.layout !== first.layout }
        guard isMixed || !first.layout.relationships.isEmpty else { return }
        let group = FetchGroup()
        group.keys.reserveCapacity(objects.count)
        group.entities = isMixed ? objects.map { Int32($0.layout.index) } : [Int32(first.layout.index)]
        for object in objects {
            object.groupPlace = Int32(truncatingIfNeeded: group.keys.count)
            object.group = group
            group.keys.append(object.key)
        }
    }

    func entity(at place: Int) -> Int { Int(entities.count == 1 ? entities[0] : entities[place]) }

    /// The places near one, those that come after it first.
    func places(near place: Int, _ window: Int) -> some Sequence<Int> {
        let end = min(place + window, keys.count)
        let start = max(0, min(place, end - window))
        return [place..<end, start..<place].joined()
    }
}
