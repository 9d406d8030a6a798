/// Properties of requests in Core Data and SwiftData.
extension ObjectRequest {
    /// Unavailable. The order has another name.
    @available(
        *, unavailable,
        message: "Set order: request.order = [.ascending(\\.title)], or [FetchOrder(SortDescriptor(\\.title))]."
    )
    public var sortDescriptors: [Any]? {
        get { nil }
        set {}
    }

    /// Unavailable. The order has another name.
    @available(
        *, unavailable,
        message: "Set order: request.order = [.ascending(\\.title)], or [FetchOrder(SortDescriptor(\\.title))]."
    )
    public var sortBy: [Any] {
        get { [] }
        set {}
    }

    /// Unavailable. The limit has another name.
    @available(*, unavailable, renamed: "limit")
    public var fetchLimit: Int? {
        get { limit }
        set { limit = newValue }
    }

    /// Unavailable. The offset has another name.
    @available(*, unavailable, renamed: "offset")
    public var fetchOffset: Int {
        get { offset }
        set { offset = newValue }
    }

    /// Unavailable. Use pages or a window.
    @available(
        *, unavailable,
        message:
            "A fetch reads all of its objects. To read a part, set limit and after, or show a list with a window. Remove this line."
    )
    public var fetchBatchSize: Int {
        get { 0 }
        set {}
    }

    /// Unavailable. The prefetched relationships have another name.
    @available(
        *, unavailable, message: "Set prefetch to the key paths of the relationships: request.prefetch = [\\.author]."
    )
    public var relationshipKeyPathsForPrefetching: [String]? {
        get { nil }
        set {}
    }

    /// Unavailable. Fetched objects have their values.
    @available(*, unavailable, message: "Fetched objects have their values. Remove this line.")
    public var returnsObjectsAsFaults: Bool {
        get { false }
        set {}
    }
}

extension FetchAssignment {
    /// Unavailable. Set a relationship in perform.
    @available(*, unavailable, message: "An update sets only attributes. Set a relationship in perform.")
    public static func set<Destination: ManagedObject>(
        _ keyPath: any ReferenceWritableKeyPath<Object, Destination?> & Sendable, _ object: Destination?
    ) -> FetchAssignment {
        FetchAssignment(keyPath: keyPath, value: .null) { _ in }
    }
}
