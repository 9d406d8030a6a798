import CoreDataSource
import ErrorExpectations
import Foundation
import FrameworkNames
import TestSupport
import Testing

/// The differences in the article on Core Data. Each row of its table names its test, here or in another suite.
struct CoreDataArticleTests {
    /// The suite and the function that each row names.
    private static let named: Result<[(suite: String, function: String)], any Error> = Result {
        let page = PackageFiles.root.appending(
            path: "Sources/CoreDataSource/CoreDataSource.docc/ComingFromCoreData.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let table = try #require(text.components(separatedBy: "| The difference | The test |\n|---|---|\n").last)
        return try table.components(separatedBy: "\n\n")[0].split(separator: "\n").map { row in
            let match = try #require(row.firstMatch(of: /\| `(\w+)\.(\w+)` \|$/), "This row names no test: \(row)")
            return (String(match.output.1), String(match.output.2))
        }
    }

    @Test func theTestOfEachRowIsThere() throws {
        let files = FileManager.default.enumerator(at: PackageFiles.tests, includingPropertiesForKeys: nil)
        let sources = try (files?.allObjects ?? []).compactMap { $0 as? URL }
            .filter { $0.pathExtension == "swift" && !$0.path.contains("/.build/") }
            .map { try String(contentsOf: $0, encoding: .utf8) }
        let named = try Self.named.get()
        #expect(named.count > 20)
        for (suite, function) in named {
            let test = try Regex("@Test[^{]*func \(function)\\(")
            #expect(
                sources.contains { $0.contains("struct \(suite)") && $0.contains(test) }, "\(suite).\(function)")
        }
    }

    /// Each test of ``CoreDataDifferenceTests`` shows a difference that the page has.
    @Test func eachTestOfADifferenceHasItsRow() throws {
        let file = PackageFiles.tests.appending(path: "DocumentationTests/CoreDataDifferenceTests.swift")
        let text = try String(contentsOf: file, encoding: .utf8)
        let suite = try #require(text.components(separatedBy: "\nstruct CoreDataDifferenceTests {").last)
        let functions = suite.matches(of: /\n    @Test[^{]*?func (\w+)\(/).map { String($0.output.1) }
        #expect(functions.count > 10)
        let named = try Self.named.get().filter { $0.suite == "CoreDataDifferenceTests" }.map(\.function)
        #expect(functions.sorted() == named.sorted())
    }
}

@MainActor
struct CoreDataDifferenceTests {
    @Test func aLimitOfZeroFetchesNothing() async throws {
        try await withContacts { container, contacts in
            let none = try contacts.fetch(ContactEntity.self, limit: 0)
            let all = try contacts.fetch(ContactEntity.self, limit: nil)
            let read = try await container.read { try $0.fetch(ContactEntity.self, limit: 0).count }
            #expect(none.isEmpty)
            #expect(all.count == 3)
            #expect(read == 0)
        }
    }

    @Test func aBooleanSectionIsNamedTrueOrFalse() async throws {
        try await withContacts { _, contacts in
            try await contacts.update(ContactEntity.self, where: \.uid == "1", set: [.set(\.isFavorite, true)])
            let list = try contacts.list(ObjectRequest(ContactEntity.self), sectionBy: \.isFavorite)
            #expect(list.sections.map(\.name) == ["false", "true"])
        }
    }

    @Test func aDateSectionIsNamedInISO8601() async throws {
        try await withContacts { _, contacts in
            let birthday = Date(timeIntervalSinceReferenceDate: 86400)
            try await contacts.update(ContactEntity.self, where: \.uid == "1", set: [.set(\.birthday, birthday)])
            let list = try contacts.list(ObjectRequest(ContactEntity.self), sectionBy: \.birthday)
            #expect(list.sections.map(\.name) == ["", "2001-01-02T00:00:00Z"])
        }
    }

    @Test func aListIsSortedByItsSectionFirst() async throws {
        try await withContacts { _, contacts in
            try await contacts.update(ContactEntity.self, where: \.uid == "1", set: [.set(\.isFavorite, true)])
            let request = ObjectRequest(ContactEntity.self, order: [.ascending(\.uid)])
            let list = try contacts.list(request, sectionBy: \.isFavorite)
            #expect(list.snapshot.map(\.uid) == ["2", "3", "1"] && list.sections.map(\.range.count) == [2, 1])
        }
    }

    @Test func aListKeepsItsLimit() async throws {
        try await withContacts { _, contacts in
            let list = try contacts.list(ObjectRequest(ContactEntity.self, order: [.ascending(\.uid)], limit: 2))
            try await contacts.add(Contact(uid: "0", name: "Liu Bei"))
            #expect(list.snapshot.map(\.uid) == ["0", "1"])
            try await contacts.delete(ContactEntity.self, where: \.uid < "2")
            #expect(list.snapshot.map(\.uid) == ["2", "3"])
        }
    }

    @Test func onlyADraftKeepsTheEditsOfASaveThatFails() async throws {
        try await withContacts { _, contacts in
            let contact = try #require(try contacts.fetch(ContactEntity.self, where: \.uid == "1").first)
            let draft = try contacts.draft(of: contact)
            draft.object.uid = "2"
            draft.object.name = "Yunchang"
            await expectError(.uniquenessViolated) { try await draft.save() }
            #expect(draft.object.name == "Yunchang" && contact.name == "Guan Yu")
            draft.object.uid = "1"
            try await draft.save()
            #expect(contact.name == "Yunchang")
        }
    }

    @Test func aSortKeyThatChangesWithoutMovingIsAnUpdate() async throws {
        try await withContacts { _, contacts in
            let list = try contacts.list(ObjectRequest(ContactEntity.self, order: [.ascending(\.name)]))
            try await contacts.update(ContactEntity.self, where: \.uid == "2", set: [.set(\.name, "Zhang Yide")])
            #expect(list.difference.changes.map(\.type) == [.update])
            try await contacts.update(ContactEntity.self, where: \.uid == "2", set: [.set(\.name, "A")])
            #expect(list.difference.changes.map(\.type) == [.move])
        }
    }

    @Test func notEqualFindsRowsWithoutAValue() async throws {
        try await withContacts { _, contacts in
            let typed = try contacts.fetch(ContactEntity.self, where: \.phone != "110")
            #expect(typed.map(\.uid) == ["2", "3"])
            let format = try FetchPredicate<ContactEntity>(format: "phone != %@", "110")
            #expect(try contacts.fetch(ContactEntity.self, where: format).map(\.uid) == ["2", "3"])
            #expect(try contacts.count(ContactEntity.self, where: \.phone < "2") == 1)
        }
    }

    @Test func aSaveThatFailsTakesItsEditsBack() async throws {
        try await withContacts { _, contacts in
            await expectThrows(DataSourceError.self) {
                try await contacts.perform { context in
                    for contact in try context.fetch(ContactEntity.self) { contact.name = "edited" }
                    _ = try context.insert(ContactEntity.self)
                }
            }
            let names = try await contacts.perform { try $0.values(ObjectRequest<ContactEntity>(), \.name) }
            #expect(names == ["Guan Yu", "Zhang Fei", "Guan Ping"])
        }
    }

    @Test func valuesAndSumsSeePendingRows() async throws {
        try await withContacts { _, contacts in
            let (names, sum) = try await contacts.perform { context in
                try context.insert(ContactEntity.self).uid = "4"
                try context.first(ContactEntity.self, where: \.uid, equals: "1")?.name = "Yunchang"
                for contact in try context.fetch(ContactEntity.self) { contact.age = 1 }
                let request = ObjectRequest<ContactEntity>()
                return (try context.values(request, \.name), try context.aggregate(request, .sum(\.age)))
            }
            #expect(names == ["Yunchang", "Zhang Fei", "Guan Ping", ""])
            #expect(sum == 4)
        }
    }

    @Test func anIDIsFinalBeforeTheFirstSave() async throws {
        try await withContacts { container, contacts in
            let id = try await contacts.perform { context in
                let contact = try context.insert(ContactEntity.self)
                contact.uid = "4"
                return contact.objectID
            }
            let contact = try contacts.main.object(ContactEntity.self, id: id)
            #expect(contact?.objectID == id)
        }
    }

    @Test func anOperatorFindsTheEmptyStringAndAFormatDoesNot() async throws {
        try await withContacts { _, contacts in
            let all = try contacts.count(ContactEntity.self)
            #expect(try all > 0 && contacts.count(ContactEntity.self, where: .contains(\.name, "")) == all)
            for word in ["CONTAINS", "BEGINSWITH", "ENDSWITH"] {
                let format = try FetchPredicate<ContactEntity>(format: "name \(word) %@", "")
                #expect(try contacts.count(ContactEntity.self, where: format) == 0)
            }
            // Written as a format, an operator keeps its meaning.
            let operation = FetchPredicate<ContactEntity>.contains(\.name, "")
            let read = try FetchPredicate<ContactEntity>(format: operation.predicateFormat)
            #expect(try contacts.count(ContactEntity.self, where: read) == all)
        }
    }

    @Test func theLengthOfAStringIsInCharacters() async throws {
        try await withContacts { _, contacts in
            let family = "👨‍👩‍👧‍👦"
            #expect(family.utf16.count > 1)
            try await contacts.add(Contact(uid: "4", name: family))
            let format = try FetchPredicate<ContactEntity>(format: "length(name) == 1")
            #expect(try contacts.fetch(ContactEntity.self, where: format).map(\.uid) == ["4"])
        }
    }

    @Test func anOrderDoesNotDependOnTheLocale() async throws {
        try await withContacts { _, contacts in
            try await contacts.add(["Ärger", "apfel", "Zebra"].map { Contact(uid: $0, name: $0) })
            let request = ObjectRequest(ContactEntity.self, order: [.ascending(\.name)])
            #expect(try contacts.fetch(request).map(\.name).suffix(4) == ["Zebra", "Zhang Fei", "apfel", "Ärger"])
        }
    }

    @Test func operatorsCompareBytesAndMacrosCharacters() async throws {
        try await withContacts { _, contacts in
            try await contacts.add(Contact(uid: "4", name: "Jose\u{301}"))
            #expect(try contacts.count(ContactEntity.self, where: \.name == "Jos\u{E9}") == 0)
            let macro = FetchPredicate<ContactEntity>(#Predicate { $0.name == "Jos\u{E9}" })
            #expect(try contacts.count(ContactEntity.self, where: macro) == 1)
            #expect(try contacts.count(ContactEntity.self, where: .equal(\.name, "Jos\u{E9}", [.characters])) == 1)
        }
    }
}
