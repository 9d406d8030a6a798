internal import RowStore

/// The condition for rows after a row in the order of a query.
extension PredicateWriter {
    mutating func follows(
        _ cursor: RowCursor, _ sort: [SortKey], isNegated: Bool, depth: Int
    ) -> SQLTerm {
        let fits = zip(sort, cursor.values).allSatisfy { $1.fits(layout.order(of: $0.column).storage) }
        guard fits, cursor.values.count == sort.count else { return .unknown }
        let later = cursor.later(sort, layout)
        if isNegated { return later.map { term($0, isNegated: true, depth: depth) } ?? .unknown }
        if later != nil, let term = rowComparison(cursor, sort, depth: depth) { return term }
        // A part that an index can use, followed by the whole test.
        guard let bound = cursor.bound(sort, layout) else {
            return later.map { term($0, depth: depth) } ?? .unknown
        }
        if let later { return term(.and([bound, later]), depth: depth) }
        var found = term(bound, depth: depth)
        found.isExact = found.isNever
        return found
    }

    /// One comparison of all columns, which can use an index as a whole. Where null comes first, no null comes after a value.
    private mutating func rowComparison(_ cursor: RowCursor, _ sort: [SortKey], depth: Int) -> SQLTerm? {
        guard !sort.isEmpty, sort.allSatisfy(\.isAscending),
            cursor.values.allSatisfy({ $0 != .null && $0.isOnServers })
        else { return nil }
        var (names, values): ([String], [String]) = ([], [])
        let mark = parameters.count
        for (key, value) in zip(sort, cursor.values) {
            guard let name = column(key.column, depth: depth) else {
                takeBack(to: mark)
                return nil
            }
            names.append(name)
            values.append(add(value, layout.order(of: key.column).storage))
        }
        names.append(key)
        values.append(add(.integer(cursor.key), .integer))
        return SQLTerm(sql: "(\(names.joined(separator: ", "))) > (\(values.joined(separator: ", ")))")
    }
}
