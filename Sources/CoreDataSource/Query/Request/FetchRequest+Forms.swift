public import Foundation

extension FetchRequest {
    /// The objects for which a predicate of Foundation holds.
    public init(
        _ type: Object.Type = Object.self, where predicate: Predicate<Object>, order: [FetchOrder<Object>] = [],
        limit: Int? = nil, offset: Int = 0
    ) {
        self.init(type, where: FetchPredicate(predicate), order: order, limit: limit, offset: offset)
    }

    /// The objects for which a condition on key paths holds.
    public init(
        _ type: Object.Type = Object.self, where condition: FetchCondition<Object>, order: [FetchOrder<Object>] = [],
        limit: Int? = nil, offset: Int = 0
    ) {
        self.init(type, where: condition.predicate, order: order, limit: limit, offset: offset)
    }

    /// The objects for which a predicate of Foundation holds.
    public init(
        _ type: Object.Type = Object.self, where predicate: Predicate<Object>, sortBy: [SortDescriptor<Object>],
        limit: Int? = nil, offset: Int = 0
    ) {
        self.init(type, where: FetchPredicate(predicate), sortBy: sortBy, limit: limit, offset: offset)
    }

    /// The objects for which a condition on key paths holds.
    public init(
        _ type: Object.Type = Object.self, where condition: FetchCondition<Object>, sortBy: [SortDescriptor<Object>],
        limit: Int? = nil, offset: Int = 0
    ) {
        self.init(type, where: condition.predicate, sortBy: sortBy, limit: limit, offset: offset)
    }
}
