import CoreDataSource
import Foundation
import FrameworkNames
import Testing

/// The snippets about queries.
@MainActor
struct QuerySnippets {
    @Test func threeFormsMakeOnePredicate() async throws {
        try await withContacts { _, contacts in
            let typed: FetchPredicate<ContactEntity> = \.age >= 18 && .beginsWith(\.name, "guan", [.caseInsensitive])
            let macro = FetchPredicate<ContactEntity>(#Predicate { $0.age >= 18 && $0.name.starts(with: "Guan") })
            let format = try FetchPredicate<ContactEntity>(format: "age >= %d AND name BEGINSWITH[c] %@", 18, "guan")
            for predicate in [typed, macro, format] {
                #expect(try contacts.fetch(ContactEntity.self, where: predicate).map(\.uid) == ["1"])
            }
        }
    }

    @Test func predicatesAreMadeFromParts() async throws {
        try await withContacts { _, contacts in
            let words = ["Guan", "Yu"]
            let all = words.map { FetchPredicate<ContactEntity>.contains(\.name, $0) }
                .reduce(.all) { $0 && $1 }
            let any = words.map { FetchPredicate<ContactEntity>.contains(\.name, $0) }
                .reduce(!.all) { $0 || $1 }
            let counts = try (
                contacts.count(ContactEntity.self, where: all), contacts.count(ContactEntity.self, where: any)
            )
            #expect(counts == (1, 2))
        }
    }

    @Test func aRequestHasAnOrderALimitAndACursor() async throws {
        try await withContacts { _, contacts in
            var request = ObjectRequest(ContactEntity.self, where: \.age >= 18)
            request.order = [.ascending(\.name, [.caseInsensitive, .numeric])]
            request.limit = 1
            let page = try contacts.fetch(request)
            request.after = page.last.map { FetchCursor($0) }
            let next = try contacts.fetch(request)
            #expect((page + next).map(\.name) == ["Guan Yu", "Zhang Fei"])
        }
    }

    @Test func aPageBeginsAfterTheObjectOfAToken() async throws {
        try await withContacts { _, contacts in
            var request = ObjectRequest(ContactEntity.self, order: [.ascending(\.uid)])
            request.limit = 1
            let page = try contacts.fetch(request)
            let token = try page.last.map { try JSONEncoder().encode($0.objectID) }
            let next = try contacts.fetch(try pageRequest(request, after: try #require(token), contacts))
            #expect((page + next).map(\.uid) == ["1", "2"])
            let last = try #require(page.last?.uid)
            let other = try contacts.fetch(
                ContactEntity.self, where: \.uid > last, order: [.ascending(\.uid)], limit: 1)
            #expect(other == next)
        }
    }

    private func pageRequest(
        _ first: ObjectRequest<ContactEntity>, after token: Data, _ contacts: ContactDataSource
    ) throws -> ObjectRequest<ContactEntity> {
        var request = first
        let id = try JSONDecoder().decode(ManagedObjectID.self, from: token)
        guard let last = try contacts.main.object(ContactEntity.self, id: id) else {
            throw PageExpired()
        }
        request.after = FetchCursor(last)
        return request
    }

    private struct PageExpired: Error {}

    @Test func predicatesGoAlongRelationships() async throws {
        try await withOath { contacts, _ in
            let brothers: FetchPredicate<ContactEntity> = \.group?.name == "Oath"
            let macro = FetchPredicate<ContactEntity>(#Predicate { $0.group?.name == "Oath" })
            let format = try FetchPredicate<ContactEntity>(format: "group.name == %@", "Oath")
            let large: FetchPredicate<GroupEntity> = \.members.count > 1 && .any(\.members, \.age > 30)
            for predicate in [brothers, macro, format] {
                #expect(try contacts.main.count(ContactEntity.self, where: predicate) == 2)
            }
            #expect(try contacts.main.count(GroupEntity.self, where: large) == 1)
        }
    }

    @Test func sumsAreCalculated() async throws {
        try await withContacts { container, contacts in
            let (count, oldest) = try contacts.main.aggregate(ObjectRequest<ContactEntity>(), .count(), .max(\.age))
            let grown = ObjectRequest<ContactEntity>(where: \.age >= 18)
            for (group, count) in try contacts.main.aggregate(grown, groupBy: \.group?.name, .count()) {
                print(group ?? "none", count)
            }
            for (group, (count, oldest)) in try contacts.main.aggregate(
                grown, groupBy: \.group?.name, .count(), .max(\.age))
            {
                print(group ?? "none", count, oldest ?? 0)
            }
            let names = try contacts.main.values(grown, \.uid, \.name)
            #expect(count == 3 && oldest == 32 && names.map(\.0) == ["1", "2"])
        }
    }

    /// The compiler finds the types in a call with an order only if no other initializer takes a predicate.
    @Test func thePartsOfAnInnerPredicateNeedNoClass() async throws {
        try await withContacts { container, _ in
            let grown = ObjectRequest(
                GroupEntity.self, where: .any(\.members, \.age > 30 && \.age < 60), order: [.ascending(\.name)],
                limit: 50)
            #expect(
                try container.main.fetch(
                    GroupEntity.self, where: .any(\.members, \.age > 30 && \.phone != nil),
                    order: [.descending(\.name)],
                    limit: 50
                ).count <= 3)
            let young: FetchPredicate<GroupEntity> = .any(\.members, \.age > 0 && \.age < 3)
            let found = try container.main.fetch(grown).count
            let count = try container.main.count(GroupEntity.self, where: young)
            #expect(found <= 3 && count == 0)
        }
    }

    @Test func groupsHaveTheIDsOfRelatedObjects() async throws {
        try await withContacts { container, contacts in
            let counts = try contacts.main.aggregate(
                ObjectRequest<ContactEntity>(), groupBy: \.group, .count())
            let ungrouped = counts.first { $0.key == nil }?.values ?? 0
            #expect(ungrouped + counts.filter { $0.key != nil }.map(\.values).reduce(0, +) == 3)
            let context = container.main
            let again = try { () throws -> Int in
                let counts = try context.aggregate(
                    ObjectRequest<ContactEntity>(), groupBy: \.group, .count())
                let ungrouped = counts.first { $0.key == nil }?.values ?? 0
                return ungrouped
            }()
            #expect(again == ungrouped)
            for (contact, count) in try context.aggregate(
                ObjectRequest<GroupEntity>(), groupBy: \.members, .count())
            {
                print(contact, count)
            }
            let grown = ObjectRequest<ContactEntity>(where: \.age >= 18)
            // The sums and counts of no objects are not nil.
            let nobody = ObjectRequest<ContactEntity>(where: \.age > 1000)
            let (number, years): (Int, Int64) = try context.aggregate(nobody, .count(), .sum(\.age))
            #expect(number == 0 && years == 0)
            let oldest: Int32? = try contacts.main.aggregate(grown, .max(\.age))
            #expect(oldest == 32)
            let none: Int32? = try context.aggregate(nobody, .max(\.age))
            #expect(none == nil)
        }
    }

    @Test func manyRowsAreChangedInOneSave() async throws {
        try await withContacts { _, contacts in
            try await contacts.update(ContactEntity.self, where: \.age >= 30, set: [.set(\.isFavorite, true)])
            let report = try await contacts.delete(
                ContactEntity.self, where: !\.isFavorite)
            print("\(report.deleted) deleted")
            #expect(report.deleted > 0)
            #expect(try contacts.fetch(ContactEntity.self).map(\.name) == ["Guan Yu"])
        }
    }

    @Test func aRequestIsExplained() async throws {
        try await withContacts { container, contacts in
            let explanation = try container.main.explain(ObjectRequest(ContactEntity.self, where: \.phone == "110"))
            for warning in explanation.warnings { print(warning) }
            for diagnostic in contacts.diagnostics { print(diagnostic) }
            #expect(!explanation.steps.isEmpty)
        }
    }

    /// What the table of the three forms says about the macro.
    @Test func theMacroAsksTheObjectsForRegularExpressions() async throws {
        try await withContacts { _, contacts in
            let macro = FetchPredicate<ContactEntity>(#Predicate { $0.name.contains(/^Guan/) && $0.age >= 18 })
            #expect(macro.needsObjects != nil)
            let found = try contacts.fetch(ContactEntity.self, where: macro)
            #expect(found.map(\.uid) == ["1"])
        }
    }
}
