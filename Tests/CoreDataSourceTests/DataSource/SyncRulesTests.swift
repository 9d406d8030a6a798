import CoreDataSource
import ErrorExpectations
import Testing

/// What a sync may do, and what its report says of the rest.
@MainActor @Suite struct SyncRulesTests {
    private func withTen(_ body: @MainActor (ContactDataSource) async throws -> Void) async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<10))
            try await body(contacts)
        }
    }

    @Test func moreDeletionsThanAllowedAreAnErrorThatChangesNothing() async throws {
        try await withTen { contacts in
            let list = contactList(0..<7) { "new \($0)" }
            let error = await expectError(.tooManyDeletions) {
                try await contacts.sync(list, entity: ContactEntity.self, deleting: .atMost(0.2))
            }
            #expect(error?.message.contains("3 of 10 objects") == true)
            #expect(try contacts.count(ContactEntity.self, where: .beginsWith(\.name, "new")) == 0)
            await expectError(.tooManyDeletions) {
                try await contacts.sync(list, entity: ContactEntity.self, deleting: .atMost(.nan))
            }
            let report = try await contacts.sync(list, entity: ContactEntity.self, deleting: .atMost(0.3))
            #expect(report.deleted == 3 && report.updated == 7)
        }
    }

    @Test func theErrorNamesTheFirstDeletionsAndAPlanAllOfThem() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.sync(contactList(0..<60), entity: ContactEntity.self)
            let error = await expectError(.tooManyDeletions) {
                try await contacts.planSync(contactList(57..<62), entity: ContactEntity.self)
            }
            let message = try #require(error?.message)
            let named = message.matches(of: /ContactEntity\/\d+/).map { String($0.0) }
            #expect(named.count == 3)
            #expect(message.contains("\(named.joined(separator: ", ")) and 54 more. For all ids, call planSync"))
            let plan = try await contacts.planSync(
                contactList(57..<62), entity: ContactEntity.self, deleting: .all, options: .reportsIDs)
            #expect(plan.inserted == 2 && plan.deleted == 57)
            let deleted = try #require(plan.ids?.deleted)
            #expect(deleted.count == 57 && Set(deleted.map { "\($0)" }).isSuperset(of: named))
            #expect(try contacts.count(ContactEntity.self) == 60)
            let few = await expectError(.tooManyDeletions) {
                try await contacts.planSync(contactList(0..<59), entity: ContactEntity.self, deleting: .atMost(0))
            }
            #expect(few?.message.firstMatch(of: /It would delete ContactEntity\/\d+\. For all ids/) != nil)
        }
    }

    /// A list without a scope that lacks most objects is mostly one page of many.
    @Test func aListThatLacksMostObjectsIsRefused() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.sync(contactList(0..<100), entity: ContactEntity.self)
            let page = contactList(60..<70) { "new \($0)" } + contactList(70..<110)
            let error = await expectError(.tooManyDeletions) {
                try await contacts.sync(page, entity: ContactEntity.self)
            }
            #expect(
                error?.message.prefix { $0 != "/" }
                    == "The list lacks 60 of 100 objects of ContactEntity in scope, which is more than half. If the list has only a part of the objects, pass a scope or `deleting: .none`. To delete the objects, pass `deleting: .all`. The sync would insert 10, update 10 and leave 30 unchanged. It would delete ContactEntity"
            )
            await expectError(.tooManyDeletions) { try await contacts.planSync(page, entity: ContactEntity.self) }
            #expect(try contacts.count(ContactEntity.self) == 100)
            // Half of all, a list with a scope, and a few objects are deleted.
            let half = try await contacts.sync(contactList(50..<100), entity: ContactEntity.self)
            #expect(half.deleted == 50)
            let scoped = try await contacts.sync(
                contactList(50..<53), entity: ContactEntity.self, scope: .isIn(\.uid, (50..<80).map { "uid-\($0)" }))
            #expect(scoped.deleted == 27)
            let few = try await contacts.sync(contactList(50..<56), entity: ContactEntity.self)
            #expect(few.deleted == 20)
            let report = try await contacts.sync(
                contactList(50..<51), entity: ContactEntity.self, deleting: .all)
            #expect(report.deleted == 5 && report.inserted == 0)
            // An empty list that is allowed is meant.
            try await contacts.add(contactList(0..<100))
            let empty = try await contacts.sync([], entity: ContactEntity.self, options: .allowsEmpty)
            #expect(empty.deleted == 100)
        }
    }

    /// The default refuses more than 20 deletions if they are more than half, and neither 20 nor half.
    @Test(
        arguments: [
            (missing: 50, count: 100, isAllowed: true), (51, 100, false), (50, 101, true), (51, 101, false),
            (21, 42, true), (21, 41, false), (21, 40, false), (21, 22, false), (20, 41, true), (20, 40, true),
        ] + (21...39).map { (20, $0, true) })
    func theDefaultRefusesMoreThanHalfAndMoreThanTwenty(missing: Int, count: Int, isAllowed: Bool) async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.sync(contactList(0..<count), entity: ContactEntity.self)
            let rest = contactList(missing..<count)
            guard !isAllowed else {
                let report = try await contacts.sync(rest, entity: ContactEntity.self)
                #expect(report.deleted == missing && report.unchanged == count - missing)
                #expect(try contacts.count(ContactEntity.self) == count - missing)
                return
            }
            let error = await expectError(.tooManyDeletions) {
                try await contacts.sync(rest, entity: ContactEntity.self)
            }
            let message = try #require(error?.message)
            #expect(message.hasPrefix("The list lacks \(missing) of \(count) objects of ContactEntity in scope, "))
            #expect(message.contains("insert 0, update 0 and leave \(count - missing) unchanged. It would delete "))
            #expect(message.contains(" and \(missing - 3) more. For all ids, call planSync with deleting: .all"))
            #expect(try contacts.count(ContactEntity.self) == count)
        }
    }

    @Test func aSyncThatMayNotDeleteKeepsWhatTheListLacks() async throws {
        try await withTen { contacts in
            let list = contactList(8..<12)
            for rules in [(SyncDeletion.none, SyncOperations.all), (.all, [.insert, .update])] {
                let report = try await contacts.sync(
                    list, entity: ContactEntity.self, deleting: rules.0, operations: rules.1)
                #expect(report.deleted == 0 && report.kept == 8)
            }
            #expect(try contacts.count(ContactEntity.self) == 12)
            // An empty list can do no harm then.
            let empty = try await contacts.sync([], entity: ContactEntity.self, deleting: .none)
            #expect(empty.kept == 12)
        }
    }

    @Test func operationsThatAreNotAllowedAreSkipped() async throws {
        try await withTen { contacts in
            let list = contactList(5..<15) { "new \($0)" }
            let inserts = try await contacts.sync(list, entity: ContactEntity.self, operations: .insert)
            #expect(inserts.inserted == 5 && inserts.updated == 0 && inserts.skipped == 5 && inserts.kept == 5)
            #expect(try contacts.main.first(ContactEntity.self, where: \.uid == "uid-7")?.name == "name 7")
            let updates = try await contacts.sync(
                contactList(10..<20) { "newer \($0)" }, entity: ContactEntity.self, operations: [.update, .delete])
            #expect(updates.inserted == 0 && updates.updated == 5 && updates.skipped == 5 && updates.deleted == 10)
            #expect(
                try contacts.fetch(ContactEntity.self, order: [.ascending(\.uid)]).map(\.name)
                    == (10..<15).map { "newer \($0)" })
            // What was skipped left nothing behind that a later look-up would find.
            try await contacts.add(contactList(15..<16))
            #expect(try contacts.count(ContactEntity.self) == 6)
        }
    }

    @Test func aListWithIgnoredValuesDeletesNothingUnlessItMay() async throws {
        try await withTen { contacts in
            let list: [any Sendable] = contactList(0..<5) + [7]
            let kept = try await contacts.sync(list, entity: ContactEntity.self)
            #expect(kept.ignored == 1 && kept.kept == 5 && kept.deleted == 0)
            let swept = try await contacts.sync(list, entity: ContactEntity.self, options: .allowsIgnoredValues)
            #expect(swept.deleted == 5)
        }
    }

    @Test func aReportNamesTheObjectsIfAsked() async throws {
        try await withTen { contacts in
            // It sets the flags of those that are in the list.
            try await contacts.sync(contactList(0..<10), entity: ContactEntity.self)
            let list = contactList(2..<12) { $0 == 4 ? "new" : "name \($0)" }
            let plan = try await contacts.planSync(list, entity: ContactEntity.self)
            #expect(plan.ids == nil)
            let report = try await contacts.sync(list, entity: ContactEntity.self, options: .reportsIDs)
            let ids = try #require(report.ids)
            #expect(ids.inserted.count == 2 && ids.updated.count == 1 && ids.deleted.count == 2)
            #expect(try contacts.main.object(ContactEntity.self, id: ids.updated[0])?.name == "new")
            #expect(
                try contacts.main.objects(ContactEntity.self, ids: ids.inserted).map(\.uid) == ["uid-10", "uid-11"])
            #expect(try contacts.main.objects(ContactEntity.self, ids: ids.deleted).isEmpty)
        }
    }
}
