internal import RowStore

/// One row of a list's snapshot: the object's id and its values.
///
/// ```swift
/// print(row.id, row.name)
/// ```
///
/// It is a value, not an object: it can be sent anywhere, and never changes.
@dynamicMemberLookup
public struct ListRow<Object: ManagedObject>: Sendable, Identifiable {
    let row: ListedRow
    let reader: DetachedObjects

    /// The object's permanent name.
    public var id: ManagedObjectID { ManagedObjectID(reader.layout.entities[row.entity], key: row.key) }

    /// The value of an attribute, or of a property that is computed from attributes. What is derived along relationships is not in
    /// a row, and traps: read it from an object of main, or with `values`.
    public subscript<Value: Sendable>(dynamicMember keyPath: KeyPath<Object, Value>) -> Value {
        map { $0[keyPath: keyPath] }
    }

    /// Converts the row. The closure gets an object that can be read during the call.
    public func map<Value: Sendable>(_ body: (Object) throws -> Value) rethrows -> Value {
        guard let object = reader.object(row) as? Object else {
            preconditionFailure(
                "A list of \(Object.self) contains a row of \(reader.layout.entities[row.entity].name).")
        }
        let value = try body(object)
        if let column = object.home.uncalculatedColumn { refuse(column) }
        return value
    }

    private func refuse(_ column: Int) -> Never {
        let layout = reader.layout.entities[row.entity]
        preconditionFailure(
            "\(layout.name).\(layout.columns[column].name) is derived from \((layout.calculatedPaths[column] ?? []).joined(separator: ".")), which a row of a snapshot does not have. Read it from the object of main with the row's id, or with values(_:_:)."
        )
    }
}

extension FetchCursor {
    /// The place of a row, in the order of the request or list that uses the cursor.
    public init<Object: ManagedObject>(_ row: ListRow<Object>) {
        self.init(stored: row.row.stored, layout: row.reader.layout.entities[row.row.entity])
    }
}
