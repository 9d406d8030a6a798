import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

/// Older answers that the rules of a load refuse.
extension ScopeLaterAnswerTests {
    /// Loads all contacts, of which at most a fifth may be deleted. The answer to the first request is older than the list of the
    /// first two contacts, and would delete both.
    ///
    /// - Parameters:
    ///   - theirs: Loads the list of the first two contacts during the request.
    ///   - isNewest: Whether the answer to the request with the given number is newer than the list.
    /// - Returns: The number of requests.
    private func loadWithALimit(
        _ mine: ContactDataSource, beside theirs: ContactDataSource, _ place: ScopePlace, isConfirmed: Bool,
        _ isNewest: @escaping @Sendable (Int) -> Bool
    ) async throws -> Int {
        try await theirs.load(Self.some, maxAge: .zero) { _ in .list(Self.list(0..<2, 0), entityTag: "0") }
        let requests = Shared(0)
        do {
            try await mine.load(.contacts, maxAge: .zero, deleting: .atMost(0.2)) { _ in
                requests.update { $0 += 1 }
                if isNewest(requests.value) { return .list(Self.list(0..<3, 0)) }
                place.pass(1)
                try await theirs.load(Self.some, maxAge: .zero) { _ in
                    if isConfirmed { return .notModified }
                    return .list(Self.list(0..<2, 0), entityTag: "1")
                }
                return .list(Self.list([2], 0))
            }
        } catch let error as DataSourceError where error.code == .tooManyDeletions {}
        return requests.value
    }

    /// The limit of deletions is for answers that may be stored.
    @Test(
        arguments: ScopeStoreKind.allCases.map { ($0, false) } + ScopeStoreKind.shared.map { ($0, true) },
        [true, false])
    func theLimitOfDeletionsEndsNoLoadWhoseAnswerIsOlder(
        _ store: (kind: ScopeStoreKind, isOfOtherMember: Bool), isConfirmed: Bool
    ) async throws {
        let isOfOtherMember = store.isOfOtherMember
        try await withScopes(store.kind) { mine, place in
            let other = isOfOtherMember ? try place.open() : nil
            let theirs = try other?.dataSource(ContactDataSource.self) ?? mine
            let count = try await loadWithALimit(mine, beside: theirs, place, isConfirmed: isConfirmed) { $0 > 1 }
            #expect(count == 2)
            #expect(try mine.uids() == ["uid-0", "uid-1", "uid-2"])
            #expect(try mine.freshness(of: .contacts).failureCount == 0)
            try await other?.close()
        }
    }

    /// The app gets the error of the rule, and not that the answer came too late.
    @Test(arguments: [true, false])
    func theThirdRequestThrowsTheErrorOfTheRule(isConfirmed: Bool) async throws {
        try await withScopes { contacts, place in
            let count = try await loadWithALimit(contacts, beside: contacts, place, isConfirmed: isConfirmed) { _ in
                false
            }
            #expect(count == 3)
            #expect(try contacts.uids() == ["uid-0", "uid-1"])
            let found = try contacts.freshness(of: .contacts)
            #expect(found.failureCount == 1 && found.lastFailure == "tooManyDeletions")
        }
    }

    /// A list that lacks all objects is an error, unless it is older than another answer.
    @Test func anEmptyListThatIsOlderEndsNoLoad() async throws {
        try await withScopes { contacts, place in
            try await contacts.add(Self.list(0..<2, 0))
            let requests = Shared(0)
            try await contacts.load(.contacts, maxAge: .zero) { _ in
                requests.update { $0 += 1 }
                if requests.value > 1 { return .list(Self.list(0..<2, 1)) }
                place.pass(1)
                _ = try await contacts.value(
                    where: \.uid, equals: "uid-0", as: ContactValue.self, maxAge: .zero
                ) { ContactData(uid: $0, name: "0") }
                return .list([])
            }
            #expect(requests.value == 2)
            #expect(try names(contacts) == ["uid-0": "1", "uid-1": "1"])
        }
    }
}
