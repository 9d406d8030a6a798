internal import ManagedModel
package import RowStore

/// The joined columns of the rows of an entity, for one predicate or request. Equal columns are added only once.
package final class JoinCollector {
    package private(set) var columns: [JoinedColumn] = []
    private var indexes: [JoinedColumn: Int] = [:]

    init(_ columns: [JoinedColumn] = []) {
        for column in columns { _ = add(column) }
    }

    /// Adds a column. If `column` is the last column and was added after the first `count` columns, only the caller uses
    /// `column`. The new column then replaces `column`.
    ///
    /// - Returns: The number of the new column.
    func replaceLast(_ column: Int, ifAfter count: Int, with new: JoinedColumn) -> Int {
        let index = JoinedColumn.index(column)
        if index >= count, index == columns.count - 1 {
            indexes[columns[index]] = nil
            columns.removeLast()
        }
        return add(new)
    }

    /// - Returns: The number of the column.
    func add(_ column: JoinedColumn) -> Int {
        if let index = indexes[column] { return column.number(at: index) }
        indexes[column] = columns.count
        columns.append(column)
        return column.number(at: columns.count - 1)
    }
}

/// The scope of an object at the end of a relationship: its variable, and the resolver of the object at which the relationship
/// starts.
final class SubqueryScope {
    /// The variable of the subquery; nil for the destination of a to-one relationship.
    let variable: String?
    let outer: PredicateResolver
    /// The number of relationships from the object of the whole predicate to this object.
    let depth: Int

    /// The largest number of relationships along a path.
    static let depthLimit = 8

    init(_ variable: String?, _ outer: PredicateResolver) {
        self.variable = variable
        self.outer = outer
        depth = 1 + (outer.scope?.depth ?? 0)
    }
}

extension PredicateResolver {
    /// The object of the whole predicate, imported into this scope.
    func object() throws(DataSourceError) -> TypedExpression {
        guard let scope else { return TypedExpression(expression: .key, kind: .objectID) }
        return imported(try scope.outer.object())
    }

    /// The object of a variable; nil if no subquery has the variable.
    func object(of variable: String) throws(DataSourceError) -> TypedExpression? {
        guard let scope else { return nil }
        if scope.variable == variable { return TypedExpression(expression: .key, kind: .objectID) }
        return try scope.outer.object(of: variable).map(imported)
    }

    /// The value at the end of a path that starts at the object of the whole predicate, imported into this scope.
    func keyPath(_ path: [String]) throws(DataSourceError) -> TypedExpression {
        guard let scope else { return try ownPath(path) }
        return imported(try scope.outer.keyPath(path))
    }

    /// The value at the end of a path that starts at the object of an expression.
    func path(_ base: FetchExpression, _ path: [String]) throws(DataSourceError) -> TypedExpression {
        switch base {
        case .variable(let name):
            if let scope, scope.variable == name { return try ownPath(path) }
            guard let scope else {
                throw invalid("no SUBQUERY here has the variable $\(name), so the variable has no keys.")
            }
            return imported(try scope.outer.path(base, path))
        case .object: return try keyPath(path)
        case .keyPath(let start): return try keyPath(start + path)
        case .path(let base, let start): return try self.path(base, start + path)
        case .subquery(let objects, let variable, let predicate):
            return try subquery(objects, variable: variable, predicate, path: path)
        default: throw invalid("a value has no keys. Only objects have keys.")
        }
    }

    /// Makes a column of the outer row a joined column of the inner rows.
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

    /// Makes a resolver for the destinations of a relationship of this resolver.
    ///
    /// - Throws: `unsupportedQuery` if the path has too many relationships.
    func inner(_ destination: Int, _ variable: String?) throws(DataSourceError) -> PredicateResolver {
        let scope = SubqueryScope(variable, self)
        guard scope.depth <= SubqueryScope.depthLimit else {
            throw unsupported(
                "A path follows more than \(SubqueryScope.depthLimit) relationships. Store the value nearer to the object, or fetch in two steps"
            )
        }
        return PredicateResolver(model.entities[destination], in: scope)
    }
}
