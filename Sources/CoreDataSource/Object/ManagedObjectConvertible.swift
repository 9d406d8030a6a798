/// A plain value that is made from a managed object, so that no object needs to leave its context.
///
/// ```swift
/// struct ContactValue: ManagedObjectConvertible {
///     var name: String
///
///     init(_ contact: ContactEntity) {
///         name = contact.name
///     }
/// }
///
/// let grown = try await contacts.fetch(as: ContactValue.self, FetchRequest(where: \.age >= 18, order: [.ascending(\.name)]))
/// ```
///
/// **Isolation**: the initializer runs in the object's context. The compiler does not let the value keep the object.
nonisolated public protocol ManagedObjectConvertible: Sendable {
    /// The class of objects that the value is made from.
    associatedtype Object: ManagedObject

    /// Copies the values that are needed.
    ///
    /// - Throws: Any error; the fetch throws it.
    init(_ object: Object) throws
}
