internal import ManagedModel
internal import RowStore

/// What relationships lead to.
extension PredicateResolver {
    /// What keys lead to from the object of this scope.
    func ownPath(_ path: [String]) throws(DataSourceError) -> TypedExpression {
        guard let (relationship, rest) = try leading(path) else { return try attribute(path) }
        if relationship.isToMany { return try aggregate(relationship, rest) }
        return try destination(relationship, rest)
    }

    /// The relationship with which a path begins, and the keys after it; nil for a path that begins with an attribute.
    private func leading(_ path: [String]) throws(DataSourceError) -> (RelationshipLayout, [String])? {
        guard let first = path.first, let index = layout.relationship(named: first),
            layout.column(named: path.joined(separator: ".")).map({ layout.columns[$0].attribute == nil }) ?? true
        else { return nil }
        return (layout.relationships[index], Array(path.dropFirst()))
    }

    private func related(_ relationship: RelationshipLayout) throws(DataSourceError) -> RelatedRows {
        guard let related = RelatedRows(relationship) else {
            throw unsupported(
                "\"\(relationship.name)\" of \(layout.name) is transient: no store has its links. Test it in code")
        }
        return related
    }

    // MARK: To one

    /// A to-one relationship, or what keys lead to from its destination.
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

    /// Whether the key that a row has can be that of no object, which is as good as none.
    private func mayLeadToNothing(_ relationship: RelationshipLayout) -> Bool {
        let rule = relationship.inverse.flatMap { model.model.relationship($0) }?.deleteRule
        return rule == .noAction || relationship.destinationFamily.contains(where: withGoneObjects.contains)
    }

    /// A value of the destination as one of the source.
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

    /// `messages.@count`, `messages.@max.date`.
    private func aggregate(
        _ relationship: RelationshipLayout, _ rest: [String]
    ) throws(DataSourceError) -> TypedExpression {
        guard let operation = rest.first, operation.hasPrefix("@") else {
            let name = relationship.name
            throw unsupported(
                rest.isEmpty
                    ? "\"\(name)\" of \(layout.name) stands for many objects. Compare \(name).@count, or ask ANY \(name)"
                    : "\"\(([name] + rest).joined(separator: "."))\" has a value for each of the \(name) of an object of \(layout.name). Write ANY, ALL or NONE before it, or a SUBQUERY, or an aggregate as \(name).@max.\(rest.joined(separator: "."))"
            )
        }
        return try aggregate(
            try related(relationship), inner(relationship.destination, nil), operation, Array(rest.dropFirst()),
            relationship.name)
    }

    /// An aggregate of objects.
    ///
    /// - Parameter inner: Their resolver, with what the related rows have got so far.
    private func aggregate(
        _ related: RelatedRows, _ inner: PredicateResolver, _ operation: String, _ path: [String], _ name: String
    ) throws(DataSourceError) -> TypedExpression {
        var related = related
        let name = ([name, operation] + path).joined(separator: ".")
        guard let function = FetchFunction(pathOperator: operation) else {
            throw unsupported(
                "\(operation) is no aggregate that can be asked for. There are @count, @sum, @avg, @min and @max, and @median, @mode and @stddev"
            )
        }
        if function == .count {
            guard path.isEmpty else {
                throw invalid("nothing comes after @count, which counts objects.", attribute: name)
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
            throw unsupported("\"\(name)\" is no attribute of which an aggregate can be made")
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

    /// `SUBQUERY(...).@count` and other aggregates.
    func subquery(
        _ objects: FetchExpression, _ variable: String, _ test: PredicateTree.Node, _ path: [String]
    ) throws(DataSourceError) -> TypedExpression {
        guard let operation = path.first, operation.hasPrefix("@") else {
            throw unsupported("A SUBQUERY stands for many objects. Ask for SUBQUERY(...).@count or another aggregate")
        }
        let hidden = PredicateTree(test).variables.subtracting([variable]).intersection(variablesLeft(objects))
        if let name = hidden.sorted().first {
            throw unsupported(
                "A SUBQUERY about objects of an object further out asks for $\(name), which is not known there. Ask about the objects of $\(name)"
            )
        }
        return try collection(objects) { owner, relationship throws(DataSourceError) in
            let inner = try owner.inner(relationship.destination, variable)
            var related = try owner.related(relationship)
            related.predicate = try inner.resolve(test)
            return try owner.aggregate(related, inner, operation, Array(path.dropFirst()), relationship.name)
        }
    }

    // MARK: Collections

    /// The variables of the subqueries between this scope and the one whose objects are asked about.
    private func variablesLeft(_ objects: FetchExpression) -> Set<String> {
        guard let scope else { return [] }
        if case .path(.variable(let name), _) = objects, scope.variable == name { return [] }
        return scope.outer.variablesLeft(objects).union(scope.variable.map { [$0] } ?? [])
    }

    /// Resolves something about the objects of a to-many relationship, which may be one of an object that to-one
    /// relationships lead to.
    private func collection(
        _ objects: FetchExpression,
        _ body: (PredicateResolver, RelationshipLayout) throws(DataSourceError) -> TypedExpression
    ) throws(DataSourceError) -> TypedExpression {
        switch objects {
        case .keyPath(let path):
            guard let scope else { return try collection(path, body) }
            return imported(
                try scope.outer.collection(objects) { owner, relationship throws(DataSourceError) in
                    try body(owner, relationship)
                })
        case .path(.variable(let name), let path):
            guard let scope else {
                throw invalid("the variable $\(name) is of no SUBQUERY here, so that it has no keys.")
            }
            if scope.variable == name { return try collection(path, body) }
            return imported(
                try scope.outer.collection(objects) { owner, relationship throws(DataSourceError) in
                    try body(owner, relationship)
                })
        case .path(.object, let path): return try collection(.keyPath(path), body)
        default:
            throw unsupported(
                "A SUBQUERY is about a to-many relationship, as in SUBQUERY(messages, $m, $m.isRead == NO)")
        }
    }

    private func collection(
        _ path: [String], _ body: (PredicateResolver, RelationshipLayout) throws(DataSourceError) -> TypedExpression
    ) throws(DataSourceError) -> TypedExpression {
        guard let (relationship, rest) = try leading(path) else {
            throw invalid(
                "\"\(path.joined(separator: "."))\" is no to-many relationship of \(layout.name).",
                attribute: path.joined(separator: "."))
        }
        if relationship.isToMany {
            guard rest.isEmpty else {
                throw unsupported(
                    "\"\(path.joined(separator: "."))\" goes on after the to-many relationship \"\(relationship.name)\". Ask in a SUBQUERY of it for what comes after"
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
    /// The kind of what has a length: a string or data.
    func lengthKind(_ layout: EntityLayout) -> ValueKind {
        if case .column(let column) = self, layout.order(of: column).storage == .blob { return .data }
        return .text
    }
}

extension FetchFunction {
    /// By the operator of a key path: `@avg`.
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
