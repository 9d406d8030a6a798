internal import ManagedModel
package import RowStore

extension PredicateResolver {
    /// The value at the end of a path that starts at the object of this scope.
    package func ownPath(_ path: [String]) throws(DataSourceError) -> TypedExpression {
        guard let (relationship, rest) = try leading(path) else {
            guard let calculated = calculatedPath(path) else { return try attribute(path) }
            var typed = try ownPath(calculated)
            typed.attribute = path.joined(separator: ".")
            return typed
        }
        if relationship.isToMany { return try aggregate(relationship, rest) }
        return try destination(relationship, rest)
    }

    /// The path along relationships that replaces a path that begins with a derived attribute; nil for other paths.
    private func calculatedPath(_ path: [String]) -> [String]? {
        guard !layout.calculatedPaths.isEmpty, let first = path.first, let column = layout.column(named: first),
            let calculated = layout.calculatedPaths[column]
        else { return nil }
        return calculated + path.dropFirst()
    }

    /// The relationship at the start of a path, and the keys after it; nil if the path begins with an attribute.
    private func leading(_ path: [String]) throws(DataSourceError) -> (RelationshipLayout, [String])? {
        guard let first = path.first, let index = layout.relationship(named: first),
            layout.column(named: path.joined(separator: ".")).map({ layout.columns[$0].attribute == nil }) ?? true
        else { return nil }
        return (layout.relationships[index], Array(path.dropFirst()))
    }

    private func related(_ relationship: RelationshipLayout) throws(DataSourceError) -> RelatedRows {
        guard let related = RelatedRows(relationship) else {
            throw unsupported(
                "\"\(relationship.name)\" of \(layout.name) is transient, so its links are not stored. Test the relationship in code"
            )
        }
        return related
    }

    // MARK: To one

    /// The destination of a to-one relationship, or the value at the end of further keys.
    private func destination(
        _ relationship: RelationshipLayout, _ rest: [String]
    ) throws(DataSourceError) -> TypedExpression {
        if rest.isEmpty, case .column(let column) = relationship.storage, !mayLeadToNothing(relationship) {
            return TypedExpression(expression: .column(column.key), kind: .objectID, attribute: relationship.name)
        }
        var related = try related(relationship)
        let inner = try inner(related.destination, nil)
        let typed =
            rest.isEmpty ? TypedExpression(expression: .key, kind: .objectID) : try inner.ownPath(rest)
        related.joined = inner.joins.columns
        let name = ([relationship.name] + rest).joined(separator: ".")
        return TypedExpression(
            expression: joined(typed.expression, typed.kind ?? .integer, related), kind: typed.kind, attribute: name)
    }

    /// Whether the key in a row can belong to a deleted object, which counts as no object.
    private func mayLeadToNothing(_ relationship: RelationshipLayout) -> Bool {
        let rule = relationship.inverse.flatMap { model.model.relationship($0) }?.deleteRule
        return rule == .noAction || relationship.destinationFamily.contains(where: entitiesWithDeletedObjects.contains)
    }

    /// Makes a value of the destination a joined column of the source.
    private func joined(_ expression: RowExpression, _ kind: ValueKind, _ related: RelatedRows) -> RowExpression {
        switch expression {
        case .column(let column): .column(joins.add(JoinedColumn(.value(related, column: column), kind)))
        case .key: .column(joins.add(JoinedColumn(.key(related), .objectID)))
        // The length of a string or of data.
        case .function(let function, let arguments, let result):
            .function(
                function, arguments.map { joined($0, $0.lengthKind(model.entities[related.destination]), related) },
                result)
        default: expression
        }
    }

    // MARK: To many

    /// Resolves an aggregate such as `messages.@count` or `messages.@max.date`.
    private func aggregate(
        _ relationship: RelationshipLayout, _ rest: [String]
    ) throws(DataSourceError) -> TypedExpression {
        guard let operation = rest.first, operation.hasPrefix("@") else {
            let name = relationship.name
            throw unsupported(
                rest.isEmpty
                    ? "\"\(name)\" of \(layout.name) stands for many objects. Compare \(name).@count, or write ANY \(name)"
                    : "\"\(([name] + rest).joined(separator: "."))\" has a value for each of the \(name) of an object of \(layout.name). Write ANY, ALL or NONE before the path, use a SUBQUERY, or an aggregate such as \(name).@max.\(rest.joined(separator: "."))"
            )
        }
        return try aggregate(
            of: try related(relationship), in: inner(relationship.destination, nil), operation: operation,
            path: Array(rest.dropFirst()), name: relationship.name)
    }

    /// Adds a joined column for an aggregate of related objects.
    ///
    /// - Parameter inner: The resolver of the related objects, with their joined columns so far.
    private func aggregate(
        of related: RelatedRows, in inner: PredicateResolver, operation: String, path: [String], name: String
    ) throws(DataSourceError) -> TypedExpression {
        var related = related
        let relationshipName = name
        let name = ([name, operation] + path).joined(separator: ".")
        guard let function = FetchFunction(pathOperator: operation) else {
            if let error = indexError([relationshipName, operation] + path) { throw error }
            throw unsupported(
                "\(operation) is not an aggregate. The aggregates are @count, @sum, @avg, @min, @max, @median, @mode and @stddev"
            )
        }
        if function == .count {
            guard path.isEmpty else {
                throw invalid("no key can follow @count, which counts objects.", attribute: name)
            }
            related.joined = inner.joins.columns
            let number = joins.add(JoinedColumn(.aggregate(related, .count, column: nil), .integer))
            return TypedExpression(expression: .column(number), kind: .integer, attribute: name)
        }
        guard !path.isEmpty else {
            throw invalid("\(operation) needs an attribute, as in messages.\(operation).size.", attribute: name)
        }
        let typed = try inner.ownPath(path)
        guard case .column(let column) = typed.expression, let kind = typed.kind else {
            throw unsupported("\"\(name)\" is not an attribute with values that can be aggregated")
        }
        let isExtreme = function == .min || function == .max
        guard isExtreme ? kind.isOrdered && kind != .data && kind != .uuid : kind.isNumber else {
            throw invalid("\(typed.description) has no \(operation).", attribute: name)
        }
        related.joined = inner.joins.columns
        let calculation: ValueKind = kind == .boolean ? .integer : kind == .uri ? .text : kind
        let isMean = (function == .average || function == .median) && calculation == .integer
        let result: ValueKind = isExtreme ? kind : function == .stddev || isMean ? .real : calculation
        let number = joins.add(
            JoinedColumn(.aggregate(related, function, column: column), result, calculation: calculation))
        return TypedExpression(expression: .column(number), kind: result, attribute: name)
    }

    /// Returns the error for a place in a relationship, as in `messages[FIRST].size`; nil if the key path has none.
    func indexError(_ path: [String]) -> DataSourceError? {
        guard let position = path.firstIndex(where: \.isIndex) else { return nil }
        let objects = path[..<position].joined(separator: ".")
        let rest = path[(position + 1)...].joined(separator: ".")
        return unsupported(
            "\(objects)[\(path[position].dropFirst().uppercased())] is not supported, because a predicate does not find an object by its place in a relationship. Find the object by its values, as in SUBQUERY(\(objects), $x, $x.KEY == VALUE AND $x\(rest.isEmpty ? "" : "." + rest) == VALUE).@count > 0, or compare an aggregate, such as \(objects).@min.\(rest.isEmpty ? "KEY" : rest)"
        )
    }

    /// Resolves `SUBQUERY(...).@count` or another aggregate of a subquery.
    func subquery(
        _ objects: FetchExpression, variable: String, _ test: PredicateTree.Node, path: [String]
    ) throws(DataSourceError) -> TypedExpression {
        guard let operation = path.first, operation.hasPrefix("@") else {
            throw unsupported("A SUBQUERY stands for many objects. Use SUBQUERY(...).@count or another aggregate")
        }
        let hidden = PredicateTree(test).variables.subtracting([variable]).intersection(variablesLeft(objects))
        if let name = hidden.sorted().first {
            throw unsupported(
                "A SUBQUERY over objects of an outer object uses $\(name), which is not known there. Use the objects of $\(name) instead"
            )
        }
        return try collection(objects) { owner, relationship throws(DataSourceError) in
            let inner = try owner.inner(relationship.destination, variable)
            var related = try owner.related(relationship)
            related.predicate = try inner.resolve(test)
            return try owner.aggregate(
                of: related, in: inner, operation: operation, path: Array(path.dropFirst()), name: relationship.name)
        }
    }

    // MARK: Collections

    /// The variables of the subqueries between this scope and the outer scope that owns the objects, including this scope's
    /// variable.
    private func variablesLeft(_ objects: FetchExpression) -> Set<String> {
        guard let scope else { return [] }
        if case .path(.variable(let name), _) = objects, scope.variable == name { return [] }
        return scope.outer.variablesLeft(objects).union(scope.variable.map { [$0] } ?? [])
    }

    /// Calls the body with the to-many relationship of a collection, and with the resolver of its owner. Imports the body's
    /// result into this scope.
    private func collection(
        _ objects: FetchExpression,
        _ body: (PredicateResolver, RelationshipLayout) throws(DataSourceError) -> TypedExpression
    ) throws(DataSourceError) -> TypedExpression {
        switch (objects, scope) {
        case (.keyPath(let path), nil): return try collection(path, body)
        case (.path(.variable(let name), let path), let scope?) where scope.variable == name:
            return try collection(path, body)
        case (.path(.variable(let name), _), nil):
            throw invalid("no SUBQUERY here has the variable $\(name), so the variable has no keys.")
        case (.keyPath, let scope?), (.path(.variable, _), let scope?):
            return imported(try scope.outer.collection(objects, body))
        case (.path(.object, let path), _): return try collection(.keyPath(path), body)
        default:
            throw unsupported(
                "A SUBQUERY needs a to-many relationship, as in SUBQUERY(messages, $m, $m.isRead == NO)")
        }
    }

    private func collection(
        _ path: [String], _ body: (PredicateResolver, RelationshipLayout) throws(DataSourceError) -> TypedExpression
    ) throws(DataSourceError) -> TypedExpression {
        guard let (relationship, rest) = try leading(path) else {
            throw invalid(
                "\"\(path.joined(separator: "."))\" is not a to-many relationship of \(layout.name).",
                attribute: path.joined(separator: "."))
        }
        if relationship.isToMany {
            guard rest.isEmpty else {
                throw unsupported(
                    "\"\(path.joined(separator: "."))\" has keys after the to-many relationship \"\(relationship.name)\". Use these keys inside a SUBQUERY of the relationship"
                )
            }
            return try body(self, relationship)
        }
        var related = try related(relationship)
        let inner = try inner(related.destination, nil)
        let typed = try inner.collection(rest, body)
        related.joined = inner.joins.columns
        return TypedExpression(
            expression: joined(typed.expression, typed.kind ?? .integer, related), kind: typed.kind,
            attribute: typed.attribute)
    }
}

extension RowExpression {
    /// The kind of a value with a length: data or a string.
    func lengthKind(_ layout: EntityLayout) -> ValueKind {
        if case .column(let column) = self, layout.order(of: column).storage == .blob { return .data }
        return .text
    }
}

extension String {
    /// Whether the key stands for a place in a relationship: `@first` for `[FIRST]`, `@last` for `[LAST]`, `@0` for `[0]`.
    fileprivate var isIndex: Bool {
        self == "@first" || self == "@last" || hasPrefix("@") && Int(dropFirst()) != nil
    }
}

extension FetchFunction {
    /// The function of an operator in a key path, such as `@avg`.
    fileprivate init?(pathOperator: String) {
        switch pathOperator {
        case "@count": self = .count
        case "@sum": self = .sum
        case "@avg": self = .average
        case "@min": self = .min
        case "@max": self = .max
        case "@median": self = .median
        case "@mode": self = .mode
        case "@stddev": self = .stddev
        default: return nil
        }
    }
}
