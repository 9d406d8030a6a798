internal import RowStore

extension PredicateTree {
    /// The predicate with its variables replaced by values.
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
        var rest: [(part: Node.Part, bound: Set<String>)] = [(.node(node), [])]
        while let (part, bound) = rest.popLast() {
            switch part {
            case .expression(.variable(let name)) where !bound.contains(name): names.insert(name)
            case .expression(.subquery(let objects, let name, let test)):
                rest.append((.expression(objects), bound))
                rest.append((.node(test), bound.union([name])))
            default: for inner in part.parts { rest.append((inner, bound)) }
            }
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
        case .text(let one, let operation, let other, let options) where options.contains(.findsNoEmptyString):
            .formatText(one.substituting(values), operation, with: other.substituting(values), options: options)
        case .text(let one, let operation, let other, let options):
            .text(one.substituting(values), operation, other.substituting(values), options)
        case .isIn(let one, let other, let options):
            .isIn(one.substituting(values), other.substituting(values), options)
        case .between(let one, let low, let high, let options):
            .between(one.substituting(values), low.substituting(values), high.substituting(values), options)
        case .isWithin(let one, let range, let options):
            within(one.substituting(values), range, substituting: values, options: options)
        case .quantified(let quantifier, let node): .quantified(quantifier, node.substituting(values))
        case .not(let node): .not(node.substituting(values))
        case .and(let nodes): .and(nodes.map { $0.substituting(values) })
        case .or(let nodes): .or(nodes.map { $0.substituting(values) })
        }
    }

    /// The comparison with both bounds, once the variable stands for two values.
    private func within(
        _ one: FetchExpression, _ range: FetchExpression, substituting values: [String: FetchExpression],
        options: StringOptions
    ) -> Self {
        switch range.substituting(values) {
        case .list(let bounds) where bounds.count == 2: .between(one, bounds[0], bounds[1], options)
        case .variable(let name): .isWithin(one, .variable(name), options)
        default:
            .invalid(
                InvalidPart(
                    DataSourceError(
                        .invalidPredicate,
                        "The value of a variable after BETWEEN is not a list of two values. Pass one, as in [1, 5].")))
        }
    }
}

extension FetchExpression {
    fileprivate func substituting(_ values: [String: FetchExpression]) -> Self {
        switch self {
        case .keyPath, .object, .constant: self
        case .variable(let name): values[name] ?? self
        case .path(let base, let keys): .path(base.substituting(values), keys)
        case .subquery(let objects, let name, let test):
            .subquery(
                objects.substituting(values), variable: name, test.substituting(values.filter { $0.key != name }))
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
