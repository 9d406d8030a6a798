internal import RowStore

extension PredicateTree {
    /// The predicate with its variables replaced by values.
    package func substituting(_ values: [String: (any Sendable)?]) throws -> PredicateTree {
        var expressions: [String: FetchExpression] = [:]
        for (name, value) in values {
            guard let expression = FetchExpression(argument: value) else {
                throw DataSourceError(
                    .unreadablePredicate,
                    "The value for $\(name) is a \(FetchExpression.typeName(value)). Pass a value that an attribute "
                        + "can have.")
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
            case .expression(.subquery(let objects, let name, let predicate)):
                rest.append((.expression(objects), bound))
                rest.append((.node(predicate), bound.union([name])))
            default: for inner in part.parts { rest.append((inner, bound)) }
            }
        }
        return names
    }
}

extension PredicateTree.Node {
    fileprivate func substituting(_ values: [String: FetchExpression]) -> Self {
        switch self {
        case .text(let lhs, let operation, let rhs, let options) where options.contains(.findsNoEmptyString):
            .formatText(lhs.substituting(values), operation, with: rhs.substituting(values), options: options)
        case .isWithin(let lhs, let range, let options):
            within(lhs.substituting(values), range, substituting: values, options: options)
        default: replacingParts({ $0.substituting(values) }, { $0.substituting(values) })
        }
    }

    /// The comparison with both bounds, if a list of two values replaces the variable; an invalid part, if another value
    /// does.
    private func within(
        _ lhs: FetchExpression, _ range: FetchExpression, substituting values: [String: FetchExpression],
        options: StringOptions
    ) -> Self {
        switch range.substituting(values) {
        case .list(let bounds) where bounds.count == 2: .between(lhs, bounds[0], bounds[1], options)
        case .variable(let name): .isWithin(lhs, .variable(name), options)
        default:
            .invalid(
                InvalidPart(
                    DataSourceError(
                        .invalidPredicate,
                        "The value of a variable after BETWEEN is not a list of two values. Pass a list, as in [1, 5].")
                ))
        }
    }
}

extension FetchExpression {
    fileprivate func substituting(_ values: [String: FetchExpression]) -> Self {
        switch self {
        case .variable(let name): return values[name] ?? self
        case .subquery(let objects, let name, let predicate):
            let others = values.filter { $0.key != name }
            return .subquery(objects.substituting(values), variable: name, predicate.substituting(others))
        default: return replacingParts({ $0.substituting(values) }, { $0.substituting(values) })
        }
    }
}
