// error: is unavailable: Each object has a key, but a value may have none. Make the property of the value non-optional, and leave out values without a key.
import CoreDataSource

struct Person: Sendable {
    var name: String?
}

final class PersonDataSource: KeyedDataSource<Person, Contact> {
    nonisolated override class var key: ObjectKey<Person, Contact> { ObjectKey(\.name, \.name) }
}
