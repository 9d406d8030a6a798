// There is no overload that takes a key path or a predicate of Foundation as `where:`. With such an overload, the
// compiler could not find the types of `.any(\.messages, \.mailbox == inbox && \.isRead == false)` in a call with an
// order, and Swift 6.3 would crash at `\.labels.contains("x")`.

extension EntityDataSource {
    /// Unavailable. Count the objects in the main context.
    @available(*, unavailable, message: "Count the objects of a request in the main context: main.count(request).")
    public func count<Object: ManagedObject>(_ request: ObjectRequest<Object>) throws -> Int { 0 }
}

extension FetchPredicate {
    /// Unavailable. The array has another label.
    @available(*, unavailable, renamed: "init(format:arguments:)")
    public init(format: String, argumentArray: [Any]?) throws { preconditionFailure() }
}
