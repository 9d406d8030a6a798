/// A predicate of any class, as an argument of a format.
package protocol PredicateTreeConvertible {
    var tree: PredicateTree { get }
}

extension PredicateTree: PredicateTreeConvertible {
    package var tree: PredicateTree { self }
}
