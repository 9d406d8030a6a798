public import CoreDataSource

/// Adds methods to the classes of managed objects, in the style of the library Skopelos. The methods insert, fetch, count and
/// delete objects. In the module `CoreDataSourceActiveRecord`.
///
/// ```swift
/// try contacts
///     .writeSync { context in try ContactEntity.create(in: context).uid = "1" }
///     .read { main in
///         print(try ContactEntity.all(in: main, where: \.uid == "1"))
///     }
/// ```
///
/// Every subclass of ``ManagedObject`` conforms. The methods return objects of the class on which they are called. Each method
/// calls a method of the context, and throws the errors of that method. If an attribute has the same name as a method, the
/// attribute hides the method.
///
/// **Isolation**: the isolation of the context.
nonisolated public protocol ActiveRecord: ManagedObject {}

extension ManagedObject: ActiveRecord {}

extension ActiveRecord {
    /// Inserts an object with the default values of the model. Calls ``EditingContext/insert(_:)``.
    /// In the module `CoreDataSourceActiveRecord`.
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

    /// Returns the first matching object; nil if no object matches. Calls ``ManagedObjectContext/first(_:where:order:)``.
    /// In the module `CoreDataSourceActiveRecord`.
    ///
    /// ```swift
    /// let contact = try ContactEntity.first(in: main, where: \.uid == "1")
    /// ```
    ///
    /// - Throws: The errors of ``ManagedObjectContext/fetch(_:)``.
    public static func first(
        in context: ManagedObjectContext, where predicate: FetchPredicate<Self>? = nil, order: [FetchOrder<Self>] = []
    ) throws -> Self? {
        try context.first(Self.self, where: predicate, order: order)
    }

    /// Returns the matching objects. Calls
    /// ``ManagedObjectContext/fetch(_:where:order:limit:offset:)-(_,_,[FetchOrder<Object>],_,_)``.
    /// In the module `CoreDataSourceActiveRecord`.
    ///
    /// ```swift
    /// let adults = try ContactEntity.all(
    ///     in: main, where: \.age >= 18, order: [.ascending(\.name)])
    /// ```
    ///
    /// - Throws: The errors of ``ManagedObjectContext/fetch(_:)``.
    public static func all(
        in context: ManagedObjectContext, where predicate: FetchPredicate<Self>? = nil, order: [FetchOrder<Self>] = []
    ) throws -> [Self] {
        try context.fetch(Self.self, where: predicate, order: order)
    }

    /// Returns the number of matching objects. Calls ``ManagedObjectContext/count(_:where:)``.
    /// In the module `CoreDataSourceActiveRecord`.
    ///
    /// ```swift
    /// let count = try ContactEntity.count(in: main, where: \.age >= 18)
    /// ```
    ///
    /// - Throws: The errors of ``ManagedObjectContext/fetch(_:)``.
    public static func count(
        in context: ManagedObjectContext, where predicate: FetchPredicate<Self>? = nil
    ) throws -> Int {
        try context.count(Self.self, where: predicate)
    }

    /// Deletes the matching objects. Calls ``PrivateContext/delete(_:where:)``. In the module `CoreDataSourceActiveRecord`.
    ///
    /// ```swift
    /// try ContactEntity.removeAll(in: context, where: \.age < 18)
    /// ```
    ///
    /// - Returns: The number of deleted objects.
    /// - Throws: `entityNotOwned`, and the errors of ``ManagedObjectContext/fetch(_:)``.
    @discardableResult
    public static func removeAll(
        in context: PrivateContext, where predicate: FetchPredicate<Self>? = nil
    ) throws -> Int {
        try context.delete(Self.self, where: predicate)
    }

    /// Deletes this object, which must belong to the context. Calls ``EditingContext/delete(_:)``.
    /// In the module `CoreDataSourceActiveRecord`.
    ///
    /// ```swift
    /// try ContactEntity.first(in: context, where: \.uid == "1")?.remove(in: context)
    /// ```
    public func remove(in context: EditingContext) {
        context.delete(self)
    }
}
