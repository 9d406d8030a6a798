internal import RowStore

/// The objects that a context has changed, in the order of their first change.
///
/// Each is in it once, however often it is added. So no save has a row twice, because a context has one object of each key, and
/// keeps it while it has edits.
struct ChangedObjects: RandomAccessCollection {
    private var objects: [ManagedObject] = []

    var startIndex: Int { 0 }
    var endIndex: Int { objects.count }

    subscript(_ index: Int) -> ManagedObject { objects[index] }

    func makeIterator() -> IndexingIterator<[ManagedObject]> { objects.makeIterator() }

    /// Adds an object that is not there yet.
    mutating func insert(_ object: ManagedObject) {
        if object.isAmongChanged { return }
        object.isAmongChanged = true
        objects.append(object)
    }

    /// Makes these the objects.
    mutating func set(_ new: [ManagedObject]) {
        removeAll()
        for object in new { insert(object) }
    }

    mutating func removeAll() {
        for object in objects { object.isAmongChanged = false }
        objects.removeAll(keepingCapacity: objects.count < 1024)
    }
}
