package import ManagedModel
package import RowStore

/// A value in a predicate. The value uses the names of attributes, not columns.
package indirect enum FetchExpression: Sendable, Hashable {
    /// Keys of the object: `["name"]`; `["address", "city"]` for the leaf of a composite; `["group", "name"]` along a to-one
    /// relationship. After a to-many relationship comes an aggregate: `["messages", "@count"]`, `["messages", "@max", "date"]`.
    case keyPath([String])
    /// Keys of another expression: of the variable of a subquery, or of a subquery.
    case path(FetchExpression, [String])
    /// `SUBQUERY(messages, $m, $m.isRead == NO)`: the objects of a to-many relationship that match the predicate.
    case subquery(FetchExpression, variable: String, PredicateTree.Node)
    /// The object itself: `SELF`.
    case object
    case constant(FetchValue)
    case list([FetchExpression])
    /// `$NAME`: the object of the subquery with this variable. Outside of such a subquery, it is a placeholder that must be
    /// replaced before use.
    case variable(String)
    case arithmetic(FetchExpression, ArithmeticOperator, FetchExpression)
    case negated(FetchExpression)
    case function(FetchFunction, [FetchExpression])
    /// The first value if the predicate is true, otherwise the second.
    case conditional(PredicateTree.Node, FetchExpression, FetchExpression)
    /// The first value, or the second value if the first value is nil.
    case coalesce(FetchExpression, FetchExpression)
    case cast(FetchExpression, AttributeType)
}

extension FetchExpression {
    /// A constant or a list of constants from an argument; nil if no attribute can have such a value.
    init?(argument: Any?) {
        guard let argument = argument.flatMap(unwrapped) else {
            self = .constant(.null)
            return
        }
        if let value = FetchValue(argument: argument) {
            self = .constant(value)
            return
        }
        guard let list = argument as? any Collection, !(argument is [AnyHashable: Any]) else { return nil }
        // Do not use the count of the list, because the count of a range can overflow.
        var elements: [FetchExpression] = []
        for element in list {
            guard elements.count < FetchExpression.maxElements, let value = FetchExpression(argument: element),
                case .constant = value
            else { return nil }
            elements.append(value)
        }
        self = .list(elements)
    }

    /// The largest number of elements in a list argument.
    static let maxElements = 1_000_000

    /// The type of an argument, for messages.
    static func typeName(_ argument: Any?) -> String {
        argument.flatMap(unwrapped).map { "\(type(of: $0))" } ?? "nil"
    }
}

/// The value inside an optional of any depth.
private func unwrapped(_ value: Any) -> Any? {
    guard let optional = value as? any AnyOptional else { return value }
    return optional.content.flatMap(unwrapped)
}
