internal import RowStore

// The folder Unavailable declares the functions and properties of Core Data, SwiftData, GRDB and Fluent that users of
// these libraries try first. Each declaration is unavailable, and its message says what to write instead. Without the
// declaration, the compiler would only report that there is no such member. `Tests/Misuse/Cases/Spelt` has a use of
// each declaration, with the message.
//
// The compiler must never choose one of these declarations for correct code. So the arguments of a function here must differ
// from those of every available function that has the same name, in its class and in the subclasses.
//
// A function has the result type of its replacement, or the result type that it has in the other library. With another type,
// such as an optional, the compiler would report the use of the result, and not the message.

/// Functions of other libraries that edit objects in the main context.
extension MainContext {
    /// Unavailable. A data source saves its own edits.
    @available(
        *, unavailable,
        message:
            "The main context only reads, and follows every save. Edit objects in perform of their data source, which saves them, or in a Draft."
    )
    public func save() throws {}

    /// Unavailable. Insert objects in a private context or in a draft.
    @available(
        *, unavailable,
        message:
            "The main context only reads. Insert objects in perform of their data source: try await books.perform { context in try context.insert(Book.self) }, or in a Draft."
    )
    public func insert<Object: ManagedObject>(_ type: Object.Type) throws -> Object {
        throw DataSourceError(.invalidRequest, "The main context only reads.")
    }

    /// Unavailable. A context makes its objects.
    @available(
        *, unavailable,
        message:
            "A context makes its objects: try context.insert(Book.self) in perform of the data source, or in a Draft. Then set the properties."
    )
    public func insert<Object: ManagedObject>(_ object: Object) {}

    /// Unavailable. Delete objects in a private context or in a draft.
    @available(
        *, unavailable,
        message:
            "The main context only reads. Delete objects with their data source: try await books.delete(Book.self, where: ...), or in perform or a Draft."
    )
    public func delete(_ object: ManagedObject) {}

    /// Unavailable. A data source deletes its objects.
    @available(
        *, unavailable,
        message:
            "The main context only reads. Delete objects with their data source: try await books.delete(Book.self, where: ...)."
    )
    public func delete<Object: ManagedObject>(model type: Object.Type, where predicate: FetchPredicate<Object>? = nil)
        throws
    {}

    /// Unavailable. The main context always follows the saves.
    @available(*, unavailable, message: "The main context merges every save without a setting. Remove this line.")
    public var automaticallyMergesChangesFromParent: Bool {
        get { true }
        set {}
    }

    /// Unavailable. The main context has no edits.
    @available(
        *, unavailable,
        message: "The main context has no edits, so it has no conflicts. A Draft resolves conflicts: save(resolving:)."
    )
    public var mergePolicy: Any {
        get { false }
        set {}
    }
}

/// Functions of other libraries that edit objects in a snapshot.
extension ReadContext {
    /// Unavailable. A read saves nothing.
    @available(
        *, unavailable,
        message: "container.read only reads. Edit objects in perform of their data source, which saves them."
    )
    public func save() throws {}

    /// Unavailable. Insert objects in a private context or in a draft.
    @available(
        *, unavailable,
        message: "container.read only reads. Insert objects in perform of their data source, or in a Draft."
    )
    public func insert<Object: ManagedObject>(_ type: Object.Type) throws -> Object {
        throw DataSourceError(.invalidRequest, "container.read only reads.")
    }

    /// Unavailable. Delete objects in a private context or in a draft.
    @available(
        *, unavailable,
        message: "container.read only reads. Delete objects with their data source, or in a Draft."
    )
    public func delete(_ object: ManagedObject) {}
}
