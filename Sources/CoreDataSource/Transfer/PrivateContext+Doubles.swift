internal import RowStore

extension PrivateContext {
    /// An object whose value in a column another one of those entities has too, of the values given; nil if there is none.
    ///
    /// - Complexity: one statement of each entity for 1,000 values, and no more rows than values.
    func double(of values: [RowValue], _ column: Int, in family: [Int]) throws -> ManagedObject? {
        for start in stride(from: 0, to: values.count, by: 1000) {
            let part = Array(values[start..<min(start + 1000, values.count)])
            var met: Set<RowValue> = []
            for entity in family {
                let editor = editor(ofEntity: entity)
                // Of more rows than there are values, two have the same.
                let query = RowQuery(
                    entity: entity, predicate: .isMember(.column(column), ValueList(part, .natural)),
                    limit: part.count + 1)
                let objects = try editor.reading { () throws(DataSourceError) in
                    try editor.objects(FetchPlan(query))
                }
                for object in objects {
                    let value = object.row.value(column, object.layout.columns[column].storage)
                    if !met.insert(value).inserted { return object }
                }
            }
        }
        return nil
    }
}

extension TransferKeys {
    /// Whether no two objects of an entity and those below it can have the same value in a column.
    static func isUnique(_ column: Int, _ entity: EntityLayout) -> Bool { entity.constraint(onColumn: column) != nil }

    /// A key that was chosen is that of two objects.
    ///
    /// - Parameter place: A place in a graph, or a relationship.
    static func isDouble(
        _ place: String, _ value: JSONValue, _ entity: EntityLayout, _ column: Int
    ) -> DataSourceError {
        let name = entity.columns[column].name
        return DataSourceError(
            .invalidGraph,
            "\(place): there are two objects of \(entity.name) whose \(name) is \(value.text), so that it names neither of them. Choose an attribute whose values are unique: keys: [\"\(entity.name)\": ...].",
            entityName: entity.name, attributeName: name)
    }
}
