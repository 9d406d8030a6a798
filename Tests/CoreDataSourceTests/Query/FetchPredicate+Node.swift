import CoreDataSource

extension FetchPredicate {
    /// A predicate of a node that no form of the language makes.
    init(_ node: PredicateTree.Node) {
        self.init(PredicateTree(node))
    }
}
