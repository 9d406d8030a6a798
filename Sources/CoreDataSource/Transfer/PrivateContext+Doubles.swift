internal import RowStore

extension PrivateContext {
    /// An object that shares its value in a column with another object of those entities, among the given values; nil if there
    /// is none.
    ///
    /// - Complexity: One statement of each entity for 1,000 values, and no more rows than values.
    func double(of values: [RowValue], _ column: Int, in family: [Int]) throws -> ManagedObject? {
        for start in stride(from: 0, to: values.count, by: 1000) {
            let part = Array(values[start..<min(start + 1000, values.count)])
            var met: Set<RowValue> = []
            for entity in family {
                let editor = editor(ofEntity: entity)
                // If there are more rows than values, two have the same value.
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
    /// Whether no two objects of an entity and its sub-entities can have the same value in a column.
    static func isUnique(_ column: Int, _ entity: EntityLayout) -> Bool { entity.constraint(onColumn: column) != nil }

    /// The error if two objects have the same chosen key.
    ///
    /// - Parameter place: A place in a graph, or a relationship.
    static func isDouble(
        _ place: String, _ value: JSONValue, _ entity: EntityLayout, _ column: Int
    ) -> DataSourceError {
        let name = entity.columns[column].name
        return DataSourceError(
            .invalidGraph,
            "\(place): two objects of \(entity.name) have the \(name) \(value.text), so it identifies neither of them. Choose an attribute with unique values: keys: [\"\(entity.name)\": ...].",
            entityName: entity.name, attributeName: name)
    }
}
