import CoreDataSource
import Foundation
import Testing

/// A string in a predicate of Foundation is looked up by all its spellings.
struct SpellingLookupTests {
    @Test(arguments: ["Mate", "Kate", "José", "中文", "a\r\nb"]) @MainActor
    func anEqualStringIsFoundByItsIndex(_ text: String) async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let decomposed = text.decomposedStringWithCanonicalMapping
            try await contacts.add(contactList(0..<300) + [ContactData(uid: decomposed, name: text)])
            let list = [text, "x"]
            for predicate: Predicate<ContactEntity> in [
                #Predicate { $0.uid == text }, #Predicate { list.contains($0.uid) },
            ] {
                let request = ObjectRequest(ContactEntity.self, where: FetchPredicate(predicate))
                let plan = try contacts.main.explain(request)
                #expect(plan.steps.contains { $0.hasPrefix("SEARCH") } && plan.warnings.isEmpty, "\(plan)")
                let found = try contacts.fetch(request).map(\.name)
                #expect(found == [text])
            }
        }
    }
}
