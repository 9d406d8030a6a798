import CoreDataSource
import Foundation
import Testing

/// In a format no string contains an empty one, as in Foundation, wherever the empty string comes from and whoever tests the row.
@MainActor @Suite struct EmptyStringTests {
    /// One phone is nil, and another one is empty; so are two notes.
    private nonisolated static let formats = [
        ("phone CONTAINS ''", ""), ("phone BEGINSWITH ''", ""), ("phone ENDSWITH ''", ""), ("'' CONTAINS ''", ""),
        ("phone CONTAINS[c] ''", ""), ("phone BEGINSWITH[cd] ''", ""), ("phone ENDSWITH[u] ''", ""),
        ("phone CONTAINS[l] ''", ""), ("phone CONTAINS[n] ''", ""), ("NOT phone BEGINSWITH[c] ''", "12345"),
        ("'' IN name", ""), ("'' IN[c] name", ""), ("phone IN phone", "135"), ("NOT phone IN[cd] phone", "24"),
        ("phone CONTAINS phone", "135"), ("phone BEGINSWITH phone", "135"), ("phone ENDSWITH phone", "135"),
        ("phone CONTAINS[c] phone", "135"), ("phone BEGINSWITH[cd] phone", "135"), ("phone ENDSWITH[u] phone", "135"),
        ("NOT phone CONTAINS phone", "24"), ("name CONTAINS note", ""), ("note CONTAINS phone", ""),
        ("phone CONTAINS uppercase(phone)", "135"), ("name CONTAINS COALESCE(phone, '')", ""),
        ("phone ENDSWITH[c] COALESCE(phone, '')", "135"), ("name CONTAINS lowercase('')", ""),
        ("name CONTAINS TERNARY(age > 18, 'u', '')", "1"), ("name CONTAINS nil", ""),
        // A pattern of no characters describes the empty string.
        ("phone LIKE ''", "4"), ("phone LIKE[c] ''", "4"), ("phone MATCHES ''", "4"), ("phone MATCHES[c] ''", "4"),
        ("note LIKE note", "235"), ("note LIKE phone", ""), ("'' LIKE ''", "12345"), ("'' MATCHES ''", "12345"),
    ]

    @Test(arguments: StoreKind.allCases)
    func inAFormatNoStringContainsTheEmptyString(kind: StoreKind) async throws {
        try await FormatMeaningTests().withFiveContacts(kind) { container in
            for (format, expected) in Self.formats {
                let found = try self.find(format, in: container.main)
                #expect(found == expected, "\(format)")
            }
        }
    }

    /// A batch tests the rows that it has edited itself.
    @Test(arguments: StoreKind.allCases)
    func noEditedStringContainsTheEmptyString(kind: StoreKind) async throws {
        try await FormatMeaningTests().withFiveContacts(kind) { container in
            try await container.dataSource(ContactDataSource.self).perform { context in
                for contact in try context.fetch(ContactEntity.self) { contact.birthday = nil }
                for (format, expected) in Self.formats {
                    let found = try self.find(format, in: context)
                    #expect(found == expected, "\(format)")
                }
                context.rollback()
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func noStringContainsAnEmptyArgumentOrVariable(kind: StoreKind) async throws {
        try await FormatMeaningTests().withFiveContacts(kind) { container in
            for word in ["CONTAINS", "BEGINSWITH", "ENDSWITH", "CONTAINS[c]", "BEGINSWITH[cd]", "ENDSWITH[u]"] {
                let empty = try FetchPredicate<ContactEntity>(format: "phone \(word) %@", "")
                #expect(try container.main.count(ContactEntity.self, where: empty) == 0, "\(word)")
                let known = try FetchPredicate<ContactEntity>(format: "phone \(word) %@", "1")
                #expect(try container.main.count(ContactEntity.self, where: known) > 0, "\(word)")
                let template = try FetchPredicate<ContactEntity>(format: "phone \(word) $TEXT")
                for (text, count) in [("", 0), ("1", try container.main.count(ContactEntity.self, where: known))] {
                    let predicate = try template.substituting(["TEXT": text])
                    #expect(try container.main.count(ContactEntity.self, where: predicate) == count, "\(word)")
                    #expect(predicate == (try FetchPredicate(format: "phone \(word) %@", text)))
                    // It is read from its format as the same predicate.
                    #expect(try FetchPredicate(format: predicate.predicateFormat) == predicate)
                }
            }
            let isPart = try FetchPredicate<ContactEntity>(format: "%@ IN phone", "")
            #expect(try container.main.count(ContactEntity.self, where: isPart) == 0)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func operatorsFindTheEmptyStringInEveryString(kind: StoreKind) async throws {
        try await FormatMeaningTests().withFiveContacts(kind) { container in
            let macro = #Predicate<ContactEntity> { $0.name.contains($0.note ?? "") }
            let predicates: [(FetchPredicate<ContactEntity>, String)] = [
                (.contains(\.phone, ""), "1345"), (.beginsWith(\.phone, ""), "1345"),
                (FetchPredicate(macro), "12"),
            ]
            for (predicate, expected) in predicates {
                // Written as a format, it keeps its meaning.
                let read = try FetchPredicate<ContactEntity>(format: predicate.predicateFormat)
                for predicate in [predicate, read] {
                    let found = try self.find(predicate, in: container.main)
                    #expect(found == expected, "\(predicate.predicateFormat)")
                }
            }
        }
    }

    private nonisolated func find(_ format: String, in context: ManagedObjectContext) throws -> String {
        try find(FetchPredicate<ContactEntity>(format: format), in: context)
    }

    private nonisolated func find(
        _ predicate: FetchPredicate<ContactEntity>, in context: ManagedObjectContext
    ) throws -> String {
        try context.fetch(ContactEntity.self, where: predicate, order: [SortDescriptor(\.uid)]).map(\.uid).joined()
    }
}
