internal import ManagedModel
internal import RowStore

/// What the rows of an entity get from others for one predicate or request. Equal columns are one.
final class JoinCollector {
    private(set) var columns: [JoinedColumn] = []
    private var places: [JoinedColumn: Int] = [:]

    init(_ columns: [JoinedColumn] = []) {
        for column in columns { _ = add(column) }
    }

    /// Puts a column in the place of the last one, if that came in after there were so many: nothing else asks for it.
    ///
    /// - Returns: The new column's number.
    func replaceLast(_ column: Int, ifAfter count: Int, with new: JoinedColumn) -> Int {
        let place = JoinedColumn.index(column)
        if place >= count, place == columns.count - 1 {
            places[columns[place]] = nil
            columns.removeLast()
        }
        return add(new)
    }

    /// - Returns: The column's number.
    func add(_ column: JoinedColumn) -> Int {
        if let place = places[column] { return column.number(at: place) }
        places[column] = columns.count
        columns.append(column)
        return column.number(at: columns.count - 1)
    }
}

/// An object of a subquery: its name, and the object from which a relationship led to it.
final class SubqueryScope {
    /// Nil for the object at the end of a to-one relationship, which has no name.
    let variable: String?
    let outer: PredicateResolver
    /// How many relationships lead to it.
    let depth: Int

    /// The most relationships that may lead to an object.
    static let depthLimit = 8

    init(_ variable: String?, _ outer: PredicateResolver) {
        self.variable = variable
        self.outer = outer
        depth = 1 + (outer.scope?.depth ?? 0)
    }
}

extension PredicateResolver {
    /// The object that the whole predicate is about, as one of this scope sees it.
    func object() throws(DataSourceError) -> TypedExpression {
        guard let scope else { return TypedExpression(expression: .key, kind: .objectID) }
        return imported(try scope.outer.object())
    }

    /// The object that a variable stands for; nil if it is the variable of no subquery.
    func object(of variable: String) throws(DataSourceError) -> TypedExpression? {
        guard let scope else { return nil }
        if scope.variable == variable { return TypedExpression(expression: .key, kind: .objectID) }
        return try scope.outer.object(of: variable).map(imported)
    }

    /// What keys lead to from the object that the whole predicate is about.
    func keyPath(_ path: [String]) throws(DataSourceError) -> TypedExpression {
        guard let scope else { return try ownPath(path) }
        return imported(try scope.outer.keyPath(path))
    }

    /// What keys lead to from what an expression stands for.
    func path(_ base: FetchExpression, _ path: [String]) throws(DataSourceError) -> TypedExpression {
        switch base {
        case .variable(let name):
            if let scope, scope.variable == name { return try ownPath(path) }
            guard let scope else {
                throw invalid("the variable $\(name) is of no SUBQUERY here, so that it has no keys.")
            }
            return imported(try scope.outer.path(base, path))
        case .object: return try keyPath(path)
        case .keyPath(let start): return try keyPath(start + path)
        case .path(let base, let start): return try self.path(base, start + path)
        case .subquery(let objects, let variable, let test): return try subquery(objects, variable, test, path)
        default: throw invalid("a value has no keys. Only objects have.")
        }
    }

    /// A column of the row outside as one of the rows inside.
    func imported(_ typed: TypedExpression) -> TypedExpression {
        var typed = typed
        typed.expression = imported(typed.expression, typed.kind ?? .integer)
        return typed
    }

    private func imported(_ expression: RowExpression, _ kind: ValueKind) -> RowExpression {
        switch expression {
        case .column(let column): .column(joins.add(JoinedColumn(.outer(column: column), kind)))
        case .key: .column(joins.add(JoinedColumn(.outerKey, .objectID)))
        // The length of a string or of data.
        case .function(let function, let arguments, let result):
            .function(
                function,
                arguments.map { argument in
                    imported(argument, scope.map { argument.lengthKind($0.outer.layout) } ?? .text)
                }, result)
        default: expression
        }
    }

    /// A resolver for the objects to which a relationship of this one's leads.
    func inner(_ destination: Int, _ variable: String?) throws(DataSourceError) -> PredicateResolver {
        let scope = SubqueryScope(variable, self)
        guard scope.depth <= SubqueryScope.depthLimit else {
            throw unsupported(
                "More than \(SubqueryScope.depthLimit) relationships lead to an object. Store what is asked for nearer, or fetch in two steps"
            )
        }
        return PredicateResolver(model.entities[destination], in: scope)
    }
}
