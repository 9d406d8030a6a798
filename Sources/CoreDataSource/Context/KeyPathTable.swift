internal import RowStore

/// The columns that key paths lead to.
///
/// Looking a key path up by value costs far more than by identity, and a key path literal is one object for the life of the
/// process. So the last key paths that were looked up are known by identity.
struct KeyPathTable {
    private struct Recent {
        var keyPath: AnyKeyPath?
        var type: ObjectIdentifier?
        var column = 0
    }

    private var columns: [ObjectIdentifier: [AnyKeyPath: Int]] = [:]
    private var recent = [Recent](repeating: Recent(), count: 16)

    /// The column, or nil if the key path is not one of the class's stored attributes.
    mutating func column(_ keyPath: AnyKeyPath, of type: ManagedObject.Type, _ layout: EntityLayout) -> Int? {
        let slot = Int(bitPattern: ObjectIdentifier(keyPath)) >> 5 & 15
        if recent[slot].keyPath === keyPath, recent[slot].type == ObjectIdentifier(type) { return recent[slot].column }
        let known = columns[ObjectIdentifier(type)] ?? table(of: type, layout)
        guard let column = known[keyPath] else { return nil }
        recent[slot] = Recent(keyPath: keyPath, type: ObjectIdentifier(type), column: column)
        return column
    }

    private mutating func table(of type: ManagedObject.Type, _ layout: EntityLayout) -> [AnyKeyPath: Int] {
        let table = type.attributeKeyPaths.compactMapValues { layout.column(named: $0) }
            .filter { layout.calculatedPaths[$0.value] == nil }
        columns[ObjectIdentifier(type)] = table
        return table
    }
}
