internal import RowStore

/// The attributes that the key paths of each class lead to. A class builds the whole table each time it is called; here each
/// table is built once.
package enum AttributeNames {
    package static func of(_ type: any QueriedObject.Type) -> [AnyKeyPath: String] {
        if let table = tables.withLock({ $0[ObjectIdentifier(type)] }) { return table.names }
        // Not under the lock, because the class may be written by hand.
        let table = Table(names: type.attributeKeyPaths)
        tables.withLock { $0[ObjectIdentifier(type)] = table }
        return table.names
    }

    /// Guarded by: nothing, because it never changes.
    private struct Table: @unchecked Sendable {
        let names: [AnyKeyPath: String]
    }

    private static let tables = Guarded<[ObjectIdentifier: Table]>([:])
}
