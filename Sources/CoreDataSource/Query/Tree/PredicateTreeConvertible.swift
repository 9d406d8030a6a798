/// A predicate of any class, as an argument of a format.
protocol PredicateTreeConvertible {
    var tree: PredicateTree { get }
}

extension PredicateTree: PredicateTreeConvertible {
    var tree: PredicateTree { self }
}
