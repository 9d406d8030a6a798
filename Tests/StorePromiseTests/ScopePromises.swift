import Foundation
import JSONFolderStore
import RowStore
import StoreTestModel
import TestSupport
import Testing

/// What a store that keeps scopes promises.
struct ScopePromises {
    private func set(
        _ event: ScopeChange.Event, _ rows: ChangeSet = ChangeSet(entities: []), predicate: String = "",
        since version: Int64? = nil
    ) -> ChangeSet {
        var set = rows
        var change = ScopeChange(
            name: "list", entity: TestModel.layout.entities[TestModel.item].name, predicate: predicate,
            requestedAt: Date(timeIntervalSinceReferenceDate: 1), event)
        change.changesSince = version
        set.scopes.append(change)
        return set
    }

    private func scope(_ store: any PersistentStore) throws -> StoredScope? {
        try store.read(.statement) { (reader) throws(DataSourceError) in
            try (reader as? any ScopeReader)?.scope(named: "list")
        }
    }

    private func item(_ key: Int64) -> StoredRow { StoredRow(key: key, row: TestModel.row(code: "\(key)")) }

    @Test(arguments: TestedStore.all)
    func aStoreKeepsScopes(kind: TestedStore) throws {
        try kind.withStore { store in
            #expect(store is any ScopeStore)
            #expect(try scope(store) == nil)
            try store.write([set(.loaded(entityTag: "1", cursor: "c", isComplete: true), .of(insert: [item(1)]))])
            let loaded = try #require(try scope(store))
            #expect(loaded.entityTag == "1" && loaded.cursor == "c" && loaded.isComplete)
            let end = Date(timeIntervalSinceReferenceDate: 9)
            try store.write([set(.failed("why", at: end, retryAt: end + 1))])
            let failed = try #require(try scope(store))
            #expect(failed.failureCount == 1 && failed.failure == "why" && failed.entityTag == "1")
            #expect(failed.failedAt == end && failed.retryAt == end + 1)
            try store.write([set(.notModified(since: loaded.version))])
            let confirmed = try #require(try scope(store))
            #expect(confirmed.failureCount == 0 && confirmed.entityTag == "1")
            // The rows no longer show the list of the tag.
            try store.write([.of(delete: [item(1)])])
            #expect(try scope(store)?.entityTag == nil && scope(store)?.isComplete == true)
            try store.write([set(.notModified(since: confirmed.version))])
            #expect(try scope(store)?.answer == confirmed.answer)
            _ = try store.reset()
            #expect(try scope(store) == nil)
        }
    }

    /// The answer has only changes, so it may lack objects that were deleted since the version.
    @Test(arguments: TestedStore.all)
    func changesSinceAnotherVersionAreStoredWithoutTheirTagAndCursor(kind: TestedStore) throws {
        let answer = ScopeChange.Event.loaded(entityTag: "2", cursor: "d", isComplete: true)
        try kind.withStore { store in
            /// Writes saves, and returns the scope. The answer of the last save must be stored.
            func write(_ sets: ChangeSet...) throws -> StoredScope {
                try store.write(sets)
                let stored = try #require(try scope(store))
                #expect(stored.answer == sets.last?.scopes.last?.number && stored.version == stored.answer)
                #expect(stored.requestedAt == Date(timeIntervalSinceReferenceDate: 1) && stored.isComplete)
                #expect(stored.failureCount == 0 && stored.failure == nil && stored.retryAt == nil)
                return stored
            }
            let first = try write(set(answer, .of(insert: [item(1), item(2), item(3)])))
            // Failures do not change the version.
            let end = Date(timeIntervalSinceReferenceDate: 9)
            try store.write([set(.failed("why", at: end, retryAt: end + 1))])
            // The deletions of the same save belong to the answer.
            let second = try write(set(answer, .of(delete: [item(1)]), since: first.version))
            #expect(second.entityTag == "2" && second.cursor == "d")
            try store.write([.of(delete: [item(2)])])
            let third = try write(set(answer, since: second.version))
            #expect(third.entityTag == nil && third.cursor == nil)
            // A whole list does not depend on the version.
            let fourth = try write(set(answer))
            #expect(fourth.entityTag == "2" && fourth.cursor == "d")
            // One commit writes the deletion and the answer.
            let fifth = try write(.of(delete: [item(3)]), set(answer, since: fourth.version))
            #expect(fifth.entityTag == nil && fifth.cursor == nil)
            let sixth = try write(set(answer))
            let seventh = try write(set(answer, predicate: "x", since: sixth.version))
            #expect(seventh.predicate == "x" && seventh.entityTag == nil && seventh.cursor == nil)
            try store.write([set(.forgotten, predicate: "x")])
            let last = try write(set(answer, predicate: "x", since: seventh.version))
            #expect(last.entityTag == nil && last.cursor == nil)
        }
    }

    /// A change that forgets a scope concerns all versions of the mapping, but no predicate that only begins like a version.
    @Test(arguments: TestedStore.all)
    func aScopeIsForgottenInAllVersionsOfTheMapping(kind: TestedStore) throws {
        let forgotten = ["x", "mapping 3: x", "mapping -12: x"]
        let kept = ["y", "mapping 3: y", "mapping 3a: x", "mapping : x", "mapping == \"3: x"]
        try kind.withStore { store in
            for predicate in forgotten + kept {
                try store.write([set(.loaded(entityTag: "1", cursor: nil, isComplete: true), predicate: predicate)])
                try store.write([set(.forgotten, predicate: "x")])
                let isKept = try scope(store) != nil
                #expect(isKept == kept.contains(predicate), "\(predicate)")
            }
        }
    }

    /// The number of the last row is not used again, not even after the store has forgotten this row.
    @Test(arguments: TestedStore.all)
    func positionsShowWhichAnswersWereStoredLater(kind: TestedStore) throws {
        func write(_ name: String, _ event: ScopeChange.Event, in store: any PersistentStore) throws {
            var set = ChangeSet(entities: [])
            set.scopes.append(
                ScopeChange(
                    name: name, entity: TestModel.layout.entities[TestModel.item].name, predicate: "",
                    requestedAt: Date(timeIntervalSinceReferenceDate: 1), event))
            try store.write([set])
        }
        func position(_ store: any PersistentStore) throws -> Int64? {
            try store.read(.statement) { (reader) throws(DataSourceError) in
                try (reader as? any RequestReader)?.lastAnswerPosition()
            }
        }
        func names(_ store: any PersistentStore, after position: Int64) throws -> [String]? {
            let start = Date(timeIntervalSinceReferenceDate: 0)
            return try store.read(.statement) { (reader) throws(DataSourceError) in
                try (reader as? any RequestReader)?.scopes(after: position, requestedSince: start, listsSince: start)
            }?.map(\.name).sorted()
        }
        let answer = ScopeChange.Event.loaded(entityTag: "1", cursor: nil, isComplete: true)
        try kind.withStore { store in
            // Only some stores can be shared.
            guard let start = try position(store) else { return }
            try write("a", answer, in: store)
            let first = try #require(try position(store))
            try write("b", answer, in: store)
            #expect(try names(store, after: start) == ["a", "b"] && names(store, after: first) == ["b"])
            let second = try #require(try position(store))
            let now = Date(timeIntervalSinceReferenceDate: 2)
            for name in ["a", "c"] { try write(name, .failed("why", at: now, retryAt: now), in: store) }
            #expect(try names(store, after: second) == [] && names(store, after: first) == ["b"])
            for name in ["c", "b"] { try write(name, .forgotten, in: store) }
            try write("d", answer, in: store)
            #expect(try names(store, after: second) == ["d"])
            let third = try #require(try position(store))
            for name in ["a", "d"] { try write(name, .forgotten, in: store) }
            for name in ["e", "f", "e"] { try write(name, answer, in: store) }
            #expect(try names(store, after: third) == ["e", "f"] && names(store, after: start) == ["e", "f"])
        }
    }

    @Test(arguments: TestedStore.all)
    func aRefusedSaveChangesNoScope(kind: TestedStore) throws {
        try kind.withStore { store in
            try store.write([.of(insert: [item(1)])])
            let twice = StoredRow(key: 2, row: TestModel.row(code: "1"))
            let outcome = try store.commit(
                [set(.loaded(entityTag: "1", cursor: nil, isComplete: true), .of(insert: [twice]))])
            #expect(outcome.refused.count == 1)
            #expect(try scope(store) == nil)
        }
    }

    @Test(arguments: TestedStore.persistent)
    func scopesAreThereWhenTheStoreIsOpenedAgain(kind: TestedStore) throws {
        let place = try kind.makePlace()
        var store = try place.open()
        try store.write([set(.loaded(entityTag: "1", cursor: "c", isComplete: true), .of(insert: [item(1)]))])
        let written = try scope(store)
        store.close()
        store = try place.open()
        #expect(try scope(store) == written && written != nil)
        store.close()
        try place.verify()
    }
}
