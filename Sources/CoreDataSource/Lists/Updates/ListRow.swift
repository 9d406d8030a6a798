internal import RowStore

/// One row of a list's snapshot: the object's id, and its values, read where and when they are wanted.
///
/// ```swift
/// print(row.id, row.name)
/// ```
///
/// It is not an object but may go anywhere, and stays as it is.
@dynamicMemberLookup
public struct ListRow<Object: ManagedObject>: Sendable, Identifiable {
    let row: ListedRow
    let reader: DetachedObjects

    /// The object's permanent name.
    public var id: ManagedObjectID { ManagedObjectID(reader.layout.entities[row.entity], key: row.key) }

    /// The value of an attribute, or of a property that is computed from attributes.
    public subscript<Value: Sendable>(dynamicMember keyPath: KeyPath<Object, Value>) -> Value {
        read { $0[keyPath: keyPath] }
    }

    /// Converts the row. The object that the body gets is for reading, during the call only.
    public func read<Value: Sendable>(_ body: (Object) throws -> Value) rethrows -> Value {
        guard let object = reader.object(row) as? Object else {
            preconditionFailure("A list of \(Object.self) has a row of \(reader.layout.entities[row.entity].name).")
        }
        return try body(object)
    }
}

extension FetchCursor {
    /// The place of a row in whatever order a request or a list has.
    public init<Object: ManagedObject>(_ row: ListRow<Object>) {
        self.init(stored: row.row.stored, layout: row.reader.layout.entities[row.row.entity])
    }
}
