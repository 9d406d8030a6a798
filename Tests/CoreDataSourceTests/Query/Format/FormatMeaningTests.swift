import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

/// What each format finds among the same five rows, in both stores.
@MainActor @Suite struct FormatMeaningTests {
    @Test(arguments: StoreKind.allCases)
    func everyFormatFindsTheExpectedRows(_ kind: StoreKind) async throws {
        try await withFiveContacts(kind) { container in
            for (format, expected) in Self.formats {
                let found = try container.main.fetch(
                    ContactEntity.self, where: FetchPredicate(format: format), order: [SortDescriptor(\.uid)])
                #expect(found.map(\.uid).joined() == expected, "\(format)")
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func argumentsAndVariablesAreValues(_ kind: StoreKind) async throws {
        try await withFiveContacts(kind) { container in
            @MainActor func find(_ format: String, _ arguments: (any Sendable)?...) throws -> String {
                let predicate = try FetchPredicate<ContactEntity>(format: format, arguments: arguments)
                return try container.main.fetch(ContactEntity.self, where: predicate, order: [SortDescriptor(\.uid)])
                    .map(\.uid).joined()
            }
            let day = Date(timeIntervalSinceReferenceDate: 0)
            #expect(try find("name CONTAINS[cd] %@ AND age BETWEEN {%d, %d}", "GUAN", 18, 29) == "2")
            #expect(try find("%K == %@", "phone", nil) == "2")
            #expect(try find("birthday >= %@", day) == "13")
            #expect(try find("birthday BETWEEN {%@, %@}", day, day + 99) == "3")
            #expect(try find("age IN %@", [30, 25] as Set) == "13")
            #expect(try find("phone IN %@", ["138", nil] as [String?]) == "12")
            #expect(try find("note == %@", "' OR 1 == 1 --") == "")
            #expect(try find("NOT %@", \ContactEntity.age > 0) == "45")
            let template = try FetchPredicate<ContactEntity>(format: "age > $AGE AND name BEGINSWITH $START")
            let predicate = try template.substituting(["AGE": 20, "START": "Z"])
            #expect(try container.main.fetch(ContactEntity.self, where: predicate).map(\.uid) == ["3"])
        }
    }

    @Test(arguments: [
        ("phone == $PHONE", "$PHONE"), ("group.members.name == 'x'", "ANY"),
        ("ANY group.name == 'x'", "to-many relationship"),
        ("group.members == 1", "@count"), ("unknown == 1", "unknown"), ("age CONTAINS 'x'", "string"),
        ("name > 5", "name"), ("age IN 3", "must be a list"), ("score & 1 == 1", "is not an integer"),
        ("~score == 1", "is not an integer"), ("1 << 2.5 == 1", "is not an integer"),
        ("age & 0xFFFFFFFFFFFFFFFF == 1", "decimal"), ("name.size == 3", "name.length"), ("age.length == 3", "alone"),
        ("median({name}) == 1", "number"),
        ("name MATCHES '('", "regular expression"),
    ])
    func anInvalidFormatIsANamedError(_ format: String, _ word: String) async throws {
        try await withFiveContacts(.sqlite) { container in
            let error = try requireThrows(DataSourceError.self) {
                try container.main.fetch(ContactEntity.self, where: FetchPredicate(format: format))
            }
            #expect([.invalidPredicate, .unsupportedQuery, .unknownAttribute].contains(error.code))
            #expect(error.message.contains(word), "\(error.message)")
        }
    }

    /// A list has no relationship that could be followed.
    @Test(arguments: [
        ("ANY {1, 2, 3} == age", "ANY with a list of 3 elements"),
        ("ALL age == {1, 2}", "ALL with a list of 2 elements"),
        ("NONE {'a'} CONTAINS name", "NONE with a list of 1 element is"),
        ("ANY age IN {1, 2}", "\"age\" is one value"), ("NOT (ANY {1} IN {1, 2})", "with a list of 1 element is"),
    ])
    func aQuantifierOverAListIsRefusedAsThat(_ format: String, _ words: String) async throws {
        try await withFiveContacts(.inMemory) { container in
            let error = try requireThrows(DataSourceError.self) {
                try container.main.fetch(ContactEntity.self, where: FetchPredicate(format: format))
            }
            #expect(error.code == .unsupportedQuery)
            #expect(error.message.contains(words) && !error.message.contains("relationship"), "\(error.message)")
        }
    }

    func withFiveContacts(
        _ kind: StoreKind, _ body: @MainActor (PersistentContainer) async throws -> Void
    ) async throws {
        try await withContainer(kind) { container, _ in
            try await container.dataSource(ContactDataSource.self).perform { context in
                for row in rows {
                    let contact = try context.insert(ContactEntity.self)
                    contact.uid = row.uid
                    contact.name = row.name
                    contact.phone = row.phone
                    contact.note = row.note
                    contact.age = row.age
                    contact.score = row.score
                    contact.isFavorite = row.isFavorite
                    contact.birthday = row.birthday.map { Date(timeIntervalSinceReferenceDate: $0) }
                }
            }
            try await body(container)
        }
    }
}

private struct Row {
    var uid: String
    var name: String
    var phone: String?
    var note: String?
    var age: Int32
    var score: Double
    var isFavorite: Bool
    var birthday: Double?
}

private let rows = [
    Row(uid: "1", name: "Guan Yu", phone: "138", note: nil, age: 30, score: 1.5, isFavorite: true, birthday: 100),
    Row(uid: "2", name: "guan yu", phone: nil, note: "", age: 18, score: 0, isFavorite: false, birthday: nil),
    Row(
        uid: "3", name: "Zhāng Fēi", phone: "139-5", note: "50% off_", age: 25, score: -2.25, isFavorite: true,
        birthday: 0),
    Row(uid: "4", name: "Liú", phone: "", note: "a*b?c\\d", age: 0, score: 3, isFavorite: false, birthday: -50),
    Row(uid: "5", name: "LIU", phone: "1", note: "one\ntwo", age: -5, score: 100.5, isFavorite: true, birthday: nil),
]

extension FormatMeaningTests {
    /// A format, and the rows that it finds.
    fileprivate static var formats: [(String, String)] {
        comparisons + nils + texts + dictionaryOrder + constantsInLists + lists + compounds + values + bits + statistics
    }

    private static let comparisons = [
        ("age = 30", "1"), ("age == 30", "1"), ("age <> 30", "2345"), ("age != 30", "2345"), ("age > 18", "13"),
        ("age >= 18", "123"), ("age => 18", "123"), ("age < 0", "5"), ("age <= 0", "45"), ("age =< 0", "45"),
        ("30 == age", "1"), ("18 < age", "13"), ("age == 30.0", "1"), ("age > 24.5", "13"), ("score == 3", "4"),
        ("score < 0", "3"), ("isFavorite == YES", "135"), ("isFavorite == 1", "135"), ("isFavorite != TRUE", "24"),
        ("age BETWEEN {18, 25}", "23"), ("age BETWEEN {25, 18}", ""), ("age BETWEEN {17.5, 18.5}", "2"),
        ("phone BETWEEN {'1', '139'}", "15"), ("phone BETWEEN[c] {'1', '139'}", "15"), ("age == score", ""),
        ("age > score", "123"), ("name > uid", "12345"),
    ]

    /// Every operator with nothing on either side.
    private static let nils = [
        ("phone == nil", "2"), ("nil == phone", "2"), ("phone != nil", "1345"), ("NULL <> phone", "1345"),
        ("phone < nil", ""), ("phone <= nil", ""), ("phone > nil", ""), ("phone >= nil", ""), ("nil < phone", ""),
        ("phone < 'z'", "1345"), ("phone >= ''", "1345"), ("NOT phone < 'z'", "2"), ("phone != '138'", "2345"),
        ("phone == note", ""), ("phone != note", "12345"), ("phone BETWEEN {nil, 'z'}", ""),
        ("phone BETWEEN {'', nil}", ""), ("NOT phone BETWEEN {'', 'z'}", "2"), ("phone IN {'138', nil}", "12"),
        ("phone IN {nil}", "2"), ("NOT phone IN {'138'}", "2345"), ("phone CONTAINS '1'", "135"),
        ("NOT phone CONTAINS '1'", "24"), ("phone CONTAINS ''", ""), ("phone BEGINSWITH ''", ""),
        ("phone ENDSWITH[cd] ''", ""), ("NOT phone CONTAINS ''", "12345"),
        ("phone ENDSWITH '8'", "1"), ("phone LIKE '*'", "1345"), ("phone MATCHES '.*'", "1345"),
        ("phone ==[c] nil", "2"), ("phone !=[c] nil", "1345"), ("nil == nil", "12345"), ("nil != nil", ""),
        ("age + nil == nil", "12345"), ("birthday == nil", "25"),
        ("COALESCE(phone, 'none') == 'none'", "2"), ("uppercase(phone) == nil", "2"), ("'1' IN phone", "135"),
        ("group == nil", "12345"), ("group != nil", ""),
    ]

    private static let texts = [
        ("name == 'Guan Yu'", "1"), ("name ==[c] 'GUAN YU'", "12"), ("name ==[d] 'Zhang Fei'", "3"),
        ("name ==[cd] 'liu'", "45"), ("name !=[c] 'guan yu'", "345"), ("name <[c] 'h'", "12"), ("name < 'a'", "1345"),
        ("name ==[n] 'LIU'", "5"), ("name ==[u] 'Liu\\u0301'", "4"), ("name == 'Liu\\u0301'", ""),
        ("name CONTAINS 'an'", "12"), ("name CONTAINS[d] 'an'", "123"), ("name CONTAINS[cd] 'LIU'", "45"),
        ("name CONTAINS[u] 'u\\u0301'", "4"), ("name CONTAINS[u] 'u'", "12"), ("name BEGINSWITH 'Guan'", "1"),
        ("name BEGINSWITH[c] 'GUAN'", "12"), ("name BEGINSWITH[n] 'Li'", "4"), ("name BEGINSWITH[u] 'Liu\\u0301'", "4"),
        ("name ENDSWITH 'Yu'", "1"), ("name ENDSWITH[c] 'YU'", "12"), ("name ENDSWITH[d] 'Fei'", "3"),
        ("name LIKE 'G*'", "1"), ("name LIKE[c] 'g*Y?'", "12"), ("name LIKE '?????????'", "3"),
        ("name LIKE[cd] 'l?u'", "45"), ("note LIKE 'a\\\\*b\\\\?c*'", "4"), ("note LIKE 'one*'", "5"),
        ("name MATCHES 'G.*'", "1"), ("name MATCHES[c] 'g.*u'", "12"), ("name MATCHES 'uan'", ""),
        ("note CONTAINS '%'", "3"), ("note CONTAINS '_'", "3"), ("note CONTAINS '\\\\'", "4"),
        ("note CONTAINS '\\n'", "5"), ("note CONTAINS \"'\"", ""),
    ]

    private static let lists = [
        ("name IN {'LIU', 'Guan Yu'}", "15"), ("name IN[c] {'LIU', 'Guan Yu'}", "125"), ("name IN[cd] {'liu'}", "45"),
        ("age IN {30, 0, 7}", "14"), ("age IN {}", ""), ("NOT age IN {}", "12345"), ("age IN {30.0, 18.5}", "1"),
        ("'an' IN name", "12"), ("'AN' IN[c] name", "12"), ("age IN {score, 25}", "3"),
    ]

    private static let compounds = [
        ("TRUEPREDICATE", "12345"), ("FALSEPREDICATE", ""), ("NOT TRUEPREDICATE", ""), ("NOT age > 0", "45"),
        ("! age > 0 AND score > 3", "5"), ("age > 0 && score > 1", "1"),
        ("age == 18 || age == 25 OR score > 99", "235"),
        ("age == 18 OR age == 25 AND isFavorite == NO", "2"), ("(age == 18 OR age == 25) AND isFavorite == NO", "2"),
        ("NOT (age == 18 OR phone == nil)", "1345"), ("NOT (NOT age == 18)", "2"),
    ]

    private static let dictionaryOrder = [
        ("'Zebra' >[l] 'b'", "12345"), ("'a' <[l] 'B'", "12345"), ("'B' <[l] 'c'", "12345"),
        ("'\u{c4}pfel' <[l] 'b'", "12345"), ("'cot\u{e9}' >[l] 'cote'", "12345"), ("'cot\u{e9}' <[l] 'coth'", "12345"),
        ("'e\u{301}' ==[l] '\u{e9}'", "12345"), ("'E' ==[l] 'e'", ""), ("'E' ==[cl] 'e'", "12345"),
        ("'e' <[l] 'E'", "12345"), ("'E' <[l] '\u{e9}'", "12345"),
        ("'xe\u{301}y' CONTAINS[l] '\u{e9}'", "12345"), ("'e\u{301}' IN[l] {'\u{e9}'}", "12345"),
        ("name BEGINSWITH[l] 'Zha\u{304}'", "3"), ("name ==[l] 'Liu\u{301}'", "4"), ("name <[l] 'h'", "12"),
        ("name >=[l] 'liu'", "345"), ("name >[l] 'LIU'", "34"), ("nil <[l] 'a'", ""),
    ]

    private static let constantsInLists = [
        ("'138' IN {name, phone}", "1"), ("NULL IN {phone}", "2"), ("0 IN {age}", "4"), ("30 IN {score, age}", "1"),
        ("'LIU' IN[c] {name}", "5"), ("'liu' IN[cd] {name, phone}", "45"), ("NOT 0 IN {age}", "1235"),
        ("1 IN {1, 2}", "12345"), ("3 IN {1, 2}", ""), ("age + 1 IN {31, score}", "1"), ("name IN {phone, 'LIU'}", "5"),
    ]

    private static let values = [
        ("age + 1 == 31", "1"), ("age - 1 < 0", "45"), ("age * 2 >= 50", "13"), ("age / 4 == 6", "3"),
        ("age % 7 == 4", "23"), ("score ** 2 > 9", "5"), ("-age > 0", "5"), ("age / 0 == 1", ""),
        ("age / 0 == nil", "12345"), ("score / 2 == 1.5", "4"), ("age + score > 30", "15"), ("0x1E == age", "1"),
        ("TERNARY(isFavorite == YES, age, -1) > 20", "13"), ("uppercase(name) == 'LIU'", "5"),
        ("lowercase(name) == 'guan yu'", "12"), ("canonical(name) == 'liu'", "45"), ("length(name) == 3", "45"),
        ("abs(age) == 5", "5"), ("CAST(age, 'NSString') == '30'", "1"), ("CAST(phone, 'NSNumber') == 138", "1"),
        ("CAST('0x10', 'NSNumber') == nil", "12345"), ("CAST('1e1', 'NSNumber') == 10", "12345"),
        ("now() > birthday", "134"), ("sum({1, 2}) == 3", "12345"), ("max({age, 20}) == 20", "245"),
        ("min({age, 0}) == 0", "1234"), ("average({age, 0}) == 15", "1"), ("count({1, 2}) == 2", "12345"),
    ]

    /// Ages are 30, 18, 25, 0 and -5; one phone is nil.
    private static let bits = [
        ("age & 1 == 1", "35"), ("age & 2 != 0", "125"), ("age | 1 == 31", "1"), ("age ^ 3 == 29", "1"),
        ("age ^ age == 0", "12345"), ("~age == 4", "5"), ("~age < 0", "1234"), ("1 << 3 == 8", "12345"),
        ("age << 1 == 60", "1"), ("age >> 1 == -3", "5"), ("age >> 63 == -1", "5"), ("age << 63 == 0", "124"),
        ("age >> 64 == nil", "12345"), ("age << -1 == nil", "12345"), ("1 << age == nil", "5"), ("1 << age == 1", "4"),
        ("age & nil == nil", "12345"), ("~nil == nil", "12345"), ("length(phone) & 1 == nil", "2"),
        ("nil << length(phone) == nil", "12345"), ("1 << phone.length > 7", "13"), ("isFavorite & 1 == 1", "135"),
        ("age & -1 == age", "12345"), ("bitwiseAnd:with:(age, 2) != 0", "125"), ("modulus:by:(age, 7) == 4", "23"),
        ("leftshift:by:(age, 1) == rightshift:by:(120, 1)", "1"), ("from:subtract:(age, 1) < 0", "45"),
        ("CAST(score, 'Integer 64') & 1 == 1", "14"),
    ]

    private static let statistics = [
        ("median({1, 2, 3}) == 2", "12345"), ("median({1, 2, 4, 3}) == 2.5", "12345"),
        ("median({age, 0, 20}) == age", "24"),
        ("median({}) == nil", "12345"), ("median({nil, 7}) == 7", "12345"), ("median({score, age}) == 15.75", "1"),
        ("mode({3, 1, 2, 3}) == 3", "12345"), ("mode({2, 1}) == 1", "12345"), ("mode({age, 18, 0, 0, 18}) == 18", "2"),
        ("stddev({2, 4, 4, 4, 5, 5, 7, 9}) == 2", "12345"), ("stddev({age}) == 0", "12345"),
        ("stddev({}) == nil", "12345"),
        ("stddev({length(phone), nil}) == nil", "2"), ("ln(exp(1)) == 1", "12345"), ("log(100) == 2", "12345"),
        ("ln(age) == nil", "5"), ("exp(age) == 1", "4"), ("name.length == 3", "45"), ("phone.length == nil", "2"),
        ("phone.length > 2", "13"), ("name.length + 1 == length(name) + 1", "12345"),
    ]
}
