public import Foundation

/// Fetching values, from anywhere: objects stay where they are.
///
/// They are read in the data source's own context, after everything that was asked of it before. On main,
/// `container.main.fetch(as:)` reads them at once, and in a hook or in `perform { }` the context does.
extension DataSource {
    /// The values of the objects that match, in order.
    ///
    /// ```swift
    /// let grown = try await contacts.fetch(as: ContactValue.self, where: \.age >= 18, sortBy: [SortDescriptor(\.name)])
    /// ```
    ///
    /// - Throws: As `fetch`, and what the value's initializer throws.
    public nonisolated func fetch<Value: ManagedObjectConvertible>(
        as type: Value.Type, where predicate: FetchPredicate? = nil,
        sortBy: [SortDescriptor<Value.Object>] = [], limit: Int? = nil, offset: Int = 0
    ) async throws -> [Value] {
        try await context.perform(waitFor: .store, values: 0) {
            try $0.fetch(as: type, where: predicate, sortBy: sortBy, limit: limit, offset: offset)
        }.result
    }

    /// The value of the first object that matches; nil if there is none.
    public nonisolated func first<Value: ManagedObjectConvertible>(
        as type: Value.Type, where predicate: FetchPredicate? = nil,
        sortBy: [SortDescriptor<Value.Object>] = []
    ) async throws -> Value? {
        try await fetch(as: type, where: predicate, sortBy: sortBy, limit: 1).first
    }

    /// The values of the objects that a request finds, in its order.
    public nonisolated func fetch<Value: ManagedObjectConvertible>(
        as type: Value.Type, _ request: FetchRequest<Value.Object>
    ) async throws -> [Value] {
        try await context.perform(waitFor: .store, values: 0) { try $0.fetch(as: type, request) }.result
    }
}
