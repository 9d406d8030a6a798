internal import RowStore

/// The attributes that the key paths of each class lead to. A class builds the whole table each time it is called; here each
/// table is built once.
package enum AttributeNames {
    package static func of(_ type: any QueriedObject.Type) -> [AnyKeyPath: String] {
        tables.withLock { tables in
            if let table = tables[ObjectIdentifier(type)] { return table }
            let table = type.attributeKeyPaths
            tables[ObjectIdentifier(type)] = table
            return table
        }
    }

    private static let tables = Guarded<[ObjectIdentifier: [AnyKeyPath: String]]>([:])
}
