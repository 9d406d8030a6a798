internal import ManagedModel
internal import RowStore

/// Resolving key paths.
extension PredicateResolver {
    /// An attribute, or the length of one: `name.length`.
    func attribute(_ path: [String]) throws(DataSourceError) -> TypedExpression {
        guard path.last == PredicateResolver.length, let owner = try owner(of: path), owner.hasLength else {
            return try column(path)
        }
        return TypedExpression(expression: .function(.length, [owner.expression], .integer), kind: .integer)
    }

    /// The key for the length of strings and data, which is not an attribute.
    private static let length = "length"

    /// The attribute that the path without its last key leads to, if the path itself is not an attribute.
    private func owner(of path: [String]) throws(DataSourceError) -> TypedExpression? {
        guard path.count > 1, layout.column(named: path.joined(separator: ".")) == nil,
            let column = layout.column(named: path.dropLast().joined(separator: ".")),
            layout.columns[column].attribute != nil, layout.columns[column].isStored
        else { return nil }
        return try self.column(path.dropLast())
    }

    /// - Throws: The contents of a composite, if the path leads into one and to nothing in it.
    private func checkComposite(_ path: [String]) throws(DataSourceError) {
        let start = path.dropLast().map { $0 + "." }.joined()
        let leaves = layout.columns.filter { $0.name.utf8.starts(with: start.utf8) && $0.attribute != nil }
        if start.isEmpty || leaves.isEmpty { return }
        let names = leaves.map { String($0.name.utf8.dropFirst(start.utf8.count)) ?? $0.name }.joined(separator: ", ")
        throw DataSourceError(
            .unknownAttribute,
            "The composite \"\(start.dropLast())\" of \(layout.name) has no \"\(path.last ?? "")\". It has: \(names).",
            entityName: layout.name, attributeName: path.joined(separator: "."))
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

    /// The column of an attribute, or of a composite's leaf.
    private func column(_ path: [String]) throws(DataSourceError) -> TypedExpression {
        let name = path.joined(separator: ".")
        if let column = layout.column(named: name), layout.columns[column].isStored {
            guard let attribute = layout.columns[column].attribute else {
                return TypedExpression(expression: .column(column), kind: .objectID, attribute: name)
            }
            // A composite has no column of its own, so the kinds are those of its leaves.
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
    /// Whether it has a length, in characters or in bytes.
    var hasLength: Bool { kind?.isText == true || kind == .data }
}
