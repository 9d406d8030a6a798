import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

/// Answers of several members of a shared store.
extension ScopeLaterAnswerTests {
    /// Opens a shared store twice. One clock serves both members.
    private func withMembers(
        _ kind: ScopeStoreKind,
        _ body: @MainActor (_ mine: ContactDataSource, _ theirs: ContactDataSource, ScopePlace) async throws -> Void
    ) async throws {
        let place = try ScopePlace(kind)
        let (one, other) = (try place.open(), try place.open())
        try await body(try one.dataSource(ContactDataSource.self), try other.dataSource(ContactDataSource.self), place)
        try await one.close()
        try await other.close()
    }

    @Test(arguments: ScopeStoreKind.shared)
    func aLaterAnswerOfAnotherProcessStays(_ kind: ScopeStoreKind) async throws {
        try await withMembers(kind) { mine, theirs, place in
            try await mine.add(Self.list(0..<3, 0))
            let updated = try await load(mine, place, first: [0, 1, 2]) {
                try await theirs.load(Self.some, maxAge: .zero) { _ in .list(Self.list(0..<2, 2)) }
            }
            #expect(updated == 2)
            let deleted = try await load(mine, place, first: [0, 1, 2]) {
                try await theirs.load(Self.some, maxAge: .zero, deleting: .all) { _ in .gone }
            }
            #expect(deleted == 2)
            // What the other process saves without a request may be an answer, but it cannot end the load.
            place.pass(1)
            let count = Shared(0)
            try await mine.load(.contacts, maxAge: .zero) { _ in
                count.update { $0 += 1 }
                try await theirs.add(Self.list(0..<2, 10 + count.value))
                return .list(Self.list(0..<3, 20))
            }
            #expect(count.value == 3)
            #expect(try names(mine) == ["uid-0": "20", "uid-1": "20", "uid-2": "20"])
        }
    }

    /// After this process has confirmed the list, the store does not say that the other process had stored the list.
    @Test(arguments: ScopeStoreKind.shared)
    func aListOfAnotherProcessThatThisOneConfirmsStays(_ kind: ScopeStoreKind) async throws {
        try await withMembers(kind) { mine, theirs, place in
            let count = Shared(0)
            await expectError(.scopeChanged) {
                try await mine.load(.contacts, maxAge: .zero) { _ in
                    count.update { $0 += 1 }
                    let newest = 10 + count.value
                    place.pass(1)
                    try await theirs.load(Self.some, maxAge: .zero) { _ in
                        .list(Self.list(0..<2, newest), entityTag: "\(newest)")
                    }
                    try await mine.load(Self.some, maxAge: .zero) { _ in .notModified }
                    return .list(Self.list(0..<3, 1))
                }
            }
            let freshness = try mine.freshness(of: Self.some)
            #expect(count.value == 3 && freshness.entityTag == "13")
            #expect(try names(mine) == ["uid-0": "13", "uid-1": "13"])
        }
    }

    /// The feed of the other process does not say that the object is missing in its list.
    @Test(arguments: ScopeStoreKind.shared)
    func objectsThatALaterListOfAnotherProcessLacksAreNotAdded(_ kind: ScopeStoreKind) async throws {
        try await withMembers(kind) { mine, theirs, place in
            let requests = Shared(0)
            let found = try await mine.value(where: \.uid, equals: "uid-0", as: ContactValue.self) {
                requests.update { $0 += 1 }
                guard requests.value == 1 else { return nil }
                place.pass(1)
                try await theirs.load(.contacts, maxAge: .zero) { _ in .list(Self.list([1], 2)) }
                return ContactData(uid: $0, name: "1")
            }
            #expect(found == nil && requests.value == 2)
            #expect(try mine.uids() == ["uid-1"])
        }
    }

    /// The feed of the other process does not say which objects its list has with the values that are stored.
    @Test(arguments: ScopeStoreKind.shared, [[0, 1, 2], [1, 2]])
    func objectsOfALaterListOfAnotherProcessStay(_ kind: ScopeStoreKind, _ first: [Int]) async throws {
        try await withMembers(kind) { mine, theirs, place in
            // The list sets `syncFlag`, so the later list changes no value.
            try await mine.load(.contacts, maxAge: .zero) { _ in .list(Self.list(0..<3, 0)) }
            let count = try await load(mine, place, first: first) {
                try await theirs.load(Self.some, maxAge: .zero) { _ in .list(Self.list(0..<2, 0)) }
            }
            #expect(count == 2)
        }
    }

    /// Loads all contacts. During the first request, another process stores the first page of a list.
    ///
    /// - Parameters:
    ///   - first: The uids in the older answer.
    ///   - scope: The scope of the list.
    ///   - listed: The page.
    /// - Returns: The number of requests, and the names after the load. The second page was not stored yet.
    private func load(
        _ mine: ContactDataSource, _ place: ScopePlace, first: [Int], besidePageOf theirs: ContactDataSource,
        of scope: SyncScope<ContactEntity> = some, _ listed: [ContactData] = list([1], 0)
    ) async throws -> (count: Int, names: [String: String]) {
        let (page, answer) = (Signal(), Signal())
        let later = Shared<Task<ScopeFreshness, any Error>?>(nil)
        let count = try await load(mine, place, first: first) {
            later.value = Task {
                defer { page.send() }
                return try await theirs.load(scope, maxAge: .zero, deleting: .all) { request in
                    if request.page == 0 { return .page(listed, next: "a") }
                    page.send()
                    await answer.wait()
                    return .page(Self.list([0], 0), next: nil)
                }
            }
            await page.wait()
        }
        let found = try names(mine)
        answer.send()
        _ = try? await later.value?.value
        return (count, found)
    }

    /// The page changes no value, so the feed of the other process has no row. The older answer deletes or edits the object.
    @Test(arguments: ScopeStoreKind.shared, [[0, 2], [0, 1, 2]])
    func objectsOfALaterPageOfAnotherProcessStay(_ kind: ScopeStoreKind, _ first: [Int]) async throws {
        try await withMembers(kind) { mine, theirs, place in
            try await mine.load(.contacts, maxAge: .zero) { _ in .list(Self.list(0..<3, 0)) }
            let found = try await load(mine, place, first: first, besidePageOf: theirs)
            #expect(found.count == 2)
            #expect(found.names == ["uid-0": "3", "uid-1": "3", "uid-2": "3"])
        }
    }

    /// Other pages of the list may have the object that the stored page lacks.
    @Test(arguments: ScopeStoreKind.shared)
    func aPageOfAnotherProcessRefusesNoNewObject(_ kind: ScopeStoreKind) async throws {
        try await withMembers(kind) { mine, theirs, place in
            let found = try await load(mine, place, first: [0], besidePageOf: theirs)
            #expect(found.count == 1)
            #expect(found.names == ["uid-0": "1", "uid-1": "0"])
        }
    }

    /// Other pages of the list may have the objects that the answer brings into the list.
    @Test(arguments: ScopeStoreKind.shared)
    func aPageOfAnotherProcessRefusesNoObjectThatComesIntoItsList(_ kind: ScopeStoreKind) async throws {
        try await withMembers(kind) { mine, theirs, place in
            try await mine.load(.contacts, maxAge: .zero) { _ in .list(Self.list(0..<3, 0)) }
            let named = SyncScope("named", ContactEntity.self, where: \.name >= "1")
            let found = try await load(
                mine, place, first: [0, 1, 2], besidePageOf: theirs, of: named, Self.list([5], 1))
            #expect(found.count == 1)
            #expect(found.names == ["uid-0": "1", "uid-1": "1", "uid-2": "1", "uid-5": "1"])
        }
    }

    /// The answer to the later request comes second, but is the older one.
    @Test(arguments: ScopeStoreKind.shared)
    func aLaterRequestOfAnotherProcessAddsNoObjectThatAListLacks(_ kind: ScopeStoreKind) async throws {
        try await withMembers(kind) { mine, theirs, place in
            let (requests, began, stored) = (Shared(0), Signal(), Signal())
            let later = Shared<Task<ScopeFreshness, any Error>?>(nil)
            try await mine.load(.contacts, maxAge: .zero) { _ in
                place.pass(1)
                later.value = Task {
                    defer { began.send() }
                    return try await theirs.load(Self.some, maxAge: .zero) { _ in
                        requests.update { $0 += 1 }
                        began.send()
                        await stored.wait()
                        return .list(requests.value == 1 ? Self.list(0..<1, 1) : [])
                    }
                }
                await began.wait()
                return .list(Self.list([5], 2), entityTag: "2")
            }
            stored.send()
            _ = try await later.value?.value
            #expect(requests.value == 2)
            #expect(try mine.uids() == ["uid-5"])
        }
    }

    /// Only answers that are stored during a request count as later, whatever the other clock says.
    @Test(arguments: ScopeStoreKind.shared)
    func aClockThatIsAheadRefusesNoAnswer(_ kind: ScopeStoreKind) async throws {
        try await withMembers(kind) { mine, theirs, place in
            place.pass(3_600)
            try await theirs.load(Self.some, maxAge: .zero) { _ in .list(Self.list(0..<2, 0)) }
            place.pass(-3_600)
            #expect(try await load(mine, place, first: [0, 2]) {} == 1)
            let found = try await mine.value(where: \.uid, equals: "uid-1", as: ContactValue.self) {
                ContactData(uid: $0, name: "1")
            }
            #expect(found?.name == "1")
        }
    }

    /// A list that is not modified is as new as a list with all its objects.
    @Test(arguments: ScopeStoreKind.allCases.map { ($0, false) } + ScopeStoreKind.shared.map { ($0, true) })
    func objectsOfAListThatIsNotModifiedStay(_ kind: ScopeStoreKind, _ isOfOtherMember: Bool) async throws {
        try await withScopes(kind) { mine, place in
            let other = isOfOtherMember ? try place.open() : nil
            let theirs = try other?.dataSource(ContactDataSource.self) ?? mine
            try await theirs.load(Self.some, maxAge: .zero) { _ in .list(Self.list(0..<2, 0), entityTag: "0") }
            let count = try await load(mine, place, first: [0, 1, 2]) {
                try await theirs.load(Self.some, maxAge: .zero) { _ in .notModified }
            }
            #expect(count == 2)
            #expect(try names(mine) == ["uid-0": "3", "uid-1": "3", "uid-2": "3"])
            try await other?.close()
        }
    }
}
