import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import Testing

/// Format strings: what they say, how they are written again, and what is wrong with them where.
@Suite struct FormatTests {
    /// A format, and how the same predicate is written.
    @Test(arguments: [
        ("name=='x'", "name == \"x\""),
        ("name = \"x\" or Age <> 3", "name == \"x\" OR Age != 3"),
        ("a => 1 && b =< 2 || ! c < 3", "(a >= 1 AND b <= 2) OR (NOT c < 3)"),
        ("NOT a == 1 AND b == 2", "(NOT a == 1) AND b == 2"),
        ("a == 1 OR b == 2 AND c == 3", "a == 1 OR (b == 2 AND c == 3)"),
        ("((a == 1))", "a == 1"),
        ("name CONTAINS[cd] 'x'", "name CONTAINS[cd] \"x\""),
        ("name beginswith [ dc ] 'x'", "name BEGINSWITH[cd] \"x\""),
        ("name ENDSWITH[n] 'x'", "name ENDSWITH[n] \"x\""),
        ("name LIKE[l] 'a*?'", "name LIKE[l] \"a*?\""),
        ("name MATCHES 'a.+'", "name MATCHES \"a.+\""),
        ("name ==[c] 'x' AND name <[d] 'y'", "name ==[c] \"x\" AND name <[d] \"y\""),
        ("name IN[c] {'a', 'b'}", "name IN[c] {\"a\", \"b\"}"),
        ("age BETWEEN {1, 2.5}", "age BETWEEN {1, 2.5}"),
        ("ANY xs.a == 1", "ANY xs.a == 1"),
        ("SOME xs.a == 1", "ANY xs.a == 1"),
        ("ALL xs.a > 1 AND NONE xs.b IN {}", "(ALL xs.a > 1) AND (NONE xs.b IN {})"),
        ("NOT ANY xs.a == 1", "NOT (ANY xs.a == 1)"),
        ("xs.@count > 0", "xs.@count > 0"),
        ("SELF == nil || SELF.name != NULL", "SELF == NULL OR name != NULL"),
        ("TRUEPREDICATE and falsePredicate", "TRUEPREDICATE AND FALSEPREDICATE"),
        ("a == TRUE AND a == yes AND a == No AND a == false", "a == TRUE AND a == TRUE AND a == FALSE AND a == FALSE"),
        ("a IN {0x1F, 0b101, 0o17, 1e3, -1.5, -7}", "a IN {31, 5, 15, 1000.0, -1.5, -7}"),
        ("a == -9223372036854775808", "a == -9223372036854775808"),
        ("a == 9223372036854775808", "a == DECIMAL(\"9223372036854775808\")"),
        ("a + b * c - d > 1", "((a + (b * c)) - d) > 1"),
        ("a ** b ** c == -d / 2 % 3", "(a ** (b ** c)) == (((-(d)) / 2) % 3)"),
        ("(a + b) * c == 1", "((a + b) * c) == 1"),
        ("a | b ^ c & d << e + f == ~g", "(a | (b ^ (c & (d << (e + f))))) == onesComplement(g)"),
        ("a << b >> c & d ^ e | f != 0", "(((((a << b) >> c) & d) ^ e) | f) != 0"),
        ("a&4!=0 && b|1>~-2", "(a & 4) != 0 AND (b | 1) > onesComplement(-2)"),
        ("-a & ~b ** c == -~d", "((-(a)) & (onesComplement(b) ** c)) == (-(onesComplement(d)))"),
        (
            "a IN {1 & b, 2 | 3} AND c BETWEEN {1 << 2, 1 << 4}",
            "a IN {1 & b, 2 | 3} AND c BETWEEN {1 << 2, 1 << 4}"
        ),
        ("modulus:by:(a, 7) == add:to:(b, c)", "(a % 7) == (b + c)"),
        ("from:subtract:(a, 7) == multiply:by:(b, c)", "(a - 7) == (b * c)"),
        ("divide:by:(a, 7) == raise:toPower:(b, c)", "(a / 7) == (b ** c)"),
        ("bitwiseAnd:with:(a, 7) == bitwiseOr:with:(b, c)", "(a & 7) == (b | c)"),
        ("bitwiseXor:with:(a, 7) == leftshift:by:(b, c)", "(a ^ 7) == (b << c)"),
        ("RightShift:By:(a, 7) == onesComplement:(b)", "(a >> 7) == onesComplement(b)"),
        ("ln:(a) + exp:(b) > log:(c)", "(ln(a) + exp(b)) > log(c)"),
        ("median:({1, 2}) + mode:({a, 2}) > stddev:({a})", "(median({1, 2}) + mode({a, 2})) > stddev({a})"),
        (
            "sum:({1}) + average:({2}) == min:({3}) - max:({4}) * count:({5})",
            "(sum({1}) + average({2})) == (min({3}) - (max({4}) * count({5})))"
        ),
        ("name.length == 3", "name.length == 3"),
        ("#in == 1 AND #'two words' == 2 AND x.#or == 3", "#in == 1 AND #\"two words\" == 2 AND x.#or == 3"),
        ("size == 1 AND first == 2 AND cast == 3", "size == 1 AND first == 2 AND cast == 3"),
        ("name == 'it\\'s \\u00e9\\U0001F600\\ud83d\\ude00\\n'", "name == \"it's é😀😀\\n\""),
        ("name == '%@ %K $x'", "name == \"%@ %K $x\""),
        ("a %2 == 1", "(a % 2) == 1"),
        ("name == $NAME", "name == $NAME"),
        ("uppercase:(name) == LOWERCASE(name)", "uppercase(name) == lowercase(name)"),
        ("now() > CAST(x, 'NSDate')", "now() > CAST(x, \"Date\")"),
        ("TERNARY(a == 1, b, 'c') == COALESCE(d, 1)", "TERNARY(a == 1, b, \"c\") == COALESCE(d, 1)"),
        ("noindex:(a) == sum({1, 2})", "a == sum({1, 2})"),
        ("xs[0].a == ys[FIRST] AND ys[last] == zs[SIZE]", "xs.#\"@0\".a == ys.@first AND ys.@last == zs.@count"),
        ("été.名前 == 1", "été.名前 == 1"),
    ])
    func aFormatIsReadAndWritten(_ format: String, _ written: String) throws {
        let predicate = try FetchPredicate<ManagedObject>(format: format)
        #expect(predicate.predicateFormat == written)
        #expect(try FetchPredicate<ManagedObject>(format: written) == predicate)
    }

    @Test func argumentsAreValuesWhateverTheyHold() throws {
        let date = Date(timeIntervalSinceReferenceDate: 5.5)
        let cases: [((any Sendable)?, String)] = [
            ("' OR 1 == 1", "\"' OR 1 == 1\""), (nil, "NULL"), (Int?.none, "NULL"), (Int??.some(3), "3"),
            (true, "TRUE"),
            (UInt64.max, "DECIMAL(\"18446744073709551615\")"), (Int8(-3), "-3"), (2.5, "2.5"), (Float(0.5), "0.5"),
            (date, "DATE(5.5)"),
            (Data([0, 255]), "DATA(\"00ff\")"), (Decimal(string: "1.20"), "DECIMAL(\"1.2\")"),
            (URL(string: "https://a.b/c"), "URL(\"https://a.b/c\")"),
            (["a", "b"], "{\"a\", \"b\"}"), ([1, nil] as [Int?], "{1, NULL}"), (Set([7]), "{7}"), ([String](), "{}"),
            ("ab".dropFirst(), "\"b\""),
        ]
        for (argument, written) in cases {
            let predicate = try FetchPredicate<ManagedObject>(format: "x == %@", argument)
            #expect(predicate.predicateFormat == "x == \(written)")
        }
    }

    @Test func keyPathsNumbersAndPredicatesAreArguments() throws {
        let inner = try FetchPredicate<ManagedObject>(format: "a == 1 OR b == 2")
        let predicate = try FetchPredicate<ManagedObject>(
            format: "%K == %d AND %K < %f AND %@", "x.y", 3, \ContactEntity.name, 2.5, inner)
        #expect(predicate.predicateFormat == "x.y == 3 AND name < 2.5 AND (a == 1 OR b == 2)")
        let kept = try FetchPredicate<ManagedObject>(format: "%K == %ld AND %K == %lu", "in", Int32(1), "a b", UInt(2))
        #expect(kept.predicateFormat == "#in == 1 AND #\"a b\" == 2")
    }

    @Test(arguments: [
        ("", 1, 1, "empty"), ("a", 1, 1, "Expected a comparison"), ("a CONTAIN 'x'", 1, 3, "Expected an operator"),
        ("a ==", 1, 5, "ends"), ("a == b == c", 1, 8, "condition"), ("(a == 1", 1, 8, "Expected )"),
        ("a == 1)", 1, 7, "AND, OR or the end"), ("a == 'x", 1, 6, "closing quote"), ("a == %@", 1, 6, "no argument"),
        ("a\n == 1\n AND ?", 3, 6, "not part"), ("a BETWEEN 5", 1, 11, "list of two"), ("a ==[x] b", 1, 6, "options"),
        ("a ==[c b", 1, 8, "Expected ]"), ("1.5.2 == a", 1, 4, "operator"), ("12ab == a", 1, 1, "number"),
        ("1e == a", 1, 1, "exponent"), ("0x == a", 1, 1, "number"), ("a == 1e999", 1, 6, "number"),
        ("a == '\\u12'", 1, 9, "hexadecimal"), ("a == '\\ud800'", 1, 7, "No character"), ("in == 1", 1, 1, "write a #"),
        ("a.in == 1", 1, 3, "write a #"), ("a. == 1", 1, 4, "Expected a key"), ("$ == 1", 1, 1, "variable"),
        ("# == 1", 1, 1, "is followed by a key"), ("@ == 1", 1, 1, "@count"), ("f(1) == 1", 1, 1, "No function"),
        ("uppercase(a, b) == 1", 1, 1, "values is 2"), ("CAST(a, 'Colour') == 1", 1, 9, "type in quotes"),
        ("CAST(a) == 1", 1, 7, "a type"), ("TERNARY(a, b, c) == 1", 1, 9, "Expected a comparison"),
        ("TERNARY(a == 1, b) == 1", 1, 20, "two values"), ("UUID('x') == a", 1, 1, "UUID in quotes"),
        ("SUBQUERY(xs, x, $x.a == 1).@count > 0", 1, 14, "Expected a variable"),
        ("FUNCTION(a, 'b') == 1", 1, 1, "FUNCTION() is not supported"),
        ("ANYKEY == 1", 1, 1, "ANYKEY is not supported"),
        ("+1 == a", 1, 1, "without a +"), ("a == {1, 2", 1, 11, "Expected }"),
        ("a AND b == 1", 1, 1, "Expected a comparison"),
        ("(a == 1) + 2 > 1", 1, 1, "Expected a value"), ("sum: 1 > 2", 1, 6, "Expected ("),
        ("a[x] == 1", 1, 3, "FIRST"), ("a & == 1", 1, 5, "Expected a value"), ("a < < 1", 1, 5, "Expected a value"),
        ("a == 1 & b == 2", 1, 12, "condition"), ("modulus:by: a", 1, 13, "Expected ( after modulus:by:"),
        ("modulus:by(a, 7) == 1", 1, 11, "Expected : after modulus:by"), ("modulus:by:(a) == 1", 1, 1, "takes two"),
        ("modulus:with:(a, 7) == 1", 1, 1, "No function"), ("add(a, b) == 1", 1, 1, "No function"),
        ("median() == 1", 1, 1, "values is 0"), ("~(a == 1) == 1", 1, 2, "condition"),
    ])
    func anErrorSaysWhereItIs(_ format: String, _ line: Int, _ column: Int, _ words: String) throws {
        let error = try requireThrows(DataSourceError.self) { try FetchPredicate<ManagedObject>(format: format) }
        #expect(error.code == .unreadablePredicate)
        #expect(error.message.contains("line \(line), column \(column):"), "\(error.message)")
        #expect(error.message.contains(words), "\(error.message)")
    }

    @Test func anErrorMarksThePlace() throws {
        let error = try requireThrows(DataSourceError.self) {
            try FetchPredicate<ManagedObject>(format: "é == 1\n\tAND name CONTAIN 'x'")
        }
        #expect(error.message.hasSuffix("\n     AND name CONTAIN 'x'\n              ^^^^^^^"), "\(error.message)")
    }

    @Test(arguments: [
        ("a == %d", 2.5 as any Sendable), ("a == %d", "1"), ("a == %f", "1"), ("%K == 1", 3), ("a == %@", ["k": 1]),
        ("a == 1", 1), ("a == '%@'", 1), ("%@ == 1", \ContactEntity.name == ""),
    ])
    func argumentsHaveToFit(_ format: String, _ argument: any Sendable) throws {
        expectError(.unreadablePredicate) { try FetchPredicate<ManagedObject>(format: format, argument) }
    }

    @Test(arguments: [
        ("a == %@", [1, 2], "has 1 placeholder, but 2 arguments were given"),
        ("a == %@ AND b == %@", [1, 2, 3], "has 2 placeholders, but 3 arguments were given"),
        ("a == 1", [1], "has 0 placeholders, but 1 argument was given"),
        ("a == %@ AND b == %@", [1], "only 1 was given"), ("a == %@", [], "only 0 were given"),
    ])
    func aWrongNumberOfArgumentsIsCounted(_ format: String, _ arguments: [Int], _ words: String) throws {
        let error = try requireThrows(DataSourceError.self) {
            try FetchPredicate<ManagedObject>(format: format, arguments: arguments)
        }
        #expect(error.message.contains(words), "\(error.message)")
    }

    @Test @MainActor func aVariableAfterBetweenIsAListOfTwoValues() async throws {
        let template = try FetchPredicate<ContactEntity>(format: "name BETWEEN $RANGE")
        #expect(template.variables == ["RANGE"] && template.predicateFormat == "name BETWEEN $RANGE")
        let container = try await PersistentContainer(model: .contacts, store: .inMemory)
        try await container.dataSource(ContactDataSource.self).add(contactList(0..<5))
        let names = try container.main.fetch(ContactEntity.self).map(\.name).sorted()
        let some = try template.substituting(["RANGE": [names[1], names[3]]])
        #expect(some.predicateFormat == "name BETWEEN {\"\(names[1])\", \"\(names[3])\"}")
        #expect(try container.main.count(ContactEntity.self, where: some) == 3)
        for value in [["a"], ["a", "b", "c"], []] as [[String]] {
            let predicate = try template.substituting(["RANGE": value])
            let error = expectError(.invalidPredicate) {
                try container.main.count(ContactEntity.self, where: predicate)
            }
            #expect(error?.message.contains("not a list of two values") == true)
        }
        expectThrows(DataSourceError.self) { try container.main.count(ContactEntity.self, where: template) }
        try await container.close()
    }

    @Test func variablesGetTheirValues() throws {
        let template = try FetchPredicate<ManagedObject>(
            format: "name BEGINSWITH $START AND (age > $AGE OR age IN {$AGE, 1}) AND $LEFT == 1")
        #expect(template.variables == ["START", "AGE", "LEFT"])
        let predicate = try template.substituting(["START": "G", "AGE": nil, "OTHER": 1])
        #expect(
            predicate.predicateFormat == "name BEGINSWITH \"G\" AND (age > NULL OR age IN {NULL, 1}) AND $LEFT == 1")
        #expect(predicate.variables == ["LEFT"])
        expectThrows(DataSourceError.self) { try template.substituting(["AGE": ["k": 1]]) }
    }
}
