public import CoreDataSource

/// Class methods of managed objects, as in Skopelos.
///
/// ```swift
/// try contacts
///     .writeSync { context in try ContactEntity.create(in: context).uid = "1" }
///     .read { main in print(try ContactEntity.all(in: main, where: \.uid == "1")) }
/// ```
///
/// Every ``ManagedObject`` conforms, so the calls return objects of the class itself. Each does what the context's method does,
/// and throws what that throws. An attribute with the name of a method hides the method.
///
/// **Isolation**: that of the context.
nonisolated public protocol ActiveRecord: ManagedObject {}

extension ManagedObject: ActiveRecord {}

extension ActiveRecord {
    /// Inserts a new object with the default values of the model, as ``EditingContext/insert(_:)``.
    ///
    /// - Throws: `entityNotOwned`, `abstractEntity`, `unknownEntity`, `keysExhausted`.
    public static func create(in context: EditingContext) throws -> Self {
        try context.insert(Self.self)
    }

    /// The first object that matches, or nil, as ``ManagedObjectContext/first(_:where:order:)``.
    ///
    /// - Throws: What ``ManagedObjectContext/fetch(_:)`` throws.
    public static func first(
        in context: ManagedObjectContext, where predicate: FetchPredicate<Self>? = nil, order: [FetchOrder<Self>] = []
    ) throws -> Self? {
        try context.first(Self.self, where: predicate, order: order)
    }

    /// The objects that match, as
    /// ``ManagedObjectContext/fetch(_:where:order:limit:offset:)-(_,_,[FetchOrder<Object>],_,_)``.
    ///
    /// - Throws: What ``ManagedObjectContext/fetch(_:)`` throws.
    public static func all(
        in context: ManagedObjectContext, where predicate: FetchPredicate<Self>? = nil, order: [FetchOrder<Self>] = []
    ) throws -> [Self] {
        try context.fetch(Self.self, where: predicate, order: order)
    }

    /// How many objects match, as ``ManagedObjectContext/count(_:where:)``.
    ///
    /// - Throws: What ``ManagedObjectContext/fetch(_:)`` throws.
    public static func count(
        in context: ManagedObjectContext, where predicate: FetchPredicate<Self>? = nil
    ) throws -> Int {
        try context.count(Self.self, where: predicate)
    }

    /// Deletes the objects that match, as ``PrivateContext/delete(_:where:)``.
    ///
    /// - Returns: How many objects were deleted.
    /// - Throws: `entityNotOwned`, and what ``ManagedObjectContext/fetch(_:)`` throws.
    @discardableResult
    public static func removeAll(
        in context: PrivateContext, where predicate: FetchPredicate<Self>? = nil
    ) throws -> Int {
        try context.delete(Self.self, where: predicate)
    }

    /// Deletes this object, as ``EditingContext/delete(_:)``. It must belong to that context.
    public func remove(in context: EditingContext) {
        context.delete(self)
    }
}
