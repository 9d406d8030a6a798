import CoreDataSource
import ErrorExpectations
import Foundation
import QueryLanguage
import RowStore
import Testing

/// What ends a query that would take too long.
@MainActor
struct QueryBudgetTests {
    private nonisolated static let count = 10_000

    private func withContacts(
        _ kind: StoreKind, _ list: [ContactData],
        _ body: @MainActor (PersistentContainer, ContactDataSource) async throws -> Void
    ) async throws {
        try await withContainer(kind) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(list)
            await contacts.tier.forgetObjects()
            try await body(container, contacts)
        }
    }

    /// Forty rows, each of which would take the whole budget.
    private let slowList = contactList(0..<40) { _ in String(repeating: "a", count: 40) + "!" }

    @Test(arguments: StoreKind.allCases, [StringOperator.matches, .like])
    func allRowsOfAQueryShareOneBudget(kind: StoreKind, comparison: StringOperator) async throws {
        let long = String(repeating: "a", count: 5000)
        let list = comparison == .like ? contactList(0..<40) { _ in long + "!" } : slowList
        let pattern = comparison == .like ? "*?\(long.prefix(3000))b?*" : "(a+)+b"
        try await withContacts(kind, list) { container, _ in
            let root = container.stack.root
            let layout = try #require(container.stack.layout.entity(named: "ContactEntity"))
            let name = try #require(layout.column(named: "name"))
            let slow = RowPredicate.text(.column(name), try StringMatcher(comparison, pattern, []))
            for predicate in comparison == .like ? [slow] : [slow, .not(slow), .and([slow, .compareKey(.greater, 0)])] {
                let query = RowQuery(entity: layout.index, predicate: predicate, budget: QueryBudget(steps: 1_000_000))
                expectError(.invalidPredicate) {
                    try root.store.read(.statement) { reader throws(DataSourceError) in try reader.rows(query) }
                }
                #expect(query.budget.stepsSpent >= 1_000_000)
                #expect(query.budget.stepsSpent <= 1_100_000)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aSpentBudgetEndsTheQueryAtOnceAndNoOther(kind: StoreKind) async throws {
        try await withContacts(kind, slowList + [ContactData(uid: "quick", name: "aab")]) { _, contacts in
            let asked = Shared(0)
            let counting = FetchPredicate<ContactEntity>(
                .custom(
                    ObjectMatcher("counts") { _ in
                        asked.value += 1
                        return false
                    }))
            let slow = try FetchPredicate<ContactEntity>(format: "name MATCHES '(a+)+b'")
            expectError(.invalidPredicate) {
                try contacts.fetch(ContactEntity.self, where: counting || slow)
            }
            #expect(asked.value == 1)
            // The same pattern, and rows that it can be asked of.
            let quick = \ContactEntity.uid == "quick"
            #expect(try contacts.fetch(ContactEntity.self, where: quick && slow).map(\.name) == ["aab"])
        }
    }

    // MARK: Cancelling

    @Test(arguments: StoreKind.allCases)
    func aCancelledFetchStopsAfterFewRows(kind: StoreKind) async throws {
        try await withContacts(kind, contactList(0..<Self.count)) { _, contacts in
            let registered = Shared(0)
            let task = Task {
                try await contacts.perform { context in
                    withUnsafeCurrentTask { $0?.cancel() }
                    defer { registered.value = context.registeredObjectCount }
                    _ = try context.fetch(ContactEntity.self)
                }
            }
            await expectThrows(CancellationError.self) { try await task.value }
            #expect(registered.value < 1000)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aCancelledCountEnds(kind: StoreKind) async throws {
        try await withContacts(kind, contactList(0..<Self.count)) { _, contacts in
            let request = ObjectRequest(ContactEntity.self, where: try FetchPredicate(format: "name CONTAINS[c] 'X'"))
            let task = Task {
                try await contacts.perform { context in
                    #expect(try context.count(request) == 0)
                    withUnsafeCurrentTask { $0?.cancel() }
                    // What takes few rows is still answered, so that work can be ended in order.
                    #expect(try context.first(ContactEntity.self, where: \.uid, equals: "uid-7")?.name == "name 7")
                    _ = try context.count(request)
                }
            }
            await expectThrows(CancellationError.self) { try await task.value }
        }
    }

    @Test func objectsAreNotAskedAfterTheTaskWasCancelled() async throws {
        try await withContacts(.sqlite, contactList(0..<Self.count)) { _, contacts in
            let asked = Shared(0)
            let test = FetchPredicate.cancelling(after: 10, asked)
            let task = Task { try await contacts.perform { try $0.fetch(ContactEntity.self, where: test).count } }
            await expectThrows(CancellationError.self) { try await task.value }
            #expect(asked.value <= 10 + 64)
        }
    }

    @Test func aFetchOnMainIsNotCancelled() async throws {
        try await withContacts(.sqlite, contactList(0..<Self.count)) { _, contacts in
            let task = Task { @MainActor in
                withUnsafeCurrentTask { $0?.cancel() }
                return try contacts.fetch(ContactEntity.self).count
            }
            let found = try await task.value
            #expect(found == Self.count)
        }
    }
}

extension FetchPredicate<ContactEntity> {
    /// Matches no object, counts how many it is asked of, and cancels the task at one of them.
    static func cancelling(after count: Int, _ asked: Shared<Int>) -> FetchPredicate<ContactEntity> {
        FetchPredicate(
            .custom(
                ObjectMatcher("cancels") { _ in
                    asked.value += 1
                    if asked.value == count { withUnsafeCurrentTask { $0?.cancel() } }
                    return false
                }))
    }
}
