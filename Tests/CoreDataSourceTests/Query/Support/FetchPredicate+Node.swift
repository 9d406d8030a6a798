import CoreDataSource
import QueryLanguage
import RowStore

extension FetchPredicate {
    /// A predicate of a node that no form of the language makes.
    init(_ node: PredicateTree.Node) {
        self.init(PredicateTree(node))
    }
}

extension PredicateTree {
    /// The predicate over the columns of an entity that asks for nothing of others.
    func resolved(_ layout: EntityLayout) throws(DataSourceError) -> RowPredicate {
        try resolved(layout, in: QuerySamples.layout).predicate
    }
}
