internal import RowStore

extension FetchPredicate {
    /// The predicate over the columns of an entity.
    func resolved(_ layout: EntityLayout) throws(DataSourceError) -> RowPredicate {
        try node.resolved(layout)
    }
}

extension FetchPredicate.Node {
    fileprivate func resolved(_ layout: EntityLayout) throws(DataSourceError) -> RowPredicate {
        switch self {
        case .constant(let answer): return .constant(answer)
        case .compare(.keyPath(let path), let relation, .constant(let value), []):
            return .compare(column: try column(path, layout), relation, value.rowValue)
        case .isIn(.keyPath(let path), .list(let list), []):
            var values: [RowValue] = []
            for case .constant(let value) in list { values.append(value.rowValue) }
            guard values.count == list.count else { break }
            return .isIn(column: try column(path, layout), values)
        case .not(let node): return .not(try node.resolved(layout))
        case .and: return .and(try resolved(operands(isAnd: true), layout))
        case .or: return .or(try resolved(operands(isAnd: false), layout))
        case .invalid(let part): throw part.error
        default: break
        }
        throw DataSourceError(.unsupportedQuery, "This predicate cannot be answered yet.")
    }

    private func resolved(_ nodes: [Self], _ layout: EntityLayout) throws(DataSourceError) -> [RowPredicate] {
        var predicates: [RowPredicate] = []
        for node in nodes { predicates.append(try node.resolved(layout)) }
        return predicates
    }

    /// What a chain of one connective joins, however deep it is nested: thousands of terms are no thousands of calls.
    private func operands(isAnd: Bool) -> [Self] {
        var operands: [Self] = []
        var rest = [self]
        while let node = rest.popLast() {
            switch node {
            case .and(let parts) where isAnd, .or(let parts) where !isAnd: rest += parts.reversed()
            default: operands.append(node)
            }
        }
        return operands
    }

    private func column(_ path: [String], _ layout: EntityLayout) throws(DataSourceError) -> Int {
        let name = path.joined(separator: ".")
        if let column = layout.column(named: name), layout.columns[column].isStored { return column }
        throw DataSourceError(
            .unknownAttribute,
            "\(layout.name) has no stored attribute \"\(name)\". Fetch by an attribute of the model.",
            entityName: layout.name, attributeName: name)
    }
}

extension FetchValue {
    /// As the store keeps it.
    var rowValue: RowValue {
        switch self {
        case .null: .null
        case .boolean(let value): value.storedValue.value
        case .integer(let value): .integer(value)
        case .double(let value): .real(value)
        case .decimal(let value): value.storedValue.value
        case .text(let value): .text(value)
        case .date(let value): value.storedValue.value
        case .data(let value): value.storedValue.value
        case .uuid(let value): value.storedValue.value
        case .url(let value): value.storedValue.value
        case .objectID(_, let key): .integer(key)
        case .stored(let value): value.value
        }
    }
}
