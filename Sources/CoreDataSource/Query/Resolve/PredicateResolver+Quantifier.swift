internal import RowStore

/// ANY, ALL and NONE, which cannot be answered yet.
extension PredicateResolver {
    /// Why a quantifier is refused: by what it stands before.
    func refused(_ quantifier: PredicateTree.Quantifier, _ node: PredicateTree.Node) -> DataSourceError {
        let (word, use) = quantifier.wording
        switch node.quantified {
        case .list(let items):
            return unsupported(
                "\(word) over the \(items.count) elements of a list is not supported. Use IN for equality, or compare the value with each element and join the comparisons with \(use)"
            )
        case .keyPath(let path) where path.count == 1 && layout.relationship(named: path[0]) == nil:
            return unsupported(
                "\(word) is about many values, and \"\(path[0])\" is one value of each \(layout.name). Leave \(word) out"
            )
        default:
            return unsupported("\(word) is about the objects of a relationship, which cannot be queried yet")
        }
    }
}

extension PredicateTree.Quantifier {
    /// The word in a format, and what joins the tests that it stands for.
    fileprivate var wording: (word: String, connective: String) {
        switch self {
        case .any: ("ANY", "OR")
        case .all: ("ALL", "AND")
        case .none: ("NONE", "OR, and negate that")
        }
    }
}

extension PredicateTree.Node {
    /// What a quantifier before the node is about: the list on either side of a comparison, otherwise the left side.
    fileprivate var quantified: FetchExpression? {
        switch self {
        case .compare(let one, _, let other, _), .text(let one, _, let other, _):
            if case .list = other { other } else { one }
        case .isIn(let one, _, _), .between(let one, _, _, _): one
        case .not(let node), .quantified(_, let node): node.quantified
        case .constant, .and, .or, .custom, .invalid: nil
        }
    }
}
