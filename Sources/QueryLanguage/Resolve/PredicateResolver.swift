package import Foundation
internal import ManagedModel
package import RowStore

/// Resolves a predicate over names to a predicate over columns, and checks its validity.
package struct PredicateResolver {
    package let layout: EntityLayout
    let model: ModelLayout
    /// The joined columns that the predicate needs.
    package let joins: JoinCollector
    /// The scope of the object; nil outside of subqueries and relationships.
    let scope: SubqueryScope?
    /// The value of `now()`, in seconds since the reference date.
    let now: Double
    /// The entities of deleted objects to which links can still lead, until the save applies the delete rules.
    let entitiesWithDeletedObjects: Set<Int>

    /// - Parameter joined: The existing joined columns of the rows.
    package init(
        _ layout: EntityLayout, in model: ModelLayout, joined: [JoinedColumn] = [],
        entitiesWithDeletedObjects: Set<Int> = [],
        now: Date = Date()
    ) {
        self.layout = layout
        self.model = model
        joins = JoinCollector(joined)
        scope = nil
        self.entitiesWithDeletedObjects = entitiesWithDeletedObjects
        self.now = now.timeIntervalSinceReferenceDate
    }

    /// Makes a resolver for the objects at the end of a relationship. The relationship starts at the object of
    /// `scope.outer`.
    init(_ layout: EntityLayout, in scope: SubqueryScope) {
        self.layout = layout
        self.scope = scope
        joins = JoinCollector()
        (model, now, entitiesWithDeletedObjects) = (
            scope.outer.model, scope.outer.now, scope.outer.entitiesWithDeletedObjects
        )
    }

    func resolve(_ node: PredicateTree.Node) throws(DataSourceError) -> RowPredicate {
        switch node {
        case .constant(let answer): return .constant(answer)
        case .compare(let lhs, let relation, let rhs, let options):
            return try compare(lhs, relation, to: rhs, options: options)
        case .text(let lhs, let comparison, let rhs, let options):
            return try text(lhs, comparison, with: rhs, options: options)
        case .isIn(let lhs, let rhs, let options): return try membership(lhs, rhs, options)
        case .between(let lhs, let low, let high, let options):
            return .and([
                try compare(lhs, .greaterOrEqual, to: low, options: options),
                try compare(lhs, .lessOrEqual, to: high, options: options),
            ])
        case .isWithin(let lhs, let range, _):
            _ = try expression(lhs)
            // Throws if the variable has no value. Otherwise the variable belongs to a subquery and is an object.
            _ = try expression(range)
            throw invalid("BETWEEN takes a list of two values, and a SUBQUERY's variable is an object.")
        case .quantified(let quantifier, let node): return try quantified(quantifier, node)
        case .not(let node): return .not(try resolve(node))
        case .and: return .and(try resolve(node.operands(isAnd: true)))
        case .or: return .or(merged(try resolve(node.operands(isAnd: false))))
        case .custom(let test):
            throw unsupported("A part of the predicate needs the objects themselves here (\(test.reason))")
        case .invalid(let part): throw part.error
        }
    }

    private func resolve(_ nodes: [PredicateTree.Node]) throws(DataSourceError) -> [RowPredicate] {
        var predicates: [RowPredicate] = []
        predicates.reserveCapacity(nodes.count)
        for node in nodes { predicates.append(try resolve(node)) }
        return predicates
    }

    /// If more than two parts compare one column for equality, merges these comparisons into one list.
    private func merged(_ parts: [RowPredicate]) -> [RowPredicate] {
        guard parts.count > 2 else { return parts }
        var values: [Int: [RowValue]] = [:]
        for case .compare(let column, .equal, let value) in parts { values[column, default: []].append(value) }
        values = values.filter { $0.value.count > 2 }
        if values.isEmpty { return parts }
        let rest = parts.filter { part in
            guard case .compare(let column, .equal, _) = part else { return true }
            return values[column] == nil
        }
        return values.sorted { $0.key < $1.key }.map { list($0.key, $0.value) } + rest
    }

    /// A predicate that is true if the column has one of the values.
    func list(_ column: Int, _ values: [RowValue]) -> RowPredicate {
        values.count > 16
            ? .isMember(.column(column), ValueList(values, .natural)) : .isIn(column: column, values)
    }

    // MARK: Errors

    func invalid(_ what: String, attribute: String? = nil) -> DataSourceError {
        DataSourceError(
            .invalidPredicate, "Invalid predicate for \(layout.name): \(what)", entityName: layout.name,
            attributeName: attribute)
    }

    func unsupported(_ what: String) -> DataSourceError {
        DataSourceError(.unsupportedQuery, "\(what).", entityName: layout.name)
    }
}

/// Resolves attributes.
extension PredicateResolver {
    /// An attribute, or the length of an attribute: `name.length`.
    func attribute(_ path: [String]) throws(DataSourceError) -> TypedExpression {
        guard path.last == PredicateResolver.length, let owner = try owner(of: path), owner.hasLength else {
            return try column(path)
        }
        return TypedExpression(expression: .function(.length, [owner.expression], .integer), kind: .integer)
    }

    /// The key for the length of strings and data.
    private static let length = "length"

    /// The attribute that the path without its last key leads to; nil if the whole path is an attribute.
    private func owner(of path: [String]) throws(DataSourceError) -> TypedExpression? {
        guard path.count > 1, layout.column(named: path.joined(separator: ".")) == nil,
            let column = layout.column(named: path.dropLast().joined(separator: ".")),
            layout.columns[column].attribute != nil, layout.columns[column].isStored
        else { return nil }
        return try self.column(path.dropLast())
    }

    /// - Throws: `unknownAttribute`, which names the attributes of the composite, if the path starts at a composite but does
    ///   not lead to any of its attributes.
    private func checkComposite(_ path: [String]) throws(DataSourceError) {
        let start = path.dropLast().map { $0 + "." }.joined()
        let leaves = layout.columns.filter { $0.name.utf8.starts(with: start.utf8) && $0.attribute != nil }
        if start.isEmpty || leaves.isEmpty { return }
        let names = leaves.map { String($0.name.utf8.dropFirst(start.utf8.count)) ?? $0.name }.joined(separator: ", ")
        throw DataSourceError(
            .unknownAttribute,
            "The composite \"\(start.dropLast())\" of \(layout.name) has no \"\(path.last ?? "")\". The composite has: \(names).",
            entityName: layout.name, attributeName: path.joined(separator: "."))
    }

    /// The names of all stored parts of a composite; empty if the expression is not a composite.
    func parts(ofComposite value: FetchExpression) -> [String] {
        switch value {
        case .keyPath(let path): scope?.outer.parts(ofComposite: value) ?? parts(ofComposite: path)
        case .path(.variable(let name), let path):
            scope?.variable == name ? parts(ofComposite: path) : scope?.outer.parts(ofComposite: value) ?? []
        default: []
        }
    }

    private func parts(ofComposite path: [String]) -> [String] {
        var (layout, names) = (layout, path[...])
        while let first = names.first, let index = layout.relationship(named: first) {
            layout = model.entities[layout.relationships[index].destination]
            names = names.dropFirst()
        }
        let start = names.map { $0 + "." }.joined()
        guard !start.isEmpty, layout.column(named: names.joined(separator: ".")) == nil else { return [] }
        return layout.columns.filter { $0.isStored && $0.attribute != nil && $0.name.utf8.starts(with: start.utf8) }
            .compactMap { String($0.name.utf8.dropFirst(start.utf8.count)) }
    }

    private func noSuchKey(_ path: [String], of owner: TypedExpression) -> DataSourceError {
        let name = path.dropLast().joined(separator: ".")
        let key = path.last ?? ""
        return DataSourceError(
            .unknownAttribute,
            "\(owner.description) of \(layout.name) has no key \"\(key)\". "
                + (owner.hasLength
                    ? "Write \(name), or in a predicate \(name).\(PredicateResolver.length)."
                    : "Write \(name) alone."),
            entityName: layout.name, attributeName: name)
    }

    /// The column of an attribute, or of the leaf of a composite.
    private func column(_ path: [String]) throws(DataSourceError) -> TypedExpression {
        let name = path.joined(separator: ".")
        if let column = layout.column(named: name), layout.columns[column].isStored {
            guard let attribute = layout.columns[column].attribute else {
                return TypedExpression(expression: .column(column), kind: .objectID, attribute: name)
            }
            // A composite has no column. Only its leaves have columns. So an attribute that has a column but no kind is
            // transformable.
            let kind = ValueKind(attribute.type) ?? .transformable
            return TypedExpression(expression: .column(column), kind: kind, attribute: name)
        }
        if layout.columns.contains(where: { $0.name.utf8.starts(with: (name + ".").utf8) && $0.attribute != nil }) {
            throw invalid("\"\(name)\" is a composite. Use one of its attributes.", attribute: name)
        }
        if let owner = try owner(of: path) { throw noSuchKey(path, of: owner) }
        try checkComposite(path)
        let hint = path.count == 1 ? "; strings in a format need quotes" : ""
        throw DataSourceError(
            .unknownAttribute,
            "\(layout.name) has no stored attribute \"\(name)\". Fetch by an attribute of the model\(hint).",
            entityName: layout.name, attributeName: name)
    }
}

extension TypedExpression {
    /// Whether the value has a length, in characters or in bytes.
    var hasLength: Bool { kind?.isText == true || kind == .data }
}
