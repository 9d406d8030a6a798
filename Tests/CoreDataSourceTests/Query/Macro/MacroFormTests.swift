import CoreDataSource
import Foundation
import Testing

/// A composite that is Codable, like a transformable value.
@StoredComposite
struct MeetingPoint: Codable {
    var latitude: Double = 0
}

@StoredEntity
final class Meeting: ManagedObject {
    @Stored(.composite) var point: MeetingPoint?
}

/// What Foundation's predicates are converted to: a form that the store can answer, with tests of objects in angle brackets.
@Suite struct MacroFormTests {
    private let names = ["a", "b"]
    private let none: [String] = []
    private let low: Int32 = 3
    private let day = Date(timeIntervalSinceReferenceDate: 5)

    private func form(_ predicate: Predicate<ContactEntity>) -> String { FetchPredicate(predicate).predicateFormat }

    @Test func comparisonsOfPlainStringsNeedNoFunction() {
        #expect(form(#Predicate { $0.name == "guan" }) == "name == \"guan\"")
        #expect(form(#Predicate { $0.name != "guan" }) == "name != \"guan\"")
        #expect(form(#Predicate { "guan" == $0.name }) == "name == \"guan\"")
        #expect(form(#Predicate { $0.uid.starts(with: "ab") }) == "uid BEGINSWITH \"ab\" AND uid BEGINSWITH[u] \"ab\"")
    }

    @Test func stringsOfFewSpellingsAreOneOfThem() {
        let names = ["Kuan", "b"]
        #expect(form(#Predicate { $0.name == "Kuan" }) == "name IN {\"Kuan\", \"\u{212A}uan\"}")
        #expect(form(#Predicate { $0.name != "Kuan" }) == "NOT name IN {\"Kuan\", \"\u{212A}uan\"}")
        #expect(form(#Predicate { names.contains($0.name) }) == "name IN {\"Kuan\", \"\u{212A}uan\", \"b\"}")
        #expect(form(#Predicate { $0.name == "KKKKK" }) == "name ==[u] \"KKKKK\"")
    }

    @Test func otherStringsAreComparedByCharacters() {
        #expect(form(#Predicate { $0.name > "b" }) == "name >[u] \"b\"")
        #expect(form(#Predicate { $0.name.contains("x") }) == "name CONTAINS[u] \"x\"")
        #expect(form(#Predicate { $0.name.starts(with: "é") }) == "name BEGINSWITH[u] \"é\"")
        #expect(form(#Predicate { $0.name == $0.uid }) == "COALESCE(name, \"\") ==[u] COALESCE(uid, \"\")")
    }

    /// An attribute that is not optional in Swift is read as zero where the row holds nothing.
    @Test func nilCountsAsZeroWhereSwiftReadsZero() {
        let low = low
        #expect(form(#Predicate { $0.age > low }) == "age > 3")
        #expect(form(#Predicate { $0.age < low }) == "age < 3 OR age == NULL")
        #expect(form(#Predicate { $0.age == 0 }) == "age == 0 OR age == NULL")
        #expect(form(#Predicate { $0.age != 0 }) == "age != 0 AND age != NULL")
        #expect(form(#Predicate { $0.age != 3 }) == "age != 3")
        #expect(form(#Predicate { $0.name == "" }) == "name == \"\" OR name == NULL")
        #expect(form(#Predicate { $0.name.isEmpty }) == "name == \"\" OR name == NULL")
        #expect(form(#Predicate { !$0.name.isEmpty }) == "name != \"\" AND name != NULL")
        #expect(form(#Predicate { (0..<5).contains($0.age) }) == "(age >= 0 AND age < 5) OR age == NULL")
        #expect(form(#Predicate { (1...5).contains($0.age) }) == "age >= 1 AND age <= 5")
        #expect(form(#Predicate { $0.isFavorite }) == "isFavorite == TRUE")
        #expect(form(#Predicate { !$0.isFavorite }) == "isFavorite != TRUE")
    }

    @Test func optionalsKeepTheirNil() {
        let day = day
        #expect(form(#Predicate { $0.phone == nil }) == "phone == NULL")
        #expect(form(#Predicate { $0.phone != nil }) == "phone != NULL")
        #expect(form(#Predicate { $0.phone == "5" }) == "phone == \"5\"")
        #expect(form(#Predicate { $0.phone! == "5" }) == "phone == \"5\"")
        #expect(form(#Predicate { ($0.phone ?? "") == "5" }) == "COALESCE(phone, \"\") == \"5\"")
        #expect(form(#Predicate { $0.phone?.contains("5") == true }) == "phone != NULL AND phone CONTAINS[u] \"5\"")
        #expect(
            form(#Predicate { $0.phone?.contains("5") ?? true })
                == "(phone != NULL AND phone CONTAINS[u] \"5\") OR phone == NULL")
        #expect(
            form(#Predicate { if let phone = $0.phone { phone == "5" } else { $0.age == 1 } })
                == "(phone != NULL AND phone == \"5\") OR (phone == NULL AND age == 1)")
        #expect(form(#Predicate { $0.birthday! < day }) == "birthday < DATE(5.0)")
    }

    @Test func choicesAndArithmeticHaveForms() {
        #expect(
            form(#Predicate { $0.age + 1 > 5 }) == "(COALESCE(age, 0) + 1) > 5 AND (COALESCE(age, 0) + 1) <= 2147483647"
        )
        #expect(form(#Predicate { $0.age / 2 * 3 == 6 }) == "((COALESCE(age, 0) / 2) * 3) == 6")
        #expect(form(#Predicate { -$0.age == 6 }) == "(-(COALESCE(age, 0))) == 6")
        #expect(form(#Predicate { $0.score / 2 > 1 }) == "(COALESCE(score, 0.0) / 2.0) > 1.0")
        #expect(form(#Predicate { $0.age % 2 == 1 }) == "(COALESCE(age, 0) % 2) == 1")
        #expect(
            form(#Predicate { ($0.isFavorite ? $0.age : 7) == 3 })
                == "TERNARY(isFavorite == TRUE, COALESCE(age, 0), 7) == 3")
        #expect(
            form(#Predicate { $0.isFavorite ? $0.age > 3 : $0.age == 2 })
                == "(isFavorite == TRUE AND age > 3) OR (isFavorite != TRUE AND age == 2)")
        #expect(
            form(#Predicate { $0.isFavorite == ($0.age > 3) })
                == "(isFavorite == TRUE AND age > 3) OR (isFavorite != TRUE AND (NOT age > 3))")
    }

    @Test func listsFromOutsideAreUnrolled() {
        let (names, none) = (names, none)
        #expect(form(#Predicate { names.contains($0.uid) }) == "uid IN {\"a\", \"b\"}")
        #expect(
            form(#Predicate { contact in names.contains { $0 == contact.uid } }) == "uid == \"a\" OR uid == \"b\""
        )
        #expect(
            form(#Predicate { contact in names.allSatisfy { $0 != contact.uid } }) == "uid != \"a\" AND uid != \"b\"")
        #expect(form(#Predicate { contact in none.contains { $0 == contact.uid } }) == "FALSEPREDICATE")
        #expect(form(#Predicate { none.contains($0.uid) }) == "uid IN {}")
    }

    @Test func theCountOfAStringIsItsLength() {
        #expect(form(#Predicate { $0.name.count > 2 }) == "length(COALESCE(name, \"\")) > 2")
        #expect(form(#Predicate { $0.name.count + 1 == 3 }) == "(length(COALESCE(name, \"\")) + 1) == 3")
        #expect(
            form(#Predicate { $0.phone?.count == 3 }) == "TERNARY(phone == NULL, NULL, length(phone)) == 3")
        #expect(form(#Predicate { (2...5).contains($0.phone!.count) }) == "length(phone) >= 2 AND length(phone) <= 5")
    }

    @Test func partsThatTheStoreCannotEvaluateAreEvaluatedOnTheObjects() {
        #expect(
            form(#Predicate { $0.age > 3 && $0.name.first != nil && $0.uid == "x" })
                == "age > 3 AND <.first> AND uid == \"x\"")
        #expect(form(#Predicate { $0.age > 3 || $0.name.first != nil }) == "<.first>")
        #expect(
            form(#Predicate { $0.isDeleted })
                == "<a property of ContactEntity of the type Bool, which is not an attribute>")
        let long = Array(repeating: "x", count: 501)
        let wide = Int32(0)...Int32.max
        #expect(form(#Predicate { contact in long.contains { $0 == contact.uid } }) == "<a closure over Array<String>>")
        #expect(
            form(#Predicate { contact in wide.contains { $0 == contact.age } }) == "<a closure over ClosedRange<Int32>>"
        )
    }

    /// In the words of the source, not by the names of Foundation's types.
    @Test func partsEvaluatedOnTheObjectsAreNamedAsInTheSource() {
        func reason(_ predicate: Predicate<Special>) -> String? { FetchPredicate(predicate).needsObjects }
        let (names, list) = (["a": 1], ["a", "b"])
        #expect(reason(#Predicate { $0.tags?.contains("even") == true }) == "the transformable attribute tags")
        #expect(reason(#Predicate { $0.title?.last == nil }) == ".last")
        #expect(reason(#Predicate { $0.title?.first == nil }) == ".first")
        #expect(reason(#Predicate { special in list.filter { $0 == (special.title ?? "") }.isEmpty }) == ".filter")
        #expect(reason(#Predicate { list[0] == ($0.title ?? "") }) == "a subscript")
        #expect(reason(#Predicate { names[$0.title ?? ""] == 1 }) == "a subscript")
        #expect(reason(#Predicate { special in list.max() == special.title }) == ".max()")
        let check = Predicate<Special> { PredicateExpressions.TypeCheck<PredicateExpressions.Variable, Special>($0) }
        #expect(reason(check) == "is")
        #expect(
            FetchPredicate(#Predicate<Place> { $0.address?.street == "x" }).needsObjects
                == "the composite attribute address")
        let unplaced = #Predicate<Meeting> { $0.point == nil }
        #expect(FetchPredicate(unplaced).needsObjects == "the composite attribute point")
    }
}
