internal import RowStore

/// Predicates are equal if they mean the same: the nesting of a chain of one connective does not matter.
extension PredicateTree {
    package static func == (one: PredicateTree, other: PredicateTree) -> Bool { one.node.flat == other.node.flat }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(node.flat)
    }
}

extension PredicateTree.Node {
    /// The same node with each chain of one connective as one list.
    var flat: Self {
        switch self {
        case .constant, .custom, .invalid: self
        case .compare(let one, let relation, let other, let options):
            .compare(one.flat, relation, other.flat, options)
        case .text(let one, let comparison, let other, let options): .text(one.flat, comparison, other.flat, options)
        case .isIn(let one, let other, let options): .isIn(one.flat, other.flat, options)
        case .between(let one, let low, let high, let options): .between(one.flat, low.flat, high.flat, options)
        case .isWithin(let one, let range, let options): .isWithin(one.flat, range.flat, options)
        case .quantified(let quantifier, let node): .quantified(quantifier, node.flat)
        case .not(let node): .not(node.flat)
        case .and: flatChain(isAnd: true)
        case .or: flatChain(isAnd: false)
        }
    }

    private func flatChain(isAnd: Bool) -> Self {
        let operands = operands(isAnd: isAnd).map(\.flat)
        // A list of one can hide a chain of the same kind.
        let isNested = operands.contains {
            switch $0 {
            case .and: isAnd
            case .or: !isAnd
            default: false
            }
        }
        if isNested { return (isAnd ? Self.and(operands) : Self.or(operands)).flatChain(isAnd: isAnd) }
        switch operands.count {
        case 0: return .constant(isAnd)
        case 1: return operands[0]
        default: return isAnd ? .and(operands) : .or(operands)
        }
    }
}

extension FetchExpression {
    /// The same expression with flat conditions. Only a choice and a subquery contain conditions.
    fileprivate var flat: Self {
        switch self {
        case .keyPath, .object, .constant, .variable: self
        case .path(let base, let keys): .path(base.flat, keys)
        case .subquery(let objects, let name, let test): .subquery(objects.flat, variable: name, test.flat)
        case .list(let items): .list(items.map(\.flat))
        case .function(let function, let items): .function(function, items.map(\.flat))
        case .arithmetic(let one, let operation, let other): .arithmetic(one.flat, operation, other.flat)
        case .coalesce(let one, let other): .coalesce(one.flat, other.flat)
        case .negated(let inner): .negated(inner.flat)
        case .cast(let inner, let type): .cast(inner.flat, type)
        case .conditional(let test, let one, let other): .conditional(test.flat, one.flat, other.flat)
        }
    }
}
