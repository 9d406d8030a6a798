internal import RowStore

extension PredicateTree.Node {
    /// All of them, in one node with as few parts as possible.
    package static func all(_ nodes: [Self]) -> Self {
        var operands: [Self] = []
        for node in nodes {
            switch node {
            case .constant(true): break
            case .constant(false): return node
            case .and(let inner): operands += inner
            default: operands.append(node)
            }
        }
        return operands.isEmpty ? .constant(true) : operands.count == 1 ? operands[0] : .and(operands)
    }

    /// Any of them, in one node with as few parts as possible.
    package static func any(_ nodes: [Self]) -> Self {
        var operands: [Self] = []
        for node in nodes {
            switch node {
            case .constant(false): break
            case .constant(true): return node
            case .or(let inner): operands += inner
            default: operands.append(node)
            }
        }
        return operands.isEmpty ? .constant(false) : operands.count == 1 ? operands[0] : .or(operands)
    }

    /// The negation.
    package static func negation(_ node: Self) -> Self {
        switch node {
        case .constant(let answer): .constant(!answer)
        case .not(let inner): inner
        case .and(let nodes): .any(nodes.map(negation))
        case .or(let nodes): .all(nodes.map(negation))
        case .compare(let one, .equal, let other, let options): .compare(one, .notEqual, other, options)
        case .compare(let one, .notEqual, let other, let options): .compare(one, .equal, other, options)
        default: .not(node)
        }
    }

    /// The terms of one connective, however deeply they are nested: thousands of terms are not thousands of recursive calls.
    package func operands(isAnd: Bool) -> [Self] {
        var operands: [Self] = []
        var rest = [self]
        while let node = rest.popLast() {
            switch node {
            case .and(let parts) where isAnd, .or(let parts) where !isAnd: rest += parts.reversed()
            default: operands.append(node)
            }
        }
        return operands
    }
}
