/// Functions and properties of containers in Core Data, SwiftData and GRDB.
extension PersistentContainer {
    /// Unavailable. The context for the user interface has another name.
    @available(*, unavailable, renamed: "main")
    @MainActor public var viewContext: MainContext { main }

    /// Unavailable. The context for the user interface has another name.
    @available(*, unavailable, renamed: "main")
    @MainActor public var mainContext: MainContext { main }

    /// Unavailable. The initializer opens the store.
    @available(
        *, unavailable,
        message: "The initializer opens the store: try await PersistentContainer(name: \"Books\"). Remove this call."
    )
    public func loadPersistentStores(completionHandler: (Any, (any Error)?) -> Void) {}

    /// Unavailable. A data source saves its own edits.
    @available(
        *, unavailable,
        message:
            "Nothing waits for a save here: add, sync, delete and perform of a data source save their own edits. Remove this call."
    )
    public func save() throws {}

    /// Unavailable. A data source writes.
    @available(
        *, unavailable,
        message:
            "A data source writes its objects: try await books.perform { context in ... }. To write objects of several data sources in one save, call container.perform(in:)."
    )
    @discardableResult
    public func write<Result>(_ updates: (PrivateContext) throws -> Result) async throws -> Result {
        preconditionFailure()
    }
}
