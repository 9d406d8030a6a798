public import CoreDataSource

/// Class methods of managed objects, as in Skopelos.
///
/// ```swift
/// try contacts
///     .writeSync { context in try ContactEntity.create(in: context).uid = "1" }
///     .read { main in
///         print(try ContactEntity.all(in: main, where: \.uid == "1"))
///     }
/// ```
///
/// Every ``ManagedObject`` conforms, so the methods return objects of the class on which they are called. Each method calls a
/// method of the context, and throws the same errors. An attribute with the name of a method hides the method.
///
/// **Isolation**: that of the context.
nonisolated public protocol ActiveRecord: ManagedObject {}

extension ManagedObject: ActiveRecord {}

extension ActiveRecord {
    /// Inserts an object with the default values of the model, as ``EditingContext/insert(_:)``.
    ///
    /// ```swift
    /// let contact = try ContactEntity.create(in: context)
    /// contact.uid = "1"
    /// ```
    ///
    /// - Throws: `entityNotOwned`, `abstractEntity`, `unknownEntity`, `keysExhausted`.
    public static func create(in context: EditingContext) throws -> Self {
        try context.insert(Self.self)
    }

    /// The first matching object, or nil, as ``ManagedObjectContext/first(_:where:order:)``.
    ///
    /// ```swift
    /// let contact = try ContactEntity.first(in: main, where: \.uid == "1")
    /// ```
    ///
    /// - Throws: Errors of ``ManagedObjectContext/fetch(_:)``.
    public static func first(
        in context: ManagedObjectContext, where predicate: FetchPredicate<Self>? = nil, order: [FetchOrder<Self>] = []
    ) throws -> Self? {
        try context.first(Self.self, where: predicate, order: order)
    }

    /// The matching objects, as ``ManagedObjectContext/fetch(_:where:order:limit:offset:)-(_,_,[FetchOrder<Object>],_,_)``.
    ///
    /// ```swift
    /// let adults = try ContactEntity.all(
    ///     in: main, where: \.age >= 18, order: [.ascending(\.name)])
    /// ```
    ///
    /// - Throws: Errors of ``ManagedObjectContext/fetch(_:)``.
    public static func all(
        in context: ManagedObjectContext, where predicate: FetchPredicate<Self>? = nil, order: [FetchOrder<Self>] = []
    ) throws -> [Self] {
        try context.fetch(Self.self, where: predicate, order: order)
    }

    /// The number of matching objects, as ``ManagedObjectContext/count(_:where:)``.
    ///
    /// ```swift
    /// let count = try ContactEntity.count(in: main, where: \.age >= 18)
    /// ```
    ///
    /// - Throws: Errors of ``ManagedObjectContext/fetch(_:)``.
    public static func count(
        in context: ManagedObjectContext, where predicate: FetchPredicate<Self>? = nil
    ) throws -> Int {
        try context.count(Self.self, where: predicate)
    }

    /// Deletes the matching objects, as ``PrivateContext/delete(_:where:)``.
    ///
    /// ```swift
    /// try ContactEntity.removeAll(in: context, where: \.age < 18)
    /// ```
    ///
    /// - Returns: The number of deleted objects.
    /// - Throws: `entityNotOwned`, and errors of ``ManagedObjectContext/fetch(_:)``.
    @discardableResult
    public static func removeAll(
        in context: PrivateContext, where predicate: FetchPredicate<Self>? = nil
    ) throws -> Int {
        try context.delete(Self.self, where: predicate)
    }

    /// Deletes this object, as ``EditingContext/delete(_:)``. The object must belong to the context.
    ///
    /// ```swift
    /// try ContactEntity.first(in: context, where: \.uid == "1")?.remove(in: context)
    /// ```
    public func remove(in context: EditingContext) {
        context.delete(self)
    }
}
