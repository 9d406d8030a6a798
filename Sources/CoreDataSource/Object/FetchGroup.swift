/// Objects that were read together. Their relationships are read for all of them at once.
///
/// It holds no references to the objects, so it keeps none alive.
final class FetchGroup {
    private(set) var keys: [Int64] = []
    /// The entity of each object; a single one if they all have the same.
    private var entities: [Int32] = []

    /// The most objects for which a relationship is read at once.
    static let window = 1000
    /// For how many objects to-many relationships are read at once; fewer if they have led to very many objects.
    var endWindow = FetchGroup.window

    private init() {}

    /// Makes the objects a group, if that is useful.
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

    /// The positions near one, those after it first.
    func places(near place: Int, _ window: Int) -> some Sequence<Int> {
        let end = min(place + window, keys.count)
        let start = max(0, min(place, end - window))
        return [place..<end, start..<place].joined()
    }
}
