// These are members of a protocol, so that the class of an entity can have properties and functions with these names.

/// Functions of other libraries that make requests, or insert, save or delete objects, through a class or an object.
extension GroupableProperty where Self: ManagedObject {
    /// Unavailable. Insert the object in a context.
    @available(
        *, unavailable,
        message:
            "A context makes its objects: let book = try context.insert(Book.self), in perform of the data source, in a hook, or in a Draft."
    )
    public init(context: ManagedObjectContext) { preconditionFailure() }

    /// Unavailable. Insert the object in a context.
    @available(
        *, unavailable,
        message:
            "A context makes its objects: let book = try context.insert(Book.self), in perform of the data source, in a hook, or in a Draft."
    )
    public init() { preconditionFailure() }

    /// Unavailable. Make a request.
    @available(
        *, unavailable,
        message: "Make a request: ObjectRequest(Book.self, where: ..., order: [...]), or call fetch(Book.self)."
    )
    public static func fetchRequest() -> ObjectRequest<Self> { ObjectRequest() }

    /// Unavailable. A context fetches.
    @available(*, unavailable, message: "A context fetches: try context.fetch(Book.self, where: ..., order: [...]).")
    public static func fetchAll(_ context: ManagedObjectContext) throws -> [Self] { [] }

    /// Unavailable. A context fetches.
    @available(*, unavailable, message: "A context fetches: try context.first(Book.self, where: ...).")
    public static func fetchOne(_ context: ManagedObjectContext) throws -> Self? { nil }

    /// Unavailable. A context fetches.
    @available(*, unavailable, message: "A context fetches: try context.fetch(Book.self, where: ..., order: [...]).")
    public static func query(on context: ManagedObjectContext) -> ObjectRequest<Self> { ObjectRequest() }

    /// Unavailable. An object is saved with its context.
    @available(
        *, unavailable,
        message:
            "An object is saved with its context: set its properties in perform of the data source, in a hook, or in a Draft."
    )
    public func save() throws {}

    /// Unavailable. A context deletes.
    @available(
        *, unavailable,
        message: "A context deletes its objects: context.delete(book), in perform of the data source or in a Draft."
    )
    public func delete() {}

    /// Unavailable. The context has another name.
    @available(*, unavailable, renamed: "context")
    public var managedObjectContext: ManagedObjectContext? { context }
}

/// A function of Core Data for an id.
extension ManagedObjectID {
    /// Unavailable. An id is `Codable`.
    @available(*, unavailable, message: "An id is Codable. Encode it, or store its entityName and its key.")
    public func uriRepresentation() -> String { description }
}
