internal import RowStore

extension PredicateTree {
    /// The predicate with values in the place of its variables.
    package func substituting(_ values: [String: (any Sendable)?]) throws -> PredicateTree {
        var expressions: [String: FetchExpression] = [:]
        for (name, value) in values {
            guard let expression = FetchExpression(argument: value) else {
                throw DataSourceError(
                    .unreadablePredicate,
                    "The value for $\(name) is a \(FetchExpression.typeName(value)), which no attribute can have.")
            }
            expressions[name] = expression
        }
        return PredicateTree(node.substituting(expressions))
    }

    /// The names of the variables that have no values yet.
    package var variables: Set<String> {
        var names: Set<String> = []
        var rest: [Node.Part] = [.node(node)]
        while let part = rest.popLast() {
            if case .expression(.variable(let name)) = part { names.insert(name) }
            rest += part.parts
        }
        return names
    }
}

extension PredicateTree.Node {
    fileprivate func substituting(_ values: [String: FetchExpression]) -> Self {
        switch self {
        case .constant, .custom, .invalid: self
        case .compare(let one, let operation, let other, let options):
            .compare(one.substituting(values), operation, other.substituting(values), options)
        case .text(let one, let operation, let other, let options):
            .text(one.substituting(values), operation, other.substituting(values), options)
        case .isIn(let one, let other, let options):
            .isIn(one.substituting(values), other.substituting(values), options)
        case .between(let one, let low, let high, let options):
            .between(one.substituting(values), low.substituting(values), high.substituting(values), options)
        case .quantified(let quantifier, let node): .quantified(quantifier, node.substituting(values))
        case .not(let node): .not(node.substituting(values))
        case .and(let nodes): .and(nodes.map { $0.substituting(values) })
        case .or(let nodes): .or(nodes.map { $0.substituting(values) })
        }
    }
}

extension FetchExpression {
    fileprivate func substituting(_ values: [String: FetchExpression]) -> Self {
        switch self {
        case .keyPath, .object, .constant: self
        case .variable(let name): values[name] ?? self
        case .list(let elements): .list(elements.map { $0.substituting(values) })
        case .arithmetic(let one, let operation, let other):
            .arithmetic(one.substituting(values), operation, other.substituting(values))
        case .negated(let value): .negated(value.substituting(values))
        case .function(let function, let arguments): .function(function, arguments.map { $0.substituting(values) })
        case .conditional(let test, let one, let other):
            .conditional(test.substituting(values), one.substituting(values), other.substituting(values))
        case .coalesce(let one, let other): .coalesce(one.substituting(values), other.substituting(values))
        case .cast(let value, let type): .cast(value.substituting(values), type)
        }
    }
}
