import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

/// A key path does not tell the name of a property that is not in the model, so the error tells where the order was made.
@MainActor @Suite struct OrderLocationTests {
    @Test func anOrderByAComputedPropertyNamesItsFileAndLine() async throws {
        try await withContainer { container, _ in
            let line = UInt(#line) + 1
            let orders: [FetchOrder<ContactEntity>] = [.ascending(\.isDeleted)]
            let error = try #require(
                expectError(.unknownAttribute) { try container.main.fetch(ContactEntity.self, order: orders) })
            #expect(error.message.contains("OrderLocationTests.swift, line \(line)"), "\(error.message)")
            let more = UInt(#line) + 1
            let descending: [FetchOrder<ContactEntity>] = [.descending(\.isDeleted)]
            let second = try #require(
                expectError(.unknownAttribute) { try container.main.fetch(ContactEntity.self, order: descending) })
            #expect(second.message.contains("line \(more)"), "\(second.message)")
        }
    }
}
