internal import RowStore

/// Checks the columns that a class uses, because a class written by hand can use a wrong column. Rows do not check
/// their columns.
extension ManagedObject {
    /// Traps unless the column exists and its storage fits the type.
    @inline(__always)
    final func check(_ column: Int, _ storage: ColumnStorage, _ type: Any.Type) {
        let storages = home.storages
        if column >= 0, column < storages.count, storages[column] == storage { return }
        refuse(column, type)
    }

    /// Traps unless the column exists.
    @inline(__always)
    final func checkExists(_ column: Int) {
        if column < 0 || column >= home.storages.count { refuse(column, nil) }
    }

    /// Traps if the value of the column is not stored, but calculated at each read.
    @inline(__always)
    final func checkIsKept(_ column: Int) {
        if home.hasCalculatedColumns, layout.calculatedPaths[column] != nil, !home.storesAnyValue {
            refuseColumn(column, nil)
        }
    }

    @inline(never)
    private func refuse(_ column: Int, _ type: Any.Type?) {
        if !home.storesAnyValue { refuseColumn(column, type) }
    }

    @inline(never)
    final func refuseColumn(_ column: Int, _ type: Any.Type?) -> Never {
        guard let found = layout.columns.indices.contains(column) ? layout.columns[column] : nil else {
            preconditionFailure(
                "\(Self.self) uses column \(column) of \(layout.name), but the number of columns is \(layout.columns.count). Use the index of the attribute in ManagedObjectModel.columns(of:)."
            )
        }
        let location = "column \(column) of \(layout.name), \(found.name)"
        if let path = layout.calculatedPaths[column] {
            preconditionFailure(
                "\(Self.self) uses \(location), which is derived from \(path.joined(separator: ".")) and not stored. Read the attribute with calculatedAttribute(at:)."
            )
        }
        let kind = found.attribute.map { " (\($0.type.rawValue))" } ?? ""
        preconditionFailure(
            "A property of \(Self.self) of the type \(type.map { "\($0)" } ?? "") uses \(location)\(kind), which stores other values. Use the index of the attribute in ManagedObjectModel.columns(of:)."
        )
    }

    /// Returns the relationship at an index of the entity. Traps if the index is out of range, or if `isToMany` does not match
    /// the relationship.
    final func relationship(at index: Int, isToMany: Bool) -> RelationshipLayout {
        guard layout.relationships.indices.contains(index) else {
            preconditionFailure(
                "\(Self.self) uses relationship \(index) of \(layout.name), but the number of relationships is \(layout.relationships.count). Use the index of the relationship in the entity, with inherited relationships first."
            )
        }
        let found = layout.relationships[index]
        precondition(
            found.isToMany == isToMany,
            "\(Self.self) uses relationship \(index) of \(layout.name), \(found.name), which leads to \(found.isToMany ? "many objects: use relatedObjects(at:) or relatedList(at:)" : "one object: use relatedObject(at:)")."
        )
        return found
    }
}

extension ManagedObject: HeapElement {
    /// The key does not change while the object is in the heap of a value index: if a draft gives an object another key, the
    /// draft also removes its value indexes.
    var heapKey: Int64 { key }
}
