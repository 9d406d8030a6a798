public import Foundation
internal import ManagedModel
internal import QueryLanguage
internal import RowStore

/// An attribute to sort by. In ascending order, nil comes first.
///
/// ```swift
/// request.order = [
///     .ascending(\.name, [.caseInsensitive, .numeric]), .descending(\.age)
/// ]
/// ```
public struct FetchOrder<Object: ManagedObject>: Sendable, Hashable {
    private enum Target: Sendable, Hashable {
        case attribute([String])
        case invalid(InvalidPart)
    }

    private let target: Target
    /// Whether the least value comes first.
    public var isAscending: Bool
    var stringOrder: StringOrder

    /// Sorts by the attribute with a name. For an attribute inside a composite, use a path such as `address.city`.
    ///
    /// ```swift
    /// request.order = [FetchOrder("name", isAscending: false, [.caseInsensitive])]
    /// ```
    ///
    /// If the name is unknown, the fetch throws `unknownAttribute`.
    ///
    /// - Parameters:
    ///   - attribute: The name of the attribute in the model.
    ///   - isAscending: Whether the least value comes first; true by default.
    ///   - options: How strings are compared; byte by byte by default.
    public init(_ attribute: String, isAscending: Bool = true, _ options: StringSorting = []) {
        self.init(
            .success(attribute.parts(separatedBy: ".", omittingEmpty: true)), isAscending,
            FetchOrder.stringOrder(options))
    }

    private init(_ path: Result<[String], DataSourceError>, _ isAscending: Bool, _ stringOrder: StringOrder) {
        switch path {
        case .success(let path): target = .attribute(path)
        case .failure(let error): target = .invalid(InvalidPart(error))
        }
        self.isAscending = isAscending
        self.stringOrder = stringOrder
    }

    private init(_ keyPath: AnyKeyPath?, _ isAscending: Bool, _ stringOrder: StringOrder) {
        guard let keyPath else {
            let error = DataSourceError(
                .unknownAttribute, "A sort descriptor of \(Object.entityName) has no key path. Sort by an attribute.",
                entityName: Object.entityName)
            self.init(.failure(error), isAscending, stringOrder)
            return
        }
        let path = FetchExpression.attribute(keyPath, of: Object.self).map { expression -> [String] in
            if case .keyPath(let path) = expression { path } else { [] }
        }
        self.init(path, isAscending, stringOrder)
    }

    /// Adds the location of the call to an error, because the error cannot name a property that is not in the model.
    private init(
        _ keyPath: AnyKeyPath, _ isAscending: Bool, _ stringOrder: StringOrder, fileID: StaticString, line: UInt
    ) {
        self.init(keyPath, isAscending, stringOrder)
        guard case .invalid(let part) = target else { return }
        let message = "The order in \(fileID), line \(line), cannot be used. \(part.error.message)"
        self.init(
            .failure(DataSourceError(part.error.code, message, entityName: Object.entityName)), isAscending, stringOrder
        )
    }

    /// Sorts from the least value to the greatest.
    ///
    /// ```swift
    /// request.order = [
    ///     .ascending(\.group?.name), .ascending(\.name, [.caseInsensitive])
    /// ]
    /// ```
    ///
    /// - Parameters:
    ///   - keyPath: An attribute of the object, or of an object that is reached through to-one relationships.
    ///   - options: How strings are compared; byte by byte by default.
    ///   - fileID: The file of the call, for the error if the property is not in the model.
    ///   - line: The line of the call, for the error if the property is not in the model.
    public static func ascending<Value>(
        _ keyPath: KeyPath<Object, Value>, _ options: StringSorting = [], fileID: StaticString = #fileID,
        line: UInt = #line
    ) -> FetchOrder {
        FetchOrder(keyPath, true, stringOrder(options), fileID: fileID, line: line)
    }

    /// Sorts from the greatest value to the least.
    ///
    /// ```swift
    /// request.order = [.descending(\.age)]
    /// ```
    ///
    /// - Parameters:
    ///   - keyPath: An attribute of the object, or of an object that is reached through to-one relationships.
    ///   - options: How strings are compared; byte by byte by default.
    ///   - fileID: The file of the call, for the error if the property is not in the model.
    ///   - line: The line of the call, for the error if the property is not in the model.
    public static func descending<Value>(
        _ keyPath: KeyPath<Object, Value>, _ options: StringSorting = [], fileID: StaticString = #fileID,
        line: UInt = #line
    ) -> FetchOrder {
        FetchOrder(keyPath, false, stringOrder(options), fileID: fileID, line: line)
    }

    /// Sorts by a string attribute in an order that the app defines.
    ///
    /// ```swift
    /// request.order = [.by(\.name, swedish)]
    /// ```
    ///
    /// - Parameters:
    ///   - keyPath: An attribute of strings.
    ///   - collation: The order of the strings.
    ///   - isAscending: Whether the least string comes first; true by default.
    ///   - fileID: The file of the call, for the error if the property is not in the model.
    ///   - line: The line of the call, for the error if the property is not in the model.
    public static func by<Value>(
        _ keyPath: KeyPath<Object, Value>, _ collation: FetchCollation, isAscending: Bool = true,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> FetchOrder {
        FetchOrder(keyPath, isAscending, .collation(collation.collation), fileID: fileID, line: line)
    }

    /// Sorts by a sort descriptor of Foundation.
    ///
    /// ```swift
    /// request.order = [FetchOrder(SortDescriptor(\.name)), .descending(\.age)]
    /// ```
    ///
    /// A descriptor with a localized comparison of strings is replaced with the nearest order that is the same on every
    /// machine. This order ignores case and marks, and compares numbers by their value.
    public init(_ descriptor: SortDescriptor<Object>) {
        var comparator = descriptor.stringComparator ?? .lexical
        comparator.order = .forward
        let options: StringSorting = comparator == .lexical ? [] : [.caseInsensitive, .diacriticInsensitive, .numeric]
        self.init(descriptor.keyPath, descriptor.order == .forward, FetchOrder.stringOrder(options))
    }

    private static func stringOrder(_ options: StringSorting) -> StringOrder {
        options.isEmpty ? .bytes : .folded(options)
    }

    /// Returns the sort key over the columns of an entity.
    ///
    /// - Throws: `unknownAttribute`; `invalidPredicate` if the values of the attribute have no order.
    func resolved(_ resolver: PredicateResolver) throws(DataSourceError) -> SortKey {
        switch target {
        case .invalid(let part): throw part.error
        case .attribute(let path):
            let attribute = try resolver.ownPath(path)
            guard case .column(let column) = attribute.expression, attribute.kind?.isOrdered == true else {
                throw DataSourceError(
                    .invalidPredicate,
                    "\(resolver.layout.name).\(path.joined(separator: ".")) has values without an order. Sort by another attribute.",
                    entityName: resolver.layout.name, attributeName: path.joined(separator: "."))
            }
            return SortKey(
                column: column, isAscending: isAscending, order: attribute.kind?.isText == true ? stringOrder : .bytes)
        }
    }
}

/// An order of strings that the app defines. Make each order once and keep it, because two instances count as different orders.
///
/// The comparison must be a total order that never changes.
///
/// **Isolation**: contexts and the store call the comparison on any thread.
public struct FetchCollation: Sendable, Hashable {
    let collation: StringCollation

    /// Makes an order from a comparison, which is called on any thread.
    ///
    /// ```swift
    /// let swedish = FetchCollation {
    ///     $0.compare($1, locale: Locale(identifier: "sv"))
    /// }
    /// ```
    public init(_ compare: @escaping @Sendable (String, String) -> ComparisonResult) {
        collation = StringCollation { compare($0, $1).rawValue }
    }
}
