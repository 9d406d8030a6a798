internal import Foundation
internal import ManagedModel
internal import RowStore

/// The arguments of a format, taken one after the other.
struct FormatArguments {
    private let arguments: [(any Sendable)?]
    private var taken = 0

    init(_ arguments: [(any Sendable)?]) {
        self.arguments = arguments
    }

    var count: Int { arguments.count }

    /// The next argument: the inner optional is nil if the argument is nil, the outer one if there is no argument left.
    mutating func next() -> (any Sendable)?? {
        guard taken < arguments.count else { return nil }
        taken += 1
        return .some(arguments[taken - 1])
    }

    func checkAllTaken() throws(DataSourceError) {
        if taken == arguments.count { return }
        let placeholders = taken == 1 ? "1 placeholder" : "\(taken) placeholders"
        let given = arguments.count == 1 ? "1 argument was" : "\(arguments.count) arguments were"
        throw DataSourceError(
            .unreadablePredicate,
            "The predicate format has \(placeholders), but \(given) given. Placeholders in quotes do not count.")
    }
}

extension FetchExpression {
    /// The keys of an argument for `%K`: a string with dots, or a key path to a property of the model. Nil for anything else.
    ///
    /// - Throws: `unknownAttribute` for a key path to another property.
    static func keys(_ argument: Any) throws(DataSourceError) -> [String]? {
        if let keyPath = argument as? AnyKeyPath {
            guard let type = type(of: keyPath).rootType as? any QueriedObject.Type else { return nil }
            return try RelatedKeyPaths.names(keyPath, of: type)
        }
        guard let text = argument as? String, !text.isEmpty else { return nil }
        return text.parts(separatedBy: ".")
    }
}
